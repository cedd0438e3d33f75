/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct mpstat_args {
	struct monitor_args monitor;
	const char *cpus;
	range_list list;
	bool all;
};

#define AT(field) .offset = offsetof(struct mpstat_args, field)

static const struct opt mpstat_options[] = {
	{ 'P', "processor", OPT_STRING, AT(cpus), .arg = "CPUS",
	  .help = "these CPUs: 0,2-3, or ALL for each and their mean" },
	{ 'A', "all", OPT_FLAG, AT(all), .help = "the same as -P ALL" },
	{ 'u', "utilization", OPT_FLAG, AT(all), .flags = OPT_HIDDEN,
	  .help = "what is shown anyway" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

#define PERCENT(key, title, formula, ...) MONITOR_COLUMN(key, title, formula, 7, 2, __VA_ARGS__)

static const struct monitor_column columns[] = {
	MONITOR_COLUMN("cpu", "CPU", NULL, 4, 0),
	PERCENT("user_percent", "%usr", "cpu.user_percent"),
	PERCENT("nice_percent", "%nice", "cpu.nice_percent"),
	PERCENT("system_percent", "%sys", "cpu.system_percent", .warn = 30, .bad = 60),
	PERCENT("iowait_percent", "%iowait", "cpu.iowait_percent", .warn = 10, .bad = 30),
	PERCENT("irq_percent", "%irq", "cpu.irq_percent", .warn = 10, .bad = 30),
	PERCENT("softirq_percent", "%soft", "cpu.softirq_percent", .warn = 10, .bad = 30),
	PERCENT("steal_percent", "%steal", "cpu.steal_percent", .warn = 5, .bad = 20),
	PERCENT("guest_percent", "%guest", "cpu.guest_percent", .flags = COLUMN_SPARE),
	PERCENT("guest_nice_percent", "%gnice", "cpu.guest_nice_percent", .flags = COLUMN_SPARE),
	PERCENT("idle_percent", "%idle", "cpu.idle_percent", .warn = 10, .bad = 3),
};

static bool shows(const void *args, const char *instance)
{
	const struct mpstat_args *a = args;
	u64 cpu;

	if (a->all)
		return true;
	if (!a->cpus)
		return streq(instance, "all");
	return parse_u64(instance, &cpu, NULL) == 0 && ranges_contain(&a->list, cpu);
}

static const struct monitor_table table = {
	.name = "cpus",
	.each = "cpu.user",
	.columns = columns,
	.n_columns = ARRAY_SIZE(columns),
	.shows = shows,
};

static int take_cpus(struct context *ctx, struct mpstat_args *a)
{
	if (a->cpus && (strcasecmp(a->cpus, "ALL") == 0 || strcasecmp(a->cpus, "ON") == 0))
		a->all = true;
	else if (a->cpus && parse_ranges(a->cpus, 1 << 16, &a->list, &ctx->err) < 0)
		return EXIT_USAGE;
	return 0;
}

static int mpstat_run(struct context *ctx, void *args)
{
	struct mpstat_args *a = args;
	const struct monitor m = {
		.tables = &table,
		.n_tables = 1,
		.flags = MONITOR_TIMES | MONITOR_AVERAGE,
	};
	int r = take_cpus(ctx, a);

	if (!r)
		r = monitor_operands(ctx, &a->monitor);
	/* as the tool that people know: means since boot only where no interval is given */
	a->monitor.skip_first |= a->monitor.interval != 0;
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static void mpstat_release(void *args)
{
	vec_release(&((struct mpstat_args *)args)->list);
}

static const struct example mpstat_examples[] = {
	{ "fathom mpstat", "means since boot, of all CPUs together" },
	{ "fathom mpstat -P ALL 1", "each CPU, each second" },
	{ "fathom mpstat -P 0,2-3 5 12", "some CPUs, for a minute" },
	{ 0 },
};

const struct command cmd_mpstat = {
	.name = "mpstat",
	.summary = "where the time of each CPU goes",
	.description =
		"Prints the columns of mpstat(1): percent of the time of each CPU in user mode, "
		"in the kernel, idle while a task waited for a disk, in interrupts, taken by the "
		"hypervisor, in guests, and idle. It ends with the mean of all intervals.\n\n"
		"One CPU that is busy while others idle points to a program with one busy thread "
		"(%usr), or to interrupts that all go to one CPU (%irq, %soft: fathom irqtop).",
	.question = Q_MACHINE,
	.options = mpstat_options,
	.args_size = sizeof(struct mpstat_args),
	MONITOR_OPERANDS,
	.examples = mpstat_examples,
	.see_also = "fathom-vmstat fathom-counters mpstat(1)",
	.run = mpstat_run,
	.release = mpstat_release,
};
