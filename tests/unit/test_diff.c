/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons: what is counted, what is chance, what is drawn. */
#include "unit/harness.h"

#include "analysis/chance.h"
#include "analysis/diff.h"
#include "analysis/flame.h"
#include "profile/load.h"

#include <math.h>

static void load(struct profile *p, const char *text)
{
	CHECK_EQ(profile_load_folded(p, text, strlen(text), NULL), 0);
}

static void join(struct profile *p, struct diff *d, const char *before, const char *after,
		 const struct diff_opts *opts)
{
	profile_init(p);
	load(p, before);
	CHECK_EQ(diff_end_before(d, p, NULL), 0);
	load(p, after);
	CHECK_EQ(diff_join(d, p, opts, NULL), 0);
}

static void draw(struct flame *f, struct profile *p, const struct diff *d, double confidence)
{
	struct flame_opts opts = {
		.event = d->after.event,
		.has_baseline = true,
		.baseline = d->before.event,
		.order = ORDER_NAME,
		.elided = true,
		.confidence = confidence,
		.exposure = d->exposure,
	};

	CHECK_EQ(flame_init(f, p, &opts, NULL), 0);
}

/* The n-th box of that name. */
static const struct flame_box *box(const struct flame *f, const char *name, int n)
{
	vec_each(b, &f->boxes) {
		size_t len;
		const char *text = flame_name(f, b, &len);

		if (strlen(name) == len && memcmp(text, name, len) == 0 && n-- == 0)
			return b;
	}
	return NULL;
}

/* --- chance --------------------------------------------------------------------------------- */

TEST(chance_is_exact_for_few)
{
	/* 5 heads of 5 throws: 2 * 1/32 */
	CHECK(fabs(chance_of(5, 0, 0.5) - 0.0625) < 1e-9);
	CHECK(fabs(chance_of(0, 5, 0.5) - 0.0625) < 1e-9);
	/* 8 of 10: 2 * (45 + 10 + 1) / 1024 */
	CHECK(fabs(chance_of(8, 2, 0.5) - 2 * 56.0 / 1024) < 1e-9);
	CHECK_EQ((int)chance_of(3, 3, 0.5), 1);
	CHECK_EQ((int)chance_of(0, 0, 0.5), 1);
}

TEST(chance_of_many_is_the_normal_distribution)
{
	/* 2 standard deviations above the mean, less the correction */
	double p = chance_of(50100, 49900, 0.5);

	CHECK(p > 0.5 && p < 0.56);
	CHECK(chance_of(51000, 49000, 0.5) < 1e-9);
	/* the two ways meet where they change over */
	CHECK(fabs(chance_of(220, 180, 0.5) - chance_of(221, 180, 0.5)) < 0.02);
}

TEST(chance_knows_shares)
{
	/* 30 to 10 is what is expected when one side has three times the samples */
	CHECK(chance_of(30, 10, 0.75) > 0.8);
	CHECK(chance_of(30, 10, 0.5) < 0.01);
	CHECK_EQ((int)chance_of(30, 10, 0), 1);
	CHECK_EQ((int)chance_of(30, 10, 1), 1);
}

/* --- joining -------------------------------------------------------------------------------- */

TEST(equal_profiles_of_other_size_do_not_differ)
{
	struct diff_opts opts = { 0 };
	struct profile p;
	struct diff d;
	struct flame f;

	join(&p, &d, "a;b 7\na;c 3\n", "a;b 21\na;c 9\n", &opts);
	CHECK_EQ((int)d.factor, 3);
	draw(&f, &p, &d, 0);
	vec_each(b, &f.boxes)
		CHECK_EQ(flame_growth(&f, b), 0);
	flame_release(&f);
	profile_release(&p);
}

TEST(fractions_are_kept)
{
	struct diff_opts opts = { 0 };
	struct profile p;
	struct diff d;
	struct flame f;

	/* 1 of 3 samples becomes 0.333333 of 1 */
	join(&p, &d, "a 1\nb 2\n", "a 1\n", &opts);
	draw(&f, &p, &d, 0);
	CHECK(llabs(flame_growth(&f, box(&f, "a", 0)) - 666667) <= 1);
	CHECK(llabs(flame_growth(&f, box(&f, "[vanished]", 0)) + 666667) <= 1);
	flame_release(&f);
	profile_release(&p);
}

TEST(absolute_is_not_normalised)
{
	struct diff_opts opts = { .absolute = true };
	struct profile p;
	struct diff d;
	struct flame f;

	join(&p, &d, "a 10\n", "a 30\n", &opts);
	CHECK_EQ((int)d.factor, 1);
	draw(&f, &p, &d, 0);
	CHECK_EQ(flame_growth(&f, box(&f, "a", 0)), 20000000);
	flame_release(&f);
	profile_release(&p);
}

TEST(swap_exchanges_sides)
{
	struct diff_opts opts = { .swap = true };
	struct profile p;
	struct diff d;

	join(&p, &d, "a 10\n", "a 30\n", &opts);
	CHECK_EQ(d.before.samples, 30);
	CHECK_EQ(d.after.samples, 10);
	profile_release(&p);
}

TEST(a_side_without_samples_is_an_error)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;
	struct diff d;

	profile_init(&p);
	CHECK_EQ(diff_end_before(&d, &p, &e), -ENODATA);
	CHECK(e.what && !e.hint);
	p.filtered = true;
	CHECK_EQ(diff_end_before(&d, &p, &e), -ENODATA);
	CHECK(e.what && e.hint);
	load(&p, "a 1\n");
	CHECK_EQ(diff_end_before(&d, &p, NULL), 0);
	CHECK_EQ(diff_join(&d, &p, &(struct diff_opts){ 0 }, NULL), -ENODATA);
	diff_release(&d);
	profile_release(&p);
}

