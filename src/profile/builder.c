/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/builder.h"

#include "base/hash.h"
#include "profile/filter.h"
#include "recording/wait.h"

void builder_init(struct builder *b, struct profile *p, struct recording *r,
		  struct symbols *symbols, const struct load_opts *opts)
{
	const struct recording_blob *blob;

	*b = (struct builder){ .profile = p, .recording = r, .opts = opts };
	machine_init(&b->machine, symbols);
	b->frames = (struct frames){ .profile = p,
				     .symbols = symbols,
				     .python = &b->python,
				     .lines = opts->lines,
				     .inlines = opts->inlines };
	machine_build_ids(&b->machine, recording_info(r));
	blob = recording_info_blob(recording_info(r), FEATURE_PYTHON);
	/* a broken section costs lines, nothing else */
	if (blob)
		(void)python_source_read(&b->python, blob->data, blob->size, NULL);
	b->has_python = blob;
	if (opts->trace_keys)
		b->traced = traced_new(p, r, &b->machine, opts->trace_keys);
}

void builder_release(struct builder *b)
{
	traced_free(b->traced);
	machine_release(&b->machine);
	python_source_release(&b->python);
	stackcopy_release(&b->stacks);
	chainmemo_release(&b->memo);
	map_release(&b->merged);
	map_release(&b->dropped);
	map_release(&b->accounts.cgroups);
	free(b->events);
	free(b->wanted);
}

/* Names repeat by the million: each is compared once. @which tells the filters apart. */
static bool name_passes(struct builder *b, const char *globs, u32 which, u32 string)
{
	u64 *known;

	if (!globs)
		return true;
	known = map_at(&b->dropped, (u64)which << 32 | string);
	if (!*known)
		*known = filter_name(globs, profile_str(b->profile, string)) ? 1 : 2;
	return *known == 1;
}

static const char *event_unit(const struct recording_event *ev)
{
	const struct perf_event_attr *a = &ev->attr;

	/* whatever perf says they are shown in: "msec", with a scale of its own */
	if (a->type == PERF_TYPE_SOFTWARE &&
	    (a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK))
		return "ns";
	if (ev->unit)
		return ev->unit;
	return ends_with(ev->name, "-time") ? "ns" : NULL;
}

/* Events can appear while a pipe is read: the tables grow with them. */
static void learn_events(struct builder *b)
{
	size_t n = recording_n_events(b->recording);

	b->events = xreallocarray(b->events, n, sizeof(*b->events));
	b->wanted = xreallocarray(b->wanted, n, sizeof(*b->wanted));
	for (size_t i = b->n_events; i < n; i++) {
		const struct recording_event *ev = recording_event(b->recording, (u32)i);
		struct profile_event *pe;

		b->wanted[i] = filter_name(b->opts->event, ev->name);
		if (!b->wanted[i])
			continue;
		b->events[i] = profile_get_event(b->profile, ev->name);
		pe = &b->profile->events.items[b->events[i]];
		if (ev->attr.freq)
			pe->frequency = ev->attr.sample_freq;
		else
			pe->period = ev->attr.sample_period;
		pe->no_chains = !(ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN);
		pe->unit = profile_string(b->profile, event_unit(ev));
	}
	b->n_events = n;
}

static bool time_passes(struct builder *b, u64 time)
{
	u64 base;

	if (!b->first_time)
		b->first_time = time;
	base = b->opts->time_relative ? b->first_time : 0;
	if (b->opts->time_from && time < base + b->opts->time_from)
		return false;
	return !b->opts->time_to || time <= base + b->opts->time_to;
}

static bool leaf_passes(struct builder *b, u32 stack)
{
	const struct frame *f;

	if (!b->opts->dsos && !b->opts->symbols)
		return true;
	if (!stack)
		return false;
	f = profile_frame_of(b->profile, stack);
	return name_passes(b, b->opts->dsos, 1, f->module) &&
	       name_passes(b, b->opts->symbols, 2, f->name);
}

static void push_sample(struct builder *b, const struct profile_sample *s, u32 trace)
{
	profile_add_sample(b->profile, s);
	if (b->traced)
		vec_push(&b->profile->traces, trace);
}

static void add_sample(struct builder *b, const struct record *r, const struct profile_sample *s)
{
	u32 trace = b->traced ? traced_row(b->traced, r) : 0;
	u64 key, *index;

	if (!b->opts->merge) {
		push_sample(b, s, trace);
		return;
	}
	key = hash_mix(hash_mix(s->stack, s->thread), (u64)s->event << 16 | (u16)s->cpu);
	if (trace)
		key = hash_mix(key, trace);
	index = map_at(&b->merged, key);
	if (*index) {
		profile_merge_sample(b->profile, *index - 1, s);
	} else {
		*index = b->profile->samples.len + 1;
		push_sample(b, s, trace);
	}
}

static u32 thread_of(struct builder *b, const struct sample *s, struct process *proc)
{
	struct machine *m = &b->machine;
	u32 comm = machine_comm(m, (s32)s->pid, (s32)s->tid);
	u32 cgroup = s->type & PERF_SAMPLE_CGROUP ? machine_cgroup(m, s->cgroup) : proc->cgroup;

	struct thread_hint *h = &b->threads[s->tid % BUILDER_THREADS];

	if (!h->used || h->tid != (s32)s->tid || h->pid != (s32)s->pid || h->comm != comm ||
	    h->cgroup != cgroup)
		*h = (struct thread_hint){
			.pid = (s32)s->pid,
			.tid = (s32)s->tid,
			.comm = comm,
			.cgroup = cgroup,
			.used = true,
			.thread = profile_get_thread(
				b->profile, (s32)s->pid, (s32)s->tid,
				profile_string(b->profile, machine_str(m, comm)),
				profile_string(b->profile, machine_str(m, cgroup))),
		};
	return h->thread;
}

