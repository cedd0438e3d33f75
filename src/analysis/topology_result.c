/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/topology_result.h"

#include "base/buf.h"
#include "base/fmt.h"

enum {
	C_TYPE,
	C_INDEX,
	C_LOGICAL,
	C_DEPTH,
	C_LABEL,
	C_CPUS,
	C_BYTES,
	C_LINE,
	C_WAYS,
	C_KIND,
	C_PCI,
	C_BUSY,
	C_RUNNABLE,
	C_INTERRUPTS,
	C_PAGES,
};

static const struct column columns[] = {
	[C_TYPE] = { "type", "TYPE", VALUE_TEXT, 0 },
	[C_INDEX] = { "index", "INDEX", VALUE_PID, 0 },
	[C_LOGICAL] = { "logical", "LOGICAL", VALUE_PID, 0 },
	[C_DEPTH] = { "depth", "DEPTH", VALUE_PID, 0 },
	[C_LABEL] = { "label", "LABEL", VALUE_TEXT, COLUMN_FILL },
	[C_CPUS] = { "cpus", "CPUS", VALUE_TEXT, 0 },
	[C_BYTES] = { "bytes", "BYTES", VALUE_BYTES, 0 },
	[C_LINE] = { "line_bytes", "LINE", VALUE_BYTES, 0 },
	[C_WAYS] = { "ways", "WAYS", VALUE_COUNT, 0 },
	[C_KIND] = { "kind", "KIND", VALUE_TEXT, 0 },
	[C_PCI] = { "pci", "PCI", VALUE_TEXT, 0 },
	[C_BUSY] = { "used_percent", "USED", VALUE_PERCENT, 0 },
	[C_RUNNABLE] = { "runnable", "RUNNABLE", VALUE_COUNT, 0 },
	[C_INTERRUPTS] = { "interrupts_per_s", "IRQ/S", VALUE_NUMBER, 0 },
	[C_PAGES] = { "pages_per_s", "PAGES/S", VALUE_NUMBER, 0 },
};

struct filling {
	const struct topo_tree *tree;
	const struct topo_load *load;
	struct result *result;
	struct table *table;
};

static void add_load(const struct filling *f, const struct topo_obj *o, struct value *c)
{
	size_t i = (size_t)o->index;

	if (!f->load || o->index < 0)
		return;
	if (o->type == TOPO_CPU && i < f->load->n_cpus && f->load->cpus[i].known) {
		c[C_BUSY] = value_d(VALUE_PERCENT, 100 * f->load->cpus[i].busy);
		c[C_RUNNABLE] = value_u(VALUE_COUNT, f->load->cpus[i].queue);
		c[C_INTERRUPTS] = value_d(VALUE_NUMBER, f->load->cpus[i].interrupts);
	}
	if (o->type == TOPO_NODE && i < f->load->n_nodes && f->load->nodes[i].known) {
		c[C_BUSY] = value_d(VALUE_PERCENT, 100 * f->load->nodes[i].used);
		c[C_PAGES] = value_d(VALUE_NUMBER, f->load->nodes[i].pages);
	}
}

static void add_object(const struct topo_obj *o, int depth, void *ctx)
{
	const struct filling *f = ctx;
	struct value *c = table_row(f->result, f->table)->cells;
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct topology_pci *p = &o->pci.at;

	topo_label(o, &text);
	c[C_TYPE] = value_text(f->result, topo_name(o));
	if (o->index >= 0)
		c[C_INDEX] = value_u(VALUE_PID, (u64)o->index);
	c[C_LOGICAL] = value_u(VALUE_PID, o->logical);
	c[C_DEPTH] = value_u(VALUE_PID, (u64)depth);
	c[C_LABEL] = value_text(f->result, buf_str(&text));
	if (o->cpus) {
		buf_reset(&text);
		topo_cpu_list(f->tree, o->cpus, &text);
		c[C_CPUS] = value_text(f->result, buf_str(&text));
	}
	if (o->type == TOPO_CACHE) {
		c[C_BYTES] = value_u(VALUE_BYTES, o->cache.size);
		c[C_LINE] = value_u(VALUE_BYTES, o->cache.line);
		c[C_WAYS] = value_u(VALUE_COUNT, o->cache.ways);
	} else if (o->bytes) {
		c[C_BYTES] = value_u(VALUE_BYTES, o->bytes);
	}
	c[C_KIND] = value_text(f->result, o->kind);
	if (o->type == TOPO_PCI || (o->type == TOPO_BRIDGE && !o->pci.host))
		c[C_PCI] = value_textf(f->result, "%04x:%02x:%02x.%x %04x:%04x", p->domain, p->bus,
				       p->slot, p->function, p->vendor, p->device);
	add_load(f, o, c);
}

