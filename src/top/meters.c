/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/meters.h"

#include <math.h>

#include "base/fmt.h"

/* --- meters ----------------------------------------------------------------------------------- */

enum meter_text { TEXT_PERCENT, TEXT_OF, TEXT_RATES };

struct meter_def {
	const char *group;
	const char *label;   /* NULL: the instance */
	const char *each;    /* counter whose instances have a line each; NULL: one line */
	const char *only;    /* formula: instances where it is 0 are left out; NULL: none */
	const char *counter; /* for help */
	enum meter_text text;
	const char *whole; /* formula: what the parts are shares of */
	struct {
		const char *formula;
		enum role role;
	} parts[METER_PARTS];
};

static const struct meter_def meters[] = {
	{ .group = "cpu",
	  .each = "cpu.total",
	  .counter = "cpu.busy_percent",
	  .text = TEXT_PERCENT,
	  .whole = "cpu.total",
	  .parts = { { "cpu.user", ROLE_USER },
		     { "cpu.nice", ROLE_NICE },
		     { "cpu.system", ROLE_SYSTEM },
		     { "cpu.irq + cpu.softirq", ROLE_IRQ },
		     { "cpu.steal", ROLE_STEAL } } },
	{ .group = "memory",
	  .label = "Mem",
	  .counter = "mem.used",
	  .text = TEXT_OF,
	  .whole = "mem.total",
	  .parts = { { "mem.used", ROLE_USED },
		     { "opt(mem.buffers)", ROLE_SHARED },
		     { "mem.cache", ROLE_CACHE } } },
	{ .group = "memory",
	  .label = "Swp",
	  .counter = "mem.swap_used",
	  .text = TEXT_OF,
	  .only = "mem.swap_total",
	  .whole = "mem.swap_total",
	  .parts = { { "mem.swap_used", ROLE_BAD } } },
	{ .group = "pressure",
	  .label = "PSI cpu",
	  .counter = "pressure.cpu.some.total",
	  .text = TEXT_PERCENT,
	  .whole = "seconds * 1000000000",
	  .parts = { { "pressure.cpu.some.total", ROLE_RUNNABLE } } },
	{ .group = "pressure",
	  .label = "PSI io",
	  .counter = "pressure.io.some.total",
	  .text = TEXT_PERCENT,
	  .whole = "seconds * 1000000000",
	  .parts = { { "pressure.io.full.total", ROLE_BAD },
		     { "pressure.io.some.total - pressure.io.full.total", ROLE_DISK } } },
	{ .group = "pressure",
	  .label = "PSI mem",
	  .counter = "pressure.memory.some.total",
	  .text = TEXT_PERCENT,
	  .whole = "seconds * 1000000000",
	  .parts = { { "pressure.memory.full.total", ROLE_BAD },
		     { "pressure.memory.some.total - pressure.memory.full.total", ROLE_WARN } } },
	{ .group = "disk",
	  .each = "disk.reads",
	  .only = "disk.whole * (total(disk.reads) + total(disk.writes))",
	  .counter = "disk.busy_percent",
	  .text = TEXT_RATES,
	  .whole = "100",
	  .parts = { { "disk.busy_percent", ROLE_DISK },
		     { "rate(disk.read_bytes)", ROLE_READ },
		     { "rate(disk.write_bytes)", ROLE_WRITE } } },
	{ .group = "network",
	  .each = "net.rx_bytes",
	  .only = "total(net.rx_packets) + total(net.tx_packets)",
	  .counter = "net.rx_bytes",
	  .text = TEXT_RATES,
	  .whole = "1",
	  .parts = { { "0", ROLE_NET },
		     { "rate(net.rx_bytes)", ROLE_READ },
		     { "rate(net.tx_bytes)", ROLE_WRITE } } },
	{ .group = "kernel",
	  .label = "intr/s",
	  .counter = "system.interrupts",
	  .text = TEXT_RATES,
	  .whole = "1",
	  .parts = { { "0", ROLE_IRQ }, { "rate(system.interrupts)", ROLE_IRQ } } },
	{ .group = "kernel",
	  .label = "ctxt/s",
	  .counter = "system.switches",
	  .text = TEXT_RATES,
	  .whole = "1",
	  .parts = { { "0", ROLE_IRQ }, { "rate(system.switches)", ROLE_IRQ } } },
};

/* --- tables ----------------------------------------------------------------------------------- */

#define COLUMN MONITOR_COLUMN

