/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/offcpu.h"

#include "unwind/offcpu_session.h"

enum { IRQ_FRAMES = 256 };

/* Of the stack of an interrupt that which is its own: what lies below was only interrupted. */
static u32 cut_interrupt(struct profile *p, u32 stack)
{
	u32 frames[IRQ_FRAMES], n = 0, cut = 0;
	const char *name;

	for (; stack && n < IRQ_FRAMES; stack = p->stacks.items[stack].parent) {
		frames[n++] = p->stacks.items[stack].frame;
		name = profile_str(p, profile_frame_of(p, stack)->name);
		if (offcpu_is_interrupt(name, strlen(name)))
			break;
	}
	while (n)
		cut = profile_get_stack(p, cut, frames[--n]);
	return cut;
}

/* With the names and stacks that a view of waits shows. */
static void take_link(struct profile *p, const struct profile_waker *in, struct wait_link *out)
{
	bool task = in->kind == OFFCPU_WAKER_TASK;

	*out = (struct wait_link){
		.stack = task ? in->stack : cut_interrupt(p, in->stack),
		.sleep_stack = in->sleep_stack,
		.kind = in->kind,
		.comm = in->comm,
	};
	if (!task)
		out->comm = profile_string(p, wait_irq_name(p, out->stack, in->kind));
}

bool wakes_to_profile(struct profile *p)
{
	u16 event;

	if (!p->wakes.len)
		return false;
	event = profile_get_event(p, OFFWAKE_EVENT);
	p->events.items[event].unit = profile_string(p, "ns");
	for (size_t i = 0; i < p->wakes.len; i++) {
		const struct profile_wake *from = &p->wakes.items[i];
		struct wait w = { .stack = from->stack,
				  .n_links = MIN(from->n, (u32)OFFCPU_LINKS) };
		struct profile_sample s = {
			.time = from->time,
			.weight = from->weight,
			.thread = from->thread,
			.count = 1,
			.cpu = -1,
			.event = event,
		};

		for (u32 k = 0; k < w.n_links; k++)
			take_link(p, &p->wakers.items[from->first + k], &w.links[k]);
		s.stack = wait_stack(p, &w, OFFCPU_VIEW_CHAIN);
		profile_add_sample(p, &s);
	}
	return true;
}
