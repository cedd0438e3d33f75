/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_graph.h"

#include "analysis/flame.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "view/look.h"
#include "view/svg.h"
#include "view/svg_asset.h"

#include <math.h>

enum {
	PAD = 20,
	TOP = 92,
	LEGEND_Y = 79,
	NAME_MOST = 44,   /* characters of a name that are shown */
	NODE_LEAST = 104, /* "100.0% (100.0%)" fits */
};

struct picture {
	const struct callgraph *graph;
	struct buf *out;
};

static void add_text(struct buf *out, const char *s, size_t n)
{
	svg_escape(out, s, n, true);
}

/* Functions that run much themselves are written larger. */
static double font_of(const struct callgraph *g, const struct callgraph_node *n)
{
	return 11 + 9 * sqrt(callgraph_share(g, n->self) / 100);
}

static void measure(struct callgraph *g)
{
	for (u32 i = 0; i < g->nodes.len; i++) {
		struct callgraph_node *n = &g->nodes.items[i];
		double letters = (double)MIN(fmt_width(callgraph_name(g, i)), (size_t)NAME_MOST);

		n->width = MAX(letters * font_of(g, n) * 0.63 + 16, (double)NODE_LEAST);
		n->height = font_of(g, n) + 26;
	}
}

static const char *const look_words[LOOK_KINDS] = {
	[LOOK_USER] = "user code",  [LOOK_CXX] = "C++",
	[LOOK_KERNEL] = "kernel",   [LOOK_JIT] = "compiled at run time",
	[LOOK_INLINED] = "inlined", [LOOK_INTERPRETED] = "interpreted",
	[LOOK_LABEL] = "marks",
};

/* The kinds that are in the picture. */
static void add_legend(struct picture *p)
{
	const struct callgraph *g = p->graph;
	bool seen[LOOK_KINDS] = { false };
	double x = PAD;

	for (u32 i = 0; i < g->nodes.len; i++)
		seen[look_kind_of(g->nodes.items[i].kind, callgraph_name(g, i))] = true;
	buf_addstr(p->out, "<g id=\"legend\">");
	for (enum look_kind k = 0; k < LOOK_KINDS; k++) {
		if (!seen[k])
			continue;
		buf_addf(p->out,
			 "<rect x=\"%.0f\" y=\"%d\" width=\"11\" height=\"11\" rx=\"2\" fill=\"", x,
			 LEGEND_Y - 10);
		look_add(p->out, look_of_kind(k, 0.5));
		buf_addf(p->out, "\"/><text class=\"soft\" x=\"%.0f\" y=\"%d\">%s</text>", x + 16,
			 LEGEND_Y, look_words[k]);
		x += 34 + 7 * (double)strlen(look_words[k]);
	}
	buf_addstr(p->out, "</g>\n");
}

static void add_node(struct picture *p, u32 i)
{
	const struct callgraph *g = p->graph;
	const struct callgraph_node *n = &g->nodes.items[i];
	const char *name = callgraph_name(g, i), *module = profile_str(g->profile, n->module);
	double x = n->x + PAD, y = n->y + TOP, font = font_of(g, n);
	size_t cut = fmt_cut(name, NAME_MOST - 2), len = strlen(name);

	if (fmt_width(name) <= NAME_MOST)
		cut = len;
	buf_addf(p->out, "<g class=\"node\" data-node=\"%u\" data-name=\"", i);
	add_text(p->out, name, len);
	buf_addstr(p->out, "\" tabindex=\"0\"><title>");
	add_text(p->out, name, len);
	buf_addf(p->out, " total %.2f%%, self %.2f%%", callgraph_share(g, n->total),
		 callgraph_share(g, n->self));
	if (*module) {
		buf_addstr(p->out, ", ");
		add_text(p->out, module, strlen(module));
	}
	buf_addf(p->out,
		 "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\" "
		 "fill=\"",
		 x - n->width / 2, y - n->height / 2, n->width, n->height);
	look_add(p->out,
		 look_of_kind(look_kind_of(n->kind, name), (double)(hash_str(name) % 100) / 99));
	buf_addf(p->out,
		 "\"/><text x=\"%.1f\" y=\"%.1f\" "
		 "font-size=\"%.1f\">",
		 x, y - n->height / 2 + font + 2, font);
	add_text(p->out, name, cut);
	buf_addf(p->out,
		 "%s</text><text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%.1f%% (%.1f%%)</text></g>"
		 "\n",
		 cut < len ? "&#8230;" : "", x, y + n->height / 2 - 6, callgraph_share(g, n->total),
		 callgraph_share(g, n->self));
}

/* --- arcs ----------------------------------------------------------------------------------- */

