/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_bars.h"

#include "base/fmt.h"
#include "view/svg.h"
#include "view/svg_asset.h"

enum {
	BAR_HEIGHT = 44,
	BAR_GAP = 46, /* two lines of text */
	LEFT = 20,
	WIDTH = 1100,
	TOP = 74,
	ROW = 22, /* of the table below the bars */
	NAME_COLUMN = 190,
	SHARE_COLUMN = 110,
	SIDES_LABELLED = 6, /* more bars than that have no column in the table */
	LETTER = 8,         /* width of one, about */
	LABEL_LEAST = 4,    /* percent: narrower pieces have no number in them */
};

struct bars {
	const struct taxonomy *taxonomy;
	const struct breakdown *sides;
	size_t n;
	struct buf *out;
};

static void add_text(struct bars *b, const char *s)
{
	svg_escape(b->out, s, strlen(s), true);
}

static const char *name_of(const struct bars *b, u32 c)
{
	return c < b->taxonomy->components.len ? b->taxonomy->components.items[c].name : "unmapped";
}

static const char *color_of(const struct bars *b, u32 c)
{
	return c < b->taxonomy->components.len ? b->taxonomy->components.items[c].color : "#d9dce1";
}

static u32 next_of(const struct bars *b, u32 c)
{
	return c + 1 < b->taxonomy->components.len ? c + 1 : COMPONENT_UNMAPPED;
}

/* Of a bar whose top is at 0. */
static void add_piece(struct bars *b, const struct breakdown *side, u32 c, double from)
{
	double share = breakdown_share(side, c), x = LEFT + from * WIDTH / 100;
	double w = share * WIDTH / 100;

	if (share <= 0)
		return;
	buf_addf(b->out, "<g data-from=\"%.4f\" data-share=\"%.4f\"><title>", from, share);
	add_text(b, name_of(b, c));
	buf_addf(b->out,
		 ": %.2f%%, %llu samples</title><rect x=\"%.2f\" y=\"0\" width=\"%.2f\" "
		 "height=\"%d\" fill=\"%s\"/>",
		 share, (unsigned long long)side->samples[c], x, w, BAR_HEIGHT, color_of(b, c));
	if (share >= LABEL_LEAST) {
		buf_addf(b->out, "<text class=\"in\" x=\"%.2f\" y=\"%.1f\">", x + w / 2,
			 BAR_HEIGHT / 2.0 + 5);
		if (w > (double)(LETTER * (strlen(name_of(b, c)) + 7))) {
			add_text(b, name_of(b, c));
			buf_addch(b->out, ' ');
		}
		buf_addf(b->out, "%.1f%%</text>", share);
	}
	buf_addstr(b->out, "</g>\n");
}

static void add_bar(struct bars *b, const struct breakdown *side, double y)
{
	double from = 0;

	buf_addf(b->out,
		 "<g class=\"bar\" transform=\"translate(0,%.0f)\"><text class=\"name\" x=\"%d\" "
		 "y=\"-23\">",
		 y, LEFT);
	add_text(b, side->title);
	buf_addf(b->out, "</text><text class=\"soft about\" x=\"%d\" y=\"-6\">", LEFT);
	add_text(b, side->facts);
	buf_addstr(b->out, "</text>\n<g class=\"pieces\">");
	for (u32 c = 0;; c = next_of(b, c)) {
		add_piece(b, side, c, from);
		from += breakdown_share(side, c);
		if (c == COMPONENT_UNMAPPED)
			break;
	}
	buf_addstr(b->out, "</g></g>\n");
}

/* --- the table ------------------------------------------------------------------------------ */

static bool is_seen(const struct bars *b, u32 c)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->sides[i].samples[c])
			return true;
	return false;
}

static void begin_number(struct bars *b, size_t column, const char *look)
{
	buf_addf(b->out, "<text class=\"number%s\" data-column=\"%zu\" x=\"%zu\" y=\"0\">", look,
		 column, LEFT + NAME_COLUMN + (column + 1) * SHARE_COLUMN - 20);
}

static void add_share(struct bars *b, size_t column, double share, bool change)
{
	begin_number(b, column, "");
	buf_addf(b->out, change ? "%+.2f</text>" : "%.2f%%</text>", share);
}

static void add_row(struct bars *b, u32 c, double y)
{
	size_t labelled = MIN(b->n, (size_t)SIDES_LABELLED);

	buf_addf(b->out,
		 "<g class=\"row\" transform=\"translate(0,%.0f)\"><rect x=\"%d\" y=\"-11\" "
		 "width=\"13\" height=\"13\" rx=\"2\" fill=\"%s\"/><text x=\"%d\" y=\"0\">",
		 y, LEFT, color_of(b, c), LEFT + 20);
	add_text(b, name_of(b, c));
	buf_addstr(b->out, "</text>");
	for (size_t i = 0; i < labelled; i++)
		add_share(b, i, breakdown_share(&b->sides[i], c), false);
	if (b->n == 2)
		add_share(b, labelled++,
			  breakdown_share(&b->sides[1], c) - breakdown_share(&b->sides[0], c),
			  true);
	if (c < b->taxonomy->components.len) {
		buf_addf(b->out, "<text class=\"soft text\" x=\"%zu\" y=\"0\">",
			 LEFT + NAME_COLUMN + labelled * SHARE_COLUMN + 10);
		add_text(b, b->taxonomy->components.items[c].text);
		buf_addstr(b->out, "</text>");
	}
	buf_addstr(b->out, "</g>\n");
}

