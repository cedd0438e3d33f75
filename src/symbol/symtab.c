/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/symtab.h"

#include "symbol/symbol.h"

#include <sys/mman.h>

enum { ALIAS_COMPARE_BYTES = 512 };

const struct sym *symtab_find(const struct symtab *t, u64 vaddr)
{
	u32 id = span_find(&t->spans, vaddr);

	return id == SPAN_NONE ? NULL : &t->syms[id];
}

void symtab_release(struct symtab *t)
{
	if (t->map) {
		munmap((void *)(uintptr_t)t->map, t->map_len);
	} else {
		span_table_release(&t->spans);
		free(t->syms);
		free(t->strings);
	}
	*t = (struct symtab)SYMTAB_INIT;
}

void symtab_builder_release(struct symtab_builder *b)
{
	vec_release(&b->spans);
	vec_release(&b->candidates);
	buf_release(&b->strings);
}

/* End of the code that contains the symbol: of its section, or of its segment; 0 if not code. */
static u64 code_end(const struct symbol_source *src, const Elf64_Sym *s)
{
	const struct elf *elf = src->elf;
	u64 start, size;

	if (src->sections && s->st_shndx < elf->section_count) {
		const struct elf_section *sec = &elf->sections[s->st_shndx];

		start = sec->addr;
		size = sec->flags & SHF_EXECINSTR ? sec->size : 0;
		if (s->st_value < start || s->st_value - start >= size)
			return 0;
		return size > UINT64_MAX - start ? UINT64_MAX : start + size;
	}
	if (s->st_shndx >= SHN_LORESERVE && s->st_shndx != SHN_XINDEX)
		return 0;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *seg = &elf->segments[i];

		start = seg->vaddr;
		size = seg->memsz;
		if (seg->type == PT_LOAD && (seg->flags & PF_X) && s->st_value >= start &&
		    s->st_value - start < size)
			return size > UINT64_MAX - start ? UINT64_MAX : start + size;
	}
	return 0;
}

/* Marks of assemblers and build tools that mean nothing to people: $x, $d.1, .L12. */
static bool is_marker(const char *name)
{
	if (name[0] == '$')
		return name[1] && strchr("xdat", name[1]) && (!name[2] || name[2] == '.');
	if (name[0] == '.')
		return name[1] == 'L' || starts_with(name, ".annobin");
	return name[0] == '\0';
}

/* Above 0, which is for what has no name of its own: stubs and unwind entries. */
static u32 alias_rank(const Elf64_Sym *s, bool typed)
{
	const unsigned int bind = ELF64_ST_BIND(s->st_info);
	u32 order = bind == STB_LOCAL ? 1 : bind == STB_WEAK ? 0 : 2;

	return 1 + ((s->st_size ? 8u : 0) | (typed ? 4u : 0) | order);
}

static bool add_symbol(struct symtab_builder *b, const struct symbol_source *src,
		       const Elf64_Sym *s)
{
	const unsigned int type = ELF64_ST_TYPE(s->st_info);
	const bool typed = type == STT_FUNC || type == STT_GNU_IFUNC;
	u64 end;
	u32 name;

	if ((!typed && type != STT_NOTYPE) || s->st_shndx == SHN_UNDEF ||
	    s->st_name >= src->strings_len)
		return false;
	end = code_end(src, s);
	if (!end)
		return false;
	name = src->strings_base + s->st_name;
	if (is_marker(b->strings.data + name))
		return false;
	if (s->st_size && s->st_size < end - s->st_value)
		end = s->st_value + s->st_size;
	if (!s->st_size && !src->complete)
		end = s->st_value + 1;
	vec_push(&b->spans, (struct span){ .start = s->st_value,
					   .end = end,
					   .id = (u32)b->candidates.len,
					   .rank = alias_rank(s, typed) });
	vec_push(&b->candidates, (struct candidate){ .name = name,
						     .flags = type == STT_GNU_IFUNC ? SYM_IFUNC : 0,
						     .sizeless = !s->st_size,
						     .typed = typed });
	return true;
}

ssize_t symtab_add_source(struct symtab_builder *b, const struct symbol_source *src)
{
	ssize_t added = 0;

	for (size_t i = 1; i < src->count; i++) {
		Elf64_Sym s;

		elf_symbol(src->elf, src->syms, i, &s);
		added += add_symbol(b, src, &s);
	}
	return added;
}

ssize_t symtab_add_section(struct symtab_builder *b, const struct elf *elf,
			   const struct elf_section *s, bool complete)
{
	_cleanup_buf_ struct buf syms = BUF_INIT;
	struct symbol_source src = { .elf = elf, .complete = complete, .sections = true };
	int r;

	if (s->link >= elf->section_count || b->strings.len > ELF_MAX_STRTAB)
		return -EINVAL;
	r = elf_read_section(elf, s, ELF_MAX_SYMTAB, &syms);
	if (r < 0)
		return r;
	src.strings_base = (u32)b->strings.len;
	r = elf_read_section(elf, &elf->sections[s->link], ELF_MAX_STRTAB, &b->strings);
	if (r < 0)
		return r;
	src.strings_len = b->strings.len - src.strings_base;
	buf_addch(&b->strings, '\0');
	src.syms = buf_str(&syms);
	src.count = syms.len / elf_symbol_size(elf);
	return symtab_add_source(b, &src);
}

