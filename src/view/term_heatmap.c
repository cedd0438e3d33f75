/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heat maps in characters: cells are merged until they fit. */
#include "view/svg_heatmap.h"

#include "base/fmt.h"
#include "view/term.h"

enum { LABEL = 9, RAMP = 10, WIDEST = 6 };

struct canvas {
	const struct heatmap *heat;
	const struct heat_view *view;
	struct buf *out;
	u32 columns, rows; /* of cells as they are shown */
	u32 wide;          /* characters of one */
	u32 across, up;    /* cells in one character: as many in each, or lines would differ */
	u64 *cells;
	u64 most;
};

static void shrink(struct canvas *c)
{
	const struct heatmap *h = c->heat;
	u32 width = (u32)MAX(c->view->width - LABEL - 1, 10), height = (u32)MAX(c->view->height, 4);

	c->across = DIV_ROUND_UP(h->columns, width);
	c->up = DIV_ROUND_UP(h->rows, height);
	c->columns = DIV_ROUND_UP(h->columns, c->across);
	c->rows = DIV_ROUND_UP(h->rows, c->up);
	c->wide = MIN(MAX(width / c->columns, 1u), (u32)WIDEST);
	c->cells = xcalloc((size_t)c->columns * c->rows, sizeof(*c->cells));
	for (u32 x = 0; x < h->columns; x++) {
		for (u32 y = 0; y < h->rows; y++) {
			u64 *cell = &c->cells[(size_t)(x / c->across) * c->rows + y / c->up];

			*cell += heatmap_cell(h, x, y);
			c->most = MAX(c->most, *cell);
		}
	}
}

/* 0: nothing, else 1..RAMP. */
static int level_of(const struct canvas *c, u64 count)
{
	struct heatmap scale = { .most = c->most };

	return count ? 1 + (int)(heat_of(&scale, count, c->view->log_count) * (RAMP - 1) + 0.5) : 0;
}

static void add_cell(struct canvas *c, u64 count)
{
	static const char plain[] = " .:-=+*x#%@";
	/* from the 6x6x6 cube of 256 colours: white to dark red */
	static const u8 reds[] = { 0, 230, 229, 223, 216, 209, 203, 202, 196, 160, 124 };
	int level = level_of(c, count);

	if (c->view->color && level) {
		buf_addf(c->out, "\033[48;5;%dm", reds[level]);
		buf_fill(c->out, ' ', c->wide);
		buf_addstr(c->out, "\033[0m");
	} else {
		buf_fill(c->out, plain[level], c->wide);
	}
}

static void add_label(struct canvas *c, u32 row, u32 every)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (row % every == 0)
		heat_edge_text(c->heat, c->heat->edges[row * c->up], &text);
	buf_fill(c->out, ' ', LABEL - 1 - MIN(text.len, (size_t)LABEL - 1));
	buf_addf(c->out, "%s|", buf_str(&text));
}

static void add_axis(struct canvas *c)
{
	const struct heatmap *h = c->heat;
	_cleanup_buf_ struct buf end = BUF_INIT;
	size_t used, width = (size_t)c->columns * c->wide;

	buf_fill(c->out, ' ', LABEL - 1);
	buf_addch(c->out, '+');
	buf_fill(c->out, '-', width);
	buf_addf(c->out, "\n%*s", LABEL, "");
	used = c->out->len;
	buf_addf(c->out, "%.3fs", (double)h->start / 1e9);
	used = c->out->len - used;
	buf_addf(&end, "+%.6gs", (double)(h->columns * h->step) / 1e9);
	if (width > used + end.len + 1) {
		buf_fill(c->out, ' ', width - used - end.len);
		buf_addstr(c->out, buf_str(&end));
	}
	buf_addch(c->out, '\n');
}

static void add_facts(struct canvas *c)
{
	const struct heatmap *h = c->heat;

	buf_addf(c->out, "%*sup to ", LABEL, "");
	fmt_count(c->out, c->most);
	buf_addf(c->out, " %s in a cell%s", heatmap_noun(h),
		 c->view->log_count ? ", logarithmic" : "");
	if (h->idle) {
		buf_addstr(c->out, "; ");
		fmt_count(c->out, h->idle);
		buf_addstr(c->out, " samples of the idle task left out");
	}
	if (h->outside)
		buf_addf(c->out, "; %llu outside of the rows", (unsigned long long)h->outside);
	buf_addch(c->out, '\n');
	if (c->view->file && h->kind != HEAT_LATENCY)
		buf_addf(c->out, "%*sfathom flame -i %s%s%s --time %.3f,%.3f\n", LABEL, "",
			 c->view->file, c->view->event ? " --event " : "",
			 c->view->event ? c->view->event : "", (double)h->start / 1e9,
			 (double)(h->start + h->columns * h->step) / 1e9);
}

void term_heatmap(const struct heatmap *h, const struct heat_view *v, struct buf *out)
{
	struct canvas c = { .heat = h, .view = v, .out = out };
	u32 every;

	shrink(&c);
	every = MAX(1u, c.rows / 6);
	term_add(out, v->title, strlen(v->title), STYLE_STRONG, v->color);
	buf_addf(out, "%s%s\n", v->subtitle ? "  " : "", v->subtitle ? v->subtitle : "");
	for (u32 row = c.rows; row--;) {
		add_label(&c, row, every);
		for (u32 x = 0; x < c.columns; x++)
			add_cell(&c, c.cells[(size_t)x * c.rows + row]);
		buf_addch(out, '\n');
	}
	add_axis(&c);
	add_facts(&c);
	free(c.cells);
}
