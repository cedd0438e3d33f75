/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"
#include "host/numa_maps.h"
#include "host/procfs.h"

struct numastat_args {
	struct monitor_args monitor;
	bool memory;
	bool megabytes;
	range_list pids;
};

#define AT(field) .offset = offsetof(struct numastat_args, field)

static const struct opt numastat_options[] = {
	{ 'm', "memory", OPT_FLAG, AT(memory),
	  .help = "what the memory of each node holds, in MB" },
	{ 'n', "megabytes", OPT_FLAG, AT(megabytes), .help = "allocations in MB, not in pages" },
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]",
	  .help = "on which nodes the memory of these processes is, in MB" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static const char *const wants[] = { "numa.numa_hit", NULL };

/* The nodes that were read: instances of a counter that all have. */
typedef VEC(u32) node_list;

static void list_nodes(const struct delta *d, node_list *ret)
{
	u32 counter = counter_set_find(d->set, "numa.numa_hit");

	if (counter == SET_NONE)
		return;
	for (u32 s = d->set->counters.items[counter].first; s != SET_NONE;
	     s = d->set->series.items[s].next)
		if (snapshot_has(d->after, s))
			vec_push(ret, d->set->series.items[s].instance);
}

/* A column for each node, and one for all. */
static struct table *add_table(struct result *r, const struct delta *d, const char *name,
			       const char *title, const node_list *nodes, u8 decimals, bool total)
{
	size_t n = MIN(nodes->len, (size_t)NUMA_NODES_MOST) + 1 + total;
	_cleanup_free_ struct column *columns = xcalloc(n, sizeof(*columns));
	_cleanup_free_ struct column_look *looks = xcalloc(n, sizeof(*looks));
	struct table *t;

	columns[0] = (struct column){ "name", "", VALUE_TEXT, 0 };
	looks[0] = (struct column_look){ .width = 16 };
	for (size_t i = 1; i < n; i++) {
		const char *node = i <= nodes->len
					   ? intern_get(&d->set->instances, nodes->items[i - 1])
					   : "total";

		columns[i] =
			(struct column){ node, i <= nodes->len ? node : "Total", VALUE_NUMBER, 0 };
		looks[i] = (struct column_look){ .width = 15, .decimals = (u8)(decimals + 1) };
	}
	t = result_table(r, name, title, columns, n);
	table_looks(r, t, looks);
	return t;
}

/* A row, unless no node has the counter. */
static void add_counter(struct result *r, struct table *t, const struct delta *d, u32 counter,
			const node_list *nodes, double factor, bool total)
{
	const struct counter *row = d->set->counters.items[counter].row;
	struct row *out = NULL;
	double sum = 0, value;

	for (size_t i = 0; i < nodes->len && i < NUMA_NODES_MOST; i++) {
		if (!delta_value(d, counter, nodes->items[i], &value))
			continue;
		if (!out) {
			out = table_row(r, t);
			out->cells[0] = value_text(r, row->field);
		}
		out->cells[i + 1] = value_d(VALUE_NUMBER, value * factor);
		sum += value * factor;
	}
	if (out && total)
		out->cells[MIN(nodes->len, (size_t)NUMA_NODES_MOST) + 1] =
			value_d(VALUE_NUMBER, sum);
}

static void add_counters(struct result *r, const struct delta *d, const node_list *nodes,
			 bool memory, bool megabytes)
{
	double page = (double)d->set->page_size / (1 << 20);
	bool total = memory || megabytes;
	struct table *t = add_table(r, d, memory ? "memory" : "allocations",
				    memory ? "Memory of each node, in MB" : NULL, nodes,
				    total ? 2 : 0, total);

	for (u32 i = 0; i < d->set->counters.len; i++) {
		const struct counter *row = d->set->counters.items[i].row;

		if (!starts_with(row->name, "numa.") || (row->kind == GAUGE) != memory ||
		    !row->field)
			continue;
		add_counter(r, t, d, i, nodes,
			    memory      ? 1.0 / (1 << 20)
			    : megabytes ? page
					: 1,
			    total);
	}
}

/* --- processes -------------------------------------------------------------------------------- */

static const char *const parts[NUMA_PARTS] = { "Huge", "Heap", "Stack", "Private" };

