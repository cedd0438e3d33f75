/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"

#include "analysis/chance.h"
#include "analysis/flame_names.h"
#include "analysis/plumbing.h"
#include "base/fmt.h"

#include <math.h>

/* --- boxes --------------------------------------------------------------------------------- */

struct layout {
	struct flame *flame;
	const struct flame_opts *opts;
	double min_weight;
};

/* A divider leads from the waiting thread to its waker, or from there to where the waker had
 * waited. */
static bool is_waker(const struct flame *f, const struct calltree_node *n, bool parent)
{
	const char *name = profile_str(f->profile, n->name);

	if (streq(name, "--"))
		return !parent;
	return parent || ends_with(name, "_[w]");
}

static void add_gap(struct flame *f, const struct calltree_node *n, u32 parent, u64 start)
{
	struct flame_gap *last = f->gaps.len ? &f->gaps.items[f->gaps.len - 1] : NULL;

	if (last && last->parent == parent && last->at == f->boxes.len &&
	    last->start + last->weight == start) {
		last->weight += n->total;
		last->samples += n->count;
		last->count++;
		return;
	}
	vec_push(&f->gaps, (struct flame_gap){ .parent = parent,
					       .at = (u32)f->boxes.len,
					       .count = 1,
					       .start = start,
					       .weight = n->total,
					       .samples = n->count });
}

/* Adds the box if it is visible. */
static bool add_box(struct layout *l, u32 node, u32 parent, u64 start)
{
	struct flame *f = l->flame;
	const struct calltree_node *n = &f->tree.nodes.items[node];
	const struct flame_box *below = node ? &f->boxes.items[parent] : NULL;
	u32 depth = below ? below->depth + 1 : 0;
	bool waker = is_waker(f, n, below && below->waker);

	if (node && (!n->total || (double)n->total < l->min_weight)) {
		f->narrow += n->total != 0;
		if (n->total) {
			add_gap(f, n, parent, start);
			/* together they are wide enough for a row of their own */
			if ((double)f->gaps.items[f->gaps.len - 1].weight >= l->min_weight &&
			    (!l->opts->max_depth || depth < l->opts->max_depth))
				f->rows = MAX(f->rows, depth + 1);
		}
		return false;
	}
	if (l->opts->max_depth && depth >= l->opts->max_depth) {
		f->deep++;
		f->deep_weight += n->total;
		return false;
	}
	vec_push(&f->boxes, (struct flame_box){
				    .node = node,
				    .parent = parent,
				    .depth = depth,
				    .waker = waker,
				    .start = start,
			    });
	f->rows = MAX(f->rows, depth + 1);
	return true;
}

/* What vanished comes last whatever the order. */
static void hang_strip(struct calltree *t, u32 strip)
{
	u32 *at = &t->nodes.items[0].first_child;

	while (*at)
		at = &t->nodes.items[*at].next;
	*at = strip;
}

static u32 first_child(struct layout *l, u32 node)
{
	struct flame *f = l->flame;

	if (!l->opts->chart)
		calltree_sort_children(&f->tree, l->opts->order, node);
	if (!node && f->strip)
		hang_strip(&f->tree, f->strip);
	return f->tree.nodes.items[node].first_child;
}

/* Depth first without recursion: @at is the box whose next child comes. */
static void place_boxes(struct layout *l)
{
	struct flame *f = l->flame;
	const struct calltree_node *nodes = f->tree.nodes.items;
	u32 at = 0, child;
	u64 start = 0;

	add_box(l, 0, 0, 0);
	child = first_child(l, 0);
	for (;;) {
		if (child && add_box(l, child, at, start)) {
			at = (u32)f->boxes.len - 1;
			child = first_child(l, child);
			continue;
		}
		if (child) {
			start += nodes[child].total;
			child = nodes[child].next;
			continue;
		}
		if (!at)
			return;
		start = f->boxes.items[at].start + nodes[f->boxes.items[at].node].total;
		child = nodes[f->boxes.items[at].node].next;
		at = f->boxes.items[at].parent;
	}
}

