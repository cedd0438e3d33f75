/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/target.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/io.h"
#include "host/cgroup.h"
#include "host/machine.h"
#include "host/procfs.h"
#include "host/users.h"

void target_release(struct target *t)
{
	vec_release(&t->threads);
	vec_release(&t->processes);
	vec_each(g, &t->cgroups) {
		free(g->path);
		if (g->fd >= 0)
			close(g->fd);
	}
	vec_release(&t->cgroups);
	vec_release(&t->cpus);
}

static int pid_order(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Sorts and drops what is there twice. */
static size_t unique(pid_t *items, size_t n)
{
	size_t out = 0;

	if (n > 1)
		qsort(items, n, sizeof(*items), pid_order);
	for (size_t i = 0; i < n; i++) {
		if (out == 0 || items[out - 1] != items[i])
			items[out++] = items[i];
	}
	return out;
}

static void tidy(struct target *t)
{
	t->threads.len = unique(t->threads.items, t->threads.len);
	t->processes.len = unique(t->processes.items, t->processes.len);
}

static int no_process(pid_t pid, const char *what, struct err *e)
{
	err_set(e, ESRCH, "no %s %d", what, (int)pid);
	err_hint(e, "it may have ended already");
	return -ESRCH;
}

static int add_threads(struct target *t, pid_t pid, struct err *e)
{
	pid_list tids = { 0 };
	int r = procfs_tids((u32)pid, &tids, NULL);

	if (r >= 0 && t->threads.len + tids.len > TARGET_THREADS_MOST) {
		vec_release(&tids);
		return err_set(e, E2BIG, "more than %d threads", TARGET_THREADS_MOST);
	}
	vec_each(tid, &tids)
		vec_push(&t->threads, (pid_t)*tid);
	if (r >= 0 && tids.len)
		vec_push(&t->processes, pid);
	else if (r >= 0)
		r = -ESRCH;
	vec_release(&tids);
	return r;
}

/* All threads of a process. ESRCH if there is none. */
static int target_add_pid(struct target *t, pid_t pid, struct err *e)
{
	int r = add_threads(t, pid, e);

	t->by_thread = true;
	tidy(t);
	if (r == -ESRCH || r == -ENOENT)
		return no_process(pid, "process", e);
	return r < 0 && e && !e->code ? err_sys(e, r, "cannot read the threads of %d", (int)pid)
				      : r;
}

int target_add_tid(struct target *t, pid_t tid, struct err *e)
{
	struct proc_status status;

	t->by_thread = true;
	if (procfs_status((u32)tid, &status) < 0)
		return no_process(tid, "thread", e);
	vec_push(&t->threads, tid);
	vec_push(&t->processes, (pid_t)status.tgid);
	tidy(t);
	return 0;
}

static int add_ranges(struct target *t, const range_list *ids,
		      int (*add)(struct target *, pid_t, struct err *), struct err *e)
{
	vec_each(range, ids) {
		if (range->last > INT32_MAX || range->last - range->first > TARGET_RANGE_MOST)
			return err_set(e, EINVAL, "too many processes");
		for (u64 id = range->first; id <= range->last; id++) {
			int r = add(t, (pid_t)id, e);

			if (r < 0 && (r != -ESRCH || range->first == range->last))
				return r;
			if (r < 0 && e)
				err_release(e);
		}
	}
	return 0;
}

int target_add_pids(struct target *t, const range_list *pids, struct err *e)
{
	return add_ranges(t, pids, target_add_pid, e);
}

int target_add_tids(struct target *t, const range_list *tids, struct err *e)
{
	return add_ranges(t, tids, target_add_tid, e);
}

int target_expect(const range_list *ids, struct err *e)
{
	struct proc_status status;

	vec_each(range, ids) {
		if (range->first == range->last && range->last <= INT32_MAX &&
		    procfs_status((u32)range->first, &status) < 0)
			return no_process((pid_t)range->first, "process", e);
	}
	return 0;
}

int target_add_user(struct target *t, const char *user, struct err *e)
{
	pid_list pids = { 0 };
	_cleanup_users_ struct users users = USERS_INIT;
	size_t found = 0;
	u32 uid = 0;
	int r;

	/* a number needs no file */
	(void)users_read(&users, NULL, NULL);
	r = users_id(&users, user, &uid, e);

	t->by_thread = true;
	if (r >= 0)
		r = procfs_pids(&pids, e);
	for (size_t i = 0; r >= 0 && i < pids.len; i++) {
		struct proc_status status;

		if ((pid_t)pids.items[i] == getpid() || procfs_status(pids.items[i], &status) < 0 ||
		    status.euid != uid)
			continue;
		r = add_threads(t, (pid_t)pids.items[i], e);
		if (r != -E2BIG)
			r = 0; /* gone meanwhile */
		found++;
	}
	vec_release(&pids);
	tidy(t);
	if (r >= 0 && !found)
		return err_set(e, ESRCH, "user '%s' has no process", user);
	return r;
}

int target_add_cgroup(struct target *t, const char *path, struct err *e)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = CGROUP_MOUNTS_INIT;
	_cleanup_buf_ struct buf dir = BUF_INIT;
	int r = cgroup_mounts_read(&mounts, e);
	int fd;

	if (r >= 0 && mounts.v1_perf) { /* the kernel accepts groups of this hierarchy only */
		free(mounts.v2);
		mounts.v2 = TAKE_PTR(mounts.v1_perf);
	}
	if (r >= 0)
		r = cgroup_find(&mounts, path, &dir, e);
	if (r < 0)
		return r;
	fd = open(buf_str(&dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "cannot open the cgroup '%s'", buf_str(&dir));
	vec_push(&t->cgroups, (struct target_cgroup){ .path = xstrdup(path), .fd = fd });
	return 0;
}

int target_add_cpus(struct target *t, const range_list *only, struct err *e)
{
	range_list online = { 0 };
	int r = machine_online(&online, e);

	if (r < 0)
		return r;
	if (!only || only->len == 0)
		only = &online;
	vec_each(range, only) {
		for (u64 cpu = range->first; r >= 0 && cpu <= range->last; cpu++) {
			if (t->cpus.len >= TARGET_CPUS_MOST)
				r = err_set(e, E2BIG, "more than %d CPUs", TARGET_CPUS_MOST);
			else if (!ranges_contain(&online, cpu))
				r = err_set(e, ENODEV, "CPU %llu is not online",
					    (unsigned long long)cpu);
			else
				vec_push(&t->cpus, (u32)cpu);
		}
	}
	vec_release(&online);
	return r;
}

bool target_has_tid(const struct target *t, pid_t tid)
{
	vec_each(has, &t->threads) {
		if (*has == tid)
			return true;
	}
	return false;
}
