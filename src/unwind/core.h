/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Core files: the threads of a process that is gone, its memory and what was mapped. The file is
 * foreign; each number in it is checked. Code is looked up in the files of this machine, and only
 * if their build id is the one that the core remembers.
 */
#ifndef UNWIND_CORE_H
#define UNWIND_CORE_H

#include "unwind/files.h"

enum {
	CORE_MAX_SEGMENTS = 1 << 20,
	CORE_MAX_THREADS = 1 << 16,
	CORE_MAX_NOTES = 64 << 20, /* bytes */
};

struct core_segment {
	u64 vaddr;
	u64 offset;
	u64 file_size;
	u64 size;
	u32 flags; /* PF_* */
};

struct core_thread {
	int tid;
	int signal; /* that it died of, 0: none */
	u64 regs[UNWIND_REGS];
};

struct core {
	const char *name; /* the caller's */
	int fd;
	u64 size;
	VEC(struct core_segment) segments; /* by address */
	VEC(struct core_thread) threads;   /* the one that died first */
	struct mappings maps;
	struct unwind_files files;
	struct unwind_table *vdso;
	u64 vdso_start;
	char program[32]; /* short name, "" if unknown */
	int pid;
	u64 changed; /* mapped files that are another build here */
};

/* Takes over the descriptor, also when it fails. */
int core_open(struct core *c, int fd, const char *name, struct err *e);
void core_release(struct core *c);
void core_frames(struct core *c, const struct core_thread *t, struct unwind_frames *f);

#endif
