/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/offcpu.h"

#include <pwd.h>

#include "analysis/flame.h"
#include "waits/load.h"
#include "analysis/report.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "host/cgroup.h"
#include "view/html.h"
#include "view/svg.h"

/* --- options ---------------------------------------------------------------------------------- */

/* bcc takes the kernel's own number: 0 would run, else the sum of bits. */
static u32 states_by_number(u64 n)
{
	u32 states = n ? 0 : WAIT_IN_RUNNABLE | WAIT_IN_PREEMPTED;

	states |= n & 1 ? WAIT_IN_SLEEP : 0;
	states |= n & 2 ? WAIT_IN_DISK : 0;
	return states | (n & ~3ull ? WAIT_IN_OTHER : 0);
}

static int parse_states(void *field, const char *text, struct err *e)
{
	static const struct {
		char letter;
		u32 bit;
	} known[] = {
		{ 'S', WAIT_IN_SLEEP },    { 'D', WAIT_IN_DISK },      { 'I', WAIT_IN_IDLE },
		{ 'R', WAIT_IN_RUNNABLE }, { '+', WAIT_IN_PREEMPTED }, { 'T', WAIT_IN_OTHER }
	};
	u32 *states = field;
	u64 number;

	if (parse_u64_range(text, 0, 255, &number, NULL) == 0) {
		*states |= states_by_number(number);
		return 0;
	}
	for (; *text; text++) {
		u32 bit = 0;

		if (*text == ',')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			bit |= known[i].letter == *text ? known[i].bit : 0;
		if (!bit) {
			err_set(e, EINVAL, "'%c' is not a thread state", *text);
			err_hint(e, "S sleeping, D uninterruptible (disk), I idle kernel thread, R "
				    "gave way, + preempted, T stopped");
			return -EINVAL;
		}
		*states |= bit;
	}
	return 0;
}

#define AT(field) .offset = offsetof(struct wait_args, field)
#define WHICH     .group = "Which waits"
#define SHOWN     .group = "Output"

