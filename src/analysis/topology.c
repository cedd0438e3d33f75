/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/topology.h"

#include "base/buf.h"
#include "base/fmt.h"

/* --- sets of CPUs ----------------------------------------------------------------------------- */

static u64 *set_new(struct topo_tree *t)
{
	return arena_zalloc(&t->arena, t->words * sizeof(u64));
}

static bool set_equal(const struct topo_tree *t, const u64 *a, const u64 *b)
{
	return memcmp(a, b, t->words * sizeof(u64)) == 0;
}

static bool set_holds(const struct topo_tree *t, const u64 *outer, const u64 *inner)
{
	for (size_t i = 0; i < t->words; i++) {
		if (inner[i] & ~outer[i])
			return false;
	}
	return true;
}

static bool set_meets(const struct topo_tree *t, const u64 *a, const u64 *b)
{
	for (size_t i = 0; i < t->words; i++) {
		if (a[i] & b[i])
			return true;
	}
	return false;
}

size_t topo_count(const struct topo_tree *t, const u64 *set)
{
	size_t n = 0;

	for (size_t i = 0; i < t->words; i++)
		n += (size_t)__builtin_popcountll(set[i]);
	return n;
}

u32 topo_first(const struct topo_tree *t, const u64 *set)
{
	for (size_t i = 0; i < t->words; i++) {
		if (set[i])
			return (u32)(i * 64) + (u32)__builtin_ctzll(set[i]);
	}
	return UINT32_MAX;
}

void topo_cpu_list(const struct topo_tree *t, const u64 *set, struct buf *out)
{
	u32 end = (u32)(t->words * 64);
	bool any = false;

	for (u32 i = 0; i < end; i++) {
		u32 last = i;

		if (!topo_has(set, i))
			continue;
		while (last + 1 < end && topo_has(set, last + 1))
			last++;
		buf_addf(out, "%s%u", any ? "," : "", i);
		if (last > i)
			buf_addf(out, "-%u", last);
		any = true;
		i = last;
	}
}

/* --- objects ---------------------------------------------------------------------------------- */

struct topo_obj *topo_new(struct topo_tree *t, enum topo_type type, s32 index)
{
	struct topo_obj *o = arena_zalloc(&t->arena, sizeof(*o));

	o->type = type;
	o->index = index;
	if (type <= TOPO_NODE)
		o->cpus = set_new(t);
	t->n_objects++;
	return o;
}

void topo_append(struct topo_obj **list, struct topo_obj *o)
{
	while (*list)
		list = &(*list)->next;
	*list = o;
}

void topo_release(struct topo_tree *t)
{
	arena_release(&t->arena);
	*t = (struct topo_tree){ 0 };
}

/* Of objects with the same CPUs, the smaller rank is further out. */
static int rank_of(const struct topo_obj *o)
{
	switch (o->type) {
	case TOPO_MACHINE: return 0;
	case TOPO_PACKAGE: return 1;
	case TOPO_DIE: return 2;
	case TOPO_CACHE:
		return (o->cache.type == TOPOLOGY_INSTRUCTION ? 20 : 10) + 9 - (int)o->cache.level;
	case TOPO_CORE: return 30;
	case TOPO_CPU: return 31;
	default: return 40; /* groups: only where nothing else holds the same */
	}
}

/* --- insertion -------------------------------------------------------------------------------- */

typedef VEC(struct topo_obj *) obj_list;

struct sort_context {
	const struct topo_tree *tree;
};

static int insert_order(const void *a, const void *b, void *ctx)
{
	const struct topo_obj *x = *(struct topo_obj *const *)a, *y = *(struct topo_obj *const *)b;
	const struct topo_tree *t = ((const struct sort_context *)ctx)->tree;
	size_t nx = topo_count(t, x->cpus), ny = topo_count(t, y->cpus);
	u32 fx = topo_first(t, x->cpus), fy = topo_first(t, y->cpus);

	if (nx != ny)
		return nx > ny ? -1 : 1;
	if (fx != fy)
		return fx < fy ? -1 : 1;
	return rank_of(x) - rank_of(y);
}

/* Siblings are in the order of their first CPUs. */
static void insert_sorted(const struct topo_tree *t, struct topo_obj **list, struct topo_obj *o)
{
	u32 first = topo_first(t, o->cpus);

	while (*list && topo_first(t, (*list)->cpus) < first)
		list = &(*list)->next;
	o->next = *list;
	*list = o;
}

