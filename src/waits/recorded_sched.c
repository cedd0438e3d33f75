/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads by the scheduler's events alone: who ran, wanted to, or was blocked, and in which state.
 */
#include "waits/kinds.h"
#include "waits/recorded.h"

#include "base/hash.h"

enum where { IS_UNKNOWN, IS_RUNNING, IS_RUNNABLE, IS_BLOCKED, IS_GONE };

struct task {
	u32 tid, pid;
	u32 comm; /* string of the profile, of those that are gone */
	u8 where; /* enum where */
	u8 state; /* when it left its CPU */
	bool kthread;
	bool before;   /* the wait it is in began before the recording */
	u64 since;     /* it is there */
	u64 blocked;   /* of the wait that is not over yet */
	u32 waker;     /* that woke it, if a task did */
	u8 waker_kind; /* enum offcpu_waker */
	bool woken;    /* the waker was seen */
	struct offcpu_thread sums;
};

struct cpu {
	bool seen; /* a switch */
};

struct reader {
	struct recorded *r;
	const struct recorded_opts *opts;
	VEC(struct task) tasks;
	struct sched_tids by_tid; /* index in tasks + 1 */
	struct map kthreads;      /* tids */
	struct map waits;         /* task and state -> index in waits + 1 */
	struct cpu cpus[SCHED_CPUS_MOST];
	turn_list turns;
	need_list needs;
};

/* --- tasks ------------------------------------------------------------------------------------ */

static struct task *task_of(struct reader *in, u32 tid)
{
	u32 *at = sched_tids_at(&in->by_tid, tid);
	struct task *t;

	if (*at)
		return &in->tasks.items[*at - 1];
	t = vec_new(&in->tasks);
	t->tid = tid;
	t->since = t->sums.begin = in->r->names.first;
	t->before = true;
	t->kthread = map_find(&in->kthreads, tid);
	*at = (u32)in->tasks.len;
	return t;
}

static u32 comm_of(struct reader *in, u32 tid)
{
	return profile_string(&in->r->load.profile, sched_comm(&in->r->names, tid));
}

static u32 pid_of(struct reader *in, const struct task *t)
{
	u32 pid = t->pid ? t->pid : sched_pid(&in->r->names, t->tid);

	return pid ? pid : t->tid;
}

static bool matches(struct reader *in, const struct task *t)
{
	const char *comm = t->comm ? profile_str(&in->r->load.profile, t->comm)
				   : sched_comm(&in->r->names, t->tid);

	return recorded_matches(in->opts, pid_of(in, t), t->tid, comm, t->kthread);
}

static bool is_wanted(struct reader *in, const struct task *t)
{
	return in->opts->all || matches(in, t);
}

/* How long it has been where it is. */
static u64 stay(const struct task *t, u64 now)
{
	return now > t->since ? now - t->since : 0;
}

static void move(struct task *t, enum where where, u64 now)
{
	t->where = where;
	t->since = now;
}

/* --- waits ------------------------------------------------------------------------------------ */

static void set_waker(struct reader *in, const struct task *t, struct wait *w)
{
	struct profile *p = &in->r->load.profile;
	struct wait_link *l = &w->links[0];

	if (!t->woken)
		return;
	w->n_links = 1;
	l->kind = t->waker_kind;
	if (!waker_is_task(l->kind)) {
		l->comm = profile_string(p, wait_irq_name(p, 0, l->kind));
		return;
	}
	l->tid = t->waker;
	l->pid = sched_pid(&in->r->names, t->waker);
	l->comm = comm_of(in, t->waker);
}

/* Single ones where they are reported one by one, otherwise those of one task and state together.
 */
