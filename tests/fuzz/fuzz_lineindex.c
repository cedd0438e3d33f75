/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an index of lines: as they are, and as the pages of one whose head and sums are
 * right, so that most inputs reach the cells, scopes and strings.
 */
#include "symbol/lineindex.h"

#include "base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const u8 id[8];
static const struct lineindex_owner owner = { id, sizeof(id), 1 };
enum { MOST_PARTS = 8, MOST_CELLS = 256, BASE = 0x1000 };

static void look_around(struct lineindex *x)
{
	struct srcline_frame f[SRCLINE_MAX_CHAIN];
	struct lineindex_cursor c = lineindex_cells(x);
	struct line_scope scope;
	struct buf text = BUF_INIT;
	size_t n;

	for (int cells = 0; cells < MOST_CELLS && lineindex_next(&c); cells++) {
		if (!lineindex_find(x, c.cell.start, f, SRCLINE_MAX_CHAIN, &n))
			continue;
		if (n > SRCLINE_MAX_CHAIN)
			abort();
		for (size_t i = 0; i < n; i++) {
			buf_reset(&text);
			(void)lineindex_str(x, f[i].function, &text);
			(void)lineindex_str(x, f[i].file, &text);
		}
	}
	for (u32 i = 0; i < 4; i++)
		(void)lineindex_scope(x, i, &scope);
	(void)lineindex_find(x, BASE + 1, f, 1, &n);
	buf_release(&text);
}

static void open_it(const void *bytes, size_t size)
{
	struct lineindex *x = NULL;

	if (lineindex_open_mem(&x, bytes, size, &owner) == 0)
		look_around(x);
	lineindex_free(x);
}

/* Whatever is missing of the pages is zero. */
static void as_pages(const uint8_t *data, size_t size)
{
	struct lineindex_head h = { .magic = LINEINDEX_MAGIC,
				    .fingerprint = owner.fingerprint,
				    .base = BASE,
				    .blocks = data[0] % MOST_PARTS,
				    .scopes = data[1],
				    .strings_len = data[2] * 16u,
				    .whole = 1,
				    .build_id_len = sizeof(id) };
	struct lineindex_layout at;
	struct buf file = BUF_INIT;
	u32 tables[4096] = { 0 };
	size_t room;

	if (!lineindex_layout(&h, &at))
		abort();
	h.total = at.total;
	buf_fill(&file, '\0', at.total);
	room = at.total - at.body;
	if (size - 3)
		memcpy(file.data + at.body, data + 3, MIN(size - 3, room));
	for (u32 i = 0; i < h.blocks; i++)
		tables[i] = i * 64;
	for (u32 i = 0; i < at.pages; i++)
		tables[h.blocks + i] =
			(u32)hash_bytes(file.data + at.body + (size_t)i * LINE_PAGE, LINE_PAGE);
	h.hash = lineindex_hash(&h, tables, (size_t)h.blocks + at.pages);
	memcpy(file.data, &h, sizeof(h));
	memcpy(file.data + sizeof(h), tables, ((size_t)h.blocks + at.pages) * sizeof(u32));
	open_it(file.data, file.len);
	buf_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	open_it(data, size);
	if (size > 3)
		as_pages(data, size);
	return 0;
}
