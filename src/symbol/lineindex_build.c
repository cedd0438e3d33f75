/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/lineindex.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/varint.h"
#include "base/vec.h"

struct lineindex_builder {
	struct intern strings;
	VEC(u32) refs; /* of the strings, by id - 1 */
	struct buf text;
	VEC(struct line_scope) scopes;
	struct buf blocks;
	VEC(u32) starts;
	u64 base;
	size_t block_at; /* where in @blocks the last one begins */
	u16 block_count; /* cells in it */
	struct line_cell last;
	struct buf scratch;
	bool pending, full;
};

struct lineindex_builder *lineindex_builder_new(void)
{
	return xcalloc(1, sizeof(struct lineindex_builder));
}

void lineindex_builder_free(struct lineindex_builder *b)
{
	if (!b)
		return;
	intern_release(&b->strings);
	vec_release(&b->refs);
	buf_release(&b->text);
	vec_release(&b->scopes);
	buf_release(&b->blocks);
	vec_release(&b->starts);
	buf_release(&b->scratch);
	free(b);
}

u32 lineindex_add_string(struct lineindex_builder *b, const char *text, size_t len)
{
	const u32 id = intern_bytes(&b->strings, text, len);

	if (id <= b->refs.len)
		return b->refs.items[id - 1];
	if (b->text.len > LINEINDEX_MAX_FILE) {
		b->full = true;
		vec_push(&b->refs, 0);
		return 0;
	}
	vec_push(&b->refs, (u32)b->text.len + 1);
	varint_write(&b->text, len);
	buf_add(&b->text, text, len);
	return *vec_last(&b->refs);
}

u32 lineindex_add_scope(struct lineindex_builder *b, const struct line_scope *s)
{
	if (b->scopes.len * sizeof(*s) > LINEINDEX_MAX_FILE) {
		b->full = true;
		return LINE_NOWHERE;
	}
	vec_push(&b->scopes, *s);
	return (u32)b->scopes.len - 1 + LINE_FIRST;
}

/* --- cells --------------------------------------------------------------------------------- */

static u64 zigzag(u32 to, u32 from)
{
	const s64 d = (s64)to - (s64)from;

	return (u64)d << 1 ^ (d < 0 ? UINT64_MAX : 0);
}

static void encode(struct buf *out, const struct line_cell *c, const struct line_cell *last)
{
	const bool line = c->line != last->line || c->column != last->column;
	const u64 what = (c->file != last->file ? CELL_FILE : 0) | (line ? CELL_LINE : 0) |
			 (c->scope != last->scope ? CELL_SCOPE : 0);

	varint_write(out, (c->start - last->start) << CELL_SHIFT | what);
	if (what & CELL_FILE)
		varint_write(out, c->file);
	if (line) {
		varint_write(out, zigzag(c->line, last->line));
		varint_write(out, c->column);
	}
	if (what & CELL_SCOPE)
		varint_write(out, zigzag(c->scope, last->scope));
}

static void end_block(struct lineindex_builder *b)
{
	if (!b->starts.len)
		return;
	memcpy(b->blocks.data + b->block_at, &b->block_count, sizeof(b->block_count));
	buf_fill(&b->blocks, '\0', b->block_at + LINE_PAGE - b->blocks.len);
}

static void begin_block(struct lineindex_builder *b, u64 start)
{
	end_block(b);
	if (!b->starts.len)
		b->base = start;
	vec_push(&b->starts, (u32)(start - b->base));
	b->block_at = b->blocks.len;
	b->block_count = 0;
	buf_fill(&b->blocks, '\0', sizeof(b->block_count));
	b->last = (struct line_cell){ .start = start };
}

static bool same_cell(const struct line_cell *a, const struct line_cell *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column &&
	       a->scope == b->scope;
}

void lineindex_add_cell(struct lineindex_builder *b, const struct line_cell *c)
{
	if (b->starts.len && (c->start < b->last.start || same_cell(c, &b->last)))
		return;
	if (b->blocks.len > LINEINDEX_MAX_FILE ||
	    (b->starts.len && c->start - b->base > UINT32_MAX)) {
		b->full = true;
		return;
	}
	b->pending |= c->scope == LINE_PENDING;
	if (!b->starts.len)
		begin_block(b, c->start);
	buf_reset(&b->scratch);
	encode(&b->scratch, c, &b->last);
	if (b->blocks.len - b->block_at + b->scratch.len > LINE_PAGE) {
		begin_block(b, c->start);
		buf_reset(&b->scratch);
		encode(&b->scratch, c, &b->last);
	}
	buf_add(&b->blocks, b->scratch.data, b->scratch.len);
	b->block_count++;
	b->last = *c;
}

/* --- the file ------------------------------------------------------------------------------ */

static void add_pages(struct buf *ret, const void *bytes, size_t n)
{
	if (n)
		buf_add(ret, bytes, n);
	buf_fill(ret, '\0', ALIGN_UP(n, (size_t)LINE_PAGE) - n);
}

static void put_tables(const struct lineindex_builder *b, struct lineindex_head *h,
		       const struct lineindex_layout *at, struct buf *ret)
{
	const size_t count = (size_t)h->blocks + at->pages;
	_cleanup_free_ u32 *tables = xcalloc(MAX(count, (size_t)1), sizeof(*tables));

	if (h->blocks)
		memcpy(tables, b->starts.items, h->blocks * sizeof(*tables));
	for (u32 i = 0; i < at->pages; i++)
		tables[h->blocks + i] =
			(u32)hash_bytes(ret->data + at->body + (size_t)i * LINE_PAGE, LINE_PAGE);
	h->hash = lineindex_hash(h, tables, count);
	memcpy(ret->data, h, sizeof(*h));
	memcpy(ret->data + sizeof(*h), tables, count * sizeof(*tables));
}

int lineindex_finish(struct lineindex_builder *b, const struct lineindex_owner *o, u32 units,
		     bool whole, struct buf *ret)
{
	struct lineindex_head h = { .magic = LINEINDEX_MAGIC,
				    .fingerprint = o->fingerprint,
				    .base = b->base,
				    .strings_len = b->text.len,
				    .blocks = (u32)b->starts.len,
				    .scopes = (u32)b->scopes.len,
				    .units = units,
				    .whole = whole || !b->pending,
				    .build_id_len = o->build_id_len };
	struct lineindex_layout at;

	if (b->full || !lineindex_layout(&h, &at))
		return -EFBIG;
	memcpy(h.build_id, o->build_id, o->build_id_len);
	h.total = at.total;
	end_block(b);
	buf_reset(ret);
	buf_fill(ret, '\0', at.body);
	add_pages(ret, b->blocks.data, b->blocks.len);
	add_pages(ret, b->scopes.items, b->scopes.len * sizeof(*b->scopes.items));
	add_pages(ret, b->text.data, b->text.len);
	put_tables(b, &h, &at, ret);
	return 0;
}
