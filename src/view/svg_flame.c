/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg.h"

#include "base/fmt.h"
#include "analysis/plumbing.h"
#include "base/parse.h"
#include "view/look.h"
#include "view/svg_asset.h"

#include <ctype.h>
#include <math.h>

enum {
	HEADING_ROW = 32, /* heights of the lines above the boxes */
	LINE_ROW = 17,
	FOOT = 10,
	SWATCH = 11,
	SIZE_MOST = 100000, /* pixels */
};

#define GAP_LEAST 0.2 /* pixels of boxes that are not drawn */

struct picture {
	const struct flame *flame;
	const struct svg_opts *opts;
	struct svg_colors colors;
	svg_legend legend;
	struct buf *out;
	bool utf8;
	double width;
	double top;    /* where the boxes begin */
	double height; /* of everything */
	double scale;  /* weight -> pixels */
	double unit;   /* weight -> counts, with the factor */
	struct buf subtitle;
};

/* --- checks -------------------------------------------------------------------------------- */

struct background {
	const char *name;
	const char *from, *to;
};

static const struct background backgrounds[] = {
	{ "yellow", "#eeeeee", "#eeeeb0" }, { "blue", "#eeeeee", "#e0e0ff" },
	{ "green", "#eef2ee", "#e0ffe0" },  { "grey", "#f8f8f8", "#e8e8e8" },
	{ "gray", "#f8f8f8", "#e8e8e8" },   { "white", "#ffffff", "#ffffff" },
};

static const struct background *find_background(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(backgrounds); i++)
		if (streq(backgrounds[i].name, name))
			return &backgrounds[i];
	return NULL;
}

static bool is_color(const char *s)
{
	size_t n = strspn(s + (*s == '#'), "0123456789abcdefABCDEF");

	return *s == '#' && n == 6 && !s[7];
}

static int check_size(const char *what, double v, double least, struct err *e)
{
	if (v >= least && v <= SIZE_MOST)
		return 0;
	return err_set(e, ERANGE, "%s %g is not between %g and %d", what, v, least, SIZE_MOST);
}

int svg_opts_check(const struct svg_opts *o, struct err *e)
{
	int r = check_size("height", o->height, 4, e);

	if (r >= 0)
		r = check_size("fontsize", o->fontsize, 1, e);
	if (r >= 0)
		r = check_size("fontwidth", o->fontwidth, 0.1, e);
	if (r >= 0 && o->width > 0)
		r = check_size("width", o->width, 100, e);
	if (r < 0)
		return r;
	if (o->factor <= 0)
		return err_set(e, ERANGE, "factor %g is not above 0", o->factor);
	if (o->bgcolors && !find_background(o->bgcolors) && !is_color(o->bgcolors)) {
		err_set(e, EINVAL, "'%s' is not a background", o->bgcolors);
		err_hint(e, "yellow, blue, green, grey or #rrggbb");
		return -EINVAL;
	}
	if (o->encoding &&
	    (!*o->encoding || o->encoding[strspn(o->encoding, "ABCDEFGHIJKLMNOPQRSTUVW"
							      "XYZabcdefghijklmnopqrs"
							      "tuvwxyz0123456789._-")]))
		return err_set(e, EINVAL, "'%s' is not the name of an encoding", o->encoding);
	return 0;
}

int svg_min_share(const char *text, double width, double *ret, struct err *e)
{
	bool percent = ends_with(text, "%");
	double v, room = (width > 0 ? width : SVG_WIDTH) - 2 * SVG_PAD;
	int r = percent ? parse_percent(text, &v, e) : parse_double(text, &v, e);

	if (r < 0)
		return r;
	if (v < 0 || (percent && v > 100))
		return err_set(e, ERANGE, "minwidth '%s' is not possible", text);
	*ret = percent ? v / 100 : v / room;
	return 0;
}

/* --- small pieces -------------------------------------------------------------------------- */

static void add_text(struct picture *pic, const char *s)
{
	svg_escape(pic->out, s, strlen(s), pic->utf8);
}

