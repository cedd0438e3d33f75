/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/charts.h"

#include "counters/formula.h"

enum {
	LINES_MOST = 8,
	INSTANCES_MOST = 64, /* of a chart: the largest */
	PROCESSES_MOST = 20,
};

struct line {
	const char *label;
	const char *formula;
};

struct chart {
	const char *id, *question, *title;
	const char *unit; /* percent, bytes, bytes/s, count, per second, ns */
	bool stacked;
	bool strip;       /* a row of colours for each instance in place of lines */
	double most;      /* of the axis; 0: as the data have it */
	const char *each; /* the counter whose instances are the lines, by the first formula */
	const char *used; /* formula: instances where it gives 0 are left out; NULL: none */
	struct line lines[LINES_MOST]; /* none: latency.h has the figures */
};

#define Q_BUSY         "Where does CPU time go?"
#define Q_QUEUE        "What waits?"
#define Q_MEMORY       "Is memory short?"
#define Q_DISK         "What do disks do?"
#define Q_NET          "What goes over the network?"
#define Q_IRQ          "What interrupts?"
#define Q_GROUP        "Which group?"
#define PRESSURE(what) "rate(opt(pressure." what ".some.total)) / 10000000"

static const struct chart charts[] = {
	{ "cpu",
	  Q_BUSY,
	  "CPU by mode",
	  "percent",
	  true,
	  false,
	  100,
	  NULL,
	  NULL,
	  { { "user", "cpu.user_percent{all}" },
	    { "nice", "cpu.nice_percent{all}" },
	    { "system", "cpu.system_percent{all}" },
	    { "interrupts", "cpu.irq_percent{all} + cpu.softirq_percent{all}" },
	    { "steal", "cpu.steal_percent{all}" },
	    { "waits for disk", "cpu.iowait_percent{all}" } } },
	{ "cpus",
	  Q_BUSY,
	  "Each CPU, busy",
	  "percent",
	  false,
	  true,
	  100,
	  "cpu.user",
	  NULL,
	  { { "busy", "cpu.busy_percent" } } },
	{ "runq",
	  Q_QUEUE,
	  "Tasks that run or want a CPU",
	  "tasks",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "running or ready", "system.running" },
	    { "wait for disk", "system.blocked" },
	    { "load, 1 min", "load.1" } } },
	{ "pressure",
	  Q_QUEUE,
	  "Time in which some task was held up",
	  "percent",
	  false,
	  false,
	  100,
	  NULL,
	  NULL,
	  { { "CPU", PRESSURE("cpu") },
	    { "memory", PRESSURE("memory") },
	    { "I/O", PRESSURE("io") } } },
	{ "switches",
	  Q_QUEUE,
	  "Context switches and new tasks",
	  "per second",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "switches", "rate(system.switches)" }, { "new tasks", "rate(system.forks)" } } },
	{ "memory",
	  Q_MEMORY,
	  "Memory",
	  "bytes",
	  true,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "used", "mem.used" },
	    { "cache", "max(mem.total - mem.used - mem.free, 0)" },
	    { "free", "mem.free" } } },
	{ "faults",
	  Q_MEMORY,
	  "Page faults",
	  "per second",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "without a disk", "rate(vm.minor_faults)" },
	    { "from disk", "rate(vm.pgmajfault)" } } },
	{ "swap",
	  Q_MEMORY,
	  "Swapped, and stalls for memory",
	  "per second",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "pages in", "rate(vm.pswpin)" },
	    { "pages out", "rate(vm.pswpout)" },
	    { "stalls", "rate(vm.stalls)" } } },
	{ "disk",
	  Q_DISK,
	  "Read and written, all disks",
	  "bytes/s",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "read", "rate(vm.pgpgin)" }, { "written", "rate(vm.pgpgout)" } } },
	{ "await",
	  Q_DISK,
	  "Mean time of a request",
	  "ns",
	  false,
	  false,
	  0,
	  "disk.reads",
	  "disk.whole * (total(disk.reads) + total(disk.writes))",
	  { { "time", "disk.await" } } },
	{ "latency",
	  Q_DISK,
	  "Requests by their time",
	  "ns",
	  false,
	  true,
	  0,
	  NULL,
	  NULL,
	  { { 0 } } },
	{ "diskbusy",
	  Q_DISK,
	  "Each disk, busy",
	  "percent",
	  false,
	  true,
	  100,
	  "disk.reads",
	  "disk.whole * (total(disk.reads) + total(disk.writes))",
	  { { "busy", "disk.busy_percent" } } },
	{ "netin",
	  Q_NET,
	  "Received",
	  "bytes/s",
	  false,
	  false,
	  0,
	  "net.rx_bytes",
	  "total(net.rx_bytes) + total(net.tx_bytes)",
	  { { "received", "rate(net.rx_bytes)" } } },
	{ "netout",
	  Q_NET,
	  "Sent",
	  "bytes/s",
	  false,
	  false,
	  0,
	  "net.tx_bytes",
	  "total(net.rx_bytes) + total(net.tx_bytes)",
	  { { "sent", "rate(net.tx_bytes)" } } },
	{ "tcp",
	  Q_NET,
	  "TCP",
	  "per second",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "segments sent again", "rate(opt(tcp.RetransSegs))" },
	    { "connections made", "rate(opt(tcp.ActiveOpens))" },
	    { "connections taken", "rate(opt(tcp.PassiveOpens))" } } },
	{ "netdrops",
	  Q_NET,
	  "Packets dropped",
	  "per second",
	  false,
	  false,
	  0,
	  NULL,
	  NULL,
	  { { "received", "rate(sum(net.rx_dropped))" },
	    { "to send", "rate(sum(net.tx_dropped))" },
	    { "no room in the backlog", "rate(sum(softnet.dropped))" } } },
	{ "irq",
	  Q_IRQ,
	  "Interrupts by device",
	  "per second",
	  false,
	  false,
	  0,
	  "irq.total",
	  "total(irq.total)",
	  { { "interrupts", "rate(irq.total)" } } },
	{ "softirq",
	  Q_IRQ,
	  "Soft interrupts by kind",
	  "per second",
	  false,
	  false,
	  0,
	  "softirq.total",
	  "total(softirq.total)",
	  { { "served", "rate(softirq.total)" } } },
	{ "groupcpu",
	  Q_GROUP,
	  "CPU of control groups",
	  "percent",
	  false,
	  false,
	  0,
	  "cgroup.cpu",
	  "total(cgroup.cpu)",
	  { { "CPU", "rate(cgroup.cpu) / 10000000" } } },
	{ "groupmem",
	  Q_GROUP,
	  "Memory of control groups",
	  "bytes",
	  false,
	  false,
	  0,
	  "cgroup.memory",
	  "cgroup.memory",
	  { { "memory", "cgroup.memory" } } },
};

