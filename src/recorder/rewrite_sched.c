/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf inject -s: the switch has the stack with which a thread went to sleep, the sched_stat event
 * of that thread the time that it slept. One sample has both: the switch, at the time of the
 * sched_stat event and with its period. All other samples of the three kinds go.
 */
#include "recorder/rewrite_parts.h"

#include "capture/tracepoint.h"

enum { SLEEPERS_MOST = 1 << 20 };

static int find_pid(const struct rewriter *w, const struct recording_event *ev,
		    struct sched_event *ret)
{
	const struct recording_info *info = recording_info(w->recording);
	struct tracepoint_format format = { 0 };
	const struct tracepoint_field *f = NULL;

	vec_each(t, &info->formats) {
		if (t->id != ev->attr.config ||
		    tracepoint_format_parse(t->text, t->text_size, &format, NULL) < 0)
			continue;
		f = tracepoint_field_find(&format, "pid", 3);
		break;
	}
	if (f)
		*ret = (struct sched_event){ SCHED_STAT, f->offset, f->size };
	tracepoint_format_release(&format);
	return f && ret->pid_size == sizeof(u32)
		       ? 0
		       : err_set(w->e, EBADMSG, "the recording has no field 'pid' of '%s'",
				 ev->name);
}

int rewrite_sched_check(struct rewriter *w)
{
	const u64 needed = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	bool has_switch = false, has_stat = false;

	for (u32 i = 0; i < recording_n_events(w->recording); i++) {
		const struct recording_event *ev = recording_event(w->recording, i);
		struct sched_event s = { 0 };
		int r = 0;

		if (streq(ev->name, "sched:sched_switch"))
			s.kind = SCHED_SWITCH;
		else if (streq(ev->name, "sched:sched_process_exit"))
			s.kind = SCHED_EXIT;
		else if (starts_with(ev->name, "sched:sched_stat_"))
			r = find_pid(w, ev, &s);
		if (r < 0)
			return r;
		has_switch |= s.kind == SCHED_SWITCH;
		has_stat |= s.kind == SCHED_STAT;
		if (s.kind && (ev->attr.sample_type & needed) != needed)
			return err_set(w->e, EINVAL, "samples of '%s' lack thread, time or period",
				       ev->name);
		vec_push(&w->sched.events, s);
	}
	if (has_switch && has_stat)
		return 0;
	err_set(w->e, EINVAL, "the recording has no %s",
		has_switch ? "sched_stat event" : "sched:sched_switch");
	err_hint(w->e, "record -e sched:sched_switch,sched:sched_stat_sleep,"
		       "sched:sched_process_exit -g; sched_stat_sleep needs "
		       "kernel.sched_schedstats=1");
	return -EINVAL;
}

static void forget(struct rewrite_sched *s, u32 tid)
{
	const u64 index = map_get(&s->sleepers, tid, 0);

	if (!index)
		return;
	free(s->kept.items[index - 1]);
	s->kept.items[index - 1] = NULL;
}

static void keep(struct rewrite_sched *s, const struct record *r)
{
	u64 *index = map_at(&s->sleepers, r->sample->tid);
	struct sleeper *one;

	if (!*index) {
		if (s->kept.len >= SLEEPERS_MOST)
			return;
		vec_push(&s->kept, NULL);
		*index = s->kept.len;
	}
	one = xrealloc(s->kept.items[*index - 1], sizeof(*one) + r->size);
	one->size = r->size;
	memcpy(one->record, r->header, r->size);
	s->kept.items[*index - 1] = one;
}

/* Where a field of 8 bytes is in a sample of this type: those before it are 8 bytes each. */
static size_t place_of(u64 type, u64 field)
{
	static const u64 order[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
				     PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
				     PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD };
	size_t at = sizeof(struct perf_event_header);

	for (size_t i = 0; i < ARRAY_SIZE(order) && order[i] != field; i++)
		at += type & order[i] ? sizeof(u64) : 0;
	return at;
}

static const void *merge(struct rewriter *w, const struct record *r, const struct sched_event *s)
{
	const struct sleeper *one;
	u32 pid;
	u64 index, type = 0;

	if (s->pid_at + sizeof(pid) > r->sample->raw_size)
		return NULL;
	memcpy(&pid, (const u8 *)r->sample->raw + s->pid_at, sizeof(pid));
	index = map_get(&w->sched.sleepers, pid, 0);
	one = index ? w->sched.kept.items[index - 1] : NULL;
	if (!one) {
		w->counts->alone++;
		return NULL;
	}
	for (u32 i = 0; i < w->sched.events.len; i++) {
		if (w->sched.events.items[i].kind == SCHED_SWITCH)
			type = recording_event(w->recording, i)->attr.sample_type;
	}
	memcpy(w->copy, one->record, one->size);
	memcpy((u8 *)w->copy + place_of(type, PERF_SAMPLE_TIME), &r->sample->time, sizeof(u64));
	memcpy((u8 *)w->copy + place_of(type, PERF_SAMPLE_PERIOD), &r->sample->period, sizeof(u64));
	w->counts->merged++;
	return w->copy;
}

const void *rewrite_sched_stat(struct rewriter *w, const struct record *r)
{
	const struct sched_event *s =
		r->event < w->sched.events.len ? &w->sched.events.items[r->event] : NULL;

	switch (s ? s->kind : SCHED_OTHER) {
	case SCHED_SWITCH: keep(&w->sched, r); return NULL;
	case SCHED_EXIT: forget(&w->sched, r->sample->tid); return NULL;
	case SCHED_STAT: return merge(w, r, s);
	default: return r->header;
	}
}

void rewrite_sched_release(struct rewriter *w)
{
	vec_each(s, &w->sched.kept)
		free(*s);
	vec_release(&w->sched.kept);
	vec_release(&w->sched.events);
	map_release(&w->sched.sleepers);
}
