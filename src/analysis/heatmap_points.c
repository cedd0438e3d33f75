/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations for heat maps: from weights, from text. */
#include "analysis/heatmap.h"

#include "base/parse.h"

int heat_points_of_weights(const struct profile *p, u16 event, latency_points *ret, struct err *e)
{
	const struct profile_event *ev = &p->events.items[event];

	if (!streq(profile_str(p, ev->unit), "ns")) {
		err_set(e, EINVAL, "samples of '%s' have no duration: their weight is not a time",
			profile_str(p, ev->name));
		err_hint(e, "--pair FROM,TO,KEY measures from one event to another; a record of "
			    "off-CPU times holds durations");
		return -EINVAL;
	}
	vec_each(s, &p->samples) {
		if (s->event != event || !s->time)
			continue;
		if (ret->len == LATENCY_POINTS_MOST)
			return latency_points_too_many(e);
		vec_push(ret, (struct latency_point){ s->time, s->weight });
	}
	return 0;
}

/* --- text ----------------------------------------------------------------------------------- */

static bool scan_decimal(const char **p, const char *end, double *ret)
{
	const char *at = *p;
	u64 whole, part = 0, unit = 1;

	while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
		at++;
	if (!scan_u64(&at, end, 10, &whole))
		return false;
	*ret = (double)whole;
	if (at < end && *at == '.') {
		for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
			/* more digits than these change nothing */
			if (unit < NSEC_PER_SEC * NSEC_PER_USEC) {
				part = part * 10 + (u64)(*at - '0');
				unit *= 10;
			}
		}
	}
	*ret += (double)part / (double)unit;
	*p = at;
	return true;
}

int heat_points_of_text(const char *text, size_t len, u64 time_unit, u64 value_unit,
			latency_points *ret, u64 *ret_bad, struct err *e)
{
	const char *end = text + len;

	*ret_bad = 0;
	for (const char *p = text, *nl; p < end; p = nl + 1) {
		double time, value;
		bool blank = *p == '\n' || *p == '#' || *p == '\r';

		nl = memchr(p, '\n', (size_t)(end - p));
		nl = nl ? nl : end;
		if (!scan_decimal(&p, nl, &time) || !scan_decimal(&p, nl, &value) ||
		    time * (double)time_unit > 9e18 || value * (double)value_unit > 9e18) {
			*ret_bad += !blank;
			continue;
		}
		if (ret->len == LATENCY_POINTS_MOST)
			return latency_points_too_many(e);
		vec_push(ret, (struct latency_point){ (u64)(time * (double)time_unit + 0.5),
						      (u64)(value * (double)value_unit + 0.5) });
	}
	if (ret->len)
		return 0;
	err_set(e, EBADMSG, "no line has a time and a latency");
	err_hint(e, "each line is two numbers: when it ended, and how long it took");
	return -EBADMSG;
}
