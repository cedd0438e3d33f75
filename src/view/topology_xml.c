/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/topology_form.h"

#include "view/svg.h"

struct xml_out {
	const struct topo_tree *tree;
	struct buf *out;
	u64 number; /* gp_index: each object has one */
};

static void add_text(struct xml_out *x, const char *s)
{
	svg_escape(x->out, s, strlen(s), true);
}

/* "0x0000000f,0xffffffff": words of 32 bits, the highest first. */
static void add_set(struct xml_out *x, const char *name, const u64 *set, size_t words)
{
	bool begun = false;

	buf_addf(x->out, " %s=\"", name);
	for (size_t i = words * 2; i-- > 0;) {
		u32 word = (u32)(set[i / 2] >> (i % 2 ? 32 : 0));

		if (!word && !begun && i)
			continue;
		buf_addf(x->out, "%s0x%08x", begun ? "," : "", word);
		begun = true;
	}
	buf_addch(x->out, '"');
}

struct node_search {
	const struct topo_tree *tree;
	const u64 *cpus;
	u64 nodes[TOPOLOGY_NODES_MOST / 64];
	size_t words;
};

static void find_node(const struct topo_obj *o, int depth UNUSED, void *ctx)
{
	struct node_search *s = ctx;
	bool near = false;

	if (o->type != TOPO_NODE || o->index < 0 || o->index >= TOPOLOGY_NODES_MOST)
		return;
	for (size_t i = 0; i < s->tree->words; i++)
		near |= (o->cpus[i] & s->cpus[i]) != 0;
	if (near)
		s->nodes[o->index / 64] |= 1ull << o->index % 64;
}

static void add_sets(struct xml_out *x, const struct topo_obj *o)
{
	struct node_search s = { .tree = x->tree, .cpus = o->cpus };
	size_t words = x->tree->words;

	if (!o->cpus)
		return;
	if (o->type == TOPO_NODE && o->index >= 0 && o->index < TOPOLOGY_NODES_MOST)
		s.nodes[o->index / 64] |= 1ull << o->index % 64;
	else
		topo_walk(x->tree->root, 0, find_node, &s);
	add_set(x, "cpuset", o->cpus, words);
	add_set(x, "complete_cpuset", o->cpus, words);
	if (o->type == TOPO_MACHINE)
		add_set(x, "allowed_cpuset", o->cpus, words);
	add_set(x, "nodeset", s.nodes, ARRAY_SIZE(s.nodes));
	add_set(x, "complete_nodeset", s.nodes, ARRAY_SIZE(s.nodes));
	if (o->type == TOPO_MACHINE)
		add_set(x, "allowed_nodeset", s.nodes, ARRAY_SIZE(s.nodes));
}

static void add_type(struct xml_out *x, const struct topo_obj *o)
{
	static const char *const names[] = {
		[TOPO_MACHINE] = "Machine", [TOPO_GROUP] = "Group",   [TOPO_PACKAGE] = "Package",
		[TOPO_DIE] = "Die",         [TOPO_CORE] = "Core",     [TOPO_CPU] = "PU",
		[TOPO_NODE] = "NUMANode",   [TOPO_BRIDGE] = "Bridge", [TOPO_PCI] = "PCIDev",
		[TOPO_DEVICE] = "OSDev",
	};

	if (o->type == TOPO_CACHE)
		buf_addf(x->out, " type=\"L%u%sCache\"", o->cache.level,
			 o->cache.type == TOPOLOGY_INSTRUCTION ? "i" : "");
	else
		buf_addf(x->out, " type=\"%s\"", names[o->type]);
	if (o->type == TOPO_GROUP && o->subtype) {
		buf_addstr(x->out, " subtype=\"");
		add_text(x, o->subtype);
		buf_addch(x->out, '"');
	}
	if (o->index >= 0)
		buf_addf(x->out, " os_index=\"%d\"", o->index);
}

static void add_pci(struct xml_out *x, const struct topo_obj *o)
{
	const struct topology_pci *p = &o->pci.at;

	if (o->type == TOPO_BRIDGE)
		buf_addf(x->out, " bridge_type=\"%s\" depth=\"%d\" bridge_pci=\"%04x:[%02x-%02x]\"",
			 o->pci.host ? "0-1" : "1-1", o->pci.host ? 0 : 1, p->domain, p->first_bus,
			 p->last_bus);
	if (o->type == TOPO_PCI || !o->pci.host)
		buf_addf(x->out,
			 " pci_busid=\"%04x:%02x:%02x.%x\" pci_type=\"%04x [%04x:%04x] "
			 "[%04x:%04x] %02x\" pci_link_speed=\"%.6f\"",
			 p->domain, p->bus, p->slot, p->function, p->class >> 8, p->vendor,
			 p->device, p->subvendor, p->subdevice, p->revision, p->link);
}

