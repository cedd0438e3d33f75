/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct irqtop_args {
	struct monitor_args monitor;
	bool soft;
	bool cpus;
	u64 limit;
};

#define AT(field) .offset = offsetof(struct irqtop_args, field)

static const struct opt irqtop_options[] = {
	{ 'S', "softirq", OPT_FLAG, AT(soft), .help = "soft interrupts" },
	{ 'c', "cpus", OPT_FLAG, AT(cpus), .help = "each CPU on its own" },
	{ 'n', "number", OPT_U64, AT(limit), .arg = "N", .def = "20", .max = 100000,
	  .help = "at most this many rows" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

#define COLUMNS(counter)                                                                \
	{                                                                               \
		MONITOR_COLUMN("rate", "DELTA/s", "rate(" counter ")", 10, 1),          \
			MONITOR_COLUMN("total", "TOTAL", "total(" counter ")", 12, 0),  \
			MONITOR_COLUMN("irq", "IRQ", NULL, 4, 0, .flags = COLUMN_FILL), \
	}

static const struct monitor_column irq_columns[] = COLUMNS("irq.total");
static const struct monitor_column irq_cpu_columns[] = COLUMNS("irq.count");
static const struct monitor_column soft_columns[] = COLUMNS("softirq.total");
static const struct monitor_column soft_cpu_columns[] = COLUMNS("softirq.count");

#define TABLE(each_, columns_)                                                                \
	{                                                                                     \
		.name = "interrupts", .each = each_, .columns = columns_,                     \
		.n_columns = ARRAY_SIZE(columns_), .used = "total(" each_ ")", .sort = "rate" \
	}

static const struct monitor_table tables[2][2] = {
	{ TABLE("irq.total", irq_columns), TABLE("irq.count", irq_cpu_columns) },
	{ TABLE("softirq.total", soft_columns), TABLE("softirq.count", soft_cpu_columns) },
};

static int irqtop_run(struct context *ctx, void *args)
{
	struct irqtop_args *a = args;
	struct monitor_table table = tables[a->soft][a->cpus];
	const struct monitor m = { .tables = &table, .n_tables = 1, .flags = MONITOR_RATES };
	int r = monitor_operands(ctx, &a->monitor);

	table.limit = (u32)a->limit;
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example irqtop_examples[] = {
	{ "fathom irqtop", "the busiest interrupts of the next second" },
	{ "fathom irqtop -c 1", "by CPU, each second" },
	{ "fathom irqtop -S 1", "soft interrupts" },
	{ 0 },
};

const struct command cmd_irqtop = {
	.name = "irqtop",
	.summary = "the busiest interrupts, by device and CPU",
	.description = "Counts interrupts of each line, or runs of each soft interrupt, and shows "
		       "the busiest first. With -c a row is a line on a CPU ('36 eth0-rx/1'): one "
		       "CPU that serves a busy device alone is a bottleneck.",
	.question = Q_MACHINE,
	.options = irqtop_options,
	.args_size = sizeof(struct irqtop_args),
	MONITOR_OPERANDS,
	.examples = irqtop_examples,
	.see_also = "fathom-mpstat fathom-counters irqtop(1)",
	.run = irqtop_run,
};
