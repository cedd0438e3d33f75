/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct slabtop_args {
	struct monitor_args monitor;
	int sort;
	u64 limit;
};

#define AT(field) .offset = offsetof(struct slabtop_args, field)

static const char *const sort_names[] = { "objects", "active", "size_kib", "object_size", NULL };

static const struct opt slabtop_options[] = {
	{ 's', "sort", OPT_CHOICE, AT(sort), .arg = "KEY", .def = "objects", .choices = sort_names,
	  .help = "largest first by this column" },
	{ 'n', "number", OPT_U64, AT(limit), .arg = "N", .def = "25", .max = 100000,
	  .help = "at most this many rows" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static const struct monitor_column columns[] = {
	MONITOR_COLUMN("objects", "OBJS", "slab.objects", 7, 0),
	MONITOR_COLUMN("active", "ACTIVE", "slab.active", 7, 0),
	MONITOR_COLUMN("used_percent", "USE%", "slab.used_percent", 4, 0),
	MONITOR_COLUMN("object_size", "OBJ SIZE", "slab.object_size", 8, 2, .unit = 1024),
	MONITOR_COLUMN("slabs", "SLABS", "slab.slabs", 6, 0),
	MONITOR_COLUMN("objects_per_slab", "OBJ/SLAB", "slab.objects_per_slab", 8, 0),
	MONITOR_COLUMN("size_kib", "CACHE SIZE", "slab.size", 10, 0, .unit = 1024),
	MONITOR_COLUMN("name", "NAME", NULL, 20, 0, .flags = COLUMN_FILL),
};

static int slabtop_run(struct context *ctx, void *args)
{
	struct slabtop_args *a = args;
	const struct monitor_table table = {
		.name = "caches",
		.each = "slab.objects",
		.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.sort = sort_names[a->sort],
		.limit = (u32)a->limit,
	};
	const struct monitor m = { .tables = &table, .n_tables = 1, .flags = MONITOR_NOW };
	int r = monitor_operands(ctx, &a->monitor);

	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example slabtop_examples[] = {
	{ "fathom slabtop", "what the kernel keeps most of, now" },
	{ "fathom slabtop -s size_kib 5", "by memory, every five seconds" },
	{ 0 },
};

const struct command cmd_slabtop = {
	.name = "slabtop",
	.summary = "the kernel's caches of objects, largest first",
	.description = "Shows the columns of slabtop(1): objects, those in use, their size in KiB, "
		       "slabs, and the memory of each cache in KiB. Only root may read them.",
	.question = Q_MACHINE,
	.options = slabtop_options,
	.args_size = sizeof(struct slabtop_args),
	MONITOR_OPERANDS,
	.examples = slabtop_examples,
	.see_also = "fathom-counters slabtop(1)",
	.run = slabtop_run,
};