/* A number with up to three digits after the point. */
static void add_number(struct buf *out, double v)
{
	u64 n = (u64)(v * 1000 + 0.5), part = n % 1000;

	buf_addu(out, n / 1000);
	if (!part)
		return;
	buf_addch(out, '.');
	for (u64 unit = 100; part; part %= unit, unit /= 10) {
		buf_addch(out, (char)('0' + part / unit));
		if (unit == 1)
			break;
	}
}

static double linear(u8 channel)
{
	double v = channel / 255.0;

	return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* White letters have more contrast there than black ones: by WCAG's luminance either has 4.5. */
static bool is_dark(struct rgb c)
{
	return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b) < 0.179;
}

/* --- heading ------------------------------------------------------------------------------- */

static bool is_flat(enum svg_palette p)
{
	return p >= PALETTE_RED;
}

static const char *background_name(const struct picture *pic)
{
	const struct svg_colors_opts *c = &pic->colors.opts;

	if (pic->opts->bgcolors)
		return pic->opts->bgcolors;
	if (pic->colors.own)
		return "white";
	if (pic->flame->tree.base)
		return "grey"; /* white boxes must be seen */
	switch (c->palette) {
	case PALETTE_MEM: return "green";
	case PALETTE_IO:
	case PALETTE_WAKEUP:
	case PALETTE_CHAIN: return "blue";
	default: return is_flat(c->palette) ? "grey" : "yellow";
	}
}

static void add_styles(struct picture *pic)
{
	const char *name = background_name(pic);
	const struct background *known = find_background(name);
	const char *from = known ? known->from : name, *to = known ? known->to : name;

	buf_addstr(pic->out, "<style>\n");
	svg_asset("web/picture.css", pic->out);
	svg_asset("web/flame-svg.css", pic->out);
	/* a requested colour applies in dark mode, too */
	buf_addf(pic->out, "@media %s { svg.flame { --back-1: %s; --back-2: %s%s } }\n</style>\n",
		 pic->opts->bgcolors ? "all" : "not all and (prefers-color-scheme: dark)", from, to,
		 pic->opts->bgcolors ? "; --ink: #111; --soft: #555; --label: #000; --fade: 1"
				     : "");
	buf_addf(pic->out,
		 "<defs><linearGradient id=\"background\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">"
		 "<stop class=\"back-1\" stop-color=\"%s\" offset=\"5%%\"/>"
		 "<stop class=\"back-2\" stop-color=\"%s\" offset=\"95%%\"/>"
		 "</linearGradient></defs>\n",
		 from, to);
}

static void begin_svg(struct picture *pic)
{
	const struct svg_opts *o = pic->opts;

	buf_addf(pic->out,
		 "<?xml version=\"1.0\" encoding=\"%s\" standalone=\"no\"?>\n"
		 "<svg version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" "
		 "xmlns:xlink=\"http://www.w3.org/1999/xlink\" class=\"picture flame\" "
		 "role=\"group\" "
		 "aria-labelledby=\"name\" aria-describedby=\"about\" "
		 "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		 "data-pad=\"%d\" data-row=\"%g\" data-char=\"%g\" data-width=\"%.0f\" "
		 "data-top=\"%g\" data-inverted=\"%d\" data-fluid=\"%d\" font-size=\"%g\" "
		 "font-family=\"",
		 o->encoding ? o->encoding : "UTF-8", pic->width, pic->height, pic->width,
		 pic->height, SVG_PAD, o->height, o->fontsize * o->fontwidth, pic->width, pic->top,
		 o->inverted, o->width <= 0, o->fontsize);
	add_text(pic, o->fonttype);
	buf_addstr(pic->out, "\" data-nametype=\"");
	add_text(pic, o->nametype);
	buf_addstr(pic->out, "\">\n<title id=\"name\">");
	add_text(pic, o->title);
	buf_addstr(pic->out, "</title>\n<desc id=\"about\">");
	add_text(pic, buf_str(&pic->subtitle));
	buf_addstr(pic->out, pic->subtitle.len ? ". " : "");
	buf_addf(pic->out,
		 "Each box is a function; the one %s called it; its width is its share of the "
		 "whole. Boxes left out because they are too narrow: %llu. Arrow keys move, Enter "
		 "zooms, Escape goes back, / searches, n and N go through the matches.",
		 o->inverted ? "above it" : "below it", (unsigned long long)pic->flame->narrow);
	if (o->notes && *o->notes) {
		buf_addstr(pic->out, " Notes: ");
		add_text(pic, o->notes);
	}
	buf_addstr(pic->out, "</desc>\n");
}

