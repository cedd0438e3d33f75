/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flame graph as an outline: facts, and a line for each box. */
#include "analysis/flame.h"

#include "analysis/report.h"

/* Blocked time as a whole, and by kind. */
static void add_blocked_facts(const u64 *ns, struct result *ret)
{
	u64 blocked = 0;

	for (int i = 0; i < HOT_STATES; i++)
		blocked += hotcold_is_blocked(i) ? ns[i] : 0;
	result_fact(ret, "blocked_ns", hotcold_words(HOT_BLOCKED),
		    value_u(VALUE_DURATION, blocked));
	for (int k = 0; k < STATE_COUNT; k++) {
		char key[48];

		snprintf(key, sizeof(key), "blocked_%s_ns",
			 thread_state_name((enum thread_state)k));
		if (ns[HOT_KINDS + k])
			result_fact(ret, key, NULL, value_u(VALUE_DURATION, ns[HOT_KINDS + k]));
	}
}

static void add_state_facts(const struct flame *f, struct result *ret)
{
	const u64 *ns = f->states[0].ns;

	result_fact(ret, "threads", "threads", value_u(VALUE_COUNT, f->threads));
	result_fact(ret, "wall_ns", "wall-clock time",
		    value_u(VALUE_DURATION, f->tree.nodes.items[0].total));
	result_fact(ret, "oncpu_ns", hotcold_words(HOT_ON_CPU),
		    value_u(VALUE_DURATION, ns[HOT_ON_CPU]));
	result_fact(ret, "runqueue_ns", hotcold_words(HOT_RUNQ),
		    value_u(VALUE_DURATION, ns[HOT_RUNQ]));
	add_blocked_facts(ns, ret);
	result_fact(ret, "unknown_ns", hotcold_words(HOT_UNKNOWN),
		    value_u(VALUE_DURATION, ns[HOT_UNKNOWN]));
	result_fact(ret, "idle_ns", "waiting for work, not shown",
		    value_u(VALUE_DURATION, f->idle));
}

void flame_result(const struct flame *f, struct result *ret)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct tree *tree;

	report_facts(f->profile, true, ret);
	report_health(f->profile, ret);
	if (f->states)
		add_state_facts(f, ret);
	tree = result_tree(ret, "boxes", NULL, VALUE_COUNT);
	vec_each(b, &f->boxes) {
		const struct calltree_node *n = flame_node(f, b);
		struct tree_node *line;
		size_t len;
		const char *text = flame_name(f, b, &len);

		buf_reset(&name);
		buf_add(&name, text, len);
		line = tree_add(ret, tree, b->depth, buf_str(&name));
		line->percent = 100 * (double)n->total / f->total;
		line->value = n->total;
		line->self = n->self;
	}
}
