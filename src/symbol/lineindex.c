/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/lineindex.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/varint.h"

struct lineindex {
	int fd;
	const u8 *mem; /* instead of fd */
	struct lineindex_head head;
	struct lineindex_layout at;
	u32 *starts; /* of the blocks, the sums of the pages follow */
	u32 *sums;
	const u8 **loaded; /* pages that were read */
	struct arena arena;
	bool broken;
};

static u64 pages_for(u64 bytes)
{
	return (bytes + LINE_PAGE - 1) / LINE_PAGE;
}

bool lineindex_layout(const struct lineindex_head *h, struct lineindex_layout *ret)
{
	u64 tables;

	if (h->blocks > LINEINDEX_MAX_FILE / LINE_PAGE ||
	    h->scopes > LINEINDEX_MAX_FILE / sizeof(struct line_scope) ||
	    h->strings_len > LINEINDEX_MAX_FILE || h->build_id_len > sizeof(h->build_id))
		return false;
	ret->scope_page = h->blocks;
	ret->string_page = ret->scope_page + (u32)pages_for(h->scopes * sizeof(struct line_scope));
	ret->pages = ret->string_page + (u32)pages_for(h->strings_len);
	tables = ((u64)h->blocks + ret->pages) * sizeof(u32);
	ret->body = ALIGN_UP(sizeof(*h) + tables, (u64)LINE_PAGE);
	ret->total = ret->body + (u64)ret->pages * LINE_PAGE;
	return ret->total <= LINEINDEX_MAX_FILE;
}

u64 lineindex_hash(const struct lineindex_head *h, const u32 *tables, size_t count)
{
	struct lineindex_head copy = *h;

	copy.hash = 0;
	return hash_mix(hash_bytes(&copy, sizeof(copy)), hash_bytes(tables, count * sizeof(u32)));
}

/* The caller has checked that the bytes are inside of the file as it was when it was opened. */
static bool read_bytes(const struct lineindex *x, u64 at, void *ret, size_t n)
{
	if (x->fd >= 0)
		return io_pread_all(x->fd, at, ret, n) == 0;
	memcpy(ret, x->mem + at, n);
	return true;
}

static int read_head(struct lineindex *x, u64 size, const struct lineindex_owner *o)
{
	struct lineindex_head *h = &x->head;
	size_t count;

	if (size < sizeof(*h) || !read_bytes(x, 0, h, sizeof(*h)) ||
	    memcmp(h->magic, LINEINDEX_MAGIC, sizeof(h->magic)) != 0 || h->total != size ||
	    !lineindex_layout(h, &x->at) || x->at.total != size)
		return -EBADMSG;
	if (h->fingerprint != o->fingerprint || h->build_id_len != o->build_id_len ||
	    memcmp(h->build_id, o->build_id, o->build_id_len) != 0)
		return -ESTALE;
	count = (size_t)h->blocks + x->at.pages;
	x->starts = xcalloc(MAX(count, (size_t)1), sizeof(u32));
	x->sums = x->starts + h->blocks;
	if (!read_bytes(x, sizeof(*h), x->starts, count * sizeof(u32)) ||
	    lineindex_hash(h, x->starts, count) != h->hash)
		return -EBADMSG;
	x->loaded = xcalloc(MAX(x->at.pages, 1u), sizeof(*x->loaded));
	return 0;
}

static int finish_open(struct lineindex **ret, struct lineindex *x, u64 size,
		       const struct lineindex_owner *o)
{
	int r = read_head(x, size, o);

	if (r < 0)
		lineindex_free(x);
	else
		*ret = x;
	return r;
}

int lineindex_open_fd(struct lineindex **ret, int fd, u64 size, const struct lineindex_owner *o)
{
	struct lineindex *x = xcalloc(1, sizeof(*x));

	x->fd = fd;
	return finish_open(ret, x, size, o);
}

int lineindex_open_mem(struct lineindex **ret, const void *bytes, size_t size,
		       const struct lineindex_owner *o)
{
	struct lineindex *x = xcalloc(1, sizeof(*x));

	x->fd = -1;
	x->mem = bytes;
	return finish_open(ret, x, size, o);
}

void lineindex_free(struct lineindex *x)
{
	if (!x)
		return;
	cleanup_close(&x->fd);
	free(x->starts);
	free(x->loaded);
	arena_release(&x->arena);
	free(x);
}

bool lineindex_is_broken(const struct lineindex *x)
{
	return x->broken;
}

bool lineindex_is_whole(const struct lineindex *x)
{
	return x->head.whole && !x->broken;
}

u32 lineindex_units(const struct lineindex *x)
{
	return x->head.units;
}

/* --- pages --------------------------------------------------------------------------------- */

static const u8 *page_of(struct lineindex *x, u32 number)
{
	u8 *page;

	if (x->broken || number >= x->at.pages)
		return NULL;
	if (x->loaded[number])
		return x->loaded[number];
	page = arena_alloc(&x->arena, LINE_PAGE);
	if (!read_bytes(x, x->at.body + (u64)number * LINE_PAGE, page, LINE_PAGE) ||
	    (u32)hash_bytes(page, LINE_PAGE) != x->sums[number]) {
		x->broken = true;
		return NULL;
	}
	x->loaded[number] = page;
	return page;
}

