/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/jitdump.h"

#include <errno.h>

/* The file's layout; all of it in the byte order of the machine that wrote it. */
#define JITDUMP_MAGIC         0x4a695444u
#define JITDUMP_MAGIC_SWAPPED 0x4454694au
enum { JITDUMP_OWN_CLOCK = 1 }; /* in header.flags */
enum { ELF_HEADER = 64 };

struct file_header {
	u32 magic;
	u32 version;
	u32 total_size;
	u32 elf_mach;
	u32 pad;
	u32 pid;
	u64 timestamp;
	u64 flags;
};
_Static_assert(sizeof(struct file_header) == 40, "as in the file");

enum record_id {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	CODE_CLOSE = 3,
	CODE_UNWIND = 4
};

struct record_header {
	u32 id;
	u32 total_size;
	u64 timestamp;
};
_Static_assert(sizeof(struct record_header) == 16, "as in the file");

struct code_load {
	u32 pid;
	u32 tid;
	u64 vma;
	u64 code_addr;
	u64 code_size;
	u64 code_index;
};
_Static_assert(sizeof(struct code_load) == 40, "as in the file");

struct code_move {
	u32 pid;
	u32 tid;
	u64 vma;
	u64 old_code_addr;
	u64 new_code_addr;
	u64 code_size;
	u64 code_index;
};
_Static_assert(sizeof(struct code_move) == 48, "as in the file");

struct code_debug {
	u64 code_addr;
	u64 count;
};

struct debug_entry {
	u64 address;
	s32 line;
	u32 discriminator;
};
_Static_assert(sizeof(struct debug_entry) == 16, "as in the file");

struct code_unwind {
	u64 size;
	u64 hdr_size;
	u64 mapped_size;
};

struct reader {
	struct jitdump *d;
	jitdump_read_fn read;
	const void *ctx;
	u64 at; /* the record */
	struct record_header head;
};

/* Reads from the record's body; false if it is shorter. */
static bool body(const struct reader *r, u64 offset, void *ret, size_t n)
{
	const u64 from = sizeof(r->head) + offset;

	return from <= r->head.total_size && n <= r->head.total_size - from &&
	       r->read(r->ctx, r->at + from, ret, n) == 0;
}

static u32 keep(struct jitdump *d, const char *text, size_t n)
{
	if (d->strings.arena.total > JITDUMP_MAX_STRINGS) {
		d->full = true;
		return 0;
	}
	return intern_bytes(&d->strings, text, strnlen(text, MIN(n, (size_t)JITDUMP_MAX_NAME)));
}

static void add_entry(struct jitdump *d, const struct jitdump_entry *e)
{
	if (!e->size || e->size > UINT64_MAX - e->start)
		return;
	if (d->entries.len >= JITDUMP_MAX_ENTRIES) {
		d->full = true;
		return;
	}
	vec_push(&d->entries, *e);
	map_put(&d->by_index, e->index, d->entries.len);
}

/*
 * Whether the lines that came before are of this code: one that is elsewhere shows that the record
 * was not what it seemed (node 20 writes stray bytes for file names). V8 counts from the start of
 * an ELF file that would hold the code; they are moved to where the code is.
 */
static bool fit_lines(struct jitdump *d, const struct jitdump_entry *e)
{
	struct jitdump_line *lines;
	const u32 n = d->pending_line_count;
	u64 skip;

	if (!d->pending_line || d->pending_lines_of != e->start || !n)
		return false;
	lines = &d->lines.items[d->pending_line - 1];
	if (lines[0].address < e->start || lines[n - 1].address - e->start > e->size + ELF_HEADER)
		return false;
	skip = lines[0].address - e->start >= ELF_HEADER ? ELF_HEADER : 0;
	for (u32 i = 0; i < n; i++)
		lines[i].address -= skip;
	return true;
}

static void on_load(const struct reader *r)
{
	struct jitdump *d = r->d;
	struct code_load load;
	struct jitdump_entry e;
	char name[JITDUMP_MAX_NAME];
	size_t n;

	if (!body(r, 0, &load, sizeof(load)))
		return;
	n = MIN(r->head.total_size - sizeof(r->head) - sizeof(load), sizeof(name));
	if (!n || !body(r, sizeof(load), name, n))
		return;
	e = (struct jitdump_entry){ .start = load.code_addr,
				    .size = load.code_size,
				    .time = r->head.timestamp,
				    .sure = r->head.timestamp,
				    .index = load.code_index,
				    .name = keep(d, name, n) };
	if (load.code_size <= r->head.total_size)
		e.code_at = r->at + r->head.total_size - load.code_size;
	if (e.size <= UINT64_MAX - ELF_HEADER && fit_lines(d, &e)) {
		e.line = d->pending_line;
		e.line_count = d->pending_line_count;
	}
	e.unwind_at = d->pending_unwind_at;
	e.unwind_size = d->pending_unwind_size;
	e.unwind_hdr_size = d->pending_unwind_hdr_size;
	add_entry(d, &e);
	d->pending_line = d->pending_line_count = d->pending_unwind_size = 0;
}

