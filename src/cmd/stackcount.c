/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom stackcount: the stacks that lead to a function or event, counted. */
#include "base/clock.h"
#include "base/fmt.h"
#include "cli/cli.h"
#include "lang/lang.h"
#include "lang/oneliner.h"

struct stackcount_args {
	u64 pid;
	u64 interval;
	u64 duration;
	bool timestamp;
	bool source;
	bool kernel_only;
	bool user_only;
	bool per_pid;
};

struct stackcount_state {
	FILE *out;
	const char *pattern;
	bool timestamp;
};

static void show_time(const struct stackcount_state *s)
{
	struct buf text = BUF_INIT;

	if (s->timestamp) {
		fmt_clock(&text, clock_wall_ns(), 0);
		fprintf(s->out, "%s\n", buf_str(&text));
	}
	buf_release(&text);
}

static void show_row(void *ctx, const struct lang_row *row)
{
	const struct stackcount_state *s = ctx;

	fprintf(s->out, "%s\n    %lld\n\n", row->key + (row->key[0] == '\n'),
		(long long)row->value);
}

static void stackcount_show(void *ctx, struct lang *l)
{
	struct stackcount_state *s = ctx;

	show_time(s);
	lang_rows(l, "@", show_row, s);
	fflush(s->out);
}

static void stackcount_begin(void *ctx, struct lang *l)
{
	const struct stackcount_state *s = ctx;
	u32 n = lang_probe_count(l);

	fprintf(stderr, "Tracing %u function%s for \"%s\"... Hit Ctrl-C to end.\n", n,
		n == 1 ? "" : "s", s->pattern);
}

/* The program, or what it gives. */
static int finish(struct context *ctx, const struct oneliner *o, const struct buf *source,
		  bool only_source)
{
	_cleanup_buf_ struct buf diagnostics = BUF_INIT;
	int rc;

	if (only_source)
		return cli_print(ctx, source);
	rc = oneliner_run(o, buf_str(source), &diagnostics, &ctx->err);
	fputs(buf_str(&diagnostics), stderr);
	return rc && (ctx->err.code == EPERM || ctx->err.code == ENOTSUP) ? EXIT_MISSING : rc;
}

static int stackcount_run(struct context *ctx, void *args)
{
	const struct stackcount_args *a = args;
	static const char *const maps[] = { "@", NULL };
	struct stackcount_state s = { .out = ctx->out,
				      .pattern = ctx->operands.items[0],
				      .timestamp = a->timestamp };
	struct oneliner o = { .name = "stackcount",
			      .ctx = &s,
			      .begin = stackcount_begin,
			      .show = stackcount_show,
			      .maps = maps,
			      .interval = a->interval,
			      .duration = a->duration,
			      .pid = (u32)a->pid };
	_cleanup_buf_ struct buf source = BUF_INIT;

	if (oneliner_rounds(&o, ctx->operands.items + 1, ctx->operands.len - 1, &ctx->err) < 0)
		return EXIT_USAGE;
	buf_addstr(&source, "config = { print_maps_on_exit = false; }\n");
	if (oneliner_probe(ctx->operands.items[0], false, &source, &ctx->err) < 0)
		return EXIT_USAGE;
	buf_addf(&source, " { @[%s%s%s%s] = count(); }\n", a->user_only ? "" : "kstack",
		 a->user_only || a->kernel_only ? "" : ", ", a->kernel_only ? "" : "ustack",
		 a->per_pid ? ", comm, pid" : "");
	return finish(ctx, &o, &source, a->source);
}

#define OPTION(letter, name_, type_, field, arg_, help_, ...)                                  \
	{                                                                                      \
		.short_name = letter, .name = name_, .type = type_,                            \
		.offset = offsetof(struct stackcount_args, field), .arg = arg_, .help = help_, \
		__VA_ARGS__                                                                    \
	}

static const struct opt stackcount_options[] = {
	OPTION('p', "pid", OPT_U64, pid, "PID", "only this process", .max = UINT32_MAX),
	OPTION('i', "interval", OPT_U64, interval, "SECONDS", "show every so often"),
	OPTION('d', "duration", OPT_U64, duration, "SECONDS", "end after this time"),
	OPTION('T', "timestamp", OPT_FLAG, timestamp, NULL, "say when"),
	OPTION(0, "source", OPT_FLAG, source, NULL, "print the program and end"),
	OPTION('K', "kernel-stacks-only", OPT_FLAG, kernel_only, NULL, "only kernel stacks"),
	OPTION('U', "user-stacks-only", OPT_FLAG, user_only, NULL, "only user stacks",
	       .conflicts = "kernel-stacks-only"),
	OPTION('P', "perpid", OPT_FLAG, per_pid, NULL, "for each process"),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom stackcount -d 1 t:sched:sched_switch", "what leads to switches" },
	{ "fathom stackcount -U -d 1 c:malloc", "who calls malloc" },
	{ 0 },
};

const struct command cmd_stackcount = {
	.name = "stackcount",
	.summary = "count the stacks that lead to a function or event",
	.description =
		"Counts kernel and user stacks at what the pattern matches, as bcc's tool of "
		"that name does.",
	.question = Q_TRACE,
	.options = stackcount_options,
	.args_size = sizeof(struct stackcount_args),
	.operands = "PATTERN [INTERVAL [COUNT]]",
	.min_operands = 1,
	.max_operands = 3,
	.examples = examples,
	.see_also = "fathom-trace fathom-funccount",
	.run = stackcount_run,
};
