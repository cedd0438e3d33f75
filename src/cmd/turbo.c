/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/stop.h"
#include "capture/clocks.h"
#include "cli/monitor.h"
#include "result/result.h"

struct turbo_args {
	struct monitor_args monitor;
	bool each;
};

#define AT(field) .offset = offsetof(struct turbo_args, field)

static const struct opt turbo_options[] = {
	{ .name = "cpus", .type = OPT_FLAG, AT(each), .help = "a row for each CPU" },
	{ .name = "duration",
	  .type = OPT_DURATION,
	  AT(monitor.duration),
	  .arg = "TIME",
	  .help = "stop after this time, like 10s; without INTERVAL each second" },
	OPT_END,
};

static const struct column columns[] = {
	{ "time_ns", "TIME", VALUE_TIME, 0 },
	{ "cpu", "CPU", VALUE_TEXT, 0 },
	{ "mperf_mcycles", "C0_MCYC", VALUE_NUMBER, 0 },
	{ "aperf_mcycles", "C0_ACYC", VALUE_NUMBER, 0 },
	{ "busy_percent", "UTIL", VALUE_PERCENT, 0 },
	{ "ratio_percent", "RATIO", VALUE_PERCENT, 0 },
	{ "mhz", "MHz", VALUE_NUMBER, 0 },
};

static const struct column_look looks[] = {
	{ .width = 8 },
	{ .width = 4 },
	{ .width = 12, .decimals = 1 },
	{ .width = 12, .decimals = 1 },
	{ .width = 7 },
	{ .width = 8 },
	{ .width = 6, .decimals = 1 },
};

struct turbo {
	struct context *ctx;
	const struct turbo_args *args;
	struct clocks *clocks;
	cpu_clocks_list before, after;
	u64 last;
	u64 shown;
};

static void add_row(struct result *r, struct table *t, const char *cpu,
		    const struct clock_rates *rates)
{
	struct row *row = table_row(r, t);

	row->cells[0] = value_u(VALUE_TIME, clock_wall_ns());
	row->cells[1] = value_text(r, cpu);
	row->cells[2] = value_d(VALUE_NUMBER, rates->mperf);
	row->cells[3] = value_d(VALUE_NUMBER, rates->aperf);
	row->cells[4] = value_d(VALUE_PERCENT, rates->busy_percent);
	/* a CPU that never ran has no speed */
	if (!(rates->mperf > 0))
		return;
	row->cells[5] = value_d(VALUE_PERCENT, 100 * rates->ratio);
	row->cells[6] = value_d(VALUE_NUMBER, rates->mhz);
}

static const struct cpu_clocks *find(const cpu_clocks_list *list, u32 cpu)
{
	vec_each(c, list)
		if (c->cpu == cpu)
			return c;
	return NULL;
}

static int show(struct turbo *t, u64 ns)
{
	_cleanup_result_ struct result r = { 0 };
	struct cpu_clocks from = { 0 }, to = { 0 };
	struct clock_rates all;
	struct table *table;
	u32 n = 0;

	result_init(&r, t->ctx->command->name);
	table = result_table(&r, "cpus", NULL, columns, ARRAY_SIZE(columns));
	table_looks(&r, table, looks);
	vec_each(now, &t->after) {
		const struct cpu_clocks *before = find(&t->before, now->cpu);
		struct clock_rates rates;
		char name[16];

		if (!before)
			continue;
		n++;
		from.tsc += before->tsc, to.tsc += now->tsc;
		from.mperf += before->mperf, to.mperf += now->mperf;
		from.aperf += before->aperf, to.aperf += now->aperf;
		rates = clocks_between(before, now, ns);
		snprintf(name, sizeof(name), "%u", now->cpu);
		if (t->args->each)
			add_row(&r, table, name, &rates);
	}
	all = clocks_between(&from, &to, ns * MAX(n, 1u));
	add_row(&r, table, "all", &all);
	if (!t->shown)
		result_title(&r, "%u CPUs of %.0f MHz (TSC); RATIO above 100%%: turbo", n,
			     all.base_mhz);
	result_fact(&r, "base_mhz", NULL, value_d(VALUE_NUMBER, all.base_mhz));
	t->ctx->headless = t->shown++ && !cli_is_machine(t->ctx);
	return cli_show(t->ctx, &r);
}

static int watch(struct turbo *t)
{
	struct err *e = &t->ctx->err;
	u64 interval = t->args->monitor.interval ? t->args->monitor.interval : NSEC_PER_SEC;
	u64 most = t->args->monitor.duration;
	u64 count = t->args->monitor.interval ? t->args->monitor.count : !most;
	u64 end = most ? clock_mono_ns() + most : UINT64_MAX;
	int r = clocks_read(t->clocks, &t->before, e);

	t->last = clock_mono_ns();
	t->ctx->stream = count != 1;
	while (r >= 0 && (!count || t->shown < count) && t->last < end &&
	       !stop_wait(MIN(interval, end - t->last))) {
		cpu_clocks_list old = { 0 };
		u64 now;

		r = clocks_read(t->clocks, &t->after, e);
		now = clock_mono_ns();
		if (r >= 0)
			r = show(t, now - t->last);
		t->last = now;
		memcpy(&old, &t->before, sizeof(old));
		memcpy(&t->before, &t->after, sizeof(old));
		memcpy(&t->after, &old, sizeof(old));
	}
	return r;
}

static int turbo_run(struct context *ctx, void *args)
{
	struct turbo_args *a = args;
	struct turbo t = { .ctx = ctx, .args = a };
	int r = monitor_operands(ctx, &a->monitor);

	if (r)
		return r;
	r = clocks_new(&t.clocks, &ctx->err);
	if (r == -EOPNOTSUPP)
		return EXIT_MISSING;
	if (!r)
		r = watch(&t);
	clocks_free(t.clocks);
	vec_release(&t.before);
	vec_release(&t.after);
	return r;
}

static const struct example turbo_examples[] = {
	{ "fathom turbo", "how fast the CPUs run, in the next second" },
	{ "fathom turbo --cpus 5", "each CPU, every five seconds" },
	{ 0 },
};

const struct command cmd_turbo = {
	.name = "turbo",
	.summary = "how fast CPUs run: MHz, turbo ratio, utilisation",
	.description =
		"Reads three clocks of each x86 CPU. TSC counts always and at the same rate; MPERF "
		"(C0_MCYC, in cycles) at that rate while the CPU is not halted; APERF (C0_ACYC) "
		"at the rate at which it really runs. UTIL is MPERF by TSC, RATIO is APERF by "
		"MPERF: above 100% is turbo, below is throttling or a low frequency; MHz is the "
		"speed while it ran.\n\n"
		"They are read by the kernel's msr PMU, or from /dev/cpu/*/msr. Guests seldom see "
		"them: then one line says so, and the exit status is 3.",
	.question = Q_MACHINE,
	.options = turbo_options,
	.args_size = sizeof(struct turbo_args),
	.instead_of = "turbostat showboost",
	MONITOR_OPERANDS,
	.examples = turbo_examples,
	.see_also = "fathom-mpstat fathom-stat turbostat(8)",
	.run = turbo_run,
};