static void add_details(struct xml_out *x, const struct topo_obj *o)
{
	switch (o->type) {
	case TOPO_CACHE:
		buf_addf(x->out,
			 " cache_size=\"%llu\" depth=\"%u\" cache_linesize=\"%u\" "
			 "cache_associativity=\"%u\" cache_type=\"%d\"",
			 (unsigned long long)o->cache.size, o->cache.level, o->cache.line,
			 o->cache.ways, (int)o->cache.type);
		break;
	case TOPO_NODE:
		buf_addf(x->out, " local_memory=\"%llu\"", (unsigned long long)o->bytes);
		break;
	case TOPO_GROUP: buf_addstr(x->out, " kind=\"0\" subkind=\"0\""); break;
	case TOPO_BRIDGE:
	case TOPO_PCI: add_pci(x, o); break;
	case TOPO_DEVICE:
		buf_addstr(x->out, " name=\"");
		add_text(x, o->name ? o->name : "");
		buf_addf(x->out, "\" osdev_type=\"%d\"", (int)o->device);
		break;
	default: break;
	}
}

static void add_info(struct xml_out *x, int depth, const char *name, const char *value)
{
	buf_fill(x->out, ' ', 2 * (size_t)depth);
	buf_addf(x->out, "<info name=\"%s\" value=\"", name);
	add_text(x, value);
	buf_addstr(x->out, "\"/>\n");
}

static void add_infos(struct xml_out *x, const struct topo_obj *o, int depth)
{
	char size[32];

	if (o->type == TOPO_MACHINE) {
		add_info(x, depth, "Backend", "Linux");
		add_info(x, depth, "OSName", "Linux");
	}
	if (o->type == TOPO_PACKAGE && x->tree->model)
		add_info(x, depth, "CPUModel", x->tree->model);
	if (o->type == TOPO_DEVICE && o->device == TOPOLOGY_BLOCK && o->bytes) {
		snprintf(size, sizeof(size), "%llu", (unsigned long long)(o->bytes >> 10));
		add_info(x, depth, "Size", size);
	}
	if (o->type == TOPO_DEVICE && o->device == TOPOLOGY_NET && o->subtype)
		add_info(x, depth, "Address", o->subtype);
}

static void add_object(struct xml_out *x, const struct topo_obj *o, int depth);

static void add_list(struct xml_out *x, const struct topo_obj *o, int depth)
{
	for (; o; o = o->next)
		add_object(x, o, depth);
}

static void add_object(struct xml_out *x, const struct topo_obj *o, int depth)
{
	if (depth > TOPO_DEPTH_MOST)
		return;
	buf_fill(x->out, ' ', 2 * (size_t)depth);
	buf_addstr(x->out, "<object");
	add_type(x, o);
	add_sets(x, o);
	buf_addf(x->out, " gp_index=\"%llu\"", (unsigned long long)++x->number);
	add_details(x, o);
	buf_addstr(x->out, ">\n");
	add_infos(x, o, depth + 1);
	add_list(x, o->memory, depth + 1);
	add_list(x, o->children, depth + 1);
	add_list(x, o->devices, depth + 1);
	buf_fill(x->out, ' ', 2 * (size_t)depth);
	buf_addstr(x->out, "</object>\n");
}

static void list_nodes(const struct topo_obj *o, int depth UNUSED, void *ctx)
{
	if (o->type == TOPO_NODE)
		buf_addf(ctx, "%d ", o->index);
}

static void add_distances(struct xml_out *x)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t n = x->tree->n_nodes;

	if (!x->tree->distances)
		return;
	topo_walk(x->tree->root, 0, list_nodes, &text);
	buf_addf(x->out,
		 "  <distances2 type=\"NUMANode\" nbobjs=\"%zu\" kind=\"5\" name=\"NUMALatency\" "
		 "indexing=\"os\">\n    <indexes length=\"%zu\">%s</indexes>\n",
		 n, text.len, buf_str(&text));
	buf_reset(&text);
	for (size_t i = 0; i < n * n; i++)
		buf_addf(&text, "%u ", x->tree->distances[i]);
	buf_addf(x->out, "    <u64values length=\"%zu\">%s</u64values>\n  </distances2>\n",
		 text.len, buf_str(&text));
}

void topology_form_xml(const struct topo_tree *t, struct buf *out)
{
	struct xml_out x = { .tree = t, .out = out };

	buf_addstr(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
			"<topology version=\"2.0\">\n");
	add_object(&x, t->root, 1);
	add_distances(&x);
	buf_addstr(out, "</topology>\n");
}
