/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/columns.h"

#include <math.h>

#include "base/fmt.h"
#include "base/io.h"
#include "top/own_columns.h"

#define GETTER(name, expression)                                                                \
	static double name(const struct top_task *t UNUSED, const struct top_context *c UNUSED) \
	{                                                                                       \
		return (double)(expression);                                                    \
	}
#define TEXTER(name, expression)                                                              \
	static const char *name(const struct top_task *t, const struct top_context *c UNUSED) \
	{                                                                                     \
		return expression;                                                            \
	}
#define EACH_SECOND(figure) ((double)t->row.figures[figure] / c->frame->seconds)

GETTER(get_pid, t->row.pid)
GETTER(get_tid, t->row.tid)
GETTER(get_ppid, t->row.ppid)
GETTER(get_nice, t->row.nice)
GETTER(get_virt, t->row.vsize)
GETTER(get_res, t->row.rss)
GETTER(get_cpu, 100 * EACH_SECOND(TASK_EXEC) / 1e9)
GETTER(get_ncpu, 100 * EACH_SECOND(TASK_EXEC) / 1e9 / c->frame->cpus)
GETTER(get_user_time, 100 * (double)t->row.user / 1e9 / c->frame->seconds)
GETTER(get_system_time, 100 * (double)t->row.system / 1e9 / c->frame->seconds)
GETTER(get_delay, 100 * EACH_SECOND(TASK_DELAY) / 1e9)
GETTER(get_mem, c->frame->memory > 0 ? 100 * (double)t->row.rss / c->frame->memory : (double)NAN)
GETTER(get_time, t->time == UINT64_MAX ? (double)NAN : (double)t->time)
GETTER(get_threads, t->row.threads)
GETTER(get_last_cpu, t->row.cpu)
GETTER(get_minor, EACH_SECOND(TASK_MINOR))
GETTER(get_major, EACH_SECOND(TASK_MAJOR))
GETTER(get_read, EACH_SECOND(TASK_READ))
GETTER(get_write, EACH_SECOND(TASK_WRITE))
GETTER(get_io, EACH_SECOND(TASK_READ) + EACH_SECOND(TASK_WRITE))
GETTER(get_rchar, EACH_SECOND(TASK_RCHAR))
GETTER(get_wchar, EACH_SECOND(TASK_WCHAR))
GETTER(get_voluntary, EACH_SECOND(TASK_VOLUNTARY))
GETTER(get_forced, EACH_SECOND(TASK_FORCED))
GETTER(get_age, c->frame->boot > t->row.start ? c->frame->boot - t->row.start : 0)
GETTER(get_folded, t->row.folded)
TEXTER(get_user, t->user)
TEXTER(get_command, t->command)
TEXTER(get_comm, t->row.comm)
TEXTER(get_cgroup, t->cgroup)
TEXTER(get_container, t->container)

static const char *get_state(const struct top_task *t, const struct top_context *c UNUSED)
{
	static const char *const states[] = { "R", "S", "D", "T", "t", "Z", "I", "X" };

	if (t->row.ended)
		return "X";
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i][0] == t->row.state)
			return states[i];
	return "?";
}

static const char *get_policy(const struct top_task *t, const struct top_context *c UNUSED)
{
	static const char *const names[] = {
		"OTHER", "FIFO", "RR", "BATCH", "?", "IDLE", "DEADLINE"
	};

	return t->row.policy < ARRAY_SIZE(names) ? names[t->row.policy] : "?";
}

static const struct share_row *share_row(const struct top_task *t, const struct top_context *c)
{
	return c->shares ? shares_get(c->shares, t->row.pid, c->frame->threads ? t->row.tid : 0)
			 : NULL;
}

static double share(const struct top_task *t, const struct top_context *c, enum share which)
{
	const struct share_row *row = share_row(t, c);

	return row && row->wall ? 100 * (double)row->ns[which] / (double)row->wall : (double)NAN;
}

GETTER(get_run, share(t, c, SHARE_RUN))
GETTER(get_runnable, share(t, c, SHARE_RUNNABLE))
GETTER(get_disk, share(t, c, SHARE_DISK))
GETTER(get_lock, share(t, c, SHARE_LOCK))
GETTER(get_net, share(t, c, SHARE_NET))
GETTER(get_sleep, share(t, c, SHARE_SLEEP))
GETTER(get_other, share(t, c, SHARE_OTHER))

static const char *get_waker(const struct top_task *t, const struct top_context *c)
{
	const struct share_row *row = share_row(t, c);

	return row && row->waker ? row->waker : "";
}

