/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flame graphs: where each box goes, computed once and drawn by any view. A box is a node of the
 * tree of calls; its place is measured in weight, not in pixels.
 */
#ifndef ANALYSIS_FLAME_H
#define ANALYSIS_FLAME_H

#include "analysis/calltree.h"
#include "analysis/hotcold.h"
#include "base/buf.h"
#include "base/err.h"
#include "result/result.h"

struct flame_opts {
	u16 event;
	bool has_baseline; /* boxes carry their growth since this event */
	u16 baseline;
	enum calltree_group group;
	enum calltree_order order;
	bool chart;       /* in order of time, only neighbours merge; @order is not used */
	bool reverse;     /* leaves at the root: who calls the hot functions */
	bool by_count;    /* weigh each sample 1 instead of its period */
	double min_share; /* boxes that are a smaller part of the whole are left out (0..1) */
	double total;     /* weight of the full width; 0, or less than there is: what there is */
	u32 max_depth;    /* rows, 0: all */
	bool fold;        /* start-up and run-time code as one box; not for charts */
	/* The baseline is not an earlier state but another quantity of the same time. */
	bool ratio;
	u32 min_samples;               /* ratio: boxes of fewer samples are not significant */
	const struct hotcold *hotcold; /* the event is its; NULL: it is not */
	/* Of comparisons: */
	bool elided;       /* vanished stacks are shown as well, to the right of the rest */
	bool relative;     /* growth is measured in what there was before */
	double confidence; /* 0..1: changes that chance alone explains are not growth; 0: all are */
	double exposure;   /* share of the samples that the later side would have if all were equal;
			    * 0: the share that it has */
};

/* What became of a box. */
enum flame_change {
	CHANGE_NONE,  /* nothing, or there is no baseline */
	CHANGE_NOISE, /* no more than chance may do */
	CHANGE_MORE,
	CHANGE_LESS,
	CHANGE_NEW,
	CHANGE_VANISHED,
};

struct flame_box {
	u32 node;   /* of the tree */
	u32 parent; /* box; the root's is itself */
	u32 depth;
	bool waker; /* belongs to the waker of the thread below: after one "--", or after three ...
		     */
	u64 start;  /* weight to the left of it */
};

/* Neighbours on one box that are left out because they are too narrow. */
struct flame_gap {
	u32 parent; /* box */
	u32 at;     /* it is before the box of this index */
	u32 count;
	u64 start, weight, samples;
};

/* What threads did below a node, in weight. */
struct flame_states {
	u64 ns[HOT_STATES];
};

struct flame {
	struct profile *profile;
	u16 event, baseline;
	struct calltree tree;
	VEC(struct flame_box) boxes; /* depth first, left to right: parents before children */
	VEC(struct flame_gap) gaps;  /* in the same order */
	double total;                /* weight of the full width */
	double whole;                /* what is 100 %: the same, without vanished stacks */
	u32 strip;                   /* node above all vanished stacks, 0: none */
	bool ratio, relative;
	u32 min_samples;
	double confidence, exposure;
	u32 rows;                    /* deepest box + 1 */
	u64 narrow;                  /* boxes left out because they are too narrow */
	u64 deep;                    /* boxes left out because they are too deep ... */
	u64 deep_weight;             /* ... and what they weigh together */
	u64 vanished;                /* weight of the baseline in vanished stacks */
	struct flame_states *states; /* by node; NULL: not a graph of hot and cold */
	u64 idle;                    /* ns of waiting for work that such a graph leaves out */
	u64 threads;                 /* of such a graph; 0: unknown */
	bool folded;                 /* flame_opts.fold found something */
	bool total_too_small;        /* flame_opts.total was less than there is */
};

/* -ENODATA when no sample of that event has any weight. @p must outlive the flame. */
int flame_init(struct flame *f, struct profile *p, const struct flame_opts *opts, struct err *e);
void flame_release(struct flame *f);

static inline const struct calltree_node *flame_node(const struct flame *f,
						     const struct flame_box *b)
{
	return &f->tree.nodes.items[b->node];
}

/* "all" for the root; marks such as "_[w]" are not part of it. The length is in *@ret_len. */
const char *flame_name(const struct flame *f, const struct flame_box *b, size_t *ret_len);
/* NULL for labels. */
const struct frame *flame_frame(const struct flame *f, const struct flame_box *b);
/* Inclusive growth since the baseline. */
s64 flame_growth(const struct flame *f, const struct flame_box *b);
enum flame_change flame_change(const struct flame *f, const struct flame_box *b);
/* "new", "vanished", "within noise"; NULL: nothing to add to the numbers. */
const char *flame_change_text(enum flame_change c);
/* Of flames of a ratio: baseline by weight here; not a number when there are too few samples. */
double flame_ratio(const struct flame *f, const struct flame_box *b);
/* "instructions/cycles"; "IPC" where it is that, "page-faults per ms" where the other is time. */
void flame_ratio_name(const struct flame *f, struct buf *out);
/* What a ratio is multiplied by to be the number that belongs to its name. */
double flame_ratio_unit(const struct flame *f);

/* Units of weight in one of what was counted: 1, more for counts with fractions. */
u64 flame_scale(const struct profile *p, u16 event);
/* Appends what is after the point of @weight / @scale, as ".25"; nothing for whole numbers. */
void flame_fraction(struct buf *out, u64 weight, u64 scale);
/* "1,234 samples", "1,234 samples, 2.47s", "12.5 samples": for tooltips and the like. */
void flame_amount(const struct flame *f, u64 weight, u64 samples, struct buf *out);

/*
 * The event that a picture is of when none was requested: that of the first sample, as
 * stackcollapse-perf.pl has it; "after" if there is a "before" too, which is then the baseline.
 */
void flame_choose_event(const struct profile *p, struct flame_opts *ret);
/* The heading for a profile: what was sampled, where, how much of it, what was lost. */
void flame_subtitle(const struct flame *f, struct buf *out);
/* " over 2.00s, none lost, host, Linux 6.1": after what a picture is of. */
void flame_origin(const struct profile *p, struct buf *out);
/* The boxes as an outline, with facts and losses of the profile. */
void flame_result(const struct flame *f, struct result *ret);

#endif
