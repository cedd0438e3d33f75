/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A perf map has no times. Who looks at it again and again knows between which two looks a function
 * came, and what it took the place of.
 */
#ifndef RUNTIME_MAPWATCH_H
#define RUNTIME_MAPWATCH_H

#include "runtime/code.h"
#include "runtime/jit.h"

/* The perf maps that were there when we began. */
struct mapwatch_base {
	struct map sizes; /* inode -> bytes */
	u64 began;        /* CLOCK_MONOTONIC */
	u64 began_real;   /* CLOCK_REALTIME */
};

struct mapwatch {
	struct jit jit;
	u64 looked; /* CLOCK_MONOTONIC; 0: not yet */
};

void mapwatch_base_init(struct mapwatch_base *b);
void mapwatch_base_release(struct mapwatch_base *b);

void mapwatch_init(struct mapwatch *w, pid_t pid);
void mapwatch_release(struct mapwatch *w);
/*
 * Looks at the map. Functions that took the place of others, and those, are added to @names with
 * what is known of when; all others are as the map has them.
 */
void mapwatch_look(struct mapwatch *w, const struct mapwatch_base *base, struct code_names *names);

#endif
