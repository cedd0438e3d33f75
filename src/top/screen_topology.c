/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the machine is built of, with the load on it: the boxes of fathom topology --live. */
#include "top/screens.h"

#include "analysis/topology_result.h"

/* The share that is busy or used; below 0: not known. */
static double share_of(const struct topo_obj *o, const struct topo_load *l)
{
	size_t i = (size_t)o->index;

	if (o->index < 0)
		return -1;
	if (o->type == TOPO_CPU)
		return i < l->n_cpus && l->cpus[i].known ? l->cpus[i].busy : -1;
	if (o->type == TOPO_NODE)
		return i < l->n_nodes && l->nodes[i].known ? l->nodes[i].used : -1;
	return -1;
}

static void draw_line(struct top *t, struct rect r, const struct topo_line *line, int y)
{
	struct meter m = { .label = "", .text = "" };
	double share = line->obj ? share_of(line->obj, &t->topology_load) : -1;
	int x = r.x + (int)line->x, bar = x + (int)line->w - TOPO_BAR - 5;
	char text[16];

	grid_text(&t->grid, x, y, MAX(r.x + r.w - x, 0), line->text, ROLE_TEXT);
	if (share < 0 || bar + TOPO_BAR + 5 > r.x + r.w)
		return;
	m.parts[m.n_parts++] = (struct meter_part){ share, share >= 0.9   ? ROLE_BAD
							   : share >= 0.6 ? ROLE_WARN
									  : ROLE_GOOD };
	meter_draw(&t->grid, (struct rect){ bar, y, TOPO_BAR, 1 }, &m, 0);
	snprintf(text, sizeof(text), "%3.0f%%", 100 * share);
	grid_text(&t->grid, bar + TOPO_BAR + 1, y, 4, text, m.parts[0].role);
}

/* Edges, and corners: those that are on the screen. */
static void draw_box(struct top *t, struct rect clip, struct rect at)
{
	static const u32 fine[] = { 0x2500, 0x2502, 0x250c, 0x2510, 0x2514, 0x2518 };
	static const u32 ascii[] = { '-', '|', '+', '+', '+', '+' };
	const u32 *lines = t->grid.ascii ? ascii : fine;

	for (int y = at.y; y < at.y + at.h; y++) {
		bool top = y == at.y, edge = top || y == at.y + at.h - 1;

		if (y < clip.y || y >= clip.y + clip.h)
			continue;
		for (int x = at.x; x < MIN(at.x + at.w, clip.x + clip.w); x++) {
			bool left = x == at.x, side = left || x == at.x + at.w - 1;

			if (edge && side)
				grid_put(&t->grid, x, y, lines[2 + 2 * !top + !left], ROLE_FRAME);
			else if (edge || side)
				grid_put(&t->grid, x, y, lines[side], ROLE_FRAME);
		}
	}
}

static void draw_boxes(struct top *t, struct rect r, const struct topo_layout *l, int first)
{
	vec_each(b, &l->boxes) {
		struct rect at = { r.x + (int)b->x, r.y + (int)b->y - first, (int)b->w, (int)b->h };

		draw_box(t, r, at);
		if (at.y >= r.y && at.y < r.y + r.h)
			grid_textf(&t->grid, at.x + 1, at.y,
				   MAX(MIN(at.w - 2, r.x + r.w - at.x - 1), 0), ROLE_BOLD, " %s ",
				   b->title);
	}
	vec_each(line, &l->lines) {
		int y = r.y + (int)line->y - first;

		if (y >= r.y && y < r.y + r.h)
			draw_line(t, r, line, y);
	}
}

static void draw(struct top *t, struct rect r)
{
	const char *why = NULL;
	const struct topo_tree *tree = topology_source_tree(t->topology, &why);
	_cleanup_buf_ struct buf summary = BUF_INIT;
	struct topo_layout l;

	if (!tree) {
		grid_text(&t->grid, r.x, r.y, r.w,
			  t->o.input ? "a recording does not hold it; fathom topology shows it"
			  : why      ? why
				     : "the topology is read...",
			  why ? ROLE_BAD : ROLE_DIM);
		return;
	}
	topo_summary(tree, &summary);
	grid_textf(&t->grid, r.x, r.y, r.w, ROLE_DIM, "%s%s%s", buf_str(&summary),
		   tree->model ? ": " : "", tree->model ? tree->model : "");
	r.y++;
	r.h--;
	topo_layout_make(&l, tree, (u32)MAX(r.w, 20), true, true);
	t->list.place = r;
	t->list.n = MAX((int)l.h - r.h + 1, 1);
	t->list.cursor = MIN(MAX(t->list.cursor, 0), t->list.n - 1);
	if (r.h > 0)
		draw_boxes(t, r, &l, t->list.cursor);
	topo_layout_release(&l);
}

static bool key_pressed(struct top *t, const struct input *in)
{
	return in->key != TUI_CLICK && list_key(&t->list, in);
}

static void explain(struct top *t UNUSED, struct buf *out)
{
	buf_addstr(
		out,
		"Boxes hold what is inside of them: packages, caches, cores, CPUs; memory nodes\n"
		"stand beside the CPUs that are near to them, devices below their bridges.\n\n"
		"Bars of CPUs: time in which the CPU was busy, since the last refresh\n"
		"  from: /proc/stat\n"
		"Bars of nodes: memory that is not free, what caches hold included\n"
		"  from: /sys/devices/system/node/node*/meminfo\n\n"
		"One busy CPU beside idle ones: a single thread, or a wrong affinity (a on the\n"
		"processes). fathom topology --live -o FILE.svg keeps it; --ps shows who is "
		"bound.\n");
}

static void result(struct top *t, struct result *r)
{
	const char *why;
	const struct topo_tree *tree = topology_source_tree(t->topology, &why);

	if (tree)
		topo_result(tree, &t->topology_load, r);
	else if (why)
		result_note(r, NOTE_WARNING, NULL, "%s", why);
}

const struct screen screen_topology = {
	.key = "topology",
	.title = "Topology",
	.brief = "Topo",
	.needs = NEEDS_TOPOLOGY,
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
	.result = result,
};