/* What vanished since the baseline, counted at the topmost such node. */
static u64 sum_vanished(const struct calltree *t)
{
	u64 sum = 0;

	for (size_t i = 1; t->base && i < t->nodes.len; i++)
		if (!t->nodes.items[i].total && t->nodes.items[t->nodes.items[i].parent].total)
			sum += t->base[i];
	return sum;
}

/* --- stacks that are no more ---------------------------------------------------------------- */

struct strip {
	struct flame *flame;
	u32 *copies; /* node -> its copy below the strip's root */
	u32 first;   /* node added */
};

static u32 add_copy(struct strip *s, u32 parent, u32 frame, u32 name)
{
	struct calltree *t = &s->flame->tree;
	u32 id = (u32)t->nodes.len;

	vec_push(&t->nodes,
		 (struct calltree_node){ .parent = parent, .frame = frame, .name = name });
	if (parent) {
		t->nodes.items[id].next = t->nodes.items[parent].first_child;
		t->nodes.items[parent].first_child = id;
	}
	return id;
}

/* The copy of a node, with those of its callers. Stacks are deep: no recursion. */
static u32 copy_of(struct strip *s, u32 node)
{
	const struct calltree *t = &s->flame->tree;
	VEC(u32) todo = { 0 };
	u32 copy = s->flame->strip;

	for (; node; node = t->nodes.items[node].parent) {
		if (s->copies[node]) {
			copy = s->copies[node];
			break;
		}
		vec_push(&todo, node);
	}
	while (todo.len) {
		u32 n = vec_pop(&todo);

		copy = add_copy(s, copy, t->nodes.items[n].frame, t->nodes.items[n].name);
		s->copies[n] = copy;
	}
	vec_release(&todo);
	return copy;
}

/* Self weights from inclusive weights. */
static u64 *own_of(const struct calltree *t, const u64 *inclusive)
{
	u64 *own = xmemdup(inclusive, t->nodes.len * sizeof(*own));

	for (size_t i = 1; i < t->nodes.len; i++)
		own[t->nodes.items[i].parent] -= inclusive[i];
	return own;
}

static void sum_strip(struct strip *s)
{
	struct calltree *t = &s->flame->tree;

	for (size_t i = t->nodes.len; i-- > s->first;) {
		struct calltree_node *n = &t->nodes.items[i];

		n->total += n->self;
		if (n->parent) {
			t->nodes.items[n->parent].total += n->total;
			t->nodes.items[n->parent].count += n->count;
		}
	}
	t->base = xreallocarray(t->base, t->nodes.len, sizeof(*t->base));
	t->base_count = xreallocarray(t->base_count, t->nodes.len, sizeof(*t->base_count));
	for (size_t i = s->first; i < t->nodes.len; i++) {
		t->base[i] = t->nodes.items[i].total;
		t->base_count[i] = t->nodes.items[i].count;
	}
}

/* Copies all that has weight before and none now below a node of its own, with its callers. */
static void make_strip(struct flame *f)
{
	struct calltree *t = &f->tree;
	u32 n = (u32)t->nodes.len;
	struct strip s = { .flame = f, .first = n };
	u64 *own = own_of(t, t->base), *own_count = own_of(t, t->base_count);

	s.copies = xcalloc(n, sizeof(*s.copies));
	for (u32 i = 1; i < n; i++) {
		u32 copy;

		if (!own[i] || t->nodes.items[i].total)
			continue;
		if (!f->strip)
			f->strip = add_copy(&s, 0, 0, profile_string(f->profile, "[vanished]"));
		copy = copy_of(&s, i);
		t->nodes.items[copy].self = own[i];
		t->nodes.items[copy].count = own_count[i];
	}
	if (f->strip)
		sum_strip(&s);
	free(own);
	free(own_count);
	free(s.copies);
}

/* --- hot and cold --------------------------------------------------------------------------- */

