/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outlines. Only a fork indents: a node that is its parent's only child stands right below it, so
 * that a deep stack runs straight down the page.
 *
 *	100.00%  main
 *	 70.00%  |--parse
 *	 70.00%  |  read_line
 *	 30.00%  `--write
 *
 * In an outline every depth indents.
 */
#include "view/text.h"

#include "base/fmt.h"
#include "view/cell.h"
#include "view/term.h"

enum { LEVEL_MOST = 64, GUIDE = 3, PERCENT_WIDTH = 7, VALUE_FROM_WIDTH = 40 };

/* What the depth-first list says about one node. Parents are counted from 1, 0 means "none". */
struct place {
	u32 parent;
	u32 children;
	u32 last_child; /* counted from 1 */
	u32 level;      /* forks above it */
	bool forked;    /* has siblings, and so a branch of its own */
};

struct guides {
	const char *tee, *corner, *bar;
	u32 most;                  /* levels that are drawn; deeper ones stay there */
	bool more[LEVEL_MOST + 1]; /* the branch of that level continues further down */
};

static void find_parents(const struct tree *t, struct place *places)
{
	_cleanup_free_ u32 *stack = xcalloc(t->nodes.len + 1, sizeof(*stack));
	size_t top = 0;

	for (u32 i = 0; i < t->nodes.len; i++) {
		while (top && t->nodes.items[stack[top - 1] - 1].depth >= t->nodes.items[i].depth)
			top--;
		if (top) {
			struct place *parent = &places[stack[top - 1] - 1];

			places[i].parent = stack[top - 1];
			parent->children++;
			parent->last_child = i + 1;
		}
		stack[top++] = i + 1;
	}
}

/* Below one of several roots even an only child indents, or the roots could not be distinguished.
 */
static void find_levels(const struct tree *t, struct place *places, u32 most)
{
	size_t roots = 0;

	for (u32 i = 0; i < t->nodes.len; i++)
		roots += !places[i].parent;
	for (u32 i = 0; i < t->nodes.len; i++) {
		const struct place *parent;

		if (!places[i].parent)
			continue;
		parent = &places[places[i].parent - 1];
		places[i].forked =
			t->outline || parent->children > 1 || (!parent->parent && roots > 1);
		places[i].level = MIN(parent->level + places[i].forked, most);
	}
}

static struct guides guides_for(const struct view_opts *opts)
{
	u32 most = opts->width > 0 ? (u32)opts->width / 2 / GUIDE : LEVEL_MOST;

	if (opts->unicode)
		return (struct guides){ .tee = "\xe2\x94\x9c\xe2\x94\x80 ",
					.corner = "\xe2\x94\x94\xe2\x94\x80 ",
					.bar = "\xe2\x94\x82  ",
					.most = MIN(most, (u32)LEVEL_MOST) };
	return (struct guides){
		.tee = "|--", .corner = "`--", .bar = "|  ", .most = MIN(most, (u32)LEVEL_MOST)
	};
}

static void draw_guides(struct text_out *o, struct guides *g, const struct place *p, bool is_last)
{
	u32 bars = p->forked && p->level ? p->level - 1 : p->level;

	for (u32 k = 1; k <= bars; k++)
		buf_addstr(&o->line, g->more[k] ? g->bar : "   ");
	if (!p->forked || !p->level)
		return;
	g->more[p->level] = !is_last;
	buf_addstr(&o->line, is_last ? g->corner : g->tee);
}

static size_t value_width(struct text_out *o, const struct tree *t)
{
	size_t width = 0;

	if (!t->value_type || (o->opts->width > 0 && o->opts->width < VALUE_FROM_WIDTH))
		return 0;
	vec_each(n, &t->nodes) {
		struct value v = cell_of_count(t->value_type, n->value);

		buf_reset(&o->cell);
		cell_text(&o->cell, &v);
		width = MAX(width, fmt_width(buf_str(&o->cell)));
	}
	return width;
}

static void figures(struct text_out *o, const struct tree *t, const struct tree_node *n,
		    size_t width)
{
	struct value v = value_d(VALUE_PERCENT, n->percent);

	buf_reset(&o->cell);
	cell_text(&o->cell, &v);
	text_fit(o, buf_str(&o->cell), PERCENT_WIDTH, true);
	text_mark(o, 0, text_weight(n->percent));
	buf_addstr(&o->line, "  ");
	if (!width)
		return;
	v = cell_of_count(t->value_type, n->value);
	buf_reset(&o->cell);
	cell_text(&o->cell, &v);
	text_fit(o, buf_str(&o->cell), width, true);
	buf_addstr(&o->line, "  ");
}

/* The label alone is coloured; it is cut before, so that no escape is. */
static void label(struct text_out *o, const struct tree_node *n)
{
	size_t start = o->line.len, used = fmt_width(buf_str(&o->line));
	size_t width = o->opts->width > 0 ? (size_t)o->opts->width : SIZE_MAX;

	buf_reset(&o->cell);
	fmt_clean(&o->cell, n->label, strlen(n->label));
	if (used >= width) {
		text_flush(o, STYLE_NONE);
		return;
	}
	text_cut(o, buf_str(&o->cell), width - used);
	text_mark(o, start, n->style);
	text_flush_long(o, STYLE_NONE);
}

void text_tree(struct text_out *o, const struct tree *t)
{
	_cleanup_free_ struct place *places = xcalloc(t->nodes.len + 1, sizeof(*places));
	struct guides guides = guides_for(o->opts);
	size_t width = value_width(o, t);

	if (t->title) {
		text_clean(o, t->title);
		text_flush(o, STYLE_STRONG);
	}
	find_parents(t, places);
	find_levels(t, places, guides.most);
	for (u32 i = 0; i < t->nodes.len; i++) {
		const struct place *p = &places[i];
		bool is_last = p->parent && places[p->parent - 1].last_child == i + 1;

		figures(o, t, &t->nodes.items[i], width);
		draw_guides(o, &guides, p, is_last);
		label(o, &t->nodes.items[i]);
	}
	if (!t->nodes.len) {
		buf_addstr(&o->line, "(nothing)");
		text_flush(o, STYLE_DIM);
	}
}
