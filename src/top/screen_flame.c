/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flame graph, live. Zoom, search and cursor are paths of names: they stay while data flow. */
#include "top/screens.h"

#include <strings.h>

#include "base/fmt.h"
#include "tui/flame.h"

/* --- paths ------------------------------------------------------------------------------------ */

static void path_of(const struct profile_frame *p, u32 box, struct buf *out)
{
	u32 up[256], n = 0;

	for (; box && n < ARRAY_SIZE(up); box = p->boxes.items[box].parent)
		up[n++] = box;
	while (n)
		buf_addf(out, "%s\n", p->boxes.items[up[--n]].name);
}

/* The box at the end of a path, as far as that is there still. */
static u32 box_of(const struct profile_frame *p, const char *path)
{
	u32 box = 0;

	for (size_t n; *path; path += n + 1) {
		u32 next = 0;

		n = strcspn(path, "\n");
		if (!path[n])
			break;
		for (u32 i = box + 1; i < p->boxes.len; i++) {
			const struct live_box *b = &p->boxes.items[i];

			/* depth first: what follows at the same depth is another subtree */
			if (b->depth <= p->boxes.items[box].depth)
				break;
			if (b->parent == box && strlen(b->name) == n &&
			    !strncmp(b->name, path, n)) {
				next = i;
				break;
			}
		}
		if (!next)
			break;
		box = next;
	}
	return box;
}

static void set_path(char *to, size_t room, const struct profile_frame *p, u32 box)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	path_of(p, box, &path);
	snprintf(to, room, "%s", buf_str(&path));
}

/* --- drawing ---------------------------------------------------------------------------------- */

struct shown {
	struct flame_cells *cells;
	struct flame_view view;
	u32 cursor, zoom;
};

static void prepare(const struct top *t, struct rect r, struct shown *s)
{
	const struct profile_frame *p = t->profile;
	const struct live_box *z;

	s->cells = xcalloc(p->boxes.len + 1, sizeof(*s->cells));
	s->cursor = box_of(p, t->flame.path);
	s->zoom = box_of(p, t->flame.zoom);
	for (size_t i = 0; i < p->boxes.len; i++) {
		const struct live_box *b = &p->boxes.items[i];

		s->cells[i] = (struct flame_cells){
			.name = b->name,
			.parent = b->parent,
			.depth = b->depth,
			.start = b->start,
			.weight = b->weight,
			.color = b->color,
			.chosen = i == s->cursor,
			.found = *t->flame.search && strcasestr(b->name, t->flame.search),
		};
	}
	z = &p->boxes.items[s->zoom];
	s->view = (struct flame_view){ .from = z->start,
				       .width = z->weight,
				       .whole = p->both ? LIVE_HALF : p->boxes.items[0].weight };
	/* deep stacks: as many rows as there are, the cursor among them */
	if (p->boxes.items[s->cursor].depth >= (u32)MAX(r.h, 1))
		s->view.depth = p->boxes.items[s->cursor].depth - (u32)r.h + 1;
}

static void draw_head(struct top *t, struct rect r, const struct shown *s)
{
	const struct profile_frame *p = t->profile;
	const struct live_box *b = &p->boxes.items[s->cursor];
	_cleanup_buf_ struct buf text = BUF_INIT;
	double whole = (double)MAX(s->view.whole, 1ull);

	if (p->both) {
		buf_addstr(&text, "time of threads in a second: ");
		fmt_duration(&text, p->hot_ns);
		buf_addstr(&text, " on CPUs, ");
		fmt_duration(&text, p->cold_ns);
		buf_addstr(&text, " waiting");
	} else if (p->cold) {
		buf_addstr(&text, "waits, ");
		fmt_duration(&text, p->weight);
	} else {
		fmt_count(&text, p->samples);
		buf_addf(&text, " samples of %s", p->event);
	}
	if (!p->both)
		buf_addf(&text, " in %.0f s", p->seconds);
	buf_addstr(&text, t->flame.inverted ? ", callers on top  " : "  ");
	buf_addf(&text, "%s: %.1f%%", b->name, 100 * (double)b->weight / whole);
	if (b->self)
		buf_addf(&text, " (itself %.1f%%)", 100 * (double)b->self / whole);
	if (*b->module)
		buf_addf(&text, " in %s", b->module);
	grid_text(&t->grid, r.x, r.y, r.w, buf_str(&text), ROLE_DIM);
}

static void draw(struct top *t, struct rect r)
{
	struct shown s;

	if (t->profile && !t->profile->why && !t->o.input &&
	    (t->profile->both != t->flame.both ||
	     (!t->flame.both && t->profile->cold != t->flame.cold))) {
		grid_text(&t->grid, r.x, r.y, r.w,
			  t->flame.cold ? "waits are watched..." : "sampling begins...", ROLE_DIM);
		return;
	}
	if (!profile_is_there(t, r) || !t->profile->boxes.len)
		return;
	r.y++;
	r.h--;
	t->flame.place = r;
	prepare(t, r, &s);
	draw_head(t, (struct rect){ r.x, r.y - 1, r.w, 1 }, &s);
	flame_draw(&t->grid, r, s.cells, t->profile->boxes.len, &s.view);
	free(s.cells);
}

