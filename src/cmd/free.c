/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct free_args {
	struct monitor_args monitor;
	bool bytes, kibi, mebi, gibi, human;
	bool wide, total;
	u64 seconds;
	u64 count;
};

#define AT(field) .offset = offsetof(struct free_args, field)

static const struct opt free_options[] = {
	{ 'b', "bytes", OPT_FLAG, AT(bytes), .help = "in bytes" },
	{ 'k', "kibi", OPT_FLAG, AT(kibi), .help = "in KiB: the default" },
	{ 'm', "mebi", OPT_FLAG, AT(mebi), .help = "in MiB" },
	{ 'g', "gibi", OPT_FLAG, AT(gibi), .help = "in GiB" },
	{ .name = "human",
	  .type = OPT_FLAG,
	  AT(human),
	  .help = "each in the unit that fits (free -h)" },
	{ .name = "columns", .type = OPT_FLAG, AT(wide), .help = "buffers and cache apart" },
	{ 't', "total", OPT_FLAG, AT(total), .help = "a row for memory and swap together" },
	{ 's', "seconds", OPT_DURATION, AT(seconds), .arg = "TIME",
	  .help = "repeat at this "
		  "interval" },
	{ 'c', "count", OPT_U64, AT(count), .arg = "N", .help = "this many times, with -s" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

enum {
	C_NAME,
	C_TOTAL,
	C_USED,
	C_FREE,
	C_SHARED,
	C_BUFFERS,
	C_CACHE,
	C_BOTH,
	C_AVAILABLE,
	COLUMNS
};

static const char *const wants[] = { "mem.total", NULL };

static double value_of(const struct delta *d, const char *name)
{
	u32 counter = counter_set_find(d->set, name);
	double v;

	return counter != SET_NONE && formula_counter(d, counter, 0, &v) ? v : -1;
}

static struct value in_unit(const struct free_args *a, double bytes)
{
	double unit = a->bytes ? 1 : a->mebi ? 1 << 20 : a->gibi ? 1 << 30 : 1024;

	if (bytes < 0)
		return (struct value){ 0 };
	if (a->human)
		return value_u(VALUE_BYTES, (u64)bytes);
	return value_d(VALUE_NUMBER, (double)(u64)(bytes / unit));
}

static void add_row(struct result *r, struct table *t, const struct free_args *a, const char *name,
		    const double *values)
{
	struct row *row = table_row(r, t);

	row->cells[C_NAME] = value_text(r, name);
	for (int i = C_TOTAL; i < COLUMNS; i++)
		row->cells[i] = in_unit(a, values[i]);
}

static void add_table(struct result *r, const struct delta *d, const void *args)
{
	const struct free_args *a = args;
	u32 apart = a->wide ? 0 : COLUMN_HIDDEN, both = a->wide ? COLUMN_HIDDEN : 0;
	enum value_type type = a->human ? VALUE_BYTES : VALUE_NUMBER;
	const struct column columns[COLUMNS] = {
		{ "name", "", VALUE_TEXT, 0 },         { "total", "total", type, 0 },
		{ "used", "used", type, 0 },           { "free", "free", type, 0 },
		{ "shared", "shared", type, 0 },       { "buffers", "buffers", type, apart },
		{ "cache", "cache", type, apart },     { "buff_cache", "buff/cache", type, both },
		{ "available", "available", type, 0 },
	};
	struct column_look looks[COLUMNS] = { { .width = 6 } };
	const double memory[COLUMNS] = {
		[C_TOTAL] = value_of(d, "mem.total"),
		[C_USED] = value_of(d, "mem.used"),
		[C_FREE] = value_of(d, "mem.free"),
		[C_SHARED] = value_of(d, "mem.shmem"),
		[C_BUFFERS] = value_of(d, "mem.buffers"),
		[C_CACHE] = value_of(d, "mem.cache"),
		[C_BOTH] = value_of(d, "mem.buffers") + value_of(d, "mem.cache"),
		[C_AVAILABLE] = value_of(d, "mem.available"),
	};
	const double swap[COLUMNS] = {
		[C_TOTAL] = value_of(d, "mem.swap_total"),
		[C_USED] = value_of(d, "mem.swap_used"),
		[C_FREE] = value_of(d, "mem.swap_free"),
		[C_SHARED] = -1,
		[C_BUFFERS] = -1,
		[C_CACHE] = -1,
		[C_BOTH] = -1,
		[C_AVAILABLE] = -1,
	};
	double sum[COLUMNS];
	struct table *t = result_table(r, "memory", NULL, columns, COLUMNS);

	for (int i = C_TOTAL; i < COLUMNS; i++) {
		looks[i] = (struct column_look){ .width = 11, .decimals = 1 };
		sum[i] = i <= C_FREE ? memory[i] + swap[i] : -1;
	}
	table_looks(r, t, looks);
	add_row(r, t, a, "Mem:", memory);
	add_row(r, t, a, "Swap:", swap);
	if (a->total)
		add_row(r, t, a, "Total:", sum);
}

static int free_run(struct context *ctx, void *args)
{
	struct free_args *a = args;
	const struct monitor m = { .flags = MONITOR_NOW, .extra = add_table, .wants = wants };
	int r = monitor_operands(ctx, &a->monitor);

	if (a->seconds)
		a->monitor.interval = a->seconds;
	if (a->count)
		a->monitor.count = a->count;
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example free_examples[] = {
	{ "fathom free", "memory and swap, in KiB" },
	{ "fathom free --human", "in units that fit" },
	{ "fathom free -m -s 1", "in MiB, each second" },
	{ 0 },
};

const struct command cmd_free = {
	.name = "free",
	.summary = "memory: used, free, cached, available",
	.description =
		"Prints the columns of free(1). 'available' is what programs could get without "
		"swapping, 'used' the rest; 'buff/cache' holds contents of files and kernel "
		"objects that can go, and does not indicate a shortage.",
	.question = Q_MACHINE,
	.options = free_options,
	.args_size = sizeof(struct free_args),
	MONITOR_OPERANDS,
	.examples = free_examples,
	.see_also = "fathom-vmstat fathom-slabtop free(1)",
	.run = free_run,
};