static const struct monitor_column disk_columns[] = {
	COLUMN("disk", "DISK", NULL, 10, 0),
	COLUMN("reads", "READ/s", "rate(disk.reads)", 9, 1),
	COLUMN("writes", "WRITE/s", "rate(disk.writes)", 9, 1),
	COLUMN("read_bytes", "MB_rd/s", "rate(disk.read_bytes)", 9, 2, .unit = 1048576),
	COLUMN("write_bytes", "MB_wr/s", "rate(disk.write_bytes)", 9, 2, .unit = 1048576),
	COLUMN("read_await", "r_await ms", "disk.read_await", 10, 2, .unit = 1e6, .warn = 20),
	COLUMN("write_await", "w_await ms", "disk.write_await", 10, 2, .unit = 1e6, .warn = 20),
	COLUMN("queue", "QUEUE", "disk.queue_time / 1000000000 / seconds", 7, 2),
	COLUMN("busy_percent", "BUSY%", "disk.busy_percent", 6, 1, .warn = 70, .bad = 95),
};

static const struct monitor_column network_columns[] = {
	COLUMN("interface", "INTERFACE", NULL, 12, 0),
	COLUMN("rx_bytes", "KB/s in", "rate(net.rx_bytes)", 11, 2, .unit = 1024),
	COLUMN("tx_bytes", "KB/s out", "rate(net.tx_bytes)", 11, 2, .unit = 1024),
	COLUMN("rx_packets", "pkt/s in", "rate(net.rx_packets)", 10, 1),
	COLUMN("tx_packets", "pkt/s out", "rate(net.tx_packets)", 10, 1),
	COLUMN("errors", "errs/s", "rate(net.rx_errors + net.tx_errors)", 8, 1, .warn = 0.01),
	COLUMN("dropped", "drop/s", "rate(net.rx_dropped + net.tx_dropped)", 8, 1, .warn = 0.01),
};

static const struct monitor_column cgroup_columns[] = {
	COLUMN("cpu_percent", "CPU%", "100 * rate(cgroup.cpu) / 1000000000", 6, 1, .warn = 80),
	COLUMN("cpu_max_percent", "MAX%", "100 * cgroup.cpu_quota / cgroup.cpu_period", 5, 0),
	COLUMN("throttled_percent", "THR%", "100 * opt(cgroup.throttled) / opt(cgroup.periods)", 5,
	       1, .warn = 1, .bad = 20, .flags = COLUMN_SPARE),
	COLUMN("throttled_ms", "THRms/s", "rate(cgroup.throttled_time) / 1000000", 7, 1, .warn = 1,
	       .bad = 100),
	COLUMN("memory", "MEM MB", "cgroup.memory", 8, 1, .unit = 1048576),
	COLUMN("memory_max", "MAX MB", "cgroup.memory_max", 8, 0, .unit = 1048576,
	       .flags = COLUMN_SPARE),
	COLUMN("memory_percent", "of max%", "100 * cgroup.memory / cgroup.memory_max", 7, 1,
	       .warn = 80, .bad = 95),
	COLUMN("pressure_cpu", "PSIcpu", "100 * rate(cgroup.pressure_cpu) / 1000000000", 6, 1,
	       .warn = 20, .bad = 60),
	COLUMN("pressure_io", "PSIio", "100 * rate(cgroup.pressure_io) / 1000000000", 5, 1,
	       .warn = 10, .bad = 40),
	COLUMN("pressure_memory", "PSImem", "100 * rate(cgroup.pressure_memory) / 1000000000", 6, 1,
	       .warn = 1, .bad = 10),
	COLUMN("tasks", "TASKS", "cgroup.tasks", 5, 0, .flags = COLUMN_SPARE),
	COLUMN("cgroup", "CGROUP", NULL, 0, 0),
};

static const struct monitor_column irq_columns[] = {
	COLUMN("rate", "IRQ/s", "rate(irq.total)", 10, 1),
	COLUMN("interrupt", "INTERRUPT", NULL, 0, 0),
};

static const struct monitor_table sheets[] = {
	{ .name = "disks",
	  .each = "disk.reads",
	  .used = "disk.whole * (total(disk.reads) + total(disk.writes))",
	  .columns = disk_columns,
	  .n_columns = ARRAY_SIZE(disk_columns) },
	{ .name = "network",
	  .each = "net.rx_bytes",
	  .columns = network_columns,
	  .n_columns = ARRAY_SIZE(network_columns) },
	{ .name = "cgroups",
	  .each = "cgroup.cpu",
	  .columns = cgroup_columns,
	  .n_columns = ARRAY_SIZE(cgroup_columns),
	  .sort = "cpu_percent" },
	{ .name = "interrupts",
	  .each = "irq.total",
	  .used = "irq.total",
	  .columns = irq_columns,
	  .n_columns = ARRAY_SIZE(irq_columns),
	  .sort = "rate" },
};

