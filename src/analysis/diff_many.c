/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/diff_many.h"

#include "analysis/report.h"
#include "base/buf.h"

#include <math.h>

int diff_many_parse(const char *text, struct diff_many_opts *ret, struct err *e)
{
	static const char *const names[] = { "delta-abs", "delta", "ratio" };
	const char *weights = starts_with(text, "wdiff:");
	long long before, after;
	char rest;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (streq(text, names[i])) {
			ret->how = (enum diff_many_how)i;
			return 0;
		}
	}
	if (weights && sscanf(weights, "%lld,%lld%c", &before, &after, &rest) == 2) {
		ret->how = DIFF_WEIGHTED;
		ret->before = before;
		ret->after = after;
		return 0;
	}
	err_set(e, EINVAL, "'%s' is not a way to compare", text);
	err_hint(e, "there are delta, delta-abs, ratio and wdiff:W1,W2");
	return -EINVAL;
}

void diff_many_init(struct diff_many *d, const struct diff_many_opts *opts)
{
	memset(d, 0, sizeof(*d));
	if (opts)
		d->opts = *opts;
	d->strings = (struct intern)INTERN_INIT;
	d->ids = (struct intern)INTERN_INIT;
	/* id 0 of a table of strings means "none": so does line 0 */
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

	while (i < t->n_columns && !streq(t->columns[i].key, key))
		i++;
	return i;
}

/* The text of a column; 0 where the table does not have it. */
static u32 text_of(struct diff_many *d, const struct table *t, const struct row *row, size_t column)
{
	const struct value *v = column < t->n_columns ? &row->cells[column] : NULL;

	if (!v)
		return 0;
	return intern_str(&d->strings, v->type == VALUE_TEXT ? v->s : "[unknown]");
}

static struct diff_many_line *line_of(struct diff_many *d, const u32 key[3])
{
	u32 id = intern_bytes(&d->ids, key, 3 * sizeof(*key));

	while (d->lines.len <= id)
		vec_new(&d->lines);
	d->lines.items[id].comm = key[0];
	d->lines.items[id].dso = key[1];
	d->lines.items[id].symbol = key[2];
	return &d->lines.items[id];
}

static void add_rows(struct diff_many *d, const struct table *t)
{
	size_t self = column_of(t, "self"), period = column_of(t, "period"),
	       comm = column_of(t, "comm"), dso = column_of(t, "dso"),
	       symbol = column_of(t, "symbol");

	vec_each(row, &t->rows) {
		const u32 key[3] = { text_of(d, t, row, comm), text_of(d, t, row, dso),
				     text_of(d, t, row, symbol) };
		struct diff_many_line *l = line_of(d, key);

		l->period[d->n] += row->cells[period].u;
		l->percent[d->n] += row->cells[self].d;
		l->in |= (u16)(1u << d->n);
	}
}

