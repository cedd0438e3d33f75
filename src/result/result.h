/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every command produces and every view reads: typed tables, histograms and trees,
 * with notes and loss counters. No view knows which command filled it; no command prints.
 *
 * A result owns all its memory: strings given to it are copied, everything dies with
 * result_release(). Sections keep the order in which they were added.
 */
#ifndef RESULT_RESULT_H
#define RESULT_RESULT_H

#include "base/arena.h"
#include "base/vec.h"

enum { RESULT_SCHEMA = 1 }; /* of the JSON form; raised when a key changes its meaning */

enum value_type {
	VALUE_TEXT = 1, /* s */
	VALUE_COUNT,    /* u: 1,234 */
	VALUE_BYTES,    /* u */
	VALUE_DURATION, /* u: nanoseconds */
	VALUE_PERCENT,  /* d: 12.34 means 12.34 % */
	VALUE_NUMBER,   /* d */
	VALUE_TIME,     /* u: wall clock, nanoseconds since 1970 */
	VALUE_PID,      /* u: no thousands separator */
	VALUE_ADDRESS,  /* u: hexadecimal */
	VALUE_BOOL,     /* u */
	VALUE_INT,      /* u: a signed number, no thousands separator */
};

/* How a row, cell or line should look where colour is available. */
enum style {
	STYLE_NONE,
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_WARN,
	STYLE_DIM,
	STYLE_STRONG,
	STYLE_KERNEL,
	STYLE_HOT
};

struct value {
	enum value_type type; /* 0: empty cell (JSON null) */
	enum style style;     /* STYLE_NONE: that of its row */
	union {
		u64 u;
		double d;
		const char *s;
	};
};

struct column {
	const char *key;   /* stable JSON and CSV key: lower_case */
	const char *title; /* heading for people: UPPER CASE */
	enum value_type type;
	u32 flags;
};

/* How a column looks to people, so that those of results that follow one another are in line. */
struct column_look {
	const char *group; /* a heading above those of neighbours of the same group; or NULL */
	u8 width;          /* at least this wide */
	u8 decimals;       /* of a real number, plus 1; 0: as many as it needs */
};

enum {
	COLUMN_FILL =
		1 << 0, /* takes the room that is left and is cut first (the rightmost text) */
	COLUMN_HIDDEN = 1 << 1, /* machine output only */
	COLUMN_LEFT = 1 << 2,   /* align left although it is a number */
	COLUMN_SPARE = 1 << 3,  /* omitted where the line is short */
	COLUMN_WHOLE = 1 << 4,  /* people get percents without decimals, and nothing for zero */
	COLUMN_UNCUT = 1 << 5,  /* never cut: people copy it */
	COLUMN_WEIGHT = 1 << 7, /* a share of the whole: coloured by how much it is */
	COLUMN_MAIN = 1 << 6,   /* with COLUMN_FILL: others are left out before much is cut of it */
};

struct row {
	struct value *cells; /* one per column */
	enum style style;
};

struct table {
	const char *name;  /* JSON key */
	const char *title; /* or NULL */
	struct column *columns;
	size_t n_columns;
	struct column_look *looks; /* one per column, or NULL */
	VEC(struct row) rows;
};

/* Lines of an outline: call trees and the like. Depth 0 is the root. */
struct tree_node {
	u32 depth;
	double percent; /* of the whole */
	u64 value;      /* inclusive weight */
	u64 self;       /* own weight */
	const char *label;
	enum style style;
};

struct tree {
	const char *name;
	const char *title;
	enum value_type value_type;
	bool outline;                /* each depth stands for itself: an only child indents, too */
	VEC(struct tree_node) nodes; /* depth first */
};

struct histogram; /* result/hist.h */

enum section_type { SECTION_TABLE, SECTION_HISTOGRAM, SECTION_TREE, SECTION_TEXT };

struct section {
	enum section_type type;
	union {
		struct table *table;
		struct histogram *histogram;
		struct tree *tree;
		const char *text;
	};
};

enum note_level { NOTE_INFO, NOTE_WARNING };

struct note {
	enum note_level level;
	const char *text;
	const char *hint; /* or NULL */
};

/* Law 3: what was lost is data. A loss of 0 is kept (machines want it) but not shown to people. */
struct loss {
	const char *key;  /* "lost_samples" */
	const char *text; /* "samples lost because the buffer was full" */
	u64 count;
};

/* Facts about the whole: "host", "duration", ... shown in the header of a view. */
struct fact {
	const char *key;
	const char *title; /* NULL: machine output only */
	struct value value;
};

struct result {
	struct arena arena;
	const char *command; /* "doctor" */
	const char *title;   /* or NULL */
	VEC(struct fact) facts;
	VEC(struct section) sections;
	VEC(struct note) notes;
	VEC(struct loss) losses;
};

#define _cleanup_result_ _cleanup_(result_release)

void result_init(struct result *r, const char *command);
void result_release(struct result *r);
void result_title(struct result *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Replaces the fact of that key if it exists. */
void result_fact(struct result *r, const char *key, const char *title, struct value v);
void result_note(struct result *r, enum note_level level, const char *hint, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Adds to the loss of that key if it exists. */
void result_loss(struct result *r, const char *key, const char *text, u64 count);
void result_text(struct result *r, const char *text);

/* @columns are copied (their strings too). */
struct table *result_table(struct result *r, const char *name, const char *title,
			   const struct column *columns, size_t n_columns);
/* @looks, one per column, are copied; columns then stand close together. */
void table_looks(struct result *r, struct table *t, const struct column_look *looks);
/* A new row of empty cells; valid until the next one is added. */
struct row *table_row(struct result *r, struct table *t);
/* Sorts rows by column @key: numbers descending or text ascending unless @reverse. False: no such
 * column. */
bool table_sort(struct table *t, const char *key, bool reverse);

/* The label its creator gave; NULL: none. */
const char *section_name(const struct section *s);

struct tree *result_tree(struct result *r, const char *name, const char *title,
			 enum value_type value_type);
/* A new last line; valid until the next one is added, so that the caller can set the rest. */
struct tree_node *tree_add(struct result *r, struct tree *t, u32 depth, const char *label);

/* Values. Text is copied into the result's arena; NULL gives an empty cell. */
struct value value_text(struct result *r, const char *s);
struct value value_textf(struct result *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline struct value value_u(enum value_type type, u64 u)
{
	return (struct value){ .type = type, .u = u };
}
static inline struct value value_d(enum value_type type, double d)
{
	return (struct value){ .type = type, .d = d };
}

#endif