struct ready {
	struct formula lines[LINES_MOST], used;
	u32 each;
};

struct charts {
	struct counter_set *set;
	struct ready ready[ARRAY_SIZE(charts)];
};

static bool is_latency(const struct chart *chart)
{
	return !chart->lines[0].label;
}

static int prepare(struct charts *c, struct counters *counters, size_t i, struct err *e)
{
	const struct chart *chart = &charts[i];
	struct ready *ready = &c->ready[i];
	int r = 0;

	for (size_t k = 0; k < LINES_MOST && chart->lines[k].label && !r; k++) {
		r = formula_parse(&ready->lines[k], c->set, chart->lines[k].formula, e);
		if (!r)
			r = counters_want(counters, chart->lines[k].formula, e);
	}
	if (!r && chart->each) {
		ready->each = counter_set_find(c->set, chart->each);
		if (ready->each == SET_NONE)
			return err_set(e, EINVAL, "there is no counter '%s'", chart->each);
		r = counters_want(counters, chart->each, e);
	}
	if (!r && chart->used) {
		r = formula_parse(&ready->used, c->set, chart->used, e);
		if (!r)
			r = counters_want(counters, chart->used, e);
	}
	return r < 0 ? err_prefix(e, "chart '%s'", chart->id) : 0;
}

