/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/diff.h"

#include "analysis/flame.h"

#include <math.h>

/* Sums below this are kept in millionths, so that making them equal loses nothing. */
#define FINE_BELOW 1e9
#define FINE_SCALE 1000000

static int no_samples(struct err *e, const struct profile *p, u32 name)
{
	err_set(e, ENODATA, "'%s' has no samples to compare", profile_str(p, name));
	if (p->fault)
		err_hint(e, "%s", profile_str(p, p->fault));
	else if (p->filtered)
		err_hint(e, "the filters may leave none: --time, --event, --comms");
	return -ENODATA;
}

/* --- the two sides -------------------------------------------------------------------------- */

static const char before_mark[] = "before: ";

/* What is known of the input as a whole. */
static void take_facts(struct diff_side *s, const struct profile *p)
{
	s->name = p->source;
	s->lost = p->lost_samples;
	s->fault = p->fault;
	s->first_time = p->first_time;
	s->duration = p->last_time - p->first_time;
}

static void take_event(struct diff_side *s, struct profile *p, u16 event)
{
	const struct profile_event *ev = &p->events.items[event];
	const char *name = profile_str(p, ev->name);

	s->event = event;
	s->counts = starts_with(name, before_mark)
			    ? profile_string(p, name + sizeof(before_mark) - 1)
			    : ev->name;
	s->samples = ev->samples;
	s->weight = (double)ev->weight / (double)flame_scale(p, event);
}

static bool is_before(const struct profile *p, size_t event)
{
	return starts_with(profile_str(p, p->events.items[event].name), before_mark);
}

/* The first event of one side that has samples; @name: and is called that. */
static bool find_side(const struct profile *p, bool before, const char *name, u16 *ret)
{
	for (size_t i = 0; i < p->events.len; i++) {
		const char *own = profile_str(p, p->events.items[i].name);

		if (is_before(p, i) != before || !p->events.items[i].samples)
			continue;
		if (name && !streq(before ? own + sizeof(before_mark) - 1 : own, name))
			continue;
		*ret = (u16)i;
		return true;
	}
	return false;
}

static void choose_events(struct diff *d, struct profile *p)
{
	u16 before = 0, after = 0;

	for (size_t i = 0; i < p->events.len; i++) {
		if (is_before(p, i) || !p->events.items[i].samples)
			continue;
		after = (u16)i;
		if (find_side(p, true, profile_str(p, p->events.items[i].name), &before)) {
			take_event(&d->before, p, before);
			take_event(&d->after, p, after);
			return;
		}
	}
	find_side(p, true, NULL, &before);
	find_side(p, false, NULL, &after);
	take_event(&d->before, p, before);
	take_event(&d->after, p, after);
}

bool diff_mixed(const struct diff *d, const struct profile *p)
{
	static const char *const plain[] = { "samples", "before", "after" };

	if (d->before.counts == d->after.counts)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (streq(profile_str(p, d->before.counts), plain[i]) ||
		    streq(profile_str(p, d->after.counts), plain[i]))
			return false;
	return true;
}

/* State that must not mix with the next input. */
static void forget_facts(struct profile *p)
{
	for (size_t i = 0; i < p->events.len; i++) {
		struct profile_event *ev = &p->events.items[i];
		_cleanup_free_ char *name =
			xasprintf("%s%s", before_mark, profile_str(p, ev->name));

		ev->name = profile_string(p, name);
	}
	p->first_time = p->last_time = 0;
	p->lost_samples = 0;
	p->fault = 0;
}

int diff_end_before(struct diff *d, struct profile *p, struct err *e)
{
	*d = (struct diff){ 0 };
	if (!p->samples.len)
		return no_samples(e, p, p->source);
	take_facts(&d->before, p);
	forget_facts(p);
	vec_reserve(&d->kept, p->samples.len);
	memcpy(d->kept.items, p->samples.items, p->samples.len * sizeof(*d->kept.items));
	d->kept.len = p->samples.len;
	vec_clear(&p->samples);
	return 0;
}

void diff_release(struct diff *d)
{
	vec_release(&d->kept);
}

/* Filters of the second input counted its events alone. */
static void count_events(struct profile *p)
{
	vec_each(ev, &p->events)
		ev->samples = ev->weight = 0;
	vec_each(s, &p->samples) {
		p->events.items[s->event].samples += s->count;
		p->events.items[s->event].weight += s->weight;
	}
}

