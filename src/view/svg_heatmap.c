/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_heatmap.h"

#include "base/fmt.h"
#include "view/look.h"
#include "view/svg.h"
#include "view/svg_asset.h"

#include <math.h>

enum {
	PAD = 20, /* left of the texts */
	LEFT = 74,
	RIGHT = 20,
	TOP = 84,
	BOTTOM = 62,
	WIDTH_USUAL = 1100,
	HEIGHT_USUAL = 420,
	TICKS = 10,
	TICK_WIDTH = 64, /* room for the text of one */
	TICK_HEIGHT = 20,
	RAMP_STEPS = 40,
};

struct picture {
	const struct heatmap *heat;
	const struct heat_view *view;
	struct buf *out;
	struct buf ticks; /* texts, which do not stretch with the cells */
	double cell_width, cell_height;
};

static const char *const line_names[HEAT_LINES] = { "p50", "p90", "p99" };

double heat_of(const struct heatmap *h, u64 count, bool log_count)
{
	if (!count || !h->most)
		return 0;
	if (log_count)
		return log1p((double)count) / log1p((double)h->most);
	return (double)count / (double)h->most;
}

void heat_edge_text(const struct heatmap *h, u64 edge, struct buf *out)
{
	if (h->kind == HEAT_UTILIZATION)
		buf_addf(out, "%llu%%", (unsigned long long)edge / 100);
	else if (h->kind == HEAT_SUBSECOND && edge % NSEC_PER_MSEC == 0)
		buf_addf(out, "%llums", (unsigned long long)(edge / NSEC_PER_MSEC));
	else
		fmt_duration(out, edge);
}

static double heat_of_cell(const struct picture *p, u32 column, u32 row)
{
	const struct heatmap *h = p->heat;

	if (h->shares && h->most_share > 0 && !p->view->log_count)
		return h->shares[(size_t)column * h->rows + row] / h->most_share;
	return heat_of(h, heatmap_cell(h, column, row), p->view->log_count);
}

/* Non-zero cells are always visible. */
static void add_color(struct buf *out, double heat)
{
	look_add(out, look_of_heat(0.12 + 0.88 * heat));
}

static void add_text(struct picture *p, const char *s)
{
	svg_escape(p->out, s, strlen(s), true);
}

static double x_of(const struct picture *p, u32 column)
{
	return LEFT + column * p->cell_width;
}

static double y_of(const struct picture *p, double row)
{
	return TOP + (p->heat->rows - row) * p->cell_height;
}

/* Seconds on the recording's clock. */
static void add_seconds(struct buf *out, u64 ns)
{
	buf_addf(out, "%.6g", (double)ns / 1e9);
}

/* --- cells ---------------------------------------------------------------------------------- */

static void add_cell_title(struct picture *p, u32 column, u32 row, u64 count)
{
	const struct heatmap *h = p->heat;

	buf_addf(p->out, "<title>%.3fs +", (double)(h->start + column * h->step) / 1e9);
	fmt_duration(p->out, column * h->step);
	buf_addstr(p->out, h->kind == HEAT_SUBSECOND ? ", offset " : ", ");
	heat_edge_text(h, h->edges[row], p->out);
	buf_addstr(p->out, " to ");
	heat_edge_text(h, h->edges[row + 1], p->out);
	buf_addstr(p->out, ": ");
	fmt_count(p->out, count);
	buf_addf(p->out, " %s</title>", heatmap_noun(h));
}

static void add_cells(struct picture *p)
{
	const struct heatmap *h = p->heat;

	buf_addf(p->out,
		 "<rect class=\"field\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\"/>\n"
		 "<g id=\"cells\">\n",
		 LEFT, TOP, h->columns * p->cell_width, h->rows * p->cell_height);
	for (u32 column = 0; column < h->columns; column++) {
		for (u32 row = 0; row < h->rows; row++) {
			u64 count = heatmap_cell(h, column, row);
			double heat = heat_of_cell(p, column, row);

			if (heat <= 0)
				continue;
			buf_addf(p->out,
				 "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
				 "fill=\"",
				 x_of(p, column), y_of(p, row + 1.0), p->cell_width,
				 p->cell_height);
			add_color(p->out, heat);
			buf_addf(p->out, "\" data-c=\"%u\" data-r=\"%u\">", column, row);
			add_cell_title(p, column, row, count);
			buf_addstr(p->out, "</rect>\n");
		}
	}
	buf_addstr(p->out, "</g>\n");
}

