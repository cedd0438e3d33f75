/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps as a table, or as histograms: the keys are the first columns, the values of each map one
 * more. Maps of one table are joined by their keys; a key that one of them lacks has an empty cell
 * there. Keys may leave out columns that are not shown.
 */
#include "lang/row.h"

#include "lang/front/header.h"
#include "lang/run/run.h"

enum { TABLE_MAPS = 16 };

/* A value of one of the maps. */
struct item {
	const u8 *key;
	u32 map;
	const struct map_def *def;
	u8 *value; /* aggregations: what all CPUs have together */
};

struct tabling {
	struct run *r;
	const struct tool_header *h;
	struct result *result;
	struct table *table;
	double seconds; /* that the counts are of */
	VEC(struct item) items;
	struct arena arena;
	u32 map;
	const struct map_def *def;
	size_t key_size;
	size_t first_value; /* column of the first map's values */
	bool short_keys;    /* without the columns that are not shown */
	struct buf texts;
};

static void take_item(void *ctx, const u8 *key, const u8 *value, const u64 *sum)
{
	struct tabling *t = ctx;
	size_t size = type_stored(t->def->value);

	vec_push(&t->items,
		 (struct item){
			 .key = arena_dup(&t->arena, key, MAX(t->key_size, (size_t)1)),
			 .map = t->map,
			 .def = t->def,
			 .value = arena_dup(&t->arena, sum ? (const void *)sum : value, size) });
}

static int by_key(const void *a, const void *b, void *ctx)
{
	const struct tabling *t = ctx;
	const struct item *x = a, *y = b;
	int c = memcmp(x->key, y->key, t->key_size);

	return c ? c : x->map < y->map ? -1 : x->map > y->map;
}

/* The columns that are not computed, one after the other. */
static size_t next_column(const struct tool_header *h, size_t i)
{
	while (i < h->columns.len && column_is_computed(&h->columns.items[i]))
		i++;
	return i;
}

/* Likewise, the columns that are parts of keys. */
static size_t next_key(const struct tabling *t, size_t i)
{
	for (i = next_column(t->h, i); t->short_keys && i < t->h->columns.len;
	     i = next_column(t->h, i + 1))
		if (row_column_shown(t->r->c, &t->h->columns.items[i]))
			break;
	return i;
}

static s64 number_of(const struct item *it)
{
	s64 words[2] = { 0 };

	memcpy(words, it->value, MIN(type_stored(it->def->value), (u32)sizeof(words)));
	if (it->def->value->kind == T_AVG || it->def->value->kind == T_STATS)
		return words[0] ? words[1] / words[0] : 0;
	return words[0];
}

static struct value value_cell(struct tabling *t, const struct tool_column *column,
			       const struct item *it)
{
	const struct type as = { .kind = T_INT, .size = 8, .is_signed = true };
	struct value v;
	s64 n;

	if (!type_is_agg(it->def->value) && it->def->value->kind != T_INT)
		return run_cell(t->r, column, it->def->value, it->value, &t->texts);
	n = number_of(it);
	v = run_cell(t->r, column, &as, (const u8 *)&n, &t->texts);
	if (column->kind == KIND_RATE)
		v.d = t->seconds > 0 ? (double)n / t->seconds : 0;
	if (column->kind == KIND_BYTERATE)
		v.u = t->seconds > 0 && n > 0 ? (u64)((double)n / t->seconds + 0.5) : 0;
	return v;
}

static void fix_text(struct tabling *t, struct value *v)
{
	if (v->type == VALUE_TEXT)
		*v = value_text(t->result, t->texts.data + v->u);
}

static void add_keys(struct tabling *t, const struct item *it, struct value *cells)
{
	const struct type *key = it->def->key;
	size_t column = 0;

	for (u32 i = 0; key && i < key->n_fields; i++) {
		const struct field *f = &key->fields[i];

		column = next_key(t, column);
		if (column >= t->h->columns.len)
			break;
		cells[column] = run_cell(t->r, &t->h->columns.items[column], f->type,
					 it->key + f->offset, &t->texts);
		column++;
	}
}

static bool is_histogram(const struct item *it)
{
	return it->def->value->kind == T_HIST || it->def->value->kind == T_LHIST;
}

/* A histogram as one row: how many values it has, and its percentiles. */
static void add_percentiles(struct tabling *t, const struct item *it, struct value *count,
			    struct value *cells)
{
	struct histogram h = run_histogram(it->def->value, (u64 *)(void *)it->value);

	*count = value_u(VALUE_COUNT, h.count);
	for (size_t i = 0; i < t->h->columns.len; i++) {
		const struct tool_column *c = &t->h->columns.items[i];
		u64 at = 0;

		if (!(c->percentile > 0) || !h.count)
			continue;
		hist_percentile(&h, c->percentile / 100, &at);
		cells[i] = value_u(column_value_type(c->kind), at);
	}
}

/* One row from the items of one key. */
static size_t add_row(struct tabling *t, size_t i)
{
	size_t first = i, n = t->h->columns.len;
	struct value *cells = xcalloc(n + 1, sizeof(*cells));

	buf_reset(&t->texts);
	add_keys(t, &t->items.items[i], cells);
	for (; i < t->items.len; i++) {
		const struct item *it = &t->items.items[i];
		size_t column = t->first_value;

		if (memcmp(it->key, t->items.items[first].key, t->key_size) != 0)
			break;
		for (u32 k = 0; k < it->map; k++)
			column = next_column(t->h, column + 1);
		if (column < n && is_histogram(it))
			add_percentiles(t, it, &cells[column], cells);
		else if (column < n)
			cells[column] = value_cell(t, &t->h->columns.items[column], it);
	}
	for (size_t k = 0; k < n; k++)
		fix_text(t, &cells[k]);
	memcpy(table_row(t->result, t->table)->cells, cells, n * sizeof(*cells));
	free(cells);
	return i;
}

