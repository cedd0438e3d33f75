/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/offcpu.h"

#include "analysis/flame.h"
#include "analysis/report.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "view/html.h"
#include "view/svg.h"
#include "waits/blame.h"
#include "waits/history.h"
#include "waits/recorded.h"

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
	u64 from, duration;            /* of an interval of it, since its start; 0: all of it */
	u64 idle;                      /* waiting for work, which is left out */
};

/* A picture of who waits is coloured by what for. */
static bool shows_kinds(const struct shown *s)
{
	const struct output_args *to = &s->args->output;

	return s->view == WAIT_VIEW_SLEEPER && to->path &&
	       (output_is(to, "svg") || output_is(to, "html"));
}

static int write_svg(const struct shown *s, struct buf *out)
{
	struct flame_opts opts = { .group = GROUP_COMM, .order = ORDER_NAME };
	const char *name = s->args->runqueue ? RUNQ_EVENT : OFFCPU_EVENT;
	const struct hotcold kinds = { .idle = s->idle };
	struct flame f, whole;
	int rc;

	opts.event = profile_get_event(s->profile, name);
	opts.hotcold = shows_kinds(s) ? &kinds : NULL;
	rc = svg_min_share("0.1", 0, &opts.min_share, &s->ctx->err);
	opts.fold = shows_kinds(s);
	if (rc >= 0)
		rc = flame_init(&f, s->profile, &opts, &s->ctx->err);
	if (rc < 0)
		return rc;
	opts.fold = false;
	if (f.folded && (rc = flame_init(&whole, s->profile, &opts, &s->ctx->err)) < 0) {
		flame_release(&f);
		return rc;
	}
	struct svg_opts draw = {
		.title = s->args->title ? s->args->title : titles[s->view],
		.whole = f.folded ? &whole : NULL,
		SVG_OPTS_DEFAULT,
		.colors = { .by = shows_kinds(s) ? COLOR_BY_STATE : COLOR_BY_WAITS,
			    .palette = s->args->runqueue ? PALETTE_ORANGE : palettes[s->view] },
	};

	svg_flame(&f, &draw, out);
	if (f.folded)
		flame_release(&whole);
	flame_release(&f);
	return 0;
}

static int write_html(const struct shown *s, struct buf *out)
{
	struct html_opts opts = {
		.title = s->args->title ? s->args->title : titles[s->view],
		.has_event = true,
		.color = shows_kinds(s)                                     ? "state"
			 : s->view == WAIT_VIEW_WAKER && !s->args->runqueue ? "wakers"
									    : "waits",
	};

	opts.event = profile_get_event(s->profile, s->args->runqueue ? RUNQ_EVENT : OFFCPU_EVENT);
	/* a click on a wait leads to its waker */
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
	_cleanup_result_ struct result r = { 0 };

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
	result_fact(&r, "idle_ns", NULL, value_u(VALUE_DURATION, s->idle));
	if (s->idle) {
		_cleanup_buf_ struct buf time = BUF_INIT;

		fmt_duration(&time, s->idle);
		result_note(&r, NOTE_INFO, "--idle shows it", "%s of waiting for work are hidden",
			    buf_str(&time));
	}
	if (s->live && !s->args->children)
		wait_note_children(&s->args->target.pids, &r);
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
	return cli_print_foreign(s->ctx, s->args->raw, &out);
}

/* Formats without notes must report what is missing, too. */
static void warn_lost(const struct shown *s)
{
	const struct profile *p = s->profile;

	if (p->lost_samples)
		log_warn("%llu waits were lost", (unsigned long long)p->lost_samples);
	if (p->lost_stacks)
		log_warn("%llu stacks were lost or cut", (unsigned long long)p->lost_stacks);
	if (p->fault)
		log_warn("%s", profile_str(p, p->fault));
	if (s->idle)
		log_warn("note: %.3g s of waiting for work are hidden: --idle shows them",
			 (double)s->idle / NSEC_PER_SEC);
}

