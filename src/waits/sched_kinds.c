/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sched_kinds.h"

#include "profile/builder.h"
#include "profile/names.h"
#include "waits/load.h"

/* The begin of a wait is its end less its length: rounding, and the time between two probes. */
#define APART_MOST (100 * NSEC_PER_USEC)

enum { SEEN_MOST = 2 << 20 };

/* Kinds are found at the end: names may come late. */
struct seen {
	u64 begin;
	u32 tid;
	bool is_switch;
	u32 thread, stack; /* of the profile */
	s32 syscall;
	u32 state, flags;
};

struct reader {
	struct recording *recording;
	struct profile profile;
	struct builder builder;
	VEC(struct seen) seen;
};

static u32 stack_of(struct reader *in, const struct record *r)
{
	struct machine *m = &in->builder.machine;
	struct process *proc = machine_process(m, (s32)r->sample->pid);

	machine_moment(m, proc, r->sample);
	return builder_stack(&in->builder, r, proc);
}

static u32 thread_of(struct reader *in, const struct sample *s)
{
	struct machine *m = &in->builder.machine;
	u32 comm = machine_comm(m, (s32)s->pid, (s32)s->tid);

	return profile_get_thread(&in->profile, (s32)s->pid, (s32)s->tid,
				  profile_string(&in->profile, machine_str(m, comm)), 0);
}

static bool is_switch(const struct reader *in, const struct record *r)
{
	const struct recording_event *e =
		r->event == RECORD_NO_EVENT ? NULL : recording_event(in->recording, r->event);

	return e && streq(e->name, "sched:sched_switch");
}

static void on_sample(struct reader *in, const struct record *r)
{
	const struct sample *s = r->sample;
	struct seen seen = { .begin = s->time, .tid = s->tid, .is_switch = true, .syscall = -1 };
	struct wait_record raw;

	if (in->seen.len >= SEEN_MOST || !s->n_ips)
		return;
	if (waits_load_raw(s, &raw)) {
		if (raw.event != WAIT_EVENT_BLOCKED || raw.blocked + raw.runq > s->time)
			return;
		seen.is_switch = false;
		seen.begin = s->time - raw.blocked - raw.runq;
		seen.syscall = raw.syscall;
		seen.state = raw.state;
		seen.flags = raw.flags;
	} else if (!is_switch(in, r)) {
		return;
	}
	seen.thread = thread_of(in, s);
	seen.stack = stack_of(in, r);
	if (seen.stack)
		vec_push(&in->seen, seen);
}

static int on_record(const struct record *r, void *ctx)
{
	struct reader *in = ctx;

	if (r->type == PERF_RECORD_SAMPLE)
		on_sample(in, r);
	else
		machine_record(&in->builder.machine, r);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct sched_kind *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int find_kinds(struct reader *in, struct sched_kinds *ret, struct err *e)
{
	struct wait_kinds *kinds = NULL;
	int rc = wait_kinds_new(&kinds, &in->profile, e);

	if (rc < 0)
		return rc;
	vec_each(s, &in->seen) {
		const struct wait w = { .thread = s->thread,
					.stack = s->stack,
					.syscall = s->syscall,
					.state = s->state,
					.flags = s->flags };
		struct sched_kind k = { .begin = s->begin,
					.tid = s->tid,
					.kind = (u8)wait_kinds_of(kinds, &w) };

		if (s->is_switch)
			vec_push(&ret->switches, k);
		else
			vec_push(&ret->waits, k);
	}
	vec_sort(&ret->switches, by_begin);
	vec_sort(&ret->waits, by_begin);
	wait_kinds_free(kinds);
	return 0;
}

static void take_facts(struct reader *in, struct sched_kinds *ret)
{
	const struct recording_info *info = recording_info(in->recording);

	ret->host = xstrdup(info->hostname ? info->hostname : "");
	ret->kernel = xstrdup(info->osrelease ? info->osrelease : "");
}

static bool has_stacks(const struct recording *r)
{
	for (u32 i = 0; i < recording_n_events(r); i++) {
		const struct recording_event *e = recording_event(r, i);

		if (e->attr.sample_type & PERF_SAMPLE_CALLCHAIN &&
		    (streq(e->name, "sched:sched_switch") || streq(e->name, OFFCPU_EVENT)))
			return true;
	}
	return false;
}

int sched_kinds_read(struct recording *r, struct sched_kinds *ret, struct err *e)
{
	const struct load_opts names = { .inlines = true };
	struct reader in = { .recording = r };
	struct symbols *symbols = symbols_new(NULL);
	int rc = 0;

	profile_init(&in.profile);
	builder_init(&in.builder, &in.profile, r, symbols, &names);
	/* most recordings of the scheduler have none: nothing is read for them */
	if (has_stacks(r)) {
		profile_import_names(symbols, r);
		rc = recording_replay(r, on_record, &in, e);
	}
	if (rc >= 0)
		rc = find_kinds(&in, ret, e);
	take_facts(&in, ret);
	builder_release(&in.builder);
	symbols_free(symbols);
	profile_release(&in.profile);
	vec_release(&in.seen);
	return rc;
}

/* The one in order of tid and begin whose begin is nearest; STATE_COUNT: none is near. */
static enum thread_state nearest(const struct sched_kind *list, size_t n, u32 tid, u64 begin,
				 u64 apart)
{
	const struct sched_kind from = { .tid = tid, .begin = begin < apart ? 0 : begin - apart };
	enum thread_state kind = STATE_COUNT;
	size_t low = 0, high = n;
	u64 best = apart + 1;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_begin(&list[mid], &from) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < n && list[low].tid == tid && list[low].begin <= begin + apart; low++) {
		u64 off =
			list[low].begin > begin ? list[low].begin - begin : begin - list[low].begin;

		if (off < best) {
			best = off;
			kind = (enum thread_state)list[low].kind;
		}
	}
	return kind;
}

enum thread_state sched_kinds_at(const struct sched_kinds *k, u32 tid, u64 begin)
{
	enum thread_state kind = nearest(k->waits.items, k->waits.len, tid, begin, APART_MOST);

	return kind != STATE_COUNT ? kind
				   : nearest(k->switches.items, k->switches.len, tid, begin, 0);
}

void sched_kinds_release(struct sched_kinds *k)
{
	vec_release(&k->switches);
	vec_release(&k->waits);
	free(k->host);
	free(k->kernel);
	*k = (struct sched_kinds){ 0 };
}
