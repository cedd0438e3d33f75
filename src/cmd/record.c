/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom record: events on a target, through rings, into a file that perf reads, too. */
#include <signal.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/option_text.h"
#include "cli/cli.h"
#include "cli/perf_args.h"
#include "cli/program.h"
#include "cli/target.h"
#include "cmd/offcpu.h"
#include "host/caps.h"
#include "recorder/needed.h"
#include "recorder/recorder.h"
#include "recorder/room.h"
#include "symbol/keep.h"

enum {
	FILES_MOST = 1 << 16,
	COMPRESS_USUAL = 1,
	COMPRESS_MOST = 22,
	PERF_RATE = 4000,
};

static const char default_file[] = "fathom.data";

/* -e and --filter in the order in which they were given: a filter belongs to what is before it. */
struct event_arg {
	const char *text;
	bool is_filter;
};

struct compress_option {
	int level;
	bool given;
};

struct record_args {
	struct target_args target;
	VEC(struct event_arg) events;
	u64 frequency;
	bool frequency_given;
	u64 period;
	bool stacks;
	struct stack_option call_graph;
	bool call_graph_given;
	u64 max_stack;
	u64 delay;
	u64 ring;
	struct compress_option compress;
	const char *output;
	bool force;
	bool overwrite;
	struct recorder_change change;
	u64 max_size;
	bool stamp;
	const char *control;
	u64 files;
	bool no_names;
	bool no_inherit;
	int clock;
	const char *user_data;
	u64 counters;
	bool all_user;
	bool all_kernel;
	bool exclude_self;
	bool idle;
	bool cgroup_ids;
	bool switches;
	bool addresses;
	bool phys_addresses;
	bool branches;
	bool off_cpu, wakers, chains;
	u64 wait_min, wait_period;
	bool walk_always;
	u64 branch_filter;
	bool dry_run;
	struct perf_args perf;
};

/* --- options ---------------------------------------------------------------------------------- */

static int parse_event_arg(void *field, const char *text, struct err *e UNUSED)
{
	VEC(struct event_arg) *list = field;

	vec_push(list, (struct event_arg){ .text = text });
	return 0;
}

static int parse_filter_arg(void *field, const char *text, struct err *e UNUSED)
{
	VEC(struct event_arg) *list = field;

	vec_push(list, (struct event_arg){ .text = text, .is_filter = true });
	return 0;
}

static int parse_compress(void *field, const char *text, struct err *e)
{
	struct compress_option *c = field;
	u64 level;
	int code = parse_u64_range(text, 0, COMPRESS_MOST, &level, e);

	if (code < 0)
		return code;
	*c = (struct compress_option){ .level = (int)level, .given = true };
	return 0;
}

/* "auto" is fathom's, the rest is passed to the session. */
static int parse_stacks(void *field, const char *text, struct err *e)
{
	struct stack_option *g = field;
	int code;

	if (streq(text, "auto")) {
		*g = (struct stack_option){ .mode = STACK_UNSET };
		return 0;
	}
	code = option_stacks(field, text, e);
	if (code < 0 && e->hint)
		err_hint(e, "use auto, fp, dwarf, dwarf,SIZE, lbr or none");
	return code;
}

static int parse_change(void *field, const char *text, struct err *e)
{
	struct recorder_change *c = field;
	size_t n = strlen(text);

	if (streq(text, "signal")) {
		c->on_signal = true;
		return 0;
	}
	if (n && (text[n - 1] == 's' || text[n - 1] == 'm' || text[n - 1] == 'h'))
		return parse_duration(text, &c->ns, e);
	return parse_size(text, &c->bytes, e);
}

#define OPTION(letter, name_, type_, field, arg_, group_, help_, ...)                            \
	OPT_ENTRY(struct record_args, letter, name_, type_, field, arg_, help_, .group = group_, \
		  __VA_ARGS__)
#define WHAT(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "What", help_, __VA_ARGS__)
#define WAITS(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "Waits", help_, __VA_ARGS__)
#define OUTPUT(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "Output", help_, __VA_ARGS__)

