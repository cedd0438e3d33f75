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
};

struct reader {
	struct recording *recording;
	struct marks *marks;
	VEC(struct source) sources; /* by event */
	struct map open;            /* key of a span -> its index + 1 */
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

static struct source source_of(const struct recording_info *info,
			       const struct recording_event *event)
{
	static const struct {
		const char *event, *text;
		enum mark_type type;
	} known[] = {
		{ "console", "msg", MARK_NAMED }, { "print", "buf", MARK_NAMED },
		{ "begin", "name", MARK_BEGIN },  { "end", "name", MARK_END },
		{ "mark", "name", MARK_NAMED },
	};
	const struct recording_format *f = recording_info_format(info, event->attr.config);
	const char *colon = strrchr(event->name, ':');
	struct source s = { .name = colon ? colon + 1 : event->name };

	if (event->attr.type != PERF_TYPE_TRACEPOINT || !f || starts_with(event->name, "sched:"))
		return s;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (is_called(s.name, known[i].event) && find_text(f, known[i].text, &s)) {
			s.type = known[i].type;
			sched_field_find(f, "id", &s.id);
			return s;
		}
	s.type = MARK_MOMENT;
	return s;
}

static const struct source *source_at(struct reader *r, u32 event)
{
	while (r->sources.len <= event) {
		struct source s = source_of(recording_info(r->recording),
					    recording_event(r->recording, (u32)r->sources.len));

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

/* The first line of a text, without what leads kernel messages. */
static u32 text_of(struct reader *r, const struct source *src, const struct sample *s)
{
	u32 from = src->text.offset, room;
	const char *at;
	size_t n;

	if (src->located)
		from = (u32)number_at(r, s, from, 4) & 0xffff;
	if (from >= s->raw_size)
		return intern_str(&r->marks->names, src->name);
	at = (const char *)s->raw + from;
	room = MIN(s->raw_size - from, (u32)TEXT_MOST);
	n = strnlen(at, room);
	for (size_t i = 0; i < n; i++)
		if (at[i] == '\n')
			n = i;
	return n ? intern_bytes(&r->marks->names, at, n) : intern_str(&r->marks->names, src->name);
}

static u64 key_of(u32 pid, u32 name, u64 id)
{
	u64 key = (u64)pid * 0x9e3779b97f4a7c15ull ^ (u64)name << 40;

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
	map_del(&r->open, key);
}

static int on_record(const struct record *rec, void *ctx)
{
	struct reader *r = ctx;
	const struct sample *s = rec->sample;
	const struct source *src;
	u32 name;
	u64 id, key;

	if (!s || rec->event == RECORD_NO_EVENT)
		return 0;
	src = source_at(r, rec->event);
	if (src->type == MARK_NONE)
		return 0;
	name = src->type == MARK_MOMENT ? intern_str(&r->marks->names, src->name)
					: text_of(r, src, s);
	id = src->id.size ? number_at(r, s, src->id.offset, src->id.size) : 0;
	key = key_of(rec->pid, name, id);
	if (src->type == MARK_END) {
		end_span(r, key, rec->time);
		return 0;
	}
	if (r->marks->items.len >= MARKS_MOST) {
		r->marks->dropped++;
		return 0;
	}
	vec_push(&r->marks->items, (struct mark){ .begin = rec->time,
						  .end = src->type == MARK_BEGIN ? 0 : rec->time,
						  .tid = rec->tid,
						  .name = name,
						  .id = id,
						  .span = src->type == MARK_BEGIN });
	if (src->type == MARK_BEGIN)
		*map_at(&r->open, key) = r->marks->items.len;
	return 0;
}

static bool has_marks(const struct reader *r)
{
	for (u32 i = 0; i < recording_n_events(r->recording); i++)
		if (source_of(recording_info(r->recording), recording_event(r->recording, i)).type)
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
	map_release(&r.open);
	return rc;
}

void marks_release(struct marks *m)
{
	vec_release(&m->items);
	intern_release(&m->names);
}
