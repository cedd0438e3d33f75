/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What 'trace' and 'bpftrace', which has its peer's command line, share. */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include "cli/cli.h"
#include "lang/bcc/trace.h"

struct trace_args {
	const char *program;
	bool list;
	bool list_verbose;
	u64 pid;
	u64 duration; /* 0: until it ends by itself */
	const char *command;
	const char *output;
	int format;
	int buffering;
	bool unsafe;
	bool raw;
	bool dry_run;
	bool fmt;
	bool compat; /* output, notices and exit status as bpftrace has them */
	bool no_warnings;
	bool info;
	bool test;
	bool bench;
	bool version;
	const char *mode;
	const char *probe_filter;
	const char *no_way; /* what only a compiler with LLVM can do */
	int dump;           /* how often -d was given */
	bool source;        /* print the program and exit */
	struct bcc_trace_opts bcc;
	/* bpftrace's, as they were given: it checks and words them in its own way */
	const char *pid_text;
	const char *format_text;
	const char *buffering_text;
	const char *no_feature;
	const char *functions;
	int warnings;
	str_list dwarf_pids;
	str_list debug_dirs;
	str_list stage;
	str_list include_dirs;
	str_list includes;
	str_list ignored;
	bool ignored_flag;
};

/* One row of a table of options that fill a struct trace_args. */
#define TRACE_OPTION(letter, name_, type_, field, arg_, group_, help_, ...)                 \
	{                                                                                   \
		.short_name = letter, .name = name_, .type = type_,                         \
		.offset = offsetof(struct trace_args, field), .arg = arg_, .group = group_, \
		.help = help_, __VA_ARGS__                                                  \
	}
#define TRACE_ACCEPTED(letter, name_)                                   \
	TRACE_OPTION(letter, name_, OPT_FLAG, ignored_flag, NULL, NULL, \
		     "accepted for compatibility with bpftrace", .flags = OPT_HIDDEN)
#define TRACE_ACCEPTED_VALUE(letter, name_)                          \
	TRACE_OPTION(letter, name_, OPT_STRINGS, ignored, "X", NULL, \
		     "accepted for compatibility with bpftrace", .flags = OPT_HIDDEN)

int trace_execute(struct context *ctx, const struct trace_args *a);

#endif