static void add_wait(struct reader *in, struct task *t, u64 runq, u64 now, u32 flags)
{
	struct profile *p = &in->r->load.profile;
	struct wait w = {
		.state = t->state,
		.syscall = -1,
		.flags = flags | (t->before ? OFFCPU_UNKNOWN_START : 0) |
			 (t->kthread ? OFFCPU_KTHREAD : 0) |
			 (t->state || t->before ? 0 : OFFCPU_PREEMPTED),
		.time = now,
		.blocked = t->blocked,
		.max_blocked = t->blocked,
		.runq = runq,
		.max_runq = runq,
		.count = 1,
	};
	u64 *at;

	if (t->state & 0x80)
		w.state = 0x402; /* an idle kernel thread, as the kernel has it */
	w.kind = (u8)wait_kind_of_state(w.state);
	if ((!w.blocked && !w.runq) || !is_wanted(in, t))
		return;
	w.thread = profile_get_thread(p, (s32)pid_of(in, t), (s32)t->tid, comm_of(in, t->tid), 0);
	if (in->opts->ran) {
		set_waker(in, t, &w);
		vec_push(&in->r->load.waits, w);
		return;
	}
	at = map_at(&in->waits, hash_mix((u64)(t - in->tasks.items), w.state));
	if (*at) {
		wait_add(&in->r->load.waits.items[*at - 1], &w);
		return;
	}
	vec_push(&in->r->load.waits, w);
	*at = in->r->load.waits.len;
}

/* Off the CPU until now, in whichever way. */
static void end_wait(struct reader *in, struct task *t, u64 now, u32 cpu, u32 flags)
{
	bool wakes = in->r->names.has[SCHED_WAKING] || in->r->names.has[SCHED_WAKEUP];
	u64 away = stay(t, now), runq = 0;

	if (t->where == IS_RUNNABLE || (t->where == IS_UNKNOWN && wakes)) {
		/* who was there before and was not woken wanted a CPU all the time */
		runq = away;
		t->sums.runq += runq;
	} else if (t->where == IS_BLOCKED) {
		t->blocked += away;
		t->sums.blocked += away;
	} else {
		t->sums.unknown += away;
		t->blocked = 0;
		return;
	}
	add_wait(in, t, runq, now, flags);
	if (in->opts->ran && runq && !(flags & OFFCPU_OPEN) && matches(in, t))
		vec_push(&in->needs, (struct cpu_need){ now - runq, now, cpu, 0 });
}

/* --- events ----------------------------------------------------------------------------------- */

static void end_turn(struct reader *in, struct task *t, u64 now, u32 cpu)
{
	u64 ran = stay(t, now);

	/* the first that a CPU tells is who leaves it: that one had run there all along */
	if (t->where != IS_RUNNING && !(t->where == IS_UNKNOWN && !in->cpus[cpu].seen)) {
		t->sums.unknown += ran;
		return;
	}
	t->sums.oncpu += ran;
	if (in->opts->ran && ran)
		vec_push(&in->turns, (struct cpu_turn){ t->since, now, cpu, t->tid });
}

static void leave(struct reader *in, const struct sched_event *ev)
{
	struct task *t = task_of(in, ev->prev);
	char state = sched_state_char(ev->state);

	end_turn(in, t, ev->time, ev->cpu);
	t->state = ev->state;
	t->before = t->woken = false;
	t->blocked = 0;
	t->sums.switches++;
	t->sums.preemptions += state == 'R';
	move(t, state == 'R' ? IS_RUNNABLE : IS_BLOCKED, ev->time);
	if (state == 'X' || state == 'Z') {
		t->comm = comm_of(in, t->tid);
		t->sums.end = ev->time;
		t->where = IS_GONE;
	}
}

static void on_switch(struct reader *in, const struct sched_event *ev)
{
	struct task *t;

	if (ev->prev)
		leave(in, ev);
	in->cpus[ev->cpu].seen = true;
	if (!ev->next)
		return;
	t = task_of(in, ev->next);
	end_wait(in, t, ev->time, ev->cpu, 0);
	move(t, IS_RUNNING, ev->time);
}

static void on_waking(struct reader *in, const struct sched_event *ev)
{
	struct task *t = task_of(in, ev->next);

	if (t->where != IS_BLOCKED && t->where != IS_UNKNOWN)
		return;
	t->blocked += stay(t, ev->time);
	t->sums.blocked += stay(t, ev->time);
	t->waker = ev->tid;
	t->waker_kind = ev->flags & SCHED_IN_NMI               ? OFFCPU_WAKER_NMI
			: ev->flags & SCHED_IN_IRQ || !ev->tid ? OFFCPU_WAKER_IRQ
			: ev->flags & SCHED_IN_SOFTIRQ         ? OFFCPU_WAKER_SOFTIRQ
							       : OFFCPU_WAKER_TASK;
	t->woken = true;
	move(t, IS_RUNNABLE, ev->time);
}