/* Lines and unwind information are of the old place: they do not move along. */
static void on_move(const struct reader *r)
{
	struct jitdump *d = r->d;
	struct code_move move;
	u64 known;

	if (!body(r, 0, &move, sizeof(move)))
		return;
	known = map_get(&d->by_index, move.code_index, 0);
	if (!known)
		return;
	add_entry(d, &(struct jitdump_entry){ .start = move.new_code_addr,
					      .size = move.code_size,
					      .time = r->head.timestamp,
					      .sure = r->head.timestamp,
					      .index = move.code_index,
					      .name = d->entries.items[known - 1].name });
}

/* One line's entry; returns its length in bytes, 0 when it is not all there. */
static size_t take_line(struct jitdump *d, const char *at, size_t left, u32 *file)
{
	struct debug_entry e;
	size_t n;

	if (left <= sizeof(e))
		return 0;
	memcpy(&e, at, sizeof(e));
	at += sizeof(e);
	left -= sizeof(e);
	n = strnlen(at, left);
	if (n == left)
		return 0;
	/* "\xff" is the file of the line before. */
	if (n != 1 || (u8)at[0] != 0xff)
		*file = keep(d, at, n);
	if (d->lines.len >= JITDUMP_MAX_LINES)
		d->full = true;
	else
		vec_push(&d->lines,
			 (struct jitdump_line){ e.address, *file, e.line > 0 ? (u32)e.line : 0 });
	return sizeof(e) + n + 1;
}

