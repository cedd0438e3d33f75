/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/session.h"

#include "base/clock.h"
#include "base/hash.h"
#include "host/kallsyms.h"
#include "unwind/python_record.h"
#include "base/io.h"

enum {
	CHAIN_WORDS = UNWIND_RECORD_IPS + 2,
	PYTHONS_MOST = 1 << 16, /* processes; then the mapping of each is reported once more */
};

static const char *const event_names[WAIT_EVENTS] = { "offcpu-time", "runqueue-time", "wakeup-time",
						      "chain-time" };

struct range_of {
	u64 start;
	u64 end;
};

struct sent_accounts {
	VEC(struct offcpu_thread) accounts;
	struct map ids; /* hash of thread and begin -> index + 1 */
};

struct waits_session {
	struct waits_engine *engine;
	struct perf_event_attr attr;
	u64 ids[WAIT_EVENTS];
	u32 n_events;
	u32 launched;
	u64 held_blocked, held_runq; /* how long it was held before exec */
	u64 seq;
	u64 samples;
	struct range_of schedule, waker; /* kernel functions above which stacks are informative */
	VEC(struct range_of) interrupts; /* and those in which interrupts begin */
	struct buf out;
	VEC(struct offcpu_wait) waits; /* of this reading: their stacks may come after them */
	VEC(struct offcpu_thread) threads;
	struct sent_accounts sent;  /* at the part before, of the threads of that time */
	struct sent_accounts asked; /* while this part ends */
	struct map pythons;         /* processes whose mapping for Python was reported */
	bool asking;
	u64 read_time; /* when this reading began */
	u64 next_turn; /* when what is no longer used is dropped */
	u64 floor;     /* when the one before began: no sample is older from then on */
};

/* --- where kernel stacks begin ---------------------------------------------------------------- */

struct wanted_symbol {
	const char *name;
	struct range_of *range;
};

static void match_line(const struct kallsyms_line *l, const struct wanted_symbol *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (kallsyms_is(l, wanted[i].name))
			wanted[i].range->start = l->address;
	}
}

/* Lines come in order of address: one that follows ends the function before. */
static void note_interrupt(struct waits_session *s, const struct kallsyms_line *l)
{
	struct range_of *last = s->interrupts.len ? vec_last(&s->interrupts) : NULL;

	if (last && !last->end && l->address > last->start)
		last->end = l->address;
	if (l->address && wait_is_interrupt(l->name, l->name_len))
		vec_push(&s->interrupts, (struct range_of){ .start = l->address });
}

/* A function ends where the next symbol begins. */
static void find_end(u64 address, const struct wanted_symbol *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct range_of *r = wanted[i].range;

		if (r->start && address > r->start && (!r->end || address < r->end))
			r->end = address;
	}
}

/* What cannot be read leaves the tracepoint's own frames on the stacks: ugly, not wrong. */
static void find_functions(struct waits_session *s)
{
	const struct wanted_symbol wanted[] = {
		{ "__schedule", &s->schedule },
		{ "try_to_wake_up", &s->waker },
	};
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct kallsyms_line l;
	const char *at, *end;

	if (kallsyms_read(NULL, IO_MAX_PROC, &text, NULL) < 0)
		return;
	at = buf_str(&text);
	end = at + text.len;
	while (kallsyms_next(&at, end, &l)) {
		match_line(&l, wanted, ARRAY_SIZE(wanted));
		note_interrupt(s, &l);
	}
	for (at = buf_str(&text); kallsyms_next(&at, end, &l);)
		find_end(l.address, wanted, ARRAY_SIZE(wanted));
}

/* Index of the first frame that is not the tracepoint's. */
static u32 first_frame(const struct waits_stack *st, const struct range_of *r)
{
	for (u32 i = 0; r->start && i < st->n_kernel; i++) {
		if (st->kernel[i] > r->start && st->kernel[i] <= r->end)
			return i;
	}
	return 0;
}

static bool begins_interrupt(const struct waits_session *s, u64 address)
{
	vec_each(r, &s->interrupts) {
		if (address > r->start && address <= r->end)
			return true;
	}
	return false;
}

/* --- samples ---------------------------------------------------------------------------------- */

struct sample_of {
	enum wait_event event;
	u32 pid, tid, cpu;
	u64 time;
	u64 period;
	u64 stack;
	bool sleeper;
	bool interrupt; /* the stack of one */
};

