/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom funclatency: how long functions take, as histograms. */
#include "base/clock.h"
#include "base/fmt.h"
#include "cli/cli.h"
#include "lang/lang.h"
#include "lang/oneliner.h"

struct funclatency_args {
	u64 pid;
	u64 interval;
	u64 duration;
	bool timestamp;
	bool source;
	bool microseconds;
	bool milliseconds;
	bool by_function;
};

struct funclatency_state {
	FILE *out;
	const char *pattern;
	bool timestamp;
	const char *unit;
};

static void show_time(const struct funclatency_state *s)
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
	const struct funclatency_state *s = ctx;

	if (*row->key)
		fprintf(s->out, "Function = %s\n", row->key);
	fprintf(s->out, "%s\n%s", s->unit, row->text);
}

static void show_stats(void *ctx, const struct lang_row *row)
{
	const struct funclatency_state *s = ctx;

	fprintf(s->out, "%s%s%s %s\n", *row->key ? row->key : "", *row->key ? ": " : "", row->text,
		s->unit);
}

static void funclatency_show(void *ctx, struct lang *l)
{
	struct funclatency_state *s = ctx;

	fputc('\n', s->out);
	show_time(s);
	lang_rows(l, "@hist", show_row, s);
	lang_rows(l, "@stats", show_stats, s);
	fflush(s->out);
}

static void funclatency_begin(void *ctx, struct lang *l)
{
	const struct funclatency_state *s = ctx;
	u32 n = lang_probe_count(l) / 2;

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

static int funclatency_run(struct context *ctx, void *args)
{
	const struct funclatency_args *a = args;
	static const char *const maps[] = { "@hist", "@stats", NULL };
	struct funclatency_state s = { .out = ctx->out,
				       .pattern = ctx->operands.items[0],
				       .timestamp = a->timestamp };
	struct oneliner o = { .name = "funclatency",
			      .ctx = &s,
			      .begin = funclatency_begin,
			      .show = funclatency_show,
			      .maps = maps,
			      .interval = a->interval,
			      .duration = a->duration,
			      .pid = (u32)a->pid };
	_cleanup_buf_ struct buf source = BUF_INIT;
	const char *key = a->by_function ? "[func]" : "";

	if (oneliner_rounds(&o, ctx->operands.items + 1, ctx->operands.len - 1, &ctx->err) < 0)
		return EXIT_USAGE;
	s.unit = a->milliseconds ? "msecs" : a->microseconds ? "usecs" : "nsecs";
	buf_addstr(&source, "config = { print_maps_on_exit = false; }\n");
	if (oneliner_probe(ctx->operands.items[0], false, &source, &ctx->err) < 0)
		return EXIT_USAGE;
	buf_addstr(&source, " { @start[tid] = nsecs; }\n");
	oneliner_probe(ctx->operands.items[0], true, &source, NULL);
	buf_addf(&source,
		 " /@start[tid]/ {\n\t$t = (nsecs - @start[tid]) / %s;\n\t@hist%s = hist($t);\n"
		 "\t@stats%s = stats($t);\n\tdelete(@start[tid]);\n}\n",
		 a->milliseconds   ? "1000000"
		 : a->microseconds ? "1000"
				   : "1",
		 key, key);
	return finish(ctx, &o, &source, a->source);
}

#define OPTION(letter, name_, type_, field, arg_, help_, ...)                                   \
	{                                                                                       \
		.short_name = letter, .name = name_, .type = type_,                             \
		.offset = offsetof(struct funclatency_args, field), .arg = arg_, .help = help_, \
		__VA_ARGS__                                                                     \
	}

static const struct opt funclatency_options[] = {
	OPTION('p', "pid", OPT_U64, pid, "PID", "only this process", .max = UINT32_MAX),
	OPTION('i', "interval", OPT_U64, interval, "SECONDS", "show every so often"),
	OPTION('d', "duration", OPT_U64, duration, "SECONDS", "end after this time"),
	OPTION('T', "timestamp", OPT_FLAG, timestamp, NULL, "say when"),
	OPTION(0, "source", OPT_FLAG, source, NULL, "print the program and end"),
	OPTION('u', "microseconds", OPT_FLAG, microseconds, NULL, "in microseconds"),
	OPTION('m', "milliseconds", OPT_FLAG, milliseconds, NULL, "in milliseconds",
	       .conflicts = "microseconds"),
	OPTION('F', "function", OPT_FLAG, by_function, NULL, "a histogram for each function"),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom funclatency -d 1 c:malloc", "how long malloc takes" },
	{ "fathom funclatency -u -F 'vfs_*'", "each function of the virtual file system" },
	{ 0 },
};

const struct command cmd_funclatency = {
	.name = "funclatency",
	.summary = "time functions and show the times as histograms",
	.description = "Measures the time between entry and return of what the pattern matches, as "
		       "bcc's tool of that name does.",
	.question = Q_TRACE,
	.options = funclatency_options,
	.args_size = sizeof(struct funclatency_args),
	.operands = "PATTERN [INTERVAL [COUNT]]",
	.min_operands = 1,
	.max_operands = 3,
	.examples = examples,
	.see_also = "fathom-trace fathom-funccount",
	.run = funclatency_run,
};