static int compare_lines(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void on_debug(const struct reader *r)
{
	struct jitdump *d = r->d;
	const u64 size = r->head.total_size - sizeof(r->head);
	const size_t first = d->lines.len;
	struct code_debug debug;
	size_t at = 0, n;
	u32 file = 0;

	if (!body(r, 0, &debug, sizeof(debug)))
		return;
	n = (size_t)(size - sizeof(debug));
	if (n > JITDUMP_MAX_DEBUG) {
		d->full = true;
		return;
	}
	buf_reset(&d->scratch);
	if (!n || !body(r, sizeof(debug), buf_reserve(&d->scratch, n), n))
		return;
	for (u64 i = 0; i < debug.count; i++) {
		const size_t used = take_line(d, d->scratch.data + at, n - at, &file);

		if (!used)
			break;
		at += used;
	}
	if (d->lines.len == first)
		return;
	qsort(d->lines.items + first, d->lines.len - first, sizeof(*d->lines.items), compare_lines);
	d->pending_lines_of = debug.code_addr;
	d->pending_line = (u32)first + 1;
	d->pending_line_count = (u32)(d->lines.len - first);
}

static void on_unwind(const struct reader *r)
{
	struct jitdump *d = r->d;
	struct code_unwind u;

	if (!body(r, 0, &u, sizeof(u)) || u.hdr_size > u.size || u.size > JITDUMP_MAX_UNWIND ||
	    u.size > r->head.total_size - sizeof(r->head) - sizeof(u))
		return;
	d->pending_unwind_at = r->at + sizeof(r->head) + sizeof(u);
	d->pending_unwind_size = (u32)u.size;
	d->pending_unwind_hdr_size = (u32)u.hdr_size;
}

static void take_record(const struct reader *r)
{
	switch (r->head.id) {
	case CODE_LOAD: on_load(r); break;
	case CODE_MOVE: on_move(r); break;
	case CODE_DEBUG_INFO: on_debug(r); break;
	case CODE_UNWIND: on_unwind(r); break;
	default: break; /* CODE_CLOSE, and what later versions bring */
	}
}

static bool take_header(struct reader *r, u64 size)
{
	struct file_header h;
	struct jitdump *d = r->d;

	if (size < sizeof(h) || r->read(r->ctx, 0, &h, sizeof(h)) < 0)
		return false;
	if (h.magic == JITDUMP_MAGIC_SWAPPED)
		d->why = "its jitdump is of another byte order";
	else if (h.magic != JITDUMP_MAGIC || h.total_size < sizeof(h) || h.total_size > 1 << 16)
		d->why = "its jitdump does not begin like one";
	if (d->why)
		return false;
	d->begun = h.timestamp;
	d->pid = h.pid;
	d->machine = (u16)h.elf_mach;
	d->own_clock = h.flags & JITDUMP_OWN_CLOCK;
	d->consumed = h.total_size;
	return true;
}

void jitdump_update(struct jitdump *d, jitdump_read_fn read, const void *ctx, u64 size)
{
	struct reader r = { .d = d, .read = read, .ctx = ctx };
	const size_t before = d->entries.len;

	if (d->why || (!d->consumed && !take_header(&r, size)))
		return;
	while (!d->full && d->consumed <= size && size - d->consumed >= sizeof(r.head)) {
		r.at = d->consumed;
		if (read(ctx, r.at, &r.head, sizeof(r.head)) < 0)
			break;
		/* Room that was made ahead, and is not written yet, reads as zeros. */
		if (!r.head.total_size)
			break;
		if (r.head.total_size < sizeof(r.head)) {
			d->why = "its jitdump is broken";
			break;
		}
		if (r.head.total_size > size - r.at)
			break;
		take_record(&r);
		d->consumed = r.at + r.head.total_size;
	}
	if (d->entries.len != before)
		d->sorted = 0;
}

void jitdump_add(struct jitdump *d, const struct jitdump_entry *e, const char *name, size_t n)
{
	struct jitdump_entry entry = *e;

	entry.index = d->entries.len;
	entry.name = keep(d, name, n);
	add_entry(d, &entry);
	d->sorted = 0;
}

void jitdump_release(struct jitdump *d)
{
	vec_release(&d->entries);
	vec_release(&d->reused);
	vec_release(&d->lines);
	intern_release(&d->strings);
	map_release(&d->by_index);
	free(d->order);
	free(d->reach);
	buf_release(&d->scratch);
	*d = (struct jitdump)JITDUMP_INIT;
}

/* --- finding ------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b, void *entries)
{
	const struct jitdump_entry *x = (const struct jitdump_entry *)entries + *(const u32 *)a;
	const struct jitdump_entry *y = (const struct jitdump_entry *)entries + *(const u32 *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

/* A part of the tree is order[low..high), its root in the middle. Depth is log2: 22 at most. */
static u64 set_reach(struct jitdump *d, size_t low, size_t high)
{
	const size_t mid = low + (high - low) / 2;
	const struct jitdump_entry *e;
	u64 reach;

	if (low == high)
		return 0;
	e = &d->entries.items[d->order[mid]];
	reach = e->start + e->size;
	reach = MAX(reach, set_reach(d, low, mid));
	reach = MAX(reach, set_reach(d, mid + 1, high));
	d->reach[mid] = reach;
	return reach;
}

static int compare_times(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Of each that overlaps one before it by address, from when to when the later one came to be. */
static void find_reused(struct jitdump *d)
{
	const struct jitdump_entry *farthest = NULL;

	vec_clear(&d->reused);
	for (size_t i = 0; i < d->entries.len; i++) {
		const struct jitdump_entry *e = &d->entries.items[d->order[i]];

		if (farthest && e->start < farthest->start + farthest->size) {
			vec_push(&d->reused, MAX(e->time, farthest->time));
			vec_push(&d->reused, MAX(e->sure, farthest->sure));
		}
		if (!farthest || e->start + e->size >= farthest->start + farthest->size)
			farthest = e;
	}
	if (d->reused.len)
		qsort(d->reused.items, d->reused.len, sizeof(*d->reused.items), compare_times);
}

static void sort_entries(struct jitdump *d)
{
	const size_t n = d->entries.len;

	d->order = xreallocarray(d->order, n, sizeof(*d->order));
	d->reach = xreallocarray(d->reach, n, sizeof(*d->reach));
	for (size_t i = 0; i < n; i++)
		d->order[i] = (u32)i;
	qsort_r(d->order, n, sizeof(*d->order), compare_entries, d->entries.items);
	set_reach(d, 0, n);
	find_reused(d);
	d->sorted = n;
}

u64 jitdump_changes(struct jitdump *d, u64 time)
{
	size_t low = 0, high;

	if (d->entries.len && !d->sorted)
		sort_entries(d);
	high = d->entries.len ? d->reused.len : 0;
	if (!time || d->own_clock)
		return high;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (d->reused.items[mid] <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct search {
	struct jitdump *d;
	u64 address;
	u64 time;
	u32 best;  /* index + 1 of the latest that is not too late */
	u32 after; /* index + 1 of the first that is */
	u32 seen;
	u64 since;       /* of jitdump_names(); else UINT64_MAX */
	VEC(u32) during; /* indices of those that came after @since, up to @time */
};

/* Which of two was there later. */
static bool is_later(const struct jitdump_entry *list, u32 a, u32 b)
{
	if (list[a].sure != list[b].sure)
		return list[a].sure > list[b].sure;
	return list[a].time != list[b].time ? list[a].time > list[b].time : a > b;
}

static void weigh(struct search *s, u32 index)
{
	const struct jitdump_entry *list = s->d->entries.items, *e = &list[index];

	if (e->time <= s->time && e->sure > s->since) {
		vec_push(&s->during, index);
	} else if (e->time <= s->time) {
		if (!s->best || is_later(list, index, s->best - 1))
			s->best = index + 1;
	} else if (!s->after || e->time < list[s->after - 1].time) {
		s->after = index + 1;
	}
}

static void search(struct search *s, size_t low, size_t high)
{
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct jitdump_entry *e = &s->d->entries.items[s->d->order[mid]];

		if (s->d->reach[mid] <= s->address || s->seen >= JITDUMP_MAX_OVERLAPS)
			return;
		s->seen++;
		search(s, low, mid);
		if (e->start > s->address)
			return;
		if (s->address - e->start < e->size)
			weigh(s, s->d->order[mid]);
		low = mid + 1;
	}
}

struct jitdump_entry *jitdump_find(struct jitdump *d, u64 address, u64 time)
{
	struct search s = { .d = d,
			    .address = address,
			    .time = time && !d->own_clock ? time : UINT64_MAX,
			    .since = UINT64_MAX };

	if (!d->entries.len)
		return NULL;
	if (!d->sorted)
		sort_entries(d);
	search(&s, 0, d->sorted);
	if (!s.best)
		s.best = s.after;
	return s.best ? &d->entries.items[s.best - 1] : NULL;
}

/* Adds a name unless it is there; false: there is no room for it. */
static bool add_name(u32 *names, size_t *n, u32 name)
{
	for (size_t i = 0; i < *n; i++) {
		if (names[i] == name)
			return true;
	}
	if (*n == JITDUMP_NAMES_MOST) {
		names[*n - 1] = 0;
		return false;
	}
	names[(*n)++] = name;
	return true;
}

static int compare_latest(const void *a, const void *b, void *list)
{
	return is_later(list, *(const u32 *)a, *(const u32 *)b) ? -1 : 1;
}

/*
 * Code that came long after the moment that is asked about was not there: the dump's clock is not
 * that of the samples. Its process may be in a time namespace.
 */
static bool is_other_clock(const struct search *s)
{
	return !s->during.len && !s->best && s->after &&
	       s->d->entries.items[s->after - 1].time - s->time > NSEC_PER_SEC;
}

size_t jitdump_names(struct jitdump *d, u64 address, u64 since, u64 until,
		     u32 ret[static JITDUMP_NAMES_MOST])
{
	struct search s = { .d = d, .address = address, .time = until, .since = since };
	const struct jitdump_entry *list = d->entries.items;
	size_t n = 0;
	bool room = true;

	if (d->own_clock) {
		s.time = UINT64_MAX;
		s.since = 0;
	}
	if (!d->entries.len)
		return 0;
	if (!d->sorted)
		sort_entries(d);
	search(&s, 0, d->sorted);
	if (is_other_clock(&s)) {
		s = (struct search){ .d = d, .address = address, .time = UINT64_MAX };
		search(&s, 0, d->sorted);
	}
	if (s.during.len)
		qsort_r(s.during.items, s.during.len, sizeof(u32), compare_latest,
			d->entries.items);
	for (size_t i = 0; i < s.during.len && room; i++)
		room = add_name(ret, &n, list[s.during.items[i]].name);
	if (s.best && room)
		add_name(ret, &n, list[s.best - 1].name);
	else if (!n && s.after)
		add_name(ret, &n, list[s.after - 1].name);
	vec_release(&s.during);
	return n;
}

const struct jitdump_line *jitdump_line(const struct jitdump *d, const struct jitdump_entry *e,
					u64 address)
{
	const struct jitdump_line *first;
	size_t low = 0, high = e->line_count;

	if (!e->line)
		return NULL;
	first = &d->lines.items[e->line - 1];
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (first[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &first[low - 1] : NULL;
}
