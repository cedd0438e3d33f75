/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/diff_many.h"

#include "analysis/report.h"
#include "base/buf.h"

#include <math.h>

void diff_many_init(struct diff_many *d)
{
	memset(d, 0, sizeof(*d));
	d->strings = (struct intern)INTERN_INIT;
	d->ids = (struct intern)INTERN_INIT;
	/* id 0 of a table of strings is none: so is line 0 */
	vec_new(&d->lines);
}

void diff_many_release(struct diff_many *d)
{
	intern_release(&d->strings);
	intern_release(&d->ids);
	vec_release(&d->lines);
}

static size_t column_of(const struct table *t, const char *key)
{
	size_t i = 0;

	while (i + 1 < t->n_columns && !streq(t->columns[i].key, key))
		i++;
	return i;
}

static struct diff_many_line *line_of(struct diff_many *d, const char *dso, const char *symbol)
{
	u32 key[2] = { intern_str(&d->strings, dso), intern_str(&d->strings, symbol) };
	u32 id = intern_bytes(&d->ids, key, sizeof(key));

	while (d->lines.len <= id)
		vec_new(&d->lines);
	d->lines.items[id].dso = key[0];
	d->lines.items[id].symbol = key[1];
	return &d->lines.items[id];
}

static void add_rows(struct diff_many *d, const struct table *t)
{
	size_t self = column_of(t, "self"), dso = column_of(t, "dso"),
	       symbol = column_of(t, "symbol");

	vec_each(row, &t->rows) {
		const struct value *m = &row->cells[dso], *s = &row->cells[symbol];
		struct diff_many_line *l = line_of(d, m->type == VALUE_TEXT ? m->s : "[unknown]",
						   s->type == VALUE_TEXT ? s->s : "[unknown]");

		l->percent[d->n] += row->cells[self].d;
		l->in |= (u16)(1u << d->n);
	}
}

int diff_many_add(struct diff_many *d, struct profile *p, const char *name, struct err *e)
{
	struct report_opts opts = { .sort = "dso,symbol", .no_children = true, .tree = TREE_NONE };
	_cleanup_result_ struct result result;
	int r;

	result_init(&result, "diff");
	if (d->n == DIFF_MANY_MOST)
		return err_set(e, E2BIG, "more than %d recordings to compare", DIFF_MANY_MOST);
	r = report_build(p, &opts, &result, e);
	if (r < 0)
		return r;
	/* the first event that has samples: the first table */
	vec_each(section, &result.sections)
		if (section->type == SECTION_TABLE) {
			add_rows(d, section->table);
			break;
		}
	vec_each(ev, &p->events)
		if (ev->samples && !d->samples[d->n]) {
			d->samples[d->n] = ev->samples;
			if (!d->n)
				d->event = intern_str(&d->strings, profile_str(p, ev->name));
		}
	d->names[d->n++] = intern_str(&d->strings, name);
	return 0;
}

/* As perf: by the difference of the second to the first, then by the share in that. */
static int compare_lines(const void *a, const void *b)
{
	const struct diff_many_line *x = a, *y = b;
	double m = fabs(x->percent[1] - x->percent[0]);
	double n = fabs(y->percent[1] - y->percent[0]);

	if (m != n)
		return m > n ? -1 : 1;
	if (x->percent[0] != y->percent[0])
		return x->percent[0] > y->percent[0] ? -1 : 1;
	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static struct table *make_table(const struct diff_many *d, struct result *ret)
{
	struct column columns[DIFF_MANY_MOST + 3];
	char keys[DIFF_MANY_MOST][32], titles[DIFF_MANY_MOST][32];
	size_t n = 0;

	columns[n++] = (struct column){ "baseline", "BASELINE", VALUE_PERCENT, 0 };
	for (size_t i = 1; i < d->n; i++) {
		snprintf(keys[i], sizeof(keys[i]), "delta_%zu", i);
		snprintf(titles[i], sizeof(titles[i]), "DELTA %zu", i);
		columns[n++] = (struct column){ keys[i], titles[i], VALUE_PERCENT, 0 };
	}
	columns[n++] = (struct column){ "dso", "MODULE", VALUE_TEXT, 0 };
	columns[n++] = (struct column){ "symbol", "SYMBOL", VALUE_TEXT, COLUMN_FILL };
	return result_table(ret, "rows", NULL, columns, n);
}

void diff_many_report(struct diff_many *d, u32 max_lines, struct result *ret)
{
	struct table *t = make_table(d, ret);
	size_t shown = 0;

	if (d->lines.len > 2)
		qsort(d->lines.items + 1, d->lines.len - 1, sizeof(*d->lines.items), compare_lines);
	for (size_t i = 1; i < d->lines.len; i++) {
		const struct diff_many_line *l = &d->lines.items[i];
		struct row *row;

		if (max_lines && shown == max_lines)
			break;
		row = table_row(ret, t);
		if (l->in & 1)
			row->cells[0] = value_d(VALUE_PERCENT, l->percent[0]);
		for (size_t k = 1; k < d->n; k++)
			if (l->in & (1u << k))
				row->cells[k] =
					value_d(VALUE_PERCENT, l->percent[k] - l->percent[0]);
		row->cells[d->n] = value_text(ret, intern_get(&d->strings, l->dso));
		row->cells[d->n + 1] = value_text(ret, intern_get(&d->strings, l->symbol));
		shown++;
	}
	for (size_t i = 0; i < d->n; i++)
		result_note(ret, NOTE_INFO, NULL, "%s %zu: '%s', %llu samples",
			    i ? "delta" : "baseline", i, intern_get(&d->strings, d->names[i]),
			    (unsigned long long)d->samples[i]);
	if (shown + 1 < d->lines.len)
		result_note(ret, NOTE_INFO, NULL,
			    "%zu more functions are not shown; --all shows them",
			    d->lines.len - 1 - shown);
}
