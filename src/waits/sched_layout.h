/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the fields of the scheduler's tracepoints lie: that differs between kernels. */
#ifndef WAITS_SCHED_LAYOUT_H
#define WAITS_SCHED_LAYOUT_H

#include "waits/sched.h"

struct sched_field {
	u32 offset;
	u32 size;      /* 0: none */
	bool relative; /* a place, as a distance from the field's own end */
};

struct recording_format;
/* Nothing is written where there is no such field. */
void sched_field_find(const struct recording_format *f, const char *name, struct sched_field *ret);

enum sched_field_id {
	SCHED_F_PREV,
	SCHED_F_NEXT,
	SCHED_F_PREV_COMM,
	SCHED_F_NEXT_COMM,
	SCHED_F_STATE,
	SCHED_F_FROM,
	SCHED_F_TO,
	SCHED_F_RUNTIME,
	SCHED_F_COUNT
};

/* What the reader does with an event of which nothing is unusual. */
enum sched_quick {
	SCHED_QUICK_NONE, /* nothing: it has no quick way */
	SCHED_QUICK_UNWANTED,
	SCHED_QUICK_FOLD, /* its run time is kept */
	SCHED_QUICK_SWITCH,
	SCHED_QUICK_WAKE,
};

/* Where the parts of a sample lie that all events have: bytes from the header on. */
struct sched_place {
	u16 id;
	u16 tid, time, cpu; /* 0: none */
	u16 raw;            /* size of the raw data; the data follows */
	u64 id_mask;        /* 0: there are no ids */
};

/* Except the id, which has one place in all samples of a recording. */
static inline bool sched_place_same(const struct sched_place *a, const struct sched_place *b)
{
	return a->tid == b->tid && a->time == b->time && a->cpu == b->cpu && a->raw == b->raw;
}

struct sched_layout {
	u8 type;           /* enum sched_type; SCHED_TYPES: of no interest */
	bool wanted, fold; /* for the reader, */
	u8 quick;          /* and enum sched_quick */
	/*
	 * What nearly all events of nearly all kernels are: the fields have the sizes that struct
	 * sched_event has, and are at these bytes from the header on. Those that the type does not
	 * have lie somewhere in the sample.
	 */
	u16 next, prev, value, next_comm, prev_comm;
	struct sched_place place; /* of no id */
	u32 need;                 /* bytes of the raw data that fields and flags reach to */
	u32 least;                /* size of the record; UINT32_MAX: none is quick */
	bool plain;               /* all fields before the raw data have a fixed size */
	struct sched_field fields[SCHED_F_COUNT];
};

/* Of the recording's event with this index. @swap: the tracepoints are of the other byte order. */
void sched_layout_learn(const struct recording *recording, u32 event, bool swap,
			struct sched_layout *ret);

/* Of any tracepoint: type in two bytes, flags, how often preemption is off. */
enum { SCHED_FLAGS_AT = 2, SCHED_COMMON = 4 };

#endif
