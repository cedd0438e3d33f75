/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"
#include "cli/task_table.h"
#include "host/users.h"

#include <sys/syscall.h>

struct iotop_args {
	struct monitor_args monitor;
	bool only, batch, quiet;
	bool processes;
	bool accumulated;
	bool kilobytes;
	bool all;
	u64 iterations;
	u64 delay;
	range_list pids;
	const char *user;
	u32 uid;
	struct users users;
	struct map sums; /* -a: number and start -> index into @totals, plus 1 */
	VEC(struct io_sum) totals;
	double seconds; /* -a: of all intervals */
};

/* What a task did since the start of the command. */
struct io_sum {
	u64 read, write, disk;
};

#define AT(field) .offset = offsetof(struct iotop_args, field)

static const struct opt iotop_options[] = {
	{ 'o', "only", OPT_FLAG, AT(only), .help = "only tasks that do I/O: the default" },
	{ .name = "all", .type = OPT_FLAG, AT(all), .help = "also tasks without I/O" },
	{ 'P', "processes", OPT_FLAG, AT(processes), .help = "processes, not threads" },
	{ 'a', "accumulated", OPT_FLAG, AT(accumulated),
	  .help = "sums since the start, not rates" },
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]", .help = "only these processes" },
	{ 'u', "user", OPT_STRING, AT(user), .arg = "USER", .help = "only tasks of this user" },
	{ 'd', "delay", OPT_DURATION, AT(delay), .arg = "TIME", .help = "the interval",
	  .flags = OPT_INSTEAD },
	{ 'n', "iter", OPT_U64, AT(iterations), .arg = "N", .help = "end after this many",
	  .max = 1 << 30 },
	{ 'b', "batch", OPT_FLAG, AT(batch), .help = "as always here: no screen is taken over" },
	{ 'k', "kilobytes", OPT_FLAG, AT(kilobytes), .help = "all sizes in KiB" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static const char *const wants[] = { "disk.read_bytes", "disk.write_bytes", NULL };

/* --- a row ------------------------------------------------------------------------------------ */

enum { IOPRIO_OF_PROCESS = 1, IOPRIO_SHIFT = 13, SCHED_IS_IDLE = 5 };

/* "be/4", as the kernel has it; without one of its own it follows from the niceness. */
static void add_priority(const struct task_row *row, struct buf *out)
{
	static const char *const classes[] = { "be", "rt", "be", "idle" };
	long prio = row->ended ? -1 : syscall(SYS_ioprio_get, IOPRIO_OF_PROCESS, row->tid);
	u32 class = prio < 0 ? 0 : (u32)prio >> IOPRIO_SHIFT & 7;

	if (prio < 0)
		return;
	if (!class && row->policy == SCHED_IS_IDLE)
		class = 3;
	if (class >= ARRAY_SIZE(classes))
		return;
	buf_addstr(out, classes[class]);
	if (class != 3)
		buf_addf(out, "/%d", class ? (int)(prio & 7) : (row->nice + 20) / 5);
}

static struct value rate_or_sum(const struct iotop_args *a, double bytes, double seconds)
{
	double value = a->accumulated ? bytes : bytes / seconds;

	if (a->kilobytes)
		return value_d(VALUE_NUMBER, value / 1024);
	return value_u(VALUE_BYTES, (u64)(value + 0.5));
}

enum { C_TID, C_PRIO, C_USER, C_READ, C_WRITE, C_SWAPIN, C_IO, C_COMMAND, COLUMNS };

static struct table *add_table(struct result *r, const struct iotop_args *a)
{
	enum value_type bytes = a->kilobytes ? VALUE_NUMBER : VALUE_BYTES;
	const struct column columns[COLUMNS] = {
		{ a->processes ? "pid" : "tid", a->processes ? "PID" : "TID", VALUE_PID, 0 },
		{ "priority", "PRIO", VALUE_TEXT, COLUMN_SPARE },
		{ "user", "USER", VALUE_TEXT, 0 },
		{ a->accumulated ? "read_bytes" : "read_rate", "DISK READ", bytes, 0 },
		{ a->accumulated ? "write_bytes" : "write_rate", "DISK WRITE", bytes, 0 },
		{ "swapin_percent", "SWAPIN", VALUE_PERCENT, COLUMN_SPARE },
		{ "io_percent", "IO>", VALUE_PERCENT, 0 },
		{ "command", "COMMAND", VALUE_TEXT, COLUMN_FILL },
	};
	const struct column_look looks[COLUMNS] = {
		{ .width = 7 },
		{ .width = 4 },
		{ .width = 8 },
		{ .width = 10, .decimals = 3 },
		{ .width = 10, .decimals = 3 },
		{ .width = 6 },
		{ .width = 6 },
		{ 0 },
	};
	struct table *t = result_table(r, "tasks", NULL, columns, COLUMNS);

	table_looks(r, t, looks);
	return t;
}

static void add_row(struct result *r, struct table *t, const struct iotop_args *a,
		    const struct task_row *task, const struct io_sum *did,
		    const struct task_context *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct row *row = table_row(r, t);
	const char *user = users_name(&a->users, task->uid);

	row->cells[C_TID] = value_u(VALUE_PID, task->tid);
	add_priority(task, &text);
	if (text.len)
		row->cells[C_PRIO] = value_text(r, buf_str(&text));
	row->cells[C_USER] = user ? value_text(r, user) : value_textf(r, "%u", task->uid);
	row->cells[C_READ] = rate_or_sum(a, (double)did->read, ctx->seconds);
	row->cells[C_WRITE] = rate_or_sum(a, (double)did->write, ctx->seconds);
	row->cells[C_IO] = value_d(VALUE_PERCENT, 100 * (double)did->disk / 1e9 / ctx->seconds);
	buf_reset(&text);
	task_command(task, ctx, &text);
	row->cells[C_COMMAND] = value_text(r, buf_str(&text));
	if (task->ended)
		row->style = STYLE_DIM;
}

/* --- all -------------------------------------------------------------------------------------- */

static bool is_asked(const struct iotop_args *a, const struct task_row *row)
{
	if (a->pids.len && !ranges_contain(&a->pids, row->pid))
		return false;
	return !a->user || row->uid == a->uid;
}

static struct io_sum sum_of(struct iotop_args *a, const struct task_row *row)
{
	struct io_sum did = { row->figures[TASK_READ], row->figures[TASK_WRITE],
			      row->figures[TASK_DISK] };
	u64 key = row->start ^ (u64)row->tid << 40, at;
	struct io_sum *sum;

	if (!a->accumulated)
		return did;
	at = map_get(&a->sums, key, 0);
	if (!at) {
		(void)vec_new(&a->totals);
		at = a->totals.len;
		map_put(&a->sums, key, at);
	}
	sum = &a->totals.items[at - 1];
	sum->read += did.read;
	sum->write += did.write;
	sum->disk += did.disk;
	return *sum;
}

/* Nothing where no disk could be read. */
static void add_disks(struct result *r, const struct iotop_args *a, const struct delta *d,
		      const char *counter_name, const char *key, const char *title)
{
	u32 counter = counter_set_find(d->set, counter_name);
	double sum = 0, value;
	bool any = false;

	for (u32 s = counter == SET_NONE ? SET_NONE : d->set->counters.items[counter].first;
	     s != SET_NONE; s = d->set->series.items[s].next)
		if (delta_series(d, s, &value)) {
			sum += value;
			any = true;
		}
	if (any)
		result_fact(r, key, title, rate_or_sum(a, sum, d->seconds));
}

static void add_totals(struct result *r, const struct iotop_args *a, const struct delta *d,
		       double read, double written)
{
	/* of the interval, even if the rows accumulate */
	const struct iotop_args rates = { .kilobytes = a->kilobytes };

	result_fact(r, "total_read", "Total DISK READ", rate_or_sum(&rates, read, d->seconds));
	result_fact(r, "total_write", "Total DISK WRITE", rate_or_sum(&rates, written, d->seconds));
	add_disks(r, &rates, d, "disk.read_bytes", "current_read", "Current DISK READ");
	add_disks(r, &rates, d, "disk.write_bytes", "current_write", "Current DISK WRITE");
}

static void add_notes(struct result *r, const struct task_rows *t)
{
	if (!t->by_bpf)
		result_note(r, NOTE_WARNING,
			    "run as root or with CAP_BPF and CAP_PERFMON, on Linux 5.11 with BTF",
			    "tasks are read from /proc: IO is known only where "
			    "kernel.task_delayacct is 1 and the task was started later");
	result_loss(r, "no_room", "sleeps for disks that could not be counted", t->no_room);
}

static void add_tasks(struct result *r, const struct delta *d, const void *args)
{
	/* the sums of -a are ours */
	struct iotop_args *a = (struct iotop_args *)(uintptr_t)args;
	struct task_context ctx = { .seconds = d->seconds, .command_line = true };
	double read = 0, written = 0;
	struct table *t;

	a->seconds += d->seconds;
	if (a->accumulated)
		ctx.seconds = a->seconds;
	vec_each(row, &d->after->tasks.rows) {
		read += (double)row->figures[TASK_READ];
		written += (double)row->figures[TASK_WRITE];
	}
	add_totals(r, a, d, read, written);
	t = add_table(r, a);
	vec_each(row, &d->after->tasks.rows) {
		struct io_sum did = sum_of(a, row);

		if ((a->all || did.read || did.write || did.disk) && is_asked(a, row))
			add_row(r, t, a, row, &did, &ctx);
	}
	table_sort(t, a->accumulated ? "write_bytes" : "io_percent", false);
	add_notes(r, &d->after->tasks);
}

static int iotop_run(struct context *ctx, void *args)
{
	struct iotop_args *a = args;
	const struct monitor m = {
		.flags = MONITOR_RATES | MONITOR_DISK |
			 (a->processes ? MONITOR_TASKS : MONITOR_THREADS),
		.extra = add_tasks,
		.wants = wants,
	};
	int r = monitor_operands(ctx, &a->monitor);

	(void)users_read(&a->users, NULL, NULL);
	if (!r && a->user && users_id(&a->users, a->user, &a->uid, &ctx->err) < 0)
		r = EXIT_USAGE;
	if (a->delay)
		a->monitor.interval = a->delay;
	if (a->iterations) {
		a->monitor.count = a->iterations;
		a->monitor.interval = a->monitor.interval ? a->monitor.interval : NSEC_PER_SEC;
	}
	if (!r)
		r = monitor_run(ctx, &m, &a->monitor, a);
	users_release(&a->users);
	map_release(&a->sums);
	vec_release(&a->totals);
	return r;
}

static const struct example iotop_examples[] = {
	{ "fathom iotop", "who reads, writes and waits for disks in the next second" },
	{ "fathom iotop -P 1 5", "processes, in each of five seconds" },
	{ "fathom iotop -a -n 3 -d 2", "sums of six seconds" },
	{ 0 },
};

const struct command cmd_iotop = {
	.name = "iotop",
	.summary = "who reads, writes and waits for disks",
	.description =
		"Prints the columns of iotop(8) for each thread that did I/O: bytes from and to "
		"disks each second, and in 'IO' the share of time in which it slept for a disk.\n\n"
		"That time is taken at the switches and wakeups of the scheduler, so that it needs "
		"neither delay accounting in the kernel (kernel.task_delayacct) nor tasks that "
		"were started after it was turned on. A thread that came and went is counted in "
		"the row of its process, and a process in that of its parent.\n\n"
		"'Total' is what tasks did, 'Current' what the disks did: written data waits in "
		"memory. SWAPIN is part of IO here, and has no column.",
	.question = Q_MACHINE,
	.options = iotop_options,
	.args_size = sizeof(struct iotop_args),
	.instead_of = "iotop-c",
	MONITOR_OPERANDS,
	.examples = iotop_examples,
	.see_also = "fathom-iostat fathom-pidstat fathom-offcpu iotop(8)",
	.run = iotop_run,
};