static const char *get_place(const struct top_task *t, const struct top_context *c)
{
	const struct share_row *row = share_row(t, c);

	return row && row->place ? row->place : "";
}

static const char *get_top(const struct top_task *t, const struct top_context *c)
{
	return c->profile ? profile_frame_hottest(c->profile, t->row.pid,
						  c->frame->threads ? t->row.tid : 0)
			  : "";
}

/* --- what is read for the lines that are drawn alone ------------------------------------------ */

enum { PSS_MOST = 2000 << 20 }; /* bytes of a process: above, reading it would take long */

/*
 * A file of the process or, with @of_thread, of the row's thread as it is now; false: it is gone,
 * or this is the past. The kernel sums a process's stat over its threads: rows that are threads
 * must not ask for that.
 */
static bool read_now(const struct top_task *t, const struct top_context *c, const char *name,
		     bool of_thread, struct buf *out)
{
	char path[64];

	if (c->frame->past || t->row.ended || t->row.kernel)
		return false;
	if (of_thread && c->frame->threads)
		snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", t->row.pid, t->row.tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%u/%s", t->row.pid, name);
	return io_read_file(path, IO_MAX_PROC, out, NULL) >= 0;
}

/* The field of a line of numbers after @text, counted from 0. */
static double number_at(const char *text, int field)
{
	char *end;
	long long v = 0;

	for (int i = 0; i <= field; i++, text = end) {
		v = strtoll(text, &end, 10);
		if (end == text)
			return (double)NAN;
	}
	return (double)v;
}

static double get_shared(const struct top_task *t, const struct top_context *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	return read_now(t, c, "statm", true, &text)
		       ? number_at(buf_str(&text), 2) * (double)sysconf(_SC_PAGESIZE)
		       : (double)NAN;
}

static double get_priority(const struct top_task *t, const struct top_context *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *name_end;

	/* after the name: the state, then from field 4 on numbers; this is field 18 */
	if (!read_now(t, c, "stat", true, &text))
		return (double)NAN;
	name_end = strrchr(buf_str(&text), ')');
	return name_end && name_end[1] == ' ' && name_end[2] ? number_at(name_end + 3, 14)
							     : (double)NAN;
}

static double get_pss(const struct top_task *t, const struct top_context *c)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *line;

	if (t->row.tid != c->selected || t->row.rss > PSS_MOST ||
	    !read_now(t, c, "smaps_rollup", false, &text))
		return (double)NAN;
	line = strstr(buf_str(&text), "\nPss:");
	return line ? number_at(line + 5, 0) * 1024 : (double)NAN;
}

#define NUMBER(key_, title_, width_, kind_, flags_, get_, ...)                                 \
	{                                                                                      \
		.key = key_, .title = title_, .width = width_, .kind = kind_, .flags = flags_, \
		.get = get_, __VA_ARGS__                                                       \
	}
#define TEXT(key_, title_, width_, flags_, get_, ...)                                              \
	{                                                                                          \
		.key = key_, .title = title_, .width = width_, .kind = KIND_TEXT, .flags = flags_, \
		.text = get_, __VA_ARGS__                                                          \
	}
#define SHARE(key_, title_, get_, meaning_, deeper_)                                               \
	NUMBER(key_, title_, 5, KIND_PERCENT, TOP_WAITS, get_, .decimals = 1, .meaning = meaning_, \
	       .from = "switches of the scheduler, seen by BPF programs; "                         \
		       "the seven shares sum to 100 %",                                            \
	       .deeper = deeper_)

