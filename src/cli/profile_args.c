/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/profile_args.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/log.h"
#include "base/stop.h"

#include <sys/stat.h>

#define AT(field) .offset = offsetof(struct profile_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct profile_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

const struct opt profile_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE", .group = "Input",
	  .help = "the recording, perf script text or folded stacks to read; - is stdin "
		  "(default fathom.data, else perf.data)" },
	OPTION(0, "event", OPT_STRING, event, "GLOB", "only samples of these events",
	       .group = "Input", .alias = "event-filter"),
	OPTION(0, "comms", OPT_STRING, comms, "LIST",
	       "only commands of these names (globs, comma separated)", .group = "Input",
	       .alias = "comm"),
	OPTION(0, "dsos", OPT_STRING, dsos, "LIST", "only samples taken in these modules",
	       .group = "Input", .alias = "dso"),
	OPTION(0, "symbols", OPT_STRING, symbols, "LIST", "only samples taken in these functions",
	       .group = "Input"),
	OPTION('p', "pids", OPT_PIDS, pids, "PID,...", "only these processes", .group = "Input"),
	OPTION(0, "tids", OPT_PIDS, tids, "TID,...", "only these threads", .group = "Input"),
	OPTION(0, "cpus", OPT_RANGES, cpus, "LIST", "only samples of these CPUs", .group = "Input"),
	OPTION(0, "time", OPT_STRING, time, "FROM,TO",
	       "only this span: seconds of the recording's clock, or +1.5,+3 from its start",
	       .group = "Input"),
	OPTION(0, "no-kernel", OPT_FLAG, no_kernel, NULL, "leave out the kernel part of stacks",
	       .group = "Input", .alias = "user-only"),
	OPTION(0, "no-user", OPT_FLAG, no_user, NULL, "leave out the user part of stacks",
	       .group = "Input", .alias = "kernel-only", .conflicts = "no-kernel"),
	OPTION(0, "no-inline", OPT_FLAG, no_inline, NULL,
	       "do not show inlined functions as frames of their own", .group = "Input"),
	OPTION(0, "guestkallsyms", OPT_FILE, guest_kallsyms, "FILE",
	       "names of a guest's kernel: a copy of its /proc/kallsyms", .group = "Input"),
	OPTION(0, "guestmodules", OPT_FILE, guest_modules, "FILE",
	       "modules of a guest's kernel: a copy of its /proc/modules", .group = "Input"),
	OPT_END,
};

const struct opt profile_perf_options[] = {
	{ 'C', "cpu", OPT_RANGES, AT(cpus), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's name for --cpus" },
	OPTION(0, "pid", OPT_PIDS, pids, "PID,...", "perf's name for --pids", .flags = OPT_HIDDEN),
	OPTION(0, "tid", OPT_PIDS, tids, "TID,...", "perf's name for --tids", .flags = OPT_HIDDEN),
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
		.guest_kallsyms = args->guest_kallsyms,
		.guest_modules = args->guest_modules,
	};
	return args->time ? parse_span(args->time, ret, e) : 0;
}

/* As perf does: what a pipe brings, otherwise the file of that name. */
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
