/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/heatmap.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/stop.h"
#include "base/suggest.h"
#include "capture/target.h"
#include "cli/output.h"
#include "cli/perf_args.h"
#include "cli/program.h"
#include "host/cgroup.h"
#include "host/tracefs.h"
#include "result/result.h"
#include "syscalls/engine.h"
#include "syscalls/faults.h"
#include "syscalls/summary.h"
#include "view/svg_heatmap.h"

#include <poll.h>
#include <signal.h>

struct strace_args {
	str_list expressions;
	range_list pids;
	str_list cgroups;
	bool all;
	bool follow;
	bool summary, both;
	bool histograms;
	bool stack;
	int by;
	u64 min;
	bool failed;
	const char *filter;
	int faults;
	u64 text;
	bool times, durations, relative;
	int sort;
	u64 duration;
	u64 most;
	u64 ring;
	const char *output;
	const char *heatmap;
	bool force;
};

enum { FAULTS_NONE, FAULTS_ALL, FAULTS_MAJOR, FAULTS_MINOR };
static const char *const fault_kinds[] = { "none", "all", "maj", "min", NULL };
static const char *const by_names[] = { "call", "thread", "process", NULL };

#define AT(field) .offset = offsetof(struct strace_args, field)
#define OPTION(short_, long_, type_, field_, arg_, help_, ...)                        \
	{                                                                             \
		.short_name = (short_), .name = (long_), .type = (type_), AT(field_), \
		.arg = (arg_), .help = (help_), __VA_ARGS__                           \
	}

static const struct opt strace_options[] = {
	OPTION('e', "expr", OPT_STRINGS, expressions, "CALLS",
	       "only these calls: open,close, or a class: trace=file; a leading ! excludes"),
	OPTION('p', "pid", OPT_PIDS, pids, "PID[,PID]", "these processes with all their threads"),
	OPTION('G', "cgroup", OPT_STRINGS, cgroups, "CGROUP",
	       "this control group and those below it, by path"),
	OPTION('a', "all", OPT_FLAG, all, NULL, "the whole machine, as without any target"),
	OPTION('f', "follow", OPT_FLAG, follow, NULL, "children, too"),
	OPTION('c', "summary", OPT_FLAG, summary, NULL, "add up, and print no calls"),
	OPTION('C', "summary-too", OPT_FLAG, both, NULL, "print calls, and then the sums"),
	OPTION(0, "histogram", OPT_FLAG, histograms, NULL, "with sums: how long calls took"),
	OPTION('k', "stack", OPT_FLAG, stack, NULL,
	       "who called: the user stack of each call; with sums, for each stack"),
	OPTION(0, "by", OPT_CHOICE, by, "WHAT", "sums for each call, thread or process",
	       .def = "call", .choices = by_names),
	OPTION('S', "sort", OPT_CHOICE, sort, "KEY", "order of the sums", .def = "time",
	       .choices = summary_sorts, .alias = "summary-sort-by"),
	OPTION(0, "min", OPT_DURATION, min, "TIME", "only calls that took at least this long"),
	OPTION('Z', "failed-only", OPT_FLAG, failed, NULL, "only calls that failed"),
	OPTION(0, "filter", OPT_STRING, filter, "EXPR",
	       "only calls for which this holds: 'ret < 0 && dur > 1ms'"),
	OPTION('F', "faults", OPT_CHOICE, faults, "KIND",
	       "page faults, too; with -e none only these", .def = "none", .choices = fault_kinds),
	OPTION('s', "string-limit", OPT_U64, text, "N", "bytes of buffers that are shown",
	       .def = "32", .max = SYSCALLS_BYTES),
	OPTION('t', "time", OPT_FLAG, times, NULL, "begin lines with the time of day"),
	OPTION('r', "relative-timestamps", OPT_FLAG, relative, NULL,
	       "begin lines with the time since the call of the line before began"),
	OPTION('T', "syscall-times", OPT_FLAG, durations, NULL, "end lines with the duration"),
	OPTION('d', "duration", OPT_DURATION, duration, "TIME", "stop after this time"),
	OPTION(0, "max-events", OPT_U64, most, "N", "stop after that number of calls"),
	OPTION('m', "ring", OPT_SIZE, ring, "SIZE", "size of the ring for calls not yet read",
	       .def = "8M", .max = 1 << 30),
	OPTION('o', "output", OPT_FILE, output, "FILE", "write there"),
	OPTION(0, "heatmap", OPT_FILE, heatmap, "FILE.svg",
	       "draw how long calls took, over time, at the end"),
	OPTION(0, "force", OPT_FLAG, force, NULL, "--heatmap: replace a file that exists"),
	{ .type = OPT_INCLUDE, .include = strace_peer_options },
	OPT_END,
};

