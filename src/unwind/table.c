/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/table.h"

#include <sys/mman.h>

#include "base/hash.h"
#include "runtime/goframe.h"
#include "unwind/cfi.h"

enum { RULE_SLOTS = 2 * UNWIND_MAX_RULES };
_Static_assert((RULE_SLOTS & (RULE_SLOTS - 1)) == 0, "a power of two");

/* Rows are written in order of file offset; pages are opened as they are reached. */
struct builder {
	const struct elf *elf;
	VEC(u32) rows;
	VEC(struct unwind_page) pages;
	VEC(struct unwind_rule) rules;
	u16 *slots; /* hash of rules: id + 1 */
	struct unwind_table_stats stats;
	u16 rule;          /* in force after the last row */
	u64 floor;         /* everything below is done */
	u64 to_offset;     /* added to an address of the current function */
	u64 limit;         /* file offset at which the current function ends */
	struct cfi cfi[2]; /* .eh_frame, .debug_frame */
	struct gotab go;
	struct buf bytes[3]; /* of the sections, and of Go's table */
};

enum { SECTION_GO = 2 }; /* after those of cfi[] */

/* A function to be compiled: where in the file, and which program. */
struct work {
	u64 start;
	u64 end;
	u32 fde;
	u32 section;
};
typedef VEC(struct work) work_list;

static u16 rule_id(struct builder *b, const struct unwind_rule *r)
{
	u64 h = hash_bytes(r, sizeof(*r));

	for (;; h++) {
		u16 *slot = &b->slots[h & (RULE_SLOTS - 1)];

		if (!*slot) {
			if (b->rules.len == UNWIND_MAX_RULES) {
				b->stats.rule_overflow++;
				return UNWIND_RULE_UNSUP;
			}
			vec_push(&b->rules, *r);
			*slot = (u16)b->rules.len;
		}
		if (!memcmp(&b->rules.items[*slot - 1], r, sizeof(*r)))
			return (u16)(*slot - 1);
	}
}

static void add_row(struct builder *b, u32 low, u16 rule)
{
	struct unwind_page *page = vec_last(&b->pages);

	if (page->count == UNWIND_PAGE_ROWS || b->rows.len == UNWIND_MAX_ROWS) {
		b->stats.dropped++;
		if (page->count)
			*vec_last(&b->rows) =
				(*vec_last(&b->rows) & 0xffff0000) | UNWIND_RULE_UNSUP;
		return;
	}
	b->stats.unsupported += rule == UNWIND_RULE_UNSUP;
	vec_push(&b->rows, low << 16 | rule);
	page->count++;
}

/* A page in which nothing is known stays without rows. */
static void open_pages(struct builder *b, u64 upto)
{
	while (b->pages.len <= upto) {
		vec_push(&b->pages, (struct unwind_page){ .first = (u32)b->rows.len });
		if (b->rule != UNWIND_RULE_END)
			add_row(b, 0, b->rule);
	}
}

static void put(struct builder *b, u64 offset, u16 rule)
{
	u32 low = offset & 0xffff;

	if (rule == b->rule || offset >> UNWIND_PAGE_BITS >= UNWIND_MAX_PAGES)
		return;
	open_pages(b, offset >> UNWIND_PAGE_BITS);
	struct unwind_page *page = vec_last(&b->pages);

	if (!page->count && low)
		add_row(b, 0, UNWIND_RULE_END);
	if (page->count && *vec_last(&b->rows) >> 16 == low)
		*vec_last(&b->rows) = low << 16 | rule;
	else
		add_row(b, low, rule);
	b->rule = rule;
}

static void emit(void *ctx, u64 address, const struct unwind_rule *rule)
{
	struct builder *b = ctx;
	u64 offset = address + b->to_offset;

	if (offset < b->limit)
		put(b, MAX(offset, b->floor), rule_id(b, rule));
}

static void compile_function(struct builder *b, const struct work *w)
{
	const struct cfi *c = w->section < SECTION_GO ? &b->cfi[w->section] : NULL;
	const struct cfi_fde *fde = c ? &c->fdes.items[w->fde] : NULL;
	struct gotab_function f = { 0 };

	if (w->end <= b->floor || (!c && !gotab_function(&b->go, w->fde, &f)))
		return;
	if (w->start > b->floor && w->start - b->floor >= UNWIND_MIN_GAP)
		put(b, b->floor, UNWIND_RULE_END);
	b->to_offset = w->start - (c ? fde->start : f.start);
	b->limit = w->end;
	b->floor = MAX(b->floor, w->start);
	if (c)
		cfi_run(c, fde, emit, b);
	else
		go_frame_rules(&b->go, &f, emit, b);
	b->floor = w->end;
	b->stats.fdes++;
}

