/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/waits.h"

/* With the names and stacks that a view of waits shows. */
static void take_link(struct profile *p, const struct profile_waker *in, struct wait_link *out)
{
	bool task = waker_is_task(in->kind);

	*out = (struct wait_link){
		.stack = task ? in->stack : wait_cut_interrupt(p, in->stack),
		.sleep_stack = in->sleep_stack,
		.kind = in->kind,
	};
	out->comm = wait_waker_name(p, profile_str(p, in->comm), out->stack, in->kind);
}

static u16 offwake_event(struct profile *p)
{
	u16 event = profile_get_event(p, OFFWAKE_EVENT);

	p->events.items[event].unit = profile_string(p, "ns");
	return event;
}

static void add_wait(struct profile *p, u16 event, const struct wait *w)
{
	const struct profile_sample s = {
		.time = w->time,
		.weight = w->blocked,
		.stack = wait_stack(p, w, WAIT_VIEW_CHAIN),
		.thread = w->thread,
		.count = (u32)MIN(w->count, (u64)UINT32_MAX),
		.cpu = -1,
		.event = event,
	};

	profile_add_sample(p, &s);
}

bool wakes_to_profile(struct profile *p)
{
	u16 event;

	if (!p->wakes.len)
		return false;
	event = offwake_event(p);
	for (size_t i = 0; i < p->wakes.len; i++) {
		const struct profile_wake *from = &p->wakes.items[i];
		struct wait w = {
			.time = from->time,
			.blocked = from->weight,
			.count = 1,
			.stack = from->stack,
			.thread = from->thread,
			.n_links = MIN(from->n, (u32)OFFCPU_LINKS),
		};

		for (u32 k = 0; k < w.n_links; k++)
			take_link(p, &p->wakers.items[from->first + k], &w.links[k]);
		add_wait(p, event, &w);
	}
	return true;
}

bool waits_add_wakers(struct profile *p, const wait_list *waits)
{
	bool any = false;

	for (size_t i = 0; i < waits->len; i++) {
		const struct wait *w = &waits->items[i];

		if (!w->n_links || !w->blocked)
			continue;
		add_wait(p, offwake_event(p), w);
		any = true;
	}
	return any;
}
