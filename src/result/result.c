/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "result/result.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "result/hist.h"

static const char *dup_text(struct result *r, const char *s)
{
	return s ? arena_strdup(&r->arena, s) : NULL;
}

static const char *dup_format(struct result *r, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
static const char *dup_format(struct result *r, const char *fmt, va_list ap)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	buf_vaddf(&b, fmt, ap);
	return arena_strdup(&r->arena, buf_str(&b));
}

void result_init(struct result *r, const char *command)
{
	*r = (struct result){ 0 };
	r->command = arena_strdup(&r->arena, command ? command : "");
}

/* Sections are in the arena; only their growing arrays are not. */
static void release_section(struct section *s)
{
	switch (s->type) {
	case SECTION_TABLE: vec_release(&s->table->rows); break;
	case SECTION_TREE: vec_release(&s->tree->nodes); break;
	case SECTION_HISTOGRAM:
	case SECTION_TEXT: break;
	}
}

void result_release(struct result *r)
{
	vec_each(s, &r->sections)
		release_section(s);
	vec_release(&r->facts);
	vec_release(&r->sections);
	vec_release(&r->notes);
	vec_release(&r->losses);
	arena_release(&r->arena);
	*r = (struct result){ 0 };
}

void result_title(struct result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	r->title = dup_format(r, fmt, ap);
	va_end(ap);
}

void result_fact(struct result *r, const char *key, const char *title, struct value v)
{
	vec_each(f, &r->facts) {
		if (streq(f->key, key)) {
			f->title = dup_text(r, title);
			f->value = v;
			return;
		}
	}
	vec_push(&r->facts, (struct fact){ dup_text(r, key), dup_text(r, title), v });
}

void result_note(struct result *r, enum note_level level, const char *hint, const char *fmt, ...)
{
	struct note n = { .level = level, .hint = dup_text(r, hint) };
	va_list ap;

	va_start(ap, fmt);
	n.text = dup_format(r, fmt, ap);
	va_end(ap);
	vec_push(&r->notes, n);
}

void result_loss(struct result *r, const char *key, const char *text, u64 count)
{
	vec_each(l, &r->losses) {
		if (streq(l->key, key)) {
			l->count = add_sat(l->count, count);
			return;
		}
	}
	vec_push(&r->losses, (struct loss){ dup_text(r, key), dup_text(r, text), count });
}

void result_text(struct result *r, const char *text)
{
	vec_push(&r->sections,
		 (struct section){ .type = SECTION_TEXT, .text = dup_text(r, text ? text : "") });
}

struct table *result_table(struct result *r, const char *name, const char *title,
			   const struct column *columns, size_t n_columns)
{
	struct table *t = arena_zalloc(&r->arena, sizeof(*t));

	t->name = dup_text(r, name);
	t->title = dup_text(r, title);
	t->n_columns = n_columns;
	t->columns = arena_zalloc(&r->arena, n_columns * sizeof(*columns));
	for (size_t i = 0; i < n_columns; i++) {
		t->columns[i] = columns[i];
		t->columns[i].key = dup_text(r, columns[i].key);
		t->columns[i].title = dup_text(r, columns[i].title);
	}
	vec_push(&r->sections, (struct section){ .type = SECTION_TABLE, .table = t });
	return t;
}

void table_looks(struct result *r, struct table *t, const struct column_look *looks)
{
	t->looks = arena_dup(&r->arena, looks, t->n_columns * sizeof(*looks));
	for (size_t i = 0; i < t->n_columns; i++)
		t->looks[i].group = dup_text(r, looks[i].group);
}

struct row *table_row(struct result *r, struct table *t)
{
	struct row *row = vec_new(&t->rows);

	row->cells = arena_zalloc(&r->arena, t->n_columns * sizeof(*row->cells));
	return row;
}

/* A row with what it is sorted by; @index keeps equal rows in their order. */
struct sort_entry {
	struct row row;
	struct value key;
	size_t index;
};

static bool is_real(enum value_type t)
{
	return t == VALUE_PERCENT || t == VALUE_NUMBER;
}

/* Empty cells come last, whichever way the rest is sorted. */
static bool is_blank(const struct value *v)
{
	return !v->type || (is_real(v->type) && isnan(v->d));
}

/* Text ascending, numbers descending. */
static int compare_values(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type == VALUE_TEXT)
		return strcmp(a->s, b->s);
	if (is_real(a->type))
		return a->d > b->d ? -1 : a->d < b->d;
	if (a->type == VALUE_INT)
		return (s64)a->u > (s64)b->u ? -1 : (s64)a->u < (s64)b->u;
	return a->u > b->u ? -1 : a->u < b->u;
}

static int compare_entries(const void *pa, const void *pb, void *reverse)
{
	const struct sort_entry *a = pa, *b = pb;
	bool blank_a = is_blank(&a->key), blank_b = is_blank(&b->key);
	int c = blank_a - blank_b;

	if (!c && !blank_a) {
		c = compare_values(&a->key, &b->key);
		if (*(const bool *)reverse)
			c = c < 0 ? 1 : -(c > 0);
	}
	if (!c)
		c = a->index < b->index ? -1 : a->index > b->index;
	return c;
}

static void sort_rows(struct table *t, size_t column, bool reverse)
{
	_cleanup_free_ struct sort_entry *entries = xcalloc(t->rows.len, sizeof(*entries));

	for (size_t i = 0; i < t->rows.len; i++) {
		struct row *row = &t->rows.items[i];

		entries[i] = (struct sort_entry){ *row, row->cells[column], i };
	}
	qsort_r(entries, t->rows.len, sizeof(*entries), compare_entries, &reverse);
	for (size_t i = 0; i < t->rows.len; i++)
		t->rows.items[i] = entries[i].row;
}

bool table_sort(struct table *t, const char *key, bool reverse)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (!streq(t->columns[i].key, key))
			continue;
		if (t->rows.len > 1)
			sort_rows(t, i, reverse);
		return true;
	}
	return false;
}

const char *section_name(const struct section *s)
{
	switch (s->type) {
	case SECTION_TABLE: return s->table->name;
	case SECTION_HISTOGRAM: return s->histogram->name;
	case SECTION_TREE: return s->tree->name;
	case SECTION_TEXT: break;
	}
	return NULL;
}

struct tree *result_tree(struct result *r, const char *name, const char *title,
			 enum value_type value_type)
{
	struct tree *t = arena_zalloc(&r->arena, sizeof(*t));

	t->name = dup_text(r, name);
	t->title = dup_text(r, title);
	t->value_type = value_type;
	vec_push(&r->sections, (struct section){ .type = SECTION_TREE, .tree = t });
	return t;
}

struct tree_node *tree_add(struct result *r, struct tree *t, u32 depth, const char *label)
{
	struct tree_node *n = vec_new(&t->nodes);

	n->depth = depth;
	n->label = arena_strdup(&r->arena, label ? label : "");
	return n;
}

struct value value_text(struct result *r, const char *s)
{
	if (!s)
		return (struct value){ 0 };
	return (struct value){ .type = VALUE_TEXT, .s = arena_strdup(&r->arena, s) };
}

struct value value_textf(struct result *r, const char *fmt, ...)
{
	struct value v = { .type = VALUE_TEXT };
	va_list ap;

	va_start(ap, fmt);
	v.s = dup_format(r, fmt, ap);
	va_end(ap);
	return v;
}