static double text_width(const struct picture *pic, const char *s)
{
	return (double)fmt_width(s) * pic->opts->fontsize * pic->opts->fontwidth;
}

static double legend_width(const struct picture *pic, const struct svg_legend_entry *l)
{
	return SWATCH + 5 + text_width(pic, l->text) + (l->share >= 0 ? 5 : 0) * 7 + 16;
}

static u32 legend_rows(const struct picture *pic)
{
	double x = SVG_PAD;
	u32 rows = pic->legend.len != 0;

	vec_each(l, &pic->legend) {
		if (x + legend_width(pic, l) > pic->width && x > SVG_PAD) {
			x = SVG_PAD;
			rows++;
		}
		x += legend_width(pic, l);
	}
	return rows;
}

static void add_legend(struct picture *pic, double y)
{
	double x = SVG_PAD;

	buf_addstr(pic->out, "<g id=\"legend\">\n");
	vec_each(l, &pic->legend) {
		if (x + legend_width(pic, l) > pic->width && x > SVG_PAD) {
			x = SVG_PAD;
			y += LINE_ROW;
		}
		buf_addf(pic->out,
			 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"",
			 x, y - SWATCH + 1, SWATCH, SWATCH);
		look_add(pic->out, l->color);
		buf_addf(pic->out, "\"/><text class=\"soft\" x=\"%.1f\" y=\"%.1f\">",
			 x + SWATCH + 5, y);
		add_text(pic, l->text);
		if (l->share >= 0)
			buf_addf(pic->out, " %.1f%%", 100 * l->share);
		buf_addstr(pic->out, "</text>\n");
		x += legend_width(pic, l);
	}
	buf_addstr(pic->out, "</g>\n");
}

static void add_heading(struct picture *pic)
{
	double y = HEADING_ROW - 8;

	buf_addf(pic->out,
		 "<g id=\"head\">\n<rect class=\"cover\" data-wide=\"1\" width=\"%.0f\" "
		 "height=\"%.1f\" fill=\"none\"/>\n<text class=\"heading\" x=\"%d\" y=\"%.1f\">",
		 pic->width, pic->top - 2, SVG_PAD, y);
	add_text(pic, pic->opts->title);
	buf_addstr(pic->out, "</text>\n");
	if (pic->subtitle.len) {
		y += LINE_ROW;
		buf_addf(pic->out, "<text id=\"subtitle\" class=\"soft fact\" x=\"%d\" y=\"%.1f\">",
			 SVG_PAD, y);
		add_text(pic, buf_str(&pic->subtitle));
		buf_addstr(pic->out, "</text>\n");
	}
	if (pic->legend.len)
		add_legend(pic, y + LINE_ROW);
	buf_addf(pic->out,
		 "<text id=\"details\" role=\"status\" aria-live=\"polite\" x=\"%d\" y=\"%.1f\">"
		 "</text>\n</g>\n",
		 SVG_PAD, pic->top - 7);
}

/* --- boxes --------------------------------------------------------------------------------- */

static void add_amount(struct picture *pic, const struct calltree_node *n)
{
	if (!pic->opts->countname && pic->opts->factor == 1) {
		flame_amount(pic->flame, n->total, n->count, pic->out);
		return;
	}
	fmt_count(pic->out, (u64)((double)n->total * pic->unit + 0.5));
	buf_addch(pic->out, ' ');
	add_text(pic, pic->opts->countname ? pic->opts->countname : "samples");
}

