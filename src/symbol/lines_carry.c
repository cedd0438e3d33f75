/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined functions that travel in a recording: for the addresses that it has.
 *
 * The blob: "FLIN", a byte 1 (version), then for each module until the end of the bytes
 *	who it is, as in the names; count, count times:
 *	offset - previous offset, frames, for each: function, file, line, column << 1 | inlined
 * Numbers are ULEB128, offsets ascend. A string is 0 for none, the number of one that came
 * before, or the next number: then its length and bytes follow.
 */
#include "symbol/carry.h"
#include "symbol/store.h"

enum {
	LINES_MAX_BLOB = 512 << 20,
	LINES_MAX_STRING = 1 << 16,
	LINES_MAGIC_LEN = 5,
	COUNT_BITS = 8,
};
#define LINES_MAGIC "FLIN\1"

_Static_assert(SOURCE_MAX_FRAMES < (1 << COUNT_BITS) - 1, "a count fits beside the index");

void known_lines_release(struct known_lines *k)
{
	map_release(&k->at);
	vec_release(&k->list);
}

static const char *text_of(const struct symbols *s, u32 id)
{
	return id ? intern_get(&s->names, id) : NULL;
}

bool known_lines_find(const struct symbols *s, const struct known_lines *k, u64 offset,
		      struct source_frame *ret, size_t max, size_t *ret_n)
{
	const u64 *at = map_find(&k->at, offset);
	size_t first, n;

	if (!at)
		return false;
	first = *at >> COUNT_BITS;
	n = MIN((*at & ((1 << COUNT_BITS) - 1)) - 1, max);
	for (size_t i = 0; i < n; i++) {
		const struct known_line *l = &k->list.items[first + i];

		ret[i] = (struct source_frame){ .function = text_of(s, l->function),
						.file = text_of(s, l->file),
						.line = l->line,
						.column = l->column,
						.inlined = l->inlined };
	}
	*ret_n = n;
	return true;
}

static u64 add_frames(struct symbols *s, struct known_lines *k, const struct source_frame *frames,
		      size_t n)
{
	u64 at = (u64)k->list.len << COUNT_BITS | (n + 1);

	for (size_t i = 0; i < n; i++)
		vec_push(&k->list,
			 (struct known_line){
				 .function = frames[i].function
						     ? intern_str(&s->names, frames[i].function)
						     : 0,
				 .file = frames[i].file ? intern_str(&s->names, frames[i].file) : 0,
				 .line = frames[i].line,
				 .column = frames[i].column,
				 .inlined = frames[i].inlined,
			 });
	return at;
}

void known_lines_add(struct symbols *s, struct known_lines *k, u64 offset,
		     const struct source_frame *frames, size_t n)
{
	u64 at = add_frames(s, k, frames, n);

	*map_at(&k->at, offset) = at;
}

/* --- writing ------------------------------------------------------------------------------- */

struct export
{
	const struct symbols *s;
	struct map strings; /* id in names -> number in the blob */
	struct buf *out;
};

static void put_string(struct export *x, u32 id)
{
	u64 *known;

	if (!id) {
		carry_put(x->out, 0);
		return;
	}
	known = map_at(&x->strings, id);
	if (*known) {
		carry_put(x->out, *known);
		return;
	}
	*known = x->strings.len;
	carry_put(x->out, *known);
	carry_put_bytes(x->out, intern_get(&x->s->names, id), intern_len(&x->s->names, id));
}

