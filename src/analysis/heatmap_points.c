/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations for heat maps: from weights, from text, from pairs of tracepoints. */
#include "analysis/heatmap.h"

#include "base/hash.h"
#include "base/parse.h"
#include "capture/tracepoint.h"
#include "recording/recording.h"

enum { KEYS_MOST = 8, OPEN_MOST = 1 << 22 };

static int too_many(struct err *e)
{
	return err_set(e, EFBIG, "more than %d events: take a part with --time",
		       HEATMAP_POINTS_MOST);
}

int heat_points_of_weights(const struct profile *p, u16 event, heat_points *ret, struct err *e)
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
		if (ret->len == HEATMAP_POINTS_MOST)
			return too_many(e);
		vec_push(ret, (struct heat_point){ s->time, s->weight });
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
			heat_points *ret, u64 *ret_bad, struct err *e)
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
		if (ret->len == HEATMAP_POINTS_MOST)
			return too_many(e);
		vec_push(ret, (struct heat_point){ (u64)(time * (double)time_unit + 0.5),
						   (u64)(value * (double)value_unit + 0.5) });
	}
	if (ret->len)
		return 0;
	err_set(e, EBADMSG, "no line has a time and a latency");
	err_hint(e, "each line is two numbers: when it ended, and how long it took");
	return -EBADMSG;
}

/* --- pairs ---------------------------------------------------------------------------------- */

struct key_field {
	u32 offset, size;
};

struct side {
	const char *name;
	bool known; /* its format was found */
	VEC(u32) events;
	struct key_field fields[KEYS_MOST];
	size_t n_fields;
};

struct pairing {
	const struct heat_pair *pair;
	struct recording *recording;
	struct side from, to;
	struct map open; /* hash of the key -> time */
	heat_points *points;
	u64 unmatched;
	size_t n_events;
	struct err *err;
};

static int find_fields(struct pairing *p, struct side *s, const struct recording_format *f)
{
	struct tracepoint_format format;
	_cleanup_free_ char *keys = xstrdup(p->pair->key);
	char *save = NULL;
	int r = tracepoint_format_parse(f->text, f->text_size, &format, p->err);

	if (r < 0)
		return r;
	for (char *k = strtok_r(keys, ",", &save); k && r >= 0; k = strtok_r(NULL, ",", &save)) {
		const struct tracepoint_field *field = tracepoint_field_find(&format, k, strlen(k));

		if (!field || s->n_fields == KEYS_MOST)
			r = err_set(p->err, EINVAL, "event '%s' has no field '%s'", s->name, k);
		else
			s->fields[s->n_fields++] = (struct key_field){ field->offset, field->size };
	}
	tracepoint_format_release(&format);
	s->known = r >= 0;
	return r;
}

/* Events may appear while a pipe is read. */
static int learn_events(struct pairing *p, struct side *s, size_t first)
{
	size_t n = recording_n_events(p->recording);

	for (size_t i = first; i < n; i++) {
		const struct recording_event *ev = recording_event(p->recording, (u32)i);
		const struct recording_format *f;
		int r;

		if (!streq(ev->name, s->name))
			continue;
		vec_push(&s->events, (u32)i);
		if (s->known)
			continue;
		f = recording_info_format(recording_info(p->recording), ev->attr.config);
		if (!f)
			return err_set(p->err, ENODATA, "the recording has no format of '%s'",
				       s->name);
		r = find_fields(p, s, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int learn(struct pairing *p)
{
	size_t n = recording_n_events(p->recording);
	int r = 0;

	if (n != p->n_events) {
		r = learn_events(p, &p->from, p->n_events);
		if (r >= 0)
			r = learn_events(p, &p->to, p->n_events);
		p->n_events = n;
	}
	return r;
}

static bool is_of(const struct side *s, u32 event)
{
	vec_each(e, &s->events)
		if (*e == event)
			return true;
	return false;
}

/* False when the sample is too short for the fields. */
static bool key_of(const struct side *s, const struct sample *sample, u64 *ret)
{
	u64 h = 0;

	for (size_t i = 0; i < s->n_fields; i++) {
		const struct key_field *f = &s->fields[i];

		if (f->size > sample->raw_size || f->offset > sample->raw_size - f->size)
			return false;
		h = hash_mix(h, hash_bytes((const u8 *)sample->raw + f->offset, f->size));
	}
	*ret = h;
	return true;
}

static int on_end(struct pairing *p, u64 key, u64 time)
{
	u64 began = map_get(&p->open, key, 0);

	if (!began || began > time) {
		p->unmatched++;
		return 0;
	}
	map_del(&p->open, key);
	if (p->points->len == HEATMAP_POINTS_MOST)
		return too_many(p->err);
	vec_push(p->points, (struct heat_point){ time, time - began });
	return 0;
}

static int on_record(const struct record *r, void *ctx)
{
	struct pairing *p = ctx;
	int error = learn(p);
	u64 key;

	if (error < 0 || r->type != PERF_RECORD_SAMPLE || !r->sample->raw)
		return error;
	/* one event may be both: the next of its kind ends it */
	if (is_of(&p->to, r->event) && key_of(&p->to, r->sample, &key))
		error = on_end(p, key, r->sample->time);
	if (is_of(&p->from, r->event) && key_of(&p->from, r->sample, &key)) {
		/* one that is open already never ended, as far as the recording shows */
		p->unmatched += p->open.len >= OPEN_MOST || map_find(&p->open, key) != NULL;
		if (p->open.len < OPEN_MOST)
			map_put(&p->open, key, r->sample->time);
	}
	return error;
}

static int check_found(const struct pairing *p, struct err *e)
{
	const struct side *missing = !p->from.events.len ? &p->from
				     : !p->to.events.len ? &p->to
							 : NULL;

	if (!missing)
		return 0;
	err_set(e, ENODATA, "the recording has no event '%s'", missing->name);
	err_hint(e, "record both: fathom record -e %s -e %s -a", p->from.name, p->to.name);
	return -ENODATA;
}

int heat_points_of_pair(const char *path, const struct heat_pair *pair, heat_points *ret,
			struct heat_pair_counts *ret_counts, struct err *e)
{
	struct pairing p = {
		.pair = pair,
		.from = { .name = pair->from },
		.to = { .name = pair->to },
		.points = ret,
		.err = e,
	};
	int r = recording_open(path, &p.recording, e);

	if (r < 0)
		return r;
	r = recording_replay(p.recording, on_record, &p, e);
	if (r >= 0)
		r = check_found(&p, e);
	ret_counts->unmatched = p.unmatched + p.open.len;
	recording_free(p.recording);
	map_release(&p.open);
	vec_release(&p.from.events);
	vec_release(&p.to.events);
	return r;
}
