/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call graphs: weights, what is left out, and where boxes go. */
#include "unit/harness.h"

#include "analysis/callgraph.h"
#include "profile/load.h"
#include "view/svg_graph.h"

#include <math.h>

static void build(struct profile *p, struct callgraph *g, const char *text,
		  struct callgraph_opts opts)
{
	profile_init(p);
	CHECK_EQ(profile_load_folded(p, text, strlen(text), NULL), 0);
	CHECK_EQ(callgraph_init(g, p, &opts, NULL), 0);
}

static struct callgraph_node *node(const struct callgraph *g, const char *name)
{
	for (u32 i = 0; i < g->nodes.len; i++)
		if (streq(callgraph_name(g, i), name))
			return &g->nodes.items[i];
	return NULL;
}

static const struct callgraph_arc *arc(const struct callgraph *g, const char *from, const char *to)
{
	vec_each(a, &g->arcs)
		if (streq(callgraph_name(g, a->from), from) && streq(callgraph_name(g, a->to), to))
			return a;
	return NULL;
}

TEST(weights_of_nodes_and_arcs)
{
	struct callgraph g;
	struct profile p;

	build(&p, &g, "main;a;x 3\nmain;b;x 4\nmain;b 2\n", (struct callgraph_opts){ 0 });
	CHECK_EQ(g.whole, 9);
	CHECK_EQ(node(&g, "main")->total, 9);
	CHECK_EQ(node(&g, "x")->self, 7);
	CHECK_EQ(node(&g, "b")->self, 2);
	CHECK_EQ(arc(&g, "main", "b")->weight, 6);
	CHECK_EQ(arc(&g, "b", "x")->weight, 4);
	CHECK(!arc(&g, "main", "x"));
	callgraph_release(&g);
	profile_release(&p);
}

TEST(recursion_counts_once)
{
	struct callgraph g;
	struct profile p;

	build(&p, &g, "main;f;f;f;g;f 5\n", (struct callgraph_opts){ 0 });
	CHECK_EQ(node(&g, "f")->total, 5);
	CHECK_EQ(node(&g, "f")->self, 5);
	CHECK_EQ(arc(&g, "f", "f")->weight, 5);
	CHECK_EQ(arc(&g, "f", "g")->weight, 5);
	CHECK_EQ(arc(&g, "g", "f")->weight, 5);
	callgraph_release(&g);
	profile_release(&p);
}

TEST(what_is_left_out_is_counted_and_bridged)
{
	struct callgraph g;
	struct profile p;

	build(&p, &g, "main;thin;x 1\nmain;x 99\nmain;thin2 1\n",
	      (struct callgraph_opts){ .min_node = 0.05 });
	CHECK_EQ(g.nodes.len, 2);
	CHECK_EQ(g.hidden_nodes, 2);
	CHECK_EQ(g.hidden_self, 1);
	CHECK_EQ(arc(&g, "main", "x")->weight, 100);
	CHECK(!arc(&g, "main", "x")->indirect);
	callgraph_release(&g);
	profile_release(&p);

	build(&p, &g, "main;thin;x 1\nmain 50\no;x 50\n",
	      (struct callgraph_opts){ .min_node = 0.05 });
	CHECK(arc(&g, "main", "x")->indirect);
	callgraph_release(&g);
	profile_release(&p);
}

TEST(focus_keeps_whole_stacks)
{
	struct callgraph_opts opts = { .focus = "x*" };
	struct callgraph g;
	struct profile p;

	build(&p, &g, "main;a;x1 3\nmain;b 4\n", opts);
	CHECK_EQ(g.whole, 3);
	CHECK_EQ(g.unfocused, 4);
	CHECK(node(&g, "main") && !node(&g, "b"));
	callgraph_release(&g);
	opts.focus = "nothing";
	CHECK_EQ(callgraph_init(&g, &p, &opts, NULL), -ENODATA);
	profile_release(&p);
}

/* Callers above callees, save in cycles; boxes of one layer do not touch. */
TEST(layout)
{
	struct callgraph g;
	struct profile p;

	build(&p, &g, "main;a;b;c;d 5\nmain;d 5\nmain;e;b 5\nmain;e;f;a 1\nmain;c;a 2\nroot2;d 3\n",
	      (struct callgraph_opts){ 0 });
	vec_each(n, &g.nodes) {
		n->width = 80;
		n->height = 30;
	}
	callgraph_layout(&g);
	vec_each(a, &g.arcs) {
		const struct callgraph_node *from = &g.nodes.items[a->from];
		const struct callgraph_node *to = &g.nodes.items[a->to];

		CHECK(a->back ? from->y > to->y : from->y < to->y);
		CHECK(a->n_points >= 2);
	}
	vec_each(n, &g.nodes)
		vec_each(m, &g.nodes)
			CHECK(n == m || n->layer != m->layer || n->x + 80 <= m->x ||
			      m->x + 80 <= n->x);
	callgraph_release(&g);
	profile_release(&p);
}

