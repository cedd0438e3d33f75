/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was indexed of a file, as cells for the disk, merged with the existing ones. */
#include "symbol/srcline_unit.h"

#include "symbol/srcline.h"

#ifdef HAVE_LIBDW

struct pack {
	struct srcline *s;
	struct lineindex_builder *b;
	u64 shift;
	u32 *refs;             /* of the strings of @s; 0: not made yet */
	u32 *unit_scopes;      /* number of a unit's first scope; 0: not made yet */
	struct lineindex *old; /* or NULL */
	struct lineindex_cursor cells;
	struct line_cell now, next; /* of @old; next.start is UINT64_MAX at the end */
	struct map old_refs, old_scopes;
};

static u32 ref_of(struct pack *p, u32 id)
{
	const struct intern *strings = &p->s->strings;

	if (id && !p->refs[id])
		p->refs[id] = lineindex_add_string(p->b, intern_get(strings, id),
						   intern_len(strings, id));
	return id ? p->refs[id] : 0;
}

/* --- units --------------------------------------------------------------------------------- */

static void add_scopes(struct pack *p, const struct unit *u, u32 id)
{
	u32 first = 0;

	vec_each(scope, &u->scopes) {
		const struct line_scope s = { .caller = scope->inlined
								? scope->caller + first - LINE_FIRST
								: 0,
					      .name = ref_of(p, scope->name),
					      .call_file = ref_of(p, scope->call_file),
					      .call_line = scope->call_line,
					      .call_column = scope->call_column };
		const u32 number = lineindex_add_scope(p->b, &s);

		first = first ? first : number;
	}
	p->unit_scopes[id] = first;
}

/* The lines and scopes of a unit, where the code from @from to @to is its own. */
static void pack_unit(struct pack *p, const struct unit *u, u32 id, u64 from, u64 to)
{
	size_t row = starts_up_to(u->row_starts, u->row_count, from);
	size_t span = starts_up_to(u->spans.starts, u->spans.len, from);
	u64 at = from;

	if (!p->unit_scopes[id])
		add_scopes(p, u, id);
	while (at < to) {
		const struct line_row *r = row ? &u->rows[row - 1] : NULL;
		const u32 scope = span ? u->spans.ids[span - 1] : SPAN_NONE;
		struct line_cell cell = { .start = at - p->shift };
		u64 row_next = row < u->row_count ? u->row_starts[row] : UINT64_MAX;
		u64 span_next = span < u->spans.len ? u->spans.starts[span] : UINT64_MAX;

		if (r && r->file) {
			cell.file = ref_of(p, r->file);
			cell.line = r->line;
			cell.column = r->column;
		}
		if (scope != SPAN_NONE)
			cell.scope = p->unit_scopes[id] + scope;
		lineindex_add_cell(p->b, &cell);
		at = MIN(row_next, span_next);
		row += row_next == at;
		span += span_next == at;
	}
}

/* --- what is on disk ----------------------------------------------------------------------- */

static u32 old_ref(struct pack *p, u32 ref)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	u64 *known;

	if (!ref)
		return 0;
	known = map_at(&p->old_refs, ref);
	if (!*known && lineindex_str(p->old, ref, &text))
		*known = lineindex_add_string(p->b, buf_str(&text), text.len);
	return (u32)*known;
}

/* The outermost of a chain is made first. */
static u32 old_scope(struct pack *p, u32 number)
{
	struct line_scope chain[SRCLINE_MAX_DEPTH];
	u32 numbers[SRCLINE_MAX_DEPTH], made = 0;
	size_t n = 0;

	while (number >= LINE_FIRST && n < ARRAY_SIZE(chain)) {
		const u64 *known = map_find(&p->old_scopes, number);

		if (known) {
			made = (u32)*known;
			break;
		}
		if (!lineindex_scope(p->old, number, &chain[n]))
			break;
		numbers[n] = number;
		number = chain[n].caller ? chain[n].caller - 1 + LINE_FIRST : 0;
		n++;
	}
	while (n--) {
		chain[n].caller = made ? made + 1 - LINE_FIRST : 0;
		chain[n].name = old_ref(p, chain[n].name);
		chain[n].call_file = old_ref(p, chain[n].call_file);
		made = lineindex_add_scope(p->b, &chain[n]);
		map_put(&p->old_scopes, numbers[n], made);
	}
	return made;
}

