/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of a profile: the hottest paths as a tree, and a flat table of entries, where an
 * entry is one combination of the sort keys ("comm, dso, symbol").
 */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "base/err.h"
#include "profile/profile.h"
#include "result/result.h"

enum report_tree { TREE_CALLER, TREE_CALLEE, TREE_NONE };

struct report_opts {
	const char *sort; /* "comm,dso,symbol": keys as perf names them */
	bool no_children; /* self only */
	bool by_children; /* sorted by what a function has with its callees, not by its own part */
	enum report_tree tree;
	double percent_limit; /* lines below this are left out, and counted */
	u32 max_lines;        /* of the table and of the tree each, 0: all */
	u32 max_depth;        /* of the tree, 0: all */
	bool group;           /* one table for all events, side by side */
	bool hierarchy;       /* instead of a table: an outline, one level for each sort key */
	bool marks;           /* for people: rows where samples of a clock pile up say so */
	bool header;          /* all facts of the recording, not only the chief ones */
};

/* Fills @ret; -EINVAL for an unknown sort key, -ENODATA when there is no sample. */
int report_build(struct profile *p, const struct report_opts *opts, struct result *ret,
		 struct err *e);

/* The pieces that other commands share. */
void report_facts(const struct profile *p, bool all, struct result *ret);
/* What the recorder lost, and what could not be read. */
void report_losses(const struct profile *p, struct result *ret);
/* Loss counters, damaged input, broken stacks with the remedy: law 3. */
void report_health(const struct profile *p, struct result *ret);

#endif