static const char *file_name(const struct bars *b, size_t i)
{
	const char *slash = strrchr(b->sides[i].title, '/');

	return slash ? slash + 1 : b->sides[i].title;
}

/* The file when that fits its column and tells the bars apart, otherwise the bar's number. */
static void add_head(struct bars *b, size_t i)
{
	const char *name = file_name(b, i);
	bool good = LETTER * fmt_width(name) + 10 <= SHARE_COLUMN;

	for (size_t k = 0; k < b->n; k++)
		good &= k == i || !streq(name, file_name(b, k));
	if (good)
		add_text(b, name);
	else
		buf_addf(b->out, "bar %zu", i + 1);
}

static void add_heads(struct bars *b, double y)
{
	size_t labelled = MIN(b->n, (size_t)SIDES_LABELLED);

	buf_addf(b->out, "<g class=\"row\" transform=\"translate(0,%.0f)\">", y);
	for (size_t i = 0; b->n > 1 && i < labelled; i++) {
		begin_number(b, i, " soft");
		add_head(b, i);
		buf_addstr(b->out, "</text>");
	}
	if (b->n == 2) {
		begin_number(b, 2, " soft");
		buf_addstr(b->out, "change</text>");
	}
	buf_addstr(b->out, "</g>\n");
}

/* Components without any bar are only named. */
static void add_unseen(struct bars *b, double y)
{
	bool first = true;

	for (u32 c = 0; c < b->taxonomy->components.len; c++) {
		if (is_seen(b, c))
			continue;
		if (first)
			buf_addf(b->out,
				 "<text class=\"soft unseen\" x=\"%d\" y=\"%.0f\">without "
				 "samples: ",
				 LEFT, y);
		else
			buf_addstr(b->out, ", ");
		add_text(b, name_of(b, c));
		first = false;
	}
	if (!first)
		buf_addstr(b->out, "</text>\n");
}

static void add_table(struct bars *b, double top)
{
	double y = top + ROW;

	add_heads(b, top);
	for (u32 c = 0;; c = next_of(b, c)) {
		if (is_seen(b, c) || c == COMPONENT_UNMAPPED) {
			add_row(b, c, y);
			y += ROW;
		}
		if (c == COMPONENT_UNMAPPED)
			break;
	}
	add_unseen(b, y + 4);
}

static void begin(struct bars *b, const char *title, double height)
{
	buf_addf(b->out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture bars\" width=\"100%%\" "
		 "viewBox=\"0 0 %d %.0f\" preserveAspectRatio=\"xMinYMin\" role=\"img\" "
		 "aria-labelledby=\"name\" "
		 "font-family=\"" SVG_FONT "\" font-size=\"12\">\n"
		 "<title id=\"name\">",
		 WIDTH + 2 * LEFT, height);
	add_text(b, title);
	buf_addstr(b->out, "</title>\n<style>\n");
	svg_asset("web/picture.css", b->out);
	buf_addf(b->out,
		 ".bars .pieces rect { stroke: var(--back); stroke-width: .8 }\n"
		 ".bars .in { fill: #000; pointer-events: none; text-anchor: middle }\n"
		 ".bars .number { text-anchor: end }\n</style>\n"
		 "<g id=\"head\"><text class=\"heading\" x=\"%d\" y=\"26\">",
		 LEFT);
	add_text(b, title);
	buf_addstr(b->out, "</text></g>\n");
}

void svg_bars(const struct taxonomy *t, const struct breakdown *sides, size_t n, const char *title,
	      struct buf *out)
{
	struct bars b = { .taxonomy = t, .sides = sides, .n = n, .out = out };
	double table = TOP + 4 + (double)n * (BAR_HEIGHT + BAR_GAP);
	size_t rows = 2;

	for (u32 c = 0; c < t->components.len; c++)
		rows += is_seen(&b, c);
	begin(&b, title, table + (double)(rows + 1) * ROW);
	for (size_t i = 0; i < n; i++)
		add_bar(&b, &sides[i], TOP + (double)i * (BAR_HEIGHT + BAR_GAP));
	add_table(&b, table);
	buf_addstr(out, "<script><![CDATA[\n");
	svg_asset("web/bars-svg.js", out);
	buf_addstr(out, "]]></script>\n</svg>\n");
}