/* A mark tells about all that is on it, and about all below it. */
static void sum_states(struct flame *f)
{
	const struct calltree *t = &f->tree;
	_cleanup_free_ u8 *marks = xcalloc(t->nodes.len, 1);

	f->states = xcalloc(t->nodes.len, sizeof(*f->states));
	marks[0] = HOT_STATES;
	for (size_t i = 1; i < t->nodes.len; i++) {
		const struct calltree_node *n = &t->nodes.items[i];

		marks[i] = marks[n->parent];
		if (n->frame && marks[i] == HOT_STATES)
			marks[i] = (u8)hotcold_state_of(t->profile,
							&t->profile->frames.items[n->frame]);
	}
	for (size_t i = t->nodes.len; i-- > 0;) {
		const struct calltree_node *n = &t->nodes.items[i];
		u8 mark = marks[i] == HOT_STATES ? HOT_UNKNOWN : marks[i];

		f->states[i].ns[mark] += n->self;
		for (int s = 0; i && s < HOT_STATES; s++)
			f->states[n->parent].ns[s] += f->states[i].ns[s];
	}
}

static void make_tree(struct flame *f, const struct flame_opts *o)
{
	size_t n = f->profile->frames.len;
	u32 *shown = flame_shown_frames(f->profile);
	struct calltree_opts opts = {
		.event = o->event,
		.group = o->group,
		.inverted = o->reverse && !o->chart,
		.label_last = o->reverse && !o->chart,
		.by_count = o->by_count,
		.shown_as = shown,
		.has_baseline = o->has_baseline,
		.baseline = o->baseline,
	};

	if (o->fold && !o->chart)
		opts.join = f->folded = plumbing_fold(f->profile, shown, n);
	if (o->chart)
		calltree_init_chart(&f->tree, f->profile, &opts);
	else
		calltree_init(&f->tree, f->profile, &opts);
	free(shown);
}

int flame_init(struct flame *f, struct profile *p, const struct flame_opts *opts, struct err *e)
{
	struct layout l = { .flame = f, .opts = opts };
	u64 sum;

	*f = (struct flame){
		.profile = p,
		.event = opts->event,
		.baseline = opts->baseline,
		.ratio = opts->ratio,
		.relative = opts->relative,
		.min_samples = opts->min_samples,
		.confidence = opts->confidence,
		.exposure = opts->exposure,
	};
	make_tree(f, opts);
	sum = f->tree.nodes.items[0].total;
	if (!sum) {
		flame_release(f);
		err_set(e, ENODATA, "nothing to draw: no sample has any weight");
		return -ENODATA;
	}
	if (opts->hotcold) {
		sum_states(f);
		f->threads = opts->hotcold->threads;
		f->idle = opts->hotcold->idle;
	}
	f->total_too_small = opts->total > 0 && opts->total < (double)sum;
	f->whole = MAX(opts->total, (double)sum);
	f->vanished = sum_vanished(&f->tree);
	if (f->tree.base && opts->elided && !opts->chart)
		make_strip(f);
	f->total = f->whole + (f->strip ? (double)f->tree.nodes.items[f->strip].total : 0);
	if (f->tree.base && !f->exposure)
		f->exposure =
			(double)f->tree.nodes.items[0].count /
			(double)MAX(f->tree.nodes.items[0].count + f->tree.base_count[0], 1ull);
	l.min_weight = opts->min_share * f->total;
	place_boxes(&l);
	return 0;
}

void flame_release(struct flame *f)
{
	calltree_release(&f->tree);
	vec_release(&f->boxes);
	vec_release(&f->gaps);
	free(f->states);
}

/* --- what a box is ------------------------------------------------------------------------- */

const char *flame_name(const struct flame *f, const struct flame_box *b, size_t *ret_len)
{
	const struct calltree_node *n = flame_node(f, b);
	const char *name = b->node ? profile_str(f->profile, n->name) : "all";

	*ret_len = strlen(name);
	if (*ret_len > 4 && streq(name + *ret_len - 4, "_[w]"))
		*ret_len -= 4;
	return name;
}

