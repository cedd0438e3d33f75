/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct use_args {
	struct monitor_args monitor;
	bool all;
};

static const struct opt use_options[] = {
	{ 'a', "all", OPT_FLAG, .offset = offsetof(struct use_args, all),
	  .help = "each CPU, and idle disks and interfaces" },
	{ .type = OPT_INCLUDE,
	  .include = monitor_options,
	  .offset = offsetof(struct use_args, monitor) },
	OPT_END,
};

/* One aspect of a resource: a formula, how to show it, and from where on it is bad. */
struct aspect {
	const char *formula; /* NULL: not counted */
	enum value_type type;
	const char *what;
	double warn, bad;
};

struct resource {
	const char *name;
	const char *each; /* the counter whose instances it has; NULL: one */
	const char *used; /* formula: instances where it gives 0 are left out */
	struct aspect utilization, saturation, errors;
	const char *deeper;
};

static const struct resource resources[] = {
	{ "CPU",
	  "cpu.user",
	  NULL,
	  { "cpu.busy_percent", VALUE_PERCENT, "busy", 80, 95 },
	  { "rate(pressure.cpu.some.total) / 10000000", VALUE_PERCENT, "some task waits for a CPU",
	    20, 60 },
	  { "100 * cpu.steal / cpu.total", VALUE_PERCENT, "taken by the hypervisor", 5, 20 },
	  "fathom pidstat, fathom runqlat" },
	{ "memory",
	  NULL,
	  NULL,
	  { "mem.used_percent", VALUE_PERCENT, "not available", 85, 95 },
	  { "rate(pressure.memory.some.total) / 10000000", VALUE_PERCENT,
	    "some task waits for memory", 2, 10 },
	  { "vm.oom_kill", VALUE_COUNT, "processes killed", 1, 1 },
	  "fathom free, fathom vmstat" },
	{ "memory, reclaim",
	  NULL,
	  NULL,
	  { "100 * (mem.slab + mem.page_tables + mem.kernel_stack) / mem.total", VALUE_PERCENT,
	    "used by the kernel", 20, 40 },
	  { "rate(vm.stalls)", VALUE_NUMBER, "allocations that had to free memory, /s", 0.1, 10 },
	  { "opt(mem.hardware_corrupted)", VALUE_BYTES, "failed memory", 1, 1 },
	  "fathom slabtop, fathom sar -B" },
	{ "swap",
	  NULL,
	  "mem.swap_total",
	  { "100 * mem.swap_used / mem.swap_total", VALUE_PERCENT, "used", 50, 90 },
	  { "rate(vm.pswpin + vm.pswpout)", VALUE_BYTES, "swapped in and out, /s", 1, 1048576 },
	  { NULL, 0, NULL, 0, 0 },
	  "fathom sar -W" },
	{ "disk",
	  "disk.reads",
	  "disk.whole * (total(disk.reads) + total(disk.writes))",
	  { "disk.busy_percent", VALUE_PERCENT, "busy", 60, 90 },
	  { "disk.queue_time / 1000000000 / seconds", VALUE_NUMBER, "requests in flight", 2, 8 },
	  { NULL, 0, NULL, 0, 0 },
	  "fathom iostat -x, fathom offcpu" },
	{ "all disks",
	  NULL,
	  NULL,
	  { "rate(vm.pgpgin + vm.pgpgout)", VALUE_BYTES, "read and written, /s", 0, 0 },
	  { "rate(pressure.io.some.total) / 10000000", VALUE_PERCENT, "some task waits for I/O", 10,
	    40 },
	  { NULL, 0, NULL, 0, 0 },
	  "fathom offcpu, fathom explain" },
	{ "interface",
	  "net.rx_bytes",
	  "total(net.rx_bytes) + total(net.tx_bytes)",
	  { "rate(net.rx_bytes + net.tx_bytes)", VALUE_BYTES, "in and out, /s", 0, 0 },
	  { "rate(net.rx_fifo + net.rx_dropped + net.tx_dropped)", VALUE_NUMBER, "drops, /s", 0.01,
	    10 },
	  { "rate(net.rx_errors + net.tx_errors)", VALUE_NUMBER, "errors, /s", 0.01, 1 },
	  "fathom sar -n DEV,EDEV" },
	{ "network, receive",
	  NULL,
	  NULL,
	  { "rate(sum(softnet.processed))", VALUE_NUMBER, "packets, /s", 0, 0 },
	  { "rate(sum(softnet.squeezed) + sum(softnet.dropped))", VALUE_NUMBER,
	    "out of budget or dropped, /s", 1, 100 },
	  { "rate(ip.InDiscards + ip.InHdrErrors)", VALUE_NUMBER, "discarded, /s", 0.01, 1 },
	  "fathom irqtop -S" },
	{ "TCP",
	  NULL,
	  NULL,
	  { "tcp.CurrEstab", VALUE_COUNT, "connections", 0, 0 },
	  { "rate(tcpext.ListenDrops)", VALUE_NUMBER, "dropped by full queues, /s", 0.01, 1 },
	  { "tcp.retrans_percent", VALUE_PERCENT, "segments sent again", 1, 5 },
	  "fathom sar -n TCP,ETCP" },
	{ "open files",
	  NULL,
	  NULL,
	  { "100 * fs.files / fs.files_max", VALUE_PERCENT, "of the limit", 70, 90 },
	  { NULL, 0, NULL, 0, 0 },
	  { NULL, 0, NULL, 0, 0 },
	  "fathom counters fs" },
	{ "tasks",
	  NULL,
	  NULL,
	  { "100 * load.tasks / system.pid_max", VALUE_PERCENT, "of process numbers", 50, 90 },
	  { "system.blocked", VALUE_COUNT, "blocked on disks now", 2, 10 },
	  { NULL, 0, NULL, 0, 0 },
	  "fathom threads" },
};