int diff_many_add(struct diff_many *d, struct profile *p, const char *name, struct err *e)
{
	struct report_opts opts = { .sort = d->opts.sort ? d->opts.sort : "dso,symbol",
				    .no_children = true,
				    .tree = TREE_NONE };
	_cleanup_result_ struct result result = { 0 };
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

/* What a line is sorted by: @ret is 0 for those that have both, which come first. */
static double value_of(const struct diff_many *d, const struct diff_many_line *l, int *ret_class)
{
	const u64 *p = l->period;

	*ret_class = (l->in & 3) == 3 ? 0 : l->in & 2 ? 1 : 2;
	switch (d->opts.how) {
	case DIFF_RATIO: return p[0] ? (double)p[1] / (double)p[0] : 0;
	case DIFF_WEIGHTED:
		return (double)p[1] * (double)d->opts.after - (double)p[0] * (double)d->opts.before;
	default: *ret_class = 0; return l->percent[1] - l->percent[0];
	}
}

/* The largest first; those without a value after them, by what they had. */
static int compare_values(const void *a, const void *b, void *ctx)
{
	const struct diff_many_line *x = a, *y = b;
	int class_x, class_y;
	double m = value_of(ctx, x, &class_x), n = value_of(ctx, y, &class_y);

	if (class_x != class_y)
		return class_x - class_y;
	if (!class_x && m != n)
		return m > n ? -1 : 1;
	if (x->percent[0] != y->percent[0])
		return x->percent[0] > y->percent[0] ? -1 : 1;
	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static bool is_share(const struct diff_many *d)
{
	return d->opts.how == DIFF_DELTA || d->opts.how == DIFF_DELTA_ABS;
}

static struct table *make_table(const struct diff_many *d, struct result *ret)
{
	static const char *const keys_of[] = { "delta", "delta", "ratio", "wdiff" };
	static const char *const titles_of[] = { "DELTA", "DELTA", "RATIO", "WDIFF" };
	const char *sort = d->opts.sort ? d->opts.sort : "dso,symbol";
	struct column columns[2 * DIFF_MANY_MOST + 5];
	char keys[DIFF_MANY_MOST][32], titles[DIFF_MANY_MOST][32];
	char periods[DIFF_MANY_MOST][32];
	size_t n = 0;

	columns[n++] = (struct column){ "baseline", "BASELINE", VALUE_PERCENT, 0 };
	if (d->opts.period)
		columns[n++] = (struct column){ "base_period", "BASE PERIOD", VALUE_COUNT, 0 };
	for (size_t i = 1; i < d->n; i++) {
		snprintf(keys[i], sizeof(keys[i]), "%s_%zu", keys_of[d->opts.how], i);
		snprintf(titles[i], sizeof(titles[i]), "%s %zu", titles_of[d->opts.how], i);
		snprintf(periods[i], sizeof(periods[i]), "period_%zu", i);
		columns[n++] = (struct column){ keys[i], titles[i],
						is_share(d) ? VALUE_PERCENT : VALUE_TEXT, 0 };
		if (d->opts.period)
			columns[n++] = (struct column){ periods[i], "PERIOD", VALUE_COUNT, 0 };
	}
	if (strstr(sort, "comm"))
		columns[n++] = (struct column){ "comm", "COMM", VALUE_TEXT, 0 };
	if (strstr(sort, "dso"))
		columns[n++] = (struct column){ "dso", "MODULE", VALUE_TEXT, 0 };
	if (strstr(sort, "sym"))
		columns[n++] = (struct column){ "symbol", "SYMBOL", VALUE_TEXT, COLUMN_FILL };
	return result_table(ret, "rows", NULL, columns, n);
}

/* Profile @k against the first. */
static struct value compared(const struct diff_many *d, const struct diff_many_line *l, size_t k,
			     struct result *ret)
{
	bool has = l->in & (1u << k), base = l->in & 1;

	if (!has)
		return (struct value){ 0 };
	if (is_share(d))
		return value_d(VALUE_PERCENT, l->percent[k] - l->percent[0]);
	if (!base)
		return value_text(ret, "N/A");
	if (d->opts.how == DIFF_RATIO)
		return value_textf(ret, "%.6f", (double)l->period[k] / (double)l->period[0]);
	return value_textf(ret, "%lld",
			   (long long)((s64)l->period[k] * d->opts.after -
				       (s64)l->period[0] * d->opts.before));
}

static void fill_row(const struct diff_many *d, const struct diff_many_line *l, u64 whole,
		     struct row *row, struct result *ret)
{
	const u32 texts[] = { l->comm, l->dso, l->symbol };
	struct value *cell = row->cells;

	if (l->in & 1)
		*cell = value_d(VALUE_PERCENT, whole ? 100.0 * (double)l->period[0] / (double)whole
						     : l->percent[0]);
	cell++;
	if (d->opts.period)
		*cell++ = value_u(VALUE_COUNT, l->period[0]);
	for (size_t k = 1; k < d->n; k++) {
		*cell++ = compared(d, l, k, ret);
		if (d->opts.period)
			*cell++ = value_u(VALUE_COUNT, l->period[k]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i])
			*cell++ = value_text(ret, intern_get(&d->strings, texts[i]));
}

void diff_many_report(struct diff_many *d, u32 max_lines, struct result *ret)
{
	struct table *t = make_table(d, ret);
	size_t shown = 0, left_out = 0;
	u64 whole = 0;

	if (d->lines.len > 2 && d->opts.how == DIFF_DELTA_ABS)
		qsort(d->lines.items + 1, d->lines.len - 1, sizeof(*d->lines.items), compare_lines);
	else if (d->lines.len > 2)
		qsort_r(d->lines.items + 1, d->lines.len - 1, sizeof(*d->lines.items),
			compare_values, d);
	/* the shares are then of what is left */
	for (size_t i = 1; d->opts.baseline_only && i < d->lines.len; i++)
		whole += (d->lines.items[i].in & 3) == 3 ? d->lines.items[i].period[0] : 0;
	for (size_t i = 1; i < d->lines.len; i++) {
		const struct diff_many_line *l = &d->lines.items[i];

		if (max_lines && shown == max_lines)
			break;
		if (d->opts.baseline_only && (l->in & 3) != 3) {
			left_out++;
			continue;
		}
		fill_row(d, l, whole, table_row(ret, t), ret);
		shown++;
	}
	for (size_t i = 0; i < d->n; i++)
		result_note(ret, NOTE_INFO, NULL, "%s %zu: '%s', %llu samples",
			    i ? "delta" : "baseline", i, intern_get(&d->strings, d->names[i]),
			    (unsigned long long)d->samples[i]);
	if (shown + left_out + 1 < d->lines.len)
		result_note(ret, NOTE_INFO, NULL,
			    "%zu more functions are not shown; --all shows them",
			    d->lines.len - 1 - shown - left_out);
}
