/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How stacks are taken: the best means for each event, and what to do when it does not work. */
#include "recorder/state.h"

#include <time.h>

enum {
	COPY_BYTES = 16384,     /* of stack with each sample ... */
	COPY_BYTES_FAST = 8192, /* ... and at more than COPY_RATE samples a second */
	COPY_RATE = 1000,
};

/* What the records of the sampler can fill. */
#define SAMPLER_FIELDS                                                                   \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |        \
	 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_USER |        \
	 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP)

/* Programs run at the overflow of an event: a tracepoint has none, it would see every task's. */
static bool can_be_sampled(const struct recorder *r, const struct event *ev)
{
	const struct session_opts *s = &r->o.session;

	return ev->attr.type != PERF_TYPE_TRACEPOINT && !ev->sample_read && !ev->branch_type &&
	       !s->branch_type && !s->phys_addresses && !s->registers && ev->overwrite != 1;
}

/*
 * What the kernel's unwinder does not take may come with a copy of its stack, which is unwound here
 * like any other. Not where the past is kept in the ring, of which copies would leave little, nor
 * where the user wants the registers for himself.
 */
static bool can_be_copied(const struct recorder *r, const struct event *ev)
{
	return ev->overwrite != 1 && !r->o.session.registers;
}

/* Why can_be_sampled() says no. */
static const char *why_not_sampled(const struct recorder *r, const struct event *ev)
{
	if (ev->attr.type == PERF_TYPE_TRACEPOINT)
		return "a tracepoint";
	if (ev->sample_read)
		return "in a group whose counts are read";
	if (ev->branch_type || r->o.session.branch_type)
		return "with branches";
	return ev->overwrite == 1 ? "in a ring that is overwritten" : "with registers or addresses";
}

/* Why the stacks of event @i are worse than the rest's; NULL if they are not. */
static const char *worse_stacks(const struct recorder *r, size_t i)
{
	const struct event *ev = &r->o.events->events.items[i];

	return r->plans.items[i].ours && !can_be_sampled(r, ev) ? why_not_sampled(r, ev) : NULL;
}

/* How many events from @i on are like it, or 0 when one before it is. */
static size_t alike(const struct recorder *r, size_t i, const char *why)
{
	size_t n = 0;

	for (size_t j = 0; j < r->plans.len; j++) {
		const char *other = worse_stacks(r, j);

		if (!other || !streq(other, why) ||
		    r->plans.items[j].copies != r->plans.items[i].copies)
			continue;
		if (j < i)
			return 0;
		n++;
	}
	return n;
}

static void warn_worse(const struct recorder *r, size_t i, const char *why, size_t n)
{
	bool copied = r->plans.items[i].copies;
	_cleanup_free_ char *more = n > 1 ? xasprintf(" and %zu more", n - 1) : NULL;
	_cleanup_free_ char *text = xasprintf(
		"stacks of '%s'%s %s: %s is %s, which the kernel's unwinder does not take",
		r->o.events->events.items[i].name, more ? more : "",
		copied ? "are copied and unwound here" : "follow frame pointers",
		more ? "each" : "it", why);

	recorder_note(r, text,
		      copied ? "where that is too much, --call-graph fp is lighter" : NULL);
}

/* Events whose stacks are worse than the rest's: users should not have to discover that by
 * themselves. */
void recorder_stacks_explain(const struct recorder *r)
{
	if (r->stacks != RECORDER_STACKS_KERNEL && r->stacks != RECORDER_STACKS_COPIES)
		return;
	for (size_t i = 0; i < r->plans.len; i++) {
		const char *why = worse_stacks(r, i);
		size_t n = why ? alike(r, i, why) : 0;

		if (n)
			warn_worse(r, i, why, n);
	}
}

static bool is_precise(const struct event *ev)
{
	return ev->attr.precise_ip || ev->precise_max;
}

static u32 copy_bytes(const struct recorder *r)
{
	return r->o.session.frequency > COPY_RATE ? COPY_BYTES_FAST : COPY_BYTES;
}

/* Only the program is watched: it need not wait until the kernel has taken ours. */
static bool only_program(const struct recorder *r)
{
	const struct target *t = r->o.target;

	return r->o.launch && t->cgroups.len == 0 && t->threads.len == 1 &&
	       t->threads.items[0] == r->o.launch->pid;
}

static enum recorder_stacks first_choice(struct recorder *r)
{
	const struct session_opts *s = &r->o.session;
	struct err *why = &r->kernel.why;

	if (!r->o.auto_stacks)
		return RECORDER_STACKS_AS_ASKED;
	if (s->clock_id != CLOCK_MONOTONIC) {
		err_set(why, EINVAL, "the kernel's unwinder supports only the monotonic clock");
		return RECORDER_STACKS_COPIES;
	}
	if (s->cgroup_ids) {
		err_set(why, EINVAL, "the kernel's unwinder does not record cgroups");
		return RECORDER_STACKS_COPIES;
	}
	return RECORDER_STACKS_KERNEL;
}

