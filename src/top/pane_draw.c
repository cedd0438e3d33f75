/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/pane_draw.h"

#include <math.h>

#include "base/clock.h"
#include "base/fmt.h"

enum { WIDTH_MOST = 40, ROWS_MEASURED = 200, LABEL_WIDTH = 21, HEAT_LABEL = 9 };

const char *pane_form_name(enum pane_form f)
{
	static const char *const names[PANE_FORMS] = { "as it comes", "table", "histogram",
						       "heat map" };

	return f < PANE_FORMS ? names[f] : "";
}

/* --- tables ----------------------------------------------------------------------------------- */

enum unit { UNIT_NONE, UNIT_TIME, UNIT_BYTES, UNIT_NUMBER };

struct shown {
	const struct pane_table *t;
	bool newest_first;
	enum unit units[PANE_COLUMNS];
};

static enum unit unit_of(const char *kinds, size_t column)
{
	size_t n;

	for (; kinds && column && *kinds; column--) {
		kinds += strcspn(kinds, " ");
		kinds += *kinds == ' ';
	}
	if (!kinds)
		return UNIT_NONE;
	n = strcspn(kinds, " ");
	if (n == 8 && !strncmp(kinds, "duration", n))
		return UNIT_TIME;
	if (n == 5 && !strncmp(kinds, "bytes", n))
		return UNIT_BYTES;
	return n == 5 && !strncmp(kinds, "count", n) ? UNIT_NUMBER : UNIT_NONE;
}

static void add_number(double v, enum unit unit, const char *text, struct buf *out)
{
	switch (unit) {
	case UNIT_TIME: fmt_duration(out, (u64)MAX(v, 0.0)); break;
	case UNIT_BYTES: fmt_size(out, (u64)MAX(v, 0.0)); break;
	case UNIT_NUMBER: fmt_count(out, (u64)MAX(v, 0.0)); break;
	case UNIT_NONE: buf_addstr(out, text ? text : ""); break;
	}
}

static const struct pane_cell *cell_at(const struct shown *s, int row, size_t column)
{
	size_t n = s->t->rows.len, i = s->newest_first ? n - 1 - (size_t)row : (size_t)row;

	return &s->t->rows.items[i]->cells[column];
}

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct shown *s = ctx;
	const struct pane_cell *c = cell_at(s, row, column);

	if (c->is_number)
		add_number(c->number, s->units[column], c->text, out);
	else
		buf_addstr(out, c->text ? c->text : "");
	return ROLE_TEXT;
}

static void measure(struct shown *s, struct table_column *columns)
{
	int rows = MIN((int)s->t->rows.len, ROWS_MEASURED);

	for (size_t i = 0; i < s->t->n_columns; i++) {
		int width = (int)fmt_width(s->t->keys[i]) + 1;
		bool numbers = rows > 0;

		for (int k = 0; k < rows; k++) {
			_cleanup_buf_ struct buf text = BUF_INIT;
			const struct pane_cell *c = cell_at(s, k, i);

			(void)cell(s, k, i, &text);
			width = MAX(width, (int)fmt_width(buf_str(&text)));
			numbers &= c->is_number || !c->text || !*c->text;
		}
		columns[i] =
			(struct table_column){ s->t->keys[i], MIN(width, WIDTH_MOST), numbers };
	}
	/* the last one takes what is left */
	if (s->t->n_columns && !columns[s->t->n_columns - 1].right)
		columns[s->t->n_columns - 1].width = 0;
}

void pane_draw_table(struct grid *g, struct rect r, const struct pane_table *t, bool newest_first,
		     const char *kinds, struct list *l)
{
	struct table_column columns[PANE_COLUMNS];
	struct shown s = { .t = t, .newest_first = newest_first };
	struct table_view view = { .columns = columns, .sorted = -1, .cell = cell, .ctx = &s };

	if (!t->n_columns) {
		grid_text(g, r.x, r.y, r.w, "nothing in the last interval", ROLE_DIM);
		return;
	}
	for (size_t i = 0; i < t->n_columns; i++)
		s.units[i] = unit_of(kinds, i);
	measure(&s, columns);
	view.n_columns = t->n_columns;
	table_draw(g, r, &view, l, (int)t->rows.len);
}