static void add_growth(struct picture *pic, const struct flame_box *b)
{
	const struct flame *f = pic->flame;
	double growth = (double)flame_growth(f, b), before = (double)f->tree.base[b->node];
	double sign = pic->opts->colors.negate ? -1 : 1;
	const char *text = flame_change_text(flame_change(f, b));

	buf_addf(pic->out, "; %+.2f%%", sign * 100 * growth / f->whole);
	if (f->relative && before > 0)
		buf_addf(pic->out, " = %+.1f%% of before", sign * 100 * growth / before);
	if (text)
		buf_addf(pic->out, ", %s", text);
}

static void add_ratio(struct picture *pic, const struct flame_box *b)
{
	double ratio = flame_ratio(pic->flame, b);

	buf_addstr(pic->out, "; ");
	flame_ratio_name(pic->flame, pic->out);
	if (isnan(ratio))
		buf_addstr(pic->out, " of too few samples");
	else
		buf_addf(pic->out, " %.3g", ratio * flame_ratio_unit(pic->flame));
}

/* "; 70.0% on CPU, 30.0% blocked" */
static void add_states(struct picture *pic, const struct flame_box *b)
{
	const struct flame_states *s = &pic->flame->states[b->node];
	double all = (double)MAX(flame_node(pic->flame, b)->total, 1ull);
	const char *between = "; ";

	for (int i = 0; i < HOT_STATES; i++) {
		if (!s->ns[i])
			continue;
		buf_addf(pic->out, "%s%.1f%% %s", between, 100 * (double)s->ns[i] / all,
			 hotcold_words((enum hotcold_state)i));
		between = ", ";
	}
}

static void add_title(struct picture *pic, const struct flame_box *b, const char *name, size_t len)
{
	const struct calltree_node *n = flame_node(pic->flame, b);
	double percent = 100 * (double)n->total / pic->flame->whole;

	buf_addstr(pic->out, "<title>");
	svg_escape(pic->out, name, len, pic->utf8);
	buf_addstr(pic->out, " (");
	add_amount(pic, n);
	buf_addf(pic->out, !b->depth && percent == 100 ? ", %.0f%%" : ", %.2f%%", percent);
	if (pic->flame->states)
		add_states(pic, b);
	if (pic->flame->ratio)
		add_ratio(pic, b);
	else if (pic->flame->tree.base)
		add_growth(pic, b);
	buf_addstr(pic->out, ")</title>");
}

static void add_label(struct picture *pic, const char *name, size_t len, double x, double y,
		      double w)
{
	double letter = pic->opts->fontsize * pic->opts->fontwidth;
	size_t room = w > 4 ? (size_t)((w - 4) / letter) : 0, cut = len;
	_cleanup_free_ char *copy = NULL;

	/* a beginning of a few letters says nothing */
	if (room < MIN(len, (size_t)SVG_LABEL_LEAST))
		return;
	buf_addstr(pic->out, "<text x=\"");
	add_number(pic->out, x + 3);
	buf_addstr(pic->out, "\" y=\"");
	add_number(pic->out, y + pic->opts->height - 4.5);
	buf_addstr(pic->out, "\">");
	/* a name has no more columns than bytes */
	if (len > room) {
		copy = xstrndup(name, len);
		if (fmt_width(copy) > room)
			cut = fmt_cut(copy, room - 1);
	}
	svg_escape(pic->out, name, cut, pic->utf8);
	buf_addstr(pic->out, cut < len ? "&#8230;</text>" : "</text>");
}

/* Links that run code are omitted. */
static bool is_safe_link(const char *value, size_t n)
{
	const char *colon = memchr(value, ':', n), *slash = memchr(value, '/', n);

	return !colon || (slash && slash < colon) || strncasecmp(value, "http:", 5) == 0 ||
	       strncasecmp(value, "https:", 6) == 0 || strncasecmp(value, "mailto:", 7) == 0 ||
	       strncasecmp(value, "file:", 5) == 0;
}

/* The value of "key=value" in tab separated attributes; NULL: not there. */
static const char *find_attr(const char *attrs, const char *key, size_t *ret_len)
{
	size_t n = strlen(key);

	for (const char *p = attrs; p; p = strchr(p, '\t')) {
		p += *p == '\t';
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			*ret_len = strcspn(p + n + 1, "\t");
			return p + n + 1;
		}
	}
	return NULL;
}

