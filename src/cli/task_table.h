/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of tasks for monitors: columns as data, rows from a sweep. */
#ifndef CLI_TASK_TABLE_H
#define CLI_TASK_TABLE_H

#include "base/buf.h"
#include "counters/snapshot.h"
#include "result/result.h"

/* What a column may need in addition to the row. */
struct task_context {
	double seconds; /* of the interval; of a life where @since_boot */
	bool since_boot;
	u64 boot; /* ns since boot at its end */
	u64 wall;
	double memory; /* of the machine, bytes */
	bool command_line;
};

struct task_column {
	const char *key;
	const char *title;
	u8 width;
	u8 decimals;
	double (*get)(const struct task_row *row, const struct task_context *ctx);
	/* Or text, into @out. */
	void (*text)(const struct task_row *row, const struct task_context *ctx, struct buf *out);
	double warn, bad;
	u32 flags;
};

struct task_table {
	const char *name;
	const struct task_column *columns;
	size_t n_columns;
	/* Which rows; NULL: all. */
	bool (*shows)(const struct task_row *row, const void *args);
	/* Larger comes first; NULL: by number. */
	double (*order)(const struct task_row *row, const struct task_context *ctx);
	u32 limit; /* 0: all */
};

/* Columns that many tables have. */
double task_uid(const struct task_row *row, const struct task_context *ctx);
double task_pid(const struct task_row *row, const struct task_context *ctx);
double task_tid(const struct task_row *row, const struct task_context *ctx);
void task_command(const struct task_row *row, const struct task_context *ctx, struct buf *out);
/* A figure for each second. */
double task_rate(const struct task_row *row, const struct task_context *ctx, u32 figure);

void task_table_add(struct result *r, const struct task_table *t, const struct task_rows *rows,
		    const struct task_context *ctx, const void *args);
/*
 * What of the CPU meter the rows account for, and what the rest is: facts for machines, a line for
 * people where @say.
 */
void task_account(struct result *r, const struct delta *d, bool say);
/* The counters that task_account() reads; ends with NULL. */
extern const char *const task_account_wants[];

#endif
