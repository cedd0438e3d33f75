/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/profile_args.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/log.h"
#include "base/stop.h"

#include <sys/stat.h>

#define AT(field) .offset = offsetof(struct profile_args, field)

const struct opt profile_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE", .group = "Input",
	  .help = "the recording, perf script text or folded stacks to read; - is stdin "
		  "(default fathom.data, else perf.data)" },
	{ .name = "event",
	  .type = OPT_STRING,
	  AT(event),
	  .arg = "GLOB",
	  .group = "Input",
	  .alias = "event-filter",
	  .help = "only samples of these events" },
	{ .name = "comms",
	  .type = OPT_STRING,
	  AT(comms),
	  .arg = "LIST",
	  .group = "Input",
	  .alias = "comm",
	  .help = "only commands of these names (globs, comma separated)" },
	{ .name = "dsos",
	  .type = OPT_STRING,
	  AT(dsos),
	  .arg = "LIST",
	  .group = "Input",
	  .alias = "dso",
	  .help = "only samples taken in these modules" },
	{ .name = "symbols",
	  .type = OPT_STRING,
	  AT(symbols),
	  .arg = "LIST",
	  .group = "Input",
	  .help = "only samples taken in these functions" },
	{ .short_name = 'p',
	  .name = "pids",
	  .type = OPT_PIDS,
	  AT(pids),
	  .arg = "PID,...",
	  .group = "Input",
	  .help = "only these processes" },
	{ .name = "tids",
	  .type = OPT_PIDS,
	  AT(tids),
	  .arg = "TID,...",
	  .group = "Input",
	  .help = "only these threads" },
	{ .name = "cpus",
	  .type = OPT_RANGES,
	  AT(cpus),
	  .arg = "LIST",
	  .group = "Input",
	  .help = "only samples of these CPUs" },
	{ .name = "time",
	  .type = OPT_STRING,
	  AT(time),
	  .arg = "FROM,TO",
	  .group = "Input",
	  .help = "only this span: seconds of the recording's clock, or +1.5,+3 from its start" },
	{ .name = "no-kernel",
	  .type = OPT_FLAG,
	  AT(no_kernel),
	  .group = "Input",
	  .alias = "user-only",
	  .help = "leave out the kernel part of stacks" },
	{ .name = "no-user",
	  .type = OPT_FLAG,
	  AT(no_user),
	  .group = "Input",
	  .alias = "kernel-only",
	  .help = "leave out the user part of stacks",
	  .conflicts = "no-kernel" },
	{ .name = "no-inline",
	  .type = OPT_FLAG,
	  AT(no_inline),
	  .group = "Input",
	  .help = "do not show inlined functions as frames of their own" },
	OPT_END,
};