const struct opt wait_options[] = {
	{ .type = OPT_INCLUDE, .include = target_options, AT(target) },
	{ .name = "comm",
	  .type = OPT_STRINGS,
	  AT(comms),
	  .arg = "NAME",
	  WHICH,
	  .help = "only threads of this name" },
	{ .name = "min",
	  .type = OPT_DURATION,
	  AT(min),
	  .arg = "TIME",
	  WHICH,
	  .help = "only waits that took at least this long, like 10us" },
	{ .name = "max",
	  .type = OPT_DURATION,
	  AT(max),
	  .arg = "TIME",
	  WHICH,
	  .help = "only waits that took at most this long" },
	{ .short_name = 'm',
	  .name = "min-block-time",
	  .type = OPT_U64,
	  AT(min_us),
	  .arg = "US",
	  WHICH,
	  .flags = OPT_HIDDEN,
	  .help = "bcc's name for --min, in microseconds" },
	{ .short_name = 'M',
	  .name = "max-block-time",
	  .type = OPT_U64,
	  AT(max_us),
	  .arg = "US",
	  WHICH,
	  .flags = OPT_HIDDEN,
	  .help = "bcc's name for --max, in microseconds" },
	{ .name = "state",
	  .type = OPT_CUSTOM,
	  AT(states),
	  .arg = "SDIR+T",
	  WHICH,
	  .parse = parse_states,
	  .help = "only waits in these states, with the letters of ps, + is preempted; default all "
		  "but I (idle kernel threads)" },
	{ .name = "user-threads",
	  .type = OPT_FLAG,
	  AT(user_threads),
	  WHICH,
	  .alias = "user-threads-only",
	  .conflicts = "kernel-threads",
	  .help = "no kernel threads" },
	{ .short_name = 'k',
	  .name = "kernel-threads",
	  .type = OPT_FLAG,
	  AT(kernel_threads),
	  WHICH,
	  .alias = "kernel-threads-only",
	  .help = "only kernel threads" },
	{ .name = "period",
	  .type = OPT_DURATION,
	  AT(period),
	  .arg = "TIME",
	  WHICH,
	  .help = "one sample for this much time off CPU instead of every wait" },
	{ .short_name = 'i',
	  .name = "input",
	  .type = OPT_FILE,
	  AT(input),
	  .arg = "FILE",
	  .help = "a recording of 'fathom record --off-cpu' instead of the running machine" },
	{ .name = "interval",
	  .type = OPT_DURATION,
	  AT(interval),
	  .arg = "TIME",
	  .help = "show each interval of this length; with -i, of recorded time" },
	{ .name = "rows",
	  .type = OPT_U64,
	  AT(rows),
	  .arg = "N",
	  .max = WAITS_ROWS_MOST,
	  .alias = "stack-storage-size",
	  .help = "number of different waits kept in the kernel (default 16384)" },
	{ .name = "walk-always",
	  .type = OPT_FLAG,
	  AT(walk_always),
	  .help = "walk each stack instead of recognising those seen before: slower" },
	{ .name = "threads",
	  .type = OPT_FLAG,
	  AT(by_thread),
	  .alias = "per-thread",
	  .help = "separate the threads of a process" },
	{ .name = "open",
	  .type = OPT_FLAG,
	  AT(open),
	  WHICH,
	  .help = "also waits that began earlier or are not over, as far as observed" },
	{ .name = "runqueue",
	  .type = OPT_FLAG,
	  AT(runqueue),
	  SHOWN,
	  .help = "weigh by the time threads were runnable without a CPU" },
	{ .short_name = 'U',
	  .name = "no-kernel",
	  .type = OPT_FLAG,
	  AT(no_kernel),
	  SHOWN,
	  .alias = "user-stacks-only",
	  .conflicts = "no-user",
	  .help = "only user frames: none of the kernel" },
	{ .short_name = 'K',
	  .name = "no-user",
	  .type = OPT_FLAG,
	  AT(no_user),
	  SHOWN,
	  .alias = "kernel-stacks-only",
	  .help = "only kernel frames: none of programs" },
	{ .short_name = 'n',
	  .name = "lines",
	  .type = OPT_U64,
	  AT(lines),
	  .arg = "N",
	  SHOWN,
	  .def = "20",
	  .max = 1 << 20,
	  .help = "maximum number of waits shown, 0: all" },
	{ .short_name = 'f',
	  .name = "folded",
	  .type = OPT_FLAG,
	  AT(folded),
	  SHOWN,
	  .help = "lines 'thread;root;...;leaf microseconds' for flame graphs" },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ .name = "title",
	  .type = OPT_STRING,
	  AT(title),
	  .arg = "TEXT",
	  SHOWN,
	  .help = "heading of the picture" },
	OPT_END,
};

/* --- the target ------------------------------------------------------------------------------- */

static int add_user(struct wait_filter *f, const char *user, struct err *e)
{
	const struct passwd *pw = getpwnam(user);
	u64 id;

	if (pw) {
		vec_push(&f->uids, pw->pw_uid);
		return 0;
	}
	if (parse_u64_range(user, 0, UINT32_MAX, &id, NULL) < 0)
		return err_set(e, EINVAL, "unknown user '%s'", user);
	vec_push(&f->uids, (u32)id);
	return 0;
}

static int add_cgroup(struct wait_filter *f, const char *name, struct err *e)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = CGROUP_MOUNTS_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	int rc = cgroup_mounts_read(&mounts, e);

	if (rc >= 0)
		rc = cgroup_find(&mounts, name, &path, e);
	if (rc >= 0)
		vec_push(&f->cgroups, buf_detach(&path));
	return rc;
}

enum { ALL_STATES = 63 };

static u32 states_of(const struct wait_args *a)
{
	return a->states ? a->states : ALL_STATES & ~(u32)WAIT_IN_IDLE;
}

int wait_filter_make(struct wait_filter *f, const struct wait_args *a, struct err *e)
{
	const struct target_args *t = &a->target;
	int rc = 0;

	*f = (struct wait_filter){ 0 };
	if (t->cpus.len)
		return err_set(e, EINVAL, "--cpu does not apply: blocked threads are on no CPU");
	for (size_t i = 0; rc >= 0 && i < t->users.len; i++)
		rc = add_user(f, t->users.items[i], e);
	for (size_t i = 0; rc >= 0 && i < t->cgroups.len; i++)
		rc = add_cgroup(f, t->cgroups.items[i], e);
	f->opts = (struct waits_opts){
		.pids = &t->pids,
		.tids = &t->tids,
		.uids = f->uids.items,
		.n_uids = f->uids.len,
		.cgroups = (const char *const *)f->cgroups.items,
		.n_cgroups = f->cgroups.len,
		.comms = a->comms.items,
		.n_comms = a->comms.len,
		.states = states_of(a),
		.threads = a->open,
		.min_ns = a->min ? a->min : a->min_us * NSEC_PER_USEC,
		.max_ns = a->max ? a->max : a->max_us * NSEC_PER_USEC,
		.period = a->period,
		.rows = a->rows,
		.walk_always = a->walk_always,
		.by_thread = a->by_thread,
		.no_kthreads = a->user_threads,
		.no_users = a->kernel_threads,
		.no_kernel_stacks = a->no_kernel,
		.no_user_stacks = a->no_user,
	};
	return rc;
}

