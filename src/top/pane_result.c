/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of a tool, as data again. */
#include "top/screens.h"

static void add_table(struct result *r, const struct pane_table *from)
{
	struct column columns[PANE_COLUMNS];
	struct table *table;

	for (size_t i = 0; i < from->n_columns; i++) {
		const struct pane_cell *first =
			from->rows.len ? &from->rows.items[0]->cells[i] : NULL;

		columns[i] =
			(struct column){ from->keys[i], from->keys[i],
					 first && first->is_number ? VALUE_NUMBER : VALUE_TEXT, 0 };
	}
	table = result_table(r, from->name, NULL, columns, from->n_columns);
	vec_each(at, &from->rows) {
		struct row *row = table_row(r, table);

		for (size_t i = 0; i < from->n_columns; i++) {
			const struct pane_cell *c = &(*at)->cells[i];

			if (columns[i].type == VALUE_NUMBER && c->is_number)
				row->cells[i] = value_d(VALUE_NUMBER, c->number);
			else if (c->text)
				row->cells[i] = value_text(r, c->text);
		}
	}
}

static void add_hist(struct result *r, const struct pane_hist *h)
{
	static const struct column columns[] = {
		{ "low", "LOW", VALUE_NUMBER, 0 },
		{ "high", "HIGH", VALUE_NUMBER, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
	};
	struct table *table = result_table(r, "histogram", h->label, columns, ARRAY_SIZE(columns));

	vec_each(b, &h->buckets) {
		struct row *row = table_row(r, table);

		row->cells[0] = value_d(VALUE_NUMBER, b->low);
		row->cells[1] = value_d(VALUE_NUMBER, b->high);
		row->cells[2] = value_u(VALUE_COUNT, b->count);
	}
}

void pane_result(const struct pane *p, struct result *r)
{
	if (*p->why)
		result_note(r, NOTE_WARNING, NULL, "%s", p->why);
	vec_each(t, &p->look.tables)
		if (t->n_columns)
			add_table(r, t);
	vec_each(h, &p->look.hists)
		add_hist(r, h);
}