static void add_waker(struct builder *b, const struct profile_sample *s,
		      const struct wait_record *raw)
{
	struct profile *p = b->profile;
	struct builder_wait *w = &b->wait;
	char comm[OFFCPU_COMM + 1] = { 0 };

	if (w->seq != raw->seq || raw->link >= OFFCPU_LINKS)
		return;
	if (raw->is_sleep) {
		if (w->added)
			vec_last(&p->wakers)->sleep_stack = s->stack;
		return;
	}
	if (!w->added)
		vec_push(&p->wakes, (struct profile_wake){ .time = s->time,
							   .weight = w->weight,
							   .stack = w->stack,
							   .thread = w->thread,
							   .first = (u32)p->wakers.len });
	w->added = true;
	vec_last(&p->wakes)->n++;
	memcpy(comm, raw->comm, OFFCPU_COMM);
	vec_push(&p->wakers, (struct profile_waker){ .stack = s->stack,
						     .comm = profile_string(p, comm),
						     .kind = raw->kind });
}

/* What else a sample of the off-CPU engine carries; NULL: not one. */
static const struct wait_record *wait_raw(const struct builder *b, const struct sample *in)
{
	const struct wait_record *raw = in->raw; /* packed: any address will do */

	if (!b->opts->wakes || !(in->type & PERF_SAMPLE_RAW) || in->raw_size < sizeof(*raw))
		return NULL;
	return raw->magic == WAIT_RECORD_MAGIC ? raw : NULL;
}

static bool is_link(const struct wait_record *raw)
{
	return raw->event == WAIT_EVENT_WAKER || raw->event == WAIT_EVENT_CHAIN;
}

/* Samples of waits and of their wakers have the same number. */
static void note_wait(struct builder *b, const struct wait_record *raw,
		      const struct profile_sample *s)
{
	if (raw->event == WAIT_EVENT_BLOCKED)
		b->wait = (struct builder_wait){
			.seq = raw->seq, .weight = s->weight, .stack = s->stack, .thread = s->thread
		};
	else if (is_link(raw))
		add_waker(b, s, raw);
}

static bool ids_pass(struct builder *b, const struct record *r)
{
	const struct sample *s = r->sample;

	return b->wanted[r->event] && time_passes(b, s->time) && filter_id(b->opts->pids, s->pid) &&
	       filter_id(b->opts->tids, s->tid) && filter_id(b->opts->cpus, s->cpu);
}

static void count_guest(struct profile *p, u32 stack)
{
	const struct frame *leaf = stack ? profile_frame_of(p, stack) : NULL;

	p->guest_samples++;
	p->guest_nameless += leaf && leaf->kind == FRAME_GUEST_KERNEL && leaf->no_name;
}

static void on_sample(struct builder *b, const struct record *r)
{
	const struct sample *s = r->sample;
	const struct wait_record *raw = wait_raw(b, s);
	struct process *proc;
	struct profile_sample ps;
	bool passes, linked;

	if (r->event >= b->n_events)
		learn_events(b);
	if (r->event >= b->n_events)
		return;
	/* the waker of a wait that passed is recorded with it, whatever the filter */
	linked = raw && is_link(raw) && b->wait.seq && raw->seq == b->wait.seq;
	passes = ids_pass(b, r);
	if (!passes && !linked)
		return;
	proc = machine_process(&b->machine, (s32)s->pid);
	machine_moment(&b->machine, proc, s);
	ps = (struct profile_sample){
		.time = s->time,
		.weight = s->period ? s->period : 1,
		.thread = passes ? thread_of(b, s, proc) : 0,
		.count = 1,
		.cpu = s->type & PERF_SAMPLE_CPU ? (s16)s->cpu : -1,
		.event = passes ? b->events[r->event] : 0,
	};
	passes = passes &&
		 name_passes(b, b->opts->comms, 0, b->profile->threads.items[ps.thread].comm);
	if (!passes && !linked)
		return;
	ps.stack = builder_stack(b, r, proc);
	passes = passes && leaf_passes(b, ps.stack);
	if (raw && (passes || linked))
		note_wait(b, raw, &ps);
	if (!passes)
		return;
	if (record_is_guest(r))
		count_guest(b->profile, ps.stack);
	add_sample(b, r, &ps);
}

void builder_note(struct builder *b, const struct record *r)
{
	machine_record(&b->machine, r);
	accounts_record(&b->accounts, b->profile, r);
}

enum { PROGRESS_EVERY = 1 << 14 };

int builder_record(const struct record *r, void *builder)
{
	struct builder *b = builder;
	u64 done, total;

	if (r->type == PERF_RECORD_SAMPLE)
		on_sample(b, r);
	else
		builder_note(b, r);
	if (b->opts->progress && ++b->records % PROGRESS_EVERY == 0) {
		recording_progress(b->recording, &done, &total);
		b->opts->progress(b->opts->progress_ctx, done, total);
	}
	return 0;
}