static const struct opt record_options[] = {
	{ .type = OPT_INCLUDE,
	  .include = target_options,
	  .offset = offsetof(struct record_args, target) },
	WHAT('e', "event", OPT_CUSTOM, events, "EVENT",
	     "events in perf's syntax, see fathom list; default cycles, else cpu-clock",
	     .parse = parse_event_arg),
	WHAT(0, "filter", OPT_CUSTOM, events, "FILTER",
	     "only hits of the preceding tracepoints for which this is true",
	     .parse = parse_filter_arg),
	WHAT('F', "freq", OPT_CUSTOM, frequency, "HZ",
	     "samples per second and CPU, or max; tracepoints and, unless given, rare software "
	     "events record every hit",
	     .def = "99", .given_offset = offsetof(struct record_args, frequency_given),
	     .parse = option_rate, .alias = "frequency", .conflicts = "count"),
	WHAT('c', "count", OPT_U64, period, "N", "take a sample every N events instead",
	     .alias = "period"),
	WHAT(0, "call-graph", OPT_CUSTOM, call_graph, "HOW",
	     "stacks: auto (unwound by tables), fp (frame pointers), dwarf[,SIZE] (copies kept in "
	     "the file), lbr or none",
	     .def = "auto", .given_offset = offsetof(struct record_args, call_graph_given),
	     .parse = parse_stacks),
	WHAT('g', "stacks", OPT_FLAG, stacks, NULL, "record stacks, which is the default"),
	WHAT(0, "max-stack", OPT_U64, max_stack, "N", "maximum number of frames per stack",
	     .max = UINT16_MAX),
	WHAT(0, "all-user", OPT_FLAG, all_user, NULL, "only what happens in user space",
	     .conflicts = "all-kernel"),
	WHAT(0, "all-kernel", OPT_FLAG, all_kernel, NULL, "only what happens in the kernel"),
	WHAT(0, "idle", OPT_FLAG, idle, NULL, "sample idle CPUs, too"),
	WHAT(0, "exclude-self", OPT_FLAG, exclude_self, NULL, "no tracepoint hits of fathom itself",
	     .alias = "exclude-perf"),
	WHAT(0, "all-cgroups", OPT_FLAG, cgroup_ids, NULL,
	     "store the control group of each sample"),
	WHAT(0, "switch-events", OPT_FLAG, switches, NULL, "records of context switches"),
	WHAT(0, "data", OPT_FLAG, addresses, NULL, "data addresses with each sample"),
	WHAT(0, "phys-data", OPT_FLAG, phys_addresses, NULL,
	     "physical data addresses with each sample"),
	WHAT('b', "branch-any", OPT_FLAG, branches, NULL,
	     "the last branches before each sample, where the CPU keeps them"),
	WHAT('j', "branch-filter", OPT_CUSTOM, branch_filter, "KINDS",
	     "only branches of these kinds, like any_call,u", .parse = option_branches),
	WHAT('i', "no-inherit", OPT_FLAG, no_inherit, NULL,
	     "do not follow the target's child processes"),
	WHAT('D', "delay", OPT_CUSTOM, delay, "TIME",
	     "begin after this time; a plain number is milliseconds, -1 waits for --control",
	     .parse = option_delay),
	WHAT(0, "control", OPT_STRING, control, "WHERE",
	     "obey enable, disable, snapshot, stop and ping from fd:IN[,OUT] or fifo:IN[,OUT]"),
	WHAT(0, "counters", OPT_DURATION, counters, "TIME",
	     "also all counters of the machine, each second or so often: 'fathom vmstat -i FILE'",
	     .implied = "1s", .flags = OPT_OPTIONAL),
	WAITS(0, "off-cpu", OPT_FLAG, off_cpu, NULL,
	      "also where threads wait: events offcpu-time and runqueue-time"),
	WAITS(0, "wakers", OPT_FLAG, wakers, NULL, "and the wakers; implies --off-cpu"),
	WAITS(0, "chains", OPT_FLAG, chains, NULL,
	      "and the wakers' own waits, and so on; implies --wakers"),
	WAITS(0, "wait-min", OPT_DURATION, wait_min, "TIME",
	      "only waits that took at least this long", .alias = "off-cpu-thresh"),
	WAITS(0, "wait-period", OPT_DURATION, wait_period, "TIME",
	      "one sample for this much time off CPU instead of every wait"),
	WHAT(0, "walk-always", OPT_FLAG, walk_always, NULL,
	     "walk each stack instead of recognising those seen before: slower"),
	OUTPUT('o', "output", OPT_FILE, output, "FILE",
	       "the file, - for standard output; default fathom.data"),
	OUTPUT('f', "force", OPT_FLAG, force, NULL,
	       "overwrite an existing file instead of moving it aside"),
	OUTPUT('z', "compress", OPT_CUSTOM, compress, "LEVEL",
	       "zstd level, 0: no compression; default 1 for files, 0 for pipes",
	       .flags = OPT_OPTIONAL, .implied = "1", .parse = parse_compress,
	       .alias = "compression-level"),
	OUTPUT('m', "ring", OPT_CUSTOM, ring, "SIZE",
	       "ring for each CPU: pages, or a size like 4M; default 512K to 4M",
	       .parse = option_ring, .alias = "mmap-pages"),
	OUTPUT(0, "overwrite", OPT_FLAG, overwrite, NULL,
	       "keep only the newest records, up to the size of -m; written at the end and on "
	       "SIGUSR2",
	       .alias = "snapshot flight-recorder"),
	OUTPUT(0, "switch-output", OPT_CUSTOM, change, "WHEN",
	       "continue in a new file after a size, a time, or on SIGUSR2 (signal)",
	       .flags = OPT_OPTIONAL, .implied = "signal", .parse = parse_change),
	OUTPUT(0, "switch-max-files", OPT_U64, files, "N", "keep this many of them",
	       .max = FILES_MOST),
	OUTPUT(0, "max-size", OPT_SIZE, max_size, "SIZE",
	       "end when this much is written, like 100M"),
	OUTPUT(0, "timestamp-filename", OPT_FLAG, stamp, NULL,
	       "append the time to the name of the file when it is complete"),
	OUTPUT('k', "clockid", OPT_CUSTOM, clock, "CLOCK", "clock of the time stamps",
	       .def = "monotonic", .parse = option_clock),
	OUTPUT(0, "no-names", OPT_FLAG, no_names, NULL, "do not store function names in the file"),
	OUTPUT(0, "user-data", OPT_STRING, user_data, "TEXT",
	       "a text to store in the recording; reports show it"),
	OUTPUT(0, "dry-run", OPT_FLAG, dry_run, NULL,
	       "check the options, the events and the target, and record nothing"),
	{ .type = OPT_INCLUDE,
	  .include = perf_record_options,
	  .offset = offsetof(struct record_args, perf) },
	OPT_END,
};