enum { R_NAME, R_UTILIZATION, R_SATURATION, R_ERRORS, R_DEEPER, R_U_WHAT, R_S_WHAT, R_E_WHAT };

static const struct column columns[] = {
	{ "resource", "RESOURCE", VALUE_TEXT, 0 },
	{ "utilization", "UTILIZATION", VALUE_NUMBER, 0 },
	{ "saturation", "SATURATION", VALUE_NUMBER, 0 },
	{ "errors", "ERRORS", VALUE_NUMBER, 0 },
	{ "deeper", "LOOK DEEPER", VALUE_TEXT, COLUMN_FILL },
	{ "utilization_is", "", VALUE_TEXT, COLUMN_HIDDEN },
	{ "saturation_is", "", VALUE_TEXT, COLUMN_HIDDEN },
	{ "errors_are", "", VALUE_TEXT, COLUMN_HIDDEN },
};

static struct value answer(const struct delta *d, const struct aspect *q, u32 instance)
{
	struct formula f;
	struct value v = { 0 };
	double value;

	if (!q->formula ||
	    formula_parse(&f, (struct counter_set *)(uintptr_t)d->set, q->formula, NULL) < 0 ||
	    !formula_eval(&f, d, instance, &value))
		return v;
	if (q->type == VALUE_PERCENT || q->type == VALUE_NUMBER)
		v = value_d(q->type, value);
	else
		v = value_u(q->type, value > 0 ? (u64)(value + 0.5) : 0);
	if (q->bad > 0)
		v.style = value >= q->bad ? STYLE_BAD : value >= q->warn ? STYLE_WARN : STYLE_NONE;
	return v;
}