static int compare_work(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->fde < y->fde ? -1 : x->fde > y->fde;
}

/* A function that is in executable file bytes; what the linker threw away points elsewhere. */
static void add_work(const struct builder *b, u64 start, u64 end, struct work w, work_list *list,
		     bool *sorted)
{
	u64 offset, left;

	if (!elf_offset(b->elf, start, true, &offset, &left))
		return;
	if (list->len && vec_last(list)->start > offset)
		*sorted = false;
	w.start = offset;
	w.end = offset + MIN(end - start, left);
	vec_push(list, w);
}

static void collect(struct builder *b, u32 section, work_list *list, bool *sorted)
{
	const struct cfi *c = &b->cfi[section];

	for (size_t i = 0; i < c->fdes.len; i++) {
		const struct cfi_fde *f = &c->fdes.items[i];

		add_work(b, f->start, f->end, (struct work){ .fde = (u32)i, .section = section },
			 list, sorted);
	}
	b->stats.bad += c->bad;
}

/* Go's functions: before a program without other frame information is given up. */
static void collect_go(struct builder *b, work_list *list, bool *sorted)
{
	const struct elf_section *table = gotab_section(b->elf);
	const struct elf_section *text = elf_find_section(b->elf, ".text");
	struct buf *bytes = &b->bytes[SECTION_GO];
	struct gotab_function f;

	if (!table || elf_read_section(b->elf, table, GOTAB_MAX_BYTES, bytes) < 0 ||
	    !gotab_open(&b->go, buf_str(bytes), bytes->len, text ? text->addr : 0))
		return;
	for (u64 i = 0; i < b->go.count; i++) {
		if (gotab_function(&b->go, i, &f))
			add_work(b, f.start, f.end,
				 (struct work){ .fde = (u32)i, .section = SECTION_GO }, list,
				 sorted);
	}
}

/* Bytes of the file at an address. */
struct range {
	u64 vaddr;
	u64 offset;
	u64 size;
};

static u64 header_address(const struct elf *elf)
{
	const struct elf_segment *s = elf_find_segment(elf, PT_GNU_EH_FRAME);

	return s ? s->vaddr : 0;
}

/* Without sections: the header segment points to .eh_frame, which ends with a zero. */
static bool range_by_header(const struct elf *elf, struct range *ret)
{
	const struct elf_segment *hdr = elf_find_segment(elf, PT_GNU_EH_FRAME);
	u8 head[16] = { 0 };
	size_t n = hdr ? MIN(hdr->filesz, sizeof(head)) : 0;
	struct cfi_section s = {
		.data = head,
		.size = n,
		.vaddr = header_address(elf),
		.hdr_vaddr = header_address(elf),
	};
	struct cfi_reader r = { head + 4, head + sizeof(head), false };

	if (n < 8 || elf_read(elf, hdr->offset, head, n) < 0 || head[0] != 1)
		return false;
	ret->vaddr = cfi_pointer(&r, head[1], &s);
	return !r.bad && elf_offset(elf, ret->vaddr, false, &ret->offset, &ret->size);
}

static bool range_by_name(const struct elf *elf, const char *name, struct range *ret)
{
	const struct elf_section *s = elf_find_section(elf, name);

	if (!s || !s->size || !elf_has_bytes(elf, s))
		return false;
	*ret = (struct range){ s->addr, s->offset, s->size };
	return true;
}

static int load_section(struct builder *b, u32 index, const struct range *range, bool zero,
			struct err *e)
{
	int rc = elf_read_buf(b->elf, range->offset, range->size, UNWIND_MAX_FRAME_BYTES,
			      &b->bytes[index]);

	if (rc < 0)
		return err_sys(e, rc, "cannot read the frame information of '%s' at offset 0x%llx",
			       b->elf->name, (unsigned long long)range->offset);
	const struct cfi_section s = {
		.data = (const u8 *)buf_str(&b->bytes[index]),
		.size = b->bytes[index].len,
		.vaddr = range->vaddr,
		.hdr_vaddr = header_address(b->elf),
		.debug = index == 1,
		.ends_with_zero = zero,
	};
	cfi_parse(&b->cfi[index], &s);
	return 0;
}

