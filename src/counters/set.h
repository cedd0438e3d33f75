/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names after the numbers of a snapshot. A counter may have several instances (a CPU, a disk,
 * an interface); a series is one counter of one instance, and its number is the place of its value
 * in every snapshot. Numbers are only added: an older snapshot is valid for a set that has grown.
 */
#ifndef COUNTERS_SET_H
#define COUNTERS_SET_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "counters/counter.h"

enum {
	SET_COUNTERS_MOST = 1 << 14,
	SET_SERIES_MOST = 1 << 20,
	SET_NAME_MOST = 256, /* bytes of a name that comes from a file */
	SET_NONE = UINT32_MAX,
};

struct series {
	u32 counter;
	u32 instance; /* of counter_set.instances; 0: the counter has but one */
	u32 next;     /* series of the same counter, SET_NONE at the end */
};

struct formula;

struct set_counter {
	const struct counter *row;
	const struct formula *formula; /* of a RATIO, once formula_prepare() was called */
	u32 source;                    /* of counter_sources(); SET_NONE: none of this build */
	u32 first;                     /* series */
	u32 last;
};

struct counter_set {
	struct arena arena; /* rows of counters that no table has */
	VEC(struct set_counter) counters;
	VEC(struct series) series;
	struct intern names; /* of counters: id - 1 is its number */
	struct intern instances;
	struct map by_key; /* counter and instance -> series */
	u64 page_size;     /* of the machine that was read */
	u64 full;          /* values left out because there were too many series */
};

void counter_set_init(struct counter_set *s);
void counter_set_release(struct counter_set *s);
/* All rows of all sources. */
void counter_set_add_tables(struct counter_set *s);
/* The number of a counter, SET_NONE: no such name. */
u32 counter_set_find(const struct counter_set *s, const char *name);
/* A counter that no table has: its name is all that is known. SET_NONE when there are too many. */
u32 counter_set_add(struct counter_set *s, const char *name, const struct counter *like,
		    u32 source);
/* The series, made if need be; SET_NONE when there are too many. */
u32 counter_set_series(struct counter_set *s, u32 counter, u32 instance);
/* The same, never made. */
u32 counter_set_lookup(const struct counter_set *s, u32 counter, u32 instance);

static inline const struct counter *series_row(const struct counter_set *s, u32 series)
{
	return s->counters.items[s->series.items[series].counter].row;
}

static inline const char *series_instance(const struct counter_set *s, u32 series)
{
	return intern_get(&s->instances, s->series.items[series].instance);
}

/* What a value of the file has to be multiplied by. */
double counter_factor(const struct counter_set *s, const struct counter *row);

#endif
