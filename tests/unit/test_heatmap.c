/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heat maps: which cell a sample or a duration falls into. */
#include "unit/harness.h"

#include "analysis/heatmap.h"
#include "base/buf.h"
#include "profile/load.h"
#include "view/svg_heatmap.h"

#include <math.h>

static void add(struct profile *p, u64 ms, s16 cpu, u32 thread)
{
	profile_add_sample(p, &(struct profile_sample){ .time = ms * NSEC_PER_MSEC,
							.weight = 100 * NSEC_PER_MSEC,
							.count = 1,
							.cpu = cpu,
							.thread = thread });
}

static void begin(struct profile *p)
{
	profile_init(p);
	profile_get_event(p, "cpu-clock");
	p->events.items[0].unit = profile_string(p, "ns");
}

TEST(subsecond_cells)
{
	struct heatmap_opts o = { .rows = 10, .step = NSEC_PER_SEC };
	struct heatmap h;
	struct profile p;

	begin(&p);
	add(&p, 5000, 0, 0);
	add(&p, 5099, 0, 0);
	add(&p, 5100, 0, 0);
	add(&p, 6999, 0, 0);
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	CHECK_EQ(h.columns, 2);
	CHECK_EQ(h.start, 5 * NSEC_PER_SEC);
	CHECK_EQ(heatmap_cell(&h, 0, 0), 2);
	CHECK_EQ(heatmap_cell(&h, 0, 1), 1);
	CHECK_EQ(heatmap_cell(&h, 1, 9), 1);
	CHECK_EQ(h.total, 4);
	CHECK_EQ(h.most, 2);
	heatmap_release(&h);
	/* of two seconds the columns are tenths, of ten they are whole */
	o.step = 0;
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	CHECK_EQ(h.step, NSEC_PER_SEC / 10);
	CHECK_EQ(h.columns, 20);
	CHECK_EQ(heatmap_cell(&h, 0, 9), 1);
	CHECK_EQ(heatmap_cell(&h, 1, 0), 1);
	heatmap_release(&h);
	add(&p, 15000, 0, 0);
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	CHECK_EQ(h.step, NSEC_PER_SEC);
	heatmap_release(&h);
	profile_release(&p);
}

/* Rows that have nothing in common with the sampling rate must not make stripes. */
TEST(steady_load_is_even)
{
	struct heatmap_opts o = { .rows = 50, .step = NSEC_PER_SEC / 10 };
	struct heatmap h;
	struct profile p;
	double least = 1e9, most = 0;

	begin(&p);
	p.events.items[0].frequency = 99;
	for (u64 i = 1; i <= 297; i++)
		profile_add_sample(&p, &(struct profile_sample){ .time = NSEC_PER_SEC * i / 99,
								 .weight = NSEC_PER_SEC / 99,
								 .count = 1 });
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	for (u32 c = 1; c + 2 < h.columns; c++)
		for (u32 r = 0; r < h.rows; r++) {
			least = MIN(least, (double)h.shares[c * h.rows + r]);
			most = MAX(most, (double)h.shares[c * h.rows + r]);
		}
	CHECK(least > 0.99 * most);
	CHECK_EQ(h.total, 297);
	heatmap_release(&h);
	profile_release(&p);
}

TEST(idle_is_left_out_and_counted)
{
	struct heatmap_opts o = { 0 };
	struct heatmap h;
	struct profile p;
	u32 idle;

	begin(&p);
	idle = profile_get_thread(&p, 0, 0, profile_string(&p, "swapper"), 0);
	add(&p, 1000, 0, idle);
	add(&p, 1500, 0, 0);
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	CHECK_EQ(h.total, 1);
	CHECK_EQ(h.idle, 1);
	heatmap_release(&h);
	o.idle = true;
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	CHECK_EQ(h.total, 2);
	heatmap_release(&h);
	profile_release(&p);
}

TEST(too_long_and_nothing)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct heatmap_opts o = { 0 };
	struct heatmap h;
	struct profile p;

	begin(&p);
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), -ENODATA);
	add(&p, 1, 0, 0);
	add(&p, 1000ull * (HEATMAP_COLUMNS_MOST + 10), 0, 0);
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, &e), -EFBIG);
	CHECK(e.hint != NULL);
	profile_release(&p);
}

TEST(utilization_of_two_cpus)
{
	struct heatmap_opts o = { .step = NSEC_PER_SEC };
	struct heatmap h;
	struct profile p;

	begin(&p);
	for (u64 i = 0; i < 10; i++)
		add(&p, 1000 + i * 100, 1, 0);
	add(&p, 1000, 0, 0);
	add(&p, 1900, 0, 0);
	CHECK_EQ(heatmap_utilization(&h, &p, &o, NULL), 0);
	CHECK_EQ(h.columns, 1);
	CHECK_EQ(h.rows, 10);
	CHECK_EQ(heatmap_cell(&h, 0, 9), 1);
	CHECK_EQ(heatmap_cell(&h, 0, 2), 1);
	CHECK_EQ(h.total, 2);
	heatmap_release(&h);
	profile_release(&p);
}

