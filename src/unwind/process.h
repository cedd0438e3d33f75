/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of the threads of a live process. A thread is stopped only while its registers and its
 * stack are copied; the unwinding itself works on the copy.
 */
#ifndef UNWIND_PROCESS_H
#define UNWIND_PROCESS_H

#include "unwind/files.h"

enum { SNAPSHOT_MAX_STACK = 16 << 20 }; /* bytes of stack that are copied */

struct code_names;

struct unwind_process {
	int pid;
	struct mappings maps;
	struct unwind_files *files; /* the caller's: shared between processes */
	struct process_code *code;  /* of its run-time code; NULL: not checked yet */
};

/* What is left of a thread when it runs again. */
struct unwind_snapshot {
	u64 regs[UNWIND_REGS];
	u64 stack_start;
	struct buf stack;
	bool cut; /* the stack was longer than SNAPSHOT_MAX_STACK */
	u64 stopped_ns;
};

int unwind_process_init(struct unwind_process *p, int pid, struct unwind_files *files,
			struct err *e);
void unwind_process_release(struct unwind_process *p);

/* Stops, copies, lets go. The buffer in @s is reused from call to call. */
int unwind_process_snapshot(struct unwind_process *p, int tid, struct unwind_snapshot *s,
			    struct err *e);
/* The copying half alone, for a thread that the caller has stopped by ptrace. */
int unwind_process_copy(struct unwind_process *p, int tid, struct unwind_snapshot *s,
			struct err *e);
void unwind_snapshot_release(struct unwind_snapshot *s);
/* What is outside the copied stack is read from the process, which may run by now. */
void unwind_process_frames(struct unwind_process *p, const struct unwind_snapshot *s,
			   struct unwind_frames *f);

/* What its run-time code is called, where its runtime knows it and stacks led there; or NULL. */
const struct code_names *unwind_process_names(const struct unwind_process *p);

#endif
