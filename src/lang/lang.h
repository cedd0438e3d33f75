/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracing language: programs on probes, compiled to BPF and run.
 *
 *	lang_compile -> lang_run -> lang_free
 *
 * Nothing here prints: text goes to the sink, errors to struct err, diagnostics about the program
 * to a buffer.
 */
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include <regex.h>

#include "base/buf.h"
#include "base/err.h"

struct histogram;
struct lang;
struct result;
struct table;
struct tool_column;
struct tool_header;
struct value;

enum lang_format { LANG_TEXT, LANG_JSON, LANG_FOLDED };
/* Which probes run: all but test and bench probes, or only the one or the other. */
enum lang_mode { LANG_TRACE, LANG_TEST, LANG_BENCH };

/* Where output goes. Returning a negative errno ends the run. */
struct lang_sink {
	int (*write)(void *ctx, bool to_err, const char *text, size_t n);
	/* Called when what came together is written and before waiting for more; NULL: never. */
	int (*flush)(void *ctx);
	void *ctx;
	/* Called every @tick_ns while the program runs; NULL: never. True ends it. */
	bool (*tick)(void *ctx);
	u64 tick_ns;
	/* A row() of a script with a header; texts are valid until it returns. */
	int (*row)(void *ctx, const struct value *cells, size_t n, u64 wall_ns);
};

struct lang_opts {
	const char *const *params; /* $1 ... */
	size_t n_params;
	const char *const *named; /* --name=value, for getopt() */
	size_t n_named;
	u32 pid;             /* -p: 0 none */
	u32 cpid;            /* pid of the program that -c started; 0 none */
	const char *command; /* its name, as a shell would take it; or NULL */
	const char *exe;     /* of that process: what a "*" target means; or NULL */
	bool unsafe;
	bool compat;                 /* behave as bpftrace where ours differs: limits, notices */
	const regex_t *probe_filter; /* names of probes that run; NULL: all */
	bool percentiles;            /* shown after histograms unless the program says otherwise */
	u32 latency_bits; /* how finely hist() divides times unless the program says otherwise */
	bool no_warnings;
	bool helper_errors; /* look-ups and reads that fail are said one by one */
	bool quiet;
	bool dry_run; /* attached, never run: writes no files */
	bool clean;   /* for a terminal: control characters in values are made visible */
	enum lang_format format;
	enum lang_mode mode;
	const char *made_from; /* the text from which the program was made; or NULL */
	const char *dir;       /* of the program's file: where imported ones are; NULL: here */
	const char *const *include_dirs;
	size_t n_include_dirs;
	const char *const *includes; /* imported before the program */
	size_t n_includes;
	const char *const *debug_dirs; /* more places of debug information than the usual one */
	size_t n_debug_dirs;
	const struct tool_header *header; /* of the script; or NULL */
};

/*
 * Compiles. @name is for messages ("stdin"). On failure (-EINVAL for a wrong program) the
 * diagnostics are in @diagnostics; warnings are there also on success.
 */
int lang_compile(const char *name, const char *text, size_t len, const struct lang_opts *opts,
		 struct lang **ret, struct buf *diagnostics, struct err *e);
void lang_free(struct lang *l);

/*
 * Loads and attaches everything; what was half done is undone on failure. What the kernel refuses
 * is said about the program in @diagnostics.
 */
int lang_start(struct lang *l, struct buf *diagnostics, struct err *e);
/* Only loads, and drops everything again: does the kernel's verifier accept the programs? */
int lang_verify(struct lang *l, struct buf *diagnostics, struct err *e);
/* Number of attached probes. */
u32 lang_probe_count(const struct lang *l);
/*
 * Delivers events until exit(), a stop request, the child's end (@child_fd readable, -1: none) or
 * an error; then runs 'end' and prints the maps. Returns the exit status of the program.
 */
int lang_loop(struct lang *l, const struct lang_sink *sink, int child_fd, struct err *e);
/*
 * The keys of a map (with its '@') as text and its values, in ascending order of values; a
 * histogram or stack is the text that print() would show. Until lang_stop().
 */
struct map_def;
struct run;

struct lang_row {
	const char *key;
	const char *text; /* of the value */
	s64 value;
	const struct histogram *hist; /* with powers of two; NULL otherwise */
	/* stats() and avg() */
	u64 count;
	s64 total;
	/* for lang_row_key() */
	struct run *run;
	const struct map_def *map;
	const u8 *raw;
};

enum {
	LANG_FRAME_OFFSET = 1 << 0,
	LANG_FRAME_ADDRESS = 1 << 1,
	LANG_FRAME_FOLDED =
		1 << 2, /* outermost first, with ';' between; otherwise a line for each */
};

/* Part @i of the key of a row, from 0; stacks are shown as @flags say. False: none. */
bool lang_row_key(const struct lang_row *row, u32 i, u32 flags, struct buf *out);
int lang_rows(struct lang *l, const char *map, void (*row)(void *ctx, const struct lang_row *row),
	      void *ctx);
void lang_clear(struct lang *l, const char *map);
/*
 * The maps that the header's 'show:' names as a table (@ret, with all its columns) or as histograms
 * (@ret is NULL then). Counts of the last @seconds are shown as rates where a column asks for it.
 */
int lang_table(struct lang *l, struct result *result, double seconds, struct table **ret,
	       struct err *e);
/* Forgets what those maps hold. */
void lang_table_clear(struct lang *l);
/* What is to be said about the rungs that were chosen. */
size_t lang_notes(const struct lang *l, const char *const **ret);
bool lang_column_shown(const struct lang *l, const struct tool_column *column);
/* What was lost or failed, one line per kind; nothing when all is well. */
void lang_report(struct lang *l, struct buf *out);
/* The same as losses of @ret, those of 0 with them, as far as it is known by now. */
void lang_losses(struct lang *l, struct result *ret);
/* The same as objects of JSON, one per line. */
void lang_report_json(struct lang *l, struct buf *out);
/* Detaches. Slow closes are left to a child process when @background. */
void lang_stop(struct lang *l, bool background);

/* The program again, in one form. */
int lang_format_source(const char *name, const char *text, size_t len, struct buf *out,
		       struct buf *diagnostics, struct err *e);
/* Text of the generated code. */
void lang_dump(const struct lang *l, struct buf *out);
/* -l: names of probes that match; @verbose adds their arguments. */
int lang_list(const char *pattern, bool verbose, const struct lang_opts *opts, struct buf *out,
	      struct err *e);

/* The probes of a program, one per line. */
void lang_probe_names(struct lang *l, bool verbose, struct buf *out);

/* What of the kernel the language can use here, each thing tried. */
void lang_info(struct buf *out);

#endif
