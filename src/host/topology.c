/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/topology.h"

#include <dirent.h>

#include "base/buf.h"
#include "base/io.h"

/* --- files below the root --------------------------------------------------------------------- */

static int read_line(const struct topology *t, struct buf *ret, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static int read_line(const struct topology *t, struct buf *ret, const char *fmt, ...)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	va_list ap;

	buf_addstr(&path, t->root);
	va_start(ap, fmt);
	buf_vaddf(&path, fmt, ap);
	va_end(ap);
	buf_reset(ret);
	return io_read_line(buf_str(&path), ret, NULL);
}

/* A small number; -1 where there is none. The kernel itself writes -1 for what it does not know. */
static s32 read_id(const struct topology *t, const char *fmt, u32 cpu)
{
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;
	u64 v;

	buf_addf(&path, "%s/sys/devices/system/cpu/cpu%u/topology/%s", t->root, cpu, fmt);
	if (io_read_line(buf_str(&path), &text, NULL) < 0 ||
	    parse_u64_range(buf_str(&text), 0, INT32_MAX, &v, NULL) < 0)
		return -1;
	return (s32)v;
}

/* --- processors ------------------------------------------------------------------------------- */

static void read_cpu(struct topology *t, u32 cpu, bool online)
{
	struct topology_cpu *c = vec_new(&t->cpus);

	c->cpu = cpu;
	c->online = online;
	c->package = read_id(t, "physical_package_id", cpu);
	c->die = read_id(t, "die_id", cpu);
	c->cluster = read_id(t, "cluster_id", cpu);
	c->core = read_id(t, "core_id", cpu);
	c->node = -1;
}

static int read_cpu_list(const struct topology *t, const char *name, range_list *ret, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = read_line(t, &text, "/sys/devices/system/cpu/%s", name);

	if (r < 0)
		return err_sys(e, r, "cannot read '%s/sys/devices/system/cpu/%s'", t->root, name);
	r = parse_ranges(buf_str(&text), TOPOLOGY_CPUS_MOST - 1, ret, e);
	return r < 0 ? err_prefix(e, "'%s/sys/devices/system/cpu/%s'", t->root, name) : 0;
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

/* --- memory nodes ----------------------------------------------------------------------------- */

static void set_node(struct topology *t, const range_list *cpus, u32 node)
{
	vec_each(c, &t->cpus) {
		if (ranges_contain(cpus, c->cpu))
			c->node = (s32)node;
	}
}

static void read_nodes(struct topology *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	range_list nodes = { 0 };

	if (read_line(t, &text, "/sys/devices/system/node/online") < 0 ||
	    parse_ranges(buf_str(&text), TOPOLOGY_NODES_MOST - 1, &nodes, NULL) < 0)
		return; /* a kernel without NUMA */
	vec_each(range, &nodes) {
		for (u64 node = range->first; node <= range->last; node++) {
			range_list cpus = { 0 };

			if (read_line(t, &text, "/sys/devices/system/node/node%llu/cpulist",
				      (unsigned long long)node) >= 0 &&
			    text.len &&
			    parse_ranges(buf_str(&text), TOPOLOGY_CPUS_MOST - 1, &cpus, NULL) >= 0)
				set_node(t, &cpus, (u32)node);
			vec_release(&cpus);
		}
	}
	vec_release(&nodes);
}

/* --- all -------------------------------------------------------------------------------------- */

int topology_read(struct topology *t, const char *root, u32 parts, struct err *e)
{
	int r;

	*t = (struct topology){ .root = xstrdup(root ? root : "") };
	r = read_cpus(t, e);
	if (r >= 0 && parts & TOPOLOGY_CPUS)
		read_nodes(t);
	return r;
}

void topology_release(struct topology *t)
{
	free(t->root);
	vec_release(&t->cpus);
	*t = (struct topology)TOPOLOGY_INIT;
}