static u64 fill_chain(const struct waits_session *s, const struct waits_stack *st,
		      const struct sample_of *in, u64 *words)
{
	u64 n = 0;
	u32 first;

	if (!st)
		return 0;
	first = first_frame(st, in->sleeper ? &s->schedule : &s->waker);
	if (st->n_kernel > first)
		words[n++] = PERF_CONTEXT_KERNEL;
	for (u32 i = first; i < st->n_kernel && n < CHAIN_WORDS; i++) {
		words[n++] = st->kernel[i];
		/* what is below was only interrupted */
		if (in->interrupt && begins_interrupt(s, st->kernel[i]))
			return n;
	}
	if (st->n_user && n < CHAIN_WORDS)
		words[n++] = PERF_CONTEXT_USER;
	for (u32 i = 0; i < st->n_user && n < CHAIN_WORDS; i++)
		words[n++] = st->user[i];
	return n;
}

/* Python functions have a mapping that exists only in the recording. */
static void record_python(struct waits_session *s, u32 pid, u64 time)
{
	const struct record_ids ids = {
		.pid = pid, .tid = pid, .time = time, .id = s->ids[0], .stream_id = s->ids[0]
	};

	if (map_find(&s->pythons, pid))
		return;
	if (s->pythons.len >= PYTHONS_MOST)
		map_clear(&s->pythons);
	map_put(&s->pythons, pid, 1);
	python_record_mapping(&s->out, &s->attr, &ids);
}

static void add_sample(struct waits_session *s, const struct sample_of *in,
		       const struct wait_record *raw)
{
	u64 words[CHAIN_WORDS];
	struct sample out = {
		.id = s->ids[in->event],
		.pid = in->pid,
		.tid = in->tid,
		.cpu = in->cpu,
		.time = MAX(in->time, s->floor),
		.period = in->period,
		.ips = words,
		.raw = raw,
		.raw_size = sizeof(*raw),
	};

	const struct waits_stack *stack = waits_engine_stack(s->engine, in->stack);

	if (stack && stack->python)
		record_python(s, stack->pid, out.time);
	out.n_ips = fill_chain(s, stack, in, words);
	out.ip = out.n_ips > 1 ? words[1] : 0;
	bool kernel = out.n_ips && words[0] == PERF_CONTEXT_KERNEL;

	if (build_sample(&s->out, &s->attr,
			 kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &out) >= 0)
		s->samples++;
}

static void add_links(struct waits_session *s, const struct offcpu_wait *w,
		      const struct wait_record *raw)
{
	struct offcpu_link links[OFFCPU_LINKS];
	u32 n = waits_engine_chain(s->engine, w->key.chain, links);

	for (u32 i = 0; i < n; i++) {
		const struct offcpu_who *l = waits_engine_waker(s->engine, links[i].waker);

		if (!l || (i && s->n_events <= WAIT_EVENT_CHAIN))
			break;
		struct wait_record r = *raw;
		struct sample_of in = {
			.event = i ? WAIT_EVENT_CHAIN : WAIT_EVENT_WAKER,
			.pid = l->pid,
			.tid = l->tid,
			.cpu = w->cpu,
			.time = w->time,
			.period = w->blocked,
			.stack = l->stack,
			.interrupt = !waker_is_task(l->kind),
		};

		r.event = in.event;
		r.link = i;
		r.kind = l->kind;
		r.pid = l->pid;
		r.tid = l->tid;
		memcpy(r.comm, l->comm, sizeof(r.comm));
		add_sample(s, &in, &r);
		if (!links[i].sleep_stack || s->n_events <= WAIT_EVENT_CHAIN)
			break;
		in.event = r.event = WAIT_EVENT_CHAIN;
		in.stack = links[i].sleep_stack;
		in.sleeper = true;
		in.interrupt = false;
		r.is_sleep = 1;
		add_sample(s, &in, &r);
	}
}

