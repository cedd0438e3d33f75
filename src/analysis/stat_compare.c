/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sets of runs: which counts differ by more than chance. */
#include "analysis/stat_result.h"

#include <math.h>

#include "base/jsonread.h"

enum { SERIES_MOST = 1 << 16, VALUES_MOST = 1 << 22 };

static const double real_below = 0.01, perhaps_below = 0.05;

/* --- reading ---------------------------------------------------------------------------------- */

/* One row of "runs" as it is read. */
struct row_text {
	char *group, *event, *unit;
	double value;
	bool has_value;
};

static void row_release(struct row_text *row)
{
	free(row->group);
	free(row->event);
	free(row->unit);
	*row = (struct row_text){ 0 };
}

static void keep_text(struct json_reader *j, char **where)
{
	enum json_piece piece = json_read(j);

	if (piece == READ_STRING) {
		free(*where);
		*where = xstrdup(json_text(j));
	} else if (piece == READ_OBJECT || piece == READ_ARRAY) {
		json_read_skip(j);
	}
}

static void read_row(struct json_reader *j, struct row_text *row)
{
	while (json_read(j) == READ_KEY) {
		if (streq(json_text(j), "group")) {
			keep_text(j, &row->group);
		} else if (streq(json_text(j), "event")) {
			keep_text(j, &row->event);
		} else if (streq(json_text(j), "unit")) {
			keep_text(j, &row->unit);
		} else if (streq(json_text(j), "value")) {
			enum json_piece piece = json_read(j);

			row->has_value = piece == READ_NUMBER;
			row->value = j->number;
			if (piece == READ_OBJECT || piece == READ_ARRAY)
				json_read_skip(j);
		} else {
			json_read_skip(j);
		}
	}
}