enum { POINTS_MOST = 1 << 24 };

struct job {
	struct context *ctx;
	const struct strace_args *args;
	struct syscall_table table;
	struct tracefs fs; /* where calls are described */
	struct syscall_filter filter;
	struct fault_names *faults;
	bool wanted[SYSCALLS_MOST];
	struct syscalls *calls;
	struct summary summary;
	struct summary_stacks by_stack;
	struct launch launch;
	VEC(char *) groups;
	FILE *out;
	struct buf line;
	struct result result; /* of a batch, for machines */
	struct table *rows;
	u64 wall;              /* CLOCK_REALTIME at CLOCK_MONOTONIC 0 */
	latency_points points; /* of the heat map */
	u64 no_points;         /* calls beyond POINTS_MOST */
	u64 shown;             /* for --max-events */
	u64 before;            /* when the call of the last line began; 0: none */
	bool several;          /* processes: lines say whose they are */
};

/* --- which calls ------------------------------------------------------------------------------ */

static int unknown_call(struct job *j, const char *word)
{
	static const char *const classes[] = { "file",   "desc", "network", "memory", "process",
					       "signal", "ipc",  "creds",   "clock" };
	struct suggestion s;

	suggest_init(&s, word);
	for (u32 nr = 0; nr < SYSCALLS_MOST; nr++)
		if (j->table.calls[nr].name)
			suggest_try(&s, j->table.calls[nr].name);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		suggest_try(&s, classes[i]);
	err_set(&j->ctx->err, EINVAL, "unknown system call '%s'", word);
	if (*s.best)
		err_hint(&j->ctx->err, "did you mean '%s'?", s.best);
	else
		err_hint(&j->ctx->err, "'fathom list syscalls:sys_enter_*' lists them; classes are "
				       "file, desc, network, memory, process, signal, ipc, creds, "
				       "clock");
	return EXIT_USAGE;
}

static int want_word(struct job *j, const char *word, bool on)
{
	bool class[SYSCALLS_MOST] = { 0 };
	u32 nr;

	if (streq(word, "all")) {
		memset(class, 1, sizeof(class));
	} else if (syscall_number(&j->table, word, &nr)) {
		class[nr] = true;
	} else if (streq(word, "none")) {
		memset(j->wanted, 0, sizeof(j->wanted));
	} else if (!syscall_class(&j->table, word + (*word == '%'), class)) {
		return unknown_call(j, word);
	}
	for (u32 i = 0; i < SYSCALLS_MOST; i++)
		if (class[i])
			j->wanted[i] = on;
	return 0;
}

static int want_list(struct job *j, const char *list)
{
	bool on = true;
	int r = 0;

	if (starts_with(list, "trace="))
		list += strlen("trace=");
	if (*list == '!') {
		on = false;
		list++;
	}
	/* what is left out is left out of all */
	if (!on && j->args->expressions.len == 1)
		memset(j->wanted, 1, sizeof(j->wanted));
	while (!r && *list) {
		size_t n = strcspn(list, ",|");
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)MIN(n, sizeof(word) - 1), list);
		if (n)
			r = want_word(j, word, on);
		list += n + (list[n] != '\0');
	}
	return r;
}