static void add_resource(struct result *r, struct table *t, const struct delta *d,
			 const struct resource *what, u32 instance)
{
	const char *name = intern_get(&d->set->instances, instance);
	struct row *row = table_row(r, t);

	row->cells[R_NAME] =
		*name ? value_textf(r, "%s %s", what->name, name) : value_text(r, what->name);
	row->cells[R_UTILIZATION] = answer(d, &what->utilization, instance);
	row->cells[R_SATURATION] = answer(d, &what->saturation, instance);
	row->cells[R_ERRORS] = answer(d, &what->errors, instance);
	row->cells[R_DEEPER] = value_text(r, what->deeper);
	row->cells[R_U_WHAT] = value_text(r, what->utilization.what);
	row->cells[R_S_WHAT] = value_text(r, what->saturation.what);
	row->cells[R_E_WHAT] = value_text(r, what->errors.what);
}

static bool is_used(const struct delta *d, const struct resource *what, u32 instance)
{
	struct aspect q = { what->used, VALUE_NUMBER, NULL, 0, 0 };
	struct value v;

	if (!what->used)
		return true;
	v = answer(d, &q, instance);
	return v.type && v.d > 0;
}

static void add_instances(struct result *r, struct table *t, const struct delta *d,
			  const struct resource *what, bool all)
{
	const struct counter_set *set = d->set;
	u32 counter = counter_set_find(set, what->each);

	for (u32 s = set->counters.items[counter].first; s != SET_NONE;
	     s = set->series.items[s].next) {
		u32 instance = set->series.items[s].instance;
		const char *name = intern_get(&set->instances, instance);

		if (!snapshot_has(d->after, s) || (!all && !is_used(d, what, instance)) ||
		    (!all &&
		     (streq(name, "lo") || (streq(what->name, "CPU") && !streq(name, "all")))))
			continue;
		add_resource(r, t, d, what, instance);
	}
}

/* What the figures of a row are, for people: one line each. */
static void add_legend(struct result *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		const struct resource *what = &resources[i];

		result_note(r, NOTE_INFO, NULL, "%s: %s; %s; %s", what->name,
			    what->utilization.what ? what->utilization.what : "-",
			    what->saturation.what ? what->saturation.what : "-",
			    what->errors.what ? what->errors.what : "-");
	}
}

static void add_page(struct result *r, const struct delta *d, const void *args)
{
	const struct use_args *a = args;
	struct table *t = result_table(r, "resources", NULL, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		if (resources[i].each)
			add_instances(r, t, d, &resources[i], a->all);
		else if (is_used(d, &resources[i], 0))
			add_resource(r, t, d, &resources[i], 0);
	}
	add_legend(r);
}

enum { WANTS_MOST = ARRAY_SIZE(resources) * 5 + 1 };

static int use_run(struct context *ctx, void *args)
{
	struct use_args *a = args;
	const char *wants[WANTS_MOST] = { NULL };
	const struct monitor m = { .flags = MONITOR_RATES, .extra = add_page, .wants = wants };
	int r = monitor_operands(ctx, &a->monitor);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		const char *const names[] = { resources[i].each, resources[i].used,
					      resources[i].utilization.formula,
					      resources[i].saturation.formula,
					      resources[i].errors.formula };

		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (names[k])
				wants[n++] = names[k];
	}
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example use_examples[] = {
	{ "fathom use", "every resource over the next second" },
	{ "fathom use 10 1", "over ten seconds" },
	{ "fathom use --json 5", "for programs, every five seconds" },
	{ 0 },
};

const struct command cmd_use = {
	.name = "use",
	.summary = "utilization, saturation and errors of every resource, on one page",
	.description =
		"Brendan Gregg's USE method: for every resource, how busy it is, how much work "
		"waits for it, and its errors, each with the command to go deeper. What is "
		"noteworthy is coloured. A '-' is a figure that the kernel does not count.",
	.question = Q_MACHINE,
	.options = use_options,
	.args_size = sizeof(struct use_args),
	MONITOR_OPERANDS,
	.examples = use_examples,
	.see_also = "fathom-counters fathom-vmstat fathom-iostat",
	.run = use_run,
};
