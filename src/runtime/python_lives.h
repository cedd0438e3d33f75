/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lives: what a process is from a fork or an exec on until the next. A stack tells a pid, and is
 * checked when its process may run another program already, or be gone; what it is about is
 * then still found in the life that the memory came from.
 */
#ifndef RUNTIME_PYTHON_LIVES_H
#define RUNTIME_PYTHON_LIVES_H

#include "base/map.h"
#include "base/vec.h"

enum {
	PYTHON_MAX_LIVES = 1 << 16,
	PYTHON_LIFE_STEPS = 8, /* from a life to those before it */
};

/* The process of a stack, as the kernel reports it. */
struct python_whose {
	u32 pid;
	u32 program;    /* the mark of its program */
	u64 process;    /* a number that no other process has; 0: only the pid is known */
	u64 parent;     /* that of its parent, 0: not known */
	u64 origin;     /* of the oldest ancestor of which all since ran this program, or 0 */
	u32 parent_pid; /* 0: not known, or the parent ran another program */
};

struct python_life {
	u64 process; /* 0: not known */
	u32 pid;
	u32 from;    /* the parent's, or the one before the exec; 0: not known */
	u32 program; /* the mark of its stacks + 1; 0: not known */
	bool exec;   /* began with an exec: has nothing of the memory of the one before */
	bool over;   /* the process goes by another life now */
	u64 gone;    /* the round in which there was no such process */
};

struct python_lives {
	VEC(struct python_life) items; /* [0] unused */
	struct map by_pid;             /* the present one */
	struct map by_process;
};

void python_lives_release(struct python_lives *l);
void python_lives_forget(struct python_lives *l);

/* The current life of a process; created when first seen. */
u32 python_lives_of(struct python_lives *l, u32 pid);
/*
 * That of a stack. A process without a life was forked by its parent, if that ran the same program,
 * or stands for itself; one with another mark than before has become another program. The caller
 * forgets all when there are PYTHON_MAX_LIVES.
 */
u32 python_lives_find(struct python_lives *l, const struct python_whose *w);
/* The life whose memory this one began with; 0: not known. */
u32 python_lives_origin(const struct python_lives *l, u32 life);

#endif