TEST(two_columns_of_one_text)
{
	struct profile p;
	struct diff d;

	profile_init(&p);
	load(&p, "a;b 10 5\na;c 0 5\n");
	CHECK_EQ(diff_columns(&d, &p, &(struct diff_opts){ 0 }, NULL), 0);
	CHECK_EQ(d.before.samples, 10);
	CHECK_EQ(d.after.samples, 10);
	profile_release(&p);
	profile_init(&p);
	load(&p, "a;b 10\n");
	CHECK_EQ(diff_columns(&d, &p, &(struct diff_opts){ 0 }, NULL), -EINVAL);
	profile_release(&p);
}

/* --- drawing -------------------------------------------------------------------------------- */

TEST(parents_grow_with_their_children)
{
	struct diff_opts opts = { .absolute = true };
	struct profile p;
	struct diff d;
	struct flame f;

	join(&p, &d, "p;x 10\np;y 10\n", "p;x 30\np;y 30\n", &opts);
	draw(&f, &p, &d, 0);
	CHECK_EQ(flame_growth(&f, box(&f, "p", 0)), 40000000);
	flame_release(&f);
	profile_release(&p);
}

TEST(what_vanished_stands_to_the_right)
{
	struct diff_opts opts = { 0 };
	const struct flame_box *strip, *inner;
	struct profile p;
	struct diff d;
	struct flame f;

	join(&p, &d, "a;b 600\na;gone;deep 300\nz 100\n", "a;b 1000\n", &opts);
	draw(&f, &p, &d, 0.99);
	strip = box(&f, "[vanished]", 0);
	CHECK(strip != NULL);
	if (strip) {
		CHECK_EQ(strip->start, 1000000000);
		CHECK_EQ(flame_node(&f, strip)->total, 400000000);
		CHECK_EQ(flame_node(&f, strip)->count, 400);
	}
	/* with the callers that are still there */
	inner = box(&f, "a", 1);
	CHECK(inner && flame_node(&f, inner)->total == 300000000);
	CHECK_EQ(flame_change(&f, box(&f, "deep", 0)), CHANGE_VANISHED);
	CHECK_EQ((u64)f.whole, 1000000000);
	CHECK_EQ((u64)f.total, 1400000000);
	flame_release(&f);
	profile_release(&p);
}

TEST(noise_is_told_from_change)
{
	struct diff_opts opts = { 0 };
	struct profile p;
	struct diff d;
	struct flame f;

	join(&p, &d, "a 1000\nb 52\nc 100\nd 48\n", "a 1000\nb 48\nc 10\nd 52\nn 90\n", &opts);
	draw(&f, &p, &d, 0.99);
	CHECK_EQ(flame_change(&f, box(&f, "b", 0)), CHANGE_NOISE);
	CHECK_EQ(flame_change(&f, box(&f, "d", 0)), CHANGE_NOISE);
	CHECK_EQ(flame_change(&f, box(&f, "c", 0)), CHANGE_LESS);
	CHECK_EQ(flame_change(&f, box(&f, "n", 0)), CHANGE_NEW);
	CHECK_EQ(flame_change(&f, box(&f, "all", 0)), CHANGE_NONE);
	flame_release(&f);
	draw(&f, &p, &d, 0);
	CHECK_EQ(flame_change(&f, box(&f, "b", 0)), CHANGE_LESS);
	flame_release(&f);
	profile_release(&p);
}

TEST(report_has_every_change)
{
	struct diff_opts opts = { .confidence = 0.99 };
	struct result r;
	struct profile p;
	struct diff d;
	const struct table *t;

	join(&p, &d, "m;a 500\nm;gone 500\n", "m;a 500\nm;new 500\n", &opts);
	result_init(&r, "diff");
	diff_report(&d, &p, &opts, &r);
	t = r.sections.items[0].table;
	CHECK_EQ(t->rows.len, 4);
	/* the two that changed come first */
	CHECK(fabs(fabs(t->rows.items[0].cells[0].d) - 50) < 0.001);
	CHECK(fabs(fabs(t->rows.items[1].cells[0].d) - 50) < 0.001);
	CHECK_EQ(r.sections.items[1].table->rows.len, 2);
	result_release(&r);
	profile_release(&p);
}

/* --- ratio ---------------------------------------------------------------------------------- */

TEST(ratio_of_two_events)
{
	static const char text[] = "m;fast 10 40\nm;slow 10 5\nm;rare 1 1\n";
	struct flame_opts opts = { .ratio = true, .min_samples = 5 };
	struct profile p;
	struct flame f;

	profile_init(&p);
	load(&p, text);
	opts.event = 0;
	opts.has_baseline = true;
	opts.baseline = 1;
	CHECK_EQ(flame_init(&f, &p, &opts, NULL), 0);
	CHECK(fabs(flame_ratio(&f, box(&f, "fast", 0)) - 4) < 1e-9);
	CHECK(fabs(flame_ratio(&f, box(&f, "slow", 0)) - 0.5) < 1e-9);
	CHECK(isnan(flame_ratio(&f, box(&f, "rare", 0))));
	flame_release(&f);
	profile_release(&p);
}
