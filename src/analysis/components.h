/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time by component: each sample belongs to one class of a table that people write, as
 * "Understanding Host Network Stack Overheads" (SIGCOMM'21) and i10 (NSDI'20) did.
 *
 * A taxonomy is text, a line each:
 *
 *	=data copy	#4e79a7	between user space and the kernel     a component, in order
 *	tcp_*	tcp/ip                                        pattern, component
 *	submit_bio*	block tx	stack                         pattern, component, where
 *	# comment
 *
 * Where is "self" (the function that ran, the default), "kernel" (the same, if it is one of the
 * kernel), "stack" (any function that called it, the nearest counts), "kernel-stack" (the same, of
 * the kernel's), "comm" (the name of the thread) or "user" (any function that ran in user space).
 * They are asked in this order; exact names before patterns, patterns in the order of the file.
 *What compilers add to names (".isra.0") is not part of them, nor is "_noprof".
 */
#ifndef ANALYSIS_COMPONENTS_H
#define ANALYSIS_COMPONENTS_H

#include "base/err.h"
#include "profile/profile.h"
#include "result/result.h"

enum { COMPONENTS_MOST = 64, COMPONENT_UNMAPPED = COMPONENTS_MOST };

struct component {
	const char *name;
	const char *color; /* "#rrggbb" */
	const char *text;  /* what belongs to it; "" */
};

enum rule_where {
	RULE_SELF,
	RULE_KERNEL,
	RULE_STACK,
	RULE_KERNEL_STACK,
	RULE_COMM,
	RULE_USER,
	RULE_WHERE_COUNT
};

struct rule {
	const char *pattern;
	u32 component; /* index */
};

struct taxonomy {
	struct arena arena;
	VEC(struct component) components;
	struct intern names;                      /* of exact rules */
	struct map exact;                         /* where << 32 | name -> component + 1 */
	VEC(struct rule) rules[RULE_WHERE_COUNT]; /* patterns */
};

/* @name is for messages. On failure the line is named. */
int taxonomy_parse(struct taxonomy *t, const char *text, size_t len, const char *name,
		   struct err *e);
void taxonomy_release(struct taxonomy *t);

struct breakdown_symbol {
	u32 name; /* string of the breakdown */
	u32 component;
	bool is_kernel;
	u64 weight;
	u64 samples;
};

/* One recording, broken into components. */
struct breakdown {
	double skid;       /* percent of samples charged to callers: skid.h */
	const char *title; /* one of the strings */
	const char *facts; /* likewise: samples, time, losses, host */
	struct intern strings;
	u64 weight[COMPONENTS_MOST + 1]; /* the last one collects what no rule covers */
	u64 samples[COMPONENTS_MOST + 1];
	u64 total;
	u64 kernel, kernel_unmapped;          /* samples that were taken in the kernel */
	VEC(struct breakdown_symbol) symbols; /* heaviest first */
};

/* -ENODATA when there is no sample. */
int breakdown_init(struct breakdown *b, const struct taxonomy *t, struct profile *p, u16 event,
		   bool kernel_only, struct err *e);
void breakdown_release(struct breakdown *b);
double breakdown_share(const struct breakdown *b, u32 component);

struct components_opts {
	bool symbols; /* a row for each symbol */
	u32 max_lines;
	u32 bar_width; /* columns of the bars in text */
};

void components_report(const struct taxonomy *t, const struct breakdown *sides, size_t n,
		       const struct components_opts *opts, struct result *ret);

#endif
