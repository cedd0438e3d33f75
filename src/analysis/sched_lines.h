/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history of switches as lines, as they come: there may be millions. */
#ifndef ANALYSIS_SCHED_LINES_H
#define ANALYSIS_SCHED_LINES_H

#include "analysis/sched.h"

enum sched_lines_format { SCHED_LINES_TEXT, SCHED_LINES_JSON, SCHED_LINES_CSV };

/* "comm[tid/pid]" as long as neither changes. */
enum { SCHED_LINE_NAME = 30, SCHED_LINE_TASK = 52 };
struct sched_line_task {
	u32 comm; /* string of names */
	u32 pid;
	u32 len; /* without the blanks behind it */
	char text[SCHED_LINE_TASK];
};

struct sched_lines {
	struct sched_names *names;
	enum sched_lines_format format;
	struct buf out; /* the caller empties it when it has grown */
	/* Most of a line repeats: whole seconds, and what tasks are called. */
	u64 second;
	char second_text[24];
	u32 second_len;       /* 0: none */
	struct sched_tids at; /* tid -> index in tasks + 1 */
	VEC(struct sched_line_task) tasks;
};

void sched_lines_init(struct sched_lines *l, struct sched_names *names,
		      enum sched_lines_format format);
void sched_lines_release(struct sched_lines *l);
void sched_lines_heading(struct sched_lines *l);
void sched_lines_turn(struct sched_lines *l, const struct sched_turn *t);
/* Text only: the others have no such lines. */
void sched_lines_wake(struct sched_lines *l, const struct sched_wake *w);

#endif
