/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct vmstat_args {
	struct monitor_args monitor;
	bool active;
};

#define AT(field) .offset = offsetof(struct vmstat_args, field)

static const struct opt vmstat_options[] = {
	{ 'a', "active", OPT_FLAG, AT(active),
	  .help = "active and inactive memory, not buffers and cache" },
	{ 't', "time", OPT_FLAG, .offset = offsetof(struct vmstat_args, monitor.timestamp),
	  .help = "begin each line with the time" },
	{ 'y', "no-first", OPT_FLAG, .offset = offsetof(struct vmstat_args, monitor.skip_first),
	  .help = "leave out the first line, which is since boot" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

#define KB(key, title, formula, ...) \
	MONITOR_COLUMN(key, title, formula, 6, 0, .group = "memory", .unit = 1024, __VA_ARGS__)
#define IO(key, title, formula, ...) MONITOR_COLUMN(key, title, formula, 4, 0, __VA_ARGS__)
#define CPU(key, title, formula, ...) \
	MONITOR_COLUMN(key, title, formula, 2, 0, .group = "cpu", __VA_ARGS__)

#define PROCS                                                                            \
	MONITOR_COLUMN("running", "r", "system.running", 2, 0, .group = "procs"),        \
		MONITOR_COLUMN("blocked", "b", "system.blocked", 2, 0, .group = "procs", \
			       .warn = 1, .bad = 8)

#define SWAP  .group = "swap", .unit = 1024, .warn = 1, .bad = 1024
#define BLOCK .group = "io", .unit = 1024
#define REST                                                                                      \
	IO("swap_in_kib", "si", "rate(vm.pswpin)", SWAP),                                         \
		IO("swap_out_kib", "so", "rate(vm.pswpout)", SWAP),                               \
		IO("block_in_kib", "bi", "rate(vm.pgpgin)", BLOCK),                               \
		IO("block_out_kib", "bo", "rate(vm.pgpgout)", BLOCK),                             \
		IO("interrupts", "in", "rate(system.interrupts)", .group = "system"),             \
		IO("switches", "cs", "rate(system.switches)", .group = "system"),                 \
		CPU("user_percent", "us",                                                         \
		    "100 * (cpu.user{all} + cpu.nice{all}) / cpu.total{all}"),                    \
		CPU("system_percent", "sy",                                                       \
		    "100 * (cpu.system{all} + cpu.irq{all} + cpu.softirq{all}) / cpu.total{all}", \
		    .warn = 30, .bad = 60),                                                       \
		CPU("idle_percent", "id", "cpu.idle_percent{all}", .warn = 10, .bad = 3),         \
		CPU("iowait_percent", "wa", "cpu.iowait_percent{all}", .warn = 10, .bad = 30),    \
		CPU("steal_percent", "st", "cpu.steal_percent{all}", .warn = 5, .bad = 20,        \
		    .flags = COLUMN_SPARE)

static const struct monitor_column columns[] = {
	PROCS,
	KB("swapped_kib", "swpd", "mem.swap_used", .flags = COLUMN_SPARE),
	KB("free_kib", "free", "mem.free"),
	KB("buffers_kib", "buff", "mem.buffers"),
	KB("cache_kib", "cache", "mem.cache"),
	REST,
};

static const struct monitor_column active_columns[] = {
	PROCS,
	KB("swapped_kib", "swpd", "mem.swap_used", .flags = COLUMN_SPARE),
	KB("free_kib", "free", "mem.free"),
	KB("inactive_kib", "inact", "mem.inactive"),
	KB("active_kib", "active", "mem.active"),
	REST,
};

static const struct monitor_table tables[] = {
	{ .name = "vmstat", .columns = columns, .n_columns = ARRAY_SIZE(columns) },
	{ .name = "vmstat", .columns = active_columns, .n_columns = ARRAY_SIZE(active_columns) },
};

static int vmstat_run(struct context *ctx, void *args)
{
	struct vmstat_args *a = args;
	const struct monitor m = {
		.tables = &tables[a->active],
		.n_tables = 1,
		.flags = MONITOR_LINES,
	};
	int r = monitor_operands(ctx, &a->monitor);

	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example vmstat_examples[] = {
	{ "fathom vmstat", "means since boot" },
	{ "fathom vmstat 1", "a line each second, until Ctrl-C" },
	{ "fathom vmstat -a 5 12", "active memory, for a minute" },
	{ "fathom vmstat --json 1 10", "for programs: an object each second" },
	{ 0 },
};

const struct command cmd_vmstat = {
	.name = "vmstat",
	.summary = "tasks, memory, swap, disk, interrupts and CPU, a line each second",
	.description =
		"Prints the columns of vmstat(8). The first line is the mean since boot, each "
		"further one of its interval.\n\n"
		"r: tasks that run or wait for a CPU; b: tasks that wait for a disk. swpd, free, "
		"buff, cache: memory in KiB. si, so: swapped in and out, KiB each second; bi, bo: "
		"read from and written to disks, KiB each second. in, cs: interrupts and context "
		"switches each second. us, sy, id, wa, st: percent of CPU time in user mode, in "
		"the kernel, idle, idle while a disk was waited for, and taken by the hypervisor.",
	.question = Q_MACHINE,
	.options = vmstat_options,
	.args_size = sizeof(struct vmstat_args),
	MONITOR_OPERANDS,
	.examples = vmstat_examples,
	.see_also = "fathom-counters vmstat(8)",
	.run = vmstat_run,
};
