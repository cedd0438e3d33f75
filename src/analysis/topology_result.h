/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine as tables: its objects, and which processes are bound to which of them. */
#ifndef ANALYSIS_TOPOLOGY_RESULT_H
#define ANALYSIS_TOPOLOGY_RESULT_H

#include "analysis/topology_layout.h"
#include "host/affinity.h"
#include "result/result.h"

/* @load: NULL, or that of the CPUs and nodes. */
void topo_result(const struct topo_tree *t, const struct topo_load *load, struct result *r);
/* @list: of a machine; @all: also those that may run everywhere. */
void topo_processes(const struct topo_tree *t, const struct affinity_list *list, bool all,
		    struct result *r);

#endif
