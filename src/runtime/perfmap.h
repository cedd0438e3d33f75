/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text file by which a run-time compiler reports where it put its code: lines of "START SIZE
 * name", hexadecimal, appended as it goes. Addresses are reused: the later line is right.
 */
#ifndef RUNTIME_PERFMAP_H
#define RUNTIME_PERFMAP_H

#include "base/buf.h"
#include "base/vec.h"
#include "base/span.h"

/* Of larger files the end is read: the newer lines are the ones that count. */
#define PERFMAP_MAX_BYTES (256ull << 20)
enum { PERFMAP_MAX_ENTRIES = 4 << 20, PERFMAP_MAX_NAME = 4096 };

struct perfmap_entry {
	u64 start;
	u64 size;
	u32 name;   /* offset into names */
	u32 result; /* for the user of the map; 0 at first */
};

struct perfmap {
	VEC(struct perfmap_entry) entries; /* in the order of the file */
	struct span_table spans;
	struct buf names;
	bool stale; /* entries came since spans were made */
	bool full;  /* more was there than is kept */
};

#define PERFMAP_INIT \
	{            \
		0    \
	}

/* Adds the whole lines of the text; returns how many bytes they were. */
size_t perfmap_add(struct perfmap *m, const char *text, size_t len);
void perfmap_release(struct perfmap *m);
/* Makes @m->spans of all entries that came. */
void perfmap_update(struct perfmap *m);
/* Drops what later entries hide. */
void perfmap_compact(struct perfmap *m);
/* NULL when there is none. Valid until the next perfmap_add(). */
struct perfmap_entry *perfmap_find(struct perfmap *m, u64 address);
static inline const char *perfmap_name(const struct perfmap *m, const struct perfmap_entry *e)
{
	return m->names.data + e->name;
}

#endif
