/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "analysis/calltree.h"
#include "analysis/report.h"
#include "base/buf.h"
#include "profile/chainmemo.h"
#include "profile/load.h"

/* Adds a sample whose frames are given from the root to the leaf, separated by ';'. */
static void add(struct profile *p, const char *comm, const char *frames, u64 weight)
{
	_cleanup_free_ char *copy = xstrdup(frames);
	struct profile_sample s = { .weight = weight, .count = 1, .cpu = 0 };
	char *save = NULL;

	s.event = profile_get_event(p, "cycles");
	s.thread = profile_get_thread(p, 1, 1, profile_string(p, comm), 0);
	for (char *f = strtok_r(copy, ";", &save); f; f = strtok_r(NULL, ";", &save)) {
		struct frame frame = { .name = profile_string(p, f) };

		s.stack = profile_get_stack(p, s.stack, profile_get_frame(p, &frame));
	}
	profile_add_sample(p, &s);
}

TEST("equal frames, stacks and threads have one id")
{
	struct profile p;
	u32 frames[8];

	profile_init(&p);
	add(&p, "x", "main;a;b", 1);
	add(&p, "x", "main;a;b", 1);
	add(&p, "x", "main;a;c", 1);
	CHECK_EQ(p.frames.len - 1, 4);
	CHECK_EQ(p.stacks.len - 1, 4);
	CHECK_EQ(p.threads.len - 1, 1);
	CHECK_EQ(p.samples.items[0].stack, p.samples.items[1].stack);
	CHECK_EQ(profile_depth(&p, p.samples.items[2].stack), 3);
	CHECK_EQ(profile_frames(&p, p.samples.items[2].stack, frames, 8), 3);
	CHECK_STR(profile_str(&p, p.frames.items[frames[2]].name), "c");
	CHECK_EQ(p.events.items[0].samples, 3);
	profile_release(&p);
}

static u32 child(const struct calltree *t, u32 parent, const char *name)
{
	for (u32 c = t->nodes.items[parent].first_child; c; c = t->nodes.items[c].next)
		if (streq(calltree_name(t, c), name))
			return c;
	FAIL("no child '%s'", name);
}

TEST("the call tree sums inclusive and own weights")
{
	struct calltree_opts opts = { .event = CALLTREE_ALL_EVENTS, .group = GROUP_COMM };
	struct calltree t;
	struct profile p;
	u32 a;

	profile_init(&p);
	add(&p, "x", "main;a;b", 5);
	add(&p, "x", "main;a", 3);
	add(&p, "x", "main;c", 2);
	add(&p, "y", "main;a", 7);
	calltree_init(&t, &p, &opts);
	calltree_sort(&t, ORDER_WEIGHT);
	CHECK_EQ(t.nodes.items[0].total, 17);
	a = child(&t, child(&t, child(&t, 0, "x"), "main"), "a");
	CHECK_EQ(t.nodes.items[a].total, 8);
	CHECK_EQ(t.nodes.items[a].self, 3);
	CHECK_EQ(t.nodes.items[a].count, 2);
	CHECK_STR(calltree_name(&t, t.nodes.items[0].first_child), "x");
	calltree_release(&t);
	profile_release(&p);
}

TEST("the inverted tree begins with leaves")
{
	struct calltree_opts opts = { .event = CALLTREE_ALL_EVENTS, .inverted = true };
	struct calltree t;
	struct profile p;
	u32 b;

	profile_init(&p);
	add(&p, "x", "main;a;b", 5);
	add(&p, "x", "main;c;b", 4);
	calltree_init(&t, &p, &opts);
	b = child(&t, 0, "b");
	CHECK_EQ(t.nodes.items[b].total, 9);
	CHECK_EQ(t.nodes.items[child(&t, b, "a")].total, 5);
	CHECK_EQ(t.nodes.items[child(&t, b, "c")].total, 4);
	calltree_release(&t);
	profile_release(&p);
}