const struct monitor_table *top_sheet_defs(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(sheets);
	return sheets;
}

const char *top_meter_counter(size_t i)
{
	return i < ARRAY_SIZE(meters) ? meters[i].counter : NULL;
}

/* --- formulas --------------------------------------------------------------------------------- */

struct maybe_formula {
	bool known;
	struct formula f;
};

struct meter_formulas {
	struct maybe_formula only, whole, parts[METER_PARTS];
};

struct sheet_formulas {
	struct maybe_formula used;
	struct maybe_formula columns[SHEET_COLUMNS];
};

struct top_formulas {
	struct counter_set *set;
	struct meter_formulas meters[ARRAY_SIZE(meters)];
	struct sheet_formulas sheets[ARRAY_SIZE(sheets)];
	struct maybe_formula own[FRAME_OWN];
	size_t n_own;
};

static void prepare(struct maybe_formula *m, struct counter_set *set, const char *text)
{
	_cleanup_err_ struct err e = ERR_INIT;

	m->known = text && !formula_parse(&m->f, set, text, &e);
}

struct top_formulas *top_formulas_new(struct counter_set *set)
{
	struct top_formulas *t = xcalloc(1, sizeof(*t));

	t->set = set;
	for (size_t i = 0; i < ARRAY_SIZE(meters); i++) {
		prepare(&t->meters[i].only, set, meters[i].only);
		prepare(&t->meters[i].whole, set, meters[i].whole);
		for (size_t k = 0; k < METER_PARTS; k++)
			prepare(&t->meters[i].parts[k], set, meters[i].parts[k].formula);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sheets); i++) {
		prepare(&t->sheets[i].used, set, sheets[i].used);
		for (size_t k = 0; k < sheets[i].n_columns; k++)
			prepare(&t->sheets[i].columns[k], set, sheets[i].columns[k].formula);
	}
	return t;
}

void top_formulas_add(struct top_formulas *t, const char *formula)
{
	if (t->n_own < FRAME_OWN)
		prepare(&t->own[t->n_own++], t->set, formula);
}

void top_formulas_free(struct top_formulas *t)
{
	free(t);
}

/* A counter that this build does not have is not an error: its meter stays away. */
static void want(struct counters *c, const char *formula)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (formula)
		(void)counters_want(c, formula, &e);
}

int top_formulas_want(struct counters *c, struct err *e)
{
	static const char *const others[] = { "load.1", "load.5", "load.15", "system.uptime",
					      "system.running" };

	for (size_t i = 0; i < ARRAY_SIZE(meters); i++) {
		want(c, meters[i].only);
		want(c, meters[i].whole);
		for (size_t k = 0; k < METER_PARTS; k++)
			want(c, meters[i].parts[k].formula);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sheets); i++) {
		want(c, sheets[i].used);
		for (size_t k = 0; k < sheets[i].n_columns; k++)
			want(c, sheets[i].columns[k].formula);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		want(c, others[i]);
	return counters_want(c, "cpu.total", e);
}

static bool eval(const struct maybe_formula *m, const struct delta *d, u32 instance, double *ret)
{
	return m->known && formula_eval(&m->f, d, instance, ret) && isfinite(*ret);
}

double top_value(const struct delta *d, const char *name, const char *instance)
{
	u32 counter = counter_set_find(d->set, name);
	u32 which = instance ? intern_find(&d->set->instances, instance, strlen(instance)) : 0;
	double value;

	return counter != SET_NONE && formula_counter(d, counter, which, &value) ? value : 0;
}

/* --- filling ---------------------------------------------------------------------------------- */

static void add_rate(struct buf *out, double rate)
{
	fmt_size(out, rate > 0 ? (u64)rate : 0);
}

static void set_text(struct machine_frame *f, const struct meter_def *def, struct top_meter *m,
		     const double *parts, double whole)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	switch (def->text) {
	case TEXT_PERCENT: buf_addf(&text, "%.1f%%", 100 * m->share); break;
	case TEXT_OF:
		fmt_size(&text, (u64)parts[0]);
		buf_addch(&text, '/');
		fmt_size(&text, (u64)whole);
		break;
	case TEXT_RATES:
		if (!def->parts[2].formula) {
			fmt_count(&text, (u64)parts[1]);
			break;
		}
		buf_addstr(&text, streq(def->group, "disk") ? "r " : "in ");
		add_rate(&text, parts[1]);
		buf_addstr(&text, streq(def->group, "disk") ? "/s w " : "/s out ");
		add_rate(&text, parts[2]);
		buf_addstr(&text, "/s");
		if (streq(def->group, "disk"))
			buf_addf(&text, " %.0f%%", parts[0]);
	}
	m->text = arena_strdup(&f->arena, buf_str(&text));
}

