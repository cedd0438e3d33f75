/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sched_hist.h"

#include "base/clock.h"
#include "result/hist.h"

static const struct {
	const char *title;
	const char *count; /* what is counted */
} words[] = {
	[SCHED_HIST_RUNQLAT] = { "how long tasks waited for a CPU", "waits" },
	[SCHED_HIST_ONCPU] = { "how long tasks stayed on a CPU", "turns" },
	[SCHED_HIST_OFFCPU] = { "how long tasks were off the CPU", "times" },
	[SCHED_HIST_RUNQLEN] = { "how many tasks waited for each CPU, without the one that ran",
				 "samples" },
};

static const struct column occupancy_columns[] = {
	{ "of", "OF", VALUE_TEXT, 0 },
	{ "samples", "SAMPLES", VALUE_COUNT, 0 },
	{ "occupied_percent", "OCCUPIED", VALUE_PERCENT, 0 },
	{ "average", "AVG LENGTH", VALUE_NUMBER, 0 },
};

/* A queue is occupied when a task waits in it. */
static double occupied(const struct sched_hist *in)
{
	return in->count ? 100.0 * (double)(in->count - in->slots[0]) / (double)in->count : 0;
}

static void add_occupancy(struct result *r, struct table *t, const char *label,
			  const struct sched_hist *in)
{
	struct row *row = table_row(r, t);

	row->cells[0] = value_text(r, label ? label : "all");
	row->cells[1] = value_u(VALUE_COUNT, in->count);
	row->cells[2] = value_d(VALUE_PERCENT, occupied(in));
	row->cells[3] = value_d(VALUE_NUMBER, (double)in->total / (double)MAX(in->count, 1));
}

static void add_lengths(struct result *r, const char *label, const struct sched_hist *in)
{
	struct histogram *h =
		result_hist_linear(r, "length", label, "runqlen", 0, SCHED_HIST_SLOTS, 1);

	for (u64 i = 0; i < SCHED_HIST_SLOTS; i++) {
		if (in->slots[i])
			hist_add(h, i, in->slots[i]);
	}
}

static void add_times(struct result *r, const char *label, const struct sched_hist *in,
		      bool milliseconds)
{
	struct histogram *h =
		result_hist_log2(r, "histogram", label, milliseconds ? "msecs" : "usecs");

	for (u64 i = 0; i < SCHED_HIST_SLOTS; i++) {
		if (in->slots[i])
			hist_add(h, i ? 1ull << (i - 1) : 0, in->slots[i]);
	}
	/* the sum is exact; what is in a bucket is its lower end */
	h->total = in->total / (milliseconds ? NSEC_PER_MSEC : NSEC_PER_USEC);
}

static struct sched_hist sum_of(const struct hist_set *set)
{
	struct sched_hist all = { 0 };

	vec_each(h, &set->each) {
		all.count += h->hist.count;
		all.total += h->hist.total;
		for (u64 i = 0; i < SCHED_HIST_SLOTS; i++)
			all.slots[i] += h->hist.slots[i];
	}
	return all;
}

/* The end of the bucket below which the given share of all values lies, in nanoseconds. */
static u64 quantile(const struct sched_hist *all, bool milliseconds, double share)
{
	u64 sum = 0;
	u32 i = 0;

	for (; i < SCHED_HIST_SLOTS - 1; i++) {
		sum += all->slots[i];
		if ((double)sum >= share * (double)all->count)
			break;
	}
	return (milliseconds ? NSEC_PER_MSEC : NSEC_PER_USEC) << MIN(i, 32u);
}

static void add_lengths_facts(struct result *r, const struct sched_hist *all)
{
	result_fact(r, "occupied_percent", "queue occupied", value_d(VALUE_PERCENT, occupied(all)));
	result_fact(r, "average", "average",
		    value_d(VALUE_NUMBER, (double)all->total / (double)all->count));
}

static void add_times_facts(struct result *r, const struct sched_hist *all, bool milliseconds)
{
	result_fact(r, "average_ns", "average", value_u(VALUE_DURATION, all->total / all->count));
	result_fact(r, "median_below_ns", "half below",
		    value_u(VALUE_DURATION, quantile(all, milliseconds, 0.5)));
	result_fact(r, "p99_below_ns", "99% below",
		    value_u(VALUE_DURATION, quantile(all, milliseconds, 0.99)));
}

/* The heading: subject, time observed, and the few figures that people ask for first. */
static void describe(struct result *r, const struct sched_hist_opts *o,
		     const struct sched_hist *all)
{
	result_title(r, "%s", words[o->what].title);
	if (o->file)
		result_fact(r, "file", "file", value_text(r, o->file));
	else if (o->time)
		result_fact(r, "time", "time", value_u(VALUE_TIME, o->time));
	if (o->duration)
		result_fact(r, "duration_ns", "duration", value_u(VALUE_DURATION, o->duration));
	result_fact(r, "count", words[o->what].count, value_u(VALUE_COUNT, all->count));
	result_fact(r, "lost", "lost", value_u(VALUE_COUNT, o->lost));
	if (all->count && o->what == SCHED_HIST_RUNQLEN)
		add_lengths_facts(r, all);
	else if (all->count)
		add_times_facts(r, all, o->milliseconds);
}

void sched_hist_result(const struct hist_set *set, const struct sched_hist_opts *o,
		       struct result *ret)
{
	struct sched_hist all = sum_of(set);
	struct table *occupancy = o->occupancy
					  ? result_table(ret, "occupancy", NULL, occupancy_columns,
							 ARRAY_SIZE(occupancy_columns))
					  : NULL;

	vec_each(h, &set->each) {
		const char *label = h->label.len ? buf_str(&h->label) : NULL;

		if (occupancy)
			add_occupancy(ret, occupancy, label, &h->hist);
		else if (o->what == SCHED_HIST_RUNQLEN)
			add_lengths(ret, label, &h->hist);
		else
			add_times(ret, label, &h->hist, o->milliseconds);
	}
	if (!set->each.len)
		result_note(ret, NOTE_INFO, NULL, "nothing happened");
	describe(ret, o, &all);
}