int charts_new(struct charts **ret, struct counters *counters, struct err *e)
{
	struct charts *c = xcalloc(1, sizeof(*c));
	int r = 0;

	c->set = counters_set(counters);
	for (size_t i = 0; i < ARRAY_SIZE(charts) && !r; i++)
		r = prepare(c, counters, i, e);
	if (r < 0) {
		charts_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void charts_free(struct charts *c)
{
	free(c);
}

/* --- what they are ---------------------------------------------------------------------------- */

static void describe_line(const struct charts *c, size_t chart, size_t line, struct json *j)
{
	const struct formula *f = &c->ready[chart].lines[line];

	json_open(j);
	json_kv_str(j, "label", charts[chart].lines[line].label);
	json_kv_str(j, "formula", charts[chart].lines[line].formula);
	json_key(j, "counters");
	json_array(j);
	for (u32 i = 0; i < f->n; i++)
		if (formula_names_counter(&f->steps[i]))
			json_str(j, c->set->counters.items[f->steps[i].counter].row->name);
	json_end(j);
	json_close(j);
}

static void describe_counter(const struct counter_set *set, u32 counter, struct json *j)
{
	const struct counter *row = set->counters.items[counter].row;

	json_key(j, row->name);
	json_open(j);
	json_kv_str(j, "meaning", row->meaning ? row->meaning : "");
	if (row->high)
		json_kv_str(j, "high", row->high);
	if (row->formula)
		json_kv_str(j, "formula", row->formula);
	json_close(j);
}

static void describe_meanings(const struct charts *c, struct json *j)
{
	_cleanup_map_ struct map seen = MAP_INIT;

	json_key(j, "meanings");
	json_open(j);
	for (size_t i = 0; i < ARRAY_SIZE(charts); i++) {
		for (size_t k = 0; k < LINES_MOST && charts[i].lines[k].label; k++) {
			const struct formula *f = &c->ready[i].lines[k];

			for (u32 s = 0; s < f->n; s++) {
				u32 counter = f->steps[s].counter;

				if (!formula_names_counter(&f->steps[s]) ||
				    (*map_at(&seen, counter))++)
					continue;
				describe_counter(c->set, counter, j);
			}
		}
	}
	json_close(j);
}

void charts_describe(const struct charts *c, struct json *j)
{
	json_key(j, "charts");
	json_array(j);
	for (size_t i = 0; i < ARRAY_SIZE(charts); i++) {
		json_open(j);
		json_kv_str(j, "id", charts[i].id);
		json_kv_str(j, "question", charts[i].question);
		json_kv_str(j, "title", charts[i].title);
		json_kv_str(j, "unit", charts[i].unit);
		json_kv_bool(j, "stacked", charts[i].stacked);
		json_kv_bool(j, "strip", charts[i].strip);
		json_kv_bool(j, "each", charts[i].each || is_latency(&charts[i]));
		json_kv_double(j, "most", charts[i].most);
		json_key(j, "lines");
		json_array(j);
		if (is_latency(&charts[i]))
			latency_describe(j);
		for (size_t k = 0; k < LINES_MOST && charts[i].lines[k].label; k++)
			describe_line(c, i, k, j);
		json_end(j);
		json_close(j);
	}
	json_end(j);
	describe_meanings(c, j);
}

/* --- a frame ---------------------------------------------------------------------------------- */

/* Four digits that count: a chart shows no more. */
static void add_number(struct json *j, double v)
{
	char text[32];

	if (v != v || v > 1e300 || v < -1e300) {
		json_null(j);
		return;
	}
	snprintf(text, sizeof(text), "%.4g", v);
	json_double(j, strtod(text, NULL));
}

struct instance {
	const char *name;
	double value;
};

static int by_value(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	return x->value < y->value ? 1 : x->value > y->value ? -1 : strcmp(x->name, y->name);
}

static void add_instances(const struct charts *c, size_t i, const struct delta *d, struct json *j)
{
	VEC(struct instance) all = { 0 };
	const struct ready *ready = &c->ready[i];

	for (u32 s = c->set->counters.items[ready->each].first; s != SET_NONE;
	     s = c->set->series.items[s].next) {
		u32 instance = c->set->series.items[s].instance;
		struct instance one = { intern_get(&c->set->instances, instance), 0 };
		double used = 1;

		if (!snapshot_has(d->after, s) || streq(one.name, "all"))
			continue;
		if (charts[i].used &&
		    (!formula_eval(&ready->used, d, instance, &used) || used == 0))
			continue;
		if (formula_eval(&ready->lines[0], d, instance, &one.value))
			vec_push(&all, one);
	}
	if (all.len > INSTANCES_MOST)
		vec_sort(&all, by_value);
	json_open(j);
	for (size_t k = 0; k < all.len && k < INSTANCES_MOST; k++) {
		json_key(j, all.items[k].name);
		add_number(j, all.items[k].value);
	}
	json_close(j);
	vec_release(&all);
}

static void add_lines(const struct charts *c, size_t i, const struct delta *d, struct json *j)
{
	json_array(j);
	for (size_t k = 0; k < LINES_MOST && charts[i].lines[k].label; k++) {
		double v;

		if (formula_eval(&c->ready[i].lines[k], d, 0, &v))
			add_number(j, v);
		else
			json_null(j);
	}
	json_end(j);
}

static int by_exec(const void *a, const void *b)
{
	const struct task_row *x = *(const struct task_row *const *)a;
	const struct task_row *y = *(const struct task_row *const *)b;
	u64 p = x->figures[TASK_EXEC], q = y->figures[TASK_EXEC];

	return p < q ? 1 : p > q ? -1 : x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Names, no command lines: these may hold secrets. */
static void add_processes(const struct delta *d, struct json *j)
{
	const struct task_rows *tasks = &d->after->tasks;
	VEC(const struct task_row *) busy = { 0 };

	vec_each(row, &tasks->rows)
		if (row->figures[TASK_EXEC] && row->tid == row->pid)
			vec_push(&busy, row);
	vec_sort(&busy, by_exec);
	json_array(j);
	for (size_t i = 0; i < busy.len && i < PROCESSES_MOST; i++) {
		const struct task_row *row = busy.items[i];

		json_array(j);
		json_u64(j, row->pid);
		json_strn(j, row->comm, strnlen(row->comm, sizeof(row->comm)));
		add_number(j, (double)row->figures[TASK_EXEC] / 1e7 / d->seconds);
		add_number(j, (double)row->figures[TASK_DELAY] / 1e7 / d->seconds);
		json_u64(j, row->rss);
		add_number(j, (double)row->figures[TASK_READ] / d->seconds);
		add_number(j, (double)row->figures[TASK_WRITE] / d->seconds);
		json_end(j);
	}
	json_end(j);
	vec_release(&busy);
}

void charts_frame(const struct charts *c, const struct delta *d, struct latency *l, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_open(&j);
	json_kv_u64(&j, "t", d->after->wall / NSEC_PER_MSEC);
	json_key(&j, "s");
	add_number(&j, d->seconds);
	json_key(&j, "c");
	json_array(&j);
	for (size_t i = 0; i < ARRAY_SIZE(charts); i++) {
		if (is_latency(&charts[i]))
			latency_frame(l, &j);
		else if (charts[i].each)
			add_instances(c, i, d, &j);
		else
			add_lines(c, i, d, &j);
	}
	json_end(&j);
	json_key(&j, "p");
	add_processes(d, &j);
	json_close(&j);
}