static const struct value *cell(const struct result *r, const char *symbol, const char *column)
{
	const struct table *t = NULL;

	vec_each(s, &r->sections)
		if (s->type == SECTION_TABLE)
			t = s->table;
	vec_each(row, &t->rows)
		if (streq(row->cells[t->n_columns - 1].s, symbol))
			for (size_t i = 0; i < t->n_columns; i++)
				if (streq(t->columns[i].key, column))
					return &row->cells[i];
	FAIL("no row '%s'", symbol);
}

TEST("the report counts recursion once")
{
	struct report_opts opts = { .sort = "symbol", .tree = TREE_NONE };
	struct profile p;
	struct result r;

	profile_init(&p);
	result_init(&r, "report");
	add(&p, "x", "main;f;f;f", 6);
	add(&p, "x", "main;f;g", 2);
	add(&p, "x", "main", 2);
	CHECK_EQ(report_build(&p, &opts, &r, NULL), 0);
	CHECK_NEAR(cell(&r, "[.] f", "children")->d, 80, 0.001);
	CHECK_NEAR(cell(&r, "[.] f", "self")->d, 60, 0.001);
	CHECK_NEAR(cell(&r, "[.] main", "children")->d, 100, 0.001);
	CHECK_NEAR(cell(&r, "[.] main", "self")->d, 20, 0.001);
	CHECK_NEAR(cell(&r, "[.] g", "self")->d, 20, 0.001);
	result_release(&r);
	profile_release(&p);
}

static const struct tree *tree_of(const struct result *r)
{
	vec_each(s, &r->sections)
		if (s->type == SECTION_TREE)
			return s->tree;
	return NULL;
}

/* The labels of the tree, each indented by its depth, one after the other. */
static void outline(struct profile *p, u32 max_lines, double limit, struct buf *ret)
{
	const struct report_opts opts = { .max_lines = max_lines, .percent_limit = limit };
	struct result r;

	result_init(&r, "report");
	CHECK_EQ(report_build(p, &opts, &r, NULL), 0);
	vec_each(n, &tree_of(&r)->nodes)
		buf_addf(ret, "%u %s|", n->depth, n->label);
	result_release(&r);
}

TEST("a straight run of calls is folded when the page is too short for it")
{
	_cleanup_buf_ struct buf few = BUF_INIT, all = BUF_INIT;
	struct profile p;

	profile_init(&p);
	add(&p, "x", "a;b;c;d;e;f;g;left", 60);
	add(&p, "x", "a;b;c;d;e;f;g;right", 40);
	outline(&p, 9, 0.5, &few);
	CHECK_STR(buf_str(&few), "0 x|1 a|2 ... 4 calls|3 f|4 g|5 left|5 right|");
	outline(&p, 10, 0.5, &all);
	CHECK_STR(buf_str(&all), "0 x|1 a|2 b|3 c|4 d|5 e|6 f|7 g|8 left|8 right|");
	profile_release(&p);
}

TEST("one deep stack leaves room for the others")
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct profile p;

	profile_init(&p);
	add(&p, "deep", "a;b;c", 30);
	add(&p, "deep", "a;b;d", 10);
	for (int i = 0; i < 20; i++) {
		_cleanup_free_ char *frames = xasprintf("a;b;small%d", i);

		add(&p, "deep", frames, 1);
	}
	add(&p, "other", "main", 40);
	outline(&p, 7, 0, &text);
	CHECK_STR(buf_str(&text), "0 deep|1 a|2 b|3 c|3 d|0 other|1 main|");
	profile_release(&p);
}

static void add_as(struct profile *p, const char *event, const char *comm, const char *frames,
		   u64 weight)
{
	struct profile_sample *s;

	add(p, comm, frames, weight);
	s = vec_last(&p->samples);
	p->events.items[s->event].samples--;
	p->events.items[s->event].weight -= weight;
	s->event = profile_get_event(p, event);
	p->events.items[s->event].samples++;
	p->events.items[s->event].weight += weight;
}

