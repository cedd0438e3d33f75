/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is measured, resolved to what perf_event_open takes: threads, control groups, CPUs. */
#ifndef CAPTURE_TARGET_H
#define CAPTURE_TARGET_H

#include <sys/types.h>

#include "base/err.h"
#include "base/parse.h"
#include "base/vec.h"

enum { TARGET_THREADS_MOST = 1 << 20, TARGET_CPUS_MOST = 8192, TARGET_RANGE_MOST = 1 << 16 };

struct target_cgroup {
	char *path; /* as given */
	int fd;     /* of its directory, or -1 */
};

/*
 * With neither threads, cgroups nor a program the target is the whole machine. A zeroed struct is
 * that target with no CPU: call target_add_cpus() last.
 */
struct target {
	VEC(pid_t) threads;   /* sorted, each once */
	VEC(pid_t) processes; /* those of the threads, sorted: whose mappings are synthesised */
	VEC(struct target_cgroup) cgroups;
	VEC(u32) cpus;  /* online ones, sorted */
	bool by_thread; /* threads were requested, even if none is left */
};

void target_release(struct target *t);
/* One thread. */
int target_add_tid(struct target *t, pid_t tid, struct err *e);
/* The same for lists; of a range like 100-200 only those that exist. */
int target_add_pids(struct target *t, const range_list *pids, struct err *e);
int target_add_tids(struct target *t, const range_list *tids, struct err *e);
/*
 * For filters in the kernel, which take any number: ESRCH if a process or thread that is named is
 * not there, for there would be nothing to see until the user gives up.
 */
int target_expect(const range_list *ids, struct err *e);
/* All threads of all processes of a user, by name or number; a user without any is ESRCH. */
int target_add_user(struct target *t, const char *user, struct err *e);
/* A path under the cgroup v2 (or v1 perf_event) mount, or a full path. */
int target_add_cgroup(struct target *t, const char *path, struct err *e);
/* The online CPUs of @only (NULL or empty: all of them). Offline ones asked for are an error. */
int target_add_cpus(struct target *t, const range_list *only, struct err *e);

/* The thread is one of those that are measured. */
bool target_has_tid(const struct target *t, pid_t tid);

static inline bool target_is_whole(const struct target *t)
{
	return !t->by_thread && t->cgroups.len == 0;
}

#endif
