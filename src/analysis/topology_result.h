/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine as tables: its objects, and which processes are bound to which of them. */
#ifndef ANALYSIS_TOPOLOGY_RESULT_H
#define ANALYSIS_TOPOLOGY_RESULT_H

#include "analysis/topology_layout.h"
#include "result/result.h"

/* @load: NULL, or that of the CPUs and nodes. */
void topo_result(const struct topo_tree *t, const struct topo_load *load, struct result *r);
/* Processes of the running machine; @all: also those that may run everywhere. */
int topo_processes(const struct topo_tree *t, bool all, struct result *r, struct err *e);
/* "Cpus_allowed_list" in the text of /proc/PID/status; false: it has none. */
bool topo_parse_allowed(const char *text, size_t len, range_list *ret);

#endif