void wait_filter_release(struct wait_filter *f)
{
	vec_release(&f->uids);
	vec_each(c, &f->cgroups)
		free(*c);
	vec_release(&f->cgroups);
}

/* --- output ----------------------------------------------------------------------------------- */

static const char *const titles[] = {
	[WAIT_VIEW_SLEEPER] = "Off-CPU Time Flame Graph",
	[WAIT_VIEW_WAKER] = "Wakeup Flame Graph",
	[WAIT_VIEW_BOTH] = "Off-Wake Flame Graph",
	[WAIT_VIEW_CHAIN] = "Chain Graph",
};
static const enum svg_palette palettes[] = {
	[WAIT_VIEW_SLEEPER] = PALETTE_IO,
	[WAIT_VIEW_WAKER] = PALETTE_WAKEUP,
	[WAIT_VIEW_BOTH] = PALETTE_CHAIN,
	[WAIT_VIEW_CHAIN] = PALETTE_CHAIN,
};

struct shown {
	struct context *ctx;
	const struct wait_args *args;
	enum wait_view view;
	struct profile *profile;
	wait_list *waits;
	const struct waits_live *live; /* NULL: from a recording, */
	u64 recorded;                  /* of so much time */
	u64 from, duration;            /* of an interval of it, since its begin; 0: all of it */
};

static int write_svg(const struct shown *s, struct buf *out)
{
	struct flame_opts opts = { .group = GROUP_COMM, .order = ORDER_NAME };
	const char *name = s->args->runqueue ? RUNQ_EVENT : OFFCPU_EVENT;
	struct flame f;
	int rc;

	opts.event = profile_get_event(s->profile, name);
	rc = svg_min_share("0.1", 0, &opts.min_share, &s->ctx->err);
	if (rc >= 0)
		rc = flame_init(&f, s->profile, &opts, &s->ctx->err);
	if (rc < 0)
		return rc;
	struct svg_opts draw = {
		.title = s->args->title ? s->args->title : titles[s->view],
		SVG_OPTS_DEFAULT,
		.bgcolors = "blue",
		.colors = { .by = COLOR_BY_NAME,
			    .palette = s->args->runqueue ? PALETTE_ORANGE : palettes[s->view] },
	};

	svg_flame(&f, &draw, out);
	flame_release(&f);
	return 0;
}

static int write_html(const struct shown *s, struct buf *out)
{
	struct html_opts opts = {
		.title = s->args->title ? s->args->title : titles[s->view],
		.has_event = true,
		.color = s->view == WAIT_VIEW_WAKER && !s->args->runqueue ? "wakers" : "waits",
	};

	opts.event = profile_get_event(s->profile, s->args->runqueue ? RUNQ_EVENT : OFFCPU_EVENT);
	/* a click on a wait leads to who ended it */
	if (s->view == WAIT_VIEW_SLEEPER)
		waits_add_wakers(s->profile, s->waits);
	return html_write(s->profile, &opts, out, &s->ctx->err);
}

static int write_file(const struct shown *s)
{
	const struct output_args *to = &s->args->output;
	_cleanup_buf_ struct buf out = BUF_INIT;
	int rc = 0;

	if (output_is(to, "svg"))
		rc = write_svg(s, &out);
	else if (output_is(to, "html"))
		rc = write_html(s, &out);
	else
		waits_to_folded(s->profile, s->waits, s->view, s->args->runqueue, &out);
	if (rc >= 0)
		rc = output_write(s->ctx, to, &out);
	if (rc != -ENODATA)
		return rc;
	err_release(&s->ctx->err);
	err_set(&s->ctx->err, ENODATA, "nothing to draw: %s",
		s->args->runqueue ? "no thread waited for a CPU" : "nothing was blocked");
	err_hint(&s->ctx->err, s->args->runqueue ? "without --runqueue: where threads were blocked"
						 : "--runqueue draws waits for a CPU");
	return EXIT_NOTHING;
}