void topo_result(const struct topo_tree *t, const struct topo_load *load, struct result *r)
{
	struct filling f = { .tree = t, .load = load, .result = r };

	result_title(r, "the machine");
	result_fact(r, "packages", "packages", value_u(VALUE_COUNT, t->n_packages));
	result_fact(r, "cores", "cores", value_u(VALUE_COUNT, t->n_cores));
	result_fact(r, "cpus", "CPUs", value_u(VALUE_COUNT, t->n_cpus));
	result_fact(r, "offline_cpus", NULL, value_u(VALUE_COUNT, t->n_offline));
	result_fact(r, "nodes", "memory nodes", value_u(VALUE_COUNT, t->n_nodes));
	result_fact(r, "memory", "memory", value_u(VALUE_BYTES, t->memory));
	result_fact(r, "model", NULL, value_text(r, t->model));
	f.table = result_table(r, "objects", NULL, columns, ARRAY_SIZE(columns));
	topo_walk(t->root, 0, add_object, &f);
	result_loss(r, "contradictions", "objects left out because they cross others",
		    t->contradictions);
}

/* --- processes -------------------------------------------------------------------------------- */

enum { P_PID, P_COMMAND, P_ON, P_BOUND, P_OBJECT };

static const struct column process_columns[] = {
	[P_PID] = { "pid", "PID", VALUE_PID, 0 },
	[P_COMMAND] = { "command", "COMMAND", VALUE_TEXT, 0 },
	[P_ON] = { "last_cpu", "LAST CPU", VALUE_PID, 0 },
	[P_BOUND] = { "cpus", "MAY RUN ON", VALUE_TEXT, 0 },
	[P_OBJECT] = { "object", "THAT IS", VALUE_TEXT, COLUMN_FILL },
};

struct finding {
	const struct topo_tree *tree;
	const u64 *cpus;
	const struct topo_obj *found;
};

static void find_object(const struct topo_obj *o, int depth UNUSED, void *ctx)
{
	struct finding *f = ctx;

	/* what people call it: a core, not the cache that is its own */
	if ((!f->found || f->found->type == TOPO_CACHE) && o->cpus && o->type != TOPO_NODE &&
	    memcmp(o->cpus, f->cpus, f->tree->words * sizeof(u64)) == 0)
		f->found = o;
}

static void add_process(const struct topo_tree *t, const struct affinity *p, struct table *table,
			struct result *r)
{
	_cleanup_free_ u64 *set = xcalloc(t->words, sizeof(u64));
	struct finding f = { .tree = t, .cpus = set };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct value *c;

	for (u32 cpu = 0; cpu < t->words * 64; cpu++) {
		if (ranges_contain(&p->allowed, cpu) && topo_has(t->root->cpus, cpu))
			set[cpu / 64] |= 1ull << cpu % 64;
	}
	topo_walk(t->root, 0, find_object, &f);
	c = table_row(r, table)->cells;
	c[P_PID] = value_u(VALUE_PID, p->pid);
	c[P_COMMAND] = value_text(r, p->comm);
	c[P_ON] = value_u(VALUE_PID, p->cpu);
	topo_cpu_list(t, set, &text);
	c[P_BOUND] = value_text(r, buf_str(&text));
	buf_reset(&text);
	if (f.found)
		topo_label(f.found, &text);
	c[P_OBJECT] = value_text(r, f.found ? buf_str(&text) : NULL);
}

static bool is_everywhere(const struct topo_tree *t, const range_list *allowed)
{
	for (u32 cpu = 0; cpu < t->words * 64; cpu++) {
		if (topo_has(t->root->cpus, cpu) && !ranges_contain(allowed, cpu))
			return false;
	}
	return true;
}

void topo_processes(const struct topo_tree *t, const struct affinity_list *list, bool all,
		    struct result *r)
{
	struct table *table =
		result_table(r, "processes", NULL, process_columns, ARRAY_SIZE(process_columns));
	u64 free_ones = 0;

	vec_each(p, &list->processes) {
		if (!all && is_everywhere(t, &p->allowed))
			free_ones++;
		else
			add_process(t, p, table, r);
	}
	result_title(r, all ? "where processes may run" : "processes that are bound to CPUs");
	result_fact(r, "bound", "shown", value_u(VALUE_COUNT, table->rows.len));
	if (!all)
		result_fact(r, "anywhere", "anywhere", value_u(VALUE_COUNT, free_ones));
	result_loss(r, "unread", "processes that could not be read", list->unread);
}
