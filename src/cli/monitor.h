/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that show counters again and again: a line a second, or a table. A monitor is data: its
 * tables, whose columns are formulas over counters (counters/formula.h).
 */
#ifndef CLI_MONITOR_H
#define CLI_MONITOR_H

#include "cli/cli.h"
#include "counters/counters.h"

struct monitor_column {
	const char *key;     /* JSON and CSV */
	const char *title;   /* as in the tool that people know */
	const char *formula; /* NULL: the name of the instance */
	const char *group;   /* heading above several columns, or NULL */
	u8 width;
	u8 decimals;
	double unit; /* what is shown is divided by it; 0: 1 */
	double warn; /* from here on it is worth a look, */
	double bad;  /* and from here on it is a problem; 0: neither. @warn > @bad: from there down
		      */
	u32 flags;   /* COLUMN_* */
	enum value_type type; /* 0: a number with @decimals */
};

/* More fields of struct monitor_column may follow. */
#define MONITOR_COLUMN(key_, title_, formula_, width_, decimals_, ...)                      \
	{                                                                                   \
		.key = (key_), .title = (title_), .formula = (formula_), .width = (width_), \
		.decimals = (decimals_), __VA_ARGS__                                        \
	}

struct monitor_table {
	const char *name;  /* JSON key */
	const char *title; /* or NULL */
	const char *each;  /* the counter whose instances are the rows; NULL: one row */
	const struct monitor_column *columns;
	size_t n_columns;
	/* Which instances are shown; NULL: all. @args is that of monitor_run(). */
	bool (*shows)(const void *args, const char *instance);
	const char *used; /* formula: rows where it gives 0 are left out; NULL: none */
	const char *sort; /* key of the column, largest first; NULL: as the kernel lists them */
	u32 limit;        /* rows; 0: all */
};

enum {
	MONITOR_ENDLESS = 1 << 0, /* repeats without an interval: each second */
	MONITOR_LINES = 1 << 1,   /* a line each time, headings once a screen */
	MONITOR_TIMES = 1 << 2,   /* the first column is the time */
	MONITOR_NOW = 1 << 3,     /* gauges only: one look is enough */
	MONITOR_RATES = 1 << 4,   /* without an interval: one second, not since boot */
	MONITOR_TASKS = 1 << 6,   /* @extra reads what processes did, */
	MONITOR_THREADS = 1 << 7, /* or threads */
	MONITOR_METER = 1 << 8,   /* with the exact CPU meter, */
	MONITOR_DISK = 1 << 9,    /* with sleeps for disks */
	MONITOR_AVERAGE = 1 << 5, /* ends with the mean of all intervals */
};

struct monitor_args {
	u64 interval;
	u64 count;
	u64 duration;     /* 0: as @count says */
	const char *from; /* a copy of /proc and /sys */
	bool timestamp;
	bool skip_first; /* no figures since boot */
	const char *input;
	const char *at;
};

/* For OPT_INCLUDE; -t, -y and the like. */
extern const struct opt monitor_options[];
#define MONITOR_OPERANDS .operands = "[INTERVAL [COUNT]]", .max_operands = 2

struct monitor {
	const struct monitor_table *tables;
	size_t n_tables;
	u32 flags;
	/* Adds what is not a table; NULL: nothing. */
	void (*extra)(struct result *r, const struct delta *d, const void *args);
	/* What @extra reads: names of counters, ends with NULL; may be NULL. */
	const char *const *wants;
};

/* @args: what @shows and @extra get. */
int monitor_run(struct context *ctx, const struct monitor *m, const struct monitor_args *a,
		const void *args);
/* The operands INTERVAL and COUNT; 0 or EXIT_USAGE. */
int monitor_operands(struct context *ctx, struct monitor_args *a);

#endif