static enum stack_mode mode_for(const struct recorder *r, const struct event *ev)
{
	bool copies = r->stacks == RECORDER_STACKS_COPIES ||
		      (r->stacks == RECORDER_STACKS_KERNEL && r->kernel.late);

	if (r->stacks == RECORDER_STACKS_FP)
		return STACK_FP;
	if (!can_be_sampled(r, ev))
		return can_be_copied(r, ev) ? STACK_DWARF : STACK_FP;
	if (copies)
		return STACK_DWARF;
	/* the chain comes with the sampler; the kernel asks for both if it is to be precise */
	return is_precise(ev) ? STACK_FP : STACK_NONE;
}

/* Sets the modes of the events that the user left to us. */
static void set_modes(struct recorder *r)
{
	bool any_copies = false;
	u32 n = 0;

	for (size_t i = 0; i < r->plans.len; i++) {
		struct event *ev = &r->o.events->events.items[i];
		struct plan *plan = &r->plans.items[i];

		plan->sampler = plan->copies = false;
		if (!plan->ours)
			continue;
		ev->stack = mode_for(r, ev);
		ev->stack_size = ev->stack == STACK_DWARF ? copy_bytes(r) : 0;
		plan->copies = ev->stack == STACK_DWARF;
		any_copies |= plan->copies;
		if (!can_be_sampled(r, ev))
			continue;
		plan->sampler = r->stacks == RECORDER_STACKS_KERNEL && n++ < UNWIND_EVENTS;
		if (!plan->sampler && !plan->copies)
			ev->stack = STACK_FP;
	}
	if (r->stacks == RECORDER_STACKS_KERNEL && n == 0) {
		r->stacks = any_copies ? RECORDER_STACKS_COPIES : RECORDER_STACKS_FP;
		r->kernel.late = false;
		err_set(&r->kernel.why, EINVAL,
			"the kernel's unwinder takes no tracepoints, branches or groups that are "
			"read");
	}
	r->kernel.events = MIN(n, (u32)UNWIND_EVENTS);
}

void recorder_stacks_plan(struct recorder *r)
{
	recorder_flight_plan(r);
	r->stacks = first_choice(r);
	r->kernel.late = r->stacks == RECORDER_STACKS_KERNEL && only_program(r);
	vec_each(ev, &r->o.events->events)
		vec_push(&r->plans,
			 (struct plan){ .ours = r->o.auto_stacks && ev->stack == STACK_UNSET });
	if (r->o.auto_stacks)
		r->o.session.stack = STACK_FP;
	if (r->stacks != RECORDER_STACKS_AS_ASKED)
		set_modes(r);
}

bool recorder_stacks_fall_back(struct recorder *r)
{
	if (r->stacks != RECORDER_STACKS_KERNEL && r->stacks != RECORDER_STACKS_COPIES)
		return false;
	r->stacks++;
	r->kernel.late = false;
	sampler_free(r->kernel.sampler);
	r->kernel.sampler = NULL;
	set_modes(r);
	return true;
}

/* The session leaves out events that do not open, and renames cycles where there are none. */
static bool is_same(const struct session_event *opened, const struct event *ev)
{
	return streq(opened->name, ev->name) ||
	       (starts_with(opened->name, "cpu-clock") && starts_with(ev->name, "cycles"));
}

static const struct plan *plan_of(const struct recorder *r, const struct session_event *opened,
				  size_t *at)
{
	while (*at < r->plans.len) {
		size_t i = (*at)++;

		if (is_same(opened, &r->o.events->events.items[i]))
			return &r->plans.items[i];
	}
	return NULL;
}

/* The file knows chains, however they came about. */
static void file_attr(struct source *s)
{
	struct perf_event_attr *a = &s->attr;

	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	a->sample_type &= ~(u64)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	a->sample_regs_user = 0;
	a->sample_stack_user = 0;
	a->exclude_callchain_user = 0;
}

void recorder_stacks_learn(struct recorder *r)
{
	size_t n, at = 0;
	const struct session_event *events = session_events(r->session, &n);
	s32 number = 0;

	vec_clear(&r->sources);
	map_clear(&r->by_id);
	for (size_t i = 0; i < n; i++) {
		struct source s = { .attr = events[i].attr,
				    .opened = events[i].attr,
				    .ids = events[i].ids,
				    .n_ids = events[i].n_ids,
				    .index = i,
				    .sampler = -1 };
		const struct plan *plan = events[i].side_band ? NULL : plan_of(r, &events[i], &at);

		if (plan && plan->sampler && !(s.attr.sample_type & ~(u64)SAMPLER_FIELDS))
			s.sampler = number++;
		s.copies = plan && plan->copies;
		if (s.sampler >= 0 || s.copies)
			file_attr(&s);
		vec_push(&r->sources, s);
		for (size_t k = 0; k < s.n_ids; k++)
			map_put(&r->by_id, s.ids[k], r->sources.len);
	}
}