/* --- histograms ------------------------------------------------------------------------------- */

static void add_bound(double v, const char *unit, struct buf *out)
{
	add_number(v,
		   unit && streq(unit, "ns")      ? UNIT_TIME
		   : unit && streq(unit, "bytes") ? UNIT_BYTES
						  : UNIT_NUMBER,
		   NULL, out);
}

static void draw_bucket(struct grid *g, struct rect r, const struct pane_hist *h,
			const struct pane_bucket *b, u64 most)
{
	_cleanup_buf_ struct buf label = BUF_INIT;
	int room = r.w - LABEL_WIDTH - 10, eighths;

	add_bound(b->low, h->unit, &label);
	buf_addstr(&label, " .. ");
	add_bound(b->high + 1, h->unit, &label);
	grid_text_right(g, r.x, r.y, LABEL_WIDTH, buf_str(&label), ROLE_TEXT);
	grid_textf(g, r.x + LABEL_WIDTH + 1, r.y, 8, ROLE_BOLD, "%7llu",
		   (unsigned long long)b->count);
	if (room < 1 || !most)
		return;
	eighths = (int)((double)b->count / (double)most * room * 8 + 0.5);
	for (int x = 0; x < room && eighths > 0; x++, eighths -= 8)
		grid_bar(g, r.x + LABEL_WIDTH + 10 + x, r.y, MIN(eighths, 8), ROLE_RUN);
}

/* Returns the lines that it took, as if there were room for all. */
static int draw_hist(struct grid *g, struct rect r, const struct pane_hist *h)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	u64 most = 0;
	int y = 1;

	buf_addf(&head, "%s%s", h->label ? h->label : "", h->label && *h->label ? ": " : "");
	fmt_count(&head, h->count);
	buf_addstr(&head, "  median ");
	add_bound(h->p50, h->unit, &head);
	buf_addstr(&head, "  99% ");
	add_bound(h->p99, h->unit, &head);
	buf_addstr(&head, "  99.9% ");
	add_bound(h->p999, h->unit, &head);
	if (r.h > 0)
		grid_text(g, r.x, r.y, r.w, buf_str(&head), ROLE_BOLD);
	vec_each(b, &h->buckets)
		most = MAX(most, b->count);
	vec_each(b, &h->buckets) {
		if (y < r.h)
			draw_bucket(g, (struct rect){ r.x, r.y + y, r.w, 1 }, h, b, most);
		y++;
	}
	return y;
}

static void draw_hists(struct grid *g, struct rect r, const struct pane *p, struct list *l)
{
	int y = 0, skip;

	l->place = r;
	l->n = (int)p->look.hists.len;
	skip = l->cursor = MIN(MAX(l->cursor, 0), MAX(l->n - 1, 0));
	vec_each(h, &p->look.hists) {
		if (skip-- > 0)
			continue;
		if (y >= r.h)
			break;
		y += draw_hist(g, (struct rect){ r.x, r.y + y, r.w, r.h - y }, h) + 1;
	}
	if (!p->look.hists.len)
		grid_text(g, r.x, r.y, r.w, "nothing in the last interval", ROLE_DIM);
}

/* --- the heat map ----------------------------------------------------------------------------- */

/* From cool to hot, of the 256 colours. */
static const s16 heat[] = { 17, 19, 21, 27, 33, 39, 45, 51, 87, 123, 159, 195, 229, 228, 227, 226 };

static void draw_heat_cell(struct grid *g, int x, int y, u64 count, u64 most)
{
	static const char marks[] = ".:-=+*#%@";
	/* a few among many still show */
	double share = most ? log1p((double)count) / log1p((double)most) : 0;
	size_t i = (size_t)(share * (ARRAY_SIZE(heat) - 1) + 0.5);

	if (!count)
		return;
	if (g->theme->colored)
		grid_color(g, (struct rect){ x, y, 1, 1 }, heat[MIN(i, ARRAY_SIZE(heat) - 1)]);
	else
		grid_put(g, x, y, (u32)marks[(size_t)(share * (sizeof(marks) - 2) + 0.5)],
			 ROLE_TEXT);
}

