/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwloc's XML, version 2, read without trust: sizes are capped, what is not known is skipped, and
 * errors name the byte.
 */
#include "analysis/topology.h"

#include "base/buf.h"
#include "base/parse.h"

enum { ATTRS_MOST = 48, TEXT_MOST = 1 << 20, WORD_BITS = 32 };

struct attr {
	const char *name;
	size_t name_len;
	const char *value; /* as it stands, entities and all */
	size_t value_len;
};

struct tag {
	const char *name;
	size_t len;
	struct attr attrs[ATTRS_MOST];
	size_t n_attrs;
	bool closes; /* </x> */
	bool empty;  /* <x/> */
};

struct xml {
	struct topo_tree *tree;
	const char *start, *p, *end;
	struct err *err;
	struct topo_obj *open[TOPO_DEPTH_MOST]; /* objects that are not closed; NULL: skipped */
	size_t depth;
	u32 nodes;       /* of the distances that are read */
	u32 *values;     /* of them; NULL: none are read */
	size_t n_values; /* so far: they come in pieces */
};

/* --- tags ------------------------------------------------------------------------------------- */

static int fault(struct xml *x, const char *what)
{
	err_set(x->err, EINVAL, "%s at byte %zu", what, (size_t)(x->p - x->start));
	err_hint(x->err, "write it with: lstopo --of xml FILE, or fathom topology -o FILE.xml");
	return -EINVAL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct xml *x)
{
	while (x->p < x->end && is_space(*x->p))
		x->p++;
}

static size_t name_length(const struct xml *x)
{
	size_t n = 0;

	while (x->p + n < x->end && !is_space(x->p[n]) && !strchr("=/><\"'", x->p[n]))
		n++;
	return n;
}

static int read_attr(struct xml *x, struct tag *t)
{
	struct attr a = { .name = x->p, .name_len = name_length(x) };
	const char *quote;

	x->p += a.name_len;
	skip_space(x);
	if (!a.name_len || x->p >= x->end || *x->p != '=')
		return fault(x, "an attribute without a value");
	x->p++;
	skip_space(x);
	if (x->p >= x->end || (*x->p != '"' && *x->p != '\''))
		return fault(x, "a value without quotes");
	quote = memchr(x->p + 1, *x->p, (size_t)(x->end - x->p - 1));
	if (!quote)
		return fault(x, "a value that does not end");
	a.value = x->p + 1;
	a.value_len = (size_t)(quote - a.value);
	x->p = quote + 1;
	if (t->n_attrs < ATTRS_MOST)
		t->attrs[t->n_attrs++] = a;
	return 0;
}

/* After '<'. */
static int read_tag(struct xml *x, struct tag *t)
{
	*t = (struct tag){ 0 };
	t->closes = x->p < x->end && *x->p == '/';
	x->p += t->closes;
	t->name = x->p;
	t->len = name_length(x);
	if (!t->len)
		return fault(x, "a tag without a name");
	x->p += t->len;
	for (;;) {
		skip_space(x);
		if (x->p >= x->end)
			return fault(x, "a tag that does not end");
		if (*x->p == '>') {
			x->p++;
			return 0;
		}
		if (*x->p == '/') {
			t->empty = true;
			x->p++;
			continue;
		}
		if (read_attr(x, t) < 0)
			return -EINVAL;
	}
}

/* To the next tag that is an element; 0: the end. <0: a fault. */
static int next_tag(struct xml *x, struct tag *t)
{
	for (;;) {
		const char *open = memchr(x->p, '<', (size_t)(x->end - x->p));
		const char *close;

		if (!open)
			return 0;
		x->p = open + 1;
		if (x->p < x->end && *x->p != '?' && *x->p != '!')
			return read_tag(x, t) < 0 ? -EINVAL : 1;
		close = memchr(x->p, '>', (size_t)(x->end - x->p));
		if (!close)
			return fault(x, "a declaration that does not end");
		x->p = close + 1;
	}
}

static bool tag_is(const struct tag *t, const char *name)
{
	return t->len == strlen(name) && memcmp(t->name, name, t->len) == 0;
}

static const struct attr *attr_of(const struct tag *t, const char *name)
{
	for (size_t i = 0; i < t->n_attrs; i++) {
		if (t->attrs[i].name_len == strlen(name) &&
		    memcmp(t->attrs[i].name, name, t->attrs[i].name_len) == 0)
			return &t->attrs[i];
	}
	return NULL;
}

