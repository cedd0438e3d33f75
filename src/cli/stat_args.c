/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_args.h"

#include "base/buf.h"
#include "base/io.h"
#include "capture/option_text.h"

enum { RUNS_MOST = 1 << 20, DETAIL_MOST = 3, CPU_MOST = 65535 };

/* --- options ---------------------------------------------------------------------------------- */

static int add_event_arg(void *field, const char *text, int kind)
{
	VEC(struct stat_event_arg) *list = field;

	vec_push(list, (struct stat_event_arg){ .text = text, .kind = kind });
	return 0;
}

static int parse_event_arg(void *field, const char *text, struct err *e UNUSED)
{
	return add_event_arg(field, text, ARG_EVENT);
}

static int parse_filter_arg(void *field, const char *text, struct err *e UNUSED)
{
	return add_event_arg(field, text, ARG_FILTER);
}

static int parse_metric_arg(void *field, const char *text, struct err *e UNUSED)
{
	return add_event_arg(field, text, ARG_METRIC);
}

#define OPTION(letter, name_, type_, field, arg_, group_, help_, ...)                          \
	OPT_ENTRY(struct stat_args, letter, name_, type_, field, arg_, help_, .group = group_, \
		  __VA_ARGS__)
#define WHO(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, target.field, arg_, "Target", help_, __VA_ARGS__)
#define WHAT(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "What", help_, __VA_ARGS__)
#define WHEN(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "When", help_, __VA_ARGS__)
#define LINES(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "Lines", help_, __VA_ARGS__)
#define OUTPUT(letter, name_, type_, field, arg_, help_, ...) \
	OPTION(letter, name_, type_, field, arg_, "Output", help_, __VA_ARGS__)

