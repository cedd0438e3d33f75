/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks of a scheduler recording: their names, and which are selected. */
#include "waits/sched.h"

#include "waits/sched_group.h"

void *sched_by_tid(void *old, u32 *n, size_t size, u32 tid)
{
	u32 more = MAX(*n, (u32)SCHED_TIDS_FIRST);
	void *p;

	while (more <= tid)
		more *= 2;
	/* zeroed by the kernel where it is touched, which is less than all by far */
	p = xcalloc(more, size);
	if (*n)
		memcpy(p, old, *n * size);
	free(old);
	*n = more;
	return p;
}

void sched_tids_release(struct sched_tids *t)
{
	free(t->low);
	map_release(&t->high);
	vec_release(&t->more);
	*t = (struct sched_tids){ 0 };
}

static u32 *high_at(struct sched_tids *t, u32 tid)
{
	u64 *at = map_at(&t->high, tid);

	if (!*at) {
		vec_push(&t->more, 0);
		*at = t->more.len;
	}
	return &t->more.items[*at - 1];
}

u32 *sched_tids_grow(struct sched_tids *t, u32 tid)
{
	if (tid >= SCHED_TIDS_MOST)
		return high_at(t, tid);
	t->low = sched_by_tid(t->low, &t->n_low, sizeof(*t->low), tid);
	return &t->low[tid];
}

void sched_names_release(struct sched_names *n)
{
	intern_release(&n->strings);
	sched_tids_release(&n->by_tid);
	sched_tids_release(&n->pids);
	free(n->fault);
}

const char *sched_comm(struct sched_names *n, u32 tid)
{
	u32 id = *sched_tids_at(&n->by_tid, tid);
	char text_of[16];

	if (tid == 0)
		return "swapper";
	if (!id) {
		snprintf(text_of, sizeof(text_of), ":%u", tid);
		id = intern_str(&n->strings, text_of);
	}
	return intern_get(&n->strings, id);
}

u32 sched_pid(struct sched_names *n, u32 tid)
{
	return *sched_tids_at(&n->pids, tid);
}

void sched_filter_window(const struct sched_filter *f, const struct sched_names *n, u64 *ret_from,
			 u64 *ret_to)
{
	u64 base = f && f->relative ? n->first : 0;

	*ret_from = f && f->from ? base + f->from : 0;
	*ret_to = f && f->to ? base + f->to : UINT64_MAX;
}

static bool has_pid(const struct sched_filter *f, struct sched_names *n, u32 tid)
{
	return !f->pids || !f->pids->len || ranges_contain(f->pids, tid) ||
	       ranges_contain(f->pids, sched_pid(n, tid));
}

bool sched_filter_task_at(const struct sched_filter *f, struct sched_names *n, u32 tid, u64 time)
{
	return !f || (has_pid(f, n, tid) && (!f->group || sched_group_has(f->group, tid, time)));
}

bool sched_filter_task(const struct sched_filter *f, struct sched_names *n, u32 tid)
{
	return !f || (has_pid(f, n, tid) && (!f->group || sched_group_knows(f->group, tid)));
}

bool sched_filter_all_tasks(const struct sched_filter *f)
{
	return !f || ((!f->pids || !f->pids->len) && !f->group);
}

bool sched_filter_all_cpus(const struct sched_filter *f)
{
	return !f || !f->cpus || !f->cpus->len;
}

bool sched_filter_cpu(const struct sched_filter *f, u32 cpu)
{
	return sched_filter_all_cpus(f) || ranges_contain(f->cpus, cpu);
}

void sched_gap(struct sched_names *n, const struct sched_filter *f, const struct sched_event *ev)
{
	u64 from, to;

	sched_filter_window(f, n, &from, &to);
	n->gaps += ev->time >= from && ev->time <= to && sched_filter_cpu(f, ev->cpu) &&
		   sched_filter_task_at(f, n, ev->prev, ev->time);
}

void sched_health(const struct sched_names *n, struct result *ret)
{
	result_fact(ret, "events", "events", value_u(VALUE_COUNT, n->events));
	result_fact(ret, "duration_ns", "over", value_u(VALUE_DURATION, n->last - n->first));
	result_fact(ret, "lost", "events lost", value_u(VALUE_COUNT, n->lost));
	result_loss(ret, "lost_events", "events lost while recording: figures are too small",
		    n->lost);
	result_loss(ret, "bad_events", "events left out because their data was cut", n->bad);
	result_loss(ret, "gaps",
		    "switches not seen: wait and run times of their tasks are estimates", n->gaps);
	if (n->fault)
		result_note(ret, NOTE_WARNING, "everything before the damage is counted", "%s",
			    n->fault);
	if (!n->has[SCHED_WAKING] && !n->has[SCHED_WAKEUP])
		result_note(ret, NOTE_WARNING, "record sched:sched_waking too",
			    "no wake-ups: delays count only from preemptions");
}
