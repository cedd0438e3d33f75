/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fmt.h"
#include "cli/monitor.h"

struct uptime_args {
	struct monitor_args monitor;
};

static const struct opt uptime_options[] = {
	{ .type = OPT_INCLUDE,
	  .include = monitor_options,
	  .offset = offsetof(struct uptime_args, monitor) },
	OPT_END,
};

static const char *const wants[] = { "load.1", "system.uptime", "pressure.cpu.some.avg10",
				     "cpu.user{all}", NULL };

static bool value_of(const struct delta *d, const char *name, double *ret)
{
	u32 counter = counter_set_find(d->set, name);

	return counter != SET_NONE && formula_counter(d, counter, 0, ret);
}

static size_t count_cpus(const struct delta *d)
{
	u32 counter = counter_set_find(d->set, "cpu.user");
	size_t n = 0;

	for (u32 s = d->set->counters.items[counter].first; s != SET_NONE;
	     s = d->set->series.items[s].next)
		n += snapshot_has(d->after, s);
	return n ? n - 1 : 0; /* "all" is one of them */
}

static const struct column columns[] = {
	{ "what", "", VALUE_TEXT, 0 },
	{ "short", "1 min", VALUE_NUMBER, 0 },
	{ "middle", "5 min", VALUE_NUMBER, 0 },
	{ "long", "15 min", VALUE_NUMBER, 0 },
	{ "meaning", "", VALUE_TEXT, COLUMN_FILL },
};
static const struct column pressure_columns[] = {
	{ "what", "", VALUE_TEXT, 0 },
	{ "short", "10 s", VALUE_PERCENT, 0 },
	{ "middle", "60 s", VALUE_PERCENT, 0 },
	{ "long", "300 s", VALUE_PERCENT, 0 },
	{ "meaning", "", VALUE_TEXT, COLUMN_FILL },
};

static const struct {
	const char *what;
	const char *names[3];
	const char *meaning;
} loads[] = {
	{ "load", { "load.1", "load.5", "load.15" }, "tasks that run, wait for a CPU, or are blocked" },
}, pressures[] = {
	{ "CPU", { "pressure.cpu.some.avg10", "pressure.cpu.some.avg60", "pressure.cpu.some.avg300" },
	  "some task waits for a CPU" },
	{ "I/O", { "pressure.io.some.avg10", "pressure.io.some.avg60", "pressure.io.some.avg300" },
	  "some task waits for I/O" },
	{ "I/O, all", { "pressure.io.full.avg10", "pressure.io.full.avg60", "pressure.io.full.avg300" },
	  "all tasks with work wait for I/O" },
	{ "memory", { "pressure.memory.some.avg10", "pressure.memory.some.avg60",
		      "pressure.memory.some.avg300" },
	  "some task waits for memory" },
};

static void add_rows(struct result *r, const struct delta *d)
{
	struct table *load = result_table(r, "load", NULL, columns, ARRAY_SIZE(columns));
	struct table *pressure = result_table(r, "pressure", "Pressure: share of time in which",
					      pressure_columns, ARRAY_SIZE(pressure_columns));
	size_t cpus = count_cpus(d);
	double value;

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		struct row *row = table_row(r, load);

		row->cells[0] = value_text(r, loads[i].what);
		row->cells[4] = value_text(r, loads[i].meaning);
		for (int k = 0; k < 3; k++)
			if (value_of(d, loads[i].names[k], &value)) {
				row->cells[k + 1] = value_d(VALUE_NUMBER, value);
				row->cells[k + 1].style =
					cpus && value > 2.0 * (double)cpus ? STYLE_BAD
					: cpus && value > (double)cpus     ? STYLE_WARN
									   : STYLE_NONE;
			}
	}
	for (size_t i = 0; i < ARRAY_SIZE(pressures); i++) {
		struct row *row = table_row(r, pressure);

		row->cells[0] = value_text(r, pressures[i].what);
		row->cells[4] = value_text(r, pressures[i].meaning);
		for (int k = 0; k < 3; k++)
			if (value_of(d, pressures[i].names[k], &value)) {
				row->cells[k + 1] = value_d(VALUE_PERCENT, value);
				row->cells[k + 1].style = value > 50   ? STYLE_BAD
							  : value > 10 ? STYLE_WARN
								       : STYLE_NONE;
			}
	}
}

static void add_uptime(struct result *r, const struct delta *d, const void *args UNUSED)
{
	double up = 0;

	if (value_of(d, "system.uptime", &up))
		result_fact(r, "uptime_ns", "up", value_u(VALUE_DURATION, (u64)(up * 1e9)));
	result_fact(r, "cpus", "CPUs", value_u(VALUE_COUNT, count_cpus(d)));
	add_rows(r, d);
}

static int uptime_run(struct context *ctx, void *args)
{
	struct uptime_args *a = args;
	const struct monitor m = { .flags = MONITOR_NOW, .extra = add_uptime, .wants = wants };
	int r = monitor_operands(ctx, &a->monitor);

	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example uptime_examples[] = {
	{ "fathom uptime", "how long it runs, load, and pressure" },
	{ "fathom uptime 5", "every five seconds" },
	{ 0 },
};

const struct command cmd_uptime = {
	.name = "uptime",
	.summary = "how long the machine runs, its load and its pressure",
	.description =
		"Load is the number of tasks that ran, waited for a CPU or were blocked, damped; "
		"it does not say which. Pressure does: the share of time in which tasks could not "
		"continue for lack of a CPU, of I/O, or of memory.",
	.question = Q_MACHINE,
	.options = uptime_options,
	.args_size = sizeof(struct uptime_args),
	.instead_of = "loads w",
	MONITOR_OPERANDS,
	.examples = uptime_examples,
	.see_also = "fathom-use fathom-vmstat uptime(1)",
	.run = uptime_run,
};
