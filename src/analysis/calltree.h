/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples merged into one tree of calls: what reports, flame graphs and call graphs show.
 *
 * Node 0 is the root of all. A node's id is larger than its parent's. Children are linked; after
 * calltree_sort() they are in the order asked for.
 */
#ifndef ANALYSIS_CALLTREE_H
#define ANALYSIS_CALLTREE_H

#include "profile/profile.h"

struct calltree_node {
	u32 parent;
	u32 first_child; /* 0: none */
	u32 next;        /* sibling, 0: last */
	u32 frame;       /* 0: a label (root, command) */
	u32 name;        /* string of the profile */
	u64 self;
	u64 total;
	u64 count;      /* samples, inclusive */
	u64 first_time; /* of the earliest sample, for time order */
};

struct calltree {
	const struct profile *profile;
	VEC(struct calltree_node) nodes;
	u64 *base;       /* inclusive weights of the baseline by node; NULL: none */
	u64 *base_count; /* likewise its samples */
};

/* What stands between the root and the stacks. */
enum calltree_group { GROUP_NONE, GROUP_COMM, GROUP_PID, GROUP_TID };

#define CALLTREE_ALL_EVENTS 0xffffu

struct calltree_opts {
	u16 event;                 /* index, or CALLTREE_ALL_EVENTS */
	enum calltree_group group; /* label added at the root side */
	bool inverted;             /* leaf first: callees at the root, callers below them */
	bool label_last;           /* the label goes to the leaf side instead */
	bool by_count;             /* weigh each sample 1 instead of its period */
	u32 max_depth;             /* frames kept, counted from the tree's root; 0: all */
	/* thread -> label (a string, 0: none) instead of what @group says; NULL: as it says */
	const u32 *labels;
	/* frame -> the frame it is shown as, so that equal ones become one node; NULL: itself */
	const u32 *shown_as;
	bool join; /* a run of one marker is one node */
	/* An event to compare with: its weights go to calltree.base alone. */
	bool has_baseline;
	u16 baseline;
};

/*
 * Samples in order of time (the order they have, without times), where only neighbours share nodes:
 * siblings are in the order in which they ran. Labels keep threads apart. Not for inverted.
 */
void calltree_init_chart(struct calltree *t, struct profile *p, const struct calltree_opts *opts);
/* Labels such as "git-1234" are interned in @p, which must outlive the tree. */
void calltree_init(struct calltree *t, struct profile *p, const struct calltree_opts *opts);
void calltree_release(struct calltree *t);

enum calltree_order { ORDER_WEIGHT, ORDER_NAME, ORDER_TIME };
void calltree_sort(struct calltree *t, enum calltree_order order);
/* Only the children of one node. */
void calltree_sort_children(struct calltree *t, enum calltree_order order, u32 node);

static inline const char *calltree_name(const struct calltree *t, u32 node)
{
	return profile_str(t->profile, t->nodes.items[node].name);
}

#endif
