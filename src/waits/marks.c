/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/marks.h"

#include "base/map.h"
#include "recording/recording.h"
#include "waits/sched_layout.h"

enum { TEXT_MOST = 120 };

enum mark_type { MARK_NONE, MARK_MOMENT, MARK_BEGIN, MARK_END, MARK_NAMED };

struct source {
	enum mark_type type;
	struct sched_field text; /* a string, or where one lies */
	bool located;            /* the latter */
	struct sched_field id;
	const char *name;
	size_t name_len;
	bool by_thread; /* spans of one thread do not end in another */
};

struct reader {
	struct recording *recording;
	struct marks *marks;
	VEC(struct source) sources; /* by event */
	struct map open;            /* key of a span -> its index + 1 */
	VEC(u32) outer; /* by index: index + 1 of the span of that key that it is in, or 0 */
	bool swap;
};

/* "string" fields of probes and of the kernel are 4 bytes that say where the text is. */
static bool find_text(const struct recording_format *f, const char *name, struct source *s)
{
	sched_field_find(f, name, &s->text);
	s->located = s->text.size == 4;
	return s->text.offset != 0;
}

/* "begin" is that, and so is "begin_2": a probe on another place. */
static bool is_called(const char *event, const char *name)
{
	const char *at = starts_with(event, name);

	if (at && *at == '_' && at[1])
		at += 1 + strspn(at + 1, "0123456789");
	return at && !*at;
}

static const struct suffix {
	const char *text;
	enum mark_type type;
} suffixes[] = {
	{ "_begin", MARK_BEGIN }, { "_start", MARK_BEGIN }, { "_enter", MARK_BEGIN },
	{ "_end", MARK_END },     { "_stop", MARK_END },    { "_exit", MARK_END },
	{ "_done", MARK_END },
};

static const struct suffix *suffix_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (ends_with(name, suffixes[i].text))
			return &suffixes[i];
	return NULL;
}

/* Is there an event of the same base, but for the other end of spans? */
static bool has_partner(const struct recording *r, const char *name, size_t base, u32 type)
{
	for (u32 i = 0; i < recording_n_events(r); i++) {
		const char *other = recording_event(r, i)->name;
		const struct suffix *suffix = suffix_of(other);

		if (suffix && suffix->type != type &&
		    strlen(other) - strlen(suffix->text) == base && !strncmp(other, name, base))
			return true;
	}
	return false;
}

/* Programs name their own events: "user_events:request_begin" and "user_events:request_end". */
static void pair_by_name(const struct recording *r, const char *name, struct source *s)
{
	const struct suffix *suffix = suffix_of(name);

	if (!suffix || !starts_with(name, "user_events:") ||
	    !has_partner(r, name, strlen(name) - strlen(suffix->text), suffix->type))
		return;
	s->type = suffix->type;
	s->name_len -= strlen(suffix->text);
	s->by_thread = !s->id.size;
}

static struct source source_of(const struct recording *r, u32 event_index)
{
	static const struct {
		const char *event, *text;
		enum mark_type type;
	} known[] = {
		{ "console", "msg", MARK_NAMED }, { "print", "buf", MARK_NAMED },
		{ "begin", "name", MARK_BEGIN },  { "end", "name", MARK_END },
		{ "mark", "name", MARK_NAMED },
	};
	const struct recording_event *event = recording_event(r, event_index);
	const struct recording_format *f =
		recording_info_format(recording_info(r), event->attr.config);
	const char *colon = strrchr(event->name, ':');
	struct source s = { .name = colon ? colon + 1 : event->name };

	s.name_len = strlen(s.name);
	if (event->attr.type != PERF_TYPE_TRACEPOINT || !f || starts_with(event->name, "sched:"))
		return s;
	sched_field_find(f, "id", &s.id);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (is_called(s.name, known[i].event) && find_text(f, known[i].text, &s)) {
			s.type = known[i].type;
			return s;
		}
	s.type = MARK_MOMENT;
	pair_by_name(r, event->name, &s);
	if (s.type == MARK_MOMENT)
		s.id.size = 0;
	return s;
}

static const struct source *source_at(struct reader *r, u32 event)
{
	while (r->sources.len <= event) {
		struct source s = source_of(r->recording, (u32)r->sources.len);

		vec_push(&r->sources, s);
	}
	return &r->sources.items[event];
}