/* --- keys ------------------------------------------------------------------------------------- */

static u32 neighbour(const struct profile_frame *p, u32 box, int direction)
{
	const struct live_box *b = &p->boxes.items[box];
	u32 found = box;

	for (u32 i = 0; i < p->boxes.len; i++) {
		const struct live_box *o = &p->boxes.items[i];

		if (o->depth != b->depth || i == box)
			continue;
		if (direction > 0 && o->start > b->start)
			return i;
		if (direction < 0 && o->start < b->start)
			found = i;
	}
	return found;
}

/* The widest box on top of this one. */
static u32 upwards(const struct profile_frame *p, u32 box)
{
	u32 best = box;
	u64 most = 0;

	for (u32 i = box + 1; i < p->boxes.len; i++) {
		const struct live_box *o = &p->boxes.items[i];

		if (o->parent == box && o->weight > most) {
			most = o->weight;
			best = i;
		}
	}
	return best;
}

static u32 move(const struct profile_frame *p, u32 box, u32 key)
{
	switch (key) {
	case TUI_UP:
	case 'k': return upwards(p, box);
	case TUI_DOWN:
	case 'j': return p->boxes.items[box].parent;
	case TUI_LEFT: return neighbour(p, box, -1);
	case TUI_RIGHT: return neighbour(p, box, 1);
	default: return 0;
	}
}

static bool click(struct top *t, const struct input *in)
{
	struct shown s;
	size_t at;

	prepare(t, t->flame.place, &s);
	at = flame_at(t->flame.place, s.cells, t->profile->boxes.len, &s.view, in->x, in->y);
	free(s.cells);
	if (at == SIZE_MAX)
		return false;
	set_path(t->flame.path, sizeof(t->flame.path), t->profile, (u32)at);
	return true;
}

static bool mode_key(struct top *t, u32 key)
{
	struct flame_state *f = &t->flame;

	switch (key) {
	case 'i': f->inverted = !f->inverted; break;
	case 'o': /* CPU time, waits, both */
		f->both = f->cold && !f->both;
		f->cold = f->both || !f->cold;
		top_drop_profile(t);
		break;
	case '/':
		t->prompt = PROMPT_SEARCH;
		edit_set(&t->edit, "");
		return true;
	default: return false;
	}
	f->path[0] = f->zoom[0] = '\0';
	top_ask(t);
	return true;
}

static bool key_pressed(struct top *t, const struct input *in)
{
	const struct profile_frame *p = t->profile;
	u32 box;

	if (mode_key(t, in->key))
		return true;
	if (!p || !p->boxes.len)
		return false;
	box = box_of(p, t->flame.path);
	switch (in->key) {
	case TUI_UP:
	case TUI_DOWN:
	case TUI_LEFT:
	case TUI_RIGHT:
	case TUI_HOME:
	case 'j':
	case 'k':
		set_path(t->flame.path, sizeof(t->flame.path), p, move(p, box, in->key));
		return true;
	case 'z':
		if (*t->flame.zoom)
			t->flame.zoom[0] = '\0';
		else
			memcpy(t->flame.zoom, t->flame.path, sizeof(t->flame.zoom));
		return true;
	case TUI_CLICK: return click(t, in);
	case TUI_ENTER:
	case TUI_DOUBLE_CLICK:
		if (box && *p->boxes.items[box].module)
			narrow_to_function(t, p->boxes.items[box].name, p->boxes.items[box].module);
		else
			memcpy(t->flame.zoom, t->flame.path, sizeof(t->flame.zoom));
		return true;
	default: return false;
	}
}

static void explain(struct top *t UNUSED, struct buf *out)
{
	buf_addstr(
		out,
		"A box is a function; what it calls stands on it. Its width is the share of\n"
		"the samples with it on their stack. Left and right mean nothing: boxes are in\n"
		"the order of their names.\n\n"
		"arrows: move   z: zoom   Enter: who calls it, its source lines\n"
		"i: callers on top   o: waits, then both, then CPU time   /: mark by name\n\n"
		"from: perf events on each CPU with stacks by CFI tables; waits by BPF programs\n"
		"at the scheduler's switches. Of both, each half is a whole of its own, whose\n"
		"time is in the line above: of all threads, in a second.\n"
		"high: much waiting beside little CPU time: 5 shows the wakers.\n"
		"fathom flame -o x.svg draws a recording.\n");
}

const struct screen screen_flame = {
	.key = "flame",
	.title = "Flame",
	.brief = "Flame",
	.needs = NEEDS_SAMPLES,
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
};
