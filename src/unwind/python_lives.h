/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lives: what a process is from a fork or an exec on until the next. A stack tells a pid, and is
 * looked at when its process may run another program already, or be gone; what it is about is
 * then still found in the life that the memory came from.
 */
#ifndef UNWIND_PYTHON_LIVES_H
#define UNWIND_PYTHON_LIVES_H

#include "base/map.h"
#include "base/vec.h"

enum {
	PYTHON_MAX_LIVES = 1 << 16,
	PYTHON_LIFE_STEPS = 8, /* from a life to those before it */
};

struct python_life {
	u32 pid;
	u32 from;    /* the parent's, or the one before the exec; 0: not known */
	u32 program; /* the mark of its stacks + 1; 0: none was seen */
	bool exec;   /* began with an exec: has nothing of the memory of the one before */
	bool over;   /* the process goes by another life now */
	u64 gone;    /* the round in which there was no such process */
};

struct python_lives {
	VEC(struct python_life) items; /* [0] unused */
	struct map by_pid;             /* the present one */
	struct map programs;           /* marks that stacks had */
};

void python_lives_release(struct python_lives *l);
void python_lives_forget(struct python_lives *l);

/* The caller forgets all when there are PYTHON_MAX_LIVES. */
void python_lives_fork(struct python_lives *l, u32 pid, u32 parent);
void python_lives_exec(struct python_lives *l, u32 pid);

/* The present life of a process; made on first sight. */
u32 python_lives_of(struct python_lives *l, u32 pid);
/* That of a stack of the process with the mark @program (0: not known). */
u32 python_lives_find(struct python_lives *l, u32 pid, u32 program);
/* The life whose memory this one began with; 0: not known. */
u32 python_lives_origin(const struct python_lives *l, u32 life);

#endif
