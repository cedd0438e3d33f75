/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tool says, live: it runs as a child process that writes JSON, and what comes is kept as
 * tables, histograms and, for the heat map, the histograms of the last minutes.
 */
#ifndef TOP_PANE_H
#define TOP_PANE_H

#include "base/vec.h"
#include "top/feed.h"

enum { PANE_COLUMNS = 32, PANE_ROWS = 2000, PANE_MOMENTS = 600, PANE_WORDS = 16 };

struct pane_cell {
	char *text; /* of a number, too */
	double number;
	bool is_number;
};

struct pane_row {
	struct pane_cell cells[PANE_COLUMNS];
};

struct pane_table {
	char *name;
	char *keys[PANE_COLUMNS];
	size_t n_columns;
	VEC(struct pane_row *) rows;
};

struct pane_bucket {
	double low, high;
	u64 count;
};

struct pane_hist {
	char *label, *unit;
	u64 count;
	double p50, p99, p999;
	VEC(struct pane_bucket) buckets;
};

/* One result. Of rows that come one by one there is a single one, which grows. */
struct pane_look {
	VEC(struct pane_table) tables;
	VEC(struct pane_hist) hists;
	u64 time;
	double seconds;
	char *note;
};

/* All histograms of one result together. */
struct pane_moment {
	u64 time;
	VEC(struct pane_bucket) buckets; /* those with a count */
};

struct pane {
	struct feed *feed; /* NULL: it ended, or nothing runs */
	char *command;     /* that runs: "biolatency -D 1" */
	struct pane_look look;
	bool any;  /* there is a result */
	bool rows; /* they come one by one */
	VEC(struct pane_moment) past;
	char why[512]; /* it failed; "": it did not */
	u64 began, cpu_ns;
	struct buf whole; /* of a result in several lines, which ends with its child */
};

void pane_release(struct pane *p);
/* Starts @command (words, separated by blanks) unless it runs already; NULL or "": ends it. */
void pane_run(struct pane *p, const char *command);
/* Takes what came; true: something is new. Never waits. */
bool pane_take(struct pane *p);
/* For poll(); -1: never. */
int pane_fd(const struct pane *p);
/* A table by its name, NULL: the first; returns NULL when the result has none. */
const struct pane_table *pane_table(const struct pane *p, const char *name);
/* -1: no such column. */
int pane_column(const struct pane_table *t, const char *key);

/* For tests: takes one result, or one row, as JSON; false: it is not one. */
bool pane_decode(struct pane *p, const char *text, size_t len);

#endif
