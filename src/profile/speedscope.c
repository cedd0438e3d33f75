/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON of speedscope -> profile. Each of its profiles is a thread here, named after it; those
 * of events (a function opens, a function closes) become samples as long as nothing changed.
 */
#include "base/jsonread.h"
#include "profile/load.h"

enum {
	DEPTH_MOST = 1 << 16,
	FRAMES_MOST = 1 << 26,
};

struct scope {
	struct profile *profile;
	struct json_reader json;
	VEC(u32) frames; /* index -> frame */
	u32 thread;
	u16 event;
	double scale; /* of the unit, to what is kept */
	/* of the profile that is being read */
	VEC(u32) stacks;
	VEC(double) weights;
	u32 name, unit;
	bool evented;
	VEC(u32) open; /* stacks of the functions that are open */
	double at, start;
	u64 n_threads;
};

/* --- pieces --------------------------------------------------------------------------------- */

/* The string that follows, or none. */
static u32 read_string(struct scope *s)
{
	if (json_read(&s->json) == READ_STRING)
		return s->json.text.len ? intern_bytes(&s->profile->strings, s->json.text.data,
						       s->json.text.len)
					: 0;
	json_read_skip(&s->json);
	return 0;
}

static double read_number(struct scope *s)
{
	enum json_piece piece = json_read(&s->json);

	if (piece == READ_NUMBER)
		return s->json.number;
	if (piece == READ_OBJECT || piece == READ_ARRAY)
		json_read_skip(&s->json);
	return 0;
}

static bool key_is(const struct scope *s, const char *key)
{
	return streq(json_text(&s->json), key);
}

static bool open_array(struct scope *s)
{
	enum json_piece piece = json_read(&s->json);

	if (piece == READ_ARRAY)
		return true;
	if (piece == READ_OBJECT)
		json_read_skip(&s->json);
	return false;
}

/* --- shared frames -------------------------------------------------------------------------- */

static void read_frame(struct scope *s)
{
	struct frame frame = { 0 };

	while (json_read(&s->json) == READ_KEY) {
		if (key_is(s, "name"))
			frame.name = read_string(s);
		else if (key_is(s, "file"))
			frame.file = read_string(s);
		else
			json_read_skip(&s->json);
	}
	if (!frame.name)
		frame.name = profile_string(s->profile, "[unknown]");
	frame.no_name = streq(profile_str(s->profile, frame.name), "[unknown]");
	if (s->frames.len < FRAMES_MOST)
		vec_push(&s->frames, profile_get_frame(s->profile, &frame));
}

static void read_shared(struct scope *s)
{
	if (json_read(&s->json) != READ_OBJECT)
		return;
	while (json_read(&s->json) == READ_KEY) {
		if (!key_is(s, "frames")) {
			json_read_skip(&s->json);
			continue;
		}
		if (!open_array(s))
			continue;
		while (json_read(&s->json) == READ_OBJECT)
			read_frame(s);
	}
}

static u32 frame_at(struct scope *s, double index)
{
	if (index >= 0 && index < (double)s->frames.len)
		return s->frames.items[(size_t)index];
	s->profile->bad_records++;
	return 0;
}

/* --- samples -------------------------------------------------------------------------------- */

static u32 read_stack(struct scope *s)
{
	size_t depth = 0;
	u32 stack = 0;

	while (json_read(&s->json) == READ_NUMBER) {
		u32 frame = frame_at(s, s->json.number);

		if (frame && depth++ < DEPTH_MOST)
			stack = profile_get_stack(s->profile, stack, frame);
	}
	return stack;
}

static void read_samples(struct scope *s)
{
	if (!open_array(s))
		return;
	while (json_read(&s->json) == READ_ARRAY)
		vec_push(&s->stacks, read_stack(s));
}

static void read_weights(struct scope *s)
{
	if (!open_array(s))
		return;
	while (json_read(&s->json) == READ_NUMBER)
		vec_push(&s->weights, s->json.number);
}

/* --- events --------------------------------------------------------------------------------- */

struct change {
	char type;
	double frame, at;
};

/* Time passed with what is open now. */
static void pass_time(struct scope *s, double at)
{
	double time = at - s->at;

	if (time > 0 && s->open.len) {
		vec_push(&s->stacks, *vec_last(&s->open));
		vec_push(&s->weights, time);
	}
	if (at > s->at)
		s->at = at;
}

static void apply(struct scope *s, const struct change *c)
{
	u32 frame, stack = s->open.len ? *vec_last(&s->open) : 0;

	pass_time(s, c->at);
	if (c->type == 'O' && s->open.len < DEPTH_MOST) {
		frame = frame_at(s, c->frame);
		vec_push(&s->open, frame ? profile_get_stack(s->profile, stack, frame) : stack);
	} else if (c->type == 'C' && s->open.len) {
		(void)vec_pop(&s->open);
	} else {
		s->profile->bad_records++;
	}
}

static void read_events(struct scope *s, bool first)
{
	if (!open_array(s))
		return;
	vec_clear(&s->open);
	while (json_read(&s->json) == READ_OBJECT) {
		struct change c = { 0 };

		while (json_read(&s->json) == READ_KEY) {
			if (key_is(s, "type") && json_read(&s->json) == READ_STRING)
				c.type = *json_text(&s->json);
			else if (key_is(s, "frame"))
				c.frame = read_number(s);
			else if (key_is(s, "at"))
				c.at = read_number(s);
			else
				json_read_skip(&s->json);
		}
		if (first)
			s->at = c.at;
		first = false;
		apply(s, &c);
	}
}

