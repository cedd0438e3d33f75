/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables whose columns are formulas; control groups and interrupts are nothing but that. */
#include "top/screens.h"

#include <math.h>

#include "cli/monitor.h"
#include "top/meters.h"

enum { ROOMY = 100 }; /* columns of a terminal from which on the spare ones are drawn */

struct shown {
	const struct top_sheet *sheet;
	const u32 *order;
	u8 at[SHEET_COLUMNS]; /* of the sheet, by the drawn column */
};

struct sorting {
	const struct top_sheet *sheet;
	u32 row;
	double key;
};

static const struct top_sheet *sheet_of(const struct top *t, const char *name)
{
	for (size_t i = 0; i < t->frame->n_sheets; i++)
		if (streq(t->frame->sheets[i].name, name))
			return &t->frame->sheets[i];
	return NULL;
}

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct shown *s = ctx;
	const struct monitor_column *c = &s->sheet->def->columns[s->at[column]];
	const struct sheet_row *r = &s->sheet->rows.items[s->order[row]];
	double v = r->values[s->at[column]];

	if (!c->formula) {
		buf_addstr(out, r->instance);
		return ROLE_TEXT;
	}
	if (isnan(v))
		return ROLE_DIM;
	buf_addf(out, "%.*f", c->decimals, v);
	if (c->bad > 0 && v >= c->bad)
		return ROLE_BAD;
	return c->warn > 0 && v >= c->warn ? ROLE_WARN : ROLE_TEXT;
}

static int by_key(const void *a, const void *b)
{
	const struct sorting *x = a, *y = b;

	if (x->key > y->key || x->key < y->key)
		return x->key > y->key ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Largest first by the column that the table names. */
static u32 *order_of(const struct top_sheet *s, int *ret_sorted)
{
	u32 *order = xcalloc(s->rows.len + 1, sizeof(*order));
	VEC(struct sorting) rows = { 0 };

	*ret_sorted = -1;
	for (size_t i = 0; s->def->sort && i < s->def->n_columns; i++)
		if (streq(s->def->columns[i].key, s->def->sort))
			*ret_sorted = (int)i;
	for (u32 i = 0; i < s->rows.len; i++) {
		double v = *ret_sorted < 0 ? 0 : s->rows.items[i].values[*ret_sorted];

		vec_push(&rows, (struct sorting){ s, i, isnan(v) ? -1 : v });
	}
	vec_sort(&rows, by_key);
	for (size_t i = 0; i < rows.len; i++)
		order[i] = rows.items[i].row;
	vec_release(&rows);
	return order;
}

void sheet_draw(struct top *t, struct rect r, const char *name, struct list *list)
{
	const struct top_sheet *sheet = sheet_of(t, name);
	struct table_column columns[SHEET_COLUMNS];
	_cleanup_free_ u32 *order = NULL;
	struct shown s;
	struct table_view view = { .cell = cell, .ctx = &s, .sorted = -1 };
	int sorted;

	if (!sheet || !sheet->rows.len) {
		grid_textf(&t->grid, r.x, r.y, r.w, ROLE_DIM, "no %s, or the kernel does not say",
			   name);
		return;
	}
	order = order_of(sheet, &sorted);
	s = (struct shown){ .sheet = sheet, .order = order };
	for (size_t i = 0; i < sheet->def->n_columns; i++) {
		const struct monitor_column *c = &sheet->def->columns[i];

		if (c->flags & COLUMN_SPARE && r.w < ROOMY)
			continue;
		if ((int)i == sorted)
			view.sorted = (int)view.n_columns;
		s.at[view.n_columns] = (u8)i;
		columns[view.n_columns++] =
			(struct table_column){ c->title, c->width, c->formula != NULL };
	}
	view.columns = columns;
	table_draw(&t->grid, r, &view, list, (int)sheet->rows.len);
}

int sheet_lines(const struct top *t, const char *name, int most)
{
	const struct top_sheet *sheet = sheet_of(t, name);

	return MIN(sheet ? (int)sheet->rows.len + 1 : 1, MAX(most, 2));
}

void sheet_explain(struct top *t, struct buf *out, const char *name)
{
	size_t n;
	const struct monitor_table *defs = top_sheet_defs(&n);

	(void)t;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; streq(defs[i].name, name) && k < defs[i].n_columns; k++) {
			const struct monitor_column *c = &defs[i].columns[k];

			if (!c->formula)
				continue;
			buf_addf(out, "%s = %s\n", c->title, c->formula);
			if (c->unit > 0)
				buf_addf(out, "  shown divided by %.0f\n", c->unit);
			explain_formula(out, c->formula);
		}
	}
	buf_addstr(out, "\nfathom counters NAME shows a counter over time.\n");
}

void sheet_result(struct top *t, struct result *r, const char *name)
{
	const struct top_sheet *sheet = sheet_of(t, name);
	struct column columns[SHEET_COLUMNS];
	struct table *table;

	if (!sheet)
		return;
	for (size_t i = 0; i < sheet->def->n_columns; i++)
		columns[i] =
			(struct column){ sheet->def->columns[i].key, sheet->def->columns[i].title,
					 sheet->def->columns[i].formula ? VALUE_NUMBER : VALUE_TEXT,
					 0 };
	table = result_table(r, name, NULL, columns, sheet->def->n_columns);
	vec_each(from, &sheet->rows) {
		struct row *row = table_row(r, table);

		for (size_t i = 0; i < sheet->def->n_columns; i++) {
			if (!sheet->def->columns[i].formula)
				row->cells[i] = value_text(r, from->instance);
			else if (!isnan(from->values[i]))
				row->cells[i] = value_d(VALUE_NUMBER, from->values[i]);
		}
	}
}

static bool key_pressed(struct top *t, const struct input *in)
{
	return list_key(&t->list, in);
}

#define SHEET(name_, title_, brief_)                                \
	static void draw_##name_(struct top *t, struct rect r)      \
	{                                                           \
		sheet_draw(t, r, #name_, &t->list);                 \
	}                                                           \
	static void explain_##name_(struct top *t, struct buf *out) \
	{                                                           \
		sheet_explain(t, out, #name_);                      \
	}                                                           \
	static void result_##name_(struct top *t, struct result *r) \
	{                                                           \
		sheet_result(t, r, #name_);                         \
	}                                                           \
	const struct screen screen_##name_ = {                      \
		.key = #name_,                                      \
		.title = title_,                                    \
		.brief = brief_,                                    \
		.draw = draw_##name_,                               \
		.key_pressed = key_pressed,                         \
		.explain = explain_##name_,                         \
		.result = result_##name_,                           \
	}

SHEET(cgroups, "Cgroups", "Grp");
SHEET(interrupts, "Interrupts", "Irq");
