/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines that make code at run time: known by the files that their process has mapped, with the
 * switch that makes them name that code.
 */
#ifndef PROFILE_RUNTIME_H
#define PROFILE_RUNTIME_H

#include "profile/machine.h"
#include "profile/profile.h"

struct runtime {
	const char *name;
	const char *file; /* the beginning of a mapped file's last part */
	const char *hint;
};

/* Never NULL: a runtime without a name when it is unknown. */
const struct runtime *runtime_of(const struct process *p);
/* Puts the processes in which nameless code was met into p->nameless. */
void runtime_collect(const struct machine *m, struct profile *p);

#endif