/* --- one profile ---------------------------------------------------------------------------- */

/* What one of the unit is, in nanoseconds; 0: it is not a time. */
static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "nanoseconds", 1 },
		{ "microseconds", 1e3 },
		{ "milliseconds", 1e6 },
		{ "seconds", 1e9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (streq(units[i].name, unit))
			return units[i].ns;
	return 0;
}

static void choose_event(struct scope *s)
{
	const char *unit = profile_str(s->profile, s->unit);
	double ns = unit_ns(unit);
	bool bytes = streq(unit, "bytes");
	struct profile_event *ev;

	s->event = profile_get_event(s->profile, ns > 0 ? "time" : bytes ? "bytes" : "samples");
	ev = &s->profile->events.items[s->event];
	ev->unit = profile_string(s->profile, ns > 0 ? "ns" : bytes ? "bytes" : "");
	s->scale = ns > 0 ? ns : 1;
}

/* "git 12/34", as we write it ourselves: the process and the thread. */
static u32 thread_of(struct scope *s)
{
	const char *name = profile_str(s->profile, s->name), *space = strrchr(name, ' ');
	const char *at = space ? space + 1 : name, *end = name + strlen(name);
	u64 pid, tid;
	u32 comm;

	s->n_threads++;
	/* what we call samples of which no thread is known */
	if (streq(name, "all"))
		return 0;
	if (space && scan_u64(&at, end, 10, &pid) && *at++ == '/' && scan_u64(&at, end, 10, &tid) &&
	    at == end && pid <= INT32_MAX && tid <= INT32_MAX) {
		comm = space > name
			       ? intern_bytes(&s->profile->strings, name, (size_t)(space - name))
			       : 0;
		return profile_get_thread(s->profile, (s32)pid, (s32)tid, comm, 0);
	}
	return profile_get_thread(s->profile, 0, (s32)(s->n_threads & INT32_MAX), s->name, 0);
}

static void add_samples(struct scope *s)
{
	const struct profile_event *ev;
	double time = s->start * s->scale;

	choose_event(s);
	s->thread = thread_of(s);
	for (size_t i = 0; i < s->stacks.len; i++) {
		double w = (i < s->weights.len ? s->weights.items[i] : 1) * s->scale;

		ev = &s->profile->events.items[s->event];
		if (!(w >= 0) || w > (double)(INT64_MAX / 4) || ev->weight > INT64_MAX / 2) {
			s->profile->bad_records++;
			continue;
		}
		profile_add_sample(
			s->profile,
			&(struct profile_sample){
				.time = ev->unit && time >= 0 && time < 9e18 ? (u64)time + 1 : 0,
				.weight = (u64)(w + 0.5),
				.stack = s->stacks.items[i],
				.thread = s->thread,
				.count = ev->unit ? 1 : (u32)MIN(w + 0.5, 4e9),
				.cpu = -1,
				.event = s->event,
			});
		time += w;
	}
}

static void read_profile(struct scope *s)
{
	vec_clear(&s->stacks);
	vec_clear(&s->weights);
	s->name = s->unit = 0;
	s->start = 0;
	while (json_read(&s->json) == READ_KEY) {
		if (key_is(s, "name"))
			s->name = read_string(s);
		else if (key_is(s, "unit"))
			s->unit = read_string(s);
		else if (key_is(s, "startValue"))
			s->start = read_number(s);
		else if (key_is(s, "samples"))
			read_samples(s);
		else if (key_is(s, "weights"))
			read_weights(s);
		else if (key_is(s, "events"))
			read_events(s, true);
		else
			json_read_skip(&s->json);
	}
	add_samples(s);
}

static void read_profiles(struct scope *s)
{
	if (!open_array(s))
		return;
	while (json_read(&s->json) == READ_OBJECT)
		read_profile(s);
}

/* --- all ------------------------------------------------------------------------------------ */

static bool read_top(struct scope *s, const char *wanted, void (*take)(struct scope *s))
{
	bool found = false;

	if (json_read(&s->json) != READ_OBJECT)
		return false;
	while (json_read(&s->json) == READ_KEY) {
		if (key_is(s, wanted)) {
			take(s);
			found = true;
		} else {
			json_read_skip(&s->json);
		}
	}
	return found;
}

/* Frames may be after what refers to them: the text is read twice. */
static int read_all(struct scope *s, const char *text, size_t len, struct err *e)
{
	bool frames, profiles;

	json_reader_init(&s->json, text, len);
	frames = read_top(s, "shared", read_shared);
	json_reader_release(&s->json);
	json_reader_init(&s->json, text, len);
	profiles = read_top(s, "profiles", read_profiles);
	if (frames && profiles)
		return 0;
	if (s->json.fault)
		return err_set(e, EBADMSG, "not JSON: at byte %zu %s", json_offset(&s->json),
			       s->json.fault);
	err_set(e, EBADMSG, "JSON, but not a speedscope file");
	err_hint(e, "speedscope's files have \"shared\" frames and \"profiles\"");
	return -EBADMSG;
}

int profile_load_speedscope(struct profile *p, const char *text, size_t len, struct err *e)
{
	struct scope s = { .profile = p };
	int r = read_all(&s, text, len, e);

	if (r >= 0 && s.json.fault) {
		_cleanup_free_ char *fault = xasprintf("the JSON is damaged at offset %zu: %s",
						       json_offset(&s.json), s.json.fault);

		p->fault = profile_string(p, fault);
	}
	json_reader_release(&s.json);
	vec_release(&s.frames);
	vec_release(&s.stacks);
	vec_release(&s.weights);
	vec_release(&s.open);
	return r;
}
