/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long disks take, each second: the tool biolatency, which runs as long as the past is
 * recorded. A chart has a row for each power of two of nanoseconds.
 */
#ifndef WEB_LATENCY_H
#define WEB_LATENCY_H

#include "base/json.h"
#include "web/exports.h"

struct latency {
	struct exports tools; /* one while it runs */
	u64 shown[EXPORT_BUCKETS];
};

void latency_start(struct latency *l);
void latency_stop(struct latency *l);
/* CPU time of the tool so far, ns. */
u64 latency_cpu(const struct latency *l);
/* For poll(), as those of exports. */
size_t latency_fds(const struct latency *l, int *fds, size_t most);
void latency_read(struct latency *l, int fd);
/* The chart, as one of charts_describe(). */
void latency_describe(struct json *j);
/* {"131072": 5, ...}: requests below that number of ns, since the last call. */
void latency_frame(struct latency *l, struct json *j);

#endif