static void give_back(struct diff *d, struct profile *p)
{
	vec_each(s, &d->kept)
		vec_push(&p->samples, *s);
	vec_release(&d->kept);
	count_events(p);
}

/* Two recordings begin together; two spans of one stay where they are. */
static void align_times(struct diff *d, struct profile *p)
{
	const struct diff_side *from = &d->before, *to = &d->after;
	bool same = from->name == to->name || !from->first_time || !to->first_time;
	u64 end;

	if (!same) {
		vec_each(s, &d->kept)
			if (s->time)
				s->time = s->time - from->first_time + to->first_time;
	}
	end = (same ? from->first_time : to->first_time) + from->duration;
	p->last_time = MAX(p->last_time, end);
	if (same && from->first_time)
		p->first_time = MIN(p->first_time, from->first_time);
}

/* --- equal size ----------------------------------------------------------------------------- */

struct scaling {
	double factor;
	u64 most;
};

static u64 scaled(u64 weight, const struct scaling *s)
{
	double w = (double)weight * s->factor + 0.5;

	return w >= (double)s->most ? s->most : (u64)w;
}

/* Multiplies the weights of one event and counts it again. */
static void rescale(struct profile *p, u16 event, double factor)
{
	struct scaling s = { .factor = factor, .most = INT64_MAX / 4 };
	struct profile_event *ev = &p->events.items[event];

	ev->weight = ev->samples = 0;
	vec_each(sample, &p->samples) {
		if (sample->event != event)
			continue;
		if (factor != 1)
			sample->weight = scaled(sample->weight, &s);
		ev->weight += sample->weight;
		ev->samples += sample->count;
	}
}

static void make_comparable(struct diff *d, struct profile *p, const struct diff_opts *opts)
{
	struct profile_event *before = &p->events.items[d->before.event];
	struct profile_event *after = &p->events.items[d->after.event];
	double largest = MAX(d->before.weight, d->after.weight);
	bool fine = largest < FINE_BELOW && !streq(profile_str(p, after->unit), "ns");
	double unit = fine ? FINE_SCALE : 1;

	d->factor =
		opts->absolute || d->before.weight <= 0 ? 1 : d->after.weight / d->before.weight;
	rescale(p, d->before.event, d->factor * unit / (double)flame_scale(p, d->before.event));
	rescale(p, d->after.event, unit / (double)flame_scale(p, d->after.event));
	if (fine)
		after->unit = profile_string(p, "millionths");
	else if (flame_scale(p, d->after.event) > 1)
		after->unit = 0;
	before->unit = after->unit;
	before->name = profile_string(p, "before");
	after->name = profile_string(p, "after");
	/* as they are: twice the samples are twice the work */
	d->exposure = opts->absolute
			      ? 0.5
			      : (double)d->after.samples /
					(double)MAX(d->after.samples + d->before.samples, 1ull);
}

static void swap_sides(struct diff *d)
{
	struct diff_side side = d->before;

	d->before = d->after;
	d->after = side;
}

int diff_join(struct diff *d, struct profile *p, const struct diff_opts *opts, struct err *e)
{
	if (!p->samples.len)
		return no_samples(e, p, p->source);
	take_facts(&d->after, p);
	align_times(d, p);
	give_back(d, p);
	choose_events(d, p);
	if (opts->swap)
		swap_sides(d);
	if (d->after.weight <= 0 || d->before.weight <= 0)
		return no_samples(e, p, d->after.weight <= 0 ? d->after.name : d->before.name);
	make_comparable(d, p, opts);
	return 0;
}

int diff_columns(struct diff *d, struct profile *p, const struct diff_opts *opts, struct err *e)
{
	struct flame_opts chosen;

	flame_choose_event(p, &chosen);
	*d = (struct diff){ 0 };
	if (!p->samples.len || !chosen.has_baseline) {
		err_set(e, EINVAL, "'%s' does not hold two profiles", profile_str(p, p->source));
		err_hint(e, "name two files, give --time and --time2, or folded stacks with two "
			    "counts in each line");
		return -EINVAL;
	}
	take_facts(&d->before, p);
	take_facts(&d->after, p);
	take_event(&d->before, p, chosen.baseline);
	take_event(&d->after, p, chosen.event);
	if (opts->swap)
		swap_sides(d);
	if (d->after.weight <= 0 || d->before.weight <= 0)
		return no_samples(e, p, p->source);
	make_comparable(d, p, opts);
	return 0;
}