/* Large ones come first: the parent is the last that holds it. */
static void insert(struct topo_tree *t, struct topo_obj *o)
{
	struct topo_obj *at = t->root, *child = at->children;

	while (child) {
		if (set_holds(t, child->cpus, o->cpus)) {
			at = child;
			child = at->children;
			continue;
		}
		if (set_meets(t, child->cpus, o->cpus)) {
			t->contradictions++;
			return;
		}
		child = child->next;
	}
	if (o->type == TOPO_GROUP && set_equal(t, at->cpus, o->cpus))
		return; /* it groups nothing new */
	o->parent = at;
	insert_sorted(t, &at->children, o);
}

/* Bits for all CPUs of @facts for which @key is the same as that of @like. */
static void fill_same(const struct topology *facts, const struct topology_cpu *like, int depth,
		      u64 *set)
{
	vec_each(c, &facts->cpus) {
		if (c->online && c->package == like->package &&
		    (depth < 1 || c->die == like->die) &&
		    (depth < 2 || c->cluster == like->cluster) &&
		    (depth < 3 || c->core == like->core))
			set[c->cpu / 64] |= 1ull << c->cpu % 64;
	}
}

/*
 * The objects that CPU @c is the first of: a package, a die of several, a cluster, a core. Each is
 * made once, by its first CPU.
 */
static void add_of_ids(struct topo_tree *t, const struct topology *facts,
		       const struct topology_cpu *c, obj_list *out)
{
	const struct {
		enum topo_type type;
		s32 id;
		int depth;
	} levels[] = {
		{ TOPO_PACKAGE, c->package, 0 },
		{ TOPO_DIE, c->die, 1 },
		{ TOPO_GROUP, c->cluster, 2 },
		{ TOPO_CORE, c->core, 3 },
	};
	const u64 *outer = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		struct topo_obj *o;

		if (levels[i].id < 0)
			continue;
		o = topo_new(t, levels[i].type, levels[i].id);
		fill_same(facts, c, levels[i].depth, o->cpus);
		if (topo_first(t, o->cpus) != c->cpu)
			continue;
		/* a die or cluster that is the whole package tells nothing */
		if (levels[i].type != TOPO_CORE && outer && set_equal(t, outer, o->cpus))
			continue;
		if (levels[i].type == TOPO_GROUP)
			o->subtype = "Cluster";
		outer = o->cpus;
		vec_push(out, o);
	}
}

static void add_caches(struct topo_tree *t, const struct topology *facts, obj_list *out)
{
	vec_each(c, &facts->caches) {
		struct topo_obj *o = topo_new(t, TOPO_CACHE, c->id);

		o->cache = (struct topo_cache){ c->level, c->type, c->size, c->line, c->ways };
		vec_each(cpu, &facts->cpus) {
			if (cpu->online && ranges_contain(&c->cpus, cpu->cpu))
				o->cpus[cpu->cpu / 64] |= 1ull << cpu->cpu % 64;
		}
		if (topo_first(t, o->cpus) != UINT32_MAX)
			vec_push(out, o);
	}
}

