/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/stop.h"
#include "cli/cli.h"
#include "top/top.h"
#include "tui/export.h"
#include "view/term.h"

struct top_args {
	struct top_opts top;
	u64 pid;
	bool once;
	const char *size;
	const char *keys;
	const char *picture;
};

#define AT(field) .offset = offsetof(struct top_args, field)
#define OPTION(letter, name_, type_, field_, arg_, help_, ...) \
	OPT_ENTRY(struct top_args, letter, name_, type_, field_, arg_, help_, __VA_ARGS__)

static const struct opt top_options[] = {
	OPTION('d', "interval", OPT_DURATION, top.interval, "TIME", "update this often",
	       .def = "1s", .alias = "delay"),
	OPTION(0, "duration", OPT_DURATION, top.duration, "TIME", "end after this time, like 10m"),
	OPTION('p', "pid", OPT_U64, pid, "PID", "narrow all screens to this process",
	       .max = UINT32_MAX),
	OPTION('s', "sort", OPT_STRING, top.sort, "COLUMN", "sort processes by this column",
	       .alias = "sort-key"),
	OPTION(0, "screen", OPT_STRING, top.screen, "NAME",
	       "begin with overview, functions, flame, waits, disks, network, cgroups, "
	       "interrupts, topology or tools"),
	OPTION(0, "columns", OPT_STRING, top.columns, "NAME,...", "columns of processes"),
	OPTION(0, "column", OPT_STRING, top.column, "NAME:FORMULA",
	       "a column of your own, as in 'iosize: io / (vcsw + 1), bytes'; in brackets are "
	       "counters of the machine"),
	OPTION(0, "filter", OPT_STRING, top.filter, "TEXT",
	       "only processes that match: nginx|redis, or cpu > 5 and user = root"),
	OPTION('t', "tree", OPT_FLAG, top.tree, NULL, "children below their parents"),
	OPTION('H', "threads", OPT_FLAG, top.threads, NULL, "a row for each thread"),
	OPTION('F', "frequency", OPT_FREQUENCY, top.frequency, "HZ", "of samples, on each CPU",
	       .def = "99"),
	OPTION(0, "readonly", OPT_FLAG, top.readonly, NULL, "no signals, priorities or affinities"),
	OPTION('i', "input", OPT_FILE, top.input, "FILE", "replay the counters of a recording",
	       .group = "Time"),
	OPTION(0, "record", OPT_FILE, top.record, "FILE", "write what is seen to a recording, too",
	       .group = "Time"),
	OPTION(0, "keep", OPT_DURATION, top.keep_ns, "TIME",
	       "how much of the past to keep for rewinding", .def = "10m", .group = "Time"),
	OPTION(0, "once", OPT_FLAG, once, NULL, "print one frame and end", .group = "Output"),
	OPTION(0, "size", OPT_STRING, size, "WxH", "size of the frame of --once: 120x40",
	       .group = "Output"),
	OPTION(0, "keys", OPT_STRING, keys, "KEYS",
	       "--once: press these keys first, such as 'Down Enter 3'", .group = "Output"),
	OPTION('o', "output", OPT_FILE, picture, "FILE",
	       "--once: write the frame to a file: .svg, .ans, .txt", .group = "Output"),
	OPTION(0, "theme", OPT_STRING, top.theme, "NAME", "colours: default, safe, mono",
	       .group = "Output"),
	OPTION(0, "ascii", OPT_FLAG, top.ascii, NULL, "draw nothing but ASCII", .group = "Output"),
	OPTION(0, "settings", OPT_FILE, top.settings, "FILE",
	       "read and write settings there, not in ~/.config/fathom/top.conf",
	       .group = "Output"),
	OPTION(0, "budget", OPT_PERCENT, top.budget, "PERCENT",
	       "of a CPU: update less often when that is exceeded", .def = "3"),
	OPT_END,
};

/* --- one frame -------------------------------------------------------------------------------- */

static int parse_screen(struct context *ctx, const char *text, int *ret_width, int *ret_height)
{
	char end;

	if (sscanf(text, "%5dx%5d%c", ret_width, ret_height, &end) == 2 && *ret_width > 0 &&
	    *ret_height > 0)
		return 0;
	err_set(&ctx->err, EINVAL, "'%s' is not a size", text);
	err_hint(&ctx->err, "columns and lines: 80x24");
	return EXIT_USAGE;
}

/* Like typing: what a key requests is shown before the next one. */
static int press_keys(struct context *ctx, struct top *t, const char *keys)
{
	struct input in;
	int r = 0;

	while (r >= 0 && input_parse(&keys, &in)) {
		top_draw(t);
		top_key(t, &in);
		top_take(t);
		r = top_wait(t, &ctx->err);
	}
	if (r >= 0 && *keys) {
		err_set(&ctx->err, EINVAL, "'%s' is not a key", keys);
		err_hint(&ctx->err,
			 "keys: a, 3, Enter, Esc, Up, PgDn, F5, Ctrl-L, Space, click:10,4");
		return EXIT_USAGE;
	}
	return r;
}