static int show_table(const struct shown *s)
{
	_cleanup_result_ struct result r;

	result_init(&r, s->ctx->command->name);
	if (s->live) {
		result_fact(&r, "duration_ns", "duration",
			    value_u(VALUE_DURATION, s->live->end - s->live->begin));
	}
	if (s->duration)
		result_fact(&r, "from_ns", "from", value_u(VALUE_DURATION, s->from));
	else if (!s->live)
		result_fact(&r, "source", "file", value_text(&r, s->args->input));
	if (!s->live)
		result_fact(&r, "duration_ns", "duration",
			    value_u(VALUE_DURATION, s->duration ? s->duration : s->recorded));
	waits_to_result(s->profile, s->waits, s->view, s->args->runqueue, (u32)s->args->lines, &r);
	if (s->live)
		waits_live_health(s->live, &r);
	else
		report_losses(s->profile, &r);
	return cli_show(s->ctx, &r);
}

static int show_folded(const struct shown *s)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	waits_to_folded(s->profile, s->waits, s->view, s->args->runqueue, &out);
	return cli_print(s->ctx, &out);
}

/* What has no place for notes must not be silent about what is missing. */
static void warn_lost(const struct shown *s)
{
	const struct profile *p = s->profile;

	if (p->lost_samples)
		log_warn("%llu waits were lost", (unsigned long long)p->lost_samples);
	if (p->fault)
		log_warn("%s", profile_str(p, p->fault));
}

static int show(const struct shown *s)
{
	waits_to_profile(s->profile, s->waits, s->view);
	if (s->args->output.path || s->args->folded)
		warn_lost(s);
	if (s->args->output.path)
		return write_file(s);
	if (s->args->folded)
		return show_folded(s);
	return show_table(s);
}

/* --- the commands ----------------------------------------------------------------------------- */

/* bcc's positional [INTERVAL [COUNT]]; as there, one number is how long. */
static int take_operands(struct context *ctx, struct wait_args *a, u64 *ret_count)
{
	u64 time;

	*ret_count = 0;
	if (ctx->operands.len && parse_duration(ctx->operands.items[0], &time, &ctx->err) < 0)
		return EXIT_USAGE;
	if (ctx->operands.len == 1)
		a->target.duration = time;
	if (ctx->operands.len == 2) {
		a->interval = time;
		if (parse_u64_range(ctx->operands.items[1], 1, 1 << 30, ret_count, &ctx->err) < 0)
			return EXIT_USAGE;
	}
	return 0;
}

int wait_no_program(struct context *ctx)
{
	if (!ctx->program)
		return 0;
	err_set(&ctx->err, EINVAL, "a program cannot be combined with -i");
	return EXIT_USAGE;
}

/* What a recording does not tell, or what is not about one. */
static int check_recorded(struct context *ctx, const struct wait_args *a)
{
	const char *what = a->target.users.len     ? "--user"
			   : a->target.cgroups.len ? "--cgroup"
			   : a->target.cpus.len    ? "--cpu"
						   : NULL;

	if (!what)
		return wait_no_program(ctx);
	err_set(&ctx->err, EINVAL, "%s cannot be combined with -i", what);
	return EXIT_USAGE;
}

