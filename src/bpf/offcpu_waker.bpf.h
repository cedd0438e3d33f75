/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who ends a sleep, and out of which sleep that one had come. */
#ifndef BPF_OFFCPU_WAKER_BPF_H
#define BPF_OFFCPU_WAKER_BPF_H

#include "bpf/offcpu.bpf.h"
#include "bpf/offcpu_interrupt.bpf.h"

/* --- what is sent ----------------------------------------------------------------------------- */

static __always_inline u64 offcpu_who_hash(const struct offcpu_who *w)
{
	const u64 *comm = (const u64 *)w->comm;
	u64 h = offcpu_mix(w->stack, (u64)w->pid << 32 | w->tid);

	return offcpu_mix(offcpu_mix(offcpu_mix(h, w->kind), comm[0]), comm[1]) | 1;
}

/* In the ring, for the record of a new number. */
static __always_inline void *offcpu_room_for(u64 id, u64 size)
{
	void *room = bpf_ringbuf_reserve(&unwind_ring, size, 0);

	if (!room)
		offcpu_sent_invalidate(id);
	return room;
}

/* False: there was no room. */
static __always_inline bool offcpu_send_who(const struct offcpu_who *w)
{
	struct offcpu_who *r;

	if (!offcpu_sent_insert(w->id))
		return true;
	r = offcpu_room_for(w->id, sizeof(*r));
	if (!r)
		return false;
	__builtin_memcpy(r, w, sizeof(*r));
	r->type = OFFCPU_RECORD_WAKER;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

/* The same for the thread's last chain, whose links it still has; without chains a waker is one. */
static __always_inline bool offcpu_send_chain(const struct offcpu_task *st)
{
	u64 id = st->chain;
	struct offcpu_chain *r;

	if (!offcpu_options.chains)
		return offcpu_send_who(&st->who);
	if (!offcpu_sent_insert(id))
		return true;
	r = offcpu_room_for(id, sizeof(*r));
	if (!r)
		return false;
	r->type = OFFCPU_RECORD_CHAIN;
	r->n = st->n_links;
	r->id = id;
	bpf_probe_read_kernel(r->links, sizeof(r->links), st->links);
	bpf_ringbuf_submit(r, offcpu_wake_flags());
	return true;
}

/* The number of the thread's links. */
static __always_inline u64 offcpu_chain_hash(const struct offcpu_task *st)
{
	u64 h = st->n_links;
	u32 i;

	for (i = 0; i < OFFCPU_LINKS; i++) {
		if (i >= st->n_links)
			break;
		h = offcpu_mix(offcpu_mix(h, st->links[i].waker), st->links[i].sleep_stack);
	}
	return h | 1;
}

/* --- who it is -------------------------------------------------------------------------------- */

/* The waker's own last sleep, if it ended within the sleep that is ending now, begun at @out. */
static __always_inline void follow_chain(struct offcpu_task *st, struct offcpu_task *waker, u64 out)
{
	u32 i, n = 1;

	st->links[0].sleep_stack = 0;
	st->links[0].sleep_end = 0;
	if (!waker || !waker->sleep_wake || waker->sleep_wake <= out)
		goto out;
	st->links[0].sleep_stack = waker->sleep_stack;
	st->links[0].sleep_end = waker->sleep_wake;
	for (i = 0; i < OFFCPU_LINKS - 1; i++) {
		if (i >= waker->n_links)
			break;
		st->links[i + 1] = waker->links[i];
		n = i + 2;
		if (!st->links[i + 1].sleep_stack)
			break;
		if (st->links[i + 1].sleep_end <= out) {
			st->links[i + 1].sleep_stack = 0;
			break;
		}
	}
out:
	st->n_links = n;
}

struct offcpu_bh {
	struct unwind_slot *slot;
	u32 receives; /* an inner frame is the softirq of received packets */
	u32 inner;    /* the frame before was the one that runs softirqs */
	u32 found;
};

/* A return address may be right after a function. */
static __always_inline bool returns_into(const volatile struct offcpu_range *r, u64 ip)
{
	return ip > r->begin && ip <= r->end;
}

static long offcpu_is_sender(u32 i, void *ctx)
{
	struct offcpu_bh *c = ctx;

	if (i >= OFFCPU_KERNEL_FRAMES)
		return 1;
	u64 ip = c->slot->out.ip[i];

	c->receives |= returns_into(&offcpu_options.receiver, ip);
	if (c->receives && c->inner)
		c->found = returns_into(&offcpu_options.senders[0], ip) ||
			   returns_into(&offcpu_options.senders[1], ip) ||
			   returns_into(&offcpu_options.senders[2], ip);
	c->inner = returns_into(&offcpu_options.bh, ip);
	return c->found != 0;
}

enum { SOFTIRQ_NOT_WALKED, SOFTIRQ_UNRELATED, SOFTIRQ_OWN };

/*
 * A softirq runs when an interrupt ends, and then the interrupted task is not the waker; or when a
 * task lets softirqs run again. When it does so because it has sent something, by loopback, say,
 * then packets that arrive are that task's doing; a disk's completion, which waited for its turn as
 * well, is not.
 */
static __attribute__((noinline)) int whose_softirq(void *ctx, struct task_struct *task)
{
	struct offcpu_bh c = {};
	long bytes;

	if (!task_field(task, pid) ||
	    (!(task_field(task, flags) & PF_KTHREAD) && syscall_of(task) < 0))
		return SOFTIRQ_NOT_WALKED;
	c.slot = unwind_slot_take();
	if (!c.slot)
		return SOFTIRQ_NOT_WALKED;
	bytes = bpf_get_stack(ctx, c.slot->out.ip, OFFCPU_KERNEL_FRAMES * 8, 0);
	c.slot->kept = bytes > 0 ? (u32)bytes / 8 : 0;
	bpf_loop(c.slot->kept, offcpu_is_sender, &c, 0);
	unwind_slot_give(c.slot);
	return c.found ? SOFTIRQ_OWN : SOFTIRQ_UNRELATED;
}

/* The links from the waker on, which woke the thread out of a sleep that began at @out. */
static __always_inline u64 link_up(struct offcpu_task *st, struct task_struct *task,
				   const struct offcpu_who *who, u64 out)
{
	struct offcpu_task *waker = 0;

	st->n_links = 0;
	if (waker_is_task(who->kind) && task_field(task, pid))
		waker = offcpu_task_of(task, false);
	/* each waker of a chain has been sent before it */
	if (!offcpu_send_who(who)) {
		offcpu_count(OFFCPU_COUNT_CHAINS_FULL, 1);
		return 0;
	}
	st->links[0].waker = who->id;
	follow_chain(st, waker, out);
	return offcpu_chain_hash(st);
}

static __always_inline void name_waker(void *ctx, struct offcpu_task *st, u64 out)
{
	struct task_struct *task = task_current();
	struct offcpu_who who = {};
	u32 kind = offcpu_context(task), how = OFFCPU_AT_WAKING, softirq = SOFTIRQ_NOT_WALKED;

	if (kind == OFFCPU_WAKER_SOFTIRQ && offcpu_options.bh.begin)
		softirq = whose_softirq(ctx, task);
	if (softirq == SOFTIRQ_OWN) {
		kind = OFFCPU_WAKER_LIKELY;
		how = OFFCPU_IN_SOFTIRQ;
	}
	bool is_task = waker_is_task(kind);
	u64 id = is_task ? offcpu_current_id(task) : 0;

	who.kind = kind;
	/* a chain names threads only as far as that tells them apart */
	who.pid = offcpu_options.waker_pids ? id >> 32 : 0;
	who.tid = offcpu_options.by_thread ? id : 0;
	if (is_task)
		offcpu_copy_comm(who.comm, task);
	if (is_task)
		who.stack = offcpu_take_stack(ctx, task, id, how);
	else
		who.stack = offcpu_take_interrupt(ctx, softirq == SOFTIRQ_UNRELATED);
	who.id = offcpu_who_hash(&who);
	if (offcpu_options.chains) {
		st->chain = link_up(st, task, &who, out);
	} else {
		st->who = who;
		st->chain = who.id;
	}
}

#endif
