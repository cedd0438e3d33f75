/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The charts of the page, as data: each line is a formula over counters (counters/formula.h). A
 * frame is what all of them show at one moment, as one line of JSON:
 *
 *	{"t": ms, "s": seconds, "c": [[1, 2], {"vda": 3}, ...], "p": [[pid, "name", ...], ...]}
 */
#ifndef WEB_CHARTS_H
#define WEB_CHARTS_H

#include "base/json.h"
#include "counters/counters.h"
#include "web/latency.h"

struct charts;

/* Says to @c what it has to read. */
int charts_new(struct charts **ret, struct counters *c, struct err *e);
void charts_free(struct charts *c);
/* The charts with their lines, and the meaning of every counter that they use. */
void charts_describe(const struct charts *c, struct json *j);
void charts_frame(const struct charts *c, const struct delta *d, struct latency *l,
		  struct buf *out);

#endif
