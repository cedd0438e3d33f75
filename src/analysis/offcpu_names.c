/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/offcpu_names.h"

#include "symbol/ask.h"

#include <time.h>

#include "base/clock.h"
#include "capture/synth.h"
#include "recording/recording.h"
#include "unwind/offcpu_session.h"

/* --- what the kernel tells -------------------------------------------------------------------- */

static void note_map(struct offcpu_names *n, const struct record *r)
{
	struct record_mmap m;

	if (!n->engine || (r->type != PERF_RECORD_MMAP2 && r->type != PERF_RECORD_MMAP) ||
	    record_mmap(r, &m) < 0 || m.pid == RECORD_NO_PID || record_is_kernel_mode(r))
		return;
	struct unwind_map map = {
		.start = m.addr,
		.end = m.addr + m.len,
		.offset = m.pgoff,
		.ino = m.ino,
		.dev = m.maj << 20 | m.min,
		.exec = m.prot & 4,
		.path = m.filename,
	};

	offcpu_note_map(n->engine, (int)m.pid, &map);
}

static void take_record(struct offcpu_names *n, const struct perf_event_header *h)
{
	struct record r = {
		.type = h->type,
		.misc = h->misc,
		.size = h->size,
		.header = h,
		.event = RECORD_NO_EVENT,
		.pid = RECORD_NO_PID,
		.tid = RECORD_NO_PID,
	};
	struct record_lost lost;

	if (record_parse_ids(&n->attr, h, &r) < 0)
		return;
	if (r.type == PERF_RECORD_LOST && record_lost(&r, &lost) >= 0)
		n->lost += lost.lost;
	note_map(n, &r);
	machine_record(&n->machine, &r);
}

static u64 time_of(const struct offcpu_names *n, const struct perf_event_header *h)
{
	struct record r = { .header = h };

	return record_parse_ids(&n->attr, h, &r) < 0 ? 0 : r.time;
}