static int choose_calls(struct job *j)
{
	int r = 0;

	if (!j->args->expressions.len)
		memset(j->wanted, 1, sizeof(j->wanted));
	/* classes look at arguments */
	for (u32 nr = 0; nr < SYSCALLS_MOST; nr++)
		if (j->args->expressions.len)
			(void)syscall_table_describe(&j->table, nr, tracefs_root(&j->fs), NULL);
	for (size_t i = 0; !r && i < j->args->expressions.len; i++)
		r = want_list(j, j->args->expressions.items[i]);
	if (r || j->args->summary)
		return r;
	for (u32 nr = 0; nr < SYSCALLS_MOST; nr++)
		if (j->wanted[nr])
			(void)syscall_table_describe(&j->table, nr, tracefs_root(&j->fs), NULL);
	return 0;
}

/* --- a call ----------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{ "time_ns", "TIME", VALUE_TIME, 0 },
	{ "duration_ns", "DURATION", VALUE_DURATION, 0 },
	{ "pid", "PID", VALUE_PID, 0 },
	{ "tid", "TID", VALUE_PID, 0 },
	{ "comm", "COMM", VALUE_TEXT, 0 },
	{ "call", "CALL", VALUE_TEXT, 0 },
	{ "args", "ARGUMENTS", VALUE_TEXT, 0 },
	{ "result", "RESULT", VALUE_INT, 0 },
	{ "errno", "ERRNO", VALUE_TEXT, COLUMN_FILL },
	{ "stack", "STACK", VALUE_TEXT, 0 },
};
enum { COLUMNS_WITHOUT_STACK = ARRAY_SIZE(columns) - 1 };

static struct row *new_row(struct job *j, const struct syscalls_event *e)
{
	struct result *r = &j->result;
	struct row *row;

	if (!j->rows) {
		result_init(r, j->ctx->command->name);
		j->rows =
			result_table(r, "calls", NULL, columns,
				     j->args->stack ? ARRAY_SIZE(columns) : COLUMNS_WITHOUT_STACK);
	}
	row = table_row(r, j->rows);
	row->cells[0] = value_u(VALUE_TIME, j->wall + e->end - e->ns);
	row->cells[1] = value_u(VALUE_DURATION, e->ns);
	row->cells[2] = value_u(VALUE_PID, e->pid);
	row->cells[3] = value_u(VALUE_PID, e->tid);
	row->cells[4] = value_textf(r, "%.*s", SYSCALLS_COMM, e->comm);
	return row;
}

static void add_row(struct job *j, const struct decoded *d)
{
	const struct syscalls_event *e = d->event;
	const struct decode_opts opts = { .text = (u32)j->args->text };
	static const struct syscall none;
	const struct syscall *call = e->nr < SYSCALLS_MOST ? &j->table.calls[e->nr] : &none;
	struct row *row = new_row(j, e);
	struct result *r = &j->result;
	const char *error = e->ret < 0 ? errno_name((int)-MAX(e->ret, (s64)-4095)) : NULL;

	buf_reset(&j->line);
	decode_args(call, d, &opts, &j->line);
	row->cells[5] =
		call->name ? value_text(r, call->name) : value_textf(r, "syscall_0x%x", e->nr);
	row->cells[6] = value_text(r, buf_str(&j->line));
	if (!(e->flags & SYSCALLS_UNFINISHED))
		row->cells[7] = value_u(VALUE_INT, (u64)e->ret);
	if (error)
		row->cells[8] = value_text(r, error);
	if (!j->args->stack)
		return;
	buf_reset(&j->line);
	call_stacks_folded(syscalls_stacks(j->calls), e->pid, e->stack, &j->line);
	if (j->line.len)
		row->cells[9] = value_text(r, buf_str(&j->line));
}

/* Innermost first, a line each. */
static void add_frames(struct job *j, const struct syscalls_event *e)
{
	struct call_stacks *stacks = syscalls_stacks(j->calls);
	u64 frames[LANG_STACK_FRAMES];
	size_t n = call_stacks_get(stacks, e->stack, frames);

	for (size_t i = 0; i < n; i++) {
		buf_addstr(&j->line, "    ");
		call_stacks_frame(stacks, e->pid, frames[i], i > 0, &j->line);
		buf_addch(&j->line, '\n');
	}
}

