/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sched_group.h"

#include "base/map.h"
#include "recording/recording.h"

/* What is known of a thread so far. */
struct member {
	u32 tid;
	bool seen; /* since the thread with this number was born */
	bool in;
	u64 since;
};

struct reader {
	struct sched_group *group;
	char *const *paths;
	size_t n_paths;
	struct map ids;     /* group -> 1: another one, 2: requested */
	struct map members; /* tid -> index + 1 */
	VEC(struct member) all;
	u64 ours; /* groups */
	bool any; /* a sample says its group */
};

static bool is_within(const char *path, const char *group)
{
	const char *rest = starts_with(path, group);

	return rest && (!*rest || *rest == '/' || streq(group, "/"));
}

static void on_cgroup(struct reader *in, const struct record *r)
{
	struct record_cgroup c;
	bool ours = false;

	if (record_cgroup(r, &c) < 0)
		return;
	for (size_t i = 0; i < in->n_paths; i++)
		ours |= is_within(c.path, in->paths[i]);
	map_put(&in->ids, c.id, ours ? 2 : 1);
	in->ours += ours;
}

static struct member *member_of(struct reader *in, u32 tid)
{
	u64 *at = map_at(&in->members, tid);

	if (!*at) {
		vec_push(&in->all, (struct member){ .tid = tid });
		*at = in->all.len;
	}
	return &in->all.items[*at - 1];
}

static void end_stay(struct reader *in, const struct member *m, u64 time)
{
	if (m->in && m->since < time)
		vec_push(&in->group->stays, (struct sched_stay){ m->tid, m->since, time });
}

static void on_fork(struct reader *in, const struct record *r)
{
	struct record_task t;
	struct member *m;

	if (record_task(r, &t) < 0)
		return;
	m = member_of(in, t.tid);
	end_stay(in, m, r->time);
	*m = (struct member){ .tid = t.tid, .since = r->time };
}

static void on_sample(struct reader *in, const struct sample *s)
{
	u64 known = map_get(&in->ids, s->cgroup, 0);
	struct member *m;

	if (!(s->type & PERF_SAMPLE_CGROUP))
		return;
	in->any = true;
	in->group->unnamed += !known;
	/* a thread that has exited, except for its last switch, has no number any more */
	if (s->tid == RECORD_NO_PID)
		return;
	m = member_of(in, s->tid);
	if (m->seen && m->in != (known == 2)) {
		in->group->moved++;
		end_stay(in, m, s->time);
		m->since = s->time;
	}
	m->in = known == 2;
	m->seen = true;
}

static int on_record(const struct record *r, void *ctx)
{
	struct reader *in = ctx;

	if (r->type == PERF_RECORD_SAMPLE)
		on_sample(in, r->sample);
	else if (r->type == PERF_RECORD_CGROUP)
		on_cgroup(in, r);
	else if (r->type == PERF_RECORD_FORK)
		on_fork(in, r);
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct sched_stay *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int check(const struct reader *in, const char *name, struct err *e)
{
	if (!in->any) {
		err_set(e, ENODATA, "the events of '%s' do not say their control group", name);
		err_hint(e, "record with --all-cgroups, on Linux 5.7 or newer");
	} else if (!in->ours) {
		err_set(e, ENODATA, "'%s' has no control group '%s'", name, in->paths[0]);
		err_hint(e, "'fathom report --sort cgroup' lists those that it has");
	} else if (!in->group->stays.len) {
		err_set(e, ENODATA, "no task ran in the control group '%s'", in->paths[0]);
	} else {
		return 0;
	}
	return -ENODATA;
}

int sched_group_read(struct recording *recording, char *const *paths, size_t n,
		     struct sched_group *ret, struct err *e)
{
	struct reader in = { .group = ret, .paths = paths, .n_paths = n };
	int rc = recording_replay(recording, on_record, &in, e);

	vec_each(m, &in.all)
		end_stay(&in, m, UINT64_MAX);
	vec_sort(&ret->stays, by_tid);
	if (rc >= 0)
		rc = check(&in, recording_name(recording), e);
	map_release(&in.ids);
	map_release(&in.members);
	vec_release(&in.all);
	return rc;
}

void sched_group_release(struct sched_group *g)
{
	vec_release(&g->stays);
}

/* The first that ends after @time; NULL: there is none. */
static const struct sched_stay *stay_after(const struct sched_group *g, u32 tid, u64 time)
{
	size_t low = 0, high = g->stays.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct sched_stay *s = &g->stays.items[mid];

		if (s->tid < tid || (s->tid == tid && s->to <= time))
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->stays.len && g->stays.items[low].tid == tid ? &g->stays.items[low] : NULL;
}

bool sched_group_has(const struct sched_group *g, u32 tid, u64 time)
{
	const struct sched_stay *s = stay_after(g, tid, time);

	return s && s->from <= time;
}

bool sched_group_knows(const struct sched_group *g, u32 tid)
{
	return stay_after(g, tid, 0) != NULL;
}

char *sched_group_path(const char *name)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		if (is_within(name, mounts[i])) {
			name += strlen(mounts[i]);
			break;
		}
	}
	name += strspn(name, "/");
	n = strlen(name);
	while (n && name[n - 1] == '/')
		n--;
	return xasprintf("/%.*s", (int)n, name);
}