/* --- state ------------------------------------------------------------------------------------ */

struct record_job {
	struct context *ctx;
	const struct record_args *args;
	struct event_list events;
	struct target target;
	struct launch launch;
	struct recorder *recorder;
	struct control control;
	struct wait_filter wait_filter;
	struct waits_session_opts waits;
	const char *path; /* NULL: standard output */
	u64 next_progress;
	bool machine; /* the whole of it is watched */
};

static void record_release_state(struct record_job *r)
{
	recorder_free(r->recorder);
	/* also after a failed recording: the program must not run unobserved */
	(void)program_end(&r->launch);
	recorder_control_release(&r->control);
	launch_release(&r->launch);
	target_release(&r->target);
	wait_filter_release(&r->wait_filter);
	event_list_release(&r->events);
}

/* --- what is to be recorded ------------------------------------------------------------------- */

static int choose_events(struct record_job *r)
{
	struct err *e = &r->ctx->err;
	const char *why = NULL;
	int code = 0;

	vec_each(arg, &r->args->events) {
		code = arg->is_filter ? event_set_filter(&r->events, arg->text, e)
				      : event_parse(&r->events, arg->text, e);
		if (code < 0)
			return code;
	}
	if (r->events.events.len)
		return 0;
	code = event_add_default(&r->events, &why, e);
	if (code >= 0 && why)
		log_info("%s: cpu-clock is used", why);
	return code;
}

/* A program that cannot be run is known before any file is touched. */
static int choose_target(struct record_job *r)
{
	const char *output = r->args->output;
	struct err *e = &r->ctx->err;
	int code = 0;

	r->launch.out_to_err = output && streq(output, "-");
	if (r->ctx->program)
		code = program_prepare(&r->launch, r->ctx->program, e);
	if (code == 0)
		code = target_choose(&r->target, &r->args->target, r->launch.pid, e);
	r->machine = target_is_whole(&r->target);
	return code;
}