const struct opt stat_options[] = {
	WHO('p', "pid", OPT_PIDS, pids, "PID[,PID]", "these processes with all their threads",
	    .conflicts = "all"),
	WHO('t', "tid", OPT_PIDS, tids, "TID[,TID]", "these threads", .conflicts = "all"),
	WHO('u', "user", OPT_STRINGS, users, "USER",
	    "the processes of this user, by name or number", .alias = "uid", .conflicts = "all"),
	WHO('G', "cgroup", OPT_STRINGS, cgroups, "CGROUP", "this control group, by path"),
	WHO('C', "cpu", OPT_RANGES, cpus, "CPUS", "only these CPUs, like 0-3,7", .max = CPU_MOST),
	WHO('a', "all", OPT_FLAG, all, NULL, "the whole machine, as without any target",
	    .alias = "all-cpus"),
	WHAT('e', "event", OPT_CUSTOM, events, "EVENT",
	     "events in perf's syntax, see fathom list; {a,b} are counted together",
	     .parse = parse_event_arg),
	WHAT(0, "filter", OPT_CUSTOM, events, "FILTER",
	     "only hits of the preceding tracepoints for which this is true",
	     .parse = parse_filter_arg),
	WHAT('M', "metrics", OPT_CUSTOM, events, "NAME[,NAME]",
	     "the events of these metrics, like ipc or llc-miss", .parse = parse_metric_arg),
	WHAT('d', "detailed", OPT_COUNT, detail, NULL,
	     "caches, too; -dd and -ddd: TLBs and prefetches"),
	WHAT(0, "topdown", OPT_FLAG, topdown, NULL,
	     "where the CPU's slots went, level 1, where the PMU counts it"),
	WHAT(0, "why", OPT_FLAG, why, NULL,
	     "where the rest of the time went: waiting for a CPU, a disk, a lock",
	     .conflicts = "repeat interval control"),
	WHAT('n', "null", OPT_FLAG, null_run, NULL, "count nothing, only measure time"),
	WHAT('i', "no-inherit", OPT_FLAG, no_inherit, NULL,
	     "do not follow the target's child processes"),
	WHAT(0, "all-user", OPT_FLAG, user_only, NULL, "only what happens in user space",
	     .conflicts = "all-kernel"),
	WHAT(0, "all-kernel", OPT_FLAG, kernel_only, NULL, "only what happens in the kernel"),
	WHAT(0, "exclude-guest", OPT_FLAG, no_guest, NULL, "do not count in virtual machines"),
	WHAT(0, "no-scale", OPT_FLAG, no_scale, NULL,
	     "multiplexed counts as they are, not scaled up"),
	WHAT('c', "scale", OPT_FLAG, scale, NULL, "scale multiplexed counts, the default",
	     .flags = OPT_HIDDEN),
	WHEN('r', "repeat", OPT_U64, repeat, "N",
	     "run the program N times: mean, spread, confidence; 0: until Ctrl-C", .max = RUNS_MOST,
	     .given_offset = offsetof(struct stat_args, repeat_given)),
	WHEN('I', "interval", OPT_CUSTOM, interval, "TIME",
	     "print counts at this interval; a plain number is milliseconds", .parse = option_delay,
	     .alias = "interval-print"),
	WHEN(0, "interval-count", OPT_U64, interval_count, "N", "stop after N intervals"),
	WHEN('D', "delay", OPT_CUSTOM, delay, "TIME",
	     "begin after this time; a plain number is milliseconds, -1 waits for --control",
	     .parse = option_delay),
	WHEN(0, "timeout", OPT_CUSTOM, timeout, "TIME",
	     "stop after this time; a plain number is milliseconds", .parse = option_delay),
	WHEN(0, "duration", OPT_DURATION, target.duration, "TIME",
	     "the same, like 10s: as in the other commands", .conflicts = "timeout"),
	WHEN(0, "control", OPT_STRING, control, "WHERE",
	     "obey enable, disable, stop and ping from fd:IN[,OUT] or fifo:IN[,OUT]"),
	WHEN(0, "pre", OPT_STRING, pre, "COMMAND", "run this before each run, not counted"),
	WHEN(0, "post", OPT_STRING, post, "COMMAND", "run this after each run, not counted"),
	WHEN('S', "sync", OPT_FLAG, sync, NULL, "write files to disk before each run"),
	LINES('A', "no-aggr", OPT_FLAG, by_cpu, NULL, "each CPU by itself", .alias = "per-cpu"),
	LINES(0, "per-core", OPT_FLAG, by_core, NULL, "each core"),
	LINES(0, "per-cluster", OPT_FLAG, by_cluster, NULL, "each cluster of cores"),
	LINES(0, "per-die", OPT_FLAG, by_die, NULL, "each die"),
	LINES(0, "per-socket", OPT_FLAG, by_socket, NULL, "each socket"),
	LINES(0, "per-node", OPT_FLAG, by_node, NULL, "each memory node"),
	LINES(0, "per-thread", OPT_FLAG, by_thread, NULL, "each thread"),
	LINES(0, "for-each-cgroup", OPT_STRING, cgroups, "CGROUP[,CGROUP]",
	      "each of these control groups", .conflicts = "cgroup"),
	OUTPUT('x', "field-separator", OPT_STRING, separator, "SEP",
	       "perf's lines with this between fields", .conflicts = "json-output"),
	OUTPUT('j', "json-output", OPT_FLAG, json_lines, NULL, "perf's JSON, a line per event"),
	OUTPUT('o', "output", OPT_FILE, output, "FILE", "write there instead of stderr"),
	OUTPUT(0, "append", OPT_FLAG, append, NULL, "after what the file has"),
	OUTPUT(0, "log-fd", OPT_U64, log_fd, "FD", "write to this descriptor", .max = INT32_MAX,
	       .given_offset = offsetof(struct stat_args, log_fd_given)),
	OUTPUT(0, "metric-only", OPT_FLAG, metric_only, NULL,
	       "only the figures derived from counts"),
	OUTPUT(0, "summary", OPT_FLAG, summary, NULL, "the sum after intervals"),
	OUTPUT(0, "interval-clear", OPT_FLAG, interval_clear, NULL,
	       "clear the screen before each interval"),
	OUTPUT(0, "table", OPT_FLAG, table, NULL, "the time of each run with -r",
	       .flags = OPT_INSTEAD),
	OUTPUT(0, "no-big-num", OPT_FLAG, no_big, NULL, "no commas in numbers"),
	OUTPUT('B', "big-num", OPT_FLAG, scale, NULL, "commas in numbers, the default",
	       .flags = OPT_HIDDEN),
	OUTPUT(0, "no-merge", OPT_FLAG, scale, NULL, "accepted for compatibility with perf",
	       .flags = OPT_HIDDEN, .alias = "bpf-counters hybrid-merge"),
	OUTPUT(0, "no-csv-summary", OPT_FLAG, no_word, NULL,
	       "-x with --summary: no word before the sums at the end"),
	OUTPUT(0, "strict", OPT_FLAG, strict, NULL, "fail when an event could not be counted"),
	OUTPUT(0, "compare", OPT_FLAG, compare, NULL,
	       "which differences of two --json files are real"),
	OPT_END,
};

