/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/numa_maps: on which NUMA node the memory of a process lies. */
#ifndef HOST_NUMA_MAPS_H
#define HOST_NUMA_MAPS_H

#include "base/base.h"

enum { NUMA_NODES_MOST = 1024 };
/* As numastat divides them. */
enum numa_part { NUMA_HUGE, NUMA_HEAP, NUMA_STACK, NUMA_PRIVATE, NUMA_PARTS };

/*
 * Adds the bytes of each part to @sums[node * NUMA_PARTS + part] of @nodes nodes; those of nodes
 * beyond are counted in the result.
 */
u64 numa_maps_parse(const char *text, size_t len, u64 *sums, u32 nodes);

#endif
