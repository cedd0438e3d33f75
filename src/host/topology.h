/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the machine is built of, as sysfs describes it: processors, caches, memory nodes, devices.
 * Facts only, each as it is in its file; the tree over them is made in analysis/topology.h.
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
	s32 package; /* numbers of the kernel, -1: unknown */
	s32 die;
	s32 cluster;
	s32 core;
	s32 node;
	u32 capacity;     /* of the scheduler, 1024: the strongest; 0: unknown */
	u64 max_khz;      /* 0: unknown */
	const char *kind; /* "IntelCore", "IntelAtom", or NULL: unknown */
	bool online;
};

/* The numbers are hwloc's. */
enum topology_cache_type { TOPOLOGY_UNIFIED = 0, TOPOLOGY_DATA = 1, TOPOLOGY_INSTRUCTION = 2 };

struct topology_cache {
	u32 level;
	enum topology_cache_type type;
	u64 size; /* bytes */
	u32 line;
	u32 ways;
	s32 id;
	range_list cpus;
};

struct topology_node {
	u32 node;
	u64 memory; /* bytes */
	range_list cpus;
	VEC(u32) distances; /* to the nodes in their order; 10 is itself */
};

struct topology_pci {
	u32 domain;
	u8 bus, slot, function;
	u32 class; /* 24 bits */
	u16 vendor, device, subvendor, subdevice;
	u8 revision;
	bool bridge;
	u8 first_bus, last_bus; /* after a bridge */
	s32 node;               /* -1: unknown */
	range_list cpus;        /* near it */
	double link;            /* GB/s; 0: unknown */
	u32 parent;             /* bridge: its index plus 1; 0: at the host */
};

/* The numbers are hwloc's. */
enum topology_device_type {
	TOPOLOGY_BLOCK = 0,
	TOPOLOGY_GPU = 1,
	TOPOLOGY_NET = 2,
	TOPOLOGY_INFINIBAND = 3,
};

struct topology_device {
	enum topology_device_type type;
	char *name;    /* "eth0": foreign text */
	u32 pci;       /* index plus 1; 0: none */
	u64 size;      /* bytes of a disk */
	char *address; /* of a network card, or NULL */
};

struct topology {
	char *root;                    /* "" for the running machine */
	VEC(struct topology_cpu) cpus; /* those present, ascending */
	VEC(struct topology_cache) caches;
	VEC(struct topology_node) nodes;
	VEC(struct topology_pci) pci; /* by address; bridges before what is after them */
	VEC(struct topology_device) devices;
	char *model; /* of the processor, or NULL */
	u64 memory;  /* bytes, of /proc/meminfo */
};

#define TOPOLOGY_INIT \
	{             \
		0     \
	}
#define _cleanup_topology_ _cleanup_(topology_release)

/* Which parts to read. */
enum { TOPOLOGY_CPUS = 1 << 0, TOPOLOGY_DEVICES = 1 << 1, TOPOLOGY_ALL = 3 };

/* @root: a folder that holds sys/ and proc/; NULL or "": the running machine. */
int topology_read(struct topology *t, const char *root, u32 parts, struct err *e);
void topology_release(struct topology *t);
/* Bits of "ffff,00000003", the highest word first. -EINVAL: not a mask; values above @most. */
int topology_parse_mask(const char *text, u64 most, range_list *ret);
/* NULL: there is no such CPU. */
const struct topology_cpu *topology_cpu(const struct topology *t, u32 cpu);

#endif