static bool attr_is(const struct tag *t, const char *name, const char *value)
{
	const struct attr *a = attr_of(t, name);

	return a && a->value_len == strlen(value) && memcmp(a->value, value, a->value_len) == 0;
}

static u64 attr_number(const struct tag *t, const char *name, u64 otherwise)
{
	const struct attr *a = attr_of(t, name);
	const char *at = a ? a->value : NULL;
	u64 v;

	return a && scan_u64(&at, a->value + a->value_len, 10, &v) ? v : otherwise;
}

/* The five entities that every XML has; others stay as they are. */
static char *attr_text(struct topo_tree *tree, const struct attr *a)
{
	static const struct {
		const char *name;
		char c;
	} entities[] = { { "&amp;", '&' },
			 { "&lt;", '<' },
			 { "&gt;", '>' },
			 { "&quot;", '"' },
			 { "&apos;", '\'' } };
	size_t len = MIN(a->value_len, TEXT_MOST), n = 0;
	char *out = arena_alloc(&tree->arena, len + 1);

	for (size_t i = 0; i < len;) {
		size_t k = 0;

		while (k < ARRAY_SIZE(entities) &&
		       (len - i < strlen(entities[k].name) ||
			memcmp(a->value + i, entities[k].name, strlen(entities[k].name)) != 0))
			k++;
		out[n++] = k < ARRAY_SIZE(entities) ? entities[k].c : a->value[i];
		i += k < ARRAY_SIZE(entities) ? strlen(entities[k].name) : 1;
	}
	out[n] = '\0';
	return out;
}

/* --- sets: "0x0000000f,,0xffffffff", the highest word first, nothing for 0 ---------------------
 */

static int read_set(struct xml *x, const struct attr *a, u64 *set, size_t words, u32 *ret_last)
{
	const char *end = a->value + a->value_len;
	u32 word = 0;

	while (end > a->value) {
		const char *begin = end, *at;
		u64 v = 0;

		while (begin > a->value && begin[-1] != ',')
			begin--;
		at = begin;
		if (end - at > 2 && at[0] == '0' && at[1] == 'x')
			at += 2;
		if (at != end && (!scan_u64(&at, end, 16, &v) || at != end || v > UINT32_MAX))
			return fault(x, "not a set of CPUs");
		if (v && (word + 1) * WORD_BITS > TOPOLOGY_CPUS_MOST)
			return fault(x, "a set with too many CPUs");
		if (v)
			*ret_last = word * WORD_BITS + 31 - (u32)__builtin_clz((u32)v);
		if (set && word / 2 < words)
			set[word / 2] |= v << (word % 2 ? WORD_BITS : 0);
		else if (set && v)
			return fault(x, "a CPU that the machine does not have");
		word++;
		end = begin > a->value ? begin - 1 : begin;
	}
	return 0;
}

/* --- objects ---------------------------------------------------------------------------------- */

/* False: not a type that is shown. "L2Cache", "L1iCache" */
static bool type_of(const struct tag *t, enum topo_type *ret, struct topo_cache *ret_cache)
{
	static const struct {
		const char *name;
		enum topo_type type;
	} types[] = {
		{ "Machine", TOPO_MACHINE }, { "Group", TOPO_GROUP },   { "Package", TOPO_PACKAGE },
		{ "Die", TOPO_DIE },         { "Core", TOPO_CORE },     { "PU", TOPO_CPU },
		{ "NUMANode", TOPO_NODE },   { "Bridge", TOPO_BRIDGE }, { "PCIDev", TOPO_PCI },
		{ "OSDev", TOPO_DEVICE },
	};
	const struct attr *a = attr_of(t, "type");

	for (size_t i = 0; a && i < ARRAY_SIZE(types); i++) {
		if (attr_is(t, "type", types[i].name)) {
			*ret = types[i].type;
			return true;
		}
	}
	if (!a || a->value_len < strlen("L1Cache") || a->value[0] != 'L' || a->value[1] < '1' ||
	    a->value[1] > '5')
		return false;
	*ret = TOPO_CACHE;
	*ret_cache = (struct topo_cache){
		.level = (u32)(a->value[1] - '0'),
		.type = (enum topology_cache_type)MIN(attr_number(t, "cache_type", 0), 2),
		.size = attr_number(t, "cache_size", 0),
		.line = (u32)MIN(attr_number(t, "cache_linesize", 0), UINT32_MAX),
		/* -1: fully associative */
		.ways = (u32)MIN(attr_number(t, "cache_associativity", 0), UINT32_MAX),
	};
	return true;
}

