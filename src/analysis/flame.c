/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"

#include "analysis/flame_names.h"
#include "base/fmt.h"

/* --- boxes --------------------------------------------------------------------------------- */

struct layout {
	struct flame *flame;
	const struct flame_opts *opts;
	double min_weight;
};

static bool is_waker(const struct flame *f, const struct calltree_node *n, bool parent)
{
	const char *name = profile_str(f->profile, n->name);

	return parent || streq(name, "--") || ends_with(name, "_[w]");
}

/* Puts the box in if it is to be seen. */
static bool add_box(struct layout *l, u32 node, u32 parent, u64 start)
{
	struct flame *f = l->flame;
	const struct calltree_node *n = &f->tree.nodes.items[node];
	const struct flame_box *below = node ? &f->boxes.items[parent] : NULL;
	u32 depth = below ? below->depth + 1 : 0;
	bool waker = is_waker(f, n, below && below->waker);

	if (node && (!n->total || (double)n->total < l->min_weight)) {
		f->narrow += n->total != 0;
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

static u32 first_child(struct layout *l, u32 node)
{
	if (!l->opts->chart)
		calltree_sort_children(&l->flame->tree, l->opts->order, node);
	return l->flame->tree.nodes.items[node].first_child;
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

/* What the baseline has where nothing is any more, counted at the topmost such node. */
static u64 sum_vanished(const struct calltree *t)
{
	u64 sum = 0;

	for (size_t i = 1; t->base && i < t->nodes.len; i++)
		if (!t->nodes.items[i].total && t->nodes.items[t->nodes.items[i].parent].total)
			sum += t->base[i];
	return sum;
}

static void make_tree(struct flame *f, const struct flame_opts *o)
{
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

	*f = (struct flame){ .profile = p, .event = opts->event };
	make_tree(f, opts);
	sum = f->tree.nodes.items[0].total;
	if (!sum) {
		flame_release(f);
		err_set(e, ENODATA, "there is nothing to draw: no sample has any weight");
		return -ENODATA;
	}
	f->total_too_small = opts->total > 0 && opts->total < (double)sum;
	f->total = MAX(opts->total, (double)sum);
	f->vanished = sum_vanished(&f->tree);
	l.min_weight = opts->min_share * f->total;
	place_boxes(&l);
	return 0;
}

void flame_release(struct flame *f)
{
	calltree_release(&f->tree);
	vec_release(&f->boxes);
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
	return f->tree.base ? (s64)(flame_node(f, b)->total - f->tree.base[b->node]) : 0;
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

	ret->event = p->samples.len ? p->samples.items[0].event : 0;
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
	if (p->bad_records)
		buf_addf(out, ", %llu unreadable", (unsigned long long)p->bad_records);
}

void flame_subtitle(const struct flame *f, struct buf *out)
{
	const struct profile *p = f->profile;
	const struct calltree_node *root = &f->tree.nodes.items[0];
	const char *event = profile_str(p, p->events.items[f->event].name);

	flame_amount(f, root->total, root->count, out);
	if (!streq(event, "samples"))
		buf_addf(out, " of %s", event);
	if (p->last_time > p->first_time) {
		buf_addstr(out, " over ");
		fmt_duration(out, p->last_time - p->first_time);
	}
	add_lost(p, out);
	add_part(out, "", profile_str(p, p->hostname));
	add_part(out, "Linux ", profile_str(p, p->kernel));
	add_part(out, "stacks by ", profile_str(p, p->unwinder));
	if (f->vanished)
		buf_addf(out, ", %.2f%% of before vanished",
			 100.0 * (double)f->vanished / (double)MAX(f->tree.base[0], 1ull));
}
