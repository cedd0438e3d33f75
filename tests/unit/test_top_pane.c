/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "harness.h"

#include <poll.h>

#include "top/pane_draw.h"
#include "tui/export.h"

static bool decode(struct pane *p, const char *text)
{
	return pane_decode(p, text, strlen(text));
}

static void draw(const struct pane *p, enum pane_form form, const char *kinds, struct buf *out)
{
	size_t n;
	struct grid g;
	struct list l = { 0 };

	grid_init(&g, 60, 8, theme_list(&n));
	g.theme = theme_plain();
	pane_draw(&g, grid_all(&g), p, form, kinds, &l);
	buf_reset(out);
	grid_export_text(&g, out);
	grid_release(&g);
}

TEST("tables of tools")
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct pane p = { 0 };

	CHECK(decode(&p,
		     "{\"schema\":1,\"command\":\"nettop\",\"title\":null,\"facts\":{\"time\":7,"
		     "\"seconds\":1.5},\"rows\":[{\"pid\":8,\"comm\":\"a\\u001bb\",\"rx\":null,"
		     "\"tx\":49152},{\"pid\":9,\"comm\":\"c\",\"rx\":1024,\"tx\":1}],"
		     "\"notes\":[],\"losses\":{}}"));
	CHECK_EQ(p.look.time, 7);
	CHECK(pane_table(&p, NULL) != NULL);
	CHECK_EQ(pane_table(&p, NULL)->rows.len, 2);
	CHECK_EQ(pane_column(pane_table(&p, NULL), "tx"), 3);
	draw(&p, PANE_AUTO, "pid comm bytes bytes", &out);
	CHECK(strstr(buf_str(&out), "48.0K") != NULL);
	CHECK(strstr(buf_str(&out), "1.00K") != NULL || strstr(buf_str(&out), "1.0K") != NULL);
	CHECK(strchr(buf_str(&out), '\033') == NULL);
	/* the next one takes its place */
	CHECK(decode(&p, "{\"schema\":1,\"command\":\"nettop\",\"rows\":[]}"));
	CHECK_EQ(pane_table(&p, NULL)->rows.len, 0);
	pane_release(&p);
}

TEST("rows of tools that come one by one")
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct pane p = { 0 };

	CHECK(decode(&p, "{\"schema\":1,\"command\":\"x\",\"columns\":[{\"key\":\"pid\",\"type\":"
			 "\"pid\",\"unit\":null},{\"key\":\"args\",\"type\":\"string\"}]}"));
	for (int i = 0; i < PANE_ROWS + 50; i++)
		CHECK(decode(&p, "{\"pid\":1,\"args\":\"ls\"}"));
	CHECK(decode(&p, "{\"pid\":2,\"args\":\"newest\"}"));
	CHECK_EQ(pane_table(&p, NULL)->rows.len, PANE_ROWS);
	draw(&p, PANE_AUTO, NULL, &out);
	CHECK(strstr(buf_str(&out), "2 newest") != NULL);
	pane_release(&p);
}

TEST("histograms and heat maps of tools")
{
	static const char text[] =
		"{\"schema\":1,\"latency\":[{\"label\":\"vda\",\"unit\":\"ns\",\"count\":12,"
		"\"p50\":3000,\"p99\":5000,\"p999\":6000,\"buckets\":[{\"min\":2048,\"max\":4095,"
		"\"count\":10},{\"min\":4096,\"max\":8191,\"count\":2}]}]}";
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct pane p = { 0 };

	for (int i = 0; i < PANE_MOMENTS + 10; i++)
		CHECK(decode(&p, text));
	CHECK_EQ(p.past.len, PANE_MOMENTS);
	CHECK_EQ(p.look.hists.len, 1);
	CHECK_EQ(p.look.hists.items[0].buckets.len, 2);
	draw(&p, PANE_AUTO, NULL, &out);
	CHECK(strstr(buf_str(&out), "vda: 12  median 3.00us") != NULL);
	CHECK(strstr(buf_str(&out), "2.05us .. 4.10us") != NULL);
	draw(&p, PANE_HEATMAP, NULL, &out);
	CHECK(strstr(buf_str(&out), "at most 10 in a cell") != NULL);
	CHECK(strstr(buf_str(&out), "@@@@") != NULL);
	pane_release(&p);
}

TEST("what is no result is left out")
{
	static const char *const broken[] = {
		"",
		"x",
		"{",
		"[]",
		"{}",
		"{\"schema\":1",
		"null",
		"{\"schema\":1,\"rows\":[{\"a\":",
		"{\"schema\":1,\"latency\":[{\"label\":\"a\",\"buckets\":[",
		"{\"pid\":3}"
	};
	struct pane p = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		CHECK(!decode(&p, broken[i]));
	CHECK(!p.any);
	pane_release(&p);
}

TEST("CPU time of children, while they run and afterwards")
{
	static const char *const words[] = { "no test has this name", NULL };
	_cleanup_buf_ struct buf line = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	u64 before = feed_ended_cpu_ns();
	struct feed *f = NULL;
	int status, looks = 0;

	CHECK_EQ(feed_start(&f, words, &e), 0);
	while (!feed_ended(f, &status)) {
		struct pollfd fd = { .fd = feed_fd(f), .events = POLLIN };

		/* it has written: it ran, and nobody has waited for its end */
		if (poll(&fd, 1, 10) > 0 && fd.revents & POLLIN) {
			/* a first turn on another CPU counts when a tick or its end comes */
			for (int i = 0; i < 1000 && !feed_cpu_ns(f); i++)
				usleep(1000);
			CHECK(feed_cpu_ns(f) > 0);
			CHECK_EQ(feed_ended_cpu_ns(), before);
			looks++;
		}
		while (feed_line(f, &line))
			;
	}
	CHECK(looks > 0);
	CHECK_EQ(feed_cpu_ns(f), 0);
	CHECK(feed_ended_cpu_ns() > before);
	feed_free(f);
}