static int keep_records(void *ctx, const void *bytes, size_t size)
{
	struct offcpu_names *n = ctx;
	const u8 *p = bytes;

	while (size >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *h = (const void *)p;

		if (h->size < sizeof(*h) || h->size > size || h->size % 8)
			break;
		vec_push(&n->pending, (struct side_record){ time_of(n, h), n->bytes.len });
		buf_add(&n->bytes, h, h->size);
		p += h->size;
		size -= h->size;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct side_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Those up to @limit; a ring that was read early may still bring one before the others. */
static void take_pending(struct offcpu_names *n, u64 limit)
{
	struct buf rest = BUF_INIT;
	size_t i = 0, left = 0;

	vec_sort(&n->pending, by_time);
	for (; i < n->pending.len && n->pending.items[i].time <= limit; i++)
		take_record(n, (const void *)(n->bytes.data + n->pending.items[i].at));
	for (; i < n->pending.len; i++) {
		struct side_record r = n->pending.items[i];
		const struct perf_event_header *h = (const void *)(n->bytes.data + r.at);

		r.at = rest.len;
		buf_add(&rest, h, h->size);
		n->pending.items[left++] = r;
	}
	n->pending.len = left;
	buf_release(&n->bytes);
	n->bytes = rest;
}

void offcpu_names_poll(struct offcpu_names *n)
{
	struct session_sinks sinks = { .records = keep_records, .ctx = n };
	u64 limit = clock_mono_ns();

	if (!n->session)
		return;
	session_drain(n->session, &sinks, NULL);
	if (n->pending.len)
		take_pending(n, limit);
}

/* --- life ------------------------------------------------------------------------------------- */

static int open_session(struct offcpu_names *n, struct err *e)
{
	struct session_opts opts = { .stack = STACK_NONE,
				     .clock_id = CLOCK_MONOTONIC,
				     .ring_bytes = 1 << 20 };
	const struct session_event *events;
	size_t count;
	int rc = event_parse(&n->events, "dummy", e);

	if (rc >= 0)
		rc = target_add_cpus(&n->target, NULL, e);
	if (rc < 0)
		return rc;
	n->session = session_new(&n->events, &n->target, NULL, &opts);
	rc = session_open(n->session, e);
	if (rc >= 0)
		rc = session_enable(n->session, e);
	if (rc < 0) {
		session_free(n->session);
		n->session = NULL;
		return rc;
	}
	events = session_events(n->session, &count);
	n->attr = events[0].attr;
	return 0;
}

static void init(struct offcpu_names *n, struct profile *profile, const struct symbols_opts *opts)
{
	*n = (struct offcpu_names){ .profile = profile, .symbols = symbols_new(opts) };
	machine_init(&n->machine, n->symbols);
}

void offcpu_names_init(struct offcpu_names *n, struct profile *profile)
{
	init(n, profile, NULL);
}

int offcpu_names_open(struct offcpu_names *n, struct profile *profile, struct err *e UNUSED)
{
	init(n, profile, &(struct symbols_opts){ .ask_kernel = true });
	/* without side-band events what runs now still has names */
	if (open_session(n, NULL) < 0)
		n->attr = (struct perf_event_attr){ .sample_id_all = 0 };
	struct synth synth = {
		.sample_type = n->attr.sample_id_all ? n->attr.sample_type : 0,
		.sink = keep_records,
		.ctx = n,
	};

	synth_kernel(&synth, NULL);
	int rc = synth_processes(&synth, NULL);

	/* what was there before has no time and so comes first */
	take_pending(n, 0);
	return rc;
}

void offcpu_names_release(struct offcpu_names *n)
{
	session_free(n->session);
	buf_release(&n->bytes);
	vec_release(&n->pending);
	event_list_release(&n->events);
	target_release(&n->target);
	machine_release(&n->machine);
	symbols_free(n->symbols);
}

/* --- frames ----------------------------------------------------------------------------------- */

u32 offcpu_marker(struct profile *p, const char *name)
{
	struct frame f = { .name = profile_string(p, name), .kind = FRAME_MARKER };

	return profile_get_frame(p, &f);
}

/* A function of Python that is known by its address alone; 0: it is none. */
static u32 python_frame(struct offcpu_names *n, u64 ip)
{
	const struct python_function *f = n->python ? python_names_find(n->python, ip) : NULL;
	struct frame out;

	if (!f)
		return 0;
	out = (struct frame){
		.name = profile_string(n->profile, intern_get(&n->python->strings, f->name)),
		.module = profile_string(n->profile, PYTHON_MAP_NAME),
		.kind = FRAME_INTERPRETED,
	};
	return profile_get_frame(n->profile, &out);
}

static u32 frame_of(struct offcpu_names *n, struct process *proc, enum address_mode mode, u64 ip,
		    bool is_return)
{
	struct place *place = machine_place(&n->machine, proc, mode, ip, is_return);
	struct frame f;

	if (place->frame)
		return place->frame;
	f = (struct frame){
		.name = profile_string(n->profile, place->name ? place->name : "[unknown]"),
		.module = profile_string(n->profile, place->dso),
		.kind = place->dso && streq(place->dso, PYTHON_MAP_NAME) ? FRAME_INTERPRETED
			: place->kind == PLACE_KERNEL                    ? FRAME_KERNEL
			: place->kind == PLACE_JIT                       ? FRAME_JIT
									 : FRAME_USER,
		.no_name = !place->name || place->flags & SYM_FDE,
	};
	place->frame = profile_get_frame(n->profile, &f);
	return place->frame;
}

/* The function in which the stack begins to tell something. */
static bool is_begin(const char *name, enum offcpu_cut cut)
{
	static const char *const sleeper[] = { "__schedule", "schedule", "preempt_schedule_common",
					       NULL };
	static const char *const waker[] = { "try_to_wake_up", "wake_up_process",
					     "default_wake_function", "wake_up_q", NULL };

	return streq_any(name, cut == OFFCPU_CUT_SLEEPER ? sleeper : waker);
}

enum { FRAMES_MOST = UNWIND_RECORD_IPS };

struct frames {
	u32 items[FRAMES_MOST];
	u32 n;
};

static bool is_interrupt(const struct profile *p, const struct frame *f)
{
	const char *name = profile_str(p, f->name);

	return offcpu_is_interrupt(name, strlen(name));
}

static void add_kernel(struct offcpu_names *n, const struct offcpu_stack *s, enum offcpu_cut cut,
		       struct frames *out)
{
	struct process *proc = machine_process(&n->machine, 0);
	u32 frames[FRAMES_MOST], count = MIN(s->n_kernel, (u32)FRAMES_MOST), begin = 0;

	for (u32 i = 0; i < count; i++) {
		const struct frame *f;

		frames[i] = frame_of(n, proc, ADDRESS_KERNEL, s->kernel[i], i > 0);
		f = &n->profile->frames.items[frames[i]];
		if (!begin && is_begin(profile_str(n->profile, f->name), cut))
			begin = i + 1;
	}
	for (u32 i = begin ? begin - 1 : 0; i < count && out->n < FRAMES_MOST; i++) {
		const struct frame *f = &n->profile->frames.items[frames[i]];

		out->items[out->n++] = frames[i];
		if (cut == OFFCPU_CUT_IRQ && is_interrupt(n->profile, f))
			break;
	}
}

static void add_user(struct offcpu_names *n, const struct offcpu_stack *s, struct frames *out)
{
	struct process *proc = machine_process(&n->machine, (s32)s->pid);
	bool root = false;

	for (u32 i = 0; i < s->n_user && out->n < FRAMES_MOST; i++) {
		u32 frame = python_frame(n, s->user[i]);

		if (!frame)
			frame = frame_of(n, proc, ADDRESS_USER, s->user[i], i > 0);

		root |= profile_is_root_frame(n->profile, frame);
		n->profile->total_frames++;
		n->profile->unnamed_frames += n->profile->frames.items[frame].no_name;
		out->items[out->n++] = frame;
	}
	if (s->n_user)
		n->profile
			->stack_ends[root || s->end == UNWIND_END_ROOT ? STACK_ROOT : STACK_CUT]++;
}

u32 offcpu_names_stack(struct offcpu_names *n, struct offcpu_stack *s, enum offcpu_cut cut)
{
	struct frames f;
	u32 stack = 0;

	if (!s)
		return 0;
	if (s->mark)
		return s->mark;
	f.n = 0;
	add_kernel(n, s, cut, &f);
	if (cut != OFFCPU_CUT_IRQ)
		add_user(n, s, &f);
	for (u32 i = f.n; i--;)
		stack = profile_get_stack(n->profile, stack, f.items[i]);
	s->mark = stack;
	return stack;
}

void offcpu_find_senders(struct offcpu_opts *opts)
{
	static const char *const names[3 + OFFCPU_SENDERS] = {
		"__entry_text_start", "__entry_text_end",  "__local_bh_enable_ip",
		"__dev_queue_xmit",   "ip_finish_output2", "ip6_finish_output2"
	};
	struct ask_range r[ARRAY_SIZE(names)];

	ask_ranges(names, ARRAY_SIZE(names), r);
	opts->entry = (struct offcpu_range){ r[0].begin, r[1].begin };
	opts->bh = (struct offcpu_range){ r[2].begin, r[2].end };
	for (int i = 0; i < OFFCPU_SENDERS; i++)
		opts->senders[i] = (struct offcpu_range){ r[i + 3].begin, r[i + 3].end };
}