const struct frame *flame_frame(const struct flame *f, const struct flame_box *b)
{
	u32 frame = flame_node(f, b)->frame;

	return frame ? &f->profile->frames.items[frame] : NULL;
}

s64 flame_growth(const struct flame *f, const struct flame_box *b)
{
	if (!f->tree.base)
		return 0;
	if (f->strip && b->node >= f->strip)
		return -(s64)f->tree.base[b->node];
	return (s64)(flame_node(f, b)->total - f->tree.base[b->node]);
}

enum flame_change flame_change(const struct flame *f, const struct flame_box *b)
{
	s64 growth = flame_growth(f, b);
	u64 after, before;

	if (!f->tree.base || f->ratio || !growth)
		return CHANGE_NONE;
	before = f->tree.base_count[b->node];
	after = f->strip && b->node >= f->strip ? 0 : flame_node(f, b)->count;
	if (f->confidence > 0 && chance_of(after, before, f->exposure) > 1 - f->confidence)
		return CHANGE_NOISE;
	if (f->strip && b->node >= f->strip)
		return CHANGE_VANISHED;
	if (!f->tree.base[b->node])
		return CHANGE_NEW;
	return growth > 0 ? CHANGE_MORE : CHANGE_LESS;
}

const char *flame_change_text(enum flame_change c)
{
	switch (c) {
	case CHANGE_NEW: return "new";
	case CHANGE_VANISHED: return "vanished";
	case CHANGE_NOISE: return "within noise";
	default: return NULL;
	}
}

double flame_ratio(const struct flame *f, const struct flame_box *b)
{
	const struct calltree_node *n = flame_node(f, b);

	if (!f->ratio || !n->total || n->count + f->tree.base_count[b->node] < f->min_samples)
		return NAN;
	return (double)f->tree.base[b->node] / (double)n->total;
}

static bool is_event(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return strncmp(name, wanted, n) == 0 && (!name[n] || name[n] == ':');
}

/* So much of what is no time for so much time. */
static bool is_per_time(const struct flame *f)
{
	const struct profile *p = f->profile;

	return streq(profile_str(p, p->events.items[f->event].unit), "ns") &&
	       !streq(profile_str(p, p->events.items[f->baseline].unit), "ns");
}

void flame_ratio_name(const struct flame *f, struct buf *out)
{
	const struct profile *p = f->profile;
	const char *by = profile_str(p, p->events.items[f->event].name);
	const char *what = profile_str(p, p->events.items[f->baseline].name);

	if (is_event(by, "cycles") && is_event(what, "instructions"))
		buf_addstr(out, "IPC");
	else if (is_event(by, "instructions") && is_event(what, "cycles"))
		buf_addstr(out, "CPI");
	else if (is_per_time(f))
		buf_addf(out, "%s per ms", what);
	else
		buf_addf(out, "%s/%s", what, by);
}

double flame_ratio_unit(const struct flame *f)
{
	return is_per_time(f) ? NSEC_PER_MSEC : 1;
}

/* --- words --------------------------------------------------------------------------------- */

static const char *unit_of(const struct flame *f)
{
	return profile_str(f->profile, f->profile->events.items[f->event].unit);
}

u64 flame_scale(const struct profile *p, u16 event)
{
	const char *unit = profile_str(p, p->events.items[event].unit);

	if (streq(unit, "thousandths"))
		return 1000;
	return streq(unit, "millionths") ? 1000000 : 1;
}

void flame_fraction(struct buf *out, u64 weight, u64 scale)
{
	u64 part = weight % scale;
	int digits = scale == 1000 ? 3 : 6;

	while (part && part % 10 == 0) {
		part /= 10;
		digits--;
	}
	if (part)
		buf_addf(out, ".%0*llu", digits, (unsigned long long)part);
}

