/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/perf_form.h"

#include "base/fmt.h"

enum { COLUMNS_MOST = 32, PERCENT_WIDTH = 8, COUNT_WIDTH = 12, WIDE = 14 };

enum look {
	LOOK_PERCENT,
	LOOK_COUNT,
	LOOK_TEXT,
	LOOK_DELTA,
	LOOK_VALUE,
	LOOK_WIDE,
	LOOK_SYS,
	LOOK_USER
};

/* Keys of our tables, perf's words for them in -F, and its titles. */
static const struct known {
	const char *key, *field, *title;
	enum look look;
} known[] = {
	{ "children", "overhead_children", "Children", LOOK_PERCENT },
	{ "self", "overhead", "Overhead", LOOK_PERCENT },
	{ "self", "overhead_sys", "sys", LOOK_SYS },
	{ "self", "overhead_us", "usr", LOOK_USER },
	{ "samples", "sample", "Samples", LOOK_COUNT },
	{ "period", "period", "Period", LOOK_COUNT },
	{ "comm", "comm", "Command", LOOK_TEXT },
	{ "dso", "dso", "Shared Object", LOOK_TEXT },
	{ "symbol", "symbol", "Symbol", LOOK_TEXT },
	{ "symbol", "sym", "Symbol", LOOK_TEXT },
	{ "pid", "pid", "Pid", LOOK_TEXT },
	{ "tid", "tid", "Tid", LOOK_TEXT },
	{ "cpu", "cpu", "CPU", LOOK_TEXT },
	{ "cgroup", "cgroup", "Cgroup", LOOK_TEXT },
	{ "event", "event", "Event", LOOK_TEXT },
	{ "parent", "parent", "Parent symbol", LOOK_TEXT },
	{ "srcline", "srcline", "Source:Line", LOOK_TEXT },
	{ "time", "time", "Time", LOOK_TEXT },
	{ "baseline", "baseline", "Baseline", LOOK_PERCENT },
};

struct shown {
	const char *title;
	size_t column; /* of the table */
	enum look look;
	int width;
};

struct layout {
	struct shown items[COLUMNS_MOST];
	size_t n;
	char titles[COLUMNS_MOST][32]; /* of comparisons */
	size_t symbol;                 /* the column that says whose code it is; SIZE_MAX: none */
};

static size_t column_of(const struct table *t, const char *key)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (streq(t->columns[i].key, key))
			return i;
	return SIZE_MAX;
}

static void add_column(struct layout *l, const struct table *t, const struct known *k)
{
	size_t at = column_of(t, k->key);

	if (at == SIZE_MAX || l->n == COLUMNS_MOST)
		return;
	l->items[l->n++] = (struct shown){ .title = k->title, .column = at, .look = k->look };
}

static const struct known *find_field(const char *field, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i].field) == n && memcmp(known[i].field, field, n) == 0)
			return &known[i];
	return NULL;
}

static void choose_fields(struct layout *l, const struct table *t, const char *fields)
{
	while (*fields) {
		size_t n = strcspn(fields, ", ");
		const struct known *k = find_field(fields, n);

		if (k)
			add_column(l, t, k);
		fields += n + strspn(fields + n, ", ");
	}
}

static bool is_wanted(const struct known *k, const struct perf_form *f)
{
	if (k->look == LOOK_SYS || k->look == LOOK_USER)
		return f->modes;
	if (streq(k->key, "samples"))
		return f->samples;
	if (streq(k->key, "period"))
		return f->period;
	return !streq(k->field, "sym");
}

static void choose_usual(struct layout *l, const struct table *t, const struct perf_form *f)
{
	bool children = column_of(t, "children") != SIZE_MAX;

	/* what is counted first, then the keys in the order of the table */
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].look != LOOK_TEXT && is_wanted(&known[i], f))
			add_column(l, t, &known[i]);
	for (size_t c = 0; c < t->n_columns; c++)
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (known[i].look == LOOK_TEXT && is_wanted(&known[i], f) &&
			    streq(known[i].key, t->columns[c].key))
				add_column(l, t, &known[i]);
	for (size_t i = 0; children && i < l->n; i++)
		if (streq(l->items[i].title, "Overhead"))
			l->items[i].title = "Self";
}