static void old_next(struct pack *p)
{
	p->now = p->next;
	if (lineindex_next(&p->cells))
		p->next = p->cells.cell;
	else
		p->next.start = UINT64_MAX;
}

static void add_old(struct pack *p, u64 start)
{
	struct line_cell cell = p->now;

	cell.start = start;
	cell.file = old_ref(p, cell.file);
	if (cell.scope >= LINE_FIRST)
		cell.scope = old_scope(p, cell.scope);
	lineindex_add_cell(p->b, &cell);
}

/* A unit that was not asked for: as the disk has it. */
static void pack_old(struct pack *p, u64 from, u64 to)
{
	const struct line_cell pending = { .start = from, .scope = LINE_PENDING };

	while (p->old && p->next.start <= from)
		old_next(p);
	if (!p->old || from < p->now.start) {
		lineindex_add_cell(p->b, &pending);
		return;
	}
	add_old(p, from);
	while (p->next.start < to) {
		old_next(p);
		add_old(p, p->now.start);
	}
}

/* --- all ----------------------------------------------------------------------------------- */

static void pack_all(struct pack *p)
{
	const struct span_table *t = &p->s->unit_spans;

	for (size_t i = 0; i < t->len; i++) {
		const u64 from = t->starts[i], to = i + 1 < t->len ? t->starts[i + 1] : UINT64_MAX;
		const struct unit *u =
			t->ids[i] == SPAN_NONE ? NULL : &p->s->units.items[t->ids[i]];
		const struct line_cell nowhere = { .start = from - p->shift };

		if (!u)
			lineindex_add_cell(p->b, &nowhere);
		else if (u->lined && !u->partial)
			pack_unit(p, u, t->ids[i], from, to);
		else
			pack_old(p, from - p->shift, to - p->shift);
	}
}

static int pack_with(struct srcline *s, u64 shift, struct lineindex *old,
		     const struct lineindex_owner *o, struct buf *ret)
{
	struct pack p = { .s = s, .b = lineindex_builder_new(), .shift = shift, .old = old };
	int r = -EBADMSG;

	p.refs = xcalloc(s->strings.len + 1, sizeof(*p.refs));
	p.unit_scopes = xcalloc(MAX(s->units.len, (size_t)1), sizeof(*p.unit_scopes));
	p.now.start = UINT64_MAX;
	if (old) {
		p.cells = lineindex_cells(old);
		old_next(&p);
		p.now.start = UINT64_MAX;
	}
	pack_all(&p);
	if (!old || !lineindex_is_broken(old))
		r = lineindex_finish(p.b, o, s->counts.units, s->counts.indexed == s->counts.units,
				     ret);
	lineindex_builder_free(p.b);
	free(p.refs);
	free(p.unit_scopes);
	map_release(&p.old_refs);
	map_release(&p.old_scopes);
	return r;
}

int srcline_pack(struct srcline *s, u64 shift, struct lineindex *old,
		 const struct lineindex_owner *o, struct buf *ret)
{
	int r;

	if (s->no_alt)
		return -ENODATA;
	/* Omitted code must not look as if it did not exist. */
	if (s->counts.full)
		return -EFBIG;
	r = pack_with(s, shift, old, o, ret);
	/* Without what was there before when that is broken, or both together are too much. */
	return r < 0 && old ? pack_with(s, shift, NULL, o, ret) : r;
}

void srcline_index_all(struct srcline *s)
{
	for (u32 id = 0; id < s->units.len; id++)
		unit_index(s, &s->units.items[id], id);
}

#else

int srcline_pack(struct srcline *s, u64 shift, struct lineindex *old,
		 const struct lineindex_owner *o, struct buf *ret)
{
	(void)s;
	(void)shift;
	(void)old;
	(void)o;
	(void)ret;
	return -ENOTSUP;
}

void srcline_index_all(struct srcline *s)
{
	(void)s;
}

#endif
