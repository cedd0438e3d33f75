/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ANALYSIS_REPORT_HIERARCHY_H
#define ANALYSIS_REPORT_HIERARCHY_H

#include "analysis/report.h"
#include "analysis/report_key.h"

/* One combination of the sort keys. */
struct hierarchy_entry {
	const u64 *key; /* as many as there are keys */
	u64 weight;
};

/*
 * The entries as an outline: what the first key tells apart, below each what the second does, and
 * so on, the heaviest first. Sorts @entries. Returns how many lines are left out by @opts.
 */
u64 report_hierarchy(const struct profile *p, const struct report_opts *opts,
		     const struct report_keys *keys, struct hierarchy_entry *entries, size_t n,
		     u64 whole, enum value_type unit, struct result *ret);

#endif
