/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"
#include "cli/task_table.h"

struct pidstat_args {
	struct monitor_args monitor;
	range_list pids;
	const char *command;
	bool cpu, memory, io, switches, threads;
	bool command_line;
	bool idle; /* rows that did nothing, too */
	bool account;
};

#define AT(field) .offset = offsetof(struct pidstat_args, field)

static const struct opt pidstat_options[] = {
	{ 'u', "cpu", OPT_FLAG, AT(cpu), .help = "time on CPUs: the default" },
	{ 'r', "memory", OPT_FLAG, AT(memory), .help = "page faults and memory" },
	{ .short_name = 'd',
	  .name = "io",
	  .type = OPT_FLAG,
	  AT(io),
	  .help = "bytes from and to disks" },
	{ 'w', "switches", OPT_FLAG, AT(switches), .flags = OPT_INSTEAD,
	  .help = "context switches" },
	{ 't', "threads", OPT_FLAG, AT(threads), .help = "a row for each thread" },
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]", .help = "only these processes" },
	{ 'C', "command", OPT_STRING, AT(command), .arg = "TEXT",
	  .help = "only tasks whose name holds this text" },
	{ 'l', "command-line", OPT_FLAG, AT(command_line), .help = "commands with arguments" },
	{ .name = "idle", .type = OPT_FLAG, AT(idle), .help = "tasks that did nothing, too" },
	{ .name = "account",
	  .type = OPT_FLAG,
	  AT(account),
	  .help = "say how much of the CPU meter the rows account for" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static double seconds_percent(const struct task_row *row, const struct task_context *ctx, u64 ns)
{
	u64 exec = row->figures[TASK_EXEC];

	return exec ? 100 * task_rate(row, ctx, TASK_EXEC) / 1e9 * (double)ns / (double)exec : 0;
}

/* Guests count as user time, too: the share of both is by ticks, of the exact time. */
static double get_guest(const struct task_row *row, const struct task_context *ctx)
{
	return 100 * task_rate(row, ctx, TASK_GUEST) / 1e9;
}

static double get_user(const struct task_row *row, const struct task_context *ctx)
{
	return MAX(seconds_percent(row, ctx, row->user) - get_guest(row, ctx), 0.0);
}

static double get_system(const struct task_row *row, const struct task_context *ctx)
{
	return seconds_percent(row, ctx, row->system);
}

static double get_wait(const struct task_row *row, const struct task_context *ctx)
{
	return 100 * task_rate(row, ctx, TASK_DELAY) / 1e9;
}

static double get_cpu_percent(const struct task_row *row, const struct task_context *ctx)
{
	return 100 * task_rate(row, ctx, TASK_EXEC) / 1e9;
}

static double get_cpu(const struct task_row *row, const struct task_context *ctx UNUSED)
{
	return row->cpu;
}

static double get_minor(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_MINOR);
}

static double get_major(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_MAJOR);
}

static double get_vsize(const struct task_row *row, const struct task_context *ctx UNUSED)
{
	return (double)row->vsize / 1024;
}

static double get_rss(const struct task_row *row, const struct task_context *ctx UNUSED)
{
	return (double)row->rss / 1024;
}

static double get_memory(const struct task_row *row, const struct task_context *ctx)
{
	return ctx->memory > 0 ? 100 * (double)row->rss / ctx->memory : -1;
}

static double get_read(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_READ) / 1024;
}

static double get_write(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_WRITE) / 1024;
}

static double get_cancelled(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_CANCELLED) / 1024;
}

static double get_voluntary(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_VOLUNTARY);
}

static double get_forced(const struct task_row *row, const struct task_context *ctx)
{
	return task_rate(row, ctx, TASK_FORCED);
}

#define TEXT(key_, title_, fn)                                                 \
	{                                                                      \
		.key = key_, .title = title_, .text = fn, .flags = COLUMN_FILL \
	}