/* "0000:3b:00.0", "0200 [8086:1572] [8086:0000] 02" */
static void read_pci(const struct tag *t, struct topology_pci *p)
{
	const struct attr *bus = attr_of(t, "pci_busid"), *type = attr_of(t, "pci_type");
	unsigned int d, b, s, f, class, v, dev, sv, sd, rev;
	char text[64];

	if (bus && bus->value_len < sizeof(text)) {
		snprintf(text, sizeof(text), "%.*s", (int)bus->value_len, bus->value);
		if (sscanf(text, "%8x:%2x:%2x.%1x", &d, &b, &s, &f) == 4) {
			p->domain = d;
			p->bus = (u8)b;
			p->slot = (u8)s;
			p->function = (u8)f;
		}
	}
	if (type && type->value_len < sizeof(text)) {
		snprintf(text, sizeof(text), "%.*s", (int)type->value_len, type->value);
		if (sscanf(text, "%4x [%4x:%4x] [%4x:%4x] %2x", &class, &v, &dev, &sv, &sd, &rev) ==
		    6) {
			p->class = class << 8;
			p->vendor = (u16)v;
			p->device = (u16)dev;
			p->subvendor = (u16)sv;
			p->subdevice = (u16)sd;
			p->revision = (u8)rev;
		}
	}
}

static void read_bridge(const struct tag *t, struct topo_obj *o)
{
	const struct attr *buses = attr_of(t, "bridge_pci");
	unsigned int domain, first, last;
	char text[64];

	o->pci.host = attr_is(t, "bridge_type", "0-1");
	o->pci.at.bridge = !o->pci.host;
	if (!buses || buses->value_len >= sizeof(text))
		return;
	snprintf(text, sizeof(text), "%.*s", (int)buses->value_len, buses->value);
	if (sscanf(text, "%8x:[%2x-%2x]", &domain, &first, &last) == 3) {
		o->pci.at.domain = domain;
		o->pci.at.first_bus = (u8)first;
		o->pci.at.last_bus = (u8)last;
	}
}

static void read_fields(struct xml *x, const struct tag *t, struct topo_obj *o)
{
	const struct attr *name = attr_of(t, "name"), *subtype = attr_of(t, "subtype");

	o->bytes = attr_number(t, "local_memory", 0);
	if (o->type == TOPO_PCI || o->type == TOPO_BRIDGE)
		read_pci(t, &o->pci.at);
	if (o->type == TOPO_BRIDGE)
		read_bridge(t, o);
	if (o->type == TOPO_DEVICE)
		o->device = (enum topology_device_type)MIN(attr_number(t, "osdev_type", 0), 5);
	if (name)
		o->name = attr_text(x->tree, name);
	if (subtype)
		o->subtype = attr_text(x->tree, subtype);
}

static struct topo_obj *parent_at(const struct xml *x)
{
	for (size_t i = x->depth; i-- > 0;) {
		if (x->open[i])
			return x->open[i];
	}
	return NULL;
}

static int begin_machine(struct xml *x, const struct tag *t)
{
	const struct attr *cpus = attr_of(t, "cpuset");
	u32 last = 0;

	if (x->tree->root)
		return fault(x, "a second machine");
	if (!cpus)
		return fault(x, "a machine without a set of CPUs");
	if (read_set(x, cpus, NULL, 0, &last) < 0)
		return -EINVAL;
	x->tree->words = last / 64 + 1;
	return 0;
}

static void attach(struct topo_obj *at, struct topo_obj *o)
{
	o->parent = at;
	if (o->type == TOPO_NODE)
		topo_append(&at->memory, o);
	else if (o->cpus)
		topo_append(&at->children, o);
	else
		topo_append(&at->devices, o);
}

