/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/wait.h"

const char *wait_state_name(u32 state, u32 flags)
{
	if (flags & OFFCPU_PREEMPTED)
		return "R+";
	if (!state)
		return "R";
	if ((state & 0x402) == 0x402)
		return "I";
	if (state & 2)
		return "D";
	if (state & 1)
		return "S";
	if (state & 4)
		return "T";
	if (state & 8)
		return "t";
	return state & 0x40 ? "P" : "?";
}

const char *wait_irq_name(const struct profile *p, u32 stack, u32 kind)
{
	static const struct {
		const char *function, *name;
	} known[] = {
		{ "hrtimer_interrupt", "[timer]" },
		{ "__hrtimer_run_queues", "[timer]" },
		{ "hrtimer_wakeup", "[timer]" },
		{ "hrtimer_run_softirq", "[timer]" },
		{ "run_timer_softirq", "[timer]" },
		{ "__run_timers", "[timer]" },
		{ "call_timer_fn", "[timer]" },
		{ "process_timeout", "[timer]" },
		{ "net_rx_action", "[network]" },
		{ "net_tx_action", "[network]" },
		{ "blk_done_softirq", "[disk]" },
		{ "blk_mq_end_request", "[disk]" },
		{ "blk_update_request", "[disk]" },
		{ "rcu_core", "[rcu]" },
		{ "rcu_core_si", "[rcu]" },
		{ "tasklet_action_common", "[tasklet]" },
		{ "sysvec_irq_work", "[irq work]" },
		{ "irq_work_run_list", "[irq work]" },
		{ "sysvec_reschedule_ipi", "[other CPU]" },
		{ "sysvec_call_function_single", "[other CPU]" },
	};

	for (; stack; stack = p->stacks.items[stack].parent) {
		const char *name = profile_str(p, profile_frame_of(p, stack)->name);

		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (streq(name, known[i].function))
				return known[i].name;
		}
	}
	return kind == OFFCPU_WAKER_SOFTIRQ ? "[softirq]"
	       : kind == OFFCPU_WAKER_NMI   ? "[nmi]"
					    : "[irq]";
}

u32 wait_waker_name(struct profile *p, const char *comm, u32 stack, u32 kind)
{
	_cleanup_free_ char *marked = NULL;

	if (kind == OFFCPU_WAKER_TASK)
		return profile_string(p, comm);
	if (kind != OFFCPU_WAKER_LIKELY)
		return profile_string(p, wait_irq_name(p, stack, kind));
	marked = xasprintf("%s (likely)", comm);
	return profile_string(p, marked);
}

u32 wait_marker(struct profile *p, const char *name)
{
	struct frame f = { .name = profile_string(p, name), .kind = FRAME_MARKER };

	return profile_get_frame(p, &f);
}

static u32 user_stack(struct profile *p, u32 stack)
{
	size_t n = profile_depth(p, stack);
	_cleanup_free_ u32 *frames = xcalloc(n + 1, sizeof(*frames));
	u32 users = 0;

	n = MIN(profile_frames(p, stack, frames, n), n);
	for (size_t i = 0; i < n; i++) {
		if (p->frames.items[frames[i]].kind != FRAME_KERNEL)
			users = profile_get_stack(p, users, frames[i]);
	}
	return users;
}

void wait_cut_kernel(struct profile *p, struct wait *w)
{
	w->stack = user_stack(p, w->stack);
	for (u32 i = 0; i < w->n_links; i++) {
		w->links[i].stack = user_stack(p, w->links[i].stack);
		w->links[i].sleep_stack = user_stack(p, w->links[i].sleep_stack);
	}
}

void wait_add(struct wait *into, const struct wait *w)
{
	into->blocked += w->blocked;
	into->runq += w->runq;
	into->count += w->count;
	into->max_blocked = MAX(into->max_blocked, w->max_blocked);
	into->max_runq = MAX(into->max_runq, w->max_runq);
}

void waits_forget(struct profile *p)
{
	vec_clear(&p->samples);
	vec_each(ev, &p->events)
		ev->samples = ev->weight = 0;
}

bool wait_is_interrupt(const char *name, size_t n)
{
	static const char *const begins[] = { "asm_", "sysvec_", "__sysvec_", NULL };
	static const char *const names[] = { "common_interrupt", "handle_softirqs", "__do_softirq",
					     "do_softirq", NULL };

	for (const char *const *b = begins; *b; b++) {
		if (n > strlen(*b) && memcmp(name, *b, strlen(*b)) == 0)
			return true;
	}
	for (const char *const *w = names; *w; w++) {
		if (n == strlen(*w) && memcmp(name, *w, n) == 0)
			return true;
	}
	return false;
}

enum { IRQ_FRAMES = 256 };

u32 wait_cut_interrupt(struct profile *p, u32 stack)
{
	u32 frames[IRQ_FRAMES], n = 0, cut = 0;
	const char *name;

	for (; stack && n < IRQ_FRAMES; stack = p->stacks.items[stack].parent) {
		frames[n++] = p->stacks.items[stack].frame;
		name = profile_str(p, profile_frame_of(p, stack)->name);
		if (wait_is_interrupt(name, strlen(name)))
			break;
	}
	while (n)
		cut = profile_get_stack(p, cut, frames[--n]);
	return cut;
}
