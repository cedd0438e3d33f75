/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From sums to lines: scaled, averaged, with their metrics, in perf's order. */
#include "analysis/stat.h"

static const struct count *sum_at(const struct stat_set *s, size_t span, size_t event, size_t group)
{
	return &s->spans.items[span].sums[event * s->groups.len + group];
}

/* What would have been counted with a counter all the time. */
static double scaled(const struct stat_set *s, const struct count *c)
{
	if (!s->scale || !c->running || c->running >= c->enabled)
		return (double)c->value;
	return (double)c->value * ((double)c->enabled / (double)c->running);
}

static void make_line(const struct stat_set *s, size_t event, size_t group, struct stat_line *ret)
{
	const struct stat_event *ev = &s->events.items[event];
	_cleanup_free_ double *values = xcalloc(s->spans.len + 1, sizeof(*values));
	size_t n = s->spans.len;

	*ret = (struct stat_line){ .event = ev, .group = &s->groups.items[group] };
	for (size_t i = 0; i < n; i++) {
		const struct count *c = sum_at(s, i, event, group);

		values[i] = scaled(s, c) * ev->scale;
		ret->enabled += (double)c->enabled / (double)n;
		ret->running += (double)c->running / (double)n;
	}
	stat_mean_of(values, n, &ret->value);
	if (ev->why)
		ret->state = STAT_NOT_SUPPORTED;
	else if (!(ret->enabled > 0) || !(ret->running > 0))
		ret->state = STAT_NOT_COUNTED;
}

void stat_time(const struct stat_set *s, size_t of, struct stat_mean *ret)
{
	_cleanup_free_ double *values = xcalloc(s->spans.len + 1, sizeof(*values));

	for (size_t i = 0; i < s->spans.len; i++)
		values[i] =
			(double)*(const u64 *)(const void *)((const char *)&s->spans.items[i] + of);
	stat_mean_of(values, s->spans.len, ret);
}

/* All lines of one group, which metrics relate to one another. */
static void make_group(const struct stat_set *s, size_t group, double wall, struct stat_line *lines)
{
	struct stat_inputs in = { .stat = s, .lines = lines, .wall = wall };

	for (size_t event = 0; event < s->events.len; event++)
		make_line(s, event, group, &lines[event]);
	for (size_t event = 0; event < s->events.len; event++) {
		if (lines[event].state == STAT_COUNTED)
			lines[event].n_metrics = stat_metrics(&in, event, lines[event].metrics);
	}
}

static int value_order(const void *a, const void *b)
{
	const struct stat_line *x = a, *y = b;

	return x->value.mean < y->value.mean ? 1 : -(x->value.mean > y->value.mean);
}

/* Each event with its groups; threads by value, and of a whole machine those that did something. */
static void add_by_event(const struct stat_set *s, const struct stat_line *all, stat_lines *ret)
{
	size_t n = s->events.len, begin;

	for (size_t event = 0; event < n; event++) {
		begin = ret->len;
		for (size_t group = 0; group < s->groups.len; group++) {
			const struct stat_line *line = &all[group * n + event];

			if (s->by == STAT_THREAD && s->whole && !(line->value.mean > 0))
				continue;
			vec_push(ret, *line);
		}
		if (s->by == STAT_THREAD && ret->len - begin > 1)
			qsort(ret->items + begin, ret->len - begin, sizeof(*ret->items),
			      value_order);
	}
}

void stat_report(const struct stat_set *s, stat_lines *ret)
{
	size_t n = s->events.len;
	struct stat_line *all = xcalloc(MAX(n * s->groups.len, 1), sizeof(*all));
	struct stat_mean wall;

	vec_clear(ret);
	stat_time(s, offsetof(struct stat_span, wall), &wall);
	for (size_t group = 0; group < s->groups.len; group++)
		make_group(s, group, wall.mean, all + group * n);
	if (s->by == STAT_CPU || s->by == STAT_THREAD) {
		add_by_event(s, all, ret);
	} else {
		for (size_t i = 0; i < n * s->groups.len; i++)
			vec_push(ret, all[i]);
	}
	free(all);
}