/* --- histograms ------------------------------------------------------------------------------- */

static void add_label(struct tabling *t, const struct item *it, struct buf *out)
{
	const struct type *key = it->def->key;
	size_t column = 0;

	for (u32 i = 0; key && i < key->n_fields; i++) {
		const struct field *f = &key->fields[i];
		const struct tool_column *c;

		column = next_key(t, column);
		if (column >= t->h->columns.len)
			break;
		c = &t->h->columns.items[column++];
		if (!row_column_shown(t->r->c, c))
			continue;
		buf_addf(out, "%s%s = ", out->len ? ", " : "", c->name);
		buf_reset(&t->texts);
		struct value v = run_cell(t->r, c, f->type, it->key + f->offset, &t->texts);

		if (v.type == VALUE_TEXT)
			buf_addstr(out, t->texts.data);
		else
			buf_addu(out, v.u);
	}
}

static void add_histogram(struct tabling *t, const struct item *it)
{
	const struct tool_column *column = &t->h->columns.items[t->first_value];
	struct histogram h = run_histogram(it->def->value, (u64 *)(void *)it->value);
	_cleanup_buf_ struct buf label = BUF_INIT;

	add_label(t, it, &label);
	h.value_type = column_value_type(column->kind);
	result_hist_copy(t->result, column->name, label.len ? buf_str(&label) : NULL,
			 h.kind == HIST_LINEAR ? column->title : column_unit(column->kind), &h);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void make_table(struct tabling *t)
{
	size_t n = t->h->columns.len;
	struct column *columns = xcalloc(n + 1, sizeof(*columns));

	for (size_t i = 0; i < n; i++) {
		const struct tool_column *c = &t->h->columns.items[i];

		columns[i] = (struct column){ .key = c->name,
					      .title = c->title,
					      .type = column_value_type(c->kind) };
		if (c->spare)
			columns[i].flags |= COLUMN_SPARE;
		if (c->hidden || !row_column_shown(t->r->c, c))
			columns[i].flags |= COLUMN_HIDDEN;
	}
	t->table = result_table(t->result, "rows", NULL, columns, n);
	free(columns);
}

static int take_maps(struct tabling *t, struct err *e)
{
	vec_each(name, &t->h->shows) {
		t->def = comp_map(t->r->c, *name, false);
		/* a map that only another rung fills */
		if (!t->def || !t->def->used || t->def->value->kind == T_NONE) {
			t->map++;
			continue;
		}
		if (t->key_size && t->def->key && t->def->key->size != t->key_size)
			return err_set(e, EINVAL, "the maps of 'show:' have different keys");
		t->key_size = t->def->key ? t->def->key->size : 0;
		run_map_entries(t->r, t->def, take_item, t);
		t->map++;
	}
	return 0;
}

/* Where the values begin: after the columns of the keys. */
static void place_values(struct tabling *t)
{
	size_t n = 0, at = 0;
	u32 parts = 0;

	vec_each(it, &t->items)
		if (it->def->key)
			parts = it->def->key->n_fields;
	vec_each(it, &t->h->columns)
		n += !column_is_computed(it);
	n -= MIN(n, t->h->shows.len);
	t->short_keys = parts < n;
	if (!t->short_keys)
		n = parts;
	for (at = next_column(t->h, 0); n; n--)
		at = next_column(t->h, at + 1);
	t->first_value = at;
}

static bool shows_histograms(const struct tool_header *h)
{
	vec_each(it, &h->columns)
		if (column_is_hist(it->kind))
			return true;
	return false;
}

int lang_table(struct lang *l, struct result *result, double seconds, struct table **ret,
	       struct err *e)
{
	struct tabling t = {
		.r = &l->r, .h = l->c.opts->header, .result = result, .seconds = seconds
	};
	int rc;

	vec_each(it, &l->r.timed)
		if (it->provider == &probe_table)
			(void)run_once(it->prog_fd, NULL);
	rc = take_maps(&t, e);
	if (rc == 0) {
		place_values(&t);
		if (t.items.len > 1 && t.key_size)
			qsort_r(t.items.items, t.items.len, sizeof(*t.items.items), by_key, &t);
		if (!shows_histograms(t.h))
			make_table(&t);
		for (size_t i = 0; i < t.items.len;) {
			if (t.table)
				i = add_row(&t, i);
			else if (is_histogram(&t.items.items[i]))
				add_histogram(&t, &t.items.items[i++]);
			else
				i++;
		}
	}
	if (ret)
		*ret = t.table;
	vec_release(&t.items);
	arena_release(&t.arena);
	buf_release(&t.texts);
	return rc;
}

void lang_table_clear(struct lang *l)
{
	vec_each(name, &l->c.opts->header->shows)
		lang_clear(l, *name);
}

size_t lang_notes(const struct lang *l, const char *const **ret)
{
	*ret = l->c.notes.items;
	return l->c.notes.len;
}

bool lang_column_shown(const struct lang *l, const struct tool_column *column)
{
	return row_column_shown(&l->c, column);
}
