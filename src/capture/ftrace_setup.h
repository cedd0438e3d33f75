/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to trace, as it is written into the files of tracefs. */
#ifndef CAPTURE_FTRACE_SETUP_H
#define CAPTURE_FTRACE_SETUP_H

#include "base/parse.h"
#include "capture/ftrace.h"
#include "capture/tracepoint.h"

struct ftrace_words {
	const char *const *items;
	size_t len;
};

struct ftrace_setup {
	const char *tracer; /* "nop": events only */
	struct ftrace_words funcs, notrace, graph_funcs, graph_notrace;
	struct ftrace_words events;   /* sys:name, globs, sys:* */
	struct ftrace_words triggers; /* sys:name:trigger */
	const char *filter;           /* of every event, or NULL */
	const char *clock;            /* NULL: local */
	const range_list *pids;       /* threads and processes; empty: all */
	const range_list *cpus;       /* empty: all */
	pid_t launched;               /* 0: none */
	bool follow;                  /* children, too */
	u64 ring;                     /* bytes for each CPU, 0: the kernel's choice */
	u64 depth;                    /* of the graph, 0: all */
	u64 threshold;                /* graph: only calls longer than these ns */
	bool no_irqs, no_sleep;       /* graph: not in interrupts; not while off the CPU */
};

/* True when it needs files that instances of tracefs lack. */
bool ftrace_setup_needs_top(const struct ftrace_setup *s);
/* -EXDEV: the tracer does not exist in instances. */
int ftrace_setup_apply(const struct ftrace_setup *s, struct ftrace *f, struct err *e);
/* The events that a word stands for; -ENOENT when there is none. */
int ftrace_setup_find(const struct ftrace *f, const char *word, struct tracepoint_list *ret,
		      struct err *e);

#endif