#define NUMBER(key_, title_, width_, decimals_, fn, ...)                                         \
	{                                                                                        \
		.key = key_, .title = title_, .width = width_, .decimals = decimals_, .get = fn, \
		__VA_ARGS__                                                                      \
	}
#define WHO                                                                         \
	NUMBER("uid", "UID", 5, 0, task_uid), NUMBER("pid", "PID", 9, 0, task_pid), \
		NUMBER("tid", "TID", 9, 0, task_tid, .flags = COLUMN_HIDDEN)
#define WHO_THREAD                                                                   \
	NUMBER("uid", "UID", 5, 0, task_uid), NUMBER("pid", "TGID", 9, 0, task_pid), \
		NUMBER("tid", "TID", 9, 0, task_tid)

#define CPU_COLUMNS                                                                         \
	NUMBER("user_percent", "%usr", 7, 2, get_user),                                     \
		NUMBER("system_percent", "%system", 7, 2, get_system),                      \
		NUMBER("guest_percent", "%guest", 7, 2, get_guest, .flags = COLUMN_SPARE),  \
		NUMBER("wait_percent", "%wait", 7, 2, get_wait, .warn = 10, .bad = 50),     \
		NUMBER("cpu_percent", "%CPU", 7, 2, get_cpu_percent, .warn = 80, .bad = 0), \
		NUMBER("cpu", "CPU", 5, 0, get_cpu), TEXT("command", "Command", task_command)
#define MEMORY_COLUMNS                                                           \
	NUMBER("minor_faults", "minflt/s", 9, 2, get_minor),                     \
		NUMBER("major_faults", "majflt/s", 9, 2, get_major, .warn = 10), \
		NUMBER("vsz_kib", "VSZ", 9, 0, get_vsize),                       \
		NUMBER("rss_kib", "RSS", 8, 0, get_rss),                         \
		NUMBER("memory_percent", "%MEM", 6, 2, get_memory, .warn = 30),  \
		TEXT("command", "Command", task_command)
#define IO_COLUMNS                                                         \
	NUMBER("read_kib", "kB_rd/s", 9, 2, get_read),                     \
		NUMBER("write_kib", "kB_wr/s", 9, 2, get_write),           \
		NUMBER("cancelled_kib", "kB_ccwr/s", 9, 2, get_cancelled), \
		TEXT("command", "Command", task_command)
#define SWITCH_COLUMNS                                                \
	NUMBER("voluntary", "cswch/s", 9, 2, get_voluntary),          \
		NUMBER("involuntary", "nvcswch/s", 9, 2, get_forced), \
		TEXT("command", "Command", task_command)

static const struct task_column cpu_columns[] = { WHO, CPU_COLUMNS };
static const struct task_column memory_columns[] = { WHO, MEMORY_COLUMNS };
static const struct task_column io_columns[] = { WHO, IO_COLUMNS };
static const struct task_column switch_columns[] = { WHO, SWITCH_COLUMNS };
static const struct task_column cpu_thread_columns[] = { WHO_THREAD, CPU_COLUMNS };
static const struct task_column memory_thread_columns[] = { WHO_THREAD, MEMORY_COLUMNS };
static const struct task_column io_thread_columns[] = { WHO_THREAD, IO_COLUMNS };
static const struct task_column switch_thread_columns[] = { WHO_THREAD, SWITCH_COLUMNS };

static bool is_asked(const struct task_row *row, const struct pidstat_args *a)
{
	if (a->pids.len && !ranges_contain(&a->pids, row->pid))
		return false;
	return !a->command || strstr(row->comm, a->command);
}

static bool did(const struct task_row *row, const struct pidstat_args *a, u32 first, u32 last)
{
	bool any = a->idle || a->pids.len;

	for (u32 i = first; i <= last; i++)
		any |= row->figures[i] > 0;
	return any && is_asked(row, a);
}

static bool shows_cpu(const struct task_row *row, const void *args)
{
	return did(row, args, TASK_EXEC, TASK_EXEC);
}

static bool shows_memory(const struct task_row *row, const void *args)
{
	return did(row, args, TASK_MINOR, TASK_MAJOR);
}

