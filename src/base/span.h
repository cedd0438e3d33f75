/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address ranges that may overlap, made flat once so that a look-up is one binary search.
 */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include "base/base.h"

struct span {
	u64 start;
	u64 end;  /* exclusive; nothing is covered when it is not above start */
	u32 id;   /* what a look-up gives */
	u32 rank; /* where ranges overlap the higher rank shows; of equal ones the later start */
};

#define SPAN_NONE UINT32_MAX

/* starts[i] up to starts[i + 1] belongs to ids[i], which may be SPAN_NONE. */
struct span_table {
	u64 *starts;
	u32 *ids;
	size_t len;
};

#define SPAN_TABLE_INIT \
	{               \
		0       \
	}

/* How many of @n ascending starts are at or before an address. */
size_t starts_up_to(const u64 *starts, size_t n, u64 address);
/* By start, keeping the order of equal ones. */
void span_sort(struct span *spans, size_t n);
/* From sorted spans. */
void span_table_build(struct span_table *t, const struct span *spans, size_t n);
void span_table_release(struct span_table *t);
/* The id there, or SPAN_NONE. */
u32 span_find(const struct span_table *t, u64 address);

#endif