TEST("events stand side by side, each with its own shares")
{
	const struct report_opts opts = { .sort = "comm,symbol", .tree = TREE_NONE, .group = true };
	struct profile p;
	struct result r;

	profile_init(&p);
	result_init(&r, "report");
	add_as(&p, "cycles", "x", "top;a", 30);
	add_as(&p, "cycles", "y", "base;b", 10);
	/* in another order, so that numbers of one event mean nothing in the other */
	add_as(&p, "faults", "y", "base;b", 6);
	add_as(&p, "faults", "x", "top;a", 2);
	add_as(&p, "faults", "z", "late", 2);
	CHECK_EQ(report_build(&p, &opts, &r, NULL), 0);
	CHECK_NEAR(cell(&r, "[.] top", "cycles_children")->d, 75, 0.001);
	CHECK_NEAR(cell(&r, "[.] top", "faults_children")->d, 20, 0.001);
	CHECK_NEAR(cell(&r, "[.] base", "cycles_children")->d, 25, 0.001);
	CHECK_NEAR(cell(&r, "[.] b", "faults_self")->d, 60, 0.001);
	CHECK_NEAR(cell(&r, "[.] late", "cycles_children")->d, 0, 0.001);
	CHECK_NEAR(cell(&r, "[.] late", "faults_self")->d, 20, 0.001);
	CHECK_EQ(cell(&r, "[.] late", "faults_samples")->u, 1);
	result_release(&r);
	profile_release(&p);
}

TEST("a sort key that does not exist is named, and those that do")
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct report_opts opts = { .sort = "comm,colour" };
	struct profile p;
	struct result r;

	profile_init(&p);
	result_init(&r, "report");
	add(&p, "x", "main", 1);
	CHECK_EQ(report_build(&p, &opts, &r, &e), -EINVAL);
	CHECK_STR(e.what, "unknown sort key 'colour'");
	CHECK(strstr(e.hint, "srcline"));
	result_release(&r);
	profile_release(&p);
}

TEST("an empty profile is an error, not a table of nothing")
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct report_opts opts = { 0 };
	struct profile p;
	struct result r;

	profile_init(&p);
	result_init(&r, "report");
	CHECK_EQ(report_build(&p, &opts, &r, &e), -ENODATA);
	result_release(&r);
	profile_release(&p);
}

static enum input_kind sniff(const char *text)
{
	return profile_sniff(text, strlen(text));
}

TEST("inputs are known by their content")
{
	CHECK_EQ(sniff("PERFILE2xxxxxxxx"), INPUT_PERF_DATA);
	CHECK_EQ(sniff("main;a;b 12\nmain;c 3\n"), INPUT_FOLDED);
	CHECK_EQ(sniff("# comment\n\nmain;a b 12.5\n"), INPUT_FOLDED);
	CHECK_EQ(sniff("# ====\nburn  1234 [000] 100.123456:  1001001 cpu-clock:\n\t  55 a (/x)\n"),
		 INPUT_SCRIPT);
	CHECK_EQ(sniff("hello world\nthis is prose\n"), INPUT_UNKNOWN);
	CHECK_EQ(sniff(""), INPUT_UNKNOWN);
}

TEST("beginnings of chains are remembered, and forgotten only when there are too many")
{
	struct chainmemo m = { 0 };
	u64 h = chainmemo_begin(7);

	CHECK(!chainmemo_find(&m, h));
	for (u32 i = 1; i <= 100000; i++) {
		h = chainmemo_step(h, 0x400000 + i, i & 1);
		chainmemo_put(&m, h, i);
	}
	h = chainmemo_begin(7);
	for (u32 i = 1; i <= 100000; i++) {
		const struct chainmemo_slot *slot;

		CHECK(!chainmemo_find(&m, chainmemo_step(h, 0x400000 + i, !(i & 1))));
		h = chainmemo_step(h, 0x400000 + i, i & 1);
		slot = chainmemo_find(&m, h);
		/* few lose their place to others */
		CHECK(!slot || slot->stack == i);
	}
	CHECK(m.len > 99000 && m.len <= 100000);
	CHECK(!chainmemo_find(&m, chainmemo_begin(8)));
	chainmemo_release(&m);
}
