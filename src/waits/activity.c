/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/activity.h"

#include "recording/recording.h"
#include "waits/sched_layout.h"

enum { CPUS_MOST = 4096 };

enum step { STEP_NONE, STEP_IDLE, STEP_FREQUENCY, STEP_ENTER, STEP_EXIT };

struct source {
	u8 step; /* enum step */
	u8 kind;
	u32 name; /* of the call */
	struct sched_field value, cpu;
};

struct reader {
	struct recording *recording;
	struct activities *out;
	VEC(struct source) sources; /* by event */
	struct map calls;           /* tid -> index of its call in progress + 1 */
	struct {
		u64 since; /* 0: not known */
		u32 value;
	} idle[CPUS_MOST], frequency[CPUS_MOST];
	bool swap;
};

static const struct {
	const char *call;
	u8 kind;
} calls[] = {
	{ "read", ACTIVITY_DISK },         { "pread64", ACTIVITY_DISK },
	{ "readv", ACTIVITY_DISK },        { "preadv", ACTIVITY_DISK },
	{ "preadv2", ACTIVITY_DISK },      { "write", ACTIVITY_DISK },
	{ "pwrite64", ACTIVITY_DISK },     { "writev", ACTIVITY_DISK },
	{ "pwritev", ACTIVITY_DISK },      { "pwritev2", ACTIVITY_DISK },
	{ "sync", ACTIVITY_SYNC },         { "sync_file_range", ACTIVITY_SYNC },
	{ "syncfs", ACTIVITY_SYNC },       { "fsync", ACTIVITY_SYNC },
	{ "fdatasync", ACTIVITY_SYNC },    { "msync", ACTIVITY_SYNC },
	{ "recvfrom", ACTIVITY_NETWORK },  { "recvmmsg", ACTIVITY_NETWORK },
	{ "recvmsg", ACTIVITY_NETWORK },   { "sendto", ACTIVITY_NETWORK },
	{ "sendmsg", ACTIVITY_NETWORK },   { "sendmmsg", ACTIVITY_NETWORK },
	{ "epoll_wait", ACTIVITY_POLL },   { "epoll_pwait", ACTIVITY_POLL },
	{ "epoll_pwait2", ACTIVITY_POLL }, { "poll", ACTIVITY_POLL },
	{ "ppoll", ACTIVITY_POLL },        { "pselect6", ACTIVITY_POLL },
	{ "select", ACTIVITY_POLL },
};

const char *activity_name(enum activity_kind kind)
{
	static const char *const names[ACTIVITY_KINDS] = {
		[ACTIVITY_IDLE] = "idle",       [ACTIVITY_FREQUENCY] = "frequency",
		[ACTIVITY_DISK] = "disk",       [ACTIVITY_SYNC] = "sync",
		[ACTIVITY_NETWORK] = "network", [ACTIVITY_POLL] = "poll",
	};

	return names[kind];
}

const char *activities_comm(const struct activities *a, u32 tid)
{
	u64 id = map_get(&a->comms, tid, 0);

	return id ? intern_get(&a->names, (u32)id) : NULL;
}

/* --- events ----------------------------------------------------------------------------------- */

static void source_of_call(struct reader *r, const char *call, struct source *s, enum step step)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (streq(calls[i].call, call)) {
			s->step = (u8)step;
			s->kind = calls[i].kind;
			s->name = intern_str(&r->out->names, call);
		}
}

static struct source source_of(struct reader *r, const struct recording_event *ev)
{
	const struct recording_format *f =
		ev->attr.type == PERF_TYPE_TRACEPOINT
			? recording_info_format(recording_info(r->recording), ev->attr.config)
			: NULL;
	struct source s = { 0 };
	const char *call;

	if (!f)
		return s;
	if (streq(ev->name, "power:cpu_idle") || streq(ev->name, "power:cpu_frequency")) {
		s.step = streq(ev->name, "power:cpu_idle") ? STEP_IDLE : STEP_FREQUENCY;
		sched_field_find(f, "state", &s.value);
		sched_field_find(f, "cpu_id", &s.cpu);
	} else if ((call = starts_with(ev->name, "syscalls:sys_enter_"))) {
		source_of_call(r, call, &s, STEP_ENTER);
	} else if ((call = starts_with(ev->name, "syscalls:sys_exit_"))) {
		source_of_call(r, call, &s, STEP_EXIT);
		sched_field_find(f, "ret", &s.value);
	}
	return s;
}

static const struct source *source_at(struct reader *r, u32 event)
{
	while (r->sources.len <= event) {
		struct source s = source_of(r, recording_event(r->recording, (u32)r->sources.len));

		vec_push(&r->sources, s);
	}
	return &r->sources.items[event];
}