static void add_wait(struct waits_session *s, const struct offcpu_wait *w)
{
	struct wait_record raw = {
		.magic = WAIT_RECORD_MAGIC,
		.seq = ++s->seq,
		.blocked = w->blocked,
		.runq = w->runq,
		.state = w->key.state,
		.syscall = w->key.syscall,
		.flags = w->key.flags,
		.pid = w->key.pid,
		.tid = w->key.tid,
	};
	struct sample_of in = {
		.pid = w->key.pid,
		.tid = w->key.tid,
		.cpu = w->cpu,
		.time = w->time,
		.period = w->blocked,
		.stack = w->key.stack,
		.sleeper = true,
	};

	if (w->key.flags & OFFCPU_UNKNOWN_START && s->launched && s->launched == w->key.pid) {
		s->held_blocked += w->blocked;
		s->held_runq += w->runq;
		return;
	}
	memcpy(raw.comm, w->key.comm, sizeof(raw.comm));
	if (w->blocked) {
		add_sample(s, &in, &raw);
		if (s->n_events > WAIT_EVENT_WAKER)
			add_links(s, w, &raw);
	}
	if (!w->runq)
		return;
	in.event = raw.event = WAIT_EVENT_RUNQ;
	in.period = w->runq;
	raw.pid = w->next_pid;
	raw.tid = w->next_tid;
	memcpy(raw.comm, w->ran_comm, sizeof(raw.comm));
	add_sample(s, &in, &raw);
}

static int on_wait(void *ctx, const struct offcpu_wait *w)
{
	struct waits_session *s = ctx;

	vec_push(&s->waits, *w);
	return 0;
}

/* --- accounts --------------------------------------------------------------------------------- */

/* What is new since the account of the part before. */
static void subtract(struct offcpu_thread *t, const struct offcpu_thread *before)
{
	t->begin = before->end;
	t->oncpu -= MIN(t->oncpu, before->oncpu);
	t->blocked -= MIN(t->blocked, before->blocked);
	t->runq -= MIN(t->runq, before->runq);
	t->unknown -= MIN(t->unknown, before->unknown);
	t->utime -= MIN(t->utime, before->utime);
	t->stime -= MIN(t->stime, before->stime);
	t->switches -= MIN(t->switches, before->switches);
	t->preemptions -= MIN(t->preemptions, before->preemptions);
	t->minor -= MIN(t->minor, before->minor);
	t->major -= MIN(t->major, before->major);
}

static int on_thread(void *ctx, const struct offcpu_thread *t)
{
	struct waits_session *s = ctx;
	u64 key = hash_mix(t->tid, t->begin), at = map_get(&s->sent.ids, key, 0);
	struct offcpu_thread part = *t;

	if (at)
		subtract(&part, &s->sent.accounts.items[at - 1]);
	vec_push(&s->threads, part);
	if (s->asking) {
		vec_push(&s->asked.accounts, *t);
		map_put(&s->asked.ids, key, s->asked.accounts.len);
	}
	return 0;
}

static void forget_sent(struct sent_accounts *t)
{
	vec_release(&t->accounts);
	map_release(&t->ids);
	*t = (struct sent_accounts){ 0 };
}

/* All threads that live are asked about, so those of the part before have no further use. */
int waits_session_part(struct waits_session *s, struct err *e)
{
	s->asking = true;
	int rc = waits_engine_accounts(s->engine, e);

	s->asking = false;
	forget_sent(&s->sent);
	s->sent = s->asked;
	s->asked = (struct sent_accounts){ 0 };
	return MIN(rc, 0);
}

/* The launched program's wait before exec does not count: it has not started yet. */
static void shorten_account(struct waits_session *s)
{
	vec_each(t, &s->threads) {
		if (!s->launched || t->tid != s->launched)
			continue;
		u64 blocked = MIN(t->blocked, s->held_blocked), runq = MIN(t->runq, s->held_runq);

		t->blocked -= blocked;
		t->runq -= runq;
		t->begin += blocked + runq;
		s->held_blocked -= blocked;
		s->held_runq -= runq;
	}
}

const struct offcpu_thread *waits_session_threads(struct waits_session *s, size_t *ret_n)
{
	shorten_account(s);
	*ret_n = s->threads.len;
	return s->threads.items;
}

void waits_session_forget_threads(struct waits_session *s)
{
	vec_clear(&s->threads);
}

/* --- life ------------------------------------------------------------------------------------- */

static void make_attr(struct perf_event_attr *a)
{
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*a),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = 1, /* CLOCK_MONOTONIC */
	};
}

int waits_session_new(struct waits_session **ret, const struct waits_session_opts *opts,
		      struct err *e)
{
	struct waits_session *s = xcalloc(1, sizeof(*s));
	struct waits_opts engine = opts->engine;
	int rc;