/* @n bytes from @at on, of the part of @len bytes that begins with a page. */
static bool part_bytes(struct lineindex *x, u32 page, u64 len, u64 at, void *ret, size_t n)
{
	char *to = ret;

	if (at > len || n > len - at) {
		x->broken = true;
		return false;
	}
	while (n) {
		const u8 *p = page_of(x, page + (u32)(at / LINE_PAGE));
		const size_t skip = at % LINE_PAGE, some = MIN(n, LINE_PAGE - skip);

		if (!p)
			return false;
		memcpy(to, p + skip, some);
		to += some;
		at += some;
		n -= some;
	}
	return true;
}

bool lineindex_str(struct lineindex *x, u32 ref, struct buf *ret)
{
	const u64 len = x->head.strings_len;
	const u8 *p;
	u8 first[10];
	u64 at = (u64)ref - 1, n;

	if (!ref || at >= len ||
	    !part_bytes(x, x->at.string_page, len, at, first, MIN(sizeof(first), len - at)))
		return false;
	p = first;
	if (!varint_read(&p, first + MIN(sizeof(first), len - at), &n) || n > SRCLINE_MAX_NAME) {
		x->broken = true;
		return false;
	}
	if (!part_bytes(x, x->at.string_page, len, at + (u64)(p - first), buf_reserve(ret, n), n))
		return false;
	buf_added(ret, n);
	return true;
}

bool lineindex_scope(struct lineindex *x, u32 number, struct line_scope *ret)
{
	const u64 index = (u64)number - LINE_FIRST;

	if (number < LINE_FIRST ||
	    !part_bytes(x, x->at.scope_page, (u64)x->head.scopes * sizeof(*ret),
			index * sizeof(*ret), ret, sizeof(*ret)))
		return false;
	/* Callers come first, so there are no cycles. */
	if (ret->caller > index)
		x->broken = true;
	return !x->broken;
}

/* --- cells --------------------------------------------------------------------------------- */

static s64 unzigzag(u64 v)
{
	return (s64)(v >> 1) ^ -(s64)(v & 1);
}

static bool begin_block(struct lineindex_cursor *c, u32 block)
{
	const u8 *p = page_of(c->x, block);
	u16 count;

	if (!p)
		return false;
	memcpy(&count, p, sizeof(count));
	c->block = block;
	c->left = count;
	c->at = p + sizeof(count);
	c->end = p + LINE_PAGE;
	c->cell = (struct line_cell){ .start = c->x->head.base + c->x->starts[block] };
	return true;
}

static bool read_cell(struct lineindex_cursor *c)
{
	struct line_cell *cell = &c->cell;
	u64 what, file = cell->file, line = 0, column = cell->column, scope = 0;
	bool good = varint_read(&c->at, c->end, &what);

	if (good && what & CELL_FILE)
		good = varint_read(&c->at, c->end, &file);
	if (good && what & CELL_LINE)
		good = varint_read(&c->at, c->end, &line) && varint_read(&c->at, c->end, &column);
	if (good && what & CELL_SCOPE)
		good = varint_read(&c->at, c->end, &scope);
	if (!good) {
		c->x->broken = true;
		return false;
	}
	cell->start += what >> CELL_SHIFT;
	cell->file = (u32)file;
	cell->line += (u32)unzigzag(line);
	cell->column = (u32)column;
	cell->scope += (u32)unzigzag(scope);
	c->left--;
	return true;
}

struct lineindex_cursor lineindex_cells(struct lineindex *x)
{
	struct lineindex_cursor c = { .x = x };

	if (x->head.blocks)
		(void)begin_block(&c, 0);
	return c;
}

bool lineindex_next(struct lineindex_cursor *c)
{
	while (!c->x->broken && !c->left) {
		if (c->block + 1 >= c->x->head.blocks || !begin_block(c, c->block + 1))
			return false;
	}
	return !c->x->broken && read_cell(c);
}

/* The number of blocks that begin at or before a place. */
static u32 blocks_up_to(const struct lineindex *x, u64 where)
{
	u32 low = 0, high = x->head.blocks;

	while (low < high) {
		const u32 middle = low + (high - low) / 2;

		if (x->starts[middle] <= where)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What holds at an address. False: broken. */
static bool find_cell(struct lineindex *x, u64 vaddr, struct line_cell *ret)
{
	const u32 blocks = vaddr < x->head.base ? 0 : blocks_up_to(x, vaddr - x->head.base);
	struct lineindex_cursor c = { .x = x };

	*ret = (struct line_cell){ 0 };
	if (!blocks)
		return true;
	if (!begin_block(&c, blocks - 1))
		return false;
	while (c.left) {
		if (!read_cell(&c))
			return false;
		if (c.cell.start > vaddr)
			break;
		*ret = c.cell;
	}
	return true;
}

bool lineindex_find(struct lineindex *x, u64 vaddr, struct srcline_frame *ret, size_t max,
		    size_t *ret_n)
{
	struct srcline_frame f = { 0 };
	struct line_cell cell;
	u32 number;
	size_t n = 0;

	if (x->broken || !find_cell(x, vaddr, &cell) || cell.scope == LINE_PENDING)
		return false;
	if (cell.file)
		f = (struct srcline_frame){ 0, cell.file, cell.line, cell.column, false };
	number = cell.scope;
	while (n < max && (cell.file || cell.scope)) {
		struct line_scope scope = { 0 };

		if (number && !lineindex_scope(x, number, &scope))
			return false;
		f.function = scope.name;
		f.inlined = scope.caller != 0;
		ret[n++] = f;
		if (!f.inlined)
			break;
		f.file = scope.call_file;
		f.line = scope.call_line;
		f.column = scope.call_column;
		number = scope.caller - 1 + LINE_FIRST;
	}
	*ret_n = n;
	return true;
}
