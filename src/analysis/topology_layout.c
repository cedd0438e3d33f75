/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/topology_layout.h"

#include "base/fmt.h"

enum { CACHE_LINE = 18, PAD_X = 2, PAD_Y = 1, GAP = 1, INDENT = 2 };

struct placing {
	struct topo_layout *l;
	u32 width;
	bool devices;
};

static u32 cells(const char *s)
{
	return (u32)fmt_width(s);
}

static const char *label(struct topo_layout *l, const struct topo_obj *o)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	topo_label(o, &text);
	return arena_strdup(&l->arena, buf_str(&text));
}

static void shift(struct topo_layout *l, size_t box, size_t line, u32 dx, u32 dy)
{
	for (; box < l->boxes.len; box++) {
		l->boxes.items[box].x += dx;
		l->boxes.items[box].y += dy;
	}
	for (; line < l->lines.len; line++) {
		l->lines.items[line].x += dx;
		l->lines.items[line].y += dy;
	}
}

/* --- what a box holds ------------------------------------------------------------------------- */

/* A size that grows as things are put below one another. */
struct extent {
	u32 w, h;
};

static void add_line(struct placing *p, const struct topo_obj *o, const char *text, u32 indent,
		     struct extent *size)
{
	u32 w = cells(text) + indent;

	if (o && p->l->live)
		w += 1 + TOPO_BAR + 5; /* " ##########  45%" */
	vec_push(&p->l->lines, (struct topo_line){ .obj = o,
						   .text = text,
						   .x = PAD_X + indent,
						   .y = PAD_Y + size->h,
						   .w = w - indent });
	size->w = MAX(size->w, w);
	size->h++;
}

/* Caches that belong to the box alone, as many on a line as fit. */
static void add_caches(struct placing *p, const struct topo_obj *const *chain, size_t n,
		       const struct topo_obj *titled, struct extent *size)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		const char *text = label(p->l, chain[i]);

		if (chain[i] == titled)
			continue;
		if (line.len && fmt_width(buf_str(&line)) + 1 + cells(text) > CACHE_LINE) {
			add_line(p, NULL, arena_strdup(&p->l->arena, buf_str(&line)), 0, size);
			buf_reset(&line);
		}
		buf_addf(&line, "%s%s", line.len ? " " : "", text);
	}
	if (line.len)
		add_line(p, NULL, arena_strdup(&p->l->arena, buf_str(&line)), 0, size);
}

static void add_devices(struct placing *p, const struct topo_obj *o, u32 indent,
			struct extent *size)
{
	for (; o && indent < TOPO_DEPTH_MOST; o = o->next) {
		add_line(p, NULL, label(p->l, o), indent, size);
		add_devices(p, o->devices, indent + INDENT, size);
	}
}

/* --- placing ---------------------------------------------------------------------------------- */

static struct extent place(struct placing *p, const struct topo_obj *o, int depth);

/* Boxes side by side, in rows that break at the width. */
static void place_children(struct placing *p, const struct topo_obj *first, u32 outer, int depth,
			   struct extent *size)
{
	u32 x = 0, row = 0;

	for (const struct topo_obj *o = first; o; o = o->next) {
		size_t box = p->l->boxes.len, line = p->l->lines.len;
		struct extent e;

		if (o->type == TOPO_CPU)
			continue;
		e = place(p, o, depth);
		if (x && outer + x + e.w > p->width) {
			size->h += row;
			x = row = 0;
		}
		shift(p->l, box, line, PAD_X + x, PAD_Y + size->h);
		x += e.w + GAP;
		row = MAX(row, e.h);
		size->w = MAX(size->w, x - GAP);
	}
	size->h += row;
}

/* From @o down as long as each has one child and no memory of its own. */
static size_t chain_of(const struct topo_obj *o, const struct topo_obj **chain)
{
	size_t n = 0;

	chain[n++] = o;
	while (n < TOPO_DEPTH_MOST && o->type == TOPO_CACHE && o->children && !o->children->next &&
	       (o->children->type == TOPO_CACHE || o->children->type == TOPO_CORE) &&
	       !o->children->memory && !o->devices) {
		o = o->children;
		chain[n++] = o;
	}
	return n;
}

static struct extent place(struct placing *p, const struct topo_obj *o, int depth)
{
	const struct topo_obj *chain[TOPO_DEPTH_MOST];
	size_t n = chain_of(o, chain), box = p->l->boxes.len;
	const struct topo_obj *inner = chain[n - 1];
	const struct topo_obj *titled = inner->type == TOPO_CORE ? inner : o;
	struct extent size = { 0 };
	struct topo_box *b;

	vec_push(&p->l->boxes, (struct topo_box){ .obj = titled, .title = label(p->l, titled) });
	add_caches(p, chain, n, titled, &size);
	for (const struct topo_obj *m = o->memory; m; m = m->next)
		add_line(p, m, label(p->l, m), 0, &size);
	for (const struct topo_obj *c = inner->children; c; c = c->next) {
		if (c->type == TOPO_CPU)
			add_line(p, c, label(p->l, c), 0, &size);
	}
	if (depth < TOPO_DEPTH_MOST)
		place_children(p, inner->children, (u32)depth * PAD_X * 2 + PAD_X * 2, depth + 1,
			       &size);
	if (p->devices)
		add_devices(p, o->devices, 0, &size);
	b = &p->l->boxes.items[box];
	b->w = MAX(size.w, cells(b->title) + 2) + PAD_X * 2;
	b->h = size.h + PAD_Y * 2;
	return (struct extent){ b->w, b->h };
}

void topo_layout_make(struct topo_layout *l, const struct topo_tree *t, u32 width, bool live,
		      bool devices)
{
	struct placing p = { .l = l, .width = width, .devices = devices };
	struct extent e;

	*l = (struct topo_layout){ .tree = t, .live = live };
	e = place(&p, t->root, 0);
	l->w = e.w;
	l->h = e.h;
}

void topo_layout_release(struct topo_layout *l)
{
	vec_release(&l->boxes);
	vec_release(&l->lines);
	arena_release(&l->arena);
}
