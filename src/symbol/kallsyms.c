/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kallsyms.h"

#include "base/buf.h"
#include "host/kallsyms.h"

/* A page is how far the last function of a module may reach: nothing says where it ends. */
enum { KALLSYMS_PAGE = 4096 };

static bool has_prefix(const struct kallsyms_line *l, const char *prefix, size_t n)
{
	return l->name_len > n && memcmp(l->name, prefix, n) == 0;
}

/* Functions only: no padding before them, where nothing runs, and no mapping symbols. */
static bool wanted(const struct kallsyms_line *l)
{
	if (l->type != 't' && l->type != 'T' && l->type != 'w' && l->type != 'W')
		return false;
	if (l->name[0] == '$')
		return false;
	return l->name[0] != '_' || (!has_prefix(l, "__pfx_", 6) && !has_prefix(l, "__cfi_", 6));
}

struct parser {
	struct kallsyms *k;
	struct buf names;
	VEC(struct span) spans;
	const char *last_module; /* they come in runs */
	size_t last_len;
	u32 last_id;
	bool any;
};

static u32 module_id(struct parser *p, const struct kallsyms_line *l)
{
	if (!l->module)
		return 0;
	if (p->last_module && p->last_len == l->module_len &&
	    memcmp(p->last_module, l->module, p->last_len) == 0)
		return p->last_id;
	p->last_module = l->module;
	p->last_len = l->module_len;
	p->last_id = intern_bytes(&p->k->modules, l->module, l->module_len);
	return p->last_id;
}

static void add_line(struct parser *p, const struct kallsyms_line *l)
{
	const u32 global = l->type == 'T' ? 2 : l->type == 't' ? 1 : 0;

	p->any = true;
	if (!l->address)
		return;
	vec_push(&p->spans, (struct span){ .start = l->address,
					   .id = (u32)p->k->symbols.len,
					   .rank = global });
	vec_push(&p->k->symbols, (struct kallsyms_symbol){ .start = l->address,
							   .name = (u32)p->names.len,
							   .module = module_id(p, l) });
	buf_add(&p->names, l->name, l->name_len);
	buf_addch(&p->names, '\0');
}

static bool better(const struct parser *p, const struct span *a, const struct span *b)
{
	const char *x = p->names.data + p->k->symbols.items[a->id].name;
	const char *y = p->names.data + p->k->symbols.items[b->id].name;
	size_t nx, ny;

	if (a->rank != b->rank)
		return a->rank > b->rank;
	/* names for code that runs before the kernel knows where it is */
	if (!starts_with(x, "__pi_") != !starts_with(y, "__pi_"))
		return !starts_with(x, "__pi_");
	nx = strspn(x, "_");
	ny = strspn(y, "_");
	if (nx != ny)
		return nx < ny;
	return strlen(x) > strlen(y);
}

static void merge_aliases(struct parser *p)
{
	size_t out = 0;

	for (size_t i = 0; i < p->spans.len; i++) {
		struct span *s = &p->spans.items[i];

		if (!out || p->spans.items[out - 1].start != s->start)
			p->spans.items[out++] = *s;
		else if (better(p, s, &p->spans.items[out - 1]))
			p->spans.items[out - 1] = *s;
	}
	p->spans.len = out;
}

/* Each reaches to the next, but not from one module into another. */
static void settle_ends(struct parser *p)
{
	for (size_t i = 0; i < p->spans.len; i++) {
		struct span *s = &p->spans.items[i], *next = s + 1;
		struct kallsyms_symbol *sym = &p->k->symbols.items[s->id];
		u64 end = s->start > UINT64_MAX - 2 * KALLSYMS_PAGE
				  ? UINT64_MAX
				  : ALIGN_UP(s->start, KALLSYMS_PAGE) + KALLSYMS_PAGE;

		if (i + 1 < p->spans.len) {
			const u32 module = p->k->symbols.items[next->id].module;

			end = module == sym->module ? next->start : MIN(end, next->start);
		}
		s->end = sym->end = end;
		s->rank = 0;
	}
}

void kallsyms_parse(struct kallsyms *k, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	struct parser p = { .k = k };
	struct kallsyms_line l;

	*k = (struct kallsyms)KALLSYMS_INIT;
	while (k->symbols.len < KALLSYMS_MAX_SYMBOLS && p.names.len < UINT32_MAX / 2 &&
	       kallsyms_next(&at, end, &l)) {
		if (wanted(&l))
			add_line(&p, &l);
	}
	k->hidden = p.any && !k->symbols.len;
	span_sort(p.spans.items, p.spans.len);
	merge_aliases(&p);
	settle_ends(&p);
	span_table_build(&k->spans, p.spans.items, p.spans.len);
	k->names = buf_detach(&p.names);
	vec_release(&p.spans);
}

void kallsyms_release(struct kallsyms *k)
{
	span_table_release(&k->spans);
	vec_release(&k->symbols);
	free(k->names);
	intern_release(&k->modules);
	*k = (struct kallsyms)KALLSYMS_INIT;
}

const struct kallsyms_symbol *kallsyms_find(const struct kallsyms *k, u64 address)
{
	u32 id = span_find(&k->spans, address);

	return id == SPAN_NONE ? NULL : &k->symbols.items[id];
}

u64 kallsyms_address(const struct kallsyms *k, const char *name)
{
	vec_each(s, &k->symbols) {
		if (streq(k->names + s->name, name))
			return s->start;
	}
	return 0;
}
