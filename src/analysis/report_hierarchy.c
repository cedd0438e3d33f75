/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/report_hierarchy.h"

#include "base/buf.h"
#include "base/intern.h"

struct hierarchy {
	const struct profile *profile;
	const struct report_opts *opts;
	const struct report_keys *keys;
	struct intern groups; /* the first keys of an entry, any number of them */
	VEC(u64) weights;     /* by group; [0] unused */
	struct result *ret;
	struct tree *tree;
	u64 whole;
	u64 hidden;
};

/* The entries that have the first @level + 1 keys in common with @en. */
static u32 group_of(struct hierarchy *h, const struct hierarchy_entry *en, size_t level)
{
	u32 id = intern_bytes(&h->groups, en->key, (level + 1) * sizeof(*en->key));

	while (h->weights.len <= id)
		vec_push(&h->weights, 0);
	return id;
}

static void sum_up(struct hierarchy *h, const struct hierarchy_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t level = 0; level < h->keys->n; level++) {
			u32 group = group_of(h, &entries[i], level);

			h->weights.items[group] += entries[i].weight;
		}
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct hierarchy_entry *x = a, *y = b;
	struct hierarchy *h = ctx;

	for (size_t level = 0; level < h->keys->n; level++) {
		if (x->key[level] == y->key[level])
			continue;
		u64 m = h->weights.items[group_of(h, x, level)];
		u64 n = h->weights.items[group_of(h, y, level)];

		if (m != n)
			return m > n ? -1 : 1;
		return x->key[level] < y->key[level] ? -1 : 1;
	}
	return 0;
}

static const char *label_of(struct hierarchy *h, const struct hierarchy_entry *en, size_t level)
{
	struct value v = h->keys->keys[level].show(h->profile, h->ret, en->key[level]);

	if (v.type == VALUE_TEXT)
		return v.s;
	return arena_printf(&h->ret->arena, "%llu", (unsigned long long)v.u);
}

static bool is_shown(const struct hierarchy *h, u64 weight)
{
	double percent = h->whole ? 100.0 * (double)weight / (double)h->whole : 0;

	return weight && percent >= h->opts->percent_limit &&
	       (!h->opts->max_lines || h->tree->nodes.len < h->opts->max_lines);
}

/* The lines of @en from that level on, at which it differs from the one before. */
static void add_lines(struct hierarchy *h, const struct hierarchy_entry *en, size_t level)
{
	for (; level < h->keys->n; level++) {
		u64 weight = h->weights.items[group_of(h, en, level)];
		struct tree_node *node;

		if (!is_shown(h, weight)) {
			h->hidden += h->keys->n - level;
			return;
		}
		node = tree_add(h->ret, h->tree, (u32)level, label_of(h, en, level));
		node->percent = 100.0 * (double)weight / (double)h->whole;
		node->value = weight;
		node->self = level + 1 == h->keys->n ? weight : 0;
		node->style = level ? STYLE_NONE : STYLE_STRONG;
	}
}

static size_t first_difference(const struct hierarchy *h, const struct hierarchy_entry *a,
			       const struct hierarchy_entry *b)
{
	size_t level = 0;

	while (level < h->keys->n && a->key[level] == b->key[level])
		level++;
	return level;
}

static char *title_of(const struct hierarchy *h)
{
	_cleanup_buf_ struct buf title = BUF_INIT;

	for (size_t i = 0; i < h->keys->n; i++)
		buf_addf(&title, "%s%s", i ? " / " : "", h->keys->keys[i].title);
	return arena_printf(&h->ret->arena, "%s", buf_str(&title));
}

u64 report_hierarchy(const struct profile *p, const struct report_opts *opts,
		     const struct report_keys *keys, struct hierarchy_entry *entries, size_t n,
		     u64 whole, enum value_type unit, struct result *ret)
{
	struct hierarchy h = {
		.profile = p, .opts = opts, .keys = keys, .ret = ret, .whole = whole
	};

	sum_up(&h, entries, n);
	if (n > 1)
		qsort_r(entries, n, sizeof(*entries), compare, &h);
	h.tree = result_tree(ret, "hierarchy", title_of(&h), unit);
	h.tree->outline = true;
	for (size_t i = 0; i < n; i++)
		add_lines(&h, &entries[i],
			  i ? first_difference(&h, &entries[i - 1], &entries[i]) : 0);
	intern_release(&h.groups);
	vec_release(&h.weights);
	return h.hidden;
}
