/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom record: events on a target, through rings, into a file that perf reads, too. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "capture/option_text.h"
#include "capture/session.h"
#include "capture/synth.h"
#include "cli/cli.h"
#include "cli/target.h"
#include "recording/writer.h"

enum {
	RECORD_USER_DATA = FEATURE_FATHOM + 1, /* the text of --user-data */
	FILES_MOST = 1 << 16,
	STATUS_NOT_RUN = 126,
	STATUS_NOT_FOUND = 127,
};

static const char default_file[] = "fathom.data";

/* -e and --filter in the order in which they were given: a filter belongs to what is before it. */
struct event_arg {
	const char *text;
	bool is_filter;
};

/* When to go on in another file. */
struct change_option {
	bool on_signal;
	u64 bytes;
	u64 ns;
};

struct record_args {
	struct target_args target;
	VEC(struct event_arg) events;
	u64 frequency;
	u64 period;
	bool stacks;
	struct stack_option call_graph;
	u64 max_stack;
	u64 delay;
	u64 ring;
	u64 compress;
	const char *output;
	bool force;
	bool overwrite;
	struct change_option change;
	u64 files;
	bool no_inherit;
	int clock;
	const char *user_data;
	bool all_user;
	bool all_kernel;
	bool exclude_self;
	bool idle;
	bool cgroup_ids;
	bool switches;
	bool addresses;
	bool phys_addresses;
	bool branches;
	bool ignored;
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

static int parse_change(void *field, const char *text, struct err *e)
{
	struct change_option *c = field;
	size_t n = strlen(text);

	if (streq(text, "signal")) {
		c->on_signal = true;
		return 0;
	}
	if (n && (text[n - 1] == 's' || text[n - 1] == 'm' || text[n - 1] == 'h'))
		return parse_duration(text, &c->ns, e);
	return parse_size(text, &c->bytes, e);
}

#define OPTION(letter, name_, type_, field, arg_, group_, help_, ...)                        \
	{                                                                                    \
		.short_name = letter, .name = name_, .type = type_,                          \
		.offset = offsetof(struct record_args, field), .arg = arg_, .group = group_, \
		.help = help_, __VA_ARGS__                                                   \
	}
#define WHAT(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "What", help_, __VA_ARGS__)
#define OUTPUT(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "Output", help_, __VA_ARGS__)
#define ACCEPTED(letter, name_, ...)                                                            \
	OPTION(letter, name_, OPT_FLAG, ignored, NULL, NULL, "accepted for those used to perf", \
	       .flags = OPT_HIDDEN, __VA_ARGS__)

static const struct opt record_options[] = {
	{ .type = OPT_INCLUDE,
	  .include = target_options,
	  .offset = offsetof(struct record_args, target) },
	WHAT('e', "event", OPT_CUSTOM, events, "EVENT",
	     "events in perf's syntax, see fathom list; default cycles, else cpu-clock",
	     .parse = parse_event_arg),
	WHAT(0, "filter", OPT_CUSTOM, events, "FILTER",
	     "only hits of the tracepoints before it for which this is true",
	     .parse = parse_filter_arg),
	WHAT('F', "freq", OPT_CUSTOM, frequency, "HZ",
	     "samples per second and CPU, or max; tracepoints give every hit", .def = "99",
	     .parse = option_rate, .alias = "frequency", .conflicts = "count"),
	WHAT('c', "count", OPT_U64, period, "N", "a sample each N events instead",
	     .alias = "period"),
	WHAT(0, "call-graph", OPT_CUSTOM, call_graph, "HOW",
	     "stacks: fp (frame pointers), dwarf[,SIZE] (copies of stacks), lbr or none",
	     .def = "fp", .parse = option_stacks),
	WHAT('g', "stacks", OPT_FLAG, stacks, NULL, "record stacks, which is the default"),
	WHAT(0, "max-stack", OPT_U64, max_stack, "N", "frames per stack at most",
	     .max = UINT16_MAX),
	WHAT(0, "all-user", OPT_FLAG, all_user, NULL, "only what happens in user space",
	     .conflicts = "all-kernel"),
	WHAT(0, "all-kernel", OPT_FLAG, all_kernel, NULL, "only what happens in the kernel"),
	WHAT(0, "idle", OPT_FLAG, idle, NULL, "samples of idle CPUs, too"),
	WHAT(0, "exclude-self", OPT_FLAG, exclude_self, NULL, "no tracepoint hits of fathom itself",
	     .alias = "exclude-perf"),
	WHAT(0, "all-cgroups", OPT_FLAG, cgroup_ids, NULL,
	     "with each sample the control group it was in"),
	WHAT(0, "switch-events", OPT_FLAG, switches, NULL, "records of context switches"),
	WHAT(0, "data", OPT_FLAG, addresses, NULL, "data addresses with each sample"),
	WHAT(0, "phys-data", OPT_FLAG, phys_addresses, NULL,
	     "physical data addresses with each sample"),
	WHAT('b', "branch-any", OPT_FLAG, branches, NULL,
	     "the last branches before each sample, where the CPU keeps them"),
	WHAT('i', "no-inherit", OPT_FLAG, no_inherit, NULL,
	     "not the children that the target makes"),
	WHAT('D', "delay", OPT_DURATION, delay, "TIME", "begin after this time"),
	OUTPUT('o', "output", OPT_FILE, output, "FILE",
	       "the file, - for standard output; default fathom.data"),
	OUTPUT('f', "force", OPT_FLAG, force, NULL, "overwrite a file that is there"),
	OUTPUT('z', "compress", OPT_U64, compress, "LEVEL", "compress the file with zstd",
	       .flags = OPT_OPTIONAL, .implied = "1", .max = 22, .alias = "compression-level"),
	OUTPUT('m', "ring", OPT_CUSTOM, ring, "SIZE",
	       "ring for each CPU: pages, or a size like 4M; default 512K, for tracepoints 4M",
	       .parse = option_ring, .alias = "mmap-pages"),
	OUTPUT(0, "overwrite", OPT_FLAG, overwrite, NULL,
	       "keep only the newest in the rings; written at the end and on SIGUSR2",
	       .alias = "snapshot flight-recorder"),
	OUTPUT(0, "switch-output", OPT_CUSTOM, change, "WHEN",
	       "go on in a new file after a size, a time, or on SIGUSR2 (signal)",
	       .flags = OPT_OPTIONAL, .implied = "signal", .parse = parse_change),
	OUTPUT(0, "switch-max-files", OPT_U64, files, "N", "keep this many of them",
	       .max = FILES_MOST),
	OUTPUT('k', "clockid", OPT_CUSTOM, clock, "CLOCK", "clock of the time stamps",
	       .def = "monotonic", .parse = option_clock),
	OUTPUT(0, "user-data", OPT_STRING, user_data, "TEXT", "a text to keep in the recording"),
	ACCEPTED('R', "raw-samples"),
	ACCEPTED('T', "timestamp"),
	ACCEPTED('N', "no-buildid-cache", .alias = "no-buildid"),
	OPT_END,
};

/* --- state ------------------------------------------------------------------------------------ */

struct recorder {
	struct context *ctx;
	const struct record_args *args;
	struct event_list events;
	struct target target;
	struct launch launch;
	struct session *session;
	struct recording_writer *writer;
	char *path;         /* NULL: standard output */
	struct buf cmdline; /* our own, separated by NULs */
	VEC(const char *) argv;
	VEC(char *) files; /* closed ones, oldest first */
	u64 begin;         /* when recording began */
	u64 cpu_begin;     /* our own CPU time then */
	u64 file_begin;
	u64 file_records; /* bytes in the rings when the file was begun */
	u64 round_bytes;  /* at the last round */
	u64 next_progress;
	u64 written;  /* bytes of closed files */
	bool machine; /* the whole of it is watched */
};

static void recorder_release(struct recorder *r)
{
	recording_writer_free(r->writer);
	session_free(r->session);
	launch_release(&r->launch);
	target_release(&r->target);
	event_list_release(&r->events);
	free(r->path);
	buf_release(&r->cmdline);
	vec_release(&r->argv);
	vec_each(f, &r->files)
		free(*f);
	vec_release(&r->files);
}

/* --- what is to be recorded ---------------------------------------------------------------------
 */

static int choose_events(struct recorder *r)
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

/* A program that cannot be run is known before any file is touched: 127 or 126, as in a shell. */
static int prepare_program(struct recorder *r)
{
	int code = launch_prepare(&r->launch, r->ctx->program, &r->ctx->err);

	return code == -ENOENT ? STATUS_NOT_FOUND : code == -EACCES ? STATUS_NOT_RUN : code;
}

static int choose_target(struct recorder *r)
{
	const struct target_args *t = &r->args->target;
	struct err *e = &r->ctx->err;
	int code = target_add_pids(&r->target, &t->pids, e);

	if (code >= 0)
		code = target_add_tids(&r->target, &t->tids, e);
	for (size_t i = 0; code >= 0 && i < t->users.len; i++)
		code = target_add_user(&r->target, t->users.items[i], e);
	for (size_t i = 0; code >= 0 && i < t->cgroups.len; i++)
		code = target_add_cgroup(&r->target, t->cgroups.items[i], e);
	if (code >= 0 && r->ctx->program)
		code = prepare_program(r);
	/* A program alone is the target; with another one it only says how long. */
	if (code == 0 && r->launch.pid && target_is_whole(&r->target) && !t->all &&
	    t->cpus.len == 0)
		code = target_add_tid(&r->target, r->launch.pid, e);
	if (code == 0)
		code = target_add_cpus(&r->target, &t->cpus, e);
	r->machine = target_is_whole(&r->target);
	return code;
}

/* The one place that decides how stacks are taken. */
static enum stack_mode choose_stacks(const struct record_args *a)
{
	return a->call_graph.mode == STACK_NONE && a->stacks ? STACK_FP : a->call_graph.mode;
}

static void session_options(const struct recorder *r, struct session_opts *ret)
{
	const struct record_args *a = r->args;

	*ret = (struct session_opts){
		.frequency = a->frequency,
		.period = a->period,
		.stack = choose_stacks(a),
		.stack_size = a->call_graph.size,
		.max_stack = (u32)a->max_stack,
		.ring_bytes = a->ring,
		.overwrite = a->overwrite,
		.no_inherit = a->no_inherit,
		.idle = a->idle,
		.user_only = a->all_user,
		.kernel_only = a->all_kernel,
		.exclude_self = a->exclude_self,
		.late_enable = a->delay != 0,
		.cgroup_ids = a->cgroup_ids,
		.switches = a->switches,
		.addresses = a->addresses,
		.phys_addresses = a->phys_addresses,
		.branch_type = a->branches ? PERF_SAMPLE_BRANCH_ANY : 0,
		.clock_id = a->clock,
	};
}

static void show_notes(const struct recorder *r)
{
	size_t n;
	const struct session_note *notes = session_notes(r->session, &n);

	for (size_t i = 0; i < n; i++) {
		log_warn("note: %s", notes[i].text);
		if (notes[i].hint && log_get_level() > LOG_QUIET)
			fprintf(stderr, "hint: %s\n", notes[i].hint);
	}
}

static int open_session(struct recorder *r)
{
	struct session_opts opts;
	int code;

	session_options(r, &opts);
	r->session = session_new(&r->events, &r->target, r->launch.pid ? &r->launch : NULL, &opts);
	code = session_open(r->session, &r->ctx->err);
	if (code >= 0)
		show_notes(r);
	return code;
}

/* --- files ------------------------------------------------------------------------------------ */

/* The default file moves aside; any other that is there stays, unless --force. */
static int make_room(const struct recorder *r)
{
	struct err *e = &r->ctx->err;
	struct stat st;

	if (!r->path || stat(r->path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (!r->args->output) {
		_cleanup_free_ char *old = xasprintf("%s.old", r->path);

		return rename(r->path, old) < 0
			       ? err_sys(e, errno, "cannot rename '%s' to '%s'", r->path, old)
			       : 0;
	}
	if (r->args->force)
		return 0;
	err_set(e, EEXIST, "'%s' is there already", r->path);
	err_hint(e, "--force overwrites it");
	return -EEXIST;
}

static int choose_file(struct recorder *r)
{
	const char *output = r->args->output ? r->args->output : default_file;
	bool many = r->args->change.on_signal || r->args->change.bytes || r->args->change.ns;

	if (!streq(output, "-")) {
		r->path = xstrdup(output);
		return make_room(r);
	}
	if (isatty(STDOUT_FILENO)) {
		err_set(&r->ctx->err, EINVAL, "a recording is not for a terminal");
		err_hint(&r->ctx->err, "redirect it: fathom record -o - ... | fathom report -i -");
		return -EINVAL;
	}
	if (many)
		return err_set(&r->ctx->err, EINVAL, "standard output cannot be switched");
	return 0;
}

static void read_cmdline(struct recorder *r)
{
	if (io_read_file("/proc/self/cmdline", 1 << 20, &r->cmdline, NULL) < 0)
		return;
	for (size_t at = 0; at < r->cmdline.len; at += strlen(r->cmdline.data + at) + 1)
		vec_push(&r->argv, r->cmdline.data + at);
}

static int add_writer_events(struct recorder *r)
{
	size_t n;
	const struct session_event *events = session_events(r->session, &n);

	for (size_t i = 0; i < n; i++) {
		struct writer_event ev = {
			.attr = events[i].attr,
			.name = events[i].name,
			.ids = events[i].ids,
			.n_ids = events[i].n_ids,
		};

		for (size_t j = i; j < n && events[j].leader == i; j++)
			ev.n_members++;
		if (ev.n_members == 1)
			ev.n_members = 0;
		int code = recording_writer_event(r->writer, &ev, &r->ctx->err);

		if (code < 0)
			return code;
	}
	return 0;
}

static int on_records(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	return recording_writer_add(r->writer, bytes, n, &r->ctx->err);
}

static int write_known(struct recorder *r)
{
	size_t n;
	const struct session_event *events = session_events(r->session, &n);
	struct synth s = {
		.sample_type = events[0].attr.sample_type,
		.data_maps = r->args->addresses || choose_stacks(r->args) == STACK_DWARF,
		.namespaces = true,
		.build_ids = true,
		.cgroups = r->args->cgroup_ids,
		.sink = on_records,
		.ctx = r,
	};
	/* What is launched tells about itself, but for a file begun later. */
	pid_t skip = r->launch.running ? 0 : r->launch.pid;
	int code = synth_target(&s, &r->target, skip, &r->ctx->err);

	if (s.kernel_hidden && !events[0].attr.exclude_kernel && !r->files.len)
		log_warn("note: the kernel hides its addresses: its functions have no names");
	return code;
}

/* Those after which no record found room to tell. */
static int write_losses(struct recorder *r, u64 lost)
{
	size_t n;
	struct synth s = {
		.sample_type = session_events(r->session, &n)[0].attr.sample_type,
		.sink = on_records,
		.ctx = r,
	};

	return synth_lost_samples(&s, lost);
}

static int begin_file(struct recorder *r)
{
	const struct record_args *a = r->args;
	struct err *e = &r->ctx->err;
	struct writer_options o = {
		.path = r->path ? r->path : "-",
		.compress = (int)a->compress,
		.version = "fathom " FATHOM_VERSION,
		.argc = (int)r->argv.len,
		.argv = r->argv.items,
	};
	int code = recording_writer_new(&o, &r->writer, e);

	if (code < 0)
		return code;
	if (a->clock >= 0)
		recording_writer_clock(r->writer, (u32)a->clock);
	if (a->user_data)
		code = recording_writer_feature(r->writer, RECORD_USER_DATA, a->user_data,
						strlen(a->user_data), e);
	if (code >= 0)
		code = add_writer_events(r);
	if (code >= 0)
		code = recording_writer_start(r->writer, e);
	r->file_begin = clock_mono_ns();
	r->file_records = session_stats(r->session)->bytes;
	return code < 0 ? code : write_known(r);
}

static int end_file(struct recorder *r)
{
	int code = recording_writer_finish(r->writer, &r->ctx->err);

	r->written += recording_writer_file_bytes(r->writer);
	recording_writer_free(r->writer);
	r->writer = NULL;
	return code;
}

/* FILE.YYYYMMDDhhmmssXX, as perf names them; UTC, so that names sort by time. */
static char *stamped(const char *path)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	return xasprintf("%s.%04d%02d%02d%02d%02d%02d%02ld", path, tm.tm_year + 1900, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 10000000);
}

/* Closes the file under its time and goes on in a new one. */
static int change_file(struct recorder *r)
{
	char *name = stamped(r->path);
	int code = end_file(r);

	if (code >= 0 && rename(r->path, name) < 0)
		code = err_sys(&r->ctx->err, errno, "cannot rename '%s' to '%s'", r->path, name);
	if (code < 0) {
		free(name);
		return code;
	}
	log_warn("wrote %s", name);
	vec_push(&r->files, name);
	if (r->args->files && r->files.len > r->args->files) {
		(void)unlink(r->files.items[0]);
		free(r->files.items[0]);
		r->files.len--;
		memmove(r->files.items, r->files.items + 1, r->files.len * sizeof(char *));
	}
	return begin_file(r);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void show_progress(struct recorder *r)
{
	const struct ring_stats *stats = session_stats(r->session);
	_cleanup_buf_ struct buf line = BUF_INIT;
	u64 now = clock_mono_ns(), wall = now - r->begin;

	if (now < r->next_progress || !cli_progress_wanted(r->ctx))
		return;
	r->next_progress = now + NSEC_PER_SEC / 2;
	buf_addf(&line, "recording %llus  ", (unsigned long long)(wall / NSEC_PER_SEC));
	fmt_count(&line, stats->samples);
	buf_addstr(&line, " samples  ");
	fmt_count(&line, stats->lost + stats->lost_samples);
	buf_addf(&line, " lost  %.1f MB  %.1f%% CPU of our own",
		 (double)(r->written + recording_writer_bytes(r->writer)) / 1e6,
		 wall ? 100.0 * (double)(clock_cpu_ns() - r->cpu_begin) / (double)wall : 0);
	cli_progress(r->ctx, "%s", buf_str(&line));
}

static bool signalled(void)
{
	struct timespec none = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &none) == SIGUSR2;
}

static int on_round(void *ctx)
{
	struct recorder *r = ctx;
	u64 bytes = session_stats(r->session)->bytes;

	if (bytes == r->round_bytes)
		return 0;
	r->round_bytes = bytes;
	return recording_writer_round(r->writer, &r->ctx->err);
}

static int on_sweep(void *ctx)
{
	struct recorder *r = ctx;
	const struct record_args *a = r->args;
	struct session_sinks dump = { .records = on_records, .round = on_round, .ctx = r };
	bool usr2 = (a->overwrite || a->change.on_signal) && r->path && signalled();
	int code = on_round(r);

	if (code >= 0 && usr2 && a->overwrite)
		code = session_dump(r->session, &dump, &r->ctx->err);
	if (code >= 0 &&
	    (usr2 || (a->change.ns && clock_mono_ns() - r->file_begin >= a->change.ns) ||
	     (a->change.bytes &&
	      session_stats(r->session)->bytes - r->file_records >= a->change.bytes)))
		code = change_file(r);
	if (code >= 0)
		show_progress(r);
	return MIN(code, 0);
}

static void block_usr2(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Starts what is to be started, in the order that misses nothing. */
static int start(struct recorder *r)
{
	struct err *e = &r->ctx->err;
	int code = 0;

	if (!r->args->delay)
		code = session_enable(r->session, e);
	if (code >= 0 && r->launch.pid)
		code = launch_go(&r->launch, e);
	if (code >= 0 && r->args->delay && !stop_wait(r->args->delay))
		code = session_enable(r->session, e);
	r->begin = clock_mono_ns();
	r->cpu_begin = clock_cpu_ns();
	r->next_progress = r->begin + NSEC_PER_SEC;
	return code;
}

static int run(struct recorder *r)
{
	struct session_sinks sinks = { .records = on_records, .round = on_sweep, .ctx = r };
	u64 duration = r->args->target.duration;
	struct err *e = &r->ctx->err;
	int code = start(r);

	if (code >= 0)
		code = session_run(r->session, duration ? r->begin + duration : 0, &sinks, e);
	session_disable(r->session);
	sinks.round = on_round;
	if (code >= 0)
		code = session_drain(r->session, &sinks, e);
	cli_progress(r->ctx, "%s", "");
	return code;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void event_names_text(const struct recorder *r, struct buf *out)
{
	size_t n, shown = 0, hidden = 0;
	const struct session_event *events = session_events(r->session, &n);

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

static void show_summary(const struct recorder *r, u64 wall, u64 lost)
{
	const struct ring_stats *stats = session_stats(r->session);
	_cleanup_buf_ struct buf line = BUF_INIT;
	const char *path = r->path ? r->path : "standard output";

	fmt_count(&line, stats->samples);
	buf_addstr(&line, stats->samples == 1 ? " sample of " : " samples of ");
	event_names_text(r, &line);
	buf_addf(&line, " in %.1fs, ", (double)wall / 1e9);
	fmt_count(&line, lost);
	buf_addf(&line, " lost, %.1f MB -> %s", (double)r->written / 1e6, path);
	log_warn("%s", buf_str(&line));
	if (lost && log_get_level() > LOG_QUIET)
		fprintf(stderr, "hint: a larger ring loses less: -m %lluK\n",
			(unsigned long long)session_ring_bytes(r->session) >> 8);
	if (stats->throttled)
		log_warn("note: the kernel paused sampling %llu times to stay responsive",
			 (unsigned long long)stats->throttled);
	if (r->path && stats->samples && log_get_level() > LOG_QUIET)
		fprintf(stderr, "next: fathom report%s%s\n",
			streq(r->path, default_file) ? "" : " -i ",
			streq(r->path, default_file) ? "" : r->path);
}

/* The status of the program, or ours. */
static int end_program(struct recorder *r)
{
	if (!r->launch.pid)
		return 0;
	if (!launch_ended(&r->launch))
		launch_signal(&r->launch,
			      stop_requested() && stop_signal() ? stop_signal() : SIGTERM);
	int status = launch_wait(&r->launch);

	/* Ended by us at the end of the duration: that is no failure. */
	return r->args->target.duration && !stop_requested() && status == 128 + SIGTERM ? 0
											: status;
}

static int finish(struct recorder *r)
{
	u64 wall = clock_mono_ns() - r->begin, lost, exact;
	const struct ring_stats *stats = session_stats(r->session);
	int code, status;

	lost = stats->lost + stats->lost_samples;
	exact = session_lost_exact(r->session);
	if (exact > lost) {
		code = write_losses(r, exact - lost);
		if (code < 0)
			return code;
		lost = exact;
	}
	code = end_file(r);
	if (code < 0)
		return code;
	status = end_program(r);
	show_summary(r, wall, lost);
	if (stats->samples == 0)
		log_warn("nothing was captured: %s",
			 r->machine ? "no event happened"
				    : "the target did not run, or too briefly");
	if (r->launch.pid && status)
		return status;
	return stats->samples == 0 && !(r->launch.pid && !r->machine) ? EXIT_NOTHING : EXIT_OK;
}

static int record_run(struct context *ctx, void *args)
{
	struct recorder r = { .ctx = ctx, .args = args, .launch = LAUNCH_INIT };
	int code = choose_events(&r);

	if (code == 0)
		code = choose_target(&r);
	if (code == -EINVAL)
		code = EXIT_USAGE;
	block_usr2();
	if (code == 0)
		code = open_session(&r);
	if (code == 0)
		code = choose_file(&r);
	if (code == 0) {
		read_cmdline(&r);
		code = begin_file(&r);
	}
	if (code == 0)
		code = run(&r);
	if (code == 0)
		code = finish(&r);
	recorder_release(&r);
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
	{ "fathom record -e sched:sched_switch -d 1s", "every context switch with its stack" },
	{ "fathom record -e block:block_rq_issue --filter 'bytes > 65536' -d 5s",
	  "large requests to disks" },
	{ "fathom record --overwrite -m 16M", "a flight recorder: kill -USR2 writes the past" },
	{ 0 },
};

const struct command cmd_record = {
	.name = "record",
	.summary = "record samples of events into a file",
	.description =
		"Takes samples with stacks, of the whole machine until Ctrl-C unless options name "
		"a "
		"target, a duration or a program. The file is in perf's format: every view of "
		"fathom "
		"reads it, and so do perf report and perf script.\n\n"
		"Events are written as for perf: names, rNNN, pmu/term=value/, sys:tracepoint with "
		"globs, mem:ADDR, with modifiers like :u and :k, and groups in braces. Where there "
		"are "
		"no hardware counters, cpu-clock stands in for cycles, and a note says so.\n\n"
		"The default file is fathom.data; one that is there moves to fathom.data.old. "
		"Another "
		"file is overwritten only with --force.",
	.question = Q_CPU,
	.options = record_options,
	.args_size = sizeof(struct record_args),
	.takes_program = true,
	.examples = record_examples,
	.notes =
		"Idle CPUs give no samples unless --idle is given. Frame pointers are missing in "
		"most distributions' programs: then stacks are short, and --call-graph dwarf gives "
		"longer ones for more bytes.",
	.see_also = "fathom-report fathom-list fathom-script perf-record",
	.run = record_run,
	.release = record_release,
};