static void add_meter(const struct top_formulas *t, size_t i, const struct delta *d, u32 instance,
		      struct machine_frame *f)
{
	const struct meter_def *def = &meters[i];
	const struct meter_formulas *mf = &t->meters[i];
	double whole, values[METER_PARTS] = { 0 }, only;
	struct top_meter m = { .group = def->group, .counter = def->counter };

	if (!eval(&mf->whole, d, instance, &whole) ||
	    (def->only && (!eval(&mf->only, d, instance, &only) || !(only > 0))))
		return;
	for (size_t k = 0; k < METER_PARTS && def->parts[k].formula; k++) {
		if (!eval(&mf->parts[k], d, instance, &values[k])) {
			/* without its first part a meter would say 0 */
			if (!k)
				return;
			continue;
		}
		/* rates are in the text, not in the bar */
		if (def->text == TEXT_RATES && k)
			continue;
		m.parts[m.n_parts++] = (struct meter_part){ whole > 0 ? values[k] / whole : 0,
							    def->parts[k].role };
		m.share += m.parts[m.n_parts - 1].share;
	}
	m.label = def->label ? def->label
			     : arena_strdup(&f->arena, intern_get(&d->set->instances, instance));
	set_text(f, def, &m, values, whole);
	vec_push(&f->meters, m);
}

static void each_instance(const struct counter_set *set, const struct snapshot *now,
			  const char *each, void (*fn)(void *ctx, u32 instance), void *ctx)
{
	u32 counter = counter_set_find(set, each);

	if (counter == SET_NONE)
		return;
	counter = formula_domain(set, counter);
	if (counter == SET_NONE)
		return;
	for (u32 s = set->counters.items[counter].first; s != SET_NONE;
	     s = set->series.items[s].next)
		if (snapshot_has(now, s))
			fn(ctx, set->series.items[s].instance);
}

struct filling {
	const struct top_formulas *t;
	size_t i;
	const struct delta *d;
	struct machine_frame *f;
};

static void meter_instance(void *ctx, u32 instance)
{
	const struct filling *fill = ctx;

	add_meter(fill->t, fill->i, fill->d, instance, fill->f);
}

void top_meters_fill(const struct top_formulas *t, const struct delta *d, struct machine_frame *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(meters); i++) {
		struct filling fill = { t, i, d, f };

		if (meters[i].each)
			each_instance(d->set, d->after, meters[i].each, meter_instance, &fill);
		else
			add_meter(t, i, d, 0, f);
	}
}

void top_own_fill(const struct top_formulas *t, const struct delta *d, struct machine_frame *f)
{
	f->n_own = t->n_own;
	for (size_t i = 0; i < t->n_own; i++)
		if (!eval(&t->own[i], d, 0, &f->own[i]))
			f->own[i] = (double)NAN;
}

static void sheet_instance(void *ctx, u32 instance)
{
	const struct filling *fill = ctx;
	const struct monitor_table *def = &sheets[fill->i];
	struct top_sheet *s = &fill->f->sheets[fill->i];
	double used;
	struct sheet_row *row;

	if (def->used &&
	    (!eval(&fill->t->sheets[fill->i].used, fill->d, instance, &used) || !(used > 0)))
		return;
	row = vec_new(&s->rows);
	row->instance =
		arena_strdup(&fill->f->arena, intern_get(&fill->d->set->instances, instance));
	for (size_t k = 0; k < def->n_columns; k++) {
		double unit = def->columns[k].unit > 0 ? def->columns[k].unit : 1;

		if (!eval(&fill->t->sheets[fill->i].columns[k], fill->d, instance, &row->values[k]))
			row->values[k] = (double)NAN;
		else
			row->values[k] /= unit;
	}
}

void top_sheets_fill(const struct top_formulas *t, const struct delta *d, struct machine_frame *f)
{
	f->n_sheets = ARRAY_SIZE(sheets);
	for (size_t i = 0; i < ARRAY_SIZE(sheets); i++) {
		struct filling fill = { t, i, d, f };

		f->sheets[i] = (struct top_sheet){ .name = sheets[i].name, .def = &sheets[i] };
		each_instance(d->set, d->after, sheets[i].each, sheet_instance, &fill);
	}
}