void stat_args_release(void *args)
{
	struct stat_args *a = args;

	vec_release(&a->events);
}

/* --- events ----------------------------------------------------------------------------------- */

struct choice {
	const struct stat_args *args;
	bool whole;
	struct event_list *events;
	bool *no_pmu;
	struct err *err;
};

/* perf's own list, so that its forms have its lines. */
static const char *const default_software = "context-switches,cpu-migrations,page-faults";
static const char *const default_hardware = "cycles,instructions,branches,branch-misses";
static const char *const detail_events[DETAIL_MOST] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	 "iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

static bool has_pmu(void)
{
	const struct perf_event_attr cycles = { .type = PERF_TYPE_HARDWARE,
						.size = PERF_ATTR_SIZE_VER7,
						.config = PERF_COUNT_HW_CPU_CYCLES,
						.exclude_kernel = 1,
						.exclude_hv = 1 };

	return event_opens(&cycles);
}

bool stat_perf_form(const struct stat_args *a)
{
	return a->separator || a->json_lines;
}

/* What there is to count without a PMU; system calls where tracepoints can be read. */
static int add_software(struct choice *c)
{
	int rc = event_parse(c->events, "major-faults", c->err);

	if (rc >= 0 && event_parse(c->events, "raw_syscalls:sys_enter", NULL) < 0)
		return 0;
	return rc;
}

static int add_defaults(struct choice *c)
{
	struct err *e = c->err;
	int rc;

	*c->no_pmu = !stat_perf_form(c->args) && !c->args->as_perf && !has_pmu();
	rc = event_parse(c->events, c->whole ? "cpu-clock" : "task-clock", e);
	if (rc >= 0)
		rc = event_parse(c->events, default_software, e);
	if (rc >= 0 && *c->no_pmu)
		return add_software(c);
	if (rc >= 0)
		rc = event_parse(c->events, default_hardware, e);
	return rc;
}

static int unknown_metric(const char *name, struct err *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	const char *known, *meaning;

	for (size_t i = 0; (known = stat_metric_name(i, &meaning)); i++)
		buf_addf(&names, "%s%s", i ? ", " : "", known);
	err_set(e, EINVAL, "unknown metric '%s'", name);
	err_hint(e, "there are %s", buf_str(&names));
	return -EINVAL;
}

static int add_metrics(struct choice *c, const char *text)
{
	_cleanup_free_ char *list = xstrdup(text);
	char *at = list, *name;
	int rc = 0;

	while (rc >= 0 && (name = strsep(&at, ","))) {
		const char *events = stat_metric_events(name);

		rc = events ? event_parse(c->events, events, c->err) : unknown_metric(name, c->err);
	}
	return rc;
}

static int add_topdown(struct choice *c)
{
	struct err *e = c->err;

	if (io_exists("/sys/bus/event_source/devices/cpu/events/topdown-retiring") ||
	    io_exists("/sys/bus/event_source/devices/cpu_core/events/topdown-retiring"))
		return event_parse(c->events,
				   "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,"
				   "topdown-be-bound}",
				   e);
	err_set(e, EOPNOTSUPP, "this PMU does not tell where slots went");
	err_hint(e, has_pmu() ? "top-down needs an Intel CPU from Ice Lake on; -d shows misses"
			      : "this machine has no hardware counters; --why shows what software "
				"knows");
	return -EOPNOTSUPP;
}