	make_attr(&s->attr);
	s->launched = opts->launched;
	for (u32 i = 0; i < WAIT_EVENTS; i++)
		s->ids[i] = WRITER_OWN_ID + 0x0ffc + i;
	s->n_events = opts->chains ? WAIT_EVENTS : opts->wakers ? WAIT_EVENT_CHAIN : 2;
	engine.wakers = opts->wakers || opts->chains;
	engine.chains = opts->chains;
	engine.send = true;
	engine.by_thread = true;
	engine.threads = true; /* waits that began before or end after are counted as far as seen */
	engine.on_wait = on_wait;
	engine.on_thread = on_thread;
	engine.ctx = s;
	if (!engine.ring_bytes)
		engine.ring_bytes = 32 << 20;
	find_functions(s);
	rc = waits_engine_new(&s->engine, &engine, e);
	if (rc) {
		waits_session_free(s);
		return rc;
	}
	waits_engine_feed(s->engine);
	*ret = s;
	return 0;
}

void waits_session_free(struct waits_session *s)
{
	if (!s)
		return;
	waits_engine_free(s->engine);
	buf_release(&s->out);
	vec_release(&s->waits);
	vec_release(&s->interrupts);
	vec_release(&s->threads);
	forget_sent(&s->sent);
	forget_sent(&s->asked);
	map_release(&s->pythons);
	free(s);
}

size_t waits_session_events(const struct waits_session *s, struct writer_event ret[WAIT_EVENTS])
{
	for (u32 i = 0; i < s->n_events; i++)
		ret[i] = (struct writer_event){
			.attr = s->attr,
			.name = event_names[i],
			.ids = &s->ids[i],
			.n_ids = 1,
		};
	return s->n_events;
}

void waits_session_new_file(struct waits_session *s)
{
	map_clear(&s->pythons);
}

int waits_session_start(struct waits_session *s, struct err *e)
{
	int rc = waits_engine_start(s->engine, e);

	return rc < 0 ? rc : MIN(waits_engine_read(s->engine), 0);
}

int waits_session_stop(struct waits_session *s, struct err *e)
{
	waits_engine_stop(s->engine);
	return waits_session_part(s, e);
}

int waits_session_fd(const struct waits_session *s)
{
	return waits_engine_fd(s->engine);
}

void waits_session_take(struct waits_session *s)
{
	(void)waits_engine_read(s->engine);
}

enum { OUT_BYTES = 1 << 20, WAITS_KEPT = 1 << 13 };

static int hand_on(struct waits_session *s, int (*sink)(void *ctx, const void *p, size_t n),
		   void *ctx)
{
	int rc = s->out.len ? sink(ctx, s->out.data, s->out.len) : 0;

	buf_reset_most(&s->out, 2 * OUT_BYTES);
	return rc;
}

int waits_session_read(struct waits_session *s, int (*sink)(void *ctx, const void *p, size_t n),
		       void *ctx)
{
	u64 before = s->samples;

	s->floor = s->read_time;
	s->read_time = clock_mono_ns();
	bool turn = s->next_turn && s->read_time >= s->next_turn;
	int rc = turn ? waits_engine_turn(s->engine, NULL) : waits_engine_read(s->engine);

	if (rc < 0 && rc != -EAGAIN)
		return rc;
	if (turn || !s->next_turn)
		s->next_turn = s->read_time + WAITS_TURN_NS;
	rc = 0;
	vec_each(w, &s->waits) {
		add_wait(s, w);
		if (s->out.len >= OUT_BYTES)
			rc = hand_on(s, sink, ctx);
		if (rc < 0)
			break;
	}
	if (s->waits.cap > WAITS_KEPT)
		vec_release(&s->waits);
	vec_clear(&s->waits);
	if (turn)
		waits_engine_forget(s->engine);
	if (rc >= 0)
		rc = hand_on(s, sink, ctx);
	return rc < 0 ? rc : (int)(s->samples - before);
}

void waits_session_stats(const struct waits_session *s, struct waits_stats *ret)
{
	waits_engine_stats(s->engine, ret);
}

u64 waits_session_samples(const struct waits_session *s)
{
	return s->samples;
}

struct waits_engine *waits_session_engine(struct waits_session *s)
{
	return s->engine;
}
