/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits out of a recording. */
#ifndef ANALYSIS_OFFCPU_LOAD_H
#define ANALYSIS_OFFCPU_LOAD_H

#include "analysis/offcpu.h"

struct offcpu_load {
	struct profile profile;
	wait_list waits;
};

/* Call offcpu_load_release() also after a failure. */
int offcpu_load(struct offcpu_load *l, const char *path, struct err *e);
void offcpu_load_release(struct offcpu_load *l);

#endif
