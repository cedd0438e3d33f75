/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that samples: stacks by CFI tables in the kernel, and, in the order of time with them,
 * what processes map, so that an address is named by the mappings of its moment.
 */
#include "top/live_code.h"
#include "top/live_state.h"

#include <signal.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "capture/session.h"
#include "unwind/sampler.h"
#include "waits/names.h"
#include "waits/wait.h"

#define WINDOW_NS  (5 * NSEC_PER_SEC)
#define PUBLISH_NS NSEC_PER_SEC

enum {
	STACKS_MOST = 1 << 18, /* of the profile: then all is begun again */
	SAMPLES_MOST = 1 << 18,
	QUEUE_MOST = 64 << 20, /* bytes between two looks */
	POLL_NS = 100 * 1000 * 1000,
	PACE_MOST = WINDOW_NS / PUBLISH_NS, /* every sample must be in a frame */
};

/* A sample with its stack by number. */
struct kept {
	u64 time, weight;
	u64 ip;
	u32 pid, tid;
	u32 stack, comm;
	bool kernel; /* @ip is of the kernel */
};

/* Of a queue: a record of the kernel, or a sample, with its bytes in @bytes. */
struct queued {
	u64 time;
	size_t at, size;
	u32 n; /* of arrival */
	bool sample;
};

struct queued_sample {
	u64 period, ip;
	u32 pid, tid, n_kernel, n_user;
	u8 end;
	char comm[UNWIND_COMM];
};

/* A process that has ended, and when that was seen. */
struct ended {
	u32 pid;
	u64 time;
};

struct sampling {
	struct live *live;
	struct event_list events;
	struct target target;
	struct session *session;
	struct sampler *sampler;
	int sampler_fd;
	struct profile profile;
	struct waits_names names;
	struct python_names python;
	u16 event;
	VEC(struct kept) kept;
	size_t first; /* of @kept: those before are too old */
	VEC(struct queued) queue;
	struct buf bytes;
	VEC(struct ended) ended; /* in the order of time; forgotten after a while */
	u64 give_back;           /* when memory is given back next */
	u64 dropped;
	u64 serial; /* of the request that was answered last */
	u64 started;
	u64 read; /* when the rings were read last: the samples until then have been taken */
	char arch[32];
	u32 time_back; /* bytes from the end of a record to its time */
};

/* --- the queue -------------------------------------------------------------------------------- */

/* After a record that is not a sample stand, of these, those requested. */
static u32 time_offset(u64 sample_type)
{
	static const u64 after[] = { PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
				     PERF_SAMPLE_IDENTIFIER };
	u32 offset = 8;

	if (!(sample_type & PERF_SAMPLE_TIME))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(after); i++)
		offset += sample_type & after[i] ? 8 : 0;
	return offset;
}

static int on_records(void *ctx, const void *bytes, size_t size)
{
	struct sampling *s = ctx;
	const u8 *p = bytes;

	while (size >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		u64 time = 0;

		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) || h.size > size)
			break;
		if (s->time_back && h.size >= sizeof(h) + s->time_back)
			memcpy(&time, p + h.size - s->time_back, sizeof(time));
		if (h.type != PERF_RECORD_SAMPLE && s->bytes.len < QUEUE_MOST) {
			vec_push(&s->queue, (struct queued){ .time = time,
							     .at = s->bytes.len,
							     .size = h.size,
							     .n = (u32)s->queue.len });
			buf_add(&s->bytes, p, h.size);
		}
		p += h.size;
		size -= h.size;
	}
	return 0;
}

