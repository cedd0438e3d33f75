/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom funccount: how often functions, tracepoints and static probes are hit. */
#include "base/clock.h"
#include "base/fmt.h"
#include "cli/cli.h"
#include "lang/lang.h"
#include "lang/oneliner.h"

struct funccount_args {
	u64 pid;
	u64 interval;
	u64 duration;
	bool timestamp;
	bool source;
	bool ignored;
};

struct funccount_state {
	FILE *out;
	const char *pattern;
	bool timestamp;
};

static void show_time(const struct funccount_state *s)
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
	const struct funccount_state *s = ctx;

	fprintf(s->out, "%-36s %8lld\n", row->key, (long long)row->value);
}

static void funccount_show(void *ctx, struct lang *l)
{
	struct funccount_state *s = ctx;

	fputc('\n', s->out);
	show_time(s);
	fprintf(s->out, "%-36s %8s\n", "FUNC", "COUNT");
	lang_rows(l, "@", show_row, s);
	fflush(s->out);
}

static void funccount_begin(void *ctx, struct lang *l)
{
	const struct funccount_state *s = ctx;
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

static int funccount_run(struct context *ctx, void *args)
{
	const struct funccount_args *a = args;
	static const char *const maps[] = { "@", NULL };
	struct funccount_state s = { .out = ctx->out,
				     .pattern = ctx->operands.items[0],
				     .timestamp = a->timestamp };
	struct oneliner o = { .name = "funccount",
			      .ctx = &s,
			      .begin = funccount_begin,
			      .show = funccount_show,
			      .maps = maps,
			      .interval = a->interval,
			      .duration = a->duration,
			      .pid = (u32)a->pid };
	_cleanup_buf_ struct buf source = BUF_INIT;
	int rc;

	if (oneliner_rounds(&o, ctx->operands.items + 1, ctx->operands.len - 1, &ctx->err) < 0)
		return EXIT_USAGE;
	buf_addstr(&source, "config = { print_maps_on_exit = false; }\n");
	rc = oneliner_probe(ctx->operands.items[0], false, &source, &ctx->err);
	if (rc < 0)
		return EXIT_USAGE;
	buf_addf(&source, " { @[%s] = count(); }\n",
		 strstr(buf_str(&source), "tracepoint:") ? "probe" : "func");
	return finish(ctx, &o, &source, a->source);
}

#define OPTION(letter, name_, type_, field, arg_, help_, ...)                                 \
	{                                                                                     \
		.short_name = letter, .name = name_, .type = type_,                           \
		.offset = offsetof(struct funccount_args, field), .arg = arg_, .help = help_, \
		__VA_ARGS__                                                                   \
	}

static const struct opt funccount_options[] = {
	OPTION('p', "pid", OPT_U64, pid, "PID", "only this process", .max = UINT32_MAX),
	OPTION('i', "interval", OPT_U64, interval, "SECONDS", "show every so often"),
	OPTION('d', "duration", OPT_U64, duration, "SECONDS", "end after this time"),
	OPTION('T', "timestamp", OPT_FLAG, timestamp, NULL, "say when"),
	OPTION(0, "source", OPT_FLAG, source, NULL, "print the program and end"),
	OPTION('r', "regexp", OPT_FLAG, ignored, NULL, "accepted: patterns are globs",
	       .flags = OPT_HIDDEN),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom funccount -d 1 c:malloc", "calls of malloc in a second" },
	{ "fathom funccount -i 1 't:sched:sched_*'", "the scheduler's events, every second" },
	{ "fathom funccount 'vfs_*'", "functions of the virtual file system until Ctrl-C" },
	{ 0 },
};

const struct command cmd_funccount = {
	.name = "funccount",
	.summary = "count calls of functions, tracepoints and static probes",
	.description = "Counts how often what the pattern matches is hit, as bcc's tool of that "
		       "name does.",
	.question = Q_TRACE,
	.options = funccount_options,
	.args_size = sizeof(struct funccount_args),
	.operands = "PATTERN [INTERVAL [COUNT]]",
	.min_operands = 1,
	.max_operands = 3,
	.examples = examples,
	.see_also = "fathom-trace fathom-funclatency",
	.run = funccount_run,
};
