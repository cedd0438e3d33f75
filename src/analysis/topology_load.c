/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two moments of the machine made into the load between them. */
#include "analysis/topology_layout.h"
#include "host/load.h"

static u64 grown(u64 now, u64 before)
{
	return now > before ? now - before : 0; /* counters of CPUs that went away start again */
}

static void cpu_between(const struct load_cpu *a, const struct load_cpu *b, double seconds,
			struct topo_cpu_load *ret)
{
	u64 busy = grown(b->busy, a->busy), idle = grown(b->idle, a->idle);

	if (!a->known || !b->known)
		return;
	ret->known = true;
	ret->busy = busy + idle ? (double)busy / (double)(busy + idle) : 0;
	ret->queue = b->runnable;
	ret->interrupts = seconds > 0 ? (double)grown(b->interrupts, a->interrupts) / seconds : 0;
}

void topo_load_between(struct topo_load *ret, const struct load_moment *a,
		       const struct load_moment *b, u64 begin)
{
	double seconds = (double)grown(b->time, a->time) / 1e9;

	*ret = (struct topo_load){
		.cpus = xcalloc(b->cpus.len + 1, sizeof(*ret->cpus)),
		.n_cpus = b->cpus.len,
		.nodes = xcalloc(b->nodes.len + 1, sizeof(*ret->nodes)),
		.n_nodes = b->nodes.len,
		.time = (double)grown(b->time, begin) / 1e9,
	};
	for (size_t i = 0; i < MIN(a->cpus.len, b->cpus.len); i++)
		cpu_between(&a->cpus.items[i], &b->cpus.items[i], seconds, &ret->cpus[i]);
	for (size_t i = 0; i < b->nodes.len; i++) {
		const struct load_node *n = &b->nodes.items[i];

		ret->nodes[i].known = n->known;
		ret->nodes[i].used =
			n->known ? 1 - (double)MIN(n->free, n->total) / (double)n->total : 0;
		if (i < a->nodes.len && seconds > 0)
			ret->nodes[i].pages =
				(double)grown(n->allocated, a->nodes.items[i].allocated) / seconds;
	}
}

void topo_load_release(struct topo_load *l)
{
	free(l->cpus);
	free(l->nodes);
	*l = (struct topo_load){ 0 };
}

double topo_share(const struct topo_obj *o, const struct topo_load *load)
{
	size_t i = (size_t)o->index;

	if (o->index < 0)
		return -1;
	if (o->type == TOPO_CPU)
		return i < load->n_cpus && load->cpus[i].known ? load->cpus[i].busy : -1;
	if (o->type == TOPO_NODE)
		return i < load->n_nodes && load->nodes[i].known ? load->nodes[i].used : -1;
	return -1;
}