const struct opt profile_perf_options[] = {
	{ 'C', "cpu", OPT_RANGES, AT(cpus), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's name for --cpus" },
	{ .name = "pid",
	  .type = OPT_PIDS,
	  AT(pids),
	  .arg = "PID,...",
	  .flags = OPT_HIDDEN,
	  .help = "perf's name for --pids" },
	{ .name = "tid",
	  .type = OPT_PIDS,
	  AT(tids),
	  .arg = "TID,...",
	  .flags = OPT_HIDDEN,
	  .help = "perf's name for --tids" },
	{ 'c', "only-comms", OPT_STRING, AT(comms), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's letter for --comms" },
	{ 'S', "only-symbols", OPT_STRING, AT(symbols), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's letter for --symbols" },
	OPT_END,
};

/* One end of a span: "" open, "12.5" on the clock, "+1.5" from the start. */
static int parse_end(const char *text, u64 *ret, bool *relative, struct err *e)
{
	double seconds;
	int r;

	if (!*text) {
		*ret = 0;
		return 0;
	}
	*relative |= *text == '+';
	r = parse_double(text + (*text == '+'), &seconds, e);
	if (r < 0)
		return r;
	if (seconds < 0 || seconds > 1e10)
		return err_set(e, ERANGE, "'%s' is not a time in seconds", text);
	*ret = (u64)(seconds * 1e9 + 0.5);
	return 0;
}

static int parse_span(const char *text, struct load_opts *ret, struct err *e)
{
	_cleanup_free_ char *from = xstrdup(text);
	char *to = strchr(from, ',');
	int r;

	if (!to) {
		err_set(e, EINVAL, "'%s' is not a span of time", text);
		err_hint(e, "write it like 10.5,12 or +1,+3; either end may be left out");
		return -EINVAL;
	}
	*to++ = '\0';
	r = parse_end(from, &ret->time_from, &ret->time_relative, e);
	if (r >= 0)
		r = parse_end(to, &ret->time_to, &ret->time_relative, e);
	if (r >= 0 && *to && ret->time_to < ret->time_from) {
		err_set(e, EINVAL, "the span of time '%s' ends before it begins", text);
		err_hint(e, "write FROM,TO like 10.5,12 or +1,+3");
		return -EINVAL;
	}
	return r;
}

int profile_args_opts(const struct profile_args *args, struct load_opts *ret, struct err *e)
{
	*ret = (struct load_opts){
		.event = args->event,
		.comms = args->comms,
		.dsos = args->dsos,
		.symbols = args->symbols,
		.pids = &args->pids,
		.tids = &args->tids,
		.cpus = &args->cpus,
		.no_kernel = args->no_kernel,
		.no_user = args->no_user,
		.inlines = !args->no_inline,
	};
	return args->time ? parse_span(args->time, ret, e) : 0;
}

/* As perf does: what a pipe brings, else the file of that name. */
static const char *perf_input(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : PERF_FILE;
}

int profile_args_input(struct context *ctx, const char **input)
{
	if (!ctx->operands.len) {
		if (ctx->as_perf && !*input)
			*input = perf_input();
		return 0;
	}
	if (*input) {
		err_set(&ctx->err, EINVAL, "two inputs: '%s' and '%s'", *input,
			ctx->operands.items[0]);
		return EXIT_USAGE;
	}
	*input = ctx->operands.items[0];
	return 0;
}

int profile_args_take(struct context *ctx, struct profile_args *args, struct load_opts *ret)
{
	int r = profile_args_input(ctx, &args->input);

	if (!r && profile_args_opts(args, ret, &ctx->err) < 0)
		r = EXIT_USAGE;
	return r;
}

struct progress {
	struct context *ctx;
	u64 next; /* not before this time: quick commands stay silent */
};

static void show_progress(void *ctx, u64 done, u64 total)
{
	struct progress *p = ctx;
	u64 now = clock_mono_ns();

	if (now < p->next)
		return;
	p->next = now + 200 * NSEC_PER_MSEC;
	if (total)
		cli_progress(p->ctx, "reading: %llu%%", (unsigned long long)(done * 100 / total));
	else
		cli_progress(p->ctx, "reading: %llu MB", (unsigned long long)(done >> 20));
}

int profile_args_load(struct context *ctx, const struct profile_args *args, struct load_opts *opts,
		      struct profile *ret)
{
	struct progress progress = { .ctx = ctx, .next = clock_mono_ns() + NSEC_PER_SEC };
	int r;

	opts->progress = show_progress;
	/* cppcheck-suppress autoVariables ; taken back below */
	opts->progress_ctx = &progress;
	stop_at_once();
	r = profile_load(ret, args->input, opts, &ctx->err);
	opts->progress_ctx = NULL;
	cli_progress(ctx, "%s", "");
	return r;
}

int profile_args_look(struct context *ctx, const struct profile_args *which, struct load_opts *opts,
		      int (*look)(struct context *ctx, const void *args, struct profile *p),
		      const void *args)
{
	struct profile p;
	int r;

	profile_init(&p);
	r = profile_args_load(ctx, which, opts, &p);
	if (r >= 0 && !p.samples.len)
		r = profile_no_samples(&p, &ctx->err);
	if (r >= 0)
		r = look(ctx, args, &p);
	profile_release(&p);
	return r;
}

static void warn_count(u64 n, const char *what)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!n)
		return;
	fmt_count(&text, n);
	log_warn("%s: %s", what, buf_str(&text));
}

void profile_args_warn(const struct profile *p)
{
	const char *name = profile_str(p, p->source);

	warn_count(p->lost_samples, "samples lost because a buffer was full");
	warn_count(p->bad_records, "records or lines that could not be read");
	if (p->aux_bytes) {
		_cleanup_buf_ struct buf size = BUF_INIT;

		fmt_size(&size, p->aux_bytes);
		log_warn(
			"'%s' holds %s of a hardware trace (%s), which is not decoded: 'perf "
			"inject "
			"--itrace -i FILE -o NEW', on a machine whose perf knows that trace, makes "
			"samples of it",
			name, buf_str(&size), profile_aux_name(p->aux_kind));
	}
	if (p->fault)
		log_warn("'%s': %s; what is before it is used", name, profile_str(p, p->fault));
}

void profile_args_warn_event(const struct profile *p, u16 event)
{
	_cleanup_buf_ struct buf others = BUF_INIT;

	for (size_t i = 0; i < p->events.len; i++)
		if (i != event && p->events.items[i].samples)
			buf_addf(&others, "%s%s", others.len ? ", " : "",
				 profile_str(p, p->events.items[i].name));
	if (others.len)
		log_warn("only samples of '%s': --event chooses another of %s",
			 profile_str(p, p->events.items[event].name), buf_str(&others));
}
