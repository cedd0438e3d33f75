/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binary file by which a run-time compiler reports where it put its code, when, from which
 * source and how to unwind it (jit-PID.dump). It is appended to as the program runs, so it is read
 * in parts; a record that is not all there yet waits for the next time.
 */
#ifndef RUNTIME_JITDUMP_H
#define RUNTIME_JITDUMP_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

enum {
	JITDUMP_MAX_ENTRIES = 4 << 20,
	JITDUMP_MAX_LINES = 16 << 20, /* of all functions together */
	JITDUMP_MAX_NAME = 4096,
	JITDUMP_MAX_STRINGS = 256 << 20,
	JITDUMP_MAX_DEBUG = 16 << 20, /* bytes of one record about lines */
	JITDUMP_MAX_UNWIND = 1 << 20, /* bytes of one function's unwind information */
	JITDUMP_MAX_OVERLAPS = 4096,  /* checked in one search */
	JITDUMP_NAMES_MOST = 4,       /* of one address in one span of time */
};

struct jitdump_entry {
	u64 start;
	u64 size;
	u64 time;  /* when it came to be, on the writer's clock: not before this ... */
	u64 sure;  /* ... and not after this. The same, where the writer noted the moment */
	u64 index; /* the writer's number of it */
	u32 name;  /* string */
	u32 line;  /* of lines, the first + 1; 0: none */
	u32 line_count;
	u32 unwind_size;     /* .eh_frame and then .eh_frame_hdr; 0: none */
	u32 unwind_hdr_size; /* of it, .eh_frame_hdr */
	u64 unwind_at;       /* in the file */
	u64 code_at;         /* the bytes of the code, in the file; 0: they are not there */
	u32 result;          /* for the user of the dump; 0 at first */
	bool several;        /* its name is that of several functions: see jitdump_names() */
};

struct jitdump_line {
	u64 address;
	u32 file; /* string */
	u32 line;
};

struct jitdump {
	VEC(struct jitdump_entry) entries; /* in the order of the file */
	VEC(struct jitdump_line) lines;
	struct intern strings;
	struct map by_index; /* the writer's number -> the latest entry + 1 */
	/* by start: an interval tree, its root in the middle */
	u32 *order;
	u64 *reach; /* the highest end in the part of the tree below */
	size_t sorted;
	VEC(u64) reused; /* when code came to be where other code had been, in order */
	u64 consumed;    /* bytes of the file */
	u64 begun;       /* as the header has it, on the writer's clock */
	u32 pid;         /* likewise */
	u16 machine;     /* EM_*, likewise */
	bool own_clock;  /* times are not of our clock: they mean nothing to us */
	bool full;       /* more was there than is kept */
	const char *why; /* it can be read no further, or NULL */
	/* what the next code record refers to */
	u64 pending_lines_of;
	u32 pending_line, pending_line_count;
	u64 pending_unwind_at;
	u32 pending_unwind_size, pending_unwind_hdr_size;
	struct buf scratch;
};

#define JITDUMP_INIT \
	{            \
		0    \
	}

/* Reads @n bytes at @offset, all or an error. */
typedef int (*jitdump_read_fn)(const void *ctx, u64 offset, void *ret, size_t n);

/* Reads what came since the last time, of a file that has @size bytes now. */
void jitdump_update(struct jitdump *d, jitdump_read_fn read, const void *ctx, u64 size);
void jitdump_release(struct jitdump *d);
/* How often until @time code took the place of other code; 0 as @time: in all. */
u64 jitdump_changes(struct jitdump *d, u64 time);
/* An entry that comes from elsewhere. Its name is copied. */
void jitdump_add(struct jitdump *d, const struct jitdump_entry *e, const char *name, size_t n);
/*
 * The code that was at @address at that time: the latest that was there by then, otherwise the
 * first that came after (clocks differ a little). @time 0: the latest of all. NULL when there is
 * none; valid until the next update.
 */
struct jitdump_entry *jitdump_find(struct jitdump *d, u64 address, u64 time);
/*
 * The different names of all code that may have been at @address at some moment from @since to
 * @until, the latest first; with more than JITDUMP_NAMES_MOST the last one is 0. Of a dump with a
 * clock of its own it is all code that ever was there. Returns how many.
 */
size_t jitdump_names(struct jitdump *d, u64 address, u64 since, u64 until,
		     u32 ret[static JITDUMP_NAMES_MOST]);
/* The line at an address of @e, or NULL. */
const struct jitdump_line *jitdump_line(const struct jitdump *d, const struct jitdump_entry *e,
					u64 address);
static inline const char *jitdump_str(const struct jitdump *d, u32 id)
{
	return intern_get(&d->strings, id);
}

#endif