static int compare_offsets(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void export_frames(struct export *x, const struct known_lines *k, u64 at)
{
	size_t n = (at & ((1 << COUNT_BITS) - 1)) - 1;

	carry_put(x->out, n);
	for (size_t i = 0; i < n; i++) {
		const struct known_line *l = &k->list.items[(at >> COUNT_BITS) + i];

		put_string(x, l->function);
		put_string(x, l->file);
		carry_put(x->out, l->line);
		carry_put(x->out, (u64)l->column << 1 | l->inlined);
	}
}

static void export_lines(struct export *x, const struct known_lines *k)
{
	VEC(u64) offsets = { 0 };
	u64 previous = 0;

	map_each(slot, &k->at)
		vec_push(&offsets, slot->key);
	vec_sort(&offsets, compare_offsets);
	carry_put(x->out, offsets.len);
	vec_each(offset, &offsets) {
		carry_put(x->out, *offset - previous);
		previous = *offset;
		export_frames(x, k, map_get(&k->at, *offset, 1));
	}
	vec_release(&offsets);
}

void symbols_lines_export(const struct symbols *s, struct buf *ret)
{
	struct export x = { .s = s, .out = ret };

	vec_each(m, &s->modules) {
		if (!(*m)->lines.list.len || !(*m)->key.path[0])
			continue;
		if (!ret->len)
			buf_add(ret, LINES_MAGIC, LINES_MAGIC_LEN);
		carry_put_key(ret, &(*m)->key);
		export_lines(&x, &(*m)->lines);
	}
	map_release(&x.strings);
}

/* --- reading ------------------------------------------------------------------------------- */

/* With @s NULL only checks. */
struct import {
	struct symbols *s;
	struct carry_blob b;
	VEC(u32) strings; /* number in the blob - 1 -> id in names */
};

static const char *get_string(struct import *x)
{
	u64 number = carry_get(&x->b);
	const char *text;
	size_t n;

	if (!number || x->b.bad)
		return NULL;
	if (number > x->strings.len + 1) {
		x->b.bad = true;
		return NULL;
	}
	if (number == x->strings.len + 1) {
		text = carry_get_bytes(&x->b, LINES_MAX_STRING, &n);
		_cleanup_free_ char *copy = xstrndup(text, n);

		vec_push(&x->strings, x->s ? store_shown_text(x->s, copy) : 0);
	}
	return x->s ? intern_get(&x->s->names, x->strings.items[number - 1]) : NULL;
}

static size_t get_frames(struct import *x, struct source_frame *ret)
{
	u64 n = carry_get(&x->b), column;

	if (n > SOURCE_MAX_FRAMES)
		x->b.bad = true;
	for (u64 i = 0; i < n && !x->b.bad; i++) {
		ret[i].function = get_string(x);
		ret[i].file = get_string(x);
		ret[i].line = (u32)carry_get(&x->b);
		column = carry_get(&x->b);
		ret[i].column = (u32)(column >> 1);
		ret[i].inlined = column & 1;
	}
	return n;
}

/* @into NULL: only checks. */
static void import_lines(struct import *x, struct known_lines *into)
{
	struct source_frame frames[SOURCE_MAX_FRAMES];
	u64 count = carry_get(&x->b), offset = 0;

	for (u64 i = 0; i < count && !x->b.bad; i++) {
		size_t n;

		offset += carry_get(&x->b);
		n = get_frames(x, frames);
		if (into && !x->b.bad)
			known_lines_add(x->s, into, offset, frames, n);
	}
}

static void import_module(struct import *x)
{
	_cleanup_free_ char *path = NULL;
	struct module_key key;
	struct module *m = NULL;

	carry_get_key(&x->b, &key, &path);
	if (!x->b.bad && x->s)
		m = store_module(x->s, symbols_module(x->s, &key));
	import_lines(x, m ? &m->lines : NULL);
}

static void rewind_import(struct import *x, const void *blob, size_t len)
{
	x->b = (struct carry_blob){ .bytes = blob, .len = len, .at = LINES_MAGIC_LEN };
	vec_clear(&x->strings);
}

static bool has_magic(const void *blob, size_t len)
{
	return len <= LINES_MAX_BLOB && len >= LINES_MAGIC_LEN &&
	       memcmp(blob, LINES_MAGIC, LINES_MAGIC_LEN) == 0;
}

static bool import_all(struct import *x, const void *blob, size_t len)
{
	rewind_import(x, blob, len);
	while (x->b.at < x->b.len && !x->b.bad)
		import_module(x);
	return !x->b.bad;
}

int symbols_lines_import(struct symbols *s, const void *blob, size_t len, struct err *e)
{
	struct import x = { 0 };
	int r = 0;

	if (!has_magic(blob, len))
		return err_set(e, EBADMSG, "the lines in the recording have an unknown form");
	if (import_all(&x, blob, len)) {
		x.s = s;
		(void)import_all(&x, blob, len);
	} else {
		r = err_set(e, EBADMSG, "the lines in the recording are broken at byte %zu",
			    x.b.at);
	}
	vec_release(&x.strings);
	return r;
}
