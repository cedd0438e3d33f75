/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom stacks: how good the stacks of this machine, or of a recording, are. */
#include <fcntl.h>

#include "analysis/stacks.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/option_text.h"
#include "cli/program.h"
#include "cli/target.h"
#include "profile/load.h"
#include "recorder/recorder.h"

#include <time.h>

enum { LIVE_SECONDS = 5, INPUT_STEP = 1 << 16 };

struct stacks_args {
	struct target_args target;
	const char *input;
	u64 frequency;
	u64 lines;
	bool lines_given;
};

#define AT(field) .offset = offsetof(struct stacks_args, field)

static const struct opt stacks_options[] = {
	{ .type = OPT_INCLUDE, .include = target_options, AT(target) },
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE", .group = "Input",
	  .help = "a recording instead of what runs now" },
	{ 'F', "freq", OPT_CUSTOM, AT(frequency), .arg = "HZ", .def = "99", .parse = option_rate,
	  .alias = "frequency", .help = "samples per second and CPU" },
	{ .name = "lines",
	  .type = OPT_U64,
	  AT(lines),
	  .arg = "N",
	  .def = "20",
	  .given_offset = offsetof(struct stacks_args, lines_given),
	  .max = UINT32_MAX,
	  .help = "maximum number of lines per table, 0: all" },
	OPT_END,
};

/* --- live ------------------------------------------------------------------------------------- */

struct live {
	struct event_list events;
	struct target target;
	struct launch launch;
	struct recorder *recorder;
	char *path;
};

static void live_release(struct live *l)
{
	recorder_free(l->recorder);
	launch_release(&l->launch);
	target_release(&l->target);
	event_list_release(&l->events);
	if (l->path)
		(void)unlink(l->path);
	free(l->path);
}

static int make_file(struct live *l, struct err *e)
{
	const char *dir = getenv("TMPDIR");
	_cleanup_free_ char *path =
		xasprintf("%s/fathom-stacks-XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, errno, "cannot make a file for the samples");
	close(fd);
	l->path = TAKE_PTR(path);
	return 0;
}

static int record_live(struct context *ctx, const struct stacks_args *a, struct live *l)
{
	struct err *e = &ctx->err;
	struct recorder_opts o = {
		.events = &l->events,
		.target = &l->target,
		.auto_stacks = true,
		.no_names = true,
		.session = { .frequency = a->frequency, .clock_id = CLOCK_MONOTONIC },
	};
	u64 ns = a->target.duration;
	int code = event_add_default(&l->events, NULL, e);

	if (!a->target.duration_given && !ctx->program)
		ns = LIVE_SECONDS * NSEC_PER_SEC;
	if (code >= 0 && ctx->program)
		code = program_prepare(&l->launch, ctx->program, e);
	if (code == 0)
		code = target_choose(&l->target, &a->target, l->launch.pid, e);
	if (code == 0)
		code = make_file(l, e);
	if (code)
		return code;
	o.launch = l->launch.pid ? &l->launch : NULL;
	recorder_new(&l->recorder, &o);
	code = recorder_open(l->recorder, e);
	if (code >= 0)
		code = recorder_begin(l->recorder, l->path, e);
	if (code >= 0) {
		/* the terminal is the program's while there is one */
		if (!ctx->program)
			cli_progress_watching(ctx, ns);
		code = recorder_run(l->recorder, ns, e);
		if (!ctx->program)
			cli_progress(ctx, "%s", "");
	}
	return code < 0 ? code : recorder_end(l->recorder, e);
}

/* --- from a pipe ------------------------------------------------------------------------------ */

/* It is read twice: for its samples, and for where stacks ended. */
static int keep_input(struct live *l, struct err *e)
{
	_cleanup_free_ char *bytes = xmalloc(INPUT_STEP);
	_cleanup_close_ int fd = -1;
	ssize_t n;
	int code = make_file(l, e);

	if (!l->path)
		return code;
	fd = open(l->path, O_WRONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(STDIN_FILENO, bytes, INPUT_STEP)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read standard input");
		code = io_write_all(fd, bytes, (size_t)n);
		if (code < 0)
			return err_sys(e, code, "cannot write '%s'", l->path);
	}
	return fd < 0 ? err_sys(e, errno, "cannot write '%s'", l->path) : 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static int show(struct context *ctx, const struct stacks_args *a, const char *path)
{
	static const struct load_opts load = { .merge = true };
	struct stacks_opts opts = { .max_lines = (u32)a->lines };
	struct symbols *symbols = symbols_new(NULL);
	struct health health = { 0 };
	_cleanup_result_ struct result result = { 0 };
	struct profile p;
	int code;

	/* programs get everything unless they ask for less */
	if (cli_is_machine(ctx) && !a->lines_given)
		opts.max_lines = 0;
	result_init(&result, "stacks");
	profile_init(&p);
	stop_at_once();
	code = profile_load(&p, path, &load, &ctx->err);
	if (code >= 0) {
		int known = health_load(&health, path, NULL);

		code = stacks_build(&p, known < 0 ? NULL : &health, symbols, &opts, &result,
				    &ctx->err);
	}
	/* the file is ours, and nothing else refers to it */
	if (code == -ENODATA && !a->input) {
		err_release(&ctx->err);
		err_set(&ctx->err, ENODATA, "no samples: the target did not run");
		err_hint(&ctx->err, "sample for longer (-d), or while it runs");
	}
	if (code == 0)
		code = cli_show(ctx, &result);
	health_release(&health);
	profile_release(&p);
	symbols_free(symbols);
	return code;
}

static int stacks_run(struct context *ctx, void *args)
{
	const struct stacks_args *a = args;
	struct live l = { .launch = LAUNCH_INIT };
	int code, status;

	if (a->input && !streq(a->input, "-"))
		return show(ctx, a, a->input);
	code = a->input ? keep_input(&l, &ctx->err) : record_live(ctx, a, &l);
	if (code == 0)
		code = show(ctx, a, l.path);
	status = program_end(&l.launch);
	live_release(&l);
	return code ? code : status;
}

static const struct example stacks_examples[] = {
	{ "fathom stacks", "five seconds of the whole machine" },
	{ "fathom stacks -p 1234 -d 10s", "one process" },
	{ "fathom stacks -i fathom.data", "a recording" },
	{ 0 },
};

const struct command cmd_stacks = {
	.name = "stacks",
	.summary = "how complete and well named stacks are, and what would help",
	.description =
		"For each process and binary: the share of samples whose stack reaches the start "
		"of its thread, how deep stacks are, how they were unwound, why the others ended "
		"early, where names come from, and what to do about it.\n\n"
		"Without -i it samples what runs, as fathom record does.",
	.question = Q_SELF,
	.options = stacks_options,
	.args_size = sizeof(struct stacks_args),
	.takes_program = true,
	.examples = stacks_examples,
	.see_also = "fathom-record fathom-prebuild fathom-doctor",
	.run = stacks_run,
};