static const struct top_column builtin[] = {
	NUMBER("pid", "PID", 7, KIND_NUMBER, TOP_SHOWN | TOP_ASCENDING, get_pid,
	       .meaning = "Number of the process.", .from = "task_struct.tgid (/proc/PID)"),
	NUMBER("tid", "TID", 7, KIND_NUMBER, TOP_THREAD | TOP_ASCENDING, get_tid,
	       .meaning = "Number of the thread.", .from = "task_struct.pid (/proc/PID/task/TID)"),
	NUMBER("ppid", "PPID", 7, KIND_NUMBER, TOP_ASCENDING, get_ppid,
	       .meaning = "Number of the parent.", .from = "/proc/PID/stat, field 4"),
	TEXT("user", "USER", 9, TOP_SHOWN, get_user, .meaning = "The user whose process it is.",
	     .from = "/proc/PID/status, Uid, and the user database"),
	NUMBER("nice", "NI", 3, KIND_NUMBER, TOP_SHOWN | TOP_ASCENDING, get_nice,
	       .meaning = "Lower goes first: from -20 to 19.", .from = "/proc/PID/stat, field 19"),
	NUMBER("virt", "VIRT", 6, KIND_BYTES, TOP_SHOWN, get_virt,
	       .meaning = "Memory that it has mapped, used or not.",
	       .from = "/proc/PID/stat, field 23",
	       .deeper = "Address space is cheap; much RES is not. fathom mmapgrowth."),
	NUMBER("res", "RES", 6, KIND_BYTES, TOP_SHOWN | TOP_SUMS, get_res,
	       .meaning = "Memory of it that is in RAM, shared pages included.",
	       .from = "/proc/PID/stat, field 24, times the page size",
	       .deeper = "Growing all the time: a leak; fathom memleak -p PID."),
	NUMBER("shr", "SHR", 6, KIND_BYTES, 0, get_shared,
	       .meaning = "Part of RES that is of files and shared memory.",
	       .from = "/proc/PID/statm, field 3, times the page size; of lines that are drawn",
	       .deeper = "Counted once for each process that maps it: PSS divides it."),
	NUMBER("pss", "PSS", 6, KIND_BYTES, 0, get_pss,
	       .meaning = "RES with each shared page divided by its users; of the line under the "
			  "cursor alone.",
	       .from = "/proc/PID/smaps_rollup, which walks all pages: not above 2000 MB",
	       .deeper = "What the machine gains when it ends: fathom memleak -p PID."),
	NUMBER("pri", "PRI", 4, KIND_NUMBER, TOP_ASCENDING, get_priority,
	       .meaning = "Priority as the kernel has it: 20 plus nice; below 0 real time.",
	       .from = "/proc/PID/stat, field 18; of lines that are drawn"),
	TEXT("state", "S", 1, TOP_SHOWN, get_state,
	     .meaning = "R runs or could, S sleeps, D waits for a disk, T stopped, Z waits for its "
			"parent, I idle kernel thread, X ended since the last look.",
	     .from = "/proc/PID/stat, field 3",
	     .deeper = "Often D: fathom offcpu --state D -p PID."),
	NUMBER("cpu", "CPU%", 5, KIND_PERCENT, TOP_SHOWN | TOP_SUMS, get_cpu, .decimals = 1,
	       .warn = 80,
	       .meaning = "CPU time in the interval; 100 % is one CPU. Tasks that came and went "
			  "meanwhile count for their parent, so that all rows sum to the meter.",
	       .from = "sum_exec_runtime of the scheduler (/proc/PID/schedstat, field 1)",
	       .deeper = "Enter, then 3: which functions; fathom record -p PID."),
	NUMBER("ncpu", "NCPU%", 5, KIND_PERCENT, TOP_SUMS, get_ncpu, .decimals = 1,
	       .meaning = "CPU time in the interval; 100 % is all CPUs.",
	       .from = "CPU% divided by the number of CPUs",
	       .deeper = "Enter, then 3: which functions."),
	NUMBER("usr", "USR%", 5, KIND_PERCENT, TOP_SUMS, get_user_time, .decimals = 1,
	       .meaning = "Part of CPU% in user mode.",
	       .from = "CPU%, divided as utime and stime of /proc/PID/stat say",
	       .deeper = "Its own code: Enter, then 3; fathom record -p PID."),
	NUMBER("sys", "SYS%", 5, KIND_PERCENT, TOP_SUMS, get_system_time, .decimals = 1, .warn = 50,
	       .meaning = "Part of CPU% in the kernel.",
	       .from = "CPU%, divided as utime and stime of /proc/PID/stat say",
	       .deeper = "Many system calls or faults: fathom syscount -p PID."),
	NUMBER("wait", "WAIT%", 5, KIND_PERCENT, TOP_SUMS, get_delay, .decimals = 1, .warn = 10,
	       .bad = 50, .meaning = "Time in which it could have run, but no CPU was free.",
	       .from = "run_delay of the scheduler (/proc/PID/schedstat, field 2)",
	       .deeper = "Too few CPUs, or a quota: fathom runqlat -p PID."),
	NUMBER("mem", "MEM%", 5, KIND_PERCENT, TOP_SHOWN | TOP_SUMS, get_mem, .decimals = 1,
	       .warn = 30, .meaning = "RES in percent of the machine's memory.",
	       .from = "RES / MemTotal of /proc/meminfo",
	       .deeper = "Memory may run short: PSI mem on the overview; fathom memleak -p PID."),
	NUMBER("time", "TIME+", 9, KIND_TIME, TOP_SHOWN | TOP_SUMS, get_time,
	       .meaning = "CPU time of its whole life.",
	       .from = "sum_exec_runtime of all its threads, ended ones included",
	       .deeper = "It worked long, or since long ago: AGE tells which."),
	NUMBER("threads", "THR", 4, KIND_NUMBER, TOP_SUMS, get_threads,
	       .meaning = "Threads of the process.", .from = "/proc/PID/stat, field 20",
	       .deeper = "Threads are made and kept: fathom threads -p PID."),
	NUMBER("processor", "CPU", 3, KIND_NUMBER, TOP_ASCENDING, get_last_cpu,
	       .meaning = "The CPU that it ran on last.", .from = "/proc/PID/stat, field 39"),
	TEXT("policy", "POLICY", 8, 0, get_policy, .meaning = "Policy of the scheduler.",
	     .from = "/proc/PID/stat, field 41"),
	NUMBER("age", "AGE", 9, KIND_TIME, 0, get_age, .meaning = "Time since it was started.",
	       .from = "/proc/PID/stat, field 22", .deeper = "Old ones with growing RES may leak."),
	NUMBER("minflt", "MINFL/s", 7, KIND_NUMBER, TOP_SUMS, get_minor,
	       .meaning = "Page faults that needed no disk.", .from = "/proc/PID/stat, field 10",
	       .deeper = "Memory is touched for the first time, again and again."),
	NUMBER("majflt", "MAJFL/s", 7, KIND_NUMBER, TOP_SUMS, get_major, .warn = 10,
	       .meaning = "Page faults that read from a disk.", .from = "/proc/PID/stat, field 12",
	       .deeper = "Memory is short, or a program starts: fathom vmstat 1."),
	NUMBER("io", "IO/s", 7, KIND_RATE, TOP_SUMS, get_io,
	       .meaning = "Bytes from and to disks each second.",
	       .from = "/proc/PID/io, read_bytes and write_bytes",
	       .deeper = "fathom biotop; fathom offcpu --state D -p PID."),
	NUMBER("read", "READ/s", 7, KIND_RATE, TOP_SUMS, get_read,
	       .meaning = "Bytes from disks each second.", .from = "/proc/PID/io, read_bytes",
	       .deeper = "fathom biotop; fathom fileslower."),
	NUMBER("write", "WRITE/s", 7, KIND_RATE, TOP_SUMS, get_write,
	       .meaning = "Bytes to disks each second.", .from = "/proc/PID/io, write_bytes",
	       .deeper = "fathom biotop; fathom fileslower."),
	NUMBER("rchar", "RCHAR/s", 7, KIND_RATE, TOP_SUMS, get_rchar,
	       .meaning = "Bytes read by system calls each second.", .from = "/proc/PID/io, rchar",
	       .deeper = "Much more than READ/s: the page cache answers. fathom filetop."),
	NUMBER("wchar", "WCHAR/s", 7, KIND_RATE, TOP_SUMS, get_wchar,
	       .meaning = "Bytes written by system calls each second.",
	       .from = "/proc/PID/io, wchar",
	       .deeper =
		       "Much more than WRITE/s: it is written later, or to pipes. fathom filetop."),
	NUMBER("vcsw", "VCSW/s", 7, KIND_NUMBER, TOP_SUMS, get_voluntary,
	       .meaning = "Switches away because it waited.",
	       .from = "/proc/PID/status, voluntary_ctxt_switches",
	       .deeper = "Many short waits: fathom offcpu -p PID."),
	NUMBER("icsw", "ICSW/s", 7, KIND_NUMBER, TOP_SUMS, get_forced,
	       .meaning = "Switches away because another had to run.",
	       .from = "/proc/PID/status, nonvoluntary_ctxt_switches",
	       .deeper = "More work than CPUs: fathom runqlat -p PID."),
	NUMBER("folded", "SHORT", 5, KIND_NUMBER, TOP_SUMS, get_folded,
	       .meaning =
		       "Tasks that were born and died in the interval; their time is in this row.",
	       .from = "BPF programs at the end of tasks", .deeper = "fathom execsnoop."),
	SHARE("run", "RUN%", get_run, "Share of time on a CPU.", "Enter, then 3."),
	SHARE("runnable", "RQ%", get_runnable, "Share of time in which it wanted a CPU.",
	      "fathom runqlat -p PID."),
	SHARE("disk", "DISK%", get_disk, "Share of time blocked by disks and page faults.",
	      "Enter, then 5."),
	SHARE("lock", "LOCK%", get_lock, "Share of time blocked by locks and conditions.",
	      "Enter, then 5; fathom chain -p PID."),
	SHARE("net", "NET%", get_net, "Share of time blocked by the network.", "Enter, then 5."),
	SHARE("sleep", "SLP%", get_sleep,
	      "Share of time asleep, or without work: nothing waits for it.",
	      "It has nothing to do; fathom explain -p PID says what it waits for."),
	SHARE("other", "OTH%", get_other, "Share of time in other waits.", "Enter, then 5."),
	TEXT("waker", "WOKEN BY", 16, TOP_WAITS, get_waker,
	     .meaning = "The thread that ended most of its waiting since the last refresh.",
	     .from = "wakeups of the scheduler, seen by BPF programs",
	     .deeper = "Enter, then 5: its waits, and what the waker waits for itself."),
	TEXT("waits_in", "WAITS IN", 24, TOP_WAITS, get_place,
	     .meaning = "Where it waited longest.", .from = "its stack when it was switched away",
	     .deeper = "fathom offcpu -p PID."),
	TEXT("function", "FUNCTION", 24, TOP_SAMPLES, get_top,
	     .meaning = "The function that most of its samples of the last seconds hit.",
	     .from = "samples of all CPUs", .deeper = "Enter, then 3."),
	TEXT("container", "CONTAINER", 20, 0, get_container,
	     .meaning = "The container, by the name of its control group.",
	     .from = "/proc/PID/cgroup"),
	TEXT("cgroup", "CGROUP", 30, 0, get_cgroup, .meaning = "The control group, version 2.",
	     .from = "/proc/PID/cgroup"),
	TEXT("comm", "COMM", 15, TOP_THREAD, get_comm, .meaning = "Name of the thread.",
	     .from = "/proc/PID/comm"),
	TEXT("command", "COMMAND", 0, TOP_SHOWN, get_command,
	     .meaning = "Command line; of threads and kernel threads the name.",
	     .from = "/proc/PID/cmdline"),
};

