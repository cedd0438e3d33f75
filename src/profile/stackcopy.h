/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples that carry registers and a copy of the stack (perf's --call-graph dwarf) -> the user
 * half of their call chain, by the frame information of the files that the process had mapped
 * and, where its jitdump has some, of its run-time code.
 */
#ifndef PROFILE_STACKCOPY_H
#define PROFILE_STACKCOPY_H

#include "base/map.h"
#include "profile/machine.h"
#include "unwind/files.h"

struct stackcopy {
	struct unwind_files files;
	struct map tables; /* module of the symbol store -> index into @maps + 1 */
	VEC(struct mapping) maps;
	struct arena paths;
	struct map code_ids;                /* hash of process and address -> index + 1 */
	VEC(struct unwind_rule) code_rules; /* for run-time code; END: none is known */
	u64 ends[UNWIND_END_COUNT];         /* why walks ended */
};

void stackcopy_release(struct stackcopy *s);
/*
 * Writes addresses, innermost first, at most @max; returns how many. From the second on they are
 * those of the calls, not the return addresses: looked up as they are, they give the caller.
 */
size_t stackcopy_unwind(struct stackcopy *s, const struct machine *m, const struct process *p,
			const struct sample *sample, u64 *ret, size_t max);

#endif