static void add_who(struct job *j, const struct syscalls_event *e)
{
	if (j->args->times) {
		time_t second = (time_t)((j->wall + e->end - e->ns) / NSEC_PER_SEC);
		struct tm tm;

		localtime_r(&second, &tm);
		buf_addf(&j->line, "%02d:%02d:%02d.%06llu ", tm.tm_hour, tm.tm_min, tm.tm_sec,
			 (unsigned long long)((j->wall + e->end - e->ns) % NSEC_PER_SEC / 1000));
	}
	if (j->args->relative) {
		u64 begin = e->end - e->ns, before = j->before ? j->before : begin;
		bool earlier = begin < before;
		u64 us = (earlier ? before - begin : begin - before) / 1000;

		/* lines are written when calls end: one that began earlier may come later */
		buf_addf(&j->line, "%*s%llu.%06llu ", earlier ? 6 : 5, earlier ? "-" : "",
			 (unsigned long long)us / 1000000, (unsigned long long)us % 1000000);
		j->before = begin;
	}
	if (!j->several)
		return;
	/* a name may hold anything */
	for (size_t i = 0; i < SYSCALLS_COMM && e->comm[i]; i++)
		buf_addch(&j->line, e->comm[i] > ' ' && e->comm[i] < 0x7f ? e->comm[i] : '?');
	buf_addf(&j->line, "/%u ", e->tid);
}

static int print_call(struct job *j, const struct decoded *d)
{
	const struct decode_opts opts = { .text = (u32)j->args->text };
	const struct syscalls_event *e = d->event;

	buf_reset(&j->line);
	add_who(j, e);
	decode_call(&j->table, d, &opts, &j->line);
	/* as strace: results are in a column */
	if (j->line.len < 39)
		buf_fill(&j->line, ' ', 39 - j->line.len);
	buf_addstr(&j->line, " = ");
	decode_result(&j->table, d, &j->line);
	if (j->args->durations && !(e->flags & SYSCALLS_UNFINISHED))
		buf_addf(&j->line, " <%.6f>", (double)e->ns / 1e9);
	buf_addch(&j->line, '\n');
	if (j->args->stack)
		add_frames(j, e);
	return fwrite(j->line.data, 1, j->line.len, j->out) == j->line.len ? 0 : -EIO;
}

static int on_fault(struct job *j, const struct syscalls_event *e)
{
	buf_reset(&j->line);
	if (cli_is_machine(j->ctx)) {
		struct row *row = new_row(j, e);

		fault_text(j->faults, e, &j->line);
		row->cells[5] = value_text(&j->result, fault_kind(e));
		row->cells[6] = value_text(&j->result, buf_str(&j->line));
		return 0;
	}
	add_who(j, e);
	buf_addf(&j->line, "%s ", fault_kind(e));
	fault_text(j->faults, e, &j->line);
	buf_addch(&j->line, '\n');
	return fwrite(j->line.data, 1, j->line.len, j->out) == j->line.len ? 0 : -EIO;
}

static void add_point(struct job *j, const struct syscalls_event *e)
{
	if (e->flags & SYSCALLS_UNFINISHED)
		return;
	if (j->points.len < POINTS_MOST)
		vec_push(&j->points,
			 (struct latency_point){ .time = j->wall + e->end, .value = e->ns });
	else
		j->no_points++;
}

static int on_call(void *ctx, const struct decoded *d)
{
	const struct syscalls_event *e = d->event;
	struct job *j = ctx;

	if (j->args->most && j->shown++ >= j->args->most)
		return 0;
	if (e->flags & (SYSCALLS_MAJOR | SYSCALLS_MINOR))
		return j->args->summary ? 0 : on_fault(j, e);
	if (j->args->heatmap)
		add_point(j, e);
	/* those that never return are in no sum of the kernel's either */
	if ((j->args->both || j->args->summary) && !(e->flags & SYSCALLS_UNFINISHED))
		summary_add_call(&j->summary, e);
	if (j->args->stack && (j->args->both || j->args->summary))
		summary_add_stack(&j->by_stack, e);
	if (j->args->summary)
		return 0;
	if (cli_is_machine(j->ctx)) {
		add_row(j, d);
		return 0;
	}
	return print_call(j, d);
}

