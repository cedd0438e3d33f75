/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/pairs.h"

#include "base/hash.h"
#include "base/map.h"
#include "capture/tracepoint.h"
#include "recording/recording.h"

enum { KEYS_MOST = 8, OPEN_MOST = 1 << 22 };

int latency_points_too_many(struct err *e)
{
	return err_set(e, EFBIG, "more than %d events: take a part with --time",
		       LATENCY_POINTS_MOST);
}

struct key_field {
	u32 offset, size;
};

struct side {
	const char *name;
	bool known; /* its format was found */
	VEC(u32) events;
	struct key_field fields[KEYS_MOST];
	size_t n_fields;
	struct key_field length; /* of a block request; size 0: none */
};

struct pairing {
	const struct event_pair *pair;
	struct recording *recording;
	struct side from, to;
	struct map open; /* hash of the key -> time */
	latency_points *points;
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
	const struct tracepoint_field *length = tracepoint_field_find(&format, "nr_sector", 9);

	if (p->pair->blocks && length)
		s->length = (struct key_field){ length->offset, length->size };
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
static bool key_of(const struct pairing *p, const struct side *s, const struct sample *sample,
		   u64 *ret)
{
	static const u8 nowhere[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const u8 zero[8];
	u64 h = 0;

	for (size_t i = 0; i < s->n_fields; i++) {
		const struct key_field *f = &s->fields[i];

		if (f->size > sample->raw_size || f->offset > sample->raw_size - f->size)
			return false;
		const u8 *bytes = (const u8 *)sample->raw + f->offset;

		if (p->pair->blocks && f->size == 8 && !memcmp(bytes, nowhere, 8))
			bytes = zero;
		h = hash_mix(h, hash_bytes(bytes, f->size));
	}
	*ret = h;
	return true;
}

/* What asked for a flush is completed without data of its own, and was never issued. */
static bool is_flush_done(const struct side *s, const struct sample *sample)
{
	static const u8 zero[8];
	const struct key_field *f = &s->length;

	return f->size && f->size <= sizeof(zero) && f->size <= sample->raw_size &&
	       f->offset <= sample->raw_size - f->size &&
	       !memcmp((const u8 *)sample->raw + f->offset, zero, f->size);
}

static int on_end(struct pairing *p, u64 key, const struct sample *sample)
{
	u64 began = map_get(&p->open, key, 0), time = sample->time;

	if (!began || began > time) {
		p->unmatched += !is_flush_done(&p->to, sample);
		return 0;
	}
	map_del(&p->open, key);
	if (p->points->len == LATENCY_POINTS_MOST)
		return latency_points_too_many(p->err);
	vec_push(p->points, (struct latency_point){ time, time - began });
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
	if (is_of(&p->to, r->event) && key_of(p, &p->to, r->sample, &key))
		error = on_end(p, key, r->sample);
	if (is_of(&p->from, r->event) && key_of(p, &p->from, r->sample, &key)) {
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

int event_pair_points(const char *path, const struct event_pair *pair, latency_points *ret,
		      u64 *ret_unmatched, struct err *e)
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
	*ret_unmatched = p.unmatched + p.open.len;
	recording_free(p.recording);
	map_release(&p.open);
	vec_release(&p.from.events);
	vec_release(&p.to.events);
	return r;
}