static int by_end(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* The waits from @at on that ended up to @last, which are in order of that. */
static wait_list waits_until(const wait_list *waits, size_t at, u64 last)
{
	size_t n = at;

	while (n < waits->len && waits->items[n].time <= last)
		n++;
	return (wait_list){ .items = waits->items + at, .len = n - at, .cap = n - at };
}

/*
 * Intervals of recorded time, as on the running machine: a wait belongs to that in which it ended.
 * Those in which none did are passed over.
 */
static int recorded_intervals(struct waits_load *load, const struct shown *all, u64 count)
{
	const u64 step = all->args->interval;
	size_t at = 0;
	u64 shown = 0;
	int rc = 0;

	all->ctx->stream = true;
	while (!rc && at < load->waits.len && !stop_requested() && (!count || shown < count)) {
		u64 time = MAX(load->waits.items[at].time, load->begin) - load->begin;
		struct shown s = *all;
		wait_list part;

		s.from = time - time % step;
		/* the last one ends with the recording */
		s.duration = MIN(step, load->end - load->begin - s.from + 1);
		part = waits_until(&load->waits, at, load->begin + s.from + s.duration - 1);
		at += part.len;
		shown++;
		s.waits = &part;
		rc = show(&s);
		waits_forget(s.profile);
	}
	return rc;
}

/* Only what ended in the first part of it, where that is asked for. */
static void cut_recording(struct waits_load *load, u64 duration)
{
	u64 rest = load->end - load->begin;

	vec_sort(&load->waits, by_end);
	if (duration && duration < rest)
		load->waits.len = waits_until(&load->waits, 0, load->begin + duration - 1).len;
}

static int from_recording(struct context *ctx, const struct wait_args *a, enum wait_view view,
			  u64 count)
{
	const struct waits_load_opts opts = {
		.pids = &a->target.pids,
		.tids = &a->target.tids,
		.comms = a->comms.items,
		.n_comms = a->comms.len,
		.states = states_of(a),
		.min_ns = a->min ? a->min : a->min_us * NSEC_PER_USEC,
		.max_ns = a->max ? a->max : a->max_us * NSEC_PER_USEC,
		.whole = !a->open,
		.no_kthreads = a->user_threads,
		.no_users = a->kernel_threads,
		.no_kernel_stacks = a->no_kernel,
		.no_user_stacks = a->no_user,
		.by_thread = a->by_thread,
	};
	struct waits_load load;
	int rc = check_recorded(ctx, a);

	if (rc)
		return rc;
	rc = waits_load(&load, a->input, &opts, &ctx->err);
	cut_recording(&load, a->target.duration);
	if (rc >= 0 && !load.waits.len) {
		const char *fault = profile_str(&load.profile, load.profile.fault);

		err_set(&ctx->err, ENODATA, "'%s' contains no matching waits%s%s", a->input,
			*fault ? ": " : "", fault);
		err_hint(&ctx->err, "make one with: fathom record --off-cpu");
		rc = EXIT_NOTHING;
	}
	if (!rc && view != WAIT_VIEW_SLEEPER && !load.links) {
		err_set(&ctx->err, ENODATA, "'%s' contains no wakers", a->input);
		err_hint(&ctx->err, "make one with: fathom record --wakers, or --chains");
		rc = EXIT_NOTHING;
	}
	if (!rc) {
		struct shown s = { .ctx = ctx,
				   .args = a,
				   .view = view,
				   .profile = &load.profile,
				   .waits = &load.waits,
				   .recorded = load.end - load.begin };

		if (a->target.duration)
			s.recorded = MIN(s.recorded, a->target.duration);

		rc = a->interval ? recorded_intervals(&load, &s, count) : show(&s);
	}
	waits_load_release(&load);
	return rc;
}

static int show_live(struct context *ctx, struct wait_run *r, const struct wait_args *a,
		     enum wait_view view)
{
	const struct shown s = { .ctx = ctx,
				 .args = a,
				 .view = view,
				 .profile = &r->live.profile,
				 .waits = &r->live.waits,
				 .live = &r->live };

	return show(&s);
}

static int one_interval(struct context *ctx, struct wait_run *r, const struct wait_args *a,
			enum wait_view view, u64 until)
{
	int rc = wait_run_go(r, until, &ctx->err);

	if (rc >= 0)
		rc = waits_live_collect(&r->live, &ctx->err);
	if (rc >= 0)
		rc = show_live(ctx, r, a, view);
	waits_live_reset(&r->live);
	return rc;
}

static int run_intervals(struct context *ctx, struct wait_run *r, const struct wait_args *a,
			 enum wait_view view, u64 count)
{
	u64 now = r->live.begin, end = a->target.duration ? now + a->target.duration : 0;
	int rc = 0;

	ctx->stream = true;
	for (u64 i = 1; rc >= 0 && !stop_requested() && !wait_run_ended(r); i++) {
		u64 until = now + i * a->interval;

		if (end && until > end)
			until = end;
		rc = one_interval(ctx, r, a, view, until);
		if ((end && until >= end) || (count && i >= count))
			break;
	}
	waits_engine_stop(r->live.engine);
	return rc;
}

static int run_once(struct context *ctx, struct wait_run *r, const struct wait_args *a,
		    enum wait_view view)
{
	u64 duration = a->target.duration;
	int rc = wait_run_go(r, duration ? r->live.begin + duration : 0, &ctx->err);

	if (rc >= 0)
		rc = waits_live_stop(&r->live, &ctx->err);
	if (rc >= 0)
		rc = waits_live_collect(&r->live, &ctx->err);
	if (rc >= 0 && !r->live.waits.len && !r->launch.pid) {
		err_set(&ctx->err, ENODATA, "nothing waited, or all of it waits still");
		err_hint(&ctx->err, "--open shows waits that are not over; --min, --max, --state "
				    "and the target may leave none");
		return EXIT_NOTHING;
	}
	return rc < 0 ? rc : show_live(ctx, r, a, view);
}

static int live(struct context *ctx, struct wait_args *a, enum wait_view view, u64 count)
{
	struct wait_filter f;
	struct wait_run r = { .launch = LAUNCH_INIT };
	int rc = wait_filter_make(&f, a, &ctx->err), status;

	if (rc < 0) {
		wait_filter_release(&f);
		return EXIT_USAGE;
	}
	f.opts.no_sleeper_stacks = view == WAIT_VIEW_WAKER;
	/* only the page has both halves of a wait, and the reader chooses there */
	f.opts.no_runnable_stacks = !a->runqueue && !output_is(&a->output, "html");
	f.opts.wakers = view != WAIT_VIEW_SLEEPER;
	f.opts.chains = view == WAIT_VIEW_CHAIN;
	f.opts.waker_pids = view == WAIT_VIEW_WAKER;
	/* without them a timer that wakes would have no name */
	f.opts.no_kernel_stacks = a->no_kernel && !f.opts.wakers;
	f.opts.intervals = a->interval != 0;
	rc = wait_run_open(&r, ctx, &f.opts, &ctx->err);
	r.live.only_users = a->no_kernel;
	if (!rc)
		rc = wait_run_start(&r, &ctx->err);
	if (!rc)
		rc = a->interval ? run_intervals(ctx, &r, a, view, count)
				 : run_once(ctx, &r, a, view);
	status = wait_run_status(&r);
	wait_run_release(&r);
	wait_filter_release(&f);
	return rc ? rc : status;
}

int wait_command(struct context *ctx, struct wait_args *a, enum wait_view view)
{
	u64 count;
	int rc = output_check(ctx, &a->output, "svg html folded txt");

	if (!rc)
		rc = take_operands(ctx, a, &count);
	if (rc)
		return rc;
	return a->input ? from_recording(ctx, a, view, count) : live(ctx, a, view, count);
}

static int offcpu_run(struct context *ctx, void *args)
{
	return wait_command(ctx, args, WAIT_VIEW_SLEEPER);
}

static const struct example offcpu_examples[] = {
	{ "fathom offcpu -d 5s", "where all threads waited, for five seconds" },
	{ "fathom offcpu -p 1234 -d 10s -o wait.svg", "one process, as a flame graph" },
	{ "fathom offcpu -d 5s --state D", "only what waited for disks" },
	{ "fathom offcpu -d 5s --runqueue", "threads that were runnable without a CPU" },
	{ "fathom offcpu --min 10ms --folded -d 5s", "long waits, as folded stacks" },
	{ "fathom offcpu -i fathom.data --interval 1s", "second by second, from a recording" },
	{ 0 },
};

const struct command cmd_offcpu = {
	.name = "offcpu",
	.summary = "where threads wait: blocked time by stack",
	.description =
		"Takes the stack of each thread when it leaves the CPU, and adds to it how long it "
		"stayed away: until it was woken (blocked) and from then until it ran (waiting for "
		"a CPU, the column RUNQ). All is summed up in the kernel. User stacks are complete "
		"without frame pointers.\n\n"
		"A wait counts when it ends: threads that sleep all the time are not shown; "
		"'fathom threads' shows them. With a program, only it and its descendants are "
		"observed.",
	.question = Q_WAIT,
	.options = wait_options,
	.args_size = sizeof(struct wait_args),
	.operands = "[SECONDS | INTERVAL COUNT]",
	.max_operands = 2,
	.takes_program = true,
	.instead_of = "offcputime",
	.examples = offcpu_examples,
	.notes = WAIT_NOTES,
	.see_also = "fathom-offwake fathom-chain fathom-threads fathom-sched fathom-flame",
	.run = offcpu_run,
};
