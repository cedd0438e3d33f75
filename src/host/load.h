/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each CPU and memory node does at a moment: two of these make a load. */
#ifndef HOST_LOAD_H
#define HOST_LOAD_H

#include "base/err.h"
#include "base/vec.h"

enum { LOAD_CPUS_MOST = 8192, LOAD_NODES_MOST = 1024 };

struct load_cpu {
	u64 busy; /* ticks since boot, steal included: the CPU was wanted */
	u64 idle;
	u64 interrupts;
	u32 runnable; /* threads that run or want to, by where they ran last */
	bool known;   /* online */
};

struct load_node {
	u64 total, free; /* bytes */
	u64 allocated;   /* pages since boot */
	bool known;
};

struct load_moment {
	u64 time;                  /* CLOCK_MONOTONIC */
	VEC(struct load_cpu) cpus; /* by number */
	VEC(struct load_node) nodes;
};

/* Files that cannot be read leave their values unknown. */
int load_read(struct load_moment *m, struct err *e);
void load_release(struct load_moment *m);

/* The parsers, for tests: /proc/stat and /proc/interrupts. */
void load_parse_stat(struct load_moment *m, const char *text, size_t len);
void load_parse_interrupts(struct load_moment *m, const char *text, size_t len);

#endif
