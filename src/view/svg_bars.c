/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_bars.h"

#include "base/fmt.h"
#include "view/svg.h"
#include "view/svg_asset.h"

enum {
	BAR_HEIGHT = 44,
	BAR_GAP = 30,
	LEFT = 20,
	WIDTH = 1100,
	TOP = 56,
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

static void add_piece(struct bars *b, const struct breakdown *side, u32 c, double from, double y)
{
	double share = breakdown_share(side, c), x = LEFT + from * WIDTH / 100;
	double w = share * WIDTH / 100;

	if (share <= 0)
		return;
	buf_addstr(b->out, "<g><title>");
	add_text(b, name_of(b, c));
	buf_addf(b->out,
		 ": %.2f%%, %llu samples</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
		 "height=\"%d\" fill=\"%s\"/>",
		 share, (unsigned long long)side->samples[c], x, y, w, BAR_HEIGHT, color_of(b, c));
	if (share >= LABEL_LEAST) {
		buf_addf(b->out, "<text class=\"in\" x=\"%.2f\" y=\"%.1f\">", x + w / 2,
			 y + BAR_HEIGHT / 2.0 + 5);
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

	buf_addf(b->out, "<text x=\"%d\" y=\"%.1f\">", LEFT, y - 6);
	add_text(b, side->title);
	buf_addf(b->out, "  <tspan class=\"soft\">");
	add_text(b, side->facts);
	buf_addf(b->out, "</tspan></text>\n");
	for (u32 c = 0;; c = next_of(b, c)) {
		add_piece(b, side, c, from, y);
		from += breakdown_share(side, c);
		if (c == COMPONENT_UNMAPPED)
			return;
	}
}

/* --- the table ------------------------------------------------------------------------------ */

static bool is_seen(const struct bars *b, u32 c)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->sides[i].samples[c])
			return true;
	return false;
}

static void add_share(struct bars *b, size_t column, double y, double share, bool change)
{
	buf_addf(b->out, "<text class=\"number\" x=\"%zu\" y=\"%.0f\">",
		 LEFT + NAME_COLUMN + (column + 1) * SHARE_COLUMN - 20, y);
	if (change)
		buf_addf(b->out, "%+.2f</text>", share);
	else
		buf_addf(b->out, "%.2f%%</text>", share);
}

static void add_row(struct bars *b, u32 c, double y)
{
	size_t labelled = MIN(b->n, (size_t)SIDES_LABELLED);

	buf_addf(b->out,
		 "<rect x=\"%d\" y=\"%.0f\" width=\"13\" height=\"13\" rx=\"2\" fill=\"%s\"/>"
		 "<text x=\"%d\" y=\"%.0f\">",
		 LEFT, y - 11, color_of(b, c), LEFT + 20, y);
	add_text(b, name_of(b, c));
	buf_addstr(b->out, "</text>");
	for (size_t i = 0; i < labelled; i++)
		add_share(b, i, y, breakdown_share(&b->sides[i], c), false);
	if (b->n == 2)
		add_share(b, labelled++, y,
			  breakdown_share(&b->sides[1], c) - breakdown_share(&b->sides[0], c),
			  true);
	if (c < b->taxonomy->components.len) {
		buf_addf(b->out, "<text class=\"soft\" x=\"%zu\" y=\"%.0f\">",
			 LEFT + NAME_COLUMN + labelled * SHARE_COLUMN + 10, y);
		add_text(b, b->taxonomy->components.items[c].text);
		buf_addstr(b->out, "</text>");
	}
	buf_addch(b->out, '\n');
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

	for (size_t i = 0; b->n > 1 && i < labelled; i++) {
		buf_addf(b->out, "<text class=\"number soft\" x=\"%zu\" y=\"%.0f\">",
			 LEFT + NAME_COLUMN + (i + 1) * SHARE_COLUMN - 20, y);
		add_head(b, i);
		buf_addstr(b->out, "</text>");
	}
	if (b->n == 2)
		buf_addf(b->out, "<text class=\"number soft\" x=\"%d\" y=\"%.0f\">change</text>",
			 LEFT + NAME_COLUMN + 3 * SHARE_COLUMN - 20, y);
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
				 "<text class=\"soft\" x=\"%d\" y=\"%.0f\">without samples: ", LEFT,
				 y);
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
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bars\" width=\"100%%\" "
		 "viewBox=\"0 0 %d %.0f\" preserveAspectRatio=\"xMinYMin\" role=\"img\" "
		 "aria-labelledby=\"name\" "
		 "font-family=\"" SVG_FONT "\" font-size=\"13\">\n"
		 "<title id=\"name\">",
		 WIDTH + 2 * LEFT, height);
	add_text(b, title);
	buf_addstr(b->out,
		   "</title>\n<style>\n"
		   "svg.bars { background: #fff; min-width: 640px }\n"
		   ".bars g rect { stroke: #fff; stroke-width: .8 }\n.bars text { fill: #16181d }\n"
		   ".bars .heading { font-size: 17px; font-weight: 600 }\n"
		   ".bars .in { fill: #000; pointer-events: none; text-anchor: middle }\n"
		   ".bars .number { text-anchor: end }\n.bars .soft { fill: #676e7a }\n"
		   "@media (prefers-color-scheme: dark) {\n"
		   "svg.bars { background: #15181e }\n"
		   ".bars g rect { stroke: #15181e }\n.bars text { fill: #e8eaee }\n"
		   ".bars .soft { fill: #949ca9 }\n.bars .in { fill: #000 }\n}\n</style>\n");
	buf_addf(b->out, "<text class=\"heading\" x=\"%d\" y=\"26\">", LEFT);
	add_text(b, title);
	buf_addstr(b->out, "</text>\n");
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