static void session_options(const struct record_args *a, struct session_opts *ret)
{
	*ret = (struct session_opts){
		.frequency = a->frequency,
		.every_software = !a->frequency_given,
		.period = a->period,
		.stack = a->call_graph.mode == STACK_NONE && a->stacks ? STACK_FP
								       : a->call_graph.mode,
		.stack_size = a->call_graph.size,
		.max_stack = (u32)a->max_stack,
		.ring_bytes = a->ring,
		.overwrite = a->overwrite,
		.no_inherit = a->no_inherit,
		.idle = a->idle,
		.user_only = a->all_user,
		.kernel_only = a->all_kernel,
		.exclude_self = a->exclude_self,
		.cgroup_ids = a->cgroup_ids,
		.switches = a->switches,
		.addresses = a->addresses,
		.phys_addresses = a->phys_addresses,
		.branch_type = a->branch_filter ? a->branch_filter
			       : a->branches    ? PERF_SAMPLE_BRANCH_ANY
						: 0,
		.clock_id = a->clock,
	};
}

static bool waits_wanted(const struct record_args *a)
{
	return a->off_cpu || a->wakers || a->chains;
}

static int choose_waits(struct record_job *r)
{
	const struct record_args *a = r->args;
	struct wait_args w = { .target = a->target,
			       .min = a->wait_min,
			       .period = a->wait_period,
			       .walk_always = a->walk_always };
	struct waits_opts *o = &r->wait_filter.opts;
	int code;

	if (!waits_wanted(a))
		return a->wait_min || a->wait_period
			       ? err_set(&r->ctx->err, EINVAL,
					 "--wait-min and --wait-period need --off-cpu")
			       : 0;
	code = wait_filter_make(&r->wait_filter, &w, &r->ctx->err);
	if (code < 0)
		return code;
	/* not those of the copy on the stack */
	o->pids = &a->target.pids;
	o->tids = &a->target.tids;
	o->states = 0;
	o->follow = !a->no_inherit &&
		    (o->pids->len || (r->launch.pid && target_has_tid(&r->target, r->launch.pid)));
	r->waits = (struct waits_session_opts){ .engine = *o,
						.wakers = a->wakers,
						.chains = a->chains,
						.launched = (u32)r->launch.pid };
	return 0;
}

static int choose_control(struct record_job *r)
{
	const struct record_args *a = r->args;

	if (a->control)
		return recorder_control_open(&r->control, a->control, &r->ctx->err);
	if (a->delay != OPTION_DELAY_CONTROL)
		return 0;
	err_set(&r->ctx->err, EINVAL, "no start command can arrive");
	err_hint(&r->ctx->err, "with -D -1, name a descriptor or a FIFO with --control");
	return -EINVAL;
}

/* --- what there is to say --------------------------------------------------------------------- */

static void show_hint(const char *hint)
{
	if (hint && log_get_level() > LOG_QUIET)
		fprintf(stderr, "hint: %s\n", hint);
}

static void on_note(void *ctx UNUSED, const char *text, const char *hint)
{
	log_warn("note: %s", text);
	show_hint(hint);
}

static void on_wrote(void *ctx UNUSED, const char *path)
{
	log_warn("wrote %s", path);
}

static void on_tick(void *ctx)
{
	struct record_job *r = ctx;
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct recorder_summary s;
	u64 now = clock_mono_ns();

	if (now < r->next_progress || !cli_progress_wanted(r->ctx))
		return;
	r->next_progress = now + NSEC_PER_SEC / 2;
	recorder_summary(r->recorder, &s);
	buf_addf(&line, "recording %llus  ", (unsigned long long)(s.wall_ns / NSEC_PER_SEC));
	fmt_count(&line, s.samples);
	buf_addstr(&line, " samples  ");
	fmt_count(&line, s.lost);
	buf_addstr(&line, " lost  ");
	fmt_size(&line, s.bytes);
	buf_addf(&line, "  %.1f%% CPU used by fathom",
		 s.wall_ns ? 100.0 * (double)s.cpu_ns / (double)s.wall_ns : 0);
	cli_progress(r->ctx, "%s", buf_str(&line));
}