/* The hot path is a column, and an arc that passes other layers is a line beside it. */
TEST(hot_paths_and_long_arcs_are_straight)
{
	static const char *const path[] = { "main", "a", "b", "c", "d", "e", "f" };
	const struct callgraph_arc *skip;
	struct callgraph g;
	struct profile p;

	build(&p, &g,
	      "main;a;b;c;d;e;f 500\nmain;a;x1 30\nmain;a;x2 30\nmain;a;x3 30\nmain;b;y1 20\n"
	      "main;a;b;y2 20\nmain;a;b;y3 25\nmain;a;b;c;z1 20\nmain;f 5\nmain;w;v;u;t 9\n",
	      (struct callgraph_opts){ 0 });
	vec_each(n, &g.nodes) {
		n->width = 80;
		n->height = 30;
	}
	callgraph_layout(&g);
	for (size_t i = 1; i < ARRAY_SIZE(path); i++)
		CHECK(fabs(node(&g, path[i])->x - node(&g, "main")->x) < 0.01);
	skip = arc(&g, "main", "f");
	CHECK_EQ(skip->n_points, 7);
	for (u32 i = 2; i + 1 < skip->n_points; i++)
		CHECK(fabs(g.points.items[skip->first_point + i].x -
			   g.points.items[skip->first_point + 1].x) < 0.01);
	callgraph_release(&g);
	profile_release(&p);
}

/* Forty callees do not make one row of forty boxes. */
TEST(wide_layers_are_spread)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct callgraph g;
	struct profile p;

	for (int i = 0; i < 40; i++)
		buf_addf(&text, "main;callee%d 10\n", i);
	build(&p, &g, buf_str(&text), (struct callgraph_opts){ 0 });
	vec_each(n, &g.nodes) {
		n->width = 100;
		n->height = 40;
	}
	callgraph_layout(&g);
	CHECK(g.width < 3000); /* in one row they would take 4960 */
	CHECK(g.height < 1000);
	vec_each(n, &g.nodes)
		CHECK(n == g.nodes.items ? n->layer == 0 : n->layer > 0);
	callgraph_release(&g);
	profile_release(&p);
}

TEST(half_of_the_nodes_are_chosen_by_self)
{
	struct callgraph g;
	struct profile p;

	build(&p, &g, "a;b;c;d;e;leaf1 30\na;b;c;d;e;leaf2 29\na;b;c;d;e 1\n",
	      (struct callgraph_opts){ .max_nodes = 4 });
	CHECK_EQ(g.nodes.len, 4);
	CHECK(node(&g, "a") && node(&g, "b") && node(&g, "leaf1") && node(&g, "leaf2"));
	CHECK_EQ(g.hidden_nodes, 3);
	CHECK_EQ(g.hidden_self, 1);
	CHECK(g.nodes.items[0].total >= g.nodes.items[3].total);
	callgraph_release(&g);
	profile_release(&p);
}

/* main ... x leads where main, a, x does; main ... y is the only way. */
TEST(arcs_beside_other_ways_are_thinned)
{
	struct callgraph g;
	struct profile p;

	build(&p, &g, "main;a;x 50\nmain;thin1;x 1\nmain;thin2;y 49\nmain;thin3;y 1\n",
	      (struct callgraph_opts){ .max_nodes = 4 });
	CHECK(arc(&g, "main", "x")->indirect && arc(&g, "main", "y")->indirect);
	callgraph_thin(&g);
	CHECK(!arc(&g, "main", "x"));
	CHECK(arc(&g, "main", "y") && arc(&g, "main", "a") && arc(&g, "a", "x"));
	CHECK_EQ(g.bridged_arcs, 1);
	callgraph_release(&g);
	profile_release(&p);
}

TEST(names_are_quoted_everywhere)
{
	_cleanup_buf_ struct buf svg = BUF_INIT, dot = BUF_INIT;
	struct callgraph g;
	struct profile p;

	build(&p, &g, "<b>;\"x\\\"&;y 5\n<b>;z 5\n", (struct callgraph_opts){ 0 });
	svg_graph(&g, "t<", &svg);
	dot_graph(&g, "t\"", &dot);
	CHECK(!strstr(buf_str(&svg), "<b>"));
	CHECK(strstr(buf_str(&svg), "&lt;b&gt;") != NULL);
	CHECK(strstr(buf_str(&dot), "\\\"x\\\\\\\"&") != NULL);
	callgraph_release(&g);
	profile_release(&p);
}

TEST(modules_as_nodes)
{
	static const char text[] = "app 1/1 [000] 1.0: 10 c:\n"
				   "\t1 read (/lib/libc.so)\n\t2 fread (/lib/libc.so)\n\t3 main "
				   "(/bin/app)\n\n";
	struct callgraph_opts opts = { .by_module = true };
	struct callgraph g;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_script(&p, text, strlen(text), NULL, NULL), 0);
	CHECK_EQ(callgraph_init(&g, &p, &opts, NULL), 0);
	CHECK_EQ(g.nodes.len, 2);
	CHECK_EQ(g.arcs.len, 1);
	CHECK_EQ(arc(&g, "app", "libc.so")->weight, 10);
	callgraph_release(&g);
	profile_release(&p);
}