static void add_facts(const struct top *t, struct result *r)
{
	const struct machine_frame *f = t->frame;

	result_fact(r, "time", NULL, value_u(VALUE_TIME, f->wall));
	result_fact(r, "interval_ns", NULL, value_u(VALUE_DURATION, (u64)(f->seconds * 1e9)));
	result_fact(r, "tasks", NULL, value_u(VALUE_COUNT, f->n_tasks));
	result_fact(r, "processes", NULL, value_u(VALUE_COUNT, f->n_processes));
	result_fact(r, "by_bpf", NULL, value_u(VALUE_BOOL, f->by_bpf));
	result_fact(r, "meter_ns", NULL, value_d(VALUE_NUMBER, f->account.meter));
	result_fact(r, "rows_ns", NULL, value_d(VALUE_NUMBER, f->account.rows));
	result_fact(r, "short_lived_ns", NULL, value_d(VALUE_NUMBER, f->account.dead));
	result_fact(r, "irq_ns", NULL, value_d(VALUE_NUMBER, f->account.irq));
	result_fact(r, "steal_ns", NULL, value_d(VALUE_NUMBER, f->account.steal));
	result_fact(r, "orphans_ns", NULL, value_d(VALUE_NUMBER, f->account.orphans));
	result_fact(r, "unknown_ns", NULL, value_d(VALUE_NUMBER, f->account.unknown));
	result_fact(r, "collect_ns", NULL, value_u(VALUE_DURATION, f->collect_ns));
	result_loss(r, "lost_ends", "ends of tasks that could not be reported", f->lost);
}

static int show_result(struct context *ctx, struct top *t)
{
	_cleanup_result_ struct result r = { 0 };
	int n;
	const struct screen *s = top_screens(&n)[t->screen];

	result_init(&r, "top");
	add_facts(t, &r);
	if (s->result)
		s->result(t, &r);
	return cli_show(ctx, &r);
}

static int write_frame(struct context *ctx, struct top *t, const char *path)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	if (path) {
		top_write(t, path);
		if (!t->bad_message)
			return 0;
		err_set(&ctx->err, EIO, "%s", t->message);
		return EXIT_FAILED;
	}
	if (cli_color(ctx))
		grid_export_ansi(&t->grid, &out);
	else
		grid_export_text(&t->grid, &out);
	return fwrite(buf_str(&out), 1, out.len, ctx->out) == out.len ? 0 : -errno;
}

static int run_once(struct context *ctx, const struct top_args *a, struct top *t)
{
	int width = cli_width(ctx), height = 50, r = 0;

	if (a->size)
		r = parse_screen(ctx, a->size, &width, &height);
	if (r)
		return r;
	grid_resize(&t->grid, width, height);
	r = top_wait(t, &ctx->err);
	/* the first interval is short: one requested follows */
	if (r >= 0 && !a->top.input && !stop_requested()) {
		struct machine_frame *next =
			machine_source_wait(t->machine, t->o.interval + 5 * NSEC_PER_SEC);

		if (next) {
			machine_frame_free(t->frame);
			t->frame = next;
		}
	}
	if (r >= 0 && a->keys)
		r = press_keys(ctx, t, a->keys);
	if (r)
		return r;
	if (cli_is_machine(ctx))
		return show_result(ctx, t);
	top_draw(t);
	return write_frame(ctx, t, a->picture);
}

static int top_command(struct context *ctx, void *args)
{
	struct top_args *a = args;
	struct top *t;
	int r;

	a->top.no_color =
		ctx->common.color == COLOR_NEVER ||
		(ctx->common.color == COLOR_AUTO && getenv("NO_COLOR") && *getenv("NO_COLOR"));
	a->top.pid = (u32)a->pid;
	a->once |= cli_is_machine(ctx) || a->keys || a->picture;
	a->top.no_settings = a->once && !a->top.settings;
	if (a->top.interval < 50 * NSEC_PER_MSEC) {
		err_set(&ctx->err, EINVAL, "an interval below 50 ms would measure itself");
		return EXIT_USAGE;
	}
	r = top_new(&t, &a->top, &ctx->err);
	if (r == -EINVAL)
		return EXIT_USAGE;
	if (r < 0)
		return r;
	r = a->once ? run_once(ctx, a, t) : top_run(t, &ctx->err);
	if (r >= 0) {
		int rc = machine_source_finish(t->machine, &ctx->err);

		r = rc < 0 ? rc : r;
	}
	top_free(t);
	if (r == -ENOTTY || r == -ENOTSUP)
		return EXIT_MISSING;
	return r;
}

static const struct example top_examples[] = {
	{ "fathom top", "the machine, live" },
	{ "fathom top --once", "one frame, as text" },
	{ "fathom top --once --keys '3'", "the hottest functions of the machine" },
	{ "fathom top --once --json --sort res", "all columns of all processes" },
	{ "fathom top --once --filter 'cpu > 1 or state = D'", "who works or waits for a disk" },
	{ "fathom top --column 'share: 100 * io / [rate(sum(disk.read_bytes))], percent'",
	  "a column made of others and of the machine's counters" },
	{ "fathom top --once --columns pid,run,runnable,disk,lock,net,sleep,other,command",
	  "what processes do, in shares that sum to 100 %" },
	{ 0 },
};

const struct command cmd_top = {
	.name = "top",
	.summary = "the machine in the terminal, down to the line of code",
	.description =
		"Shows the machine live: meters, processes, the hottest functions, a flame graph, "
		"waits with their wakers, disks, network, control groups, interrupts. Enter on a "
		"row "
		"narrows every screen to it, Esc goes back: from a process to its threads, to its "
		"flame graph, to a function, its callers and source lines; from a wait to its "
		"waker.\n\n"
		"Nothing is missed between two updates: processes that came and went are counted "
		"in the "
		"row "
		"of their parent, and the rows sum to the CPU meter. No process is stopped for it. "
		"Sampling and the programs that watch waits run only while a screen needs them.\n\n"
		"Keys: F1 lists them, ? explains the figure under the cursor. p pauses, [ and ] go "
		"back and forth in time. F-keys are those of htop.",
	.question = Q_MACHINE,
	.options = top_options,
	.args_size = sizeof(struct top_args),
	.instead_of = "htop btop atop perf-top glances nmon",
	.examples = top_examples,
	.see_also = "fathom-pidstat fathom-threads fathom-record fathom-offcpu htop(1)",
	.run = top_command,
};
