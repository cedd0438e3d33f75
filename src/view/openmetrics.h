/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters as OpenMetrics 1.0 text, which Prometheus scrapes: our own names, or those of
 * node_exporter for the dashboards that are there already.
 */
#ifndef VIEW_OPENMETRICS_H
#define VIEW_OPENMETRICS_H

#include "base/buf.h"
#include "counters/snapshot.h"

/* "fathom_disk_read_bytes_total{disk="vda"} 12" for each series of @s; not the end mark. */
void openmetrics_own(const struct counter_set *set, const struct snapshot *s, struct buf *out);
/* "node_cpu_seconds_total{cpu="0",mode="user"} 1.5" */
void openmetrics_node(const struct counter_set *set, const struct snapshot *s, struct buf *out);
/* One more figure. @help may not have line ends; @type is "gauge" or "counter". */
void openmetrics_add(struct buf *out, const char *name, const char *type, const char *help,
		     double value);
void openmetrics_end(struct buf *out);

#endif