static void add_lines(struct picture *p)
{
	const struct heatmap *h = p->heat;

	for (int i = 0; i < HEAT_LINES && h->kind == HEAT_LATENCY; i++) {
		bool down = false;

		buf_addf(p->out, "<path class=\"line %s\" d=\"", line_names[i]);
		for (u32 c = 0; c < h->columns; c++) {
			double y;

			if (!h->lines[i][c]) {
				down = false;
				continue;
			}
			y = y_of(p, heatmap_height(h, h->lines[i][c]));
			if (down)
				buf_addf(p->out, "L%.1f %.1f", x_of(p, c) + p->cell_width / 2, y);
			else
				buf_addf(p->out, "M%.1f %.1fh%.1f", x_of(p, c), y,
					 p->cell_width / 2);
			down = true;
		}
		buf_addf(p->out, "\"><title>%s</title></path>\n", line_names[i]);
	}
}

/* --- axes ----------------------------------------------------------------------------------- */

static void add_row_tick(struct picture *p, u64 edge, double row)
{
	buf_addf(&p->ticks, "<text class=\"tick value\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">",
		 LEFT - 6, y_of(p, row) + 4);
	heat_edge_text(p->heat, edge, &p->ticks);
	buf_addstr(&p->ticks, "</text>\n");
	buf_addf(p->out, "<path class=\"grid\" d=\"M%d %.1fh%.1f\"/>\n", LEFT, y_of(p, row),
		 p->heat->columns * p->cell_width);
}

/* Each row stands for a longer time than the one below. */
static bool is_logarithmic(const struct heatmap *h)
{
	return h->kind == HEAT_LATENCY && h->rows > 1 &&
	       h->edges[h->rows] - h->edges[h->rows - 1] > 2 * (h->edges[1] - h->edges[0]);
}

/* 1, 2 and 5 times powers of ten, or only those when there is no room for the others. */
static void add_round_ticks(struct picture *p)
{
	const struct heatmap *h = p->heat;
	u64 first = h->edges[0], last = h->edges[h->rows];
	double decades = log10((double)last / (double)MAX(first, 1ull));
	bool all = h->rows * p->cell_height > 3 * decades * TICK_HEIGHT;

	for (u64 power = 1; power <= last && power < UINT64_MAX / 10; power *= 10)
		for (int i = 0; i < (all ? 3 : 1); i++) {
			u64 value = power * (u64[]){ 1, 2, 5 }[i];

			if (value >= first && value <= last)
				add_row_tick(p, value, heatmap_height(h, value));
		}
}

static void add_rows_axis(struct picture *p)
{
	const struct heatmap *h = p->heat;
	u32 every = MAX(1u, h->rows / TICKS);

	if (is_logarithmic(h)) {
		add_round_ticks(p);
		return;
	}
	for (u32 row = 0; row <= h->rows; row += every)
		add_row_tick(p, h->edges[row], row);
}

/* To 1, 2 or 5 times a power of ten. */
static u32 round_up(u32 n)
{
	u32 power = 1;

	while (5 * power < n && power < UINT32_MAX / 50)
		power *= 10;
	return n <= power ? power : n <= 2 * power ? 2 * power : 5 * power;
}

static void add_time_axis(struct picture *p)
{
	const struct heatmap *h = p->heat;
	u32 every = MAX(1u, (u32)ceil((double)h->columns / TICKS));

	every = round_up(MAX(every, (u32)ceil(TICK_WIDTH / p->cell_width)));
	for (u32 c = 0; c <= h->columns; c += every) {
		buf_addf(&p->ticks,
			 "<text class=\"tick time\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">+",
			 x_of(p, c), y_of(p, 0) + 18);
		add_seconds(&p->ticks, c * h->step);
		buf_addstr(&p->ticks, "s</text>\n");
	}
}

static void add_range(struct picture *p)
{
	const struct heatmap *h = p->heat;

	buf_addf(p->out,
		 "<text class=\"soft\" x=\"%d\" y=\"%.1f\" id=\"range\" role=\"status\" "
		 "aria-live=\"polite\">",
		 PAD, y_of(p, 0) + 40);
	if (p->view->file) {
		buf_addstr(p->out, "a range as a flame graph: fathom flame -i ");
		add_text(p, p->view->file);
		if (p->view->event) {
			buf_addstr(p->out, " --event ");
			add_text(p, p->view->event);
		}
		buf_addf(p->out, " --time %.3f,%.3f", (double)h->start / 1e9,
			 (double)(h->start + h->columns * h->step) / 1e9);
		buf_addstr(p->out, " -o range.svg");
	}
	buf_addstr(p->out, "</text>\n");
}