static void event_names_text(const struct record_job *r, struct buf *out)
{
	size_t n, shown = 0, hidden = 0;
	const struct session_event *events = session_events(recorder_session(r->recorder), &n);

	for (size_t i = 0; i < n; i++) {
		if (events[i].side_band)
			continue;
		if (shown < 3)
			buf_addf(out, "%s%s", shown++ ? ", " : "", events[i].name);
		else
			hidden++;
	}
	if (hidden)
		buf_addf(out, " and %zu more", hidden);
}

/* One line: how, how well, and why not better. */
static void show_stacks(const struct recorder_summary *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	switch (s->stacks) {
	case RECORDER_STACKS_KERNEL:
		buf_addf(&line, "unwound in the kernel by CFI tables (%llu files, %.1f MB)",
			 (unsigned long long)s->tables, (double)s->table_bytes / 1e6);
		break;
	case RECORDER_STACKS_COPIES: buf_addstr(&line, "copied and unwound by CFI tables"); break;
	case RECORDER_STACKS_FP: buf_addstr(&line, "by frame pointers"); break;
	default: return;
	}
	if (s->user_stacks)
		buf_addf(&line, ", %.1f%% complete",
			 100.0 * (double)s->complete / (double)s->user_stacks);
	if (s->misrecognised)
		buf_addf(&line, "; of %llu checked %llu were misrecognised",
			 (unsigned long long)s->checked, (unsigned long long)s->misrecognised);
	if (s->why)
		buf_addf(&line, "; %s", s->why);
	log_warn("stacks: %s", buf_str(&line));
}

static void show_waits(const struct record_job *r, const struct recorder_summary *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (!waits_wanted(r->args))
		return;
	fmt_count(&line, s->waits);
	buf_addf(&line, " samples of time off the CPU%s",
		 r->args->chains   ? " with chains of wakers"
		 : r->args->wakers ? " with wakers"
				   : "");
	if (s->waits_lost) {
		buf_addstr(&line, ", ");
		fmt_duration(&line, s->waits_lost_ns);
		buf_addstr(&line, " lost");
	}
	if (s->waits_stackless) {
		buf_addstr(&line, ", ");
		fmt_count(&line, s->waits_stackless);
		buf_addstr(&line, " without their stack");
	}
	log_warn("waits: %s", buf_str(&line));
}

/* The line that scripts look for. */
static void show_perf_summary(const struct record_job *r, const struct recorder_summary *s)
{
	if (log_get_level() == LOG_QUIET)
		return;
	fprintf(stderr, "[ perf record: Captured and wrote %.3f MB %s (%llu samples) ]\n",
		(double)s->bytes / (1 << 20), r->path ? r->path : "-",
		(unsigned long long)s->samples);
	if (s->lost)
		fprintf(stderr, "Warning:\nProcessed data lost %llu events!\n",
			(unsigned long long)s->lost);
}

static void show_summary(const struct record_job *r, const struct recorder_summary *s)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	const char *path = r->path ? r->path : "standard output";

	fmt_count(&line, s->samples);
	buf_addstr(&line, s->samples == 1 ? " sample of " : " samples of ");
	event_names_text(r, &line);
	buf_addf(&line, " in %.1fs, ", (double)s->wall_ns / 1e9);
	fmt_count(&line, s->lost);
	buf_addstr(&line, " lost, ");
	fmt_size(&line, s->bytes);
	buf_addf(&line, " -> %s", path);
	log_warn("%s", buf_str(&line));
	if (s->samples)
		show_stacks(s);
	show_waits(r, s);
	if (s->lost && log_get_level() > LOG_QUIET)
		fprintf(stderr, "hint: a larger ring loses less: -m %lluK\n",
			(unsigned long long)s->ring_bytes >> 8);
	if (s->overwritten)
		log_warn("note: %llu older samples were overwritten; a larger -m keeps more",
			 (unsigned long long)s->overwritten);
	if (s->throttled)
		log_warn("note: the kernel paused sampling %llu times to stay responsive",
			 (unsigned long long)s->throttled);
	if (r->path && s->samples && log_get_level() > LOG_QUIET)
		fprintf(stderr, "next: fathom report%s%s\n",
			streq(r->path, default_file) ? "" : " -i ",
			streq(r->path, default_file) ? "" : r->path);
}