static void add_attr(struct picture *pic, const char *attrs, const char *key, const char *as)
{
	size_t len;
	const char *value = find_attr(attrs, key, &len);

	if (!value)
		return;
	buf_addf(pic->out, " %s=\"", as);
	svg_escape(pic->out, value, len, pic->utf8);
	buf_addch(pic->out, '"');
}

static const char *attrs_of(const struct picture *pic, const char *name, size_t len)
{
	const struct svg_nameattr *a = pic->opts->nameattr;
	u32 id = a ? intern_find(&a->names, name, len) : 0;

	return id ? a->attrs.items[id] : NULL;
}

/* "<g>", with the attributes and the link that the name has; true if a link was opened */
static bool begin_box(struct picture *pic, const char *attrs, bool fold)
{
	const char *href;
	size_t len;

	buf_addstr(pic->out, fold ? "<g class=\"fold\"" : "<g");
	if (attrs) {
		add_attr(pic, attrs, "id", "id");
		add_attr(pic, attrs, "class", "class");
		add_attr(pic, attrs, "style", "style");
	}
	buf_addch(pic->out, '>');
	href = attrs ? find_attr(attrs, "href", &len) : NULL;
	if (!href || !is_safe_link(href, len))
		return false;
	buf_addstr(pic->out, "<a");
	add_attr(pic, attrs, "href", "xlink:href");
	if (find_attr(attrs, "target", &len))
		add_attr(pic, attrs, "target", "target");
	else
		buf_addstr(pic->out, " target=\"_top\"");
	buf_addch(pic->out, '>');
	return true;
}

static void add_box_title(struct picture *pic, const struct flame_box *b, const char *name,
			  size_t len, const char *attrs)
{
	size_t n;
	const char *title = attrs ? find_attr(attrs, "title", &n) : NULL;

	if (!title) {
		add_title(pic, b, name, len);
		return;
	}
	buf_addstr(pic->out, "<title>");
	svg_escape(pic->out, title, n, pic->utf8);
	buf_addstr(pic->out, "</title>");
}

static double row_top(const struct picture *pic, u32 depth)
{
	u32 row = pic->opts->inverted ? depth : pic->flame->rows - 1 - depth;

	return pic->top + row * pic->opts->height;
}

static void add_box(struct picture *pic, const struct flame_box *b)
{
	const struct svg_opts *o = pic->opts;
	double x = SVG_PAD + (double)b->start * pic->scale, y = row_top(pic, b->depth);
	double w = (double)flame_node(pic->flame, b)->total * pic->scale;
	size_t len;
	const char *name = flame_name(pic->flame, b, &len), *attrs = attrs_of(pic, name, len);
	bool link = begin_box(pic, attrs, pic->flame->folded && plumbing_is_box(name));
	struct rgb color = svg_color(&pic->colors, b);

	/* the root stands for the whole even if the boxes do not fill it */
	if (!b->depth)
		w = pic->width - 2 * SVG_PAD;
	add_box_title(pic, b, name, len, attrs);
	buf_addstr(pic->out, "<rect x=\"");
	add_number(pic->out, x);
	buf_addstr(pic->out, "\" y=\"");
	add_number(pic->out, y);
	buf_addstr(pic->out, "\" width=\"");
	add_number(pic->out, MAX(w, 0.001));
	buf_addstr(pic->out, "\" height=\"");
	add_number(pic->out, o->height - 1);
	buf_addstr(pic->out, "\" fill=\"");
	look_add(pic->out, color);
	buf_addstr(pic->out, is_dark(color) ? "\" class=\"d\"/>" : "\"/>");
	add_label(pic, name, len, x, y, w);
	buf_addstr(pic->out, link ? "</a></g>\n" : "</g>\n");
}