static size_t underscores(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] == '_')
		i++;
	return i;
}

/* How much of a name is for the linker only: versions, glibc's inner names, underscores. */
static size_t burden(const char *s, size_t n)
{
	return underscores(s, n) + (memchr(s, '@', n) ? 1000 : 0) +
	       (starts_with(s, "__GI_") ? 1000 : 0);
}

/*
 * True when alias @a is the better name: as perf chooses, so that people see what they know.
 * Looks no further than a limit: names may be made to overlap in one endless string.
 */
static bool better(const struct symtab_builder *b, const struct span *a, const struct span *other)
{
	const char *x = b->strings.data + b->candidates.items[a->id].name;
	const char *y = b->strings.data + b->candidates.items[other->id].name;
	size_t nx, ny, bx, by;

	if (a->rank != other->rank)
		return a->rank > other->rank;
	nx = strnlen(x, ALIAS_COMPARE_BYTES);
	ny = strnlen(y, ALIAS_COMPARE_BYTES);
	bx = burden(x, nx);
	by = burden(y, ny);
	if (bx != by)
		return bx < by;
	return nx != ny ? nx > ny : memcmp(x, y, nx) < 0;
}

/* Two spans of one start become the better named one, with the size of the one that has it. */
static void merge_alias(struct symtab_builder *b, struct span *kept, const struct span *s)
{
	const bool wins = better(b, s, kept);
	const struct span winner = wins ? *s : *kept, loser = wins ? *kept : *s;
	struct candidate *c = &b->candidates.items[winner.id];

	*kept = winner;
	if (c->sizeless && !b->candidates.items[loser.id].sizeless) {
		kept->end = loser.end;
		c->sizeless = false;
	}
}

/* Leaves one span for each start. */
static void merge_aliases(struct symtab_builder *b)
{
	size_t out = 0;

	for (size_t i = 0; i < b->spans.len; i++) {
		const struct span *s = &b->spans.items[i];

		if (out && b->spans.items[out - 1].start == s->start)
			merge_alias(b, &b->spans.items[out - 1], s);
		else
			b->spans.items[out++] = *s;
	}
	b->spans.len = out;
}

/*
 * The sizeless end where the next begins. What begins inside of a function is not a function if it
 * is only a label or an unwind entry.
 */
static void settle_sizes(struct symtab_builder *b)
{
	u64 covered = 0;
	size_t out = 0;

	for (size_t i = 0; i < b->spans.len; i++) {
		struct span s = b->spans.items[i];
		const struct candidate *c = &b->candidates.items[s.id];

		if (s.start < covered && ((c->sizeless && !c->typed) || (c->flags & SYM_FDE)))
			continue;
		if (c->sizeless && s.start < covered)
			s.end = MIN(s.end, covered);
		if (c->sizeless && i + 1 < b->spans.len)
			s.end = MIN(s.end, b->spans.items[i + 1].start);
		if (!c->sizeless && !(c->flags & SYM_FDE))
			covered = MAX(covered, s.end);
		b->spans.items[out++] = s;
	}
	b->spans.len = out;
}

static const struct span *span_at(const struct symtab_builder *b, u64 start)
{
	size_t low = 0, high = b->spans.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->spans.items[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < b->spans.len && b->spans.items[low].start == start ? &b->spans.items[low]
									: NULL;
}

/*
 * Stubs of a file's own functions chosen at load time have no symbol, only where they lead: they
 * take that name, or go if there is none (an end at the start covers nothing).
 */
static void name_resolved(struct symtab_builder *b)
{
	vec_each(s, &b->spans) {
		struct candidate *c = &b->candidates.items[s->id];
		const struct span *to = c->resolver ? span_at(b, c->resolver) : NULL;

		if (to && !b->candidates.items[to->id].resolver)
			c->name = b->candidates.items[to->id].name;
		else if (c->resolver)
			s->end = s->start;
	}
}

static void fill_syms(struct symtab_builder *b, struct symtab *ret)
{
	ret->syms = xmalloc(MAX(b->spans.len, (size_t)1) * sizeof(*ret->syms));
	vec_each(s, &b->spans) {
		const struct candidate *c = &b->candidates.items[s->id];

		if (s->end <= s->start)
			continue;
		s->id = (u32)ret->len;
		s->rank = c->flags & SYM_FDE ? 0 : 1;
		ret->syms[ret->len++] =
			(struct sym){ .start = s->start,
				      .size = s->end - s->start,
				      .name = c->name,
				      .flags = c->name ? c->flags & ~(u32)SYM_FDE : c->flags };
	}
}

void symtab_finish(struct symtab_builder *b, struct symtab *ret)
{
	*ret = (struct symtab)SYMTAB_INIT;
	buf_addch(&b->strings, '\0'); /* name 0 exists, also when nothing has a name */
	span_sort(b->spans.items, b->spans.len);
	merge_aliases(b);
	settle_sizes(b);
	name_resolved(b);
	fill_syms(b, ret);
	span_table_build(&ret->spans, b->spans.items, b->spans.len);
	ret->strings_len = b->strings.len;
	ret->strings = buf_detach(&b->strings);
	symtab_builder_release(b);
}