void flame_amount(const struct flame *f, u64 weight, u64 samples, struct buf *out)
{
	const char *unit = unit_of(f);
	u64 scale = flame_scale(f->profile, f->event);

	if (scale > 1) {
		fmt_count(out, weight / scale);
		flame_fraction(out, weight, scale);
		buf_addstr(out, " samples");
		return;
	}
	fmt_count(out, samples);
	buf_addstr(out, " samples");
	if (weight == samples)
		return;
	buf_addstr(out, ", ");
	if (streq(unit, "ns")) {
		fmt_duration(out, weight);
		return;
	}
	fmt_count(out, weight);
	buf_addf(out, " %s",
		 *unit ? unit : profile_str(f->profile, f->profile->events.items[f->event].name));
}

static bool find_event(const struct profile *p, const char *name, u16 *ret)
{
	for (size_t i = 0; i < p->events.len; i++) {
		if (streq(profile_str(p, p->events.items[i].name), name)) {
			*ret = (u16)i;
			return true;
		}
	}
	return false;
}

void flame_choose_event(const struct profile *p, struct flame_opts *ret)
{
	u16 before, after;

	ret->event = 0;
	while (ret->event + 1u < p->events.len && !p->events.items[ret->event].samples)
		ret->event++;
	ret->has_baseline = p->events.len == 2 && find_event(p, "before", &before) &&
			    find_event(p, "after", &after);
	if (ret->has_baseline) {
		ret->event = after;
		ret->baseline = before;
	}
}

static void add_part(struct buf *out, const char *what, const char *text)
{
	if (*text)
		buf_addf(out, "%s%s%s", out->len ? ", " : "", what, text);
}

static void add_lost(const struct profile *p, struct buf *out)
{
	if (p->lost_samples)
		buf_addf(out, ", %llu lost", (unsigned long long)p->lost_samples);
	/* folded stacks do not say */
	else if (p->kernel && !p->lost_stacks)
		buf_addstr(out, ", none lost");
	if (p->lost_stacks)
		buf_addf(out, ", %llu stacks lost or cut", (unsigned long long)p->lost_stacks);
	if (p->bad_records)
		buf_addf(out, ", %llu unreadable", (unsigned long long)p->bad_records);
	if (p->fault)
		buf_addstr(out, ", the file is damaged");
}

void flame_origin(const struct profile *p, struct buf *out)
{
	if (p->last_time > p->first_time) {
		buf_addstr(out, " over ");
		fmt_duration(out, p->last_time - p->first_time);
	}
	add_lost(p, out);
	add_part(out, "", profile_str(p, p->hostname));
	add_part(out, "Linux ", profile_str(p, p->kernel));
}

void flame_subtitle(const struct flame *f, struct buf *out)
{
	const struct profile *p = f->profile;
	const struct calltree_node *root = &f->tree.nodes.items[0];
	const char *event = profile_str(p, p->events.items[f->event].name);

	flame_amount(f, root->total, root->count, out);
	if (f->ratio) {
		buf_addstr(out, ", ");
		flame_ratio_name(f, out);
		buf_addf(out, " %.3g overall",
			 flame_ratio_unit(f) * (double)f->tree.base[0] /
				 (double)MAX(root->total, 1ull));
	} else if (f->tree.base) {
		buf_addstr(out, ", before ");
		fmt_count(out, f->tree.base[0] / flame_scale(p, f->event));
		flame_fraction(out, f->tree.base[0], flame_scale(p, f->event));
	} else if (f->threads) {
		buf_addf(out, " of wall-clock time of %llu thread%s",
			 (unsigned long long)f->threads, f->threads == 1 ? "" : "s");
	} else if (!streq(event, "samples")) {
		buf_addf(out, " of %s", event);
	}
	flame_origin(p, out);
	add_part(out, "stacks ", profile_str(p, p->unwinder));
	if (f->vanished && f->tree.base && !f->ratio)
		buf_addf(out, ", %.2f%% of before vanished",
			 100.0 * (double)f->vanished / (double)MAX(f->tree.base[0], 1ull));
}