static void add_path(struct picture *p, const struct callgraph_arc *a)
{
	const struct callgraph_point *points = &p->graph->points.items[a->first_point];

	for (u32 i = 0; i < a->n_points; i++) {
		double x = points[i].x + PAD, y = points[i].y + TOP;

		if (!i) {
			buf_addf(p->out, "M%.1f %.1f", x, y);
		} else {
			double before = points[i - 1].y + TOP, middle = (before + y) / 2;

			buf_addf(p->out, "C%.1f %.1f %.1f %.1f %.1f %.1f", points[i - 1].x + PAD,
				 middle, x, middle, x, y);
		}
	}
}

/* A call of itself: a loop on the right side. */
static void add_loop(struct picture *p, const struct callgraph_node *n)
{
	double x = n->x + PAD + n->width / 2, y = n->y + TOP;

	buf_addf(p->out, "M%.1f %.1fc18 -14 18 22 0 8", x, y - 4);
}

static void add_arc(struct picture *p, const struct callgraph_arc *a)
{
	const struct callgraph *g = p->graph;
	const char *from = callgraph_name(g, a->from), *to = callgraph_name(g, a->to);
	double share = callgraph_share(g, a->weight), width = 0.6 + 3.4 * sqrt(share / 100);

	buf_addf(p->out, "<g class=\"arc\" data-from=\"%u\" data-to=\"%u\"><title>", a->from,
		 a->to);
	add_text(p->out, from, strlen(from));
	buf_addstr(p->out, a->indirect ? " ... " : " &#8594; ");
	add_text(p->out, to, strlen(to));
	buf_addf(p->out, " %.2f%%%s</title><path d=\"", share,
		 a->indirect ? ", through functions that are not shown" : "");
	if (a->from == a->to)
		add_loop(p, &g->nodes.items[a->from]);
	else
		add_path(p, a);
	buf_addf(p->out, "\" stroke-width=\"%.2f\"%s %s=\"url(#tip)\"/></g>\n", width,
		 a->indirect ? " stroke-dasharray=\"5 4\"" : "",
		 a->back ? "marker-start" : "marker-end");
}

/*
 * Beside the end at which fewer arcs meet: there it is plain to which one the number belongs.
 * @arcs: how many begin and end at each node.
 */
static void add_arc_label(struct picture *p, const struct callgraph_arc *a, const u32 *arcs)
{
	double share = callgraph_share(p->graph, a->weight), t;
	const struct callgraph_point *at, *next;
	bool first;

	/* a call of itself has no points */
	if (a->n_points < 2 || share < 1)
		return;
	at = &p->graph->points.items[a->first_point];
	first = arcs[a->back ? a->to : a->from] < arcs[a->back ? a->from : a->to];
	if (!first)
		at += a->n_points - 2;
	next = at + 1;
	/* the curve is straight up and down at its ends and steepest in the middle */
	t = a->n_points == 2 && arcs[a->from] == arcs[a->to] ? 0.5 : first ? 0.25 : 0.72;
	buf_addf(p->out, "<text class=\"share\" x=\"%.1f\" y=\"%.1f\">%.1f%%</text>\n",
		 at->x + (next->x - at->x) * t * t * (3 - 2 * t) + PAD + 4,
		 at->y + (next->y - at->y) * t + TOP + 4, share);
}

static void add_arc_labels(struct picture *p)
{
	const struct callgraph *g = p->graph;
	u32 *arcs = xcalloc(g->nodes.len, sizeof(*arcs));

	vec_each(a, &g->arcs) {
		if (a->from == a->to)
			continue;
		arcs[a->from]++;
		arcs[a->to]++;
	}
	vec_each(a, &g->arcs)
		add_arc_label(p, a, arcs);
	free(arcs);
}

/* --- all ------------------------------------------------------------------------------------ */

static void add_style(struct picture *p)
{
	buf_addstr(p->out, "<style>\n");
	svg_asset("web/picture.css", p->out);
	svg_asset("web/graph-svg.css", p->out);
	buf_addstr(p->out,
		   "</style>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
		   "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
		   "orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n");
}

static void add_left_out(struct picture *p)
{
	const struct callgraph *g = p->graph;

	buf_addf(p->out, "left out: %llu function%s with %.2f%% of the time, %llu call%s",
		 (unsigned long long)g->hidden_nodes, g->hidden_nodes == 1 ? "" : "s",
		 callgraph_share(g, g->hidden_self), (unsigned long long)g->hidden_arcs,
		 g->hidden_arcs == 1 ? "" : "s");
	if (g->trimmed)
		buf_addf(p->out, "; begins where paths part, below %u function%s", g->trimmed,
			 g->trimmed == 1 ? "" : "s");
	if (g->bridged_arcs)
		buf_addf(p->out, ", %llu dashed arc%s beside ways that are drawn",
			 (unsigned long long)g->bridged_arcs, g->bridged_arcs == 1 ? "" : "s");
}