static bool same(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static const struct stat_series *find_series(const struct stat_file *f, const char *group,
					     const char *event)
{
	vec_each(s, &f->series) {
		if (same(s->group, group) && streq(s->event, event))
			return s;
	}
	return NULL;
}

static void add_row(struct stat_file *f, struct row_text *row)
{
	struct stat_series *s;

	if (!row->event || !row->has_value || !isfinite(row->value))
		return;
	s = (struct stat_series *)(uintptr_t)find_series(f, row->group, row->event);
	if (!s) {
		if (f->series.len >= SERIES_MOST)
			return;
		s = vec_new(&f->series);
		s->group = TAKE_PTR(row->group);
		s->event = TAKE_PTR(row->event);
		s->unit = TAKE_PTR(row->unit);
	}
	if (s->values.len < VALUES_MOST)
		vec_push(&s->values, row->value);
}

static void read_runs(struct json_reader *j, struct stat_file *f)
{
	enum json_piece piece = json_read(j);

	if (piece != READ_ARRAY) {
		if (piece == READ_OBJECT)
			json_read_skip(j);
		return;
	}
	while (json_read(j) == READ_OBJECT) {
		struct row_text row = { 0 };

		read_row(j, &row);
		add_row(f, &row);
		row_release(&row);
	}
}

int stat_file_parse(const char *text, size_t len, const char *name, struct stat_file *ret,
		    struct err *e)
{
	struct json_reader j;
	int rc = 0;

	*ret = (struct stat_file){ 0 };
	json_reader_init(&j, text, len);
	if (json_read(&j) == READ_OBJECT) {
		while (json_read(&j) == READ_KEY) {
			if (streq(json_text(&j), "runs"))
				read_runs(&j, ret);
			else
				json_read_skip(&j);
		}
	}
	if (j.fault)
		rc = err_set(e, EINVAL, "'%s' is not JSON: %s at byte %zu", name, j.fault,
			     json_offset(&j));
	else if (!ret->series.len)
		rc = err_set(e, EINVAL, "'%s' has no runs of 'fathom stat'", name);
	if (rc < 0 && e)
		err_hint(e, "make it with: fathom stat --json -r 10 -o %s -- PROGRAM", name);
	json_reader_release(&j);
	if (rc < 0)
		stat_file_release(ret);
	return rc;
}

void stat_file_release(struct stat_file *f)
{
	vec_each(s, &f->series) {
		free(s->group);
		free(s->event);
		free(s->unit);
		vec_release(&s->values);
	}
	vec_release(&f->series);
}

/* --- comparing -------------------------------------------------------------------------------- */

enum { C_GROUP, C_EVENT, C_BEFORE, C_AFTER, C_UNIT, C_CHANGE, C_LOW, C_HIGH, C_CHANCE, C_VERDICT };

static const struct column columns[] = {
	[C_GROUP] = { "group", "GROUP", VALUE_TEXT, COLUMN_HIDDEN },
	[C_EVENT] = { "event", "EVENT", VALUE_TEXT, 0 },
	[C_BEFORE] = { "before", "BEFORE", VALUE_NUMBER, 0 },
	[C_AFTER] = { "after", "AFTER", VALUE_NUMBER, 0 },
	[C_UNIT] = { "unit", "UNIT", VALUE_TEXT, 0 },
	[C_CHANGE] = { "change_percent", "CHANGE", VALUE_PERCENT, 0 },
	[C_LOW] = { "change_low_percent", "FROM", VALUE_PERCENT, COLUMN_SPARE },
	[C_HIGH] = { "change_high_percent", "TO", VALUE_PERCENT, COLUMN_SPARE },
	[C_CHANCE] = { "chance", "CHANCE", VALUE_NUMBER, COLUMN_HIDDEN },
	[C_VERDICT] = { "verdict", "VERDICT", VALUE_TEXT, COLUMN_FILL },
};

static const char *verdict_of(const struct stat_mean *a, const struct stat_mean *b, double chance)
{
	if (a->runs < 2 || b->runs < 2)
		return "unknown: one run says nothing about chance";
	if (a->mean == b->mean)
		return "the same";
	if (chance < real_below)
		return b->mean > a->mean ? "more" : "less";
	return chance < perhaps_below ? "perhaps, more runs would tell" : "chance";
}

/* The 95 % interval of the difference, in percent of what was before. */
static double half_width(const struct stat_mean *a, const struct stat_mean *b)
{
	double va = a->spread * a->spread / (double)a->runs;
	double vb = b->spread * b->spread / (double)b->runs, sum = va + vb, freedom;

	if (!(sum > 0))
		return 0;
	freedom = sum * sum / (va * va / (double)(a->runs - 1) + vb * vb / (double)(b->runs - 1));
	return sqrt(sum) * stat_student(freedom, perhaps_below);
}

static void compare_one(const struct stat_series *x, const struct stat_series *y, struct table *t,
			struct result *r)
{
	struct row *row = table_row(r, t);
	struct value *c = row->cells;
	struct stat_mean a, b;
	double chance;

	stat_mean_of(x->values.items, x->values.len, &a);
	stat_mean_of(y->values.items, y->values.len, &b);
	chance = stat_welch(&a, &b);
	c[C_GROUP] = value_text(r, x->group);
	c[C_EVENT] =
		x->group ? value_textf(r, "%s %s", x->group, x->event) : value_text(r, x->event);
	c[C_BEFORE] = value_d(VALUE_NUMBER, a.mean);
	c[C_AFTER] = value_d(VALUE_NUMBER, b.mean);
	c[C_UNIT] = value_text(r, x->unit);
	c[C_VERDICT] = value_text(r, verdict_of(&a, &b, chance));
	if (a.runs > 1 && b.runs > 1)
		c[C_CHANCE] = value_d(VALUE_NUMBER, chance);
	if (a.mean > 0) {
		double change = b.mean - a.mean;

		c[C_CHANGE] = value_d(VALUE_PERCENT, 100 * change / a.mean);
		if (a.runs > 1 && b.runs > 1) {
			double half = half_width(&a, &b);

			c[C_LOW] = value_d(VALUE_PERCENT, 100 * (change - half) / a.mean);
			c[C_HIGH] = value_d(VALUE_PERCENT, 100 * (change + half) / a.mean);
		}
	}
	if (chance < real_below && a.mean != b.mean)
		row->style = STYLE_STRONG;
}

void stat_compare(const struct stat_file *a, const struct stat_file *b, struct result *r)
{
	struct table *t = result_table(r, "differences", NULL, columns, ARRAY_SIZE(columns));
	size_t alone = 0, tests = 0;

	vec_each(x, &a->series) {
		const struct stat_series *y = find_series(b, x->group, x->event);

		if (y)
			compare_one(x, y, t, r);
		alone += y == NULL;
		tests += y != NULL;
	}
	vec_each(y, &b->series)
		alone += find_series(a, y->group, y->event) == NULL;
	result_fact(r, "runs_before", "runs before",
		    value_u(VALUE_COUNT, a->series.len ? a->series.items[0].values.len : 0));
	result_fact(r, "runs_after", "after",
		    value_u(VALUE_COUNT, b->series.len ? b->series.items[0].values.len : 0));
	result_note(r, NOTE_INFO, NULL,
		    "'more' and 'less': chance alone gives such a difference less than once in "
		    "100 tests (Welch's t); %zu were made",
		    tests);
	if (alone)
		result_note(r, NOTE_WARNING, NULL, "%zu counts are in one of the files only",
			    alone);
}
