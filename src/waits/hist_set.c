/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/hist_set.h"

#include "host/procfs.h"

void hist_set_init(struct hist_set *s, enum sched_hist_by by)
{
	*s = (struct hist_set){ .by = by };
	/* without it groups have numbers only */
	if (by == SCHED_HIST_CGROUP)
		(void)cgroup_mounts_read(&s->cgroups, NULL);
}

void hist_set_release(struct hist_set *s)
{
	vec_each(h, &s->each)
		buf_release(&h->label);
	vec_release(&s->each);
	cgroup_mounts_release(&s->cgroups);
}

static void add_label(const struct hist_set *s, const struct sched_hist_key *k, struct buf *out)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	char comm[PROCFS_COMM];

	switch (s->by) {
	case SCHED_HIST_CPU: buf_addf(out, "cpu = %llu", (unsigned long long)k->id); break;
	case SCHED_HIST_PID:
		buf_addf(out, "pid = %llu", (unsigned long long)k->id);
		if (*k->comm)
			buf_addf(out, " %.16s", k->comm);
		else if (procfs_comm((u32)k->id, 0, comm) >= 0)
			buf_addf(out, " %s", comm);
		break;
	case SCHED_HIST_TID:
		buf_addf(out, "tid = %llu %.16s", (unsigned long long)k->id, k->comm);
		break;
	case SCHED_HIST_CGROUP:
		buf_addf(out, "cgroup = %llu", (unsigned long long)k->id);
		if (cgroup_by_id(&s->cgroups, k->id, &path) >= 0)
			buf_addf(out, " %s", buf_str(&path));
		break;
	case SCHED_HIST_COMM: buf_addf(out, "comm = %.16s", k->comm); break;
	default: break;
	}
}

int hist_set_add(void *set, const struct sched_hist_key *key, const struct sched_hist *hist)
{
	struct hist_set *s = set;
	struct hist_labelled *h = vec_new(&s->each);

	h->key = *key;
	h->hist = *hist;
	add_label(s, key, &h->label);
	return 0;
}

static int labelled_order(const void *a, const void *b, void *ctx)
{
	const struct hist_labelled *x = a, *y = b;
	const struct hist_set *s = ctx;

	if (s->by != SCHED_HIST_CPU && x->hist.count != y->hist.count)
		return x->hist.count < y->hist.count ? 1 : -1;
	if (x->key.id != y->key.id)
		return x->key.id < y->key.id ? -1 : 1;
	return memcmp(x->key.comm, y->key.comm, sizeof(x->key.comm));
}

void hist_set_sort(struct hist_set *s)
{
	if (s->each.len > 1)
		qsort_r(s->each.items, s->each.len, sizeof(*s->each.items), labelled_order, s);
}
