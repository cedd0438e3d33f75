/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Components as tables, and as bars of characters. */
#include "analysis/components.h"

#include "analysis/skid.h"

#include "base/buf.h"

enum { TOP_SYMBOLS = 3 };

static const char marks[] = "#=+*%o@x:-.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwyz";

static const char *component_name(const struct taxonomy *t, u32 i)
{
	return i < t->components.len ? t->components.items[i].name : "unmapped";
}

/* In the order of the taxonomy, what no rule covers last; false at the end. */
static bool next_component(const struct taxonomy *t, u32 *i)
{
	(*i)++;
	if (*i == t->components.len)
		*i = COMPONENT_UNMAPPED;
	return *i <= COMPONENT_UNMAPPED;
}

#define each_component(i, t) for (u32 i = UINT32_MAX; next_component(t, &i);)

/* --- one table for all ---------------------------------------------------------------------- */

static char *side_key(size_t n, size_t i)
{
	return n == 1 ? xstrdup("share") : xasprintf("share_%zu", i + 1);
}

static void top_symbols(const struct breakdown *b, u32 component, struct buf *out)
{
	int n = 0;

	vec_each(s, &b->symbols) {
		if (s->component != component)
			continue;
		buf_addf(out, "%s%s %.1f%%", n ? ", " : "", intern_get(&b->strings, s->name),
			 100 * (double)s->weight / (double)b->total);
		if (++n == TOP_SYMBOLS)
			return;
	}
}

static void add_row(const struct taxonomy *t, const struct breakdown *sides, size_t n, u32 c,
		    struct result *ret, struct table *table)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct row *row = table_row(ret, table);
	size_t cell = 0;

	row->style = c == COMPONENT_UNMAPPED ? STYLE_DIM : STYLE_NONE;
	row->cells[cell++] = value_textf(ret, "%c", marks[MIN(c, (u32)sizeof(marks) - 2)]);
	row->cells[cell++] = value_text(ret, component_name(t, c));
	for (size_t i = 0; i < n; i++)
		row->cells[cell++] = value_d(VALUE_PERCENT, breakdown_share(&sides[i], c));
	row->cells[cell++] = value_u(VALUE_COUNT, sides[0].samples[c]);
	top_symbols(&sides[n - 1], c, &text);
	row->cells[cell] = value_text(ret, buf_str(&text));
}

static void components_table(const struct taxonomy *t, const struct breakdown *sides, size_t n,
			     struct result *ret)
{
	VEC(struct column) columns = { 0 };
	struct table *table;

	vec_push(&columns, (struct column){ "mark", "", VALUE_TEXT, 0 });
	vec_push(&columns, (struct column){ "component", "COMPONENT", VALUE_TEXT, 0 });
	for (size_t i = 0; i < n; i++)
		vec_push(&columns,
			 (struct column){ side_key(n, i), n == 1 ? "SHARE" : sides[i].title,
					  VALUE_PERCENT, 0 });
	vec_push(&columns,
		 (struct column){ "samples", "SAMPLES", VALUE_COUNT, n == 1 ? 0 : COLUMN_HIDDEN });
	vec_push(&columns, (struct column){ "top", "HEAVIEST", VALUE_TEXT, COLUMN_FILL });
	table = result_table(ret, "components", NULL, columns.items, columns.len);
	for (size_t i = 0; i < n; i++)
		free((char *)(uintptr_t)columns.items[2 + i].key);
	vec_release(&columns);
	each_component(c, t) add_row(t, sides, n, c, ret, table);
}

/* --- bars ----------------------------------------------------------------------------------- */

static void add_bar(const struct taxonomy *t, const struct breakdown *b, u32 width, struct buf *out)
{
	double sum = 0;
	size_t done = 0;

	each_component(c, t)
	{
		size_t end;

		sum += breakdown_share(b, c) / 100;
		end = (size_t)(sum * width + 0.5);
		buf_fill(out, marks[MIN(c, (u32)sizeof(marks) - 2)], end > done ? end - done : 0);
		done = MAX(done, end);
	}
}

static void add_bars(const struct taxonomy *t, const struct breakdown *sides, size_t n, u32 width,
		     struct result *ret)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		buf_addch(&out, '|');
		add_bar(t, &sides[i], width, &out);
		buf_addf(&out, "|%s%s\n", n > 1 ? " " : "", n > 1 ? sides[i].title : "");
	}
	result_text(ret, buf_str(&out));
}