/*
 * The number is given again, or for the first time. Side-band records begin earlier than events,
 * and such tasks may be long gone: who is still there will be heard of.
 */
static void on_born(struct reader *in, const struct sched_event *ev)
{
	u32 *at = sched_tids_at(&in->by_tid, ev->next);
	u64 time = ev->time;
	struct task *t;

	if (ev->next == 2 || ev->prev == 2)
		map_put(&in->kthreads, ev->next, 1);
	if (time <= in->r->names.first)
		return;
	if (*at && in->tasks.items[*at - 1].where != IS_GONE) {
		t = &in->tasks.items[*at - 1];
		t->comm = comm_of(in, t->tid);
		t->sums.end = time;
		t->where = IS_GONE;
	}
	*at = 0;
	t = task_of(in, ev->next);
	t->pid = ev->pid;
	t->before = false;
	t->sums.begin = time;
	move(t, IS_RUNNABLE, time);
}

static int on_events(void *ctx, const struct sched_event *ev, size_t n)
{
	struct reader *in = ctx;

	for (const struct sched_event *end = ev + n; ev < end; ev++) {
		if (ev->type == SCHED_SWITCH)
			on_switch(in, ev);
		else if (ev->type == SCHED_WAKING ||
			 (ev->type == SCHED_WAKEUP && !in->r->names.has[SCHED_WAKING]))
			on_waking(in, ev);
		else if (ev->type == SCHED_BORN)
			on_born(in, ev);
	}
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void finish_task(struct reader *in, struct task *t)
{
	u64 last = in->r->names.last;
	struct offcpu_thread *out;
	const char *comm;

	/* who appeared in nothing but a name */
	if (t->where == IS_UNKNOWN || !is_wanted(in, t))
		return;
	if (t->where == IS_RUNNING)
		end_turn(in, t, last, 0);
	else if (t->where != IS_GONE)
		end_wait(in, t, last, 0, OFFCPU_OPEN);
	comm = profile_str(&in->r->load.profile, t->comm ? t->comm : comm_of(in, t->tid));
	vec_push(&in->r->threads, t->sums);
	out = vec_last(&in->r->threads);
	out->tid = t->tid;
	out->pid = pid_of(in, t);
	out->flags = t->kthread ? OFFCPU_KTHREAD : 0;
	out->end = out->end ? out->end : last;
	memcpy(out->comm, comm, MIN(strlen(comm), sizeof(out->comm)));
	vec_push(&in->r->cgroups, profile_string(&in->r->load.profile, "[not recorded]"));
}

static void finish(struct reader *in)
{
	struct recorded *r = in->r;

	r->how = RECORDED_SWITCHES | RECORDED_NO_CHAINS | RECORDED_NO_FAULTS | RECORDED_NO_CGROUPS;
	r->seen.begin = r->names.first;
	r->seen.end = r->names.last;
	r->seen.unsplit = true;
	for (size_t i = 0; i < in->tasks.len; i++)
		finish_task(in, &in->tasks.items[i]);
	turns_share(&in->turns, &in->needs, &r->ran);
	vec_each(ran, &r->ran) {
		ran->pid = sched_pid(&r->names, ran->tid);
		ran->comm = comm_of(in, ran->tid);
	}
}

int recorded_load_switches(struct recorded *r, struct recording *recording,
			   const struct recorded_opts *opts, struct err *e)
{
	struct reader *in = xcalloc(1, sizeof(*in));
	const struct sched_filter filter = {
		.types = 1u << SCHED_SWITCH | 1u << SCHED_WAKING | 1u << SCHED_WAKEUP,
	};
	int rc;

	in->r = r;
	in->opts = opts;
	profile_init(&r->load.profile);
	rc = sched_replay(recording, &filter, &r->names, on_events, in, e);
	if (rc >= 0)
		finish(in);
	vec_release(&in->tasks);
	vec_release(&in->turns);
	vec_release(&in->needs);
	sched_tids_release(&in->by_tid);
	map_release(&in->kthreads);
	map_release(&in->waits);
	free(in);
	return rc;
}