static bool shows_io(const struct task_row *row, const void *args)
{
	return did(row, args, TASK_READ, TASK_CANCELLED);
}

static bool shows_switches(const struct task_row *row, const void *args)
{
	return did(row, args, TASK_VOLUNTARY, TASK_FORCED);
}

#define TABLE(name_, columns_, shows_)                                                 \
	{                                                                              \
		.name = name_, .columns = columns_, .n_columns = ARRAY_SIZE(columns_), \
		.shows = shows_                                                        \
	}

/* By what is requested, then by whether threads are shown. */
static const struct task_table tables[][2] = {
	{ TABLE("cpu", cpu_columns, shows_cpu), TABLE("cpu", cpu_thread_columns, shows_cpu) },
	{ TABLE("memory", memory_columns, shows_memory),
	  TABLE("memory", memory_thread_columns, shows_memory) },
	{ TABLE("io", io_columns, shows_io), TABLE("io", io_thread_columns, shows_io) },
	{ TABLE("switches", switch_columns, shows_switches),
	  TABLE("switches", switch_thread_columns, shows_switches) },
};

static double memory_of(const struct delta *d)
{
	u32 total = counter_set_find(d->set, "mem.total");
	double value;

	return total != SET_NONE && delta_value(d, total, 0, &value) ? value : 0;
}

static void add_tables(struct result *r, const struct delta *d, const void *args)
{
	const struct pidstat_args *a = args;
	const bool asked[] = { a->cpu, a->memory, a->io, a->switches };
	const struct task_context ctx = {
		.seconds = d->seconds,
		.since_boot = !d->before,
		.boot = d->after->boot,
		.wall = d->after->wall,
		.memory = memory_of(d),
		.command_line = a->command_line,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (asked[i])
			task_table_add(r, &tables[i][a->threads], &d->after->tasks, &ctx, args);
	if (d->before)
		task_account(r, d, a->account);
	if (!d->after->tasks.by_bpf)
		result_note(r, NOTE_WARNING,
			    "run as root or with CAP_BPF and CAP_PERFMON, on Linux 5.11 with BTF",
			    "tasks are read from /proc: of those that come and go, only what "
			    "their parents waited for is counted");
}

static int pidstat_run(struct context *ctx, void *args)
{
	struct pidstat_args *a = args;
	const struct monitor m = {
		.flags = MONITOR_METER | (a->threads ? MONITOR_THREADS : MONITOR_TASKS),
		.extra = add_tables,
		.wants = task_account_wants,
	};
	int r = monitor_operands(ctx, &a->monitor);

	if (!a->memory && !a->io && !a->switches)
		a->cpu = true;
	a->monitor.skip_first |= a->monitor.interval != 0;
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example pidstat_examples[] = {
	{ "fathom pidstat 1", "who uses the CPUs, each second" },
	{ "fathom pidstat -t -p 1 1 5", "the threads of a process" },
	{ "fathom pidstat -r -d -w 5", "memory, disk and switches, every five seconds" },
	{ "fathom pidstat --account 1 1", "and how the rows add up to the CPU meter" },
	{ 0 },
};

const struct command cmd_pidstat = {
	.name = "pidstat",
	.summary = "CPU, memory, disk and switches of each process",
	.description =
		"Prints the columns of pidstat(1) for each process that did anything; without an "
		"interval means over the life of each.\n\n"
		"Nothing is missed between two updates: what a process did before it ended is in "
		"its "
		"last row, and processes that came and went in between are counted in the row of "
		"their parent, whose command then says how many there were.\n\n"
		"%wait is time in which it could have run, but no CPU was free.",
	.question = Q_MACHINE,
	.options = pidstat_options,
	.args_size = sizeof(struct pidstat_args),
	MONITOR_OPERANDS,
	.examples = pidstat_examples,
	.see_also = "fathom-threads fathom-vmstat pidstat(1)",
	.run = pidstat_run,
};
