/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/topology_files.h"

#include <dirent.h>

#include "base/io.h"
#include "host/machine.h"

enum { FOLDER_MOST = 1 << 16 };

/* --- files below the root --------------------------------------------------------------------- */

static int line_of(const struct topology *t, struct buf *ret, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static int line_of(const struct topology *t, struct buf *ret, const char *fmt, va_list ap)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	buf_addstr(&path, t->root);
	buf_vaddf(&path, fmt, ap);
	buf_reset(ret);
	return io_read_line(buf_str(&path), ret, NULL);
}

int topology_line(const struct topology *t, struct buf *ret, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = line_of(t, ret, fmt, ap);
	va_end(ap);
	return r;
}

u64 topology_number(const struct topology *t, u64 otherwise, const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	va_list ap;
	u64 v;
	int r;

	va_start(ap, fmt);
	r = line_of(t, &text, fmt, ap);
	va_end(ap);
	return r < 0 || parse_u64(buf_str(&text), &v, NULL) < 0 ? otherwise : v;
}

bool topology_list(const struct topology *t, u64 most, range_list *ret, const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = line_of(t, &text, fmt, ap);
	va_end(ap);
	return r >= 0 && text.len && parse_ranges(buf_str(&text), most, ret, NULL) >= 0;
}

static int name_order(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void topology_folder(const struct topology *t, const char *path, topology_names *ret)
{
	_cleanup_free_ char *full = xasprintf("%s%s", t->root, path);
	DIR *d = opendir(full);
	const struct dirent *entry;

	while (d && ret->len < FOLDER_MOST && (entry = readdir(d))) {
		if (entry->d_name[0] != '.')
			vec_push(ret, xstrdup(entry->d_name));
	}
	if (d)
		closedir(d);
	vec_sort(ret, name_order);
}

void topology_names_release(topology_names *names)
{
	vec_each(name, names)
		free(*name);
	vec_release(names);
}

static void push_bit(range_list *list, u64 bit)
{
	if (list->len && vec_last(list)->last + 1 == bit)
		vec_last(list)->last = bit;
	else
		vec_push(list, (struct range){ bit, bit });
}

int topology_parse_mask(const char *text, u64 most, range_list *ret)
{
	size_t n = strlen(text);
	u64 bit = 0;

	vec_clear(ret);
	if (!n)
		return -EINVAL;
	for (size_t i = n; i-- > 0;) {
		static const char digits[] = "0123456789abcdef";
		const char *at = strchr(digits, text[i] | 0x20);

		if (text[i] == ',')
			continue;
		if (!at || !text[i])
			return -EINVAL;
		for (u32 k = 0; k < 4; k++, bit++) {
			if (!((u64)(at - digits) >> k & 1))
				continue;
			if (bit > most)
				return -EINVAL;
			push_bit(ret, bit);
		}
	}
	return 0;
}

/* --- processors ------------------------------------------------------------------------------- */

#define CPU "/sys/devices/system/cpu"

static s32 id_of(const struct topology *t, u32 cpu, const char *file)
{
	u64 v = topology_number(t, UINT64_MAX, CPU "/cpu%u/topology/%s", cpu, file);

	return v > INT32_MAX ? -1 : (s32)v; /* the kernel itself writes -1 for what it lacks */
}

static void read_cpu(struct topology *t, u32 cpu, bool online)
{
	struct topology_cpu c = {
		.cpu = cpu,
		.online = online,
		.package = id_of(t, cpu, "physical_package_id"),
		.die = id_of(t, cpu, "die_id"),
		.cluster = id_of(t, cpu, "cluster_id"),
		.core = id_of(t, cpu, "core_id"),
		.node = -1,
		.capacity =
			(u32)MIN(topology_number(t, 0, CPU "/cpu%u/cpu_capacity", cpu), 1u << 20),
		.max_khz = topology_number(t, 0, CPU "/cpu%u/cpufreq/cpuinfo_max_freq", cpu),
	};

	vec_push(&t->cpus, c);
}

static int read_cpu_list(const struct topology *t, const char *name, range_list *ret, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = topology_line(t, &text, CPU "/%s", name);

	if (r < 0)
		return err_sys(e, r, "cannot read '%s" CPU "/%s'", t->root, name);
	r = parse_ranges(buf_str(&text), TOPOLOGY_CPUS_MOST - 1, ret, e);
	return r < 0 ? err_prefix(e, "'%s" CPU "/%s'", t->root, name) : 0;
}

/* Hybrid machines have a PMU for each kind of core, which lists its CPUs. */
static void read_kinds(struct topology *t)
{
	static const struct {
		const char *pmu, *kind;
	} kinds[] = { { "cpu_core", "IntelCore" }, { "cpu_atom", "IntelAtom" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		range_list cpus = { 0 };

		if (topology_list(t, TOPOLOGY_CPUS_MOST - 1, &cpus, "/sys/devices/%s/cpus",
				  kinds[i].pmu)) {
			vec_each(c, &t->cpus) {
				if (ranges_contain(&cpus, c->cpu))
					c->kind = kinds[i].kind;
			}
		}
		vec_release(&cpus);
	}
}

static int read_cpus(struct topology *t, struct err *e)
{
	range_list online = { 0 }, present = { 0 };
	int r = read_cpu_list(t, "online", &online, e);

	if (r >= 0 && read_cpu_list(t, "present", &present, NULL) < 0)
		r = read_cpu_list(t, "online", &present, e);
	if (r >= 0) {
		vec_each(range, &present) {
			for (u64 cpu = range->first; cpu <= range->last; cpu++)
				read_cpu(t, (u32)cpu, ranges_contain(&online, cpu));
		}
	}
	vec_release(&online);
	vec_release(&present);
	if (r >= 0 && !t->cpus.len)
		return err_set(e, ENODATA, "'%s/sys' lists no CPU", t->root);
	return r;
}

const struct topology_cpu *topology_cpu(const struct topology *t, u32 cpu)
{
	size_t low = 0, high = t->cpus.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (t->cpus.items[mid].cpu < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->cpus.len && t->cpus.items[low].cpu == cpu ? &t->cpus.items[low] : NULL;
}

/* --- caches ----------------------------------------------------------------------------------- */

/* "32K", "1024K", "33792K", "2M" */
static u64 cache_size(const char *text)
{
	u64 v;

	return parse_size(text, &v, NULL) < 0 ? 0 : v;
}

static enum topology_cache_type cache_type(const char *text)
{
	if (streq(text, "Data"))
		return TOPOLOGY_DATA;
	return streq(text, "Instruction") ? TOPOLOGY_INSTRUCTION : TOPOLOGY_UNIFIED;
}

/* Each is listed below all of its CPUs: the first of them tells it. */
static void read_cache(struct topology *t, u32 cpu, const char *index)
{
#define AT CPU "/cpu%u/cache/%s/"
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct topology_cache c = { 0 };

	if (!topology_list(t, TOPOLOGY_CPUS_MOST - 1, &c.cpus, AT "shared_cpu_list", cpu, index) ||
	    c.cpus.items[0].first != cpu || t->caches.len >= TOPOLOGY_CACHES_MOST) {
		vec_release(&c.cpus);
		return;
	}
	c.level = (u32)MIN(topology_number(t, 0, AT "level", cpu, index), 9);
	c.line = (u32)MIN(topology_number(t, 0, AT "coherency_line_size", cpu, index), 1u << 20);
	c.ways = (u32)MIN(topology_number(t, 0, AT "ways_of_associativity", cpu, index), 1u << 30);
	u64 id = topology_number(t, UINT64_MAX, AT "id", cpu, index);

	c.id = id > INT32_MAX ? -1 : (s32)id;
	if (topology_line(t, &text, AT "size", cpu, index) >= 0)
		c.size = cache_size(buf_str(&text));
	if (topology_line(t, &text, AT "type", cpu, index) >= 0)
		c.type = cache_type(buf_str(&text));
#undef AT
	if (c.level)
		vec_push(&t->caches, c);
	else
		vec_release(&c.cpus);
}

void topology_read_caches(struct topology *t)
{
	for (size_t i = 0; i < t->cpus.len; i++) {
		_cleanup_free_ char *path = xasprintf(CPU "/cpu%u/cache", t->cpus.items[i].cpu);
		topology_names names = { 0 };

		topology_folder(t, path, &names);
		vec_each(name, &names) {
			if (starts_with(*name, "index"))
				read_cache(t, t->cpus.items[i].cpu, *name);
		}
		topology_names_release(&names);
	}
}

/* --- memory nodes ----------------------------------------------------------------------------- */

#define NODE "/sys/devices/system/node"

static u64 node_memory(const struct topology *t, u32 node)
{
	_cleanup_free_ char *path = xasprintf("%s" NODE "/node%u/meminfo", t->root, node);
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at;
	u64 kb = 0;

	if (io_read_file(path, 1 << 20, &text, NULL) < 0 ||
	    !(at = strstr(buf_str(&text), "MemTotal:")))
		return 0;
	at += strlen("MemTotal:");
	at += strspn(at, " ");
	return scan_u64(&at, text.data + text.len, 10, &kb) && kb < UINT64_MAX / 1024 ? kb * 1024
										      : 0;
}

static void read_distances(const struct topology *t, struct topology_node *n)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at, *end;
	u64 v;

	if (topology_line(t, &text, NODE "/node%u/distance", n->node) < 0)
		return;
	at = buf_str(&text);
	end = at + text.len;
	while (n->distances.len < TOPOLOGY_NODES_MOST) {
		at += strspn(at, " \t");
		if (!scan_u64(&at, end, 10, &v))
			break;
		vec_push(&n->distances, (u32)MIN(v, UINT32_MAX));
	}
}

static void read_node(struct topology *t, u32 node)
{
	struct topology_node *n = vec_new(&t->nodes);

	n->node = node;
	n->memory = node_memory(t, node);
	if (!topology_list(t, TOPOLOGY_CPUS_MOST - 1, &n->cpus, NODE "/node%u/cpulist", node))
		vec_clear(&n->cpus); /* memory alone */
	read_distances(t, n);
	vec_each(c, &t->cpus) {
		if (ranges_contain(&n->cpus, c->cpu))
			c->node = (s32)node;
	}
}

void topology_read_nodes(struct topology *t)
{
	range_list nodes = { 0 };

	if (topology_list(t, TOPOLOGY_NODES_MOST - 1, &nodes, NODE "/online")) {
		vec_each(range, &nodes) {
			for (u64 node = range->first; node <= range->last; node++)
				read_node(t, (u32)node);
		}
	}
	vec_release(&nodes);
}

/* --- all -------------------------------------------------------------------------------------- */

static void read_machine(struct topology *t)
{
	_cleanup_free_ char *cpuinfo = xasprintf("%s/proc/cpuinfo", t->root);
	_cleanup_free_ char *meminfo = xasprintf("%s/proc/meminfo", t->root);
	_cleanup_buf_ struct buf text = BUF_INIT, value = BUF_INIT;
	const char *at;
	u64 kb;

	if (io_read_file(cpuinfo, IO_MAX_PROC, &text, NULL) >= 0 &&
	    machine_colon_line(buf_str(&text), text.len, "model name", &value) >= 0)
		t->model = xstrdup(buf_str(&value));
	buf_reset(&text);
	if (io_read_file(meminfo, IO_MAX_PROC, &text, NULL) >= 0 &&
	    machine_colon_line(buf_str(&text), text.len, "MemTotal", &value) >= 0) {
		at = buf_str(&value);
		if (scan_u64(&at, at + value.len, 10, &kb) && kb < UINT64_MAX / 1024)
			t->memory = kb * 1024;
	}
}

int topology_read(struct topology *t, const char *root, u32 parts, struct err *e)
{
	int r;

	*t = (struct topology){ .root = xstrdup(root ? root : "") };
	r = read_cpus(t, e);
	if (r < 0)
		return r;
	topology_read_nodes(t);
	if (!(parts & TOPOLOGY_DEVICES))
		return 0;
	read_kinds(t);
	read_machine(t);
	topology_read_caches(t);
	topology_read_pci(t);
	topology_read_devices(t);
	return 0;
}

void topology_release(struct topology *t)
{
	free(t->root);
	free(t->model);
	vec_release(&t->cpus);
	vec_each(c, &t->caches)
		vec_release(&c->cpus);
	vec_release(&t->caches);
	vec_each(n, &t->nodes) {
		vec_release(&n->cpus);
		vec_release(&n->distances);
	}
	vec_release(&t->nodes);
	vec_each(p, &t->pci)
		vec_release(&p->cpus);
	vec_release(&t->pci);
	vec_each(d, &t->devices) {
		free(d->name);
		free(d->address);
	}
	vec_release(&t->devices);
	*t = (struct topology)TOPOLOGY_INIT;
}
