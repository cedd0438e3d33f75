/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tool library: each script of tools/, and of the user's own folder, is a command. Its header
 * block says all that help, parsing and results need; nothing here knows a single tool.
 */
#ifndef TOOL_TOOL_H
#define TOOL_TOOL_H

#include "cli/cli.h"
#include "cli/output.h"
#include "lang/front/header.h"

struct tool {
	struct command command;
	char *name;
	char *path; /* of the user's file; NULL: one of ours */
	struct buf text;
	struct tool_header header;
	struct arena arena; /* of its option table and examples */
	bool shadows;       /* the user's file has the name of one of ours */
};

/* What every tool takes; values of the header's options follow, 8 bytes each. */
struct tool_args {
	range_list pids;
	range_list tids;
	str_list users;
	str_list cgroups;
	const char *comm;
	bool children;
	bool timestamp;
	bool source;
	bool json;
	u64 duration;
	u64 interval; /* 0: by the header or the operand */
	u64 top;
	u64 min;
	const char *sort;
	const char *filter;
	const char *flame;
	const char *heatmap;
	const char *input; /* a recording; see recorded.h */
	struct output_args output;
	u64 values[];
};

/* Commands and tools together, for the command line. */
struct toolbox {
	VEC(const struct command *) commands;
	VEC(struct tool *) tools;
	VEC(char *) words; /* argv with other names replaced; ended by NULL */
	struct buf faults; /* what is wrong with scripts of the user */
	bool all;          /* every tool was read */
	bool refused;      /* the script that 'fathom run' names cannot be used, as @faults says */
};

/*
 * @commands are the built-in ones. Adds what the command line needs: the tool that it names, or all
 * of them where it names no command or one that is about commands.
 */
void toolbox_init(struct toolbox *b, const struct command *const *commands, size_t n, int argc,
		  char **argv);
void toolbox_release(struct toolbox *b);

/* The tool of a command that toolbox_init() made; NULL for other commands. */
const struct tool *tool_of(const struct command *c);
/* Reads a script with a header; -EINVAL with @diagnostics when it has faults. */
int tool_read(const char *name, const char *path, const struct buf *text, struct tool **ret,
	      struct buf *diagnostics, struct err *e);
void tool_free(struct tool *t);
/* The table of its options and what else its command needs. */
void tool_make_command(struct tool *t);
/* $XDG_CONFIG_HOME/fathom/tools or $HOME/.config/fathom/tools; false: neither is set. */
bool tool_own_folder(struct buf *ret);

int tool_run(struct context *ctx, void *args);
/* What a tool needs is there? 0, or why not in @e. Nothing is attached. */
int tool_try(const struct tool *t, struct err *e);

/* Has it a column of this kind? */
bool tool_has_kind(const struct tool *t, enum column_kind kind);
/* Do its tables have a row for each of something (and not one of all)? */
bool tool_has_keys(const struct tool *t);
bool tool_has_histograms(const struct tool *t);
/* Does it send rows as they come (and not maps as tables)? */
bool tool_streams(const struct tool *t);

#endif