static void number_text(const struct shown *s, const struct value *v, bool kernel, struct buf *out)
{
	bool other = (s->look == LOOK_SYS && !kernel) || (s->look == LOOK_USER && kernel);

	if (!v->type)
		return;
	if (s->look == LOOK_COUNT || s->look == LOOK_WIDE)
		buf_addf(out, "%llu", (unsigned long long)v->u);
	else if (s->look == LOOK_VALUE)
		buf_addstr(out, v->s);
	else if (s->look == LOOK_DELTA)
		buf_addf(out, "%+.2f%%", v->d);
	else
		buf_addf(out, "%.2f%%", other ? 0.0 : v->d);
}

static void cell_text(const struct layout *l, const struct row *row, const struct shown *s,
		      struct buf *out)
{
	const struct value *v = &row->cells[s->column];
	const char *who = l->symbol != SIZE_MAX ? row->cells[l->symbol].s : NULL;

	buf_reset(out);
	if (s->look != LOOK_TEXT)
		number_text(s, v, who && strncmp(who, "[k]", 3) == 0, out);
	else if (v->type == VALUE_TEXT)
		fmt_clean(out, v->s, strlen(v->s));
	else if (v->type)
		buf_addf(out, "%llu", (unsigned long long)v->u);
	/* perf's name of it */
	if (s->look == LOOK_TEXT && streq(buf_str(out), "[kernel]")) {
		buf_reset(out);
		buf_addstr(out, "[kernel.kallsyms]");
	}
}

static void measure(struct layout *l, const struct table *t)
{
	_cleanup_buf_ struct buf cell = BUF_INIT;

	for (size_t i = 0; i < l->n; i++) {
		struct shown *s = &l->items[i];

		s->width = MAX((int)strlen(s->title),
			       s->look == LOOK_COUNT                           ? COUNT_WIDTH
			       : s->look == LOOK_WIDE || s->look == LOOK_VALUE ? WIDE
			       : s->look == LOOK_TEXT                          ? 0
									       : PERCENT_WIDTH);
		if (s->look != LOOK_TEXT)
			continue;
		vec_each(row, &t->rows) {
			cell_text(l, row, s, &cell);
			s->width = MAX(s->width, (int)fmt_width(buf_str(&cell)));
		}
	}
}

static void add_padded(const char *text, int width, bool left, struct buf *out)
{
	int blanks = MAX(width - (int)fmt_width(text), 0);

	buf_addf(out, "%*s%s%*s", left ? 0 : blanks, "", text, left ? blanks : 0, "");
}

static void add_heading(const struct layout *l, const struct perf_form *f, struct buf *out)
{
	buf_addstr(out, "# ");
	for (size_t i = 0; i < l->n; i++) {
		const struct shown *s = &l->items[i];

		buf_addstr(out, !i ? "" : f->separator ? f->separator : "  ");
		if (f->separator)
			buf_addstr(out, s->title);
		else
			add_padded(s->title, s->width, s->look == LOOK_TEXT, out);
	}
	buf_addch(out, '\n');
	if (f->separator)
		return;
	buf_addstr(out, "# ");
	for (size_t i = 0; i < l->n; i++) {
		buf_addstr(out, i ? "  " : "");
		for (int n = 0; n < l->items[i].width; n++)
			buf_addch(out, '.');
	}
	buf_addstr(out, "\n#\n");
}

static void add_row(const struct layout *l, const struct row *row, const struct perf_form *f,
		    struct buf *cell, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct shown *s = &l->items[i];
		bool last = i + 1 == l->n;

		buf_addstr(out, f->separator ? (i ? f->separator : "") : "  ");
		cell_text(l, row, s, cell);
		add_padded(buf_str(cell),
			   f->separator || (last && s->look == LOOK_TEXT) ? 0 : s->width,
			   s->look == LOOK_TEXT, out);
	}
	buf_addch(out, '\n');
}

/* The columns of a comparison, after the first: one or two for each file. */
static const struct compared {
	const char *prefix, *title;
	enum look look;
} compared[] = {
	{ "base_period", "Base period", LOOK_WIDE }, { "delta_", "Delta Abs", LOOK_DELTA },
	{ "ratio_", "Ratio", LOOK_VALUE },           { "wdiff_", "Weighted diff", LOOK_VALUE },
	{ "period_", "Period", LOOK_WIDE },
};