/* --- the run ---------------------------------------------------------------------------------- */

static int open_output(struct job *j)
{
	j->out = j->ctx->program && !cli_is_machine(j->ctx) ? stderr : j->ctx->out;
	if (!j->args->output || streq(j->args->output, "-"))
		return 0;
	j->out = fopen(j->args->output, "we");
	if (!j->out)
		return err_sys(&j->ctx->err, errno, "cannot write '%s'", j->args->output);
	return 0;
}

static int find_groups(struct job *j)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = { 0 };
	int r = 0;

	if (j->args->cgroups.len)
		r = cgroup_mounts_read(&mounts, &j->ctx->err);
	for (size_t i = 0; r >= 0 && i < j->args->cgroups.len; i++) {
		_cleanup_buf_ struct buf path = BUF_INIT;

		r = cgroup_find(&mounts, j->args->cgroups.items[i], &path, &j->ctx->err);
		if (r >= 0)
			vec_push(&j->groups, xstrdup(buf_str(&path)));
	}
	return r;
}

/* In the kernel; what else is shown of them needs each call. */
static bool is_summed(const struct strace_args *a)
{
	return a->summary && !a->heatmap && !a->stack && !a->most;
}

/* Tables of what will be met first. */
static void prepare_stacks(struct job *j, bool chosen)
{
	struct call_stacks *stacks = syscalls_stacks(j->calls);

	if (!j->args->stack)
		return;
	if (j->ctx->program) {
		call_stacks_program(stacks, j->ctx->program[0]);
		call_stacks_program(stacks, "/proc/self/exe"); /* makes the first execve() */
	}
	vec_each(range, &j->args->pids)
		for (u64 pid = range->first; pid <= range->last; pid++)
			call_stacks_process(stacks, (u32)pid);
	if (!chosen && !j->args->pids.len)
		call_stacks_process(stacks, 0);
}

static int open_calls(struct job *j)
{
	const struct strace_args *a = j->args;
	const struct syscalls_opts opts = {
		.pids = &a->pids,
		.chosen = j->launch.pid && !a->all && !a->cgroups.len && !a->pids.len,
		.follow = a->follow,
		.groups = (const char *const *)j->groups.items,
		.n_groups = j->groups.len,
		.wanted = j->wanted,
		.min_ns = a->min,
		.failed = a->failed,
		.filter = a->filter ? &j->filter : NULL,
		.sums = is_summed(a),
		.stacks = a->stack,
		.major = a->faults == FAULTS_ALL || a->faults == FAULTS_MAJOR,
		.minor = a->faults == FAULTS_ALL || a->faults == FAULTS_MINOR,
		.ring_bytes = (u32)a->ring,
		.on_call = on_call,
		.ctx = j,
	};
	int r = syscalls_new(&j->calls, &opts, &j->table, &j->ctx->err);

	j->several = !opts.chosen && !(a->pids.len == 1 && ranges_count(&a->pids) == 1);
	j->several |= a->follow;
	if (a->faults && !a->summary)
		j->faults = fault_names_new();
	if (!r)
		prepare_stacks(j, opts.chosen);
	if (!r && opts.chosen)
		r = syscalls_add_pid(j->calls, (u32)j->launch.pid, true, &j->ctx->err);
	return r;
}

static bool is_over(struct job *j)
{
	if (j->args->most && j->shown >= j->args->most)
		return true;
	if (j->launch.pid)
		return launch_ended(&j->launch);
	if (!j->args->pids.len)
		return false;
	vec_each(range, &j->args->pids)
		for (u64 pid = range->first; pid <= range->last; pid++)
			if (kill((pid_t)pid, 0) == 0 || errno == EPERM)
				return false;
	return true;
}