static int load_sections(struct builder *b, struct err *e)
{
	struct range r;
	int rc = 0;

	if (range_by_name(b->elf, ".eh_frame", &r))
		rc = load_section(b, 0, &r, false, e);
	else if (range_by_header(b->elf, &r))
		rc = load_section(b, 0, &r, true, e);
	if (rc)
		return rc;
	if (b->cfi[0].fdes.len < UNWIND_MIN_FDES && range_by_name(b->elf, ".debug_frame", &r))
		rc = load_section(b, 1, &r, false, e);
	return rc;
}

static struct unwind_table *builder_finish(struct builder *b)
{
	struct unwind_table *t = xcalloc(1, sizeof(*t));

	put(b, b->floor, UNWIND_RULE_END);
	*t = (struct unwind_table){
		.rows = xreallocarray(b->rows.items, MAX(b->rows.len, 1), sizeof(u32)),
		.pages = xreallocarray(b->pages.items, MAX(b->pages.len, 1), sizeof(*t->pages)),
		.rules = xreallocarray(b->rules.items, b->rules.len, sizeof(*t->rules)),
		.n_rows = (u32)b->rows.len,
		.n_pages = (u32)b->pages.len,
		.n_rules = (u32)b->rules.len,
		.build_id_len = (u32)b->elf->build_id_len,
		.fingerprint = b->elf->fingerprint,
		.stats = b->stats,
	};
	memcpy(t->build_id, b->elf->build_id, sizeof(t->build_id));
	return t;
}

static void builder_release(struct builder *b)
{
	for (int i = 0; i < 2; i++)
		cfi_release(&b->cfi[i]);
	for (size_t i = 0; i < ARRAY_SIZE(b->bytes); i++)
		buf_release(&b->bytes[i]);
	free(b->slots);
}

int unwind_table_compile(const struct elf *elf, struct unwind_table **ret, struct err *e)
{
	_cleanup_(builder_release) struct builder b = { .elf = elf };
	work_list list = { 0 };
	bool sorted = true;
	int rc;

	if (!elf->is64 || elf->machine != EM_X86_64)
		return err_set(e, ENOEXEC, "'%s' is not for x86-64", elf->name);
	rc = load_sections(&b, e);
	if (rc)
		return rc;
	b.slots = xcalloc(RULE_SLOTS, sizeof(*b.slots));
	for (u32 i = 0; i < 2; i++)
		collect(&b, i, &list, &sorted);
	collect_go(&b, &list, &sorted);
	if (!list.len) {
		vec_release(&list);
		return err_set(e, ENODATA, "'%s' has no frame information", elf->name);
	}
	if (!sorted)
		vec_sort(&list, compare_work);
	rule_id(&b, &(struct unwind_rule){ .cfa = UNWIND_CFA_END });
	rule_id(&b, &(struct unwind_rule){ .cfa = UNWIND_CFA_UNSUP });
	vec_each(w, &list)
		compile_function(&b, w);
	vec_release(&list);
	*ret = builder_finish(&b);
	return 0;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	if (t->map)
		munmap((void *)(uintptr_t)t->map, t->map_len);
	if (!t->borrowed) {
		free(t->rows);
		free(t->pages);
		free(t->rules);
	}
	free(t);
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return sizeof(*t) + t->n_rows * sizeof(*t->rows) + t->n_pages * sizeof(*t->pages) +
	       t->n_rules * sizeof(*t->rules);
}

const struct unwind_rule *unwind_table_rule(const struct unwind_table *t, u64 offset)
{
	static const struct unwind_rule end = { .cfa = UNWIND_CFA_END };
	u64 page = offset >> UNWIND_PAGE_BITS;

	if (!t || page >= t->n_pages || !t->pages[page].count)
		return &end;
	const u32 *row = t->rows + t->pages[page].first;
	u32 n = t->pages[page].count, low = offset & 0xffff;

	while (n > 1) {
		u32 half = n / 2;

		row += row[half] >> 16 <= low ? half : 0;
		n -= half;
	}
	return &t->rules[*row & 0xffff];
}
