/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/snapshot.h"

enum {
	STEP_LEAST_MS = 100, /* slewing and the time between two reads of clocks stay below */
};

void snapshot_release(struct snapshot *s)
{
	free(s->values);
	free(s->has);
	task_rows_release(&s->tasks);
	*s = (struct snapshot)SNAPSHOT_INIT;
}

void snapshot_clear(struct snapshot *s)
{
	if (s->n)
		memset(s->has, 0, s->n);
	s->n = 0;
	vec_clear(&s->tasks.rows);
	s->mono = s->boot = s->wall = s->cost = 0;
}

static void make_room(struct snapshot *s, size_t n)
{
	size_t cap = MAX(s->cap, (size_t)256);

	while (cap < n)
		cap *= 2;
	if (cap == s->cap)
		return;
	s->values = xreallocarray(s->values, cap, sizeof(*s->values));
	s->has = xrealloc(s->has, cap);
	memset(s->has + s->cap, 0, cap - s->cap);
	s->cap = cap;
}

void snapshot_put(struct snapshot *s, u32 series, u64 value)
{
	if (series >= s->cap)
		make_room(s, (size_t)series + 1);
	s->values[series] = value;
	s->has[series] = 1;
	s->n = MAX(s->n, (size_t)series + 1);
}

void snapshot_copy(struct snapshot *to, const struct snapshot *from)
{
	snapshot_clear(to);
	if (from->n) {
		make_room(to, from->n);
		memcpy(to->values, from->values, from->n * sizeof(*from->values));
		memcpy(to->has, from->has, from->n);
	}
	to->n = from->n;
	to->mono = from->mono;
	to->boot = from->boot;
	to->wall = from->wall;
	to->cost = from->cost;
	task_rows_copy(&to->tasks, &from->tasks);
}

void delta_init(struct delta *d, const struct counter_set *set, const struct snapshot *before,
		const struct snapshot *after)
{
	u64 ns = after->boot;

	if (before)
		ns = after->mono > before->mono ? after->mono - before->mono : 0;
	*d = (struct delta){ set, before, after, (double)MAX(ns, 1u) / 1e9 };
}

/* A counter of 32 bits that is now smaller has wrapped, unless that would be most of its range. */
static u64 grown(const struct counter *row, u64 before, u64 after)
{
	u64 wrapped;

	if (after >= before)
		return after - before;
	if (!row->bits || row->bits >= 64 || before >> row->bits || after >> row->bits)
		return 0;
	wrapped = (1ull << row->bits) - before + after;
	return wrapped < 1ull << (row->bits - 1) ? wrapped : 0;
}

bool delta_series(const struct delta *d, u32 series, double *ret)
{
	const struct counter *row;
	u64 value;

	if (!snapshot_has(d->after, series))
		return false;
	row = series_row(d->set, series);
	value = d->after->values[series];
	if (row->kind == CUMULATIVE && d->before) {
		if (!snapshot_has(d->before, series))
			return false;
		value = grown(row, d->before->values[series], value);
	}
	*ret = (double)value * counter_factor(d->set, row);
	return true;
}

bool delta_value(const struct delta *d, u32 counter, u32 instance, double *ret)
{
	u32 series = counter_set_lookup(d->set, counter, instance);

	if (series == SET_NONE && instance)
		series = counter_set_lookup(d->set, counter, 0);
	return series != SET_NONE && delta_series(d, series, ret);
}

u64 delta_suspended(const struct delta *d)
{
	u64 boot, mono;

	if (!d->before || d->after->boot < d->before->boot || d->after->mono < d->before->mono)
		return 0;
	boot = d->after->boot - d->before->boot;
	mono = d->after->mono - d->before->mono;
	return boot > mono + STEP_LEAST_MS * NSEC_PER_MSEC ? boot - mono : 0;
}

s64 delta_clock_step(const struct delta *d)
{
	s64 wall, boot;

	if (!d->before)
		return 0;
	wall = (s64)(d->after->wall - d->before->wall);
	boot = (s64)(d->after->boot - d->before->boot);
	wall -= boot;
	return wall > STEP_LEAST_MS * (s64)NSEC_PER_MSEC ||
			       wall < -STEP_LEAST_MS * (s64)NSEC_PER_MSEC
		       ? wall
		       : 0;
}