static int begin_object(struct xml *x, const struct tag *t, struct topo_obj **ret)
{
	const struct attr *cpus = attr_of(t, "cpuset");
	struct topo_obj *at = parent_at(x), *o;
	struct topo_cache cache = { 0 };
	enum topo_type type;
	u64 index;
	u32 last;

	*ret = NULL;
	if (!type_of(t, &type, &cache))
		return 0;
	if (x->tree->n_objects >= TOPO_OBJECTS_MOST)
		return fault(x, "too many objects");
	if (type == TOPO_MACHINE && begin_machine(x, t) < 0)
		return -EINVAL;
	if (type != TOPO_MACHINE && !at)
		return fault(x, "an object outside of a machine");
	index = attr_number(t, "os_index", UINT64_MAX);
	o = topo_new(x->tree, type, index > INT32_MAX ? -1 : (s32)index);
	o->cache = cache;
	if (o->cpus && cpus && read_set(x, cpus, o->cpus, x->tree->words, &last) < 0)
		return -EINVAL;
	if (type == TOPO_CPU && (o->index < 0 || (u32)o->index >= x->tree->words * 64))
		return fault(x, "a CPU without a number");
	read_fields(x, t, o);
	if (type == TOPO_MACHINE)
		x->tree->root = o;
	else
		attach(at, o);
	*ret = o;
	return 0;
}

/* Size of a disk (in KiB), address of a card, model of the processor. */
static void read_info(struct xml *x, const struct tag *t)
{
	struct topo_obj *o = parent_at(x);
	const struct attr *value = attr_of(t, "value");

	if (!o || !value)
		return;
	if (o->type == TOPO_DEVICE && attr_is(t, "name", "Size"))
		o->bytes = MIN(attr_number(t, "value", 0), UINT64_MAX / 1024) * 1024;
	else if (o->type == TOPO_DEVICE && attr_is(t, "name", "Address"))
		o->subtype = attr_text(x->tree, value);
	else if (attr_is(t, "name", "CPUModel") && !x->tree->model)
		x->tree->model = attr_text(x->tree, value);
}

/* --- distances -------------------------------------------------------------------------------- */

static void begin_distances(struct xml *x, const struct tag *t)
{
	u64 n = attr_number(t, "nbobjs", 0);

	x->values = NULL;
	x->n_values = 0;
	if (!attr_is(t, "type", "NUMANode") || n < 2 || n > TOPOLOGY_NODES_MOST ||
	    x->tree->distances)
		return;
	x->nodes = (u32)n;
	x->values = arena_alloc(&x->tree->arena, (size_t)(n * n) * sizeof(u32));
}

static void read_values(struct xml *x)
{
	size_t most = (size_t)x->nodes * x->nodes;
	const char *at = x->p;
	u64 v;

	while (x->values && x->n_values < most) {
		while (at < x->end && is_space(*at))
			at++;
		if (!scan_u64(&at, x->end, 10, &v))
			return;
		x->values[x->n_values++] = (u32)MIN(v, UINT32_MAX);
	}
	if (x->values) /* all are there */
		x->tree->distances = TAKE_PTR(x->values);
}

/* --- all -------------------------------------------------------------------------------------- */

static int take_tag(struct xml *x, const struct tag *t)
{
	struct topo_obj *o = NULL;

	if (tag_is(t, "object")) {
		if (t->closes) {
			if (!x->depth)
				return fault(x, "an end without a begin");
			x->depth--;
			return 0;
		}
		if (begin_object(x, t, &o) < 0)
			return -EINVAL;
		if (t->empty)
			return 0;
		if (x->depth >= TOPO_DEPTH_MOST)
			return fault(x, "objects within objects without end");
		x->open[x->depth++] = o;
	} else if (tag_is(t, "info") && !t->closes) {
		read_info(x, t);
	} else if (tag_is(t, "distances2") && !t->closes) {
		begin_distances(x, t);
	} else if (tag_is(t, "u64values") && !t->closes) {
		read_values(x);
	}
	return 0;
}

static void sum_memory(const struct topo_obj *o, int depth UNUSED, void *ctx)
{
	u64 *sum = ctx;

	if (o->type == TOPO_NODE)
		*sum += o->bytes;
}

int topo_parse_xml(struct topo_tree *t, const char *text, size_t len, struct err *e)
{
	struct xml x = { .tree = t, .start = text, .p = text, .end = text + len, .err = e };
	struct tag tag;
	int rc;

	*t = (struct topo_tree){ 0 };
	while ((rc = next_tag(&x, &tag)) > 0) {
		rc = take_tag(&x, &tag);
		if (rc < 0)
			break;
	}
	if (rc >= 0 && (!t->root || x.depth))
		rc = fault(&x, t->root ? "objects that do not end" : "no machine in it");
	if (rc < 0) {
		topo_release(t);
		return rc;
	}
	topo_number(t);
	if (t->distances && x.nodes != t->n_nodes)
		t->distances = NULL;
	topo_walk(t->root, 0, sum_memory, &t->memory);
	return 0;
}
