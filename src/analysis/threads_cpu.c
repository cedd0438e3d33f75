/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_cpu.h"

#include "analysis/skid.h"
#include "base/hash.h"
#include "waits/wait.h"

static bool is_wait_event(const char *name)
{
	static const char *const names[] = { OFFCPU_EVENT,  RUNQ_EVENT,   OFFWAKE_EVENT,
					     "wakeup-time", "chain-time", NULL };

	return streq_any(name, names);
}

/* False: none samples CPUs. */
static bool find_event(const struct profile *p, u16 *ret)
{
	for (size_t i = 0; i < p->events.len; i++) {
		const struct profile_event *ev = &p->events.items[i];

		if (!ev->samples || is_wait_event(profile_str(p, ev->name)))
			continue;
		*ret = (u16)i;
		return true;
	}
	return false;
}

static int by_weight(const void *a, const void *b)
{
	const struct cpu_function *x = a, *y = b;

	return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

void cpu_functions_build(const struct profile *p, const struct map *pids, struct cpu_functions *ret)
{
	struct map known = MAP_INIT;
	bool clock;
	u16 event;

	*ret = (struct cpu_functions){ .profile = p };
	if (!find_event(p, &event))
		return;
	clock = skid_event(p, event);
	ret->skid = skid_percent(p, event);
	vec_each(s, &p->samples) {
		const struct frame *f;
		u64 *at;

		if (s->event != event || !s->stack ||
		    !map_find(pids, (u32)p->threads.items[s->thread].pid))
			continue;
		f = profile_frame_of(p, clock ? skid_stack(p, s->stack) : s->stack);
		at = map_at(&known, hash_mix((u64)f->name << 32 | f->module, f->kind));
		if (!*at) {
			vec_push(&ret->list,
				 ((struct cpu_function){ .name = f->name,
							 .module = f->module,
							 .kernel = f->kind == FRAME_KERNEL }));
			*at = ret->list.len;
		}
		ret->list.items[*at - 1].weight += s->weight;
		ret->weight += s->weight;
		ret->samples += s->count;
	}
	vec_sort(&ret->list, by_weight);
	map_release(&known);
}

void cpu_functions_release(struct cpu_functions *f)
{
	vec_release(&f->list);
}