/* --- files ------------------------------------------------------------------------------------ */

static int choose_file(struct record_job *r)
{
	const char *usual = r->ctx->as_perf ? PERF_FILE : default_file;
	const char *output = r->args->output ? r->args->output : usual;
	bool many = r->args->change.on_signal || r->args->change.bytes || r->args->change.ns;

	if (!streq(output, "-")) {
		r->path = output;
		return recorder_check_room(output, r->args->force, &r->ctx->err);
	}
	if (isatty(STDOUT_FILENO)) {
		err_set(&r->ctx->err, EINVAL, "refusing to write a recording to a terminal");
		err_hint(&r->ctx->err, "redirect it: fathom record -o - ... | fathom report -i -");
		return -EINVAL;
	}
	if (many)
		return err_set(&r->ctx->err, EINVAL, "standard output cannot be switched");
	return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void block_usr2(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Call chains repeat: a file takes a tenth of the room, for 3 ms of CPU time a megabyte. */
static int compress_level(const struct record_args *a)
{
	if (a->compress.given)
		return a->compress.level;
	return a->output && streq(a->output, "-") ? 0 : COMPRESS_USUAL;
}

static int open_recorder(struct record_job *r)
{
	const struct record_args *a = r->args;
	struct recorder_opts o = {
		.events = &r->events,
		.target = &r->target,
		.launch = r->launch.pid ? &r->launch : NULL,
		.waits = waits_wanted(a) ? &r->waits : NULL,
		.auto_stacks = a->call_graph.mode == STACK_UNSET,
		.walk_always = a->walk_always,
		.delay = a->delay == OPTION_DELAY_CONTROL ? 0 : a->delay,
		.paused = a->delay == OPTION_DELAY_CONTROL,
		.control = a->control ? &r->control : NULL,
		.max_bytes = a->max_size,
		.stamp = a->stamp,
		.compress = compress_level(a),
		.no_names = a->no_names,
		.user_data = a->user_data,
		.counters = a->counters,
		.change = a->change,
		.hooks = { .note = on_note, .wrote = on_wrote, .tick = on_tick, .ctx = r },
	};

	/* the program to run was forked before: it keeps what the user has */
	caps_drop_unused();
	o.change.keep = a->files;
	session_options(a, &o.session);
	recorder_new(&r->recorder, &o);
	return recorder_open(r->recorder, &r->ctx->err);
}

/* By perf's name, with --buildid-dir: copies of what ran, for later. Files that are gone are
 * skipped.
 */
static void keep_files(const struct record_job *r)
{
	struct needed_files files = { 0 };

	if (r->ctx->cache && r->path && needed_load(&files, r->path, false, NULL) == 0)
		vec_each(f, &files.list)
			if (f->path[0] == '/')
				(void)keep_add(r->ctx->cache, f->path, NULL, NULL);
	needed_release(&files);
}

static int finish(struct record_job *r)
{
	struct recorder_summary s;
	int code = recorder_end(r->recorder, &r->ctx->err), status;

	if (code < 0)
		return code;
	status = program_end(&r->launch);
	r->path = recorder_path(r->recorder);
	recorder_summary(r->recorder, &s);
	keep_files(r);
	if (r->ctx->as_perf)
		show_perf_summary(r, &s);
	else
		show_summary(r, &s);
	if (s.samples + s.waits == 0)
		log_warn("nothing was captured: %s",
			 r->machine ? "no event happened"
				    : "the target did not run, or too briefly");
	if (status)
		return status;
	return s.samples + s.waits == 0 && !(r->launch.pid && !r->machine) ? EXIT_NOTHING : EXIT_OK;
}

static int record_file(struct record_job *r)
{
	struct err *e = &r->ctx->err;
	int code = recorder_begin(r->recorder, r->path, e);

	if (code == 0) {
		r->next_progress = clock_mono_ns() + NSEC_PER_SEC;
		code = recorder_run(r->recorder, r->args->target.duration, e);
		cli_progress(r->ctx, "%s", "");
	}
	return code ? code : finish(r);
}

/* By perf's name: stacks when they are requested, and its rate, as far as the kernel allows. */
static void take_perf_defaults(const struct context *ctx, struct record_args *a)
{
	struct stat st;

	if (!ctx->as_perf)
		return;
	if (!a->stacks && !a->call_graph_given)
		a->call_graph.mode = STACK_NONE;
	if (!a->frequency_given)
		a->frequency = PERF_RATE;
	/* perf record | perf report */
	if (!a->output && fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
		a->output = "-";
}

static int record_run(struct context *ctx, void *args)
{
	struct record_job r = { .ctx = ctx, .args = args, .launch = LAUNCH_INIT };
	int code;

	take_perf_defaults(ctx, args);
	code = choose_events(&r);
	if (code == 0)
		code = choose_target(&r);
	if (code == 0)
		code = choose_waits(&r);
	if (code == 0)
		code = choose_control(&r);
	if (code == -EINVAL)
		code = EXIT_USAGE;
	block_usr2();
	if (code == 0 && !r.args->dry_run)
		code = choose_file(&r);
	if (code == 0)
		code = open_recorder(&r);
	if (code == 0 && !r.args->dry_run && r.path)
		code = recorder_move_aside(r.path, r.args->force, &ctx->err);
	if (code == 0 && !r.args->dry_run)
		code = record_file(&r);
	record_release_state(&r);
	return code;
}

static void record_release(void *args)
{
	struct record_args *a = args;

	vec_release(&a->events);
}

static const struct example record_examples[] = {
	{ "fathom record -d 10s", "the whole machine for ten seconds" },
	{ "fathom record -- make -j4", "a program, with all that it starts" },
	{ "fathom record -p 1234 -F 999", "one process until Ctrl-C, 999 times a second" },
	{ "fathom record --off-cpu --wakers -d 10s",
	  "where CPUs spend time, and where threads wait" },
	{ "fathom record -e sched:sched_switch -d 1s", "every context switch with its stack" },
	{ "fathom record -e block:block_rq_issue --filter 'bytes > 65536' -d 5s",
	  "large requests to disks" },
	{ "fathom record --overwrite -m 16M", "a flight recorder: kill -USR2 writes the past" },
	{ "mkfifo ctl; fathom record -D -1 --control fifo:ctl",
	  "begins when 'echo enable > ctl' says so" },
	{ 0 },
};

const struct command cmd_record = {
	.name = "record",
	.summary = "record samples of events into a file",
	.description =
		"Takes samples with stacks, of the whole machine until Ctrl-C unless options "
		"name a target, a duration or a program. The file is in perf's format: every "
		"view of fathom reads it, and so do perf report and perf script.\n\n"
		"Events are written as for perf: names, rNNN, pmu/term=value/, sys:tracepoint "
		"with globs, mem:ADDR, with modifiers like :u and :k, and groups in braces. "
		"Where there are no hardware counters, cpu-clock stands in for cycles, and a "
		"note says so.\n\n"
		"The default file is fathom.data. An existing recording or empty file of that "
		"name is moved to NAME.old; any other file is overwritten only with --force.\n\n"
		"With --off-cpu the file holds the other half of time, too: each wait is a "
		"sample of offcpu-time (blocked) or runqueue-time (wanted a CPU and had none), "
		"weighted by its nanoseconds. 'fathom flame --hotcold' shows both halves in one "
		"picture; offcpu, wakeup, offwake and chain take such a file with -i.",
	.question = Q_CPU,
	.options = record_options,
	.args_size = sizeof(struct record_args),
	.takes_program = true,
	.only_form = "a recording",
	.instead_of = "perf top",
	.examples = record_examples,
	.notes = "Idle CPUs give no samples unless --idle is given. Stacks are unwound in the "
		 "kernel by tables made from the frame information of programs; where the kernel "
		 "does not allow that, copies of stacks are unwound in user space; frame "
		 "pointers, which most distributions' programs lack, are the last resort. Stacks "
		 "of tracepoints, of groups that are read and of events with branches always "
		 "come as copies; --call-graph fp is lighter.",
	.see_also = "fathom-report fathom-stacks fathom-list fathom-script perf-record",
	.run = record_run,
	.release = record_release,
};