static u64 number_at(const struct reader *r, const struct sample *s, const struct sched_field *f)
{
	const u8 *at = (const u8 *)s->raw + f->offset;
	u64 v = 0;

	if (f->size > 8 || f->offset > s->raw_size || f->size > s->raw_size - f->offset)
		return 0;
	for (u32 i = 0; i < f->size; i++)
		v |= (u64)at[r->swap ? f->size - 1 - i : i] << (8 * i);
	return v;
}

static void add(struct reader *r, const struct activity *a)
{
	if (a->end < a->begin)
		return;
	r->out->counts[a->kind]++;
	if (r->out->items.len >= ACTIVITIES_MOST)
		r->out->dropped++;
	else
		vec_push(&r->out->items, *a);
}

/* The kernel says ~0 when a CPU leaves its idle state. */
static void on_power(struct reader *r, const struct source *src, const struct record *rec)
{
	bool idle = src->step == STEP_IDLE;
	u32 value = (u32)number_at(r, rec->sample, &src->value);
	u64 cpu = number_at(r, rec->sample, &src->cpu);
	u64 *since;
	u32 *now;

	if (cpu >= CPUS_MOST || !src->value.size || !src->cpu.size)
		return;
	since = idle ? &r->idle[cpu].since : &r->frequency[cpu].since;
	now = idle ? &r->idle[cpu].value : &r->frequency[cpu].value;
	if (*since)
		add(r, &(struct activity){ .begin = *since,
					   .end = rec->time,
					   .who = (u32)cpu,
					   .detail = *now,
					   .kind = idle ? ACTIVITY_IDLE : ACTIVITY_FREQUENCY });
	*since = idle && value == UINT32_MAX ? 0 : rec->time;
	*now = value;
}

static void on_call_end(struct reader *r, const struct source *src, const struct record *rec)
{
	u64 *since = map_find(&r->calls, rec->tid);
	s64 ret = (s64)number_at(r, rec->sample, &src->value);

	if (!since || !*since) {
		r->out->unbegun++;
		return;
	}
	add(r, &(struct activity){ .begin = *since,
				   .end = rec->time,
				   .who = rec->tid,
				   .detail = src->name,
				   .bytes = src->kind != ACTIVITY_POLL && ret > 0 ? (u64)ret : 0,
				   .kind = src->kind,
				   .failed = ret < 0 });
	*since = 0;
}

static void on_comm(struct reader *r, const struct record *rec)
{
	struct record_comm c;

	if (record_comm(rec, &c) >= 0)
		map_put(&r->out->comms, c.tid, intern_str(&r->out->names, c.comm));
}

static int on_record(const struct record *rec, void *ctx)
{
	struct reader *r = ctx;
	const struct source *src;

	if (rec->type == PERF_RECORD_COMM)
		on_comm(r, rec);
	if (!rec->sample || rec->event == RECORD_NO_EVENT)
		return 0;
	src = source_at(r, rec->event);
	if (!src->step)
		return 0;
	if (!r->out->first)
		r->out->first = rec->time;
	r->out->last = MAX(r->out->last, rec->time);
	switch ((enum step)src->step) {
	case STEP_ENTER: *map_at(&r->calls, rec->tid) = rec->time; break;
	case STEP_EXIT: on_call_end(r, src, rec); break;
	default: on_power(r, src, rec); break;
	}
	return 0;
}

static void finish_power(struct reader *r)
{
	for (u32 cpu = 0; cpu < CPUS_MOST; cpu++) {
		struct activity a = { .end = r->out->last, .who = cpu };

		if (r->idle[cpu].since) {
			a.begin = r->idle[cpu].since;
			a.detail = r->idle[cpu].value;
			a.kind = ACTIVITY_IDLE;
			add(r, &a);
		}
		if (r->frequency[cpu].since) {
			a.begin = r->frequency[cpu].since;
			a.detail = r->frequency[cpu].value;
			a.kind = ACTIVITY_FREQUENCY;
			add(r, &a);
		}
	}
}

int activities_read(struct recording *recording, struct activities *ret, struct err *e)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	const u16 one = 1;
	int rc;

	r->recording = recording;
	r->out = ret;
	r->swap = recording_info(recording)->has_tracing &&
		  recording_info(recording)->tracing_big_endian == *(const u8 *)&one;
	rc = recording_replay(recording, on_record, r, e);
	finish_power(r);
	vec_release(&r->sources);
	map_release(&r->calls);
	free(r);
	return rc;
}

void activities_release(struct activities *a)
{
	vec_release(&a->items);
	intern_release(&a->names);
	map_release(&a->comms);
}
