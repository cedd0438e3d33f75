/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boxes of a machine as a picture; loads are colours, and several of them are played. */
#include "view/topology_form.h"

#include "base/fmt.h"
#include "view/look.h"
#include "view/svg.h"
#include "view/svg_asset.h"

enum { CELL_W = 8, CELL_H = 18, MARGIN = 12, HEAD = 34, LETTER = 11 };

/* lstopo's colours, a little lighter; the style sheet has them for both themes. */
static const char *class_of(enum topo_type type)
{
	switch (type) {
	case TOPO_MACHINE:
	case TOPO_CACHE: return "plain";
	case TOPO_PACKAGE: return "package";
	case TOPO_DIE: return "die";
	case TOPO_GROUP: return "group";
	case TOPO_CORE: return "core";
	default: return "other";
	}
}

static int px(u32 cells, int cell)
{
	return MARGIN + (int)cells * cell;
}

static void add_text(struct buf *out, u32 x, u32 y, const char *text, const char *attrs)
{
	buf_addf(out, "<text x=\"%d\" y=\"%d\"%s>", px(x, CELL_W),
		 HEAD + px(y, CELL_H) + CELL_H - 5, attrs);
	svg_escape(out, text, strlen(text), true);
	buf_addstr(out, "</text>\n");
}

static void add_box(struct buf *out, const struct topo_layout *l, const struct topo_box *b)
{
	_cleanup_buf_ struct buf cpus = BUF_INIT;

	if (b->obj->cpus)
		topo_cpu_list(l->tree, b->obj->cpus, &cpus);
	buf_addf(out,
		 "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"><title>",
		 class_of(b->obj->type), px(b->x, CELL_W), HEAD + px(b->y, CELL_H) - 2,
		 (int)b->w * CELL_W - 4, (int)b->h * CELL_H - 4);
	svg_escape(out, b->title, strlen(b->title), true);
	if (cpus.len)
		buf_addf(out, ", CPUs %s", buf_str(&cpus));
	buf_addstr(out, "</title></rect>\n");
	add_text(out, b->x + 1, b->y, b->title, " class=\"t\"");
}

static void add_color(struct buf *out, double share)
{
	look_add(out, look_of_heat(share));
}

/* One value per moment, played a second each. */
static void add_play(struct buf *out, const struct topo_obj *o, const struct topo_load *loads,
		     size_t n, bool width, double full)
{
	buf_addf(out,
		 "<animate attributeName=\"%s\" calcMode=\"discrete\" dur=\"%zus\" "
		 "repeatCount=\"indefinite\" values=\"",
		 width ? "width" : "fill", n);
	for (size_t i = 0; i < n; i++) {
		double share = topo_share(o, &loads[i]);

		if (i)
			buf_addch(out, ';');
		if (width)
			buf_addf(out, "%.1f", full * (share < 0 ? 0 : share));
		else
			add_color(out, share);
	}
	buf_addstr(out, "\"/>");
}

static void add_tooltip(struct buf *out, const struct topo_obj *o, const struct topo_load *load)
{
	size_t i = (size_t)o->index;

	buf_addstr(out, "<title>");
	if (o->type == TOPO_CPU)
		buf_addf(out, "CPU %d: %.0f%% busy, %u runnable, %.0f interrupts/s", o->index,
			 100 * load->cpus[i].busy, load->cpus[i].queue, load->cpus[i].interrupts);
	else
		buf_addf(out, "node %d: %.0f%% of its memory used, %.0f pages/s allocated",
			 o->index, 100 * load->nodes[i].used, load->nodes[i].pages);
	buf_addstr(out, "</title>");
}

static void add_load(struct buf *out, const struct topo_line *l, const struct topo_load *loads,
		     size_t n)
{
	double share = topo_share(l->obj, &loads[0]), full = TOPO_BAR * CELL_W;
	int x = px(l->x + l->w - TOPO_BAR - 5, CELL_W), y = HEAD + px(l->y, CELL_H) + 3;

	if (share < 0)
		return;
	buf_addf(out,
		 "<g class=\"load\"><rect class=\"rim\" x=\"%d\" y=\"%d\" width=\"%.0f\" "
		 "height=\"%d\"/>",
		 x, y, full, CELL_H - 6);
	buf_addf(out, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"", x, y,
		 full * share, CELL_H - 6);
	add_color(out, share);
	buf_addstr(out, "\">");
	if (n > 1) {
		add_play(out, l->obj, loads, n, true, full);
		add_play(out, l->obj, loads, n, false, full);
	}
	buf_addstr(out, "</rect>");
	add_tooltip(out, l->obj, &loads[0]);
	buf_addf(out, "<text x=\"%d\" y=\"%d\">%.0f%%</text></g>\n", x + (int)full + 4,
		 y + CELL_H - 8, 100 * share);
}

void topology_form_svg(const struct topo_layout *l, const struct topo_load *loads, size_t n_loads,
		       const char *title, struct buf *out)
{
	int w = MAX(px(l->w, CELL_W), (int)fmt_width(title) * LETTER + MARGIN) + MARGIN,
	    h = HEAD + px(l->h, CELL_H) + MARGIN;

	buf_addf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture topology\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"name\" "
		"font-family=\"" SVG_FONT "\" font-size=\"12\">\n<style>\n",
		w, h, w, h);
	svg_asset("web/picture.css", out);
	svg_asset("web/topology-svg.css", out);
	buf_addf(out, "</style>\n<text id=\"name\" class=\"heading\" x=\"%d\" y=\"26\">", MARGIN);
	svg_escape(out, title, strlen(title), true);
	buf_addstr(out, "</text>\n");
	vec_each(b, &l->boxes)
		add_box(out, l, b);
	vec_each(line, &l->lines) {
		add_text(out, line->x, line->y, line->text, "");
		if (line->obj && n_loads)
			add_load(out, line, loads, n_loads);
	}
	buf_addstr(out, "</svg>\n");
}