/* Lines are powers of two: of what the tool divides finer there is no room. */
static int line_of(double low, int lowest)
{
	return (low < 1 ? 0 : (int)log2(low)) - lowest;
}

static void bounds_of(const struct pane *p, int *ret_low, int *ret_high)
{
	*ret_low = 64;
	*ret_high = 0;
	vec_each(m, &p->past) {
		vec_each(b, &m->buckets) {
			*ret_low = MIN(*ret_low, line_of(b->low, 0));
			*ret_high = MAX(*ret_high, line_of(b->low, 0));
		}
	}
}

static void draw_heat_labels(struct grid *g, struct rect r, const struct pane *p, int low,
			     int lines)
{
	const char *unit = p->look.hists.len ? p->look.hists.items[0].unit : NULL;

	for (int i = 0; i < lines; i++) {
		_cleanup_buf_ struct buf label = BUF_INIT;

		add_bound(low + i ? exp2(low + i) : 0, unit ? unit : "ns", &label);
		grid_text_right(g, r.x, r.y + lines - 1 - i, HEAT_LABEL - 1, buf_str(&label),
				ROLE_DIM);
	}
}

static void draw_heat(struct grid *g, struct rect r, const struct pane *p)
{
	int low, high, lines, columns = r.w - HEAT_LABEL;
	size_t from;
	u64 most = 0;

	bounds_of(p, &low, &high);
	lines = MIN(high - low + 1, r.h - 1);
	if (low > high || lines < 1 || columns < 1) {
		grid_text(g, r.x, r.y, r.w, "a heat map is made of histograms: none came so far",
			  ROLE_DIM);
		return;
	}
	from = p->past.len > (size_t)columns ? p->past.len - (size_t)columns : 0;
	draw_heat_labels(g, r, p, low, lines);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = from; i < p->past.len; i++) {
			u64 counts[64] = { 0 };

			vec_each(b, &p->past.items[i].buckets)
				counts[MIN(line_of(b->low, low), lines - 1)] += b->count;
			for (int k = 0; k < lines; k++) {
				int x = r.x + HEAT_LABEL + columns - (int)(p->past.len - i);

				most = MAX(most, counts[k]);
				if (pass)
					draw_heat_cell(g, x, r.y + lines - 1 - k, counts[k], most);
			}
		}
	}
	grid_textf(g, r.x + HEAT_LABEL, r.y + lines, columns, ROLE_DIM,
		   "a column is a second; at most %llu in a cell", (unsigned long long)most);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void draw_state(struct grid *g, struct rect r, const struct pane *p)
{
	if (*p->why) {
		int y = 0;

		for (const char *s = p->why; *s && y < r.h; y++) {
			size_t n = strcspn(s, "\n");
			_cleanup_free_ char *line = xstrndup(s, n);

			grid_text(g, r.x, r.y + y, r.w, line, ROLE_BAD);
			s += n + (s[n] == '\n');
		}
		return;
	}
	grid_textf(g, r.x, r.y, r.w, ROLE_DIM, p->feed ? "%s begins..." : "%s has ended",
		   p->command ? p->command : "");
}

void pane_draw(struct grid *g, struct rect r, const struct pane *p, enum pane_form form,
	       const char *kinds, struct list *l)
{
	const struct pane_table *t = pane_table(p, NULL);

	if (r.h < 1)
		return;
	if (*p->why || !p->any) {
		draw_state(g, r, p);
		return;
	}
	if (form == PANE_AUTO)
		form = p->look.hists.len || !t ? PANE_HISTOGRAM : PANE_TABLE;
	if (form == PANE_HEATMAP)
		draw_heat(g, r, p);
	else if (form == PANE_HISTOGRAM)
		draw_hists(g, r, p, l);
	else if (t)
		pane_draw_table(g, r, t, p->rows, kinds, l);
	else
		grid_text(g, r.x, r.y, r.w, "it has no table", ROLE_DIM);
}