static void add_legend(struct picture *p)
{
	const struct heatmap *h = p->heat;
	double x = PAD, y = TOP - 13;

	buf_addf(p->out,
		 "<g id=\"legend\"><g transform=\"translate(%.0f,%.0f)\"><g class=\"ramp\">", x, y);
	for (int i = 0; i < RAMP_STEPS; i++) {
		buf_addf(p->out, "<rect x=\"%d\" y=\"-10\" width=\"4\" height=\"10\" fill=\"",
			 4 * i);
		add_color(p->out, i / (RAMP_STEPS - 1.0));
		buf_addstr(p->out, "\"/>");
	}
	buf_addf(p->out, "</g><text class=\"soft\" x=\"%d\" y=\"0\">", 4 * RAMP_STEPS + 8);
	if (h->shares && h->most_share > 0 && !p->view->log_count) {
		buf_addf(p->out, "up to %.2g %s</text></g>\n", h->most_share, heatmap_noun(h));
	} else {
		buf_addstr(p->out, "1 to ");
		fmt_count(p->out, h->most);
		buf_addf(p->out, " %s%s</text></g>\n", heatmap_noun(h),
			 p->view->log_count ? ", logarithmic" : "");
	}
	for (int i = 0; i < HEAT_LINES && h->kind == HEAT_LATENCY; i++)
		buf_addf(p->out,
			 "<g transform=\"translate(%.1f,%.1f)\"><path class=\"line %s\" d=\"M0 "
			 "-4h18\"/>"
			 "<text class=\"soft\" x=\"22\" y=\"0\">%s</text></g>\n",
			 x + 440 + 70 * i, y, line_names[i], line_names[i]);
	buf_addstr(p->out, "</g>\n");
}

/* --- all ------------------------------------------------------------------------------------ */

static const char *kind_name(const struct heatmap *h)
{
	static const char *const names[] = { "subsecond", "latency", "utilization" };

	return names[h->kind];
}

static void begin(struct picture *p)
{
	const struct heatmap *h = p->heat;
	double width = LEFT + RIGHT + h->columns * p->cell_width;
	double height = TOP + BOTTOM + h->rows * p->cell_height;

	width = MAX(width, 720);
	buf_addf(p->out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture heat\" width=\"100%%\" "
		 "viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"xMinYMin\" role=\"group\" "
		 "aria-labelledby=\"name\" font-family=\"" SVG_FONT "\" "
		 "font-size=\"12\" data-kind=\"%s\" data-start=\"%llu\" data-step=\"%llu\" "
		 "data-rows=\"%u\" data-columns=\"%u\" data-left=\"%d\" data-top=\"%d\" "
		 "data-cw=\"%.4f\" data-ch=\"%.4f\" data-file=\"",
		 width, height, kind_name(h), (unsigned long long)h->start,
		 (unsigned long long)h->step, h->rows, h->columns, LEFT, TOP, p->cell_width,
		 p->cell_height);
	add_text(p, p->view->file ? p->view->file : "");
	buf_addstr(p->out, "\" data-event=\"");
	add_text(p, p->view->event ? p->view->event : "");
	buf_addstr(p->out, "\">\n<title id=\"name\">");
	add_text(p, p->view->title);
	buf_addstr(p->out, "</title>\n<style>\n");
	svg_asset("web/picture.css", p->out);
	svg_asset("web/heatmap-svg.css", p->out);
	buf_addf(p->out, "</style>\n<g id=\"head\"><text class=\"heading\" x=\"%d\" y=\"26\">",
		 PAD);
	add_text(p, p->view->title);
	buf_addf(p->out, "</text>\n<text class=\"soft fact\" x=\"%d\" y=\"44\">", PAD);
	add_text(p, p->view->subtitle ? p->view->subtitle : "");
	buf_addstr(p->out, "</text>\n");
	add_legend(p);
	buf_addstr(p->out, "</g>\n");
}

void svg_heatmap(const struct heatmap *h, const struct heat_view *v, struct buf *out)
{
	struct picture p = { .heat = h, .view = v, .out = out };

	p.cell_width = MAX((double)WIDTH_USUAL / h->columns, 1);
	p.cell_height = MIN(MAX((double)HEIGHT_USUAL / h->rows, 3), 24);
	begin(&p);
	buf_addstr(out, "<g id=\"plot\">\n");
	add_cells(&p);
	add_rows_axis(&p);
	add_lines(&p);
	buf_addstr(out, "</g>\n");
	add_time_axis(&p);
	buf_addstr(out, buf_str(&p.ticks));
	add_range(&p);
	buf_addstr(out, "<script><![CDATA[\n");
	svg_asset("web/heatmap-svg.js", out);
	buf_addstr(out, "]]></script>\n</svg>\n");
	buf_release(&p.ticks);
}
