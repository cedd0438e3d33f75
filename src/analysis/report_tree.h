/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ANALYSIS_REPORT_TREE_H
#define ANALYSIS_REPORT_TREE_H

#include "analysis/report.h"

struct calltree;

/* Adds the paths of @t, which is sorted by weight, as far as @opts lets them through. */
void report_tree(const struct calltree *t, const struct report_opts *opts, enum value_type unit,
		 struct result *ret);

#endif
