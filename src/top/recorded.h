/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of a recording as frames: functions and flame graphs of a file. */
#ifndef TOP_RECORDED_H
#define TOP_RECORDED_H

#include "base/err.h"
#include "top/live.h"

struct recorded_samples;

/* -ENODATA: it holds none. */
int recorded_samples_new(struct recorded_samples **ret, const char *path, struct err *e);
void recorded_samples_free(struct recorded_samples *s);
/* What is requested of them; never NULL. */
struct profile_frame *recorded_samples_frame(struct recorded_samples *s,
					     const struct live_request *r);

#endif