/* A switch says when a CPU changed its task, not how long it was busy. */
TEST(utilization_needs_time)
{
	struct heatmap_opts o = { .step = NSEC_PER_SEC };
	struct heatmap h;
	struct profile p;
	_cleanup_err_ struct err e = ERR_INIT;

	begin(&p);
	add(&p, 1000, 0, 0);
	p.events.items[0].frequency = 0;
	p.events.items[0].unit = 0;
	CHECK_EQ(heatmap_utilization(&h, &p, &o, &e), -ENODATA);
	CHECK(strstr(e.what, "does not tell how long a CPU was busy"));
	profile_release(&p);
}

TEST(latency_rows_are_logarithmic)
{
	static const char text[] = "# time latency\n0 1\n1000 16\n2000 1000 more words\nbad\n";
	struct heatmap_opts o = { .step = NSEC_PER_SEC };
	latency_points points = { 0 };
	struct heatmap h;
	u64 bad, n = 0;

	CHECK_EQ(heat_points_of_text(text, strlen(text), 1000, 1000, &points, &bad, NULL), 0);
	CHECK_EQ(points.len, 3);
	CHECK_EQ(bad, 1);
	CHECK_EQ(heatmap_latency(&h, &points, &o, NULL), 0);
	CHECK_EQ(h.edges[0], 512);
	CHECK_EQ(h.edges[4], 1024);
	CHECK(h.edges[h.rows] >= 1000000);
	for (u32 i = 0; i < h.rows; i++) {
		CHECK(h.edges[i] < h.edges[i + 1]);
		n += heatmap_cell(&h, 0, i);
	}
	CHECK_EQ(n, 3);
	CHECK_EQ(h.outside, 0);
	heatmap_release(&h);
	vec_release(&points);
}

TEST(percentiles_by_column)
{
	struct heatmap_opts o = { .step = NSEC_PER_SEC };
	latency_points points = { 0 };
	struct heatmap h;

	/* unsorted, in two columns: 1..100, and 7 alone */
	for (u64 i = 100; i; i--)
		vec_push(&points, (struct latency_point){ 500, i * 1000 });
	vec_push(&points, (struct latency_point){ 2 * NSEC_PER_SEC, 7000 });
	CHECK_EQ(heatmap_latency(&h, &points, &o, NULL), 0);
	CHECK_EQ(h.columns, 3);
	CHECK_EQ(h.lines[0][0], 50000);
	CHECK_EQ(h.lines[1][0], 90000);
	CHECK_EQ(h.lines[2][0], 99000);
	CHECK_EQ(h.lines[0][1], 0);
	CHECK_EQ(h.lines[2][2], 7000);
	heatmap_release(&h);
	vec_release(&points);
}

TEST(rows_can_be_limited)
{
	struct heatmap_opts o = { .linear = true, .rows = 10, .max = 100 };
	latency_points points = { 0 };
	struct heatmap h;

	vec_push(&points, (struct latency_point){ 1, 5 });
	vec_push(&points, (struct latency_point){ 2, 95 });
	vec_push(&points, (struct latency_point){ 3, 500 });
	CHECK_EQ(heatmap_latency(&h, &points, &o, NULL), 0);
	CHECK_EQ(h.outside, 1);
	CHECK_EQ(h.total, 2);
	CHECK(fabs(heatmap_height(&h, 50) - 5) < 0.01);
	CHECK_EQ((int)heatmap_height(&h, 1000), 10);
	heatmap_release(&h);
	vec_release(&points);
}

TEST(pictures_quote_names)
{
	_cleanup_buf_ struct buf svg = BUF_INIT, text = BUF_INIT;
	struct heat_view v = { .title = "<b>", .file = "a&b\"c", .width = 40, .height = 10 };
	struct heatmap_opts o = { 0 };
	struct heatmap h;
	struct profile p;

	begin(&p);
	add(&p, 1000, 0, 0);
	CHECK_EQ(heatmap_subsecond(&h, &p, &o, NULL), 0);
	svg_heatmap(&h, &v, &svg);
	CHECK(strstr(buf_str(&svg), "&lt;b&gt;") != NULL);
	CHECK(strstr(buf_str(&svg), "a&amp;b&quot;c") != NULL);
	CHECK(strstr(buf_str(&svg), "<b>") == NULL);
	term_heatmap(&h, &v, &text);
	CHECK(strchr(buf_str(&text), '@') != NULL);
	heatmap_release(&h);
	profile_release(&p);
}
