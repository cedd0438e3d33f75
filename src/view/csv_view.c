/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For spreadsheets: RFC 4180 with the line ends of Unix. Numbers are raw (nanoseconds, bytes).
 *
 * A result with one table is nothing but that table. With several, each begins with a line
 * "# name", and a blank line stands between them; sections that follow one another under the same
 * name with the same columns are one table; --table chooses one. Without any, the facts are one.
 * What was lost is reported below them as "# lost" lines, and only if there was anything.
 */
#include "view/view.h"

#include "base/fmt.h"
#include "result/hist.h"
#include "view/cell.h"

static const char *const hist_keys[] = { "label", "unit", "min", "max", "count" };
static const char *const tree_keys[] = { "depth", "percent", "value", "self", "label" };

static const char *table_name(const struct section *s)
{
	const char *name = section_name(s);

	return name ? name : "rows";
}

static bool same_columns(const struct table *a, const struct table *b)
{
	if (a->n_columns != b->n_columns)
		return false;
	for (size_t i = 0; i < a->n_columns; i++)
		if (!streq(a->columns[i].key, b->columns[i].key))
			return false;
	return true;
}

static bool continues(const struct section *before, const struct section *s)
{
	return before && before->type == s->type && streq(table_name(before), table_name(s)) &&
	       (s->type != SECTION_TABLE || same_columns(before->table, s->table));
}

static void keys(struct buf *out, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? "," : "", names[i]);
	buf_addch(out, '\n');
}

static void heading(struct buf *out, const struct section *s)
{
	switch (s->type) {
	case SECTION_HISTOGRAM: keys(out, hist_keys, ARRAY_SIZE(hist_keys)); break;
	case SECTION_TREE: keys(out, tree_keys, ARRAY_SIZE(tree_keys)); break;
	case SECTION_TABLE:
		for (size_t i = 0; i < s->table->n_columns; i++) {
			if (i)
				buf_addch(out, ',');
			cell_csv_text(out, s->table->columns[i].key);
		}
		buf_addch(out, '\n');
		break;
	case SECTION_TEXT: break;
	}
}

static void table(struct buf *out, const struct table *t)
{
	vec_each(row, &t->rows) {
		size_t start = out->len;

		for (size_t i = 0; i < t->n_columns; i++) {
			if (i)
				buf_addch(out, ',');
			cell_csv(out, &row->cells[i]);
		}
		/* a lone empty cell must not look like the blank line between tables */
		if (out->len == start)
			buf_addstr(out, "\"\"");
		buf_addch(out, '\n');
	}
}

static void hist_line(struct buf *out, const struct histogram *h, const char *range, u64 count)
{
	cell_csv_text(out, h->label ? h->label : "");
	buf_addch(out, ',');
	cell_csv_text(out, h->unit ? h->unit : "");
	buf_addf(out, ",%s,%llu\n", range, (unsigned long long)count);
}

static void histogram(struct buf *out, const struct histogram *h)
{
	_cleanup_buf_ struct buf range = BUF_INIT;
	struct hist_rows rows = { 0 };

	hist_rows(&rows, h, HIST_ROWS_FROM_MIN, 0);
	vec_each(row, &rows.list) {
		buf_reset(&range);
		if (row->place != HIST_BELOW)
			hist_number(&range, h, row->first);
		buf_addch(&range, ',');
		if (row->place == HIST_BELOW)
			buf_addf(&range, "%lld", (long long)row->last - 1);
		else if (row->place == HIST_INSIDE)
			hist_number(&range, h, row->last);
		hist_line(out, h, buf_str(&range), row->count);
	}
	hist_rows_release(&rows);
}

static void tree(struct buf *out, const struct tree *t)
{
	vec_each(n, &t->nodes) {
		struct value percent = value_d(VALUE_PERCENT, n->percent);

		buf_addf(out, "%u,", n->depth);
		cell_csv(out, &percent);
		buf_addf(out, ",%llu,%llu,", (unsigned long long)n->value,
			 (unsigned long long)n->self);
		cell_csv_text(out, n->label);
		buf_addch(out, '\n');
	}
}

static void body(struct buf *out, const struct section *s)
{
	switch (s->type) {
	case SECTION_TABLE: table(out, s->table); break;
	case SECTION_HISTOGRAM: histogram(out, s->histogram); break;
	case SECTION_TREE: tree(out, s->tree); break;
	case SECTION_TEXT: break;
	}
}

static void comment(struct buf *out, const char *text)
{
	buf_addstr(out, "# ");
	fmt_clean(out, text, strlen(text));
}

/* Without any table the facts are the answer. */
static void facts(struct buf *out, const struct result *r, bool header)
{
	if (header && r->facts.len)
		buf_addstr(out, "fact,value\n");
	vec_each(f, &r->facts) {
		cell_csv_text(out, f->key);
		buf_addch(out, ',');
		cell_csv(out, &f->value);
		buf_addch(out, '\n');
	}
}

/* Text has no place in a table. */
static bool is_shown(const struct section *s, const struct view_opts *opts)
{
	return s->type != SECTION_TEXT && (!opts->table || streq(table_name(s), opts->table));
}

static size_t count_tables(const struct result *r, const struct view_opts *opts)
{
	const struct section *before = NULL;
	size_t n = 0;

	vec_each(s, &r->sections) {
		if (!is_shown(s, opts))
			continue;
		n += !continues(before, s);
		before = s;
	}
	return n;
}

static void losses(struct buf *out, const struct result *r)
{
	vec_each(l, &r->losses) {
		if (!l->count)
			continue;
		buf_addf(out, "# lost: %llu ", (unsigned long long)l->count);
		fmt_clean(out, l->text ? l->text : l->key, strlen(l->text ? l->text : l->key));
		buf_addch(out, '\n');
	}
}

static int no_table(const struct result *r, const char *name, struct err *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	const struct section *before = NULL;

	vec_each(s, &r->sections) {
		if (s->type == SECTION_TEXT || continues(before, s))
			continue;
		buf_addf(&names, "%s%s", before ? ", " : "", table_name(s));
		before = s;
	}
	err_set(e, EINVAL, "the result has no table '%s'", name);
	err_hint(e, before ? "it has %s" : "it has none%s", buf_str(&names));
	return -EINVAL;
}

static int render(const struct result *r, const struct view_opts *opts, struct buf *out,
		  struct err *e)
{
	size_t tables = count_tables(r, opts);
	bool named = opts->header && tables > 1;
	const struct section *before = NULL;

	if (!tables && opts->table)
		return no_table(r, opts->table, e);
	if (!tables)
		facts(out, r, opts->header);
	vec_each(s, &r->sections) {
		if (!is_shown(s, opts))
			continue;
		if (!continues(before, s)) {
			if (before)
				buf_addch(out, '\n');
			if (named) {
				comment(out, table_name(s));
				buf_addch(out, '\n');
			}
			if (opts->header)
				heading(out, s);
		}
		body(out, s);
		before = s;
	}
	losses(out, r);
	return 0;
}

const struct view view_csv = {
	.name = "csv",
	.render = render,
};