static int show(struct shown *s)
{
	if (!s->args->idle && !s->args->runqueue)
		s->idle = waits_drop_idle(s->waits);
	waits_to_profile(s->profile, s->waits, s->view, shows_kinds(s));
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

/* What a recording does not contain, or what does not apply to one. */
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
static int recorded_intervals(const struct waits_load *load, const struct shown *all, u64 count)
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

/* Only what ended in the first part of it, where requested. */
static void cut_recording(struct waits_load *load, u64 duration)
{
	u64 rest = load->end - load->begin;

	vec_sort(&load->waits, by_end);
	if (duration && duration < rest)
		load->waits.len = waits_until(&load->waits, 0, load->begin + duration - 1).len;
}

/* Chains are followed through everybody's waits; then those requested remain. */
static int load_chains(struct recorded *rec, const struct wait_args *a,
		       const struct waits_load_opts *opts, struct err *e)
{
	const struct recorded_opts who = { .pids = opts->pids,
					   .tids = opts->tids,
					   .comms = opts->comms,
					   .n_comms = opts->n_comms,
					   .ran = true,
					   .all = true };
	wait_list parts = { 0 };
	int rc = recorded_load(rec, a->input, &who, e);

	if (rc >= 0) {
		waits_blame(&rec->seen, 0, &parts);
		recorded_restrict(rec, &who, &parts);
		waits_load_filter(&rec->load.profile, &parts, opts);
	}
	vec_release(&rec->load.waits);
	rec->load.waits = parts;
	return rc;
}

static int check_loaded(struct context *ctx, const struct wait_args *a, enum wait_view view,
			const struct waits_load *load)
{
	const char *fault = profile_str(&load->profile, load->profile.fault);

	if (!load->waits.len) {
		err_set(&ctx->err, ENODATA, "'%s' contains no matching waits%s%s", a->input,
			*fault ? ": " : "", fault);
		err_hint(&ctx->err, "make one with: fathom record --off-cpu");
		return EXIT_NOTHING;
	}
	if (view != WAIT_VIEW_SLEEPER && !load->links) {
		err_set(&ctx->err, ENODATA, "'%s' contains no wakers", a->input);
		err_hint(&ctx->err, "make one with: fathom record --wakers, or --chains");
		return EXIT_NOTHING;
	}
	return 0;
}

static int from_recording(struct context *ctx, const struct wait_args *a, enum wait_view view,
			  u64 count)
{
	const struct waits_load_opts opts = {
		.pids = &a->target.pids,
		.tids = &a->target.tids,
		.comms = a->comms.items,
		.n_comms = a->comms.len,
		.states = wait_states(a),
		.min_ns = a->min ? a->min : a->min_us * NSEC_PER_USEC,
		.max_ns = a->max ? a->max : a->max_us * NSEC_PER_USEC,
		.whole = !wait_shows_open(a),
		.no_kthreads = a->user_threads,
		.no_users = a->kernel_threads,
		.no_kernel_stacks = a->no_kernel,
		.no_user_stacks = a->no_user,
		.by_thread = a->by_thread,
	};
	struct recorded rec = { 0 };
	struct waits_load *load = &rec.load;
	int rc = check_recorded(ctx, a);

	if (rc)
		return rc;
	stop_at_once();
	rc = view == WAIT_VIEW_CHAIN ? load_chains(&rec, a, &opts, &ctx->err)
				     : waits_load(load, a->input, &opts, &ctx->err);
	cut_recording(load, a->target.duration);
	if (rc >= 0)
		rc = check_loaded(ctx, a, view, load);
	if (!rc) {
		struct shown s = { .ctx = ctx,
				   .args = a,
				   .view = view,
				   .profile = &load->profile,
				   .waits = &load->waits,
				   .recorded = load->end - load->begin };

		if (a->target.duration)
			s.recorded = MIN(s.recorded, a->target.duration);

		rc = a->interval ? recorded_intervals(load, &s, count) : show(&s);
	}
	recorded_release(&rec);
	return rc;
}

static int show_live(struct context *ctx, struct wait_run *r, const struct wait_args *a,
		     enum wait_view view, wait_list *waits)
{
	struct shown s = { .ctx = ctx,
			   .args = a,
			   .view = view,
			   .profile = &r->live.profile,
			   .waits = waits,
			   .live = &r->live };

	return show(&s);
}

/* Of waits that were split by what their wakers did, those requested. */
static void choose_parts(struct waits_live *l, const struct wait_args *a, wait_list *parts)
{
	const struct waits_load_opts keep = { .whole = !wait_shows_open(a),
					      .by_thread = a->by_thread,
					      .no_kernel_stacks = a->no_kernel };

	waits_load_filter(&l->profile, parts, &keep);
}

static void follow_wakers(struct waits_live *l, const struct wait_args *a)
{
	const struct observed seen = waits_live_observed(l);
	wait_list parts = { 0 };

	waits_blame(&seen, 0, &parts);
	choose_parts(l, a, &parts);
	vec_release(&l->waits);
	l->waits = parts;
}

static int one_interval(struct context *ctx, struct wait_run *r, const struct wait_args *a,
			enum wait_view view, u64 until)
{
	int rc = wait_run_go(r, until, &ctx->err), renewed;

	if (rc >= 0)
		rc = waits_live_collect(&r->live, &ctx->err);
	if (rc >= 0)
		rc = show_live(ctx, r, a, view, &r->live.waits);
	waits_live_reset(&r->live);
	renewed = rc < 0 ? 0 : waits_live_renew(&r->live, &ctx->err);
	return renewed < 0 ? renewed : rc;
}

static int one_interval_of_chains(struct context *ctx, struct wait_run *r,
				  const struct wait_args *a, struct waits_history *h, u64 until)
{
	wait_list parts = { 0 };
	int rc = wait_run_go(r, until, &ctx->err);

	if (rc >= 0)
		rc = waits_history_take(h, &r->live, &parts, &ctx->err);
	if (rc >= 0) {
		choose_parts(&r->live, a, &parts);
		rc = show_live(ctx, r, a, WAIT_VIEW_CHAIN, &parts);
	}
	waits_history_pass(h, &r->live);
	vec_release(&parts);
	return rc;
}

static int run_intervals(struct context *ctx, struct wait_run *r, const struct wait_args *a,
			 enum wait_view view, u64 count)
{
	u64 now = r->live.begin, end = a->target.duration ? now + a->target.duration : 0;
	struct waits_history history = { 0 };
	int rc = 0;

	ctx->stream = true;
	for (u64 i = 1; rc >= 0 && !stop_requested() && !wait_run_ended(r); i++) {
		u64 until = now + i * a->interval;

		if (end && until > end)
			until = end;
		rc = view == WAIT_VIEW_CHAIN ? one_interval_of_chains(ctx, r, a, &history, until)
					     : one_interval(ctx, r, a, view, until);
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
	if (rc >= 0 && view == WAIT_VIEW_CHAIN)
		follow_wakers(&r->live, a);
	if (rc >= 0 && !r->live.waits.len && !r->launch.pid) {
		bool open = wait_shows_open(a);

		err_set(&ctx->err, ENODATA, "nothing waited%s",
			open ? "" : ", or all of it waits still");
		err_hint(&ctx->err, "%s--min, --max, --state, --comm and the target may leave none",
			 open ? "" : "--open shows waits that are not over; ");
		return EXIT_NOTHING;
	}
	return rc < 0 ? rc : show_live(ctx, r, a, view, &r->live.waits);
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
	/* following a chain needs each wait with its time, and the whole life of threads */
	if (view == WAIT_VIEW_CHAIN)
		f.opts.send = f.opts.threads = f.opts.by_thread = true;
	f.opts.waker_pids = view == WAIT_VIEW_WAKER;
	/* without them a timer that wakes would have no name */
	f.opts.no_kernel_stacks = a->no_kernel && !f.opts.wakers;
	f.opts.intervals = a->interval != 0;
	rc = wait_run_open(&r, ctx, &f.opts, &ctx->err);
	r.live.only_users = a->no_kernel && !f.opts.send;
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
		"Takes the stack of each thread when it leaves the CPU, and adds to it how long "
		"it stayed away: until it was woken (blocked) and from then until it ran "
		"(waiting for a CPU, the column RUNQ). Everything is summed in the kernel. User "
		"stacks are complete without frame pointers.\n\n"
		"A wait counts when it ends: threads that sleep all the time are not shown; "
		"'fathom threads' shows them. With a program, only it and its descendants are "
		"observed.",
	.question = Q_WAIT,
	.options = wait_options,
	.args_size = sizeof(struct wait_args),
	.operands = "[SECONDS | INTERVAL COUNT]",
	.max_operands = 2,
	.takes_program = true,
	.aliases = "offcputime",
	.examples = offcpu_examples,
	.notes = WAIT_NOTES,
	.see_also = "fathom-offwake fathom-chain fathom-threads fathom-sched fathom-flame",
	.run = offcpu_run,
};