static void begin(struct picture *p, const char *title)
{
	const struct callgraph *g = p->graph;
	double width = MAX(g->width + 2 * PAD, 600), height = g->height + TOP + PAD;

	buf_addf(p->out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture graph\" width=\"%.0f\" "
		 "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" data-top=\"%d\" role=\"group\" "
		 "aria-labelledby=\"name\" font-family=\"" SVG_FONT "\" "
		 "font-size=\"12\">\n<title id=\"name\">",
		 width, height, width, height, TOP);
	add_text(p->out, title, strlen(title));
	buf_addstr(p->out, "</title>\n");
	add_style(p);
}

static void add_head(struct picture *p, const char *title)
{
	const struct callgraph *g = p->graph;
	const char *event = profile_str(g->profile, g->profile->events.items[g->event].name);
	_cleanup_buf_ struct buf origin = BUF_INIT;

	buf_addf(p->out,
		 "<g id=\"head\"><rect class=\"cover\"/><text class=\"heading\" x=\"%d\" y=\"26\">",
		 PAD);
	add_text(p->out, title, strlen(title));
	buf_addf(p->out, "</text>\n<text class=\"soft fact\" x=\"%d\" y=\"44\">", PAD);
	fmt_count(p->out, g->samples);
	buf_addstr(p->out, " samples");
	if (!streq(event, "samples")) {
		buf_addstr(p->out, " of ");
		add_text(p->out, event, strlen(event));
	}
	flame_origin(g->profile, &origin);
	add_text(p->out, buf_str(&origin), origin.len);
	buf_addf(p->out,
		 "; boxes: total (self); dashed: through functions not shown</text>\n<text "
		 "class=\"soft fact\" x=\"%d\" y=\"60\">",
		 PAD);
	add_left_out(p);
	buf_addstr(p->out, "</text>\n");
	add_legend(p);
	buf_addstr(p->out, "</g>\n");
}

void svg_graph(struct callgraph *g, const char *title, struct buf *out)
{
	struct picture p = { .graph = g, .out = out };

	callgraph_thin(g);
	callgraph_trim(g);
	measure(g);
	callgraph_layout(g);
	begin(&p, title);
	buf_addstr(out, "<g id=\"graph\">\n");
	vec_each(a, &g->arcs)
		add_arc(&p, a);
	for (u32 i = 0; i < g->nodes.len; i++)
		add_node(&p, i);
	add_arc_labels(&p);
	buf_addstr(out, "</g>\n");
	add_head(&p, title);
	buf_addstr(out, "<script><![CDATA[\n");
	svg_asset("web/graph-svg.js", out);
	buf_addstr(out, "]]></script>\n</svg>\n");
}

/* --- graphviz ------------------------------------------------------------------------------- */

/* In double quotes; a backslash begins an escape there. */
static void dot_quote(struct buf *out, const char *s)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;

	fmt_clean(&clean, s, strlen(s));
	for (s = buf_str(&clean); *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *s);
	}
}

static void dot_node(struct picture *p, u32 i)
{
	const struct callgraph *g = p->graph;
	const struct callgraph_node *n = &g->nodes.items[i];

	buf_addf(p->out, "\tn%u [label=\"", i);
	dot_quote(p->out, callgraph_name(g, i));
	buf_addf(p->out, "\\n%.2f%% (%.2f%%)\", fontsize=%.1f, fillcolor=\"",
		 callgraph_share(g, n->total), callgraph_share(g, n->self), font_of(g, n));
	look_add(p->out, look_of_kind(look_kind_of(n->kind, callgraph_name(g, i)),
				      (double)(hash_str(callgraph_name(g, i)) % 100) / 99));
	buf_addstr(p->out, "\"];\n");
}

void dot_graph(struct callgraph *g, const char *title, struct buf *out)
{
	struct picture p = { .graph = g, .out = out };

	callgraph_thin(g);
	buf_addstr(out, "digraph callgraph {\n\tlabel=\"");
	dot_quote(out, title);
	buf_addstr(out, "\\n");
	add_left_out(&p);
	buf_addstr(out, "\";\n\tnode [shape=box, style=filled, fontname=\"sans-serif\"];\n");
	for (u32 i = 0; i < g->nodes.len; i++)
		dot_node(&p, i);
	vec_each(a, &g->arcs) {
		double share = callgraph_share(g, a->weight);

		buf_addf(out, "\tn%u -> n%u [label=\"%.2f%%\", penwidth=%.2f%s];\n", a->from, a->to,
			 share, 0.6 + 3.4 * sqrt(share / 100), a->indirect ? ", style=dashed" : "");
	}
	buf_addstr(out, "}\n");
}