/* Ours, and after them those of the user. */
const struct top_column *top_columns(size_t *ret_n)
{
	static struct top_column all[ARRAY_SIZE(builtin) + OWN_MOST];
	const struct top_column *own;
	size_t n = ARRAY_SIZE(builtin);

	if (!all[0].key)
		memcpy(all, builtin, sizeof(builtin));
	for (size_t i = 0; (own = own_column(i)); i++)
		all[n++] = *own;
	*ret_n = n;
	return all;
}

int top_column_find(const char *key, size_t n)
{
	size_t all;
	const struct top_column *c = top_columns(&all);

	for (size_t i = 0; i < all; i++)
		if (strlen(c[i].key) == n && !strncasecmp(c[i].key, key, n))
			return (int)i;
	/* as the heading has it */
	for (size_t i = 0; i < all; i++)
		if (strlen(c[i].title) == n && !strncasecmp(c[i].title, key, n))
			return (int)i;
	return -1;
}

double top_column_value(const struct top_column *c, const struct top_task *t,
			const struct top_context *ctx)
{
	return c->get ? c->get(t, ctx) : (double)NAN;
}

/* 1:02.34, 12:34:56, 3d04h */
static void format_time(struct buf *out, double ns)
{
	u64 centi = (u64)(ns / 1e7), seconds = centi / 100, minutes = seconds / 60;

	if (minutes < 60)
		buf_addf(out, "%llu:%02llu.%02llu", (unsigned long long)minutes,
			 (unsigned long long)(seconds % 60), (unsigned long long)(centi % 100));
	else if (minutes < 100 * 60)
		buf_addf(out, "%lluh%02llu:%02llu", (unsigned long long)(minutes / 60),
			 (unsigned long long)(minutes % 60), (unsigned long long)(seconds % 60));
	else
		buf_addf(out, "%llud%02lluh", (unsigned long long)(minutes / 1440),
			 (unsigned long long)(minutes / 60 % 24));
}

void top_column_format(const struct top_column *c, double value, struct buf *out)
{
	if (!isfinite(value))
		return;
	switch (c->kind) {
	case KIND_PERCENT: buf_addf(out, value >= 1000 ? "%.0f" : "%.1f", value); break;
	case KIND_BYTES: fmt_size(out, (u64)MAX(value, 0)); break;
	case KIND_RATE:
		if (value >= 1)
			fmt_size(out, (u64)value);
		else
			buf_addch(out, '0');
		break;
	case KIND_TIME: format_time(out, MAX(value, 0)); break;
	case KIND_NUMBER:
	case KIND_TEXT: buf_addf(out, "%.*f", c->decimals, value);
	}
}