static u64 number_at(const struct reader *r, const struct sample *s, u32 offset, u32 size)
{
	const u8 *at = (const u8 *)s->raw + offset;
	u64 v = 0;

	if (size > 8 || offset > s->raw_size || size > s->raw_size - offset)
		return 0;
	for (u32 i = 0; i < size; i++)
		v |= (u64)at[r->swap ? size - 1 - i : i] << (8 * i);
	return v;
}

static u32 name_of(struct reader *r, const struct source *src)
{
	return intern_bytes(&r->marks->names, src->name, src->name_len);
}

/* The first line of a text, without what leads kernel messages. */
static u32 text_of(struct reader *r, const struct source *src, const struct sample *s)
{
	u32 from = src->text.offset, room;
	const char *at;
	size_t n;

	if (src->located)
		from = ((u32)number_at(r, s, from, 4) & 0xffff) +
		       (src->text.relative ? from + src->text.size : 0);
	if (from >= s->raw_size)
		return name_of(r, src);
	at = (const char *)s->raw + from;
	room = MIN(s->raw_size - from, (u32)TEXT_MOST);
	n = strnlen(at, room);
	for (size_t i = 0; i < n; i++)
		if (at[i] == '\n')
			n = i;
	return n ? intern_bytes(&r->marks->names, at, n) : name_of(r, src);
}

static u64 key_of(u32 owner, u32 name, u64 id)
{
	u64 key = (u64)owner * 0x9e3779b97f4a7c15ull ^ (u64)name << 40;

	return (key ^ id) * 0xff51afd7ed558ccdull;
}

static void end_span(struct reader *r, u64 key, u64 time)
{
	u64 at = map_get(&r->open, key, 0);

	if (!at) {
		r->marks->unbegun++;
		return;
	}
	r->marks->items.items[at - 1].end = time;
	if (r->outer.items[at - 1])
		map_put(&r->open, key, r->outer.items[at - 1]);
	else
		map_del(&r->open, key);
}

static void begin_mark(struct reader *r, const struct source *src, const struct record *rec,
		       u32 name, u64 id, u64 key)
{
	bool span = src->type == MARK_BEGIN;
	u64 *open;

	if (r->marks->items.len >= MARKS_MOST) {
		r->marks->dropped++;
		return;
	}
	vec_push(&r->marks->items, (struct mark){ .begin = rec->time,
						  .end = span ? 0 : rec->time,
						  .tid = rec->tid,
						  .name = name,
						  .id = id,
						  .span = span });
	open = span ? map_at(&r->open, key) : NULL;
	vec_push(&r->outer, open ? (u32)*open : 0);
	if (open)
		*open = r->marks->items.len;
}

static int on_record(const struct record *rec, void *ctx)
{
	struct reader *r = ctx;
	const struct sample *s = rec->sample;
	const struct source *src;
	bool by_name;
	u32 name;
	u64 id, key;

	if (!s || rec->event == RECORD_NO_EVENT)
		return 0;
	src = source_at(r, rec->event);
	if (src->type == MARK_NONE)
		return 0;
	by_name = src->type == MARK_MOMENT || !src->text.offset;
	name = by_name ? name_of(r, src) : text_of(r, src, s);
	id = src->id.size ? number_at(r, s, src->id.offset, src->id.size) : 0;
	key = key_of(src->by_thread ? rec->tid : rec->pid, name, id);
	if (src->type == MARK_END)
		end_span(r, key, rec->time);
	else
		begin_mark(r, src, rec, name, id, key);
	return 0;
}

static bool has_marks(const struct reader *r)
{
	for (u32 i = 0; i < recording_n_events(r->recording); i++)
		if (source_of(r->recording, i).type)
			return true;
	return false;
}

int marks_read(const char *path, struct marks *ret, struct err *e)
{
	struct reader r = { .marks = ret };
	const u16 one = 1;
	int rc = recording_open(path, &r.recording, e);

	if (rc < 0)
		return rc;
	r.swap = recording_info(r.recording)->has_tracing &&
		 recording_info(r.recording)->tracing_big_endian == *(const u8 *)&one;
	/* most recordings of the scheduler hold no others: nothing is read for them */
	if (has_marks(&r))
		rc = recording_replay(r.recording, on_record, &r, e);
	recording_free(r.recording);
	vec_release(&r.sources);
	vec_release(&r.outer);
	map_release(&r.open);
	return rc;
}

void marks_release(struct marks *m)
{
	vec_release(&m->items);
	intern_release(&m->names);
}
