/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands share that put a generated program on probes: bcc's one-line tools. */
#ifndef CLI_PROBING_H
#define CLI_PROBING_H

#include "cli/cli.h"
#include "lang/bcc/oneliner.h"

/* Embedded in a command's own arguments: which letter means what differs from tool to tool. */
struct probing_args {
	u64 pid;
	u64 tid;
	u64 cpu;
	bool cpu_given;
	u64 interval;
	u64 duration;
	bool timestamp;
	bool source; /* print the program and exit */
	bool debug;  /* print the program, then run it */
	bool regexp;
};

/* Entries of an option table: --source belongs to all of them. */
#define PROBING_OPTION(letter, name_, type_, struct_, field, ...) \
	OPT_ENTRY(struct_, letter, name_, type_, probing.field, __VA_ARGS__)
#define PROBING_PID(struct_)                                                          \
	PROBING_OPTION('p', "pid", OPT_U64, struct_, pid, "PID", "only this process", \
		       .max = UINT32_MAX)
#define PROBING_CPU(struct_)                                                      \
	PROBING_OPTION('c', "cpu", OPT_U64, struct_, cpu, "CPU", "only this CPU", \
		       .given_offset = offsetof(struct_, probing.cpu_given))
#define PROBING_INTERVAL(struct_)                                                \
	PROBING_OPTION('i', "interval", OPT_DURATION, struct_, interval, "TIME", \
		       "interval between outputs")
#define PROBING_DURATION(letter, struct_)                                           \
	PROBING_OPTION(letter, "duration", OPT_DURATION, struct_, duration, "TIME", \
		       "end after this time; else, or with 0, at Ctrl-C")
#define PROBING_TIMESTAMP(struct_) \
	PROBING_OPTION('T', "timestamp", OPT_FLAG, struct_, timestamp, NULL, "say when")
#define PROBING_REGEXP(struct_)                                        \
	PROBING_OPTION('r', "regexp", OPT_FLAG, struct_, regexp, NULL, \
		       "the pattern is a regular expression")
#define PROBING_SOURCE(struct_)                                                                    \
	PROBING_OPTION(0, "source", OPT_FLAG, struct_, source, NULL, "print the program and exit", \
		       .alias = "ebpf")
#define PROBING_DEBUG(letter, name_, struct_)                         \
	PROBING_OPTION(letter, name_, OPT_FLAG, struct_, debug, NULL, \
		       "print the program before it starts")

struct probing {
	struct context *ctx;
	const struct probing_args *args;
	const char *pattern;
	const char *made_from; /* what errors name: the pattern, or all of them */
	struct oneliner_spec spec;
	u32 probes_each;       /* probes of one function: 2 when its return is probed as well */
	struct buf source;     /* the program */
	struct result *result; /* JSON and CSV: the round being filled; NULL: text */
	u64 count;             /* of rounds; 0: no limit but what operands say */
	const void *tool;      /* the command's own */
};

/*
 * Parses the pattern (the first operand) and begins the program with the settings that all of
 * them need.
 */
int probing_init(struct probing *p, struct context *ctx, const struct probing_args *a);
void probing_release(struct probing *p);
/* Appends the probes of the pattern with the predicate that -p, -t and -c give. */
int probing_add_probes(struct probing *p, bool is_return, const char *predicate);
/* " /pid == 7 && (x)/" or nothing; @extra may be NULL. */
void probing_predicate(const struct probing_args *a, bool is_user, const char *extra,
		       struct buf *out);
/* The time of a round, if that is wanted. */
void probing_time(const struct probing *p);
/*
 * Shows the program, or runs it with the rounds that the options and other operands ask for.
 * @show fills @p->result if there is one, and prints otherwise.
 */
int probing_run(struct probing *p, const char *const *maps,
		void (*show)(struct probing *p, struct lang *l));

/* A histogram in bcc's form, or as a part of the result; @total is the sum of the values. */
void probing_hist(struct probing *p, const char *label, const char *unit,
		  const struct histogram *hist, u64 total);

#endif
