/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HotSpot's counters, which jstat(1) reads: a header, then entries, each with its length, its name
 * and where its value is. The form is that of version 2.0, which has not changed since java 6.
 */
#include "runtime/hotspot.h"

enum { COUNTERS_MAGIC = 0xc0c0feca, COUNTERS_MOST = 4096, ENTRY_MOST = 4096, COUNTER_NAME = 64 };

struct counters_header {
	u32 magic;
	u8 order; /* 1: little-endian */
	u8 major;
	u8 minor;
	u8 accessible;
	u32 used;
	u32 overflow;
	u64 changed;
	u32 first; /* where the first entry is */
	u32 entries;
};
_Static_assert(sizeof(struct counters_header) == 32, "as it is in memory");

struct counter_entry {
	u32 length;
	u32 name_at;
	u32 elements; /* 0: one value */
	u8 type;      /* 'J': 8 bytes */
	u8 flags, units, variability;
	u32 value_at;
};
_Static_assert(sizeof(struct counter_entry) == 20, "as it is in memory");

static bool is_named(const struct hotspot *h, u64 at, const struct counter_entry *e,
		     const char *wanted)
{
	char name[COUNTER_NAME] = { 0 };
	const size_t n = strlen(wanted) + 1;

	return e->type == 'J' && !e->elements && n <= sizeof(name) && e->name_at < e->length &&
	       n <= e->length - e->name_at && !hotspot_read(h, at + e->name_at, name, n) &&
	       memcmp(name, wanted, n) == 0;
}

u64 hotspot_find_unloads(const struct hotspot *h)
{
	const struct hotspot_field *field = &h->field[HOTSPOT_COUNTERS];
	struct counters_header head;
	struct counter_entry e;
	u64 start = 0, at;

	if (!field->size || hotspot_read(h, field->offset, &start, sizeof(start)) || !start ||
	    hotspot_read(h, start, &head, sizeof(head)))
		return 0;
	if (head.magic != COUNTERS_MAGIC || head.order != 1 || head.major != 2 ||
	    head.first < sizeof(head) || head.first > ENTRY_MOST)
		return 0;
	at = start + head.first;
	for (u32 i = 0; i < MIN(head.entries, (u32)COUNTERS_MOST); i++) {
		if (hotspot_read(h, at, &e, sizeof(e)) || e.length < sizeof(e) ||
		    e.length > ENTRY_MOST)
			return 0;
		if (is_named(h, at, &e, "java.cls.unloadedClasses"))
			return e.value_at <= e.length - 8 ? at + e.value_at : 0;
		at += e.length;
	}
	return 0;
}
