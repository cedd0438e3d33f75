/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The health of the stacks of a profile: for each process and each binary how many reach the start
 * of their thread, how they were unwound, why the others ended, where names come from, and what
 * would help.
 */
#ifndef ANALYSIS_STACKS_H
#define ANALYSIS_STACKS_H

#include "base/err.h"
#include "profile/health.h"
#include "profile/profile.h"
#include "result/result.h"
#include "symbol/symbol.h"

struct stacks_opts {
	u32 max_lines; /* of each table, 0: all */
};

/*
 * @health may be NULL: then names tell whether a stack is complete. @symbols (may be NULL) says
 * where names come from. -ENODATA when there is no sample.
 */
int stacks_build(const struct profile *p, const struct health *health, struct symbols *symbols,
		 const struct stacks_opts *opts, struct result *ret, struct err *e);

#endif