/* --- symbols -------------------------------------------------------------------------------- */

static const struct column symbol_columns[] = {
	{ "share", "SHARE", VALUE_PERCENT, 0 },
	{ "samples", "SAMPLES", VALUE_COUNT, 0 },
	{ "component", "COMPONENT", VALUE_TEXT, 0 },
	{ "kernel", "KERNEL", VALUE_BOOL, COLUMN_HIDDEN },
	{ "recording", "RECORDING", VALUE_TEXT, COLUMN_HIDDEN },
	{ "symbol", "SYMBOL", VALUE_TEXT, COLUMN_FILL },
};

/* @only: of this component, COMPONENT_UNMAPPED + 1 for all. Returns how many were left out. */
static size_t symbol_rows(const struct taxonomy *t, const struct breakdown *b, u32 only, u32 most,
			  struct result *ret, struct table *table)
{
	size_t shown = 0, hidden = 0;

	vec_each(s, &b->symbols) {
		struct row *row;

		if (only <= COMPONENT_UNMAPPED && s->component != only)
			continue;
		if (most && shown >= most) {
			hidden++;
			continue;
		}
		shown++;
		row = table_row(ret, table);
		row->cells[0] = value_d(VALUE_PERCENT, 100 * (double)s->weight / (double)b->total);
		row->cells[1] = value_u(VALUE_COUNT, s->samples);
		row->cells[2] = value_text(ret, component_name(t, s->component));
		row->cells[3] = value_u(VALUE_BOOL, s->is_kernel);
		row->cells[4] = value_text(ret, b->title);
		row->cells[5] = value_text(ret, intern_get(&b->strings, s->name));
	}
	return hidden;
}

static void symbols_table(const struct taxonomy *t, const struct breakdown *sides, size_t n,
			  const struct components_opts *opts, struct result *ret)
{
	struct table *table =
		result_table(ret, "symbols", "symbols", symbol_columns, ARRAY_SIZE(symbol_columns));
	size_t hidden = 0;

	for (size_t i = 0; i < n; i++)
		hidden += symbol_rows(t, &sides[i], COMPONENT_UNMAPPED + 1, opts->max_lines, ret,
				      table);
	if (hidden)
		result_note(ret, NOTE_INFO, "--all shows them", "%zu symbols are not shown",
			    hidden);
}

static void unmapped_table(const struct taxonomy *t, const struct breakdown *sides, size_t n,
			   const struct components_opts *opts, struct result *ret)
{
	struct table *table = result_table(ret, "unmapped", "unmapped: no rule is about these",
					   symbol_columns, ARRAY_SIZE(symbol_columns));
	size_t hidden = 0;

	for (size_t i = 0; i < n; i++)
		hidden += symbol_rows(t, &sides[i], COMPONENT_UNMAPPED,
				      opts->max_lines ? MIN(opts->max_lines, 10u) : 0, ret, table);
	if (hidden)
		result_note(ret, NOTE_INFO, "--all shows them", "%zu more symbols are unmapped",
			    hidden);
}

/* --- all ------------------------------------------------------------------------------------ */

void components_report(const struct taxonomy *t, const struct breakdown *sides, size_t n,
		       const struct components_opts *opts, struct result *ret)
{
	bool unmapped = false;
	double covered = 100;

	for (size_t i = 0; i < n; i++) {
		const struct breakdown *b = &sides[i];

		unmapped |= b->weight[COMPONENT_UNMAPPED] != 0;
		if (b->kernel)
			covered = MIN(covered,
				      100 - 100 * (double)b->kernel_unmapped / (double)b->kernel);
	}
	result_fact(ret, "kernel_covered", "kernel time with a component",
		    value_d(VALUE_PERCENT, covered));
	components_table(t, sides, n, ret);
	add_bars(t, sides, n, opts->bar_width, ret);
	if (opts->symbols)
		symbols_table(t, sides, n, opts, ret);
	else if (unmapped)
		unmapped_table(t, sides, n, opts, ret);
	skid_note(n ? sides[0].skid : 0, true, ret);
	if (covered < 95)
		result_note(ret, NOTE_WARNING,
			    "--symbols lists them; --taxonomy FILE.tsv adds rules of your own",
			    "%.1f%% of the kernel's time has no component", 100 - covered);
}