static void add_cpu(struct topo_tree *t, const struct topology_cpu *c, obj_list *out)
{
	struct topo_obj *o = topo_new(t, TOPO_CPU, (s32)c->cpu);

	o->cpus[c->cpu / 64] |= 1ull << c->cpu % 64;
	o->kind = c->kind; /* a literal */
	o->capacity = c->capacity;
	vec_push(out, o);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The outermost object below the machine that holds just these CPUs. */
static struct topo_obj *find_equal(const struct topo_tree *t, const u64 *cpus)
{
	struct topo_obj *o = t->root->children;

	while (o) {
		if (set_equal(t, o->cpus, cpus))
			return o;
		o = set_holds(t, o->cpus, cpus) ? o->children : o->next;
	}
	return NULL;
}

/* Puts a group around those children of its parent that it holds. */
static struct topo_obj *make_group(struct topo_tree *t, const u64 *cpus)
{
	struct topo_obj *at = t->root, *o = at->children, *group, **link;

	while (o) {
		if (set_holds(t, o->cpus, cpus)) {
			at = o;
			o = at->children;
			continue;
		}
		if (set_meets(t, o->cpus, cpus) && !set_holds(t, cpus, o->cpus)) {
			t->contradictions++;
			return at;
		}
		o = o->next;
	}
	group = topo_new(t, TOPO_GROUP, -1);
	memcpy(group->cpus, cpus, t->words * sizeof(u64));
	group->parent = at;
	insert_sorted(t, &at->children, group);
	for (link = &group->next; *link;) {
		o = *link;
		if (!set_holds(t, cpus, o->cpus)) {
			link = &o->next;
			continue;
		}
		*link = o->next;
		o->next = NULL;
		o->parent = group;
		topo_append(&group->children, o);
	}
	return group;
}

static void add_node(struct topo_tree *t, const struct topology *facts,
		     const struct topology_node *n)
{
	struct topo_obj *o = topo_new(t, TOPO_NODE, (s32)n->node), *at;

	o->bytes = n->memory;
	vec_each(c, &facts->cpus) {
		if (c->online && ranges_contain(&n->cpus, c->cpu))
			o->cpus[c->cpu / 64] |= 1ull << c->cpu % 64;
	}
	if (topo_first(t, o->cpus) == UINT32_MAX) {
		at = t->root; /* memory without CPUs */
		memcpy(o->cpus, t->root->cpus, t->words * sizeof(u64));
	} else {
		at = find_equal(t, o->cpus);
		if (!at)
			at = set_equal(t, t->root->cpus, o->cpus) ? t->root
								  : make_group(t, o->cpus);
		while (at->type == TOPO_CPU)
			at = at->parent;
	}
	o->parent = at;
	topo_append(&at->memory, o);
}

static void add_distances(struct topo_tree *t, const struct topology *facts)
{
	size_t n = facts->nodes.len;

	if (n < 2)
		return;
	vec_each(node, &facts->nodes) {
		if (node->distances.len != n)
			return;
	}
	t->distances = arena_alloc(&t->arena, n * n * sizeof(u32));
	for (size_t i = 0; i < n; i++)
		memcpy(t->distances + i * n, facts->nodes.items[i].distances.items,
		       n * sizeof(u32));
}

/* --- devices ---------------------------------------------------------------------------------- */

const char *topo_pci_class(u32 class)
{
	static const struct {
		u32 mask, class;
		const char *name;
	} names[] = {
		{ 0xffff00, 0x010800, "NVMExp" },     { 0xffff00, 0x010600, "SATA" },
		{ 0xffff00, 0x010700, "SAS" },        { 0xffff00, 0x010400, "RAID" },
		{ 0xff0000, 0x010000, "Storage" },    { 0xffff00, 0x020000, "Ethernet" },
		{ 0xffff00, 0x020700, "InfiniBand" }, { 0xff0000, 0x020000, "Network" },
		{ 0xffff00, 0x030000, "VGA" },        { 0xffff00, 0x030200, "3D" },
		{ 0xff0000, 0x030000, "Display" },    { 0xffff00, 0x0b4000, "Co-Processor" },
		{ 0xffff00, 0x0c0400, "Fibre" },      { 0xffff00, 0x0c0600, "InfiniBand" },
		{ 0xffff00, 0x050200, "CXLMem" },     { 0xff0000, 0x120000, "Accelerator" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if ((class & names[i].mask) == names[i].class)
			return names[i].name;
	}
	return NULL;
}

/* What is shown: devices that people look for, and bridges that lead to one. */
static void mark_shown(const struct topology *facts, bool *shown)
{
	for (size_t i = facts->pci.len; i-- > 0;) {
		const struct topology_pci *p = &facts->pci.items[i];

		if (!p->bridge && topo_pci_class(p->class))
			shown[i] = true;
		/* bridges have smaller addresses than what is after them */
		if (shown[i] && p->parent)
			shown[p->parent - 1] = true;
	}
}

static struct topo_obj *near_cpus(struct topo_tree *t, const struct topology *facts,
				  const struct topology_pci *p)
{
	u64 *cpus = set_new(t);
	struct topo_obj *o;

	vec_each(c, &facts->cpus) {
		if (c->online && ranges_contain(&p->cpus, c->cpu))
			cpus[c->cpu / 64] |= 1ull << c->cpu % 64;
	}
	if (topo_first(t, cpus) == UINT32_MAX || set_equal(t, cpus, t->root->cpus))
		return t->root;
	o = find_equal(t, cpus);
	if (!o)
		o = make_group(t, cpus);
	while (o->type == TOPO_CPU)
		o = o->parent;
	return o;
}

/* One for each bus at the host, near the CPUs of the first device there. */
static struct topo_obj *host_bridge(struct topo_tree *t, const struct topology *facts,
				    const struct topology_pci *p, obj_list *hosts)
{
	struct topo_obj *o;

	vec_each(h, hosts) {
		if ((*h)->pci.at.domain == p->domain && (*h)->pci.at.first_bus == p->bus)
			return *h;
	}
	o = topo_new(t, TOPO_BRIDGE, -1);
	o->pci.host = true;
	o->pci.at.domain = p->domain;
	o->pci.at.first_bus = o->pci.at.last_bus = p->bus;
	o->parent = near_cpus(t, facts, p);
	topo_append(&o->parent->devices, o);
	vec_push(hosts, o);
	return o;
}

static void add_pci(struct topo_tree *t, const struct topology *facts, struct topo_obj **objects)
{
	_cleanup_free_ bool *shown = xcalloc(facts->pci.len + 1, sizeof(*shown));
	obj_list hosts = { 0 };

	mark_shown(facts, shown);
	for (size_t i = 0; i < facts->pci.len; i++) {
		const struct topology_pci *p = &facts->pci.items[i];
		struct topo_obj *o, *at;

		if (!shown[i])
			continue;
		at = p->parent ? objects[p->parent - 1] : host_bridge(t, facts, p, &hosts);
		o = topo_new(t, p->bridge ? TOPO_BRIDGE : TOPO_PCI, -1);
		o->pci.at = *p;
		memset(&o->pci.at.cpus, 0, sizeof(o->pci.at.cpus));
		o->parent = at;
		topo_append(&at->devices, o);
		objects[i] = o;
		while (at->parent && !at->pci.host)
			at = at->parent;
		if (at->pci.host && p->bridge)
			at->pci.at.last_bus = MAX(at->pci.at.last_bus, p->last_bus);
	}
	vec_release(&hosts);
}

static void add_devices(struct topo_tree *t, const struct topology *facts)
{
	struct topo_obj **objects = xcalloc(facts->pci.len + 1, sizeof(struct topo_obj *));

	add_pci(t, facts, objects);
	vec_each(d, &facts->devices) {
		struct topo_obj *at = d->pci ? objects[d->pci - 1] : NULL, *o;

		if (!at)
			continue;
		o = topo_new(t, TOPO_DEVICE, -1);
		o->device = d->type;
		o->name = arena_strdup(&t->arena, d->name);
		o->bytes = d->size;
		o->subtype = d->address ? arena_strdup(&t->arena, d->address) : NULL;
		o->parent = at;
		topo_append(&at->devices, o);
	}
	free(objects);
}

/* --- all -------------------------------------------------------------------------------------- */

void topo_walk(const struct topo_obj *o, int depth,
	       void (*fn)(const struct topo_obj *o, int depth, void *ctx), void *ctx)
{
	if (depth > TOPO_DEPTH_MOST)
		return;
	fn(o, depth, ctx);
	for (const struct topo_obj *c = o->memory; c; c = c->next)
		topo_walk(c, depth + 1, fn, ctx);
	for (const struct topo_obj *c = o->children; c; c = c->next)
		topo_walk(c, depth + 1, fn, ctx);
	for (const struct topo_obj *c = o->devices; c; c = c->next)
		topo_walk(c, depth + 1, fn, ctx);
}

struct numbering {
	struct topo_tree *tree;
	u32 of[TOPO_DEVICE + 1];
	u32 cache[10][3];
};

static void number_one(const struct topo_obj *o, int depth UNUSED, void *ctx)
{
	struct numbering *n = ctx;
	struct topo_obj *own = (struct topo_obj *)(uintptr_t)o;

	if (o->type == TOPO_CACHE)
		own->logical = n->cache[o->cache.level % 10][o->cache.type % 3]++;
	else
		own->logical = n->of[o->type]++;
}

void topo_number(struct topo_tree *t)
{
	struct numbering n = { .tree = t };

	topo_walk(t->root, 0, number_one, &n);
	t->n_cpus = n.of[TOPO_CPU];
	t->n_cores = n.of[TOPO_CORE];
	t->n_packages = n.of[TOPO_PACKAGE];
	t->n_nodes = n.of[TOPO_NODE];
}

void topo_build(struct topo_tree *t, const struct topology *facts)
{
	struct sort_context sort = { t };
	obj_list list = { 0 };
	u32 last = facts->cpus.len ? vec_last(&facts->cpus)->cpu : 0;

	*t = (struct topo_tree){ .words = last / 64 + 1, .memory = facts->memory };
	t->model = facts->model ? arena_strdup(&t->arena, facts->model) : NULL;
	t->root = topo_new(t, TOPO_MACHINE, 0);
	vec_each(c, &facts->cpus) {
		if (!c->online) {
			t->n_offline++;
			continue;
		}
		t->root->cpus[c->cpu / 64] |= 1ull << c->cpu % 64;
		add_of_ids(t, facts, c, &list);
		add_cpu(t, c, &list);
	}
	add_caches(t, facts, &list);
	if (list.len > 1)
		qsort_r(list.items, list.len, sizeof(*list.items), insert_order, &sort);
	vec_each(o, &list)
		insert(t, *o);
	vec_release(&list);
	vec_each(n, &facts->nodes)
		add_node(t, facts, n);
	add_distances(t, facts);
	add_devices(t, facts);
	topo_number(t);
}

/* --- words ------------------------------------------------------------------------------------ */

const char *topo_name(const struct topo_obj *o)
{
	static const char *const names[] = {
		[TOPO_MACHINE] = "Machine", [TOPO_GROUP] = "Group",   [TOPO_PACKAGE] = "Package",
		[TOPO_DIE] = "Die",         [TOPO_CORE] = "Core",     [TOPO_CPU] = "CPU",
		[TOPO_NODE] = "NUMA node",  [TOPO_BRIDGE] = "Bridge", [TOPO_PCI] = "PCI",
	};
	static const char *const devices[] = { "Block", "GPU", "Net", "InfiniBand" };
	static const char *const caches[3][10] = {
		{ "L0", "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9" },
		{ "L0d", "L1d", "L2d", "L3d", "L4d", "L5d", "L6d", "L7d", "L8d", "L9d" },
		{ "L0i", "L1i", "L2i", "L3i", "L4i", "L5i", "L6i", "L7i", "L8i", "L9i" },
	};

	if (o->type == TOPO_CACHE)
		return caches[o->cache.type % 3][o->cache.level % 10];
	if (o->type == TOPO_DEVICE)
		return o->device < ARRAY_SIZE(devices) ? devices[o->device] : "Device";
	return names[o->type];
}

static void add_address(const struct topo_obj *o, struct buf *out)
{
	const struct topology_pci *p = &o->pci.at;

	if (p->domain)
		buf_addf(out, "%04x:", p->domain);
	buf_addf(out, "%02x:%02x.%x", p->bus, p->slot, p->function);
}

void topo_label(const struct topo_obj *o, struct buf *out)
{
	const char *class = topo_pci_class(o->pci.at.class);

	if (o->type == TOPO_BRIDGE) {
		buf_addstr(out, o->pci.host ? "Host bridge" : "PCI bridge");
		return;
	}
	buf_addstr(out, o->type == TOPO_GROUP && o->subtype ? o->subtype : topo_name(o));
	if (o->type == TOPO_PCI) {
		buf_addch(out, ' ');
		add_address(o, out);
		if (class)
			buf_addf(out, " (%s)", class);
		if (o->pci.at.link > 0)
			buf_addf(out, " %.1f GB/s", o->pci.at.link);
		return;
	}
	if (o->type == TOPO_DEVICE) {
		buf_addstr(out, " ");
		fmt_clean(out, o->name ? o->name : "?", o->name ? strlen(o->name) : 1);
	} else if (o->index >= 0 && o->type != TOPO_MACHINE && o->type != TOPO_CACHE) {
		buf_addf(out, " %d", o->index);
	}
	if (o->type == TOPO_CACHE ? o->cache.size : o->bytes) {
		buf_addch(out, ' ');
		fmt_size(out, o->type == TOPO_CACHE ? o->cache.size : o->bytes);
	}
}

void topo_summary(const struct topo_tree *t, struct buf *out)
{
	const struct {
		size_t n;
		const char *what;
	} list[] = {
		{ t->n_packages, "package" },
		{ t->n_cores, "core" },
		{ t->n_cpus, "CPU" },
		{ t->n_nodes, "memory node" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		buf_addf(out, "%s%zu %s%s", i ? ", " : "", list[i].n, list[i].what,
			 list[i].n == 1 ? "" : "s");
}