/* Too narrow to be drawn one by one: as dense as they are, not nothing. */
static void add_gap(struct picture *pic, const struct flame_gap *g)
{
	u32 depth = pic->flame->boxes.items[g->parent].depth + 1;
	double w = (double)g->weight * pic->scale;

	if (w < GAP_LEAST || depth >= pic->flame->rows)
		return;
	buf_addf(pic->out, "<g class=\"rest\"><title>%u narrow boxes (", g->count);
	flame_amount(pic->flame, g->weight, g->samples, pic->out);
	buf_addf(pic->out, ", %.2f%%)</title><rect x=\"",
		 100 * (double)g->weight / pic->flame->whole);
	add_number(pic->out, SVG_PAD + (double)g->start * pic->scale);
	buf_addstr(pic->out, "\" y=\"");
	add_number(pic->out, row_top(pic, depth));
	buf_addstr(pic->out, "\" width=\"");
	add_number(pic->out, w);
	buf_addstr(pic->out, "\" height=\"");
	add_number(pic->out, pic->opts->height - 1);
	buf_addstr(pic->out, "\" fill=\"#d9dce1\"/></g>\n");
}

static void add_boxes(struct picture *pic)
{
	const struct flame *f = pic->flame;
	size_t gap = 0;

	for (size_t i = 0; i <= f->boxes.len; i++) {
		while (gap < f->gaps.len && f->gaps.items[gap].at == i)
			add_gap(pic, &f->gaps.items[gap++]);
		if (i < f->boxes.len)
			add_box(pic, &f->boxes.items[i]);
	}
}

/* The same with nothing folded, for a script to show. */
static void add_whole(const struct picture *folded)
{
	const struct flame *f = folded->opts->whole;
	struct picture pic = *folded;

	pic.flame = f;
	pic.scale = (pic.width - 2 * SVG_PAD) / f->total;
	svg_colors_init(&pic.colors, f, &folded->opts->colors);
	buf_addf(pic.out,
		 "<g id=\"whole\" class=\"boxes\" aria-label=\"functions\" display=\"none\" "
		 "data-rows=\"%u\">\n",
		 f->rows);
	add_boxes(&pic);
	buf_addstr(pic.out, "</g>\n");
}

/* --- all ----------------------------------------------------------------------------------- */

static void measure(struct picture *pic)
{
	const struct svg_opts *o = pic->opts;
	u32 lines = legend_rows(pic) + (pic->subtitle.len != 0) + 1;

	pic->top = HEADING_ROW + lines * LINE_ROW;
	pic->height = pic->top + pic->flame->rows * o->height + FOOT;
	pic->scale = (pic->width - 2 * SVG_PAD) / pic->flame->total;
	pic->unit = o->factor / (double)flame_scale(pic->flame->profile, pic->flame->event);
}

void svg_flame(const struct flame *f, const struct svg_opts *opts, struct buf *out)
{
	struct picture pic = {
		.flame = f,
		.opts = opts,
		.out = out,
		.utf8 = !opts->encoding || strcasecmp(opts->encoding, "utf-8") == 0 ||
			strcasecmp(opts->encoding, "utf8") == 0,
		.width = opts->width > 0 ? opts->width : SVG_WIDTH,
	};

	if (opts->subtitle)
		buf_addstr(&pic.subtitle, opts->subtitle);
	else
		flame_subtitle(f, &pic.subtitle);
	if (!opts->subtitle && f->deep)
		buf_addf(&pic.subtitle, ", %.2f%% goes deeper than is shown",
			 100 * (double)f->deep_weight / f->whole);
	svg_colors_init(&pic.colors, f, &opts->colors);
	svg_colors_legend(&pic.colors, &pic.legend);
	measure(&pic);
	begin_svg(&pic);
	add_styles(&pic);
	buf_addf(
		out,
		"<rect data-wide=\"1\" width=\"%.0f\" height=\"%.0f\" fill=\"url(#background)\"/>\n"
		"<g id=\"frames\" class=\"boxes\" aria-label=\"functions\" data-rows=\"%u\">\n",
		pic.width, pic.height, f->rows);
	add_boxes(&pic);
	buf_addstr(out, "</g>\n");
	if (f->folded && opts->whole)
		add_whole(&pic);
	add_heading(&pic);
	buf_addstr(out, "<script><![CDATA[\n");
	svg_asset("web/flame-svg.js", out);
	buf_addstr(out, "]]></script>\n</svg>\n");
	buf_release(&pic.subtitle);
	vec_release(&pic.legend);
}
