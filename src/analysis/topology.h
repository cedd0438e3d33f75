/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as a tree: packages, dies, caches, cores and CPUs by which CPUs they hold, memory
 * nodes beside what they are near to, devices below their bridges. The shape is hwloc's, so that
 * its XML can be read and written.
 */
#ifndef ANALYSIS_TOPOLOGY_H
#define ANALYSIS_TOPOLOGY_H

#include "base/arena.h"
#include "base/buf.h"
#include "host/topology.h"

enum { TOPO_DEPTH_MOST = 64, TOPO_OBJECTS_MOST = 1 << 18 };

enum topo_type {
	TOPO_MACHINE,
	TOPO_GROUP,
	TOPO_PACKAGE,
	TOPO_DIE,
	TOPO_CACHE,
	TOPO_CORE,
	TOPO_CPU,
	TOPO_NODE,
	TOPO_BRIDGE,
	TOPO_PCI,
	TOPO_DEVICE,
};

struct topo_cache {
	u32 level;
	enum topology_cache_type type;
	u64 size;
	u32 line;
	u32 ways;
};

struct topo_pci {
	struct topology_pci at; /* its lists are empty */
	bool host;              /* a bridge to the host: it has no address */
};

struct topo_obj {
	enum topo_type type;
	s32 index;   /* the kernel's number; -1: none */
	u32 logical; /* ours: counted over all of its type */
	u64 *cpus;   /* bits, topo_tree.words of them; NULL: it is a device */
	struct topo_obj *parent;
	struct topo_obj *next;     /* sibling in the same list of the parent */
	struct topo_obj *children; /* that hold CPUs */
	struct topo_obj *memory;   /* nodes */
	struct topo_obj *devices;  /* bridges, PCI and other devices */
	struct topo_cache cache;
	u64 bytes; /* of a node or a disk */
	struct topo_pci pci;
	enum topology_device_type device;
	const char *name;    /* of a device; foreign text */
	const char *subtype; /* or NULL */
	const char *kind;    /* of a CPU: "IntelCore"; or NULL */
	u32 capacity;
};

struct topo_tree {
	struct arena arena;
	size_t words;
	struct topo_obj *root;
	size_t n_objects;
	size_t n_cpus, n_cores, n_packages, n_nodes, n_offline;
	u32 *distances; /* n_nodes by n_nodes, or NULL */
	const char *model;
	u64 memory;
	size_t contradictions; /* objects that cross others and were left out */
};

#define _cleanup_topo_ _cleanup_(topo_release)

void topo_release(struct topo_tree *t);
void topo_build(struct topo_tree *t, const struct topology *facts);
/* From hwloc's XML, version 2. Errors name the offset. */
int topo_parse_xml(struct topo_tree *t, const char *text, size_t len, struct err *e);

/* "L2", "L1d", "Package": what it is, without numbers. */
const char *topo_name(const struct topo_obj *o);
/* "L2 1024K", "NUMA node 0 7.5G", "PCI 00:02.0 (Storage)": for people, made safe. */
void topo_label(const struct topo_obj *o, struct buf *out);
/* "1 package, 2 cores, 4 CPUs, 1 memory node" */
void topo_summary(const struct topo_tree *t, struct buf *out);
/* "Storage", "Ethernet": of a PCI class; NULL: not one that people look for. */
const char *topo_pci_class(u32 class);

static inline bool topo_has(const u64 *set, u32 bit)
{
	return set[bit / 64] >> bit % 64 & 1;
}
u32 topo_first(const struct topo_tree *t, const u64 *set); /* UINT32_MAX: it is empty */
size_t topo_count(const struct topo_tree *t, const u64 *set);
/* "0-3,7" */
void topo_cpu_list(const struct topo_tree *t, const u64 *set, struct buf *out);

/* For what is built and what is read: objects, numbered at the end. */
struct topo_obj *topo_new(struct topo_tree *t, enum topo_type type, s32 index);
void topo_append(struct topo_obj **list, struct topo_obj *o);
void topo_number(struct topo_tree *t);

/* Depth first: children, with memory and devices where @fn looks for them. */
void topo_walk(const struct topo_obj *o, int depth,
	       void (*fn)(const struct topo_obj *o, int depth, void *ctx), void *ctx);

#endif
