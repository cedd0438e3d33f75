/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks from samples that carry registers and a copy of the stack, unwound while recording: the
 * copy never reaches the file. Mappings come from the records of the side band, in order of time;
 * where they do not suffice, from /proc while the process lives.
 */
#ifndef RECORDER_STACK_COPIES_H
#define RECORDER_STACK_COPIES_H

#include "recording/record.h"
#include "unwind/files.h"

enum {
	COPIES_PROCESSES_MOST = 1 << 16,
	COPIES_ASK_MOST = 8, /* readings of /proc for one process */
};

struct copies_process {
	u32 asked;
	struct mappings maps;
};

struct copies {
	struct unwind_files files;
	VEC(struct copies_process *) processes;
	struct map by_pid; /* index + 1 */
};

void recorder_copies_release(struct copies *c);
/* MMAP, MMAP2, FORK, COMM (exec), EXIT; others are ignored. */
void recorder_copies_record(struct copies *c, const struct record *r);
/* The user half of @s into @f, innermost first, return addresses from the second on. */
bool recorder_copies_unwind(struct copies *c, const struct sample *s, struct unwind_frames *f);

#endif