static int add_event(struct choice *c, const struct stat_event_arg *a)
{
	switch (a->kind) {
	case ARG_FILTER: return event_set_filter(c->events, a->text, c->err);
	case ARG_METRIC: return add_metrics(c, a->text);
	default: return event_parse(c->events, a->text, c->err);
	}
}

static int choose_events(struct choice *c)
{
	const struct stat_args *a = c->args;
	int rc = 0;

	if (a->null_run)
		return 0;
	for (size_t i = 0; rc >= 0 && i < a->events.len; i++)
		rc = add_event(c, &a->events.items[i]);
	if (rc >= 0 && a->topdown)
		rc = add_topdown(c);
	if (rc >= 0 && !c->events->events.len)
		rc = add_defaults(c);
	for (int i = 0; rc >= 0 && i < MIN(a->detail, DETAIL_MOST) && !*c->no_pmu; i++)
		rc = event_parse(c->events, detail_events[i], c->err);
	return rc;
}

int stat_args_events(const struct stat_args *a, bool whole, struct event_list *ret,
		     bool *ret_no_pmu, struct err *e)
{
	struct choice c = { a, whole, ret, ret_no_pmu, e };

	*ret_no_pmu = false;
	return choose_events(&c);
}

/* --- lines ------------------------------------------------------------------------------------ */

enum stat_by stat_args_by(const struct stat_args *a)
{
	const struct {
		bool on;
		enum stat_by by;
	} all[] = {
		{ a->by_cpu, STAT_CPU },         { a->by_core, STAT_CORE },
		{ a->by_cluster, STAT_CLUSTER }, { a->by_die, STAT_DIE },
		{ a->by_socket, STAT_SOCKET },   { a->by_node, STAT_NODE },
		{ a->by_thread, STAT_THREAD },   { a->cgroups != NULL, STAT_CGROUP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].on)
			return all[i].by;
	}
	return STAT_ALL;
}

bool stat_by_cpus(enum stat_by by)
{
	return by >= STAT_CPU && by <= STAT_NODE;
}

/* --- checks ----------------------------------------------------------------------------------- */

static int usage(struct err *e, const char *what, const char *hint)
{
	err_set(e, EINVAL, "%s", what);
	err_hint(e, "%s", hint);
	return EXIT_USAGE;
}

int stat_args_check(const struct context *ctx, const struct stat_args *a, struct err *e)
{
	int groupings = a->by_cpu + a->by_core + a->by_cluster + a->by_die + a->by_socket +
			a->by_node + a->by_thread + (a->cgroups != NULL);

	if (groupings > 1)
		return usage(e, "counts can be shown by one thing only",
			     "use one of -A, --per-core, ... --for-each-cgroup");
	if (a->repeat_given && !ctx->program)
		return usage(e, "-r repeats a program, but no program is given",
			     "fathom stat -r 5 -- PROGRAM");
	if (a->repeat_given && (a->interval || a->by_thread))
		return usage(e, "-r does not go with -I or --per-thread",
			     "run it once, or count all threads together");
	if (a->delay == OPTION_DELAY_CONTROL && !a->control)
		return usage(e, "counting would never begin",
			     "with -D -1, name a descriptor or a FIFO with --control");
	if (a->interval == OPTION_DELAY_CONTROL || a->timeout == OPTION_DELAY_CONTROL)
		return usage(e, "a time cannot be negative", "use a time like 100ms");
	if (a->separator && !*a->separator)
		return usage(e, "a separator cannot be empty", "-x, or -x ';'");
	if (a->interval && a->interval < 10 * NSEC_PER_MSEC)
		return usage(e, "an interval has at least 10 ms",
			     "reading counters takes time, too");
	return 0;
}
