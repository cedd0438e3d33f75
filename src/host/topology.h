/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine is built of, as sysfs tells it: processors, caches, memory nodes, devices. Facts
 * only, each as it stands in its file; the tree over them is made in analysis/topology.h.
 *
 * Any root may be read (a copy of /sys and /proc of another machine): links are followed inside of
 * it only. What is missing is -1, 0 or NULL; nothing is made up.
 */
#ifndef HOST_TOPOLOGY_H
#define HOST_TOPOLOGY_H

#include "base/err.h"
#include "base/parse.h"
#include "base/vec.h"

enum {
	TOPOLOGY_CPUS_MOST = 8192,
	TOPOLOGY_NODES_MOST = 1024,
	TOPOLOGY_CACHES_MOST = 1 << 16,
	TOPOLOGY_DEVICES_MOST = 1 << 16,
};

struct topology_cpu {
	u32 cpu;
	s32 package; /* numbers of the kernel, -1: not told */
	s32 die;
	s32 cluster;
	s32 core;
	s32 node;
	bool online;
};

struct topology {
	char *root;                    /* "" for the running machine */
	VEC(struct topology_cpu) cpus; /* possible ones that are present, ascending */
};

#define TOPOLOGY_INIT \
	{             \
		0     \
	}
#define _cleanup_topology_ _cleanup_(topology_release)

/* Which parts to read. */
enum { TOPOLOGY_CPUS = 1 << 0, TOPOLOGY_ALL = ~0 };

/* @root: a folder that holds sys/ and proc/; NULL or "": the running machine. */
int topology_read(struct topology *t, const char *root, u32 parts, struct err *e);
void topology_release(struct topology *t);
/* NULL: there is no such CPU. */
const struct topology_cpu *topology_cpu(const struct topology *t, u32 cpu);

#endif
