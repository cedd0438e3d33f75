/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct iostat_args {
	struct monitor_args monitor;
	bool extended;
	bool active; /* -z */
	bool cpu;
	bool disk;
	bool megabytes;
	bool kilobytes;
	bool partitions;
};

#define AT(field) .offset = offsetof(struct iostat_args, field)

static const struct opt iostat_options[] = {
	{ 'x', "extended", OPT_FLAG, AT(extended), .help = "times, queues and utilization" },
	{ 'z', "active", OPT_FLAG, AT(active), .help = "leave out devices without I/O" },
	{ 'c', "cpu", OPT_FLAG, AT(cpu), .help = "time of CPUs only" },
	{ .short_name = 'd', .name = "disk", .type = OPT_FLAG, AT(disk), .help = "disks only" },
	{ 'k', "kilobytes", OPT_FLAG, AT(kilobytes), .help = "in KiB: the default" },
	{ 'm', "megabytes", OPT_FLAG, AT(megabytes), .help = "in MiB" },
	{ 'p', "partitions", OPT_FLAG, AT(partitions), .help = "partitions, too" },
	{ 't', "time", OPT_FLAG, .offset = offsetof(struct iostat_args, monitor.timestamp),
	  .help = "begin each line with the time" },
	{ 'y', "no-first", OPT_FLAG, .offset = offsetof(struct iostat_args, monitor.skip_first),
	  .help = "leave out the first report, which is since boot" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

#define PERCENT(key, title, formula, ...) MONITOR_COLUMN(key, title, formula, 7, 2, __VA_ARGS__)

static const struct monitor_column cpu_columns[] = {
	PERCENT("user_percent", "%user", "100 * cpu.user{all} / cpu.total{all}"),
	PERCENT("nice_percent", "%nice", "100 * cpu.nice{all} / cpu.total{all}"),
	PERCENT("system_percent", "%system",
		"100 * (cpu.system{all} + cpu.irq{all} + cpu.softirq{all}) / cpu.total{all}",
		.warn = 30, .bad = 60),
	PERCENT("iowait_percent", "%iowait", "cpu.iowait_percent{all}", .warn = 10, .bad = 30),
	PERCENT("steal_percent", "%steal", "cpu.steal_percent{all}", .warn = 5, .bad = 20),
	PERCENT("idle_percent", "%idle", "cpu.idle_percent{all}", .warn = 10, .bad = 3),
};

#define DEVICE                           MONITOR_COLUMN("device", "Device", NULL, 12, 0)
#define EACH(key, title, formula, width) MONITOR_COLUMN(key, title, formula, width, 2)
#define SPARE(key, title, formula, width) \
	MONITOR_COLUMN(key, title, formula, width, 2, .flags = COLUMN_SPARE)
#define BYTES(key, title, formula, width, unit_) \
	MONITOR_COLUMN(key, title, formula, width, 2, .unit = (unit_))
#define SPARE_BYTES(key, title, formula, width, unit_) \
	MONITOR_COLUMN(key, title, formula, width, 2, .unit = (unit_), .flags = COLUMN_SPARE)
#define SUM(key, title, formula, unit_) MONITOR_COLUMN(key, title, formula, 10, 0, .unit = (unit_))

/* In KiB and in MiB: the titles say which. */
#define DISK_COLUMNS(B, low, unit_)                                                               \
	{                                                                                         \
		DEVICE,                                                                           \
			EACH("transfers", "tps",                                                  \
			     "rate(disk.reads + disk.writes + opt(disk.discards))", 8),           \
			BYTES("read_" low "_rate", B "_read/s", "rate(disk.read_bytes)", 9,       \
			      unit_),                                                             \
			BYTES("write_" low "_rate", B "_wrtn/s", "rate(disk.write_bytes)", 9,     \
			      unit_),                                                             \
			BYTES("discard_" low "_rate", B "_dscd/s", "rate(disk.discard_bytes)", 9, \
			      unit_),                                                             \
			SUM("read_" low, B "_read", "disk.read_bytes", unit_),                    \
			SUM("write_" low, B "_wrtn", "disk.write_bytes", unit_),                  \
			SUM("discard_" low, B "_dscd", "disk.discard_bytes", unit_),              \
	}

static const struct monitor_column disk_columns[] = DISK_COLUMNS("kB", "kib", 1024);
static const struct monitor_column disk_mb_columns[] = DISK_COLUMNS("MB", "mib", 1048576);

#define MERGED(key, title, merged, done) \
	SPARE(key, title, "100 * " merged " / (" merged " + " done ")", 6)
#define AWAIT(key, title, formula, ...)                                                    \
	MONITOR_COLUMN(key, title, formula, 7, 2, .unit = 1000000, .warn = 20, .bad = 100, \
		       __VA_ARGS__)
#define EXTENDED_COLUMNS(B, low, unit_)                                                          \
	{                                                                                        \
		DEVICE, EACH("reads", "r/s", "rate(disk.reads)", 7),                             \
			BYTES("read_" low, "r" B "/s", "rate(disk.read_bytes)", 9, unit_),       \
			SPARE("reads_merged", "rrqm/s", "rate(disk.reads_merged)", 8),           \
			MERGED("reads_merged_percent", "%rrqm", "disk.reads_merged",             \
			       "disk.reads"),                                                    \
			AWAIT("read_await_ms", "r_await", "disk.read_await"),                    \
			SPARE_BYTES("read_size_kib", "rareq-sz", "disk.read_bytes / disk.reads", \
				    8, 1024),                                                    \
			EACH("writes", "w/s", "rate(disk.writes)", 7),                           \
			BYTES("write_" low, "w" B "/s", "rate(disk.write_bytes)", 9, unit_),     \
			SPARE("writes_merged", "wrqm/s", "rate(disk.writes_merged)", 8),         \
			MERGED("writes_merged_percent", "%wrqm", "disk.writes_merged",           \
			       "disk.writes"),                                                   \
			AWAIT("write_await_ms", "w_await", "disk.write_await"),                  \
			SPARE_BYTES("write_size_kib", "wareq-sz",                                \
				    "disk.write_bytes / disk.writes", 8, 1024),                  \
			SPARE("discards", "d/s", "rate(disk.discards)", 7),                      \
			SPARE_BYTES("discard_" low, "d" B "/s", "rate(disk.discard_bytes)", 9,   \
				    unit_),                                                      \
			SPARE("discards_merged", "drqm/s", "rate(disk.discards_merged)", 8),     \
			MERGED("discards_merged_percent", "%drqm", "disk.discards_merged",       \
			       "disk.discards"),                                                 \
			AWAIT("discard_await_ms", "d_await", "disk.discard_await",               \
			      .flags = COLUMN_SPARE),                                            \
			SPARE_BYTES("discard_size_kib", "dareq-sz",                              \
				    "disk.discard_bytes / disk.discards", 8, 1024),              \
			SPARE("flushes", "f/s", "rate(disk.flushes)", 7),                        \
			AWAIT("flush_await_ms", "f_await", "disk.flush_await",                   \
			      .flags = COLUMN_SPARE),                                            \
			EACH("queue", "aqu-sz", "disk.queue_time / 1000000000 / seconds", 7),    \
			MONITOR_COLUMN("busy_percent", "%util", "disk.busy_percent", 6, 2,       \
				       .warn = 70, .bad = 95),                                   \
	}

static const struct monitor_column extended_columns[] = EXTENDED_COLUMNS("kB", "kib", 1024);
static const struct monitor_column extended_mb_columns[] = EXTENDED_COLUMNS("MB", "mib", 1048576);

/* A device without any I/O since boot is of no interest. */
#define EVER  "total(disk.reads) + total(disk.writes)"
#define WHOLE "disk.whole * "
#define NOW   "(disk.reads + disk.writes + opt(disk.discards) + opt(disk.flushes))"

static const char *used(const struct iostat_args *a)
{
	if (a->active)
		return a->partitions ? NOW : WHOLE NOW;
	return a->partitions ? EVER : WHOLE "(" EVER ")";
}

static struct monitor_table disk_table(const struct iostat_args *a)
{
	struct monitor_table t = { .name = "disks", .each = "disk.reads", .used = used(a) };

	if (a->extended) {
		t.columns = a->megabytes ? extended_mb_columns : extended_columns;
		t.n_columns = ARRAY_SIZE(extended_columns);
	} else {
		t.columns = a->megabytes ? disk_mb_columns : disk_columns;
		t.n_columns = ARRAY_SIZE(disk_columns);
	}
	return t;
}

static int iostat_run(struct context *ctx, void *args)
{
	struct iostat_args *a = args;
	struct monitor_table tables[2];
	struct monitor m = { .tables = tables };
	int r = monitor_operands(ctx, &a->monitor);

	if (r)
		return r;
	if (!a->disk || a->cpu)
		tables[m.n_tables++] = (struct monitor_table){
			.name = "cpu",
			.title = "avg-cpu",
			.columns = cpu_columns,
			.n_columns = ARRAY_SIZE(cpu_columns),
		};
	if (!a->cpu || a->disk)
		tables[m.n_tables++] = disk_table(a);
	return monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example iostat_examples[] = {
	{ "fathom iostat", "means since boot" },
	{ "fathom iostat -xz 1", "busy disks each second, with times and queues" },
	{ "fathom iostat -x -d -m 5 12", "no CPU time, MiB, for a minute" },
	{ 0 },
};

const struct command cmd_iostat = {
	.name = "iostat",
	.summary = "requests, bytes, times and utilization of disks",
	.description =
		"Prints the reports of iostat(1): CPU time, then a line for each disk that was "
		"ever used. The first report is since boot, each further one of its interval.\n\n"
		"With -x, for reads (r), writes (w), discards (d) and flushes (f): requests and "
		"kB each second, requests merged with a neighbour, mean time of a request in ms "
		"from issue to end (await), mean size in kB (areq-sz); then the mean number of "
		"requests in flight (aqu-sz) and the share of time with any in flight (%util).",
	.question = Q_MACHINE,
	.options = iostat_options,
	.args_size = sizeof(struct iostat_args),
	MONITOR_OPERANDS,
	.examples = iostat_examples,
	.notes = "A device that serves requests in parallel, as SSDs and arrays do, may have room "
		 "left at 100 %util.",
	.see_also = "fathom-counters fathom-vmstat iostat(1)",
	.run = iostat_run,
};
