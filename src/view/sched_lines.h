/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of switches as lines, as they come: there may be millions. */
#ifndef VIEW_SCHED_LINES_H
#define VIEW_SCHED_LINES_H

#include "analysis/sched.h"

enum sched_lines_format { SCHED_LINES_TEXT, SCHED_LINES_JSON, SCHED_LINES_CSV };

/* "comm[tid/pid]" as long as neither changes. */
enum { SCHED_LINE_NAME = 30, SCHED_LINE_TASK = 52 };
struct sched_line_task {
	u32 comm; /* string of names */
	u32 pid;
	u32 len; /* without the blanks after it */
	char text[SCHED_LINE_TASK];
};

enum { SCHED_LINES_WIDE = 87 }; /* columns of a text line as perf has it */

/* What text lines have on request; the other forms always have it. */
struct sched_lines_more {
	bool state;  /* in which the task left */
	bool next;   /* who comes */
	bool cpus;   /* a column for each CPU, with a mark where it happened */
	bool narrow; /* for 80 columns: less room for numbers */
};

struct sched_lines {
	struct sched_names *names;
	enum sched_lines_format format;
	struct sched_lines_more more;
	bool any_more;
	bool begun;     /* the heading is written */
	u32 n_cpus;     /* that have a column */
	struct buf out; /* the caller empties it when it has grown */
	/* Most of a line repeats: whole seconds, and what tasks are called. */
	u64 second;
	char second_text[24];
	u32 second_len;       /* 0: none */
	struct sched_tids at; /* tid -> index in tasks + 1 */
	VEC(struct sched_line_task) tasks;
};

/* @more may be NULL. */
void sched_lines_init(struct sched_lines *l, struct sched_names *names,
		      enum sched_lines_format format, const struct sched_lines_more *more);
void sched_lines_release(struct sched_lines *l);
/* The first line brings it along: this is for when there is none. */
void sched_lines_heading(struct sched_lines *l);
void sched_lines_turn(struct sched_lines *l, const struct sched_turn *t);
/* Not for CSV, whose lines are all alike. */
void sched_lines_wake(struct sched_lines *l, const struct sched_wake *w);
void sched_lines_move(struct sched_lines *l, const struct sched_move *m);

#endif