static int show_batch(struct job *j)
{
	int r = 0;

	if (j->rows) {
		r = cli_show(j->ctx, &j->result);
		result_release(&j->result);
		j->rows = NULL;
	}
	return r;
}

static int watch(struct job *j)
{
	u64 until = j->args->duration ? clock_mono_ns() + j->args->duration : UINT64_MAX;
	int r = 0;

	while (r >= 0 && !stop_requested() && clock_mono_ns() < until && !is_over(j)) {
		int stacks[CALL_STACKS_FDS];

		call_stacks_fds(syscalls_stacks(j->calls), stacks);
		struct pollfd fds[] = {
			{ .fd = stop_fd(), .events = POLLIN },
			{ .fd = syscalls_fd(j->calls), .events = POLLIN },
			{ .fd = j->launch.pid ? j->launch.pid_fd : -1, .events = POLLIN },
			{ .fd = stacks[0], .events = POLLIN },
			{ .fd = stacks[1], .events = POLLIN },
		};

		(void)poll(fds, ARRAY_SIZE(fds), j->faults ? 5 : 50);
		call_stacks_serve(syscalls_stacks(j->calls));
		if (j->faults)
			fault_names_follow(j->faults);
		r = syscalls_read(j->calls);
		if (r >= 0)
			r = show_batch(j);
		if (r >= 0 && fflush(j->out) == EOF)
			r = -errno;
	}
	syscalls_stop(j->calls);
	call_stacks_serve(syscalls_stacks(j->calls));
	do
		r = r < 0 ? r : syscalls_read(j->calls);
	while (r > 0);
	return r >= 0 ? show_batch(j) : r;
}

static void add_sum(void *ctx, const struct syscalls_key *key, const struct syscalls_sum *sum)
{
	summary_add(ctx, key, sum);
}

static void add_losses(struct job *j, struct result *r)
{
	struct syscalls_stats s;

	syscalls_stats(j->calls, &s);
	result_loss(r, "lost", "calls that found no room in the ring", s.counts[SYSCALLS_LOST]);
	result_loss(r, "no_sum", "calls that found no room in the table of sums",
		    s.counts[SYSCALLS_NO_SUM]);
	result_loss(r, "no_room", "calls of threads for which there was no memory",
		    s.counts[SYSCALLS_NO_ROOM]);
	result_loss(r, "unknown", "calls with numbers beyond the table",
		    s.counts[SYSCALLS_UNKNOWN]);
	result_loss(r, "compat", "calls of 32-bit programs, which are not shown",
		    s.counts[SYSCALLS_COMPAT]);
	result_loss(r, "no_points", "calls that the heat map has no room for", j->no_points);
}

static void add_stack_ends(struct job *j, struct result *r)
{
	struct call_stacks_ends ends;

	call_stacks_ends(syscalls_stacks(j->calls), &ends);
	result_loss(r, "no_stack", "stacks that found no room", ends.refused);
	result_loss(r, "cut_no_table",
		    "stacks that were cut because the table of a new file was not there yet",
		    ends.no_table);
	result_loss(r, "cut", "stacks that were cut where their code has no unwind information",
		    ends.cut);
}

static void add_faults(struct job *j, struct result *r)
{
	struct syscalls_stats s;

	syscalls_stats(j->calls, &s);
	result_fact(r, "major_faults", "major faults",
		    value_u(VALUE_COUNT, s.counts[SYSCALLS_MAJORS]));
	result_fact(r, "minor_faults", "minor faults",
		    value_u(VALUE_COUNT, s.counts[SYSCALLS_MINORS]));
}

/* perf trace -s has a table of its own for each thread. */
static bool shows_as_perf(const struct job *j)
{
	return j->ctx->as_perf && (j->args->summary || j->args->both) && !cli_is_machine(j->ctx) &&
	       !j->args->stack && !j->args->histograms && !j->args->faults;
}