static int on_sample(void *ctx, const struct sampler_sample *in)
{
	struct sampling *s = ctx;
	struct queued_sample head = { .period = in->period,
				      .ip = in->user_ip ? in->ip : 0,
				      .pid = in->pid,
				      .tid = in->tid,
				      .n_kernel = in->n_kernel,
				      .n_user = in->n_user,
				      .end = (u8)in->end };

	if (s->bytes.len >= QUEUE_MOST) {
		s->dropped++;
		return 0;
	}
	memcpy(head.comm, in->comm, sizeof(head.comm));
	buf_fill(&s->bytes, '\0', (8 - s->bytes.len % 8) % 8);
	vec_push(&s->queue, (struct queued){ .time = in->time,
					     .at = s->bytes.len,
					     .n = (u32)s->queue.len,
					     .sample = true });
	buf_add(&s->bytes, &head, sizeof(head));
	buf_add(&s->bytes, in->kernel, in->n_kernel * sizeof(u64));
	buf_add(&s->bytes, in->user, in->n_user * sizeof(u64));
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static void take_sample(struct sampling *s, const struct queued *q)
{
	const char *at = s->bytes.data + q->at;
	struct queued_sample head;
	struct waits_stack stack;
	char comm[UNWIND_COMM + 1] = { 0 };
	struct kept k;

	memcpy(&head, at, sizeof(head));
	stack = (struct waits_stack){
		.kernel = (const u64 *)(const void *)(at + sizeof(head)),
		.user = (const u64 *)(const void *)(at + sizeof(head)) + head.n_kernel,
		.n_kernel = head.n_kernel,
		.n_user = head.n_user,
		.pid = head.pid,
		.end = head.end,
	};
	memcpy(comm, head.comm, sizeof(head.comm));
	waits_names_learn(&s->names, &stack);
	k = (struct kept){ .time = q->time,
			   .weight = head.period,
			   .ip = head.ip,
			   .pid = head.pid,
			   .tid = head.tid,
			   .stack = waits_names_stack(&s->names, &stack, WAIT_CUT_NONE),
			   .comm = profile_string(&s->profile, comm) };
	if (!k.ip && head.n_kernel) {
		k.ip = stack.kernel[0];
		k.kernel = true;
	}
	vec_push(&s->kept, k);
}

static void take_record(struct sampling *s, const struct queued *q)
{
	const char *bytes = s->bytes.data + q->at;
	struct perf_event_header h;
	u32 ids[4]; /* pid, ppid, tid, ptid */

	waits_names_record(&s->names, bytes, q->size);
	memcpy(&h, bytes, sizeof(h));
	if (h.type != PERF_RECORD_EXIT || q->size < sizeof(h) + sizeof(ids))
		return;
	memcpy(ids, bytes + sizeof(h), sizeof(ids));
	if (ids[0] == ids[2])
		vec_push(&s->ended, (struct ended){ ids[0], clock_mono_ns() });
}

static void work_off(struct sampling *s)
{
	vec_sort(&s->queue, by_time);
	vec_each(q, &s->queue) {
		if (q->sample)
			take_sample(s, q);
		else
			take_record(s, q);
	}
	vec_clear(&s->queue);
	buf_reset(&s->bytes);
}

/* --- what is kept ----------------------------------------------------------------------------- */

static void forget_old(struct sampling *s)
{
	u64 now = clock_mono_ns(), keep = MAX(s->live->keep_ns, WINDOW_NS);

	while (s->first < s->kept.len &&
	       (s->kept.items[s->first].time + keep < now || s->kept.len - s->first > SAMPLES_MOST))
		s->first++;
	if (s->first > s->kept.len / 2) {
		memmove(s->kept.items, s->kept.items + s->first,
			(s->kept.len - s->first) * sizeof(*s->kept.items));
		s->kept.len -= s->first;
		s->first = 0;
	}
}

/* Source lines are asked for as long as samples are in the window, and not later. */
static void forget_ended(struct sampling *s)
{
	u64 now = clock_mono_ns();
	size_t n = 0, n_now = s->ended.len;

	for (; n < n_now && s->ended.items[n].time + WINDOW_NS + 2 * PUBLISH_NS < now; n++) {
		u32 pid = s->ended.items[n].pid;

		/* others of its threads live, or the number is that of another one: later */
		if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			vec_push(&s->ended, (struct ended){ pid, now });
		else
			waits_names_forget(&s->names, pid);
	}
	memmove(s->ended.items, s->ended.items + n, (s->ended.len - n) * sizeof(*s->ended.items));
	s->ended.len -= n;
	waits_names_renew(&s->names);
	waits_names_rest(&s->names);
	mem_give_back(&s->give_back);
}

static void open_profile(struct sampling *s)
{
	size_t n;
	const struct session_event *e = session_events(s->session, &n);

	profile_init(&s->profile);
	waits_names_open(&s->names, &s->profile, NULL);
	s->names.python = &s->python;
	s->event = profile_get_event(&s->profile, n ? e[0].name : "cpu-clock");
	s->profile.events.items[s->event].unit = profile_string(&s->profile, "");
	vec_clear(&s->kept);
	s->first = 0;
}

static void close_profile(struct sampling *s)
{
	waits_names_release(&s->names);
	profile_release(&s->profile);
}

/* --- frames ----------------------------------------------------------------------------------- */

static bool is_asked(const struct sampling *s, const struct kept *k, const struct live_request *r)
{
	return live_is_of(&r->of, k->pid, k->tid) && live_has_asked(&s->profile, k->stack, r);
}

/* The samples of the window requested become those of the profile. */
static void select_samples(struct sampling *s, const struct live_request *r, u64 end)
{
	struct profile *p = &s->profile;

	waits_forget(p);
	for (size_t i = s->first; i < s->kept.len; i++) {
		const struct kept *k = &s->kept.items[i];

		if (k->time > end || k->time + WINDOW_NS < end || !is_asked(s, k, r))
			continue;
		profile_add_sample(p, &(struct profile_sample){
					      .time = k->time,
					      .weight = k->weight,
					      .stack = k->stack,
					      .thread = profile_get_thread(p, (s32)k->pid,
									   (s32)k->tid, k->comm, 0),
					      .count = 1,
					      .cpu = -1,
					      .event = s->event,
				      });
	}
}

/* Was the function itself hit, or what was inlined into it? */
static bool is_inside(const struct profile *p, u32 stack, const struct live_request *r)
{
	while (stack && !live_is_function(p, stack, r)) {
		if (profile_frame_of(p, stack)->kind != FRAME_INLINED)
			return false;
		stack = p->stacks.items[stack].parent;
	}
	return stack != 0;
}

/* Source lines of the function, by where samples hit it. */
static void fill_lines(struct sampling *s, const struct live_request *r, u64 end,
		       struct profile_frame *f)
{
	struct source_frame source[SOURCE_MAX_FRAMES];
	_cleanup_map_ struct map known = MAP_INIT;
	struct intern names = INTERN_INIT;

	for (size_t i = s->first; i < s->kept.len; i++) {
		const struct kept *k = &s->kept.items[i];
		const struct place *place;
		_cleanup_buf_ struct buf text = BUF_INIT;
		size_t n;
		u64 *at;

		if (k->time > end || k->time + WINDOW_NS < end || !k->ip || k->kernel ||
		    !is_asked(s, k, r) || !k->stack || !is_inside(&s->profile, k->stack, r))
			continue;
		place = machine_place(&s->names.machine,
				      machine_process(&s->names.machine, (s32)k->pid), ADDRESS_USER,
				      k->ip, false);
		n = place->module ? symbols_lines(s->names.symbols, place->module, place->address,
						  source, ARRAY_SIZE(source))
				  : 0;
		if (n && source[0].file)
			buf_addf(&text, "%s:%u", source[0].file, source[0].line);
		else
			buf_addstr(&text, "no debug information");
		at = map_at(&known, intern_str(&names, buf_str(&text)));
		if (!*at) {
			vec_push(&f->lines, (struct live_detail){
						    arena_strdup(&f->arena, buf_str(&text)), 0 });
			*at = f->lines.len;
		}
		f->lines.items[*at - 1].weight += k->weight;
	}
	intern_release(&names);
}

/* Instructions of the function, by where samples hit it. */
static void fill_code(struct sampling *s, const struct live_request *r, u64 end,
		      struct profile_frame *f)
{
	struct hits h;

	hits_init(&h, s->names.symbols, f->event, s->arch);
	for (size_t i = s->first; i < s->kept.len; i++) {
		const struct kept *k = &s->kept.items[i];
		struct process *proc;

		if (k->time > end || k->time + WINDOW_NS < end || !k->ip || !is_asked(s, k, r) ||
		    !k->stack || !is_inside(&s->profile, k->stack, r))
			continue;
		proc = machine_process(&s->names.machine, (s32)k->pid);
		hits_add(&h,
			 machine_place(&s->names.machine, proc,
				       k->kernel ? ADDRESS_KERNEL : ADDRESS_USER, k->ip, false),
			 proc, k->time, k->weight);
	}
	hits_finish(&h);
	live_code_fill(f, &h, r);
	hits_release(&h);
}

static int heavier(const void *a, const void *b)
{
	const struct live_detail *x = a, *y = b;

	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

static void publish(struct sampling *s, const struct live_request *r)
{
	struct profile_frame *f = xcalloc(1, sizeof(*f));
	struct sampler_stats stats;
	u64 end = r->end ? r->end : s->read;

	sampler_stats(s->sampler, &stats);
	select_samples(s, r, end);
	profile_frame_fill(f, &s->profile, s->event, r);
	if (*r->function) {
		fill_lines(s, r, end, f);
		fill_code(s, r, end, f);
	}
	vec_sort(&f->lines, heavier);
	f->lost = stats.lost + s->dropped;
	for (int i = 0; i < UNWIND_END_COUNT; i++)
		f->user_stacks += stats.ends[i];
	f->cut = f->user_stacks - MIN(stats.ends[UNWIND_END_ROOT], f->user_stacks);
	f->seconds = (double)MIN(WINDOW_NS, end > s->started ? end - s->started : 1) / 1e9;
	f->frequency = s->live->frequency;
	f->late = (double)(clock_mono_ns() - s->read) / 1e9;
	f->serial = s->serial;
	if (r->end && r->end <= s->started) {
		f->why = "nothing was sampled at that time";
		f->hint = "samples are kept while a screen shows them";
	}
	live_publish_profile(s->live, f);
}

static void publish_why(struct live *l, const struct err *e)
{
	struct profile_frame *f = xcalloc(1, sizeof(*f));

	f->why = arena_strdup(&f->arena, e->what ? e->what : "sampling does not work here");
	f->hint = arena_strdup(&f->arena, e->hint ? e->hint : "");
	f->event = "";
	f->serial = UINT64_MAX;
	live_publish_profile(l, f);
}

/* --- life ------------------------------------------------------------------------------------- */

static int attach(struct sampling *s, struct err *e)
{
	size_t n;
	const int *fds = session_event_fds(s->session, 0, &n);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = sampler_attach(s->sampler, fds[i], 0, e);
	return r;
}

/* A CPU that came back. */
static void on_reopened(void *ctx, size_t index, int fd)
{
	struct sampling *s = ctx;

	if (index == 0)
		(void)sampler_attach(s->sampler, fd, 0, NULL);
}

static void find_time(struct sampling *s)
{
	size_t n;
	const struct session_event *e = session_events(s->session, &n);

	for (size_t i = 0; i < n; i++)
		if (e[i].side_band || n == 1)
			s->time_back = time_offset(e[i].attr.sample_type);
	if (n && !s->time_back)
		s->time_back = time_offset(e[0].attr.sample_type);
}

static int open_sampling(struct sampling *s, struct err *e)
{
	const struct session_opts so = { .frequency = s->live->frequency,
					 .clock_id = CLOCK_MONOTONIC,
					 .ring_bytes = 256 << 10 };
	const struct sampler_opts sampler = {
		.events = 1, .ring_bytes = 1 << 20, .python = true, .python_names = &s->python
	};
	int r = event_add_default(&s->events, NULL, e);
	struct utsname system;

	python_names_init(&s->python);
	if (uname(&system) == 0)
		snprintf(s->arch, sizeof(s->arch), "%.31s", system.machine);
	if (!r)
		r = target_add_cpus(&s->target, NULL, e);
	if (r < 0)
		return r;
	s->session = session_new(&s->events, &s->target, NULL, &so);
	r = session_open(s->session, e);
	if (r >= 0)
		r = sampler_new(&s->sampler, &sampler, e);
	if (r >= 0)
		r = attach(s, e);
	if (r < 0)
		return r;
	s->sampler_fd = sampler_fd(s->sampler);
	find_time(s);
	open_profile(s);
	waits_names_learn_all(&s->names);
	s->started = clock_mono_ns();
	return session_enable(s->session, e);
}

static void close_sampling(struct sampling *s)
{
	if (s->session)
		session_disable(s->session);
	if (s->profile.stacks.len)
		close_profile(s);
	sampler_free(s->sampler);
	python_names_release(&s->python);
	session_free(s->session);
	event_list_release(&s->events);
	target_release(&s->target);
	vec_release(&s->kept);
	vec_release(&s->queue);
	vec_release(&s->ended);
	buf_release(&s->bytes);
	*s = (struct sampling){ .live = s->live };
}

/* Called after each look at the rings of the session. */
static int on_round(void *ctx)
{
	struct sampling *s = ctx;
	struct live_request r;
	u64 serial;
	int rc = sampler_read(s->sampler, on_sample, s);

	if (rc < 0 && rc != -EAGAIN && rc != -EINTR)
		return rc;
	/* something else is requested, or nothing more */
	return !live_request(s->live, &r, &serial) || !r.samples || serial != s->serial;
}

static int run(struct sampling *s, struct err *e)
{
	const struct session_sinks sinks = { .records = on_records,
					     .round = on_round,
					     .reopened = on_reopened,
					     .ctx = s,
					     .wake_fd = &s->sampler_fd };
	u64 due = clock_mono_ns() + PUBLISH_NS / 2, now;
	struct live_request r;
	int rc = 0;

	while (rc >= 0 && live_request(s->live, &r, &s->serial) && r.samples) {
		u64 serial = s->serial;

		/* names are requested soon: processes end */
		now = clock_mono_ns();
		rc = session_run(s->session, MIN(due, now + POLL_NS), &sinks, e);
		s->read = clock_mono_ns();
		work_off(s);
		if (!live_request(s->live, &r, &s->serial) ||
		    (clock_mono_ns() < due && serial == s->serial))
			continue;
		forget_old(s);
		forget_ended(s);
		if (!r.cold || r.both)
			publish(s, &r);
		if (s->profile.stacks.len > STACKS_MOST) {
			close_profile(s);
			open_profile(s);
		}
		if (clock_mono_ns() >= due)
			due = clock_mono_ns() +
			      PUBLISH_NS * MIN(live_pace_now(s->live), (u32)PACE_MOST);
	}
	return rc;
}

void *live_samples(void *live)
{
	struct sampling s = { .live = live };

	while (live_wait_for(live, LIVE_SAMPLES)) {
		_cleanup_err_ struct err e = ERR_INIT;
		int r = open_sampling(&s, &e);

		if (r >= 0)
			r = run(&s, &e);
		close_sampling(&s);
		mem_give_back(&(u64){ 1 });
		if (r < 0) {
			publish_why(live, &e);
			/* it would fail again: until something else is requested */
			while (live_is_wanted(live, LIVE_SAMPLES))
				clock_sleep_ns(POLL_NS);
		}
	}
	return NULL;
}
