/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header block of a tool: a comment at the top of its script that begins with the word "tool"
 * and has one entry per line.
 *
 *	summary: trace new processes
 *	group: processes
 *	option: -x --fails flag | also show calls of exec that failed
 *	option: -n --name string NAME | only commands of this name
 *	option: --max-args int=20 N | show at most this many arguments
 *	column: pcomm comm 16
 *	column: lat duration 8 if timing as LATENCY
 *	column: ratio percent 8 = 100 * hits / (hits + misses)
 *	example: fathom execsnoop -x | failed ones, too
 *
 * docs/tools.md lists the keys. A line that begins with blanks continues the entry above it.
 */
#ifndef LANG_FRONT_HEADER_H
#define LANG_FRONT_HEADER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "result/result.h"

struct diags;

/* What a column holds. */
enum column_kind {
	KIND_NONE,
	KIND_STRING,
	KIND_COMM,
	KIND_PATH,
	KIND_IP,
	KIND_USER,
	KIND_ERRNO,   /* a number: 0, or an error, negative or not */
	KIND_SIGNAL,  /* a number */
	KIND_SYSCALL, /* a number */
	KIND_STACK,
	KIND_PID,
	KIND_PORT,
	KIND_COUNT,
	KIND_INT, /* may be negative */
	KIND_BYTES,
	KIND_DURATION, /* nanoseconds */
	KIND_RATE,     /* a count, shown per second */
	KIND_BYTERATE, /* bytes, shown per second */
	KIND_PERCENT,  /* rows: hundredths of a percent */
	KIND_NUMBER,   /* tables: with decimals */
	KIND_ADDRESS,
	KIND_TIMESTAMP, /* nsecs */
	KIND_ELAPSED,   /* nsecs; shown as seconds since the start */
	KIND_HIST,      /* a histogram of numbers, */
	KIND_LATENCY,   /* of nanoseconds, */
	KIND_SIZES,     /* of bytes */
};

struct tool_column {
	const char *name;  /* JSON and CSV key */
	const char *title; /* heading */
	enum column_kind kind;
	u32 width;         /* 0: by its kind */
	bool spare;        /* left out first where the line is short */
	bool hidden;       /* machine output only */
	bool last;         /* of tables: shown after all others, as names of files */
	double percentile; /* of tables: of the histogram that the row stands for; 0: none */
	const char *only;  /* shown when this option is given, '!': when it is not; or NULL */
	const char *expr;  /* computed from other columns; or NULL */
};

enum option_kind {
	OPTION_FLAG,
	OPTION_INT,
	OPTION_STRING,
	OPTION_DURATION,
	OPTION_SIZE,
	OPTION_CHOICE,
};

struct tool_option {
	char letter; /* 0: none */
	const char *name;
	const char *alias; /* other long names, space separated; or NULL */
	enum option_kind kind;
	const char *def;     /* or NULL */
	const char *choices; /* OPTION_CHOICE: "a|b|c" */
	const char *arg;     /* or NULL */
	const char *help;
};

struct tool_example {
	const char *line;
	const char *text;
};

/* Another name, and the options that it stands for. */
struct tool_alias {
	const char *name;
	const char *words; /* "" or "--fs=ext4" */
};

struct tool_header {
	struct arena arena;
	const char *summary;
	const char *group;
	const char *about; /* paragraphs; or NULL */
	const char *notes;
	const char *differs; /* from bcc's tool of that name; or NULL */
	const char *sort;    /* column; or NULL */
	const char *min;     /* default of --min, "10ms"; NULL: no such option */
	const char *operand; /* option that the first operand sets; or NULL */
	u64 interval;        /* of tables, nanoseconds; 0: once, at the end */
	bool user_process;   /* "needs: process": nothing is known of the whole machine */
	bool may_process; /* "needs: process?": user probes are of the process, if one is given */
	bool keep;        /* tables go on: maps are not cleared after each */
	VEC(const char *) shows; /* maps with '@' that are the table, or the histograms */
	VEC(struct tool_column) columns;
	VEC(struct tool_option) options;
	VEC(struct tool_example) examples;
	VEC(struct tool_alias) aliases;
};

/* The groups, in their order; NULL ends them. */
struct tool_group {
	const char *name;
	const char *title;
};
extern const struct tool_group tool_groups[];

/* Is there a header block at all? */
bool header_present(const char *text, size_t len);
/*
 * Reads it. Faults go to @diagnostics with file, line and the place in it; -EINVAL then.
 * Release the header in every case.
 */
int header_parse(const char *name, const char *text, size_t len, struct tool_header *ret,
		 struct buf *diagnostics, struct err *e);
void header_release(struct tool_header *h);

/* The type of its cells in results. */
enum value_type column_value_type(enum column_kind kind);
/* The word in the header, for machines. */
const char *column_kind_name(enum column_kind kind);
/* "ns", "bytes", "1/s" ...; NULL: none. */
const char *column_unit(enum column_kind kind);
u32 column_width(const struct tool_column *c);
bool column_is_hist(enum column_kind kind);
/* From other columns or from a histogram: no value of the script is for it. */
bool column_is_computed(const struct tool_column *c);
/* Its number among the columns, or SIZE_MAX. */
size_t header_column(const struct tool_header *h, const char *name, size_t len);

#endif