/* The sums; after lines of text only what was lost. */
static int show_end(struct job *j)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_result_ struct result r = { 0 };
	const struct strace_args *a = j->args;
	FILE *out = j->ctx->out;
	int rc;

	result_init(&r, j->ctx->command->name);
	if (is_summed(a))
		syscalls_sums(j->calls, add_sum, &j->summary);
	if (shows_as_perf(j))
		summary_perf(&j->summary, &j->table, &text);
	else if (a->summary || a->both)
		summary_table(&j->summary, &j->table, &r);
	if (a->stack && (a->summary || a->both))
		summary_stacks_table(&j->by_stack, &j->table, syscalls_stacks(j->calls), &r);
	if (a->histograms)
		summary_histograms(&j->summary, &j->table, &r);
	if (a->faults)
		add_faults(j, &r);
	add_losses(j, &r);
	if (a->stack)
		add_stack_ends(j, &r);
	if (text.len && fwrite(text.data, 1, text.len, j->out) != text.len)
		return -EIO;
	if ((text.len || (!a->summary && !a->both)) && !r.losses.len)
		return 0;
	j->ctx->out = j->out;
	rc = cli_show(j->ctx, &r);
	j->ctx->out = out;
	return rc;
}

/* Arguments that it names have to be those of some call. */
static int read_filter(struct job *j)
{
	struct syscall_filter *f = &j->filter;
	u8 places[FILTER_NAMED];
	int r = syscall_filter_parse(f, j->args->filter, &j->table, &j->ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	for (u32 nr = 0; nr < SYSCALLS_MOST && f->n_named; nr++)
		if (j->wanted[nr])
			(void)syscall_table_describe(&j->table, nr, tracefs_root(&j->fs), NULL);
	for (u32 i = 0; i < f->n_named; i++) {
		bool found = false;

		for (u32 nr = 0; !found && nr < SYSCALLS_MOST; nr++) {
			syscall_filter_places(f, &j->table.calls[nr], places);
			found = places[i] < SYSCALLS_ARGS;
		}
		if (found)
			continue;
		err_set(&j->ctx->err, EINVAL, "filter '%s': no call has an argument '%s'",
			j->args->filter, f->named[i]);
		err_hint(&j->ctx->err, "fields are ret, errno, dur, pid, tid, comm, call, arg0 to "
				       "arg5 and names of arguments, as 'fathom list -v "
				       "syscalls:sys_enter_read' shows them");
		return EXIT_USAGE;
	}
	return 0;
}

static int write_heatmap(struct job *j)
{
	const struct output_args o = { .path = j->args->heatmap, .force = j->args->force };
	const struct heat_view view = { .title = "system calls", .log_count = true };
	const struct heatmap_opts opts = { 0 };
	_cleanup_buf_ struct buf svg = BUF_INIT;
	struct heatmap map = { 0 };
	int r;

	if (!o.path)
		return 0;
	if (!j->points.len)
		return err_set(&j->ctx->err, ENODATA, "there was no call to draw");
	r = heatmap_latency(&map, &j->points, &opts, &j->ctx->err);
	if (!r)
		svg_heatmap(&map, &view, &svg);
	heatmap_release(&map);
	return r ? r : output_write(j->ctx, &o, &svg);
}

static int run_job(struct job *j)
{
	const struct output_args heatmap = { .path = j->args->heatmap, .force = j->args->force };
	struct err *e = &j->ctx->err;
	int r = output_check(j->ctx, &heatmap, "svg");

	if (r)
		return r;
	/* without it calls are registers */
	(void)tracefs_open(&j->fs, NULL);
	r = choose_calls(j);
	if (!r && j->args->filter)
		r = read_filter(j);
	if (!r)
		r = target_expect(&j->args->pids, e);
	if (!r)
		r = find_groups(j);
	if (!r)
		r = open_output(j);
	if (!r && j->ctx->program)
		r = program_prepare(&j->launch, j->ctx->program, e);
	if (!r)
		r = open_calls(j);
	if (r)
		return r;
	j->wall = clock_wall_ns() - clock_mono_ns();
	j->ctx->stream = !j->args->summary;
	r = syscalls_start(j->calls, e);
	if (!r && j->launch.pid)
		r = launch_go(&j->launch, e);
	if (!r)
		r = watch(j);
	if (r >= 0)
		r = show_end(j);
	if (r >= 0)
		r = write_heatmap(j);
	return r < 0 ? r : program_end(&j->launch);
}

static int strace_run(struct context *ctx, void *args)
{
	struct job *j = xcalloc(1, sizeof(*j));
	struct strace_args *a = args;
	int r;

	/* so does perf, if it is not asked for the contrary */
	a->follow = a->follow || (ctx->as_perf && ctx->program);
	j->ctx = ctx;
	j->args = a;
	j->launch = (struct launch)LAUNCH_INIT;
	j->fs = (struct tracefs)TRACEFS_INIT;
	j->summary.by = shows_as_perf(j) ? SUMMARY_THREAD : (enum summary_by)j->args->by;
	j->summary.sort = (enum summary_sort)j->args->sort;
	syscall_table_init(&j->table);
	r = run_job(j);
	if (j->out && j->out != stderr && j->out != ctx->out && fclose(j->out) == EOF && r >= 0)
		r = err_sys(&ctx->err, errno, "cannot write '%s'", j->args->output);
	launch_release(&j->launch);
	tracefs_release(&j->fs);
	syscalls_free(j->calls);
	fault_names_free(j->faults);
	summary_release(&j->summary);
	summary_stacks_release(&j->by_stack);
	vec_release(&j->points);
	syscall_table_release(&j->table);
	buf_release(&j->line);
	vec_each(group, &j->groups)
		free(*group);
	vec_release(&j->groups);
	free(j);
	return r;
}

static const struct example strace_examples[] = {
	{ "fathom strace -- ls", "the system calls of a program" },
	{ "fathom strace -c -d 2s", "calls of the whole machine, added up" },
	{ "fathom strace -c --by thread -p 1234 -d 2s", "of a process, for each thread" },
	{ "fathom strace -e trace=file -f -o calls.txt -- make", "files, children included" },
	{ "fathom strace --failed-only -T -d 1s", "what fails, and how long it took" },
	{ "fathom strace -c -d 5s --filter 'ret > 64k && dur > 1ms'",
	  "large and slow reads and writes, chosen in the kernel" },
	{ "fathom strace -c --heatmap slow.svg -- make", "sums, and a heat map of the durations" },
	{ "fathom strace --stack -e fsync -p 1234 -d 5s", "which code asks for it" },
	{ "fathom strace -F all -e none -- ls", "page faults: what touched which file" },
	{ 0 },
};

const struct command cmd_strace = {
	.name = "strace",
	.summary = "system calls of a program, a process or the machine",
	.description =
		"Prints each system call with its arguments by name, its result and its error, "
		"as strace(1) does, or with -c how often and how long each was called. BPF "
		"programs at the entry and exit of calls do this in the kernel: the target is "
		"not stopped, and calls that are filtered out never leave the kernel.\n\n"
		"Names and arguments of calls are those that the running kernel lists in "
		"tracefs; names of flags are those of the headers that fathom was built with. "
		"Addresses that cannot be read are shown as numbers. Calls that did not fit into "
		"the ring are counted and reported; -m makes it larger.\n\n"
		"Classes of calls are file, desc, network, memory, process, signal, ipc, creds "
		"and clock.\n\n"
		"With --stack the functions that led to each call are below it, innermost first. "
		"They are found in the kernel when the call begins, without frame pointers; "
		"stacks that were cut are counted and reported.\n\n"
		"A line is written when its call ends; one that never returns when it begins. With "
		"--json a line is a document: the calls of a moment, and at the end the sums and "
		"what was lost.",
	.question = Q_TRACE,
	.options = strace_options,
	.args_size = sizeof(struct strace_args),
	.takes_program = true,
	.examples = strace_examples,
	.see_also = "fathom-syscount fathom-trace fathom-offcpu strace(1)",
	.run = strace_run,
};
