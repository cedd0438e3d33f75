/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_longest.h"

#include "harness.h"

enum { MS = 1000000 };

static u32 stack_of(struct profile *p, const char *outer, const char *inner)
{
	const struct frame a = { .name = profile_string(p, outer), .kind = FRAME_USER };
	const struct frame b = { .name = profile_string(p, inner), .kind = FRAME_USER };

	return profile_get_stack(p, profile_get_stack(p, 0, profile_get_frame(p, &a)),
				 profile_get_frame(p, &b));
}

static struct wait *add(struct profile *p, wait_list *waits, s32 tid, u32 stack, u64 ms)
{
	u32 comm = profile_string(p, "worker");

	vec_push(waits, (struct wait){ .thread = profile_get_thread(p, 1, tid, comm, 0),
				       .stack = stack,
				       .state = 1,
				       .syscall = -1,
				       .kind = STATE_OTHER,
				       .blocked = ms * MS,
				       .max_blocked = ms * MS,
				       .count = 1 });
	return vec_last(waits);
}

static void ended_by(struct profile *p, struct wait *w, u32 tid, u32 stack, u32 sleep_stack)
{
	w->n_links = 1;
	w->links[0] = (struct wait_link){ .comm = profile_string(p, "feeder"),
					  .tid = tid,
					  .pid = 1,
					  .kind = OFFCPU_WAKER_TASK,
					  .stack = stack,
					  .sleep_stack = sleep_stack };
}

static void ended_by_timer(struct profile *p, struct wait *w, u32 stack)
{
	w->n_links = 1;
	w->links[0] = (struct wait_link){ .comm = profile_string(p, "[timer]"),
					  .kind = OFFCPU_WAKER_IRQ,
					  .stack = stack };
}

TEST("longest waits: threads and wakers of one name and place are one group and ending")
{
	const struct pile *g, *e, *past;
	wait_list waits = { 0 };
	struct profile p;
	struct longest l;

	profile_init(&p);
	u32 queue = stack_of(&p, "main", "queue_get"), lock = stack_of(&p, "main", "lock");
	u32 put = stack_of(&p, "feed", "queue_put"), nap = stack_of(&p, "feed", "nap");

	ended_by(&p, add(&p, &waits, 10, queue, 5), 20, put, nap);
	ended_by(&p, add(&p, &waits, 11, queue, 7), 21, put, nap);
	ended_by(&p, add(&p, &waits, 12, queue, 1), 20, put, 0);
	ended_by_timer(&p, add(&p, &waits, 10, queue, 2), stack_of(&p, "irq", "a"));
	ended_by_timer(&p, add(&p, &waits, 10, queue, 2), stack_of(&p, "irq", "b"));
	add(&p, &waits, 11, queue, 3);
	add(&p, &waits, 11, lock, 6);
	add(&p, &waits, 11, lock, 0);
	longest_build(&p, &waits, true, &l);

	g = longest_group(&l, NULL);
	CHECK(g && g->max == 7ull * MS && g->ns == 20ull * MS && g->count == 6 && g->threads == 3);
	CHECK(g->places == 1 && g->wait == &waits.items[1]);
	e = longest_ending(&l, g, NULL);
	CHECK(e && e->ns == 13ull * MS && e->count == 3 && e->threads == 2);
	past = longest_past(&l, e, NULL);
	CHECK(past && past->ns == 12ull * MS && past->count == 2 &&
	      past->wait->links[0].sleep_stack == nap);
	/* where an interrupt woke makes no difference */
	e = longest_ending(&l, g, e);
	CHECK(e && e->ns == 4ull * MS && e->count == 2 && e->wait->n_links);
	CHECK(longest_past(&l, e, NULL)->count == 2);
	e = longest_ending(&l, g, e);
	CHECK(e && e->ns == 3ull * MS && e->count == 1 && !e->wait->n_links);
	CHECK(!longest_ending(&l, g, e));

	/* what was not blocked is not a wait */
	g = longest_group(&l, g);
	CHECK(g && g->max == 6ull * MS && g->count == 1 && g->threads == 1);
	CHECK(!longest_group(&l, g));
	longest_release(&l);
	vec_release(&waits);
	profile_release(&p);
}

TEST("longest waits: page faults are one wherever they are; what began before is counted")
{
	wait_list waits = { 0 };
	const struct pile *g;
	struct profile p;
	struct longest l;

	profile_init(&p);
	const char *const places[] = { "here", "there" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct frame fault = { .name = profile_string(&p, "exc_page_fault"),
					     .kind = FRAME_KERNEL };
		const struct frame bit = { .name = profile_string(&p, "folio_wait_bit_common"),
					   .kind = FRAME_KERNEL };
		u32 stack = stack_of(&p, "main", places[i]);

		stack = profile_get_stack(&p, stack, profile_get_frame(&p, &fault));
		stack = profile_get_stack(&p, stack, profile_get_frame(&p, &bit));
		add(&p, &waits, 10, stack, 3 + i)->kind = STATE_FAULT;
	}
	add(&p, &waits, 10, stack_of(&p, "main", "sleep"), 2);
	add(&p, &waits, 10, stack_of(&p, "main", "sleep"), 1)->flags = OFFCPU_UNKNOWN_START;
	longest_build(&p, &waits, true, &l);
	g = longest_group(&l, NULL);
	CHECK(g && g->count == 2 && g->ns == 7ull * MS && g->places == 2 && g->threads == 1);
	g = longest_group(&l, g);
	CHECK(g && g->count == 2 && g->before == 1 && !g->open);
	CHECK(!longest_group(&l, g));
	longest_release(&l);
	vec_release(&waits);
	profile_release(&p);
}

TEST("longest waits: of nothing there are none")
{
	wait_list waits = { 0 };
	struct profile p;
	struct longest l;

	profile_init(&p);
	longest_build(&p, &waits, true, &l);
	CHECK(!longest_group(&l, NULL));
	longest_release(&l);
	profile_release(&p);
}
