/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine as a tree, and the load of its parts each second, read by a thread of its own. */
#ifndef TOP_TOPOLOGY_SOURCE_H
#define TOP_TOPOLOGY_SOURCE_H

#include "analysis/topology.h"
#include "analysis/topology_layout.h"

struct topology_source;

/* Starts the thread; NULL: it cannot be started. */
struct topology_source *topology_source_new(u64 interval);
void topology_source_free(struct topology_source *s);
/* Reads only while it is wanted. */
void topology_source_want(struct topology_source *s, bool wanted);
int topology_source_fd(const struct topology_source *s);
/* Moves the newest load to *@ret, which is released by the caller; false: there is no newer one. */
bool topology_source_take(struct topology_source *s, struct topo_load *ret);
/* The tree, which never changes once there is a load; NULL: not yet, or @ret_why says why not. */
const struct topo_tree *topology_source_tree(struct topology_source *s, const char **ret_why);

#endif