/* "node12" -> 12 */
static u32 node_number(const struct delta *d, u32 instance)
{
	return (u32)strtoul(intern_get(&d->set->instances, instance) + strlen("node"), NULL, 10);
}

static void add_part(struct result *r, struct table *t, const struct delta *d,
		     const node_list *nodes, const char *name, const u64 *sums, u32 first, u32 last)
{
	struct row *row = table_row(r, t);
	double all = 0;

	row->cells[0] = value_text(r, name);
	for (size_t i = 0; i < nodes->len && i < NUMA_NODES_MOST; i++) {
		u32 node = MIN(node_number(d, nodes->items[i]), NUMA_NODES_MOST - 1u);
		double bytes = 0;

		for (u32 part = first; part <= last; part++)
			bytes += (double)sums[node * NUMA_PARTS + part];
		row->cells[i + 1] = value_d(VALUE_NUMBER, bytes / (1 << 20));
		all += bytes / (1 << 20);
	}
	row->cells[MIN(nodes->len, (size_t)NUMA_NODES_MOST) + 1] = value_d(VALUE_NUMBER, all);
}

static void add_process(struct result *r, const struct delta *d, const node_list *nodes, u32 pid)
{
	_cleanup_buf_ struct buf text = BUF_INIT, title = BUF_INIT;
	_cleanup_free_ u64 *sums = xcalloc((size_t)NUMA_NODES_MOST * NUMA_PARTS, sizeof(*sums));
	char comm[PROCFS_COMM] = "?";
	struct table *t;
	int rc = procfs_read(pid, 0, "numa_maps", PROCFS_MAX_MAPS, &text, NULL);

	if (rc < 0) {
		result_note(r, NOTE_WARNING, rc == -EACCES ? "run as root" : NULL,
			    "memory of process %u: %s", pid, err_words(-rc));
		return;
	}
	(void)procfs_comm(pid, 0, comm);
	(void)numa_maps_parse(buf_str(&text), text.len, sums, NUMA_NODES_MOST);
	buf_addf(&title, "Memory of process %u (%s), in MB", pid, comm);
	t = add_table(r, d, "process", buf_str(&title), nodes, 2, true);
	for (u32 part = 0; part < NUMA_PARTS; part++)
		add_part(r, t, d, nodes, parts[part], sums, part, part);
	add_part(r, t, d, nodes, "Total", sums, 0, NUMA_PARTS - 1);
}

static void add_all(struct result *r, const struct delta *d, const void *args)
{
	const struct numastat_args *a = args;
	node_list nodes = { 0 };

	list_nodes(d, &nodes);
	vec_each(range, &a->pids)
		for (u64 pid = range->first; pid <= range->last && pid <= UINT32_MAX; pid++)
			add_process(r, d, &nodes, (u32)pid);
	if (!a->pids.len)
		add_counters(r, d, &nodes, a->memory, a->megabytes);
	vec_release(&nodes);
}

static int numastat_run(struct context *ctx, void *args)
{
	struct numastat_args *a = args;
	const struct monitor m = {
		.flags = a->memory || a->pids.len ? MONITOR_NOW : 0,
		.extra = add_all,
		.wants = wants,
	};
	int r = monitor_operands(ctx, &a->monitor);

	a->monitor.skip_first |= a->monitor.interval != 0;
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example numastat_examples[] = {
	{ "fathom numastat", "allocations of each node since boot, in pages" },
	{ "fathom numastat -m", "what the memory of each node holds" },
	{ "fathom numastat -p 1", "where the memory of a process is" },
	{ "fathom numastat 1 3", "allocations in each of three seconds" },
	{ 0 },
};

const struct command cmd_numastat = {
	.name = "numastat",
	.summary = "allocations and memory of each NUMA node",
	.description =
		"Prints the tables of numastat(8). 'numa_miss' are allocations that a node had to "
		"serve although another was wanted, 'numa_foreign' those that this node should "
		"have served; 'other_node' are allocations by CPUs of other nodes. All three are "
		"0 on a machine with one node.",
	.question = Q_MACHINE,
	.options = numastat_options,
	.args_size = sizeof(struct numastat_args),
	MONITOR_OPERANDS,
	.examples = numastat_examples,
	.see_also = "fathom-topology fathom-vmstat numastat(8)",
	.run = numastat_run,
};