static const struct compared *compared_column(const struct column *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++)
		if (starts_with(c->key, compared[i].prefix))
			return &compared[i];
	return NULL;
}

/* With several files the titles have their numbers. */
static const char *numbered(const char *title, const char *number, size_t files, char *text,
			    size_t size)
{
	if (files < 2)
		return title;
	snprintf(text, size, "%s/%s", title, number);
	return text;
}

static void add_deltas(struct layout *l, const struct table *t, const struct perf_form *f)
{
	struct shown added[COLUMNS_MOST];
	size_t n = 0, files = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		const struct compared *k = compared_column(&t->columns[c]);

		files += k && (k->look == LOOK_DELTA || k->look == LOOK_VALUE);
	}
	for (size_t c = 0; files && c < t->n_columns && l->n + n < COLUMNS_MOST; c++) {
		const struct compared *k = compared_column(&t->columns[c]);
		const char *title = k && k->look == LOOK_DELTA && f->delta ? f->delta
				    : k                                    ? k->title
									   : "";

		if (!k)
			continue;
		added[n] = (struct shown){ .column = c, .look = k->look };
		title = numbered(title,
				 streq(k->prefix, "base_period")
					 ? "0"
					 : t->columns[c].key + strlen(k->prefix),
				 files, l->titles[c % COLUMNS_MOST], sizeof(l->titles[0]));
		added[n++].title = title;
	}
	if (!n)
		return;
	memmove(&l->items[1 + n], &l->items[1], (l->n - 1) * sizeof(l->items[0]));
	memcpy(&l->items[1], added, n * sizeof(added[0]));
	if (files > 1)
		l->items[0].title = "Baseline/0";
	l->n += n;
}

void perf_form_table(const struct table *t, const struct perf_form *f, struct buf *out)
{
	struct layout l = { .symbol = column_of(t, "symbol") };
	_cleanup_buf_ struct buf cell = BUF_INIT;

	if (f->fields)
		choose_fields(&l, t, f->fields);
	else
		choose_usual(&l, t, f);
	add_deltas(&l, t, f);
	measure(&l, t);
	if (!f->quiet)
		add_heading(&l, f, out);
	vec_each(row, &t->rows)
		add_row(&l, row, f, &cell, out);
}

/* "4K", and perf's blank where there is no letter. */
static void add_short_count(u64 n, struct buf *out)
{
	static const char units[] = " KMGT";
	size_t unit = 0;

	for (; n >= 1000 && unit + 2 < sizeof(units); unit++)
		n /= 1000;
	buf_addf(out, "%llu%c", (unsigned long long)n, units[unit]);
}

static void add_lost(const struct result *r, struct buf *out)
{
	u64 lost = 0;

	vec_each(loss, &r->losses)
		if (streq(loss->key, "lost_samples"))
			lost = loss->count;
	buf_addf(out, "#\n# Total Lost Samples: %llu\n", (unsigned long long)lost);
}

static const struct profile_event *next_event(const struct profile *p, size_t *at)
{
	while (*at < p->events.len && !p->events.items[*at].samples)
		++*at;
	return *at < p->events.len ? &p->events.items[(*at)++] : NULL;
}

void perf_form_report(const struct result *r, const struct profile *p, const struct perf_form *f,
		      struct buf *out)
{
	size_t at = 0;

	if (!f->quiet) {
		buf_addstr(out, "# To display the perf.data header info, please use "
				"--header/--header-only options.\n#\n");
		add_lost(r, out);
	}
	vec_each(section, &r->sections) {
		const struct profile_event *ev;

		if (section->type != SECTION_TABLE)
			continue;
		ev = next_event(p, &at);
		if (ev && !f->quiet) {
			buf_addstr(out, "#\n# Samples: ");
			add_short_count(ev->samples, out);
			buf_addf(out, " of event '%s'\n# Event count (approx.): %llu\n#\n",
				 profile_str(p, ev->name), (unsigned long long)ev->weight);
		}
		perf_form_table(section->table, f, out);
		buf_addstr(out, "\n\n");
	}
}
