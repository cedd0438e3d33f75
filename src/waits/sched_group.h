/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads of a recording were in some control groups, and when. Samples that carry a group
 * say it of the thread that ran: it belongs to that group until it is seen in another one. Before
 * it was first seen, back to its birth, it counts where that was.
 */
#ifndef WAITS_SCHED_GROUP_H
#define WAITS_SCHED_GROUP_H

#include "base/err.h"
#include "base/vec.h"

struct recording;

struct sched_stay {
	u32 tid;
	u64 from, to; /* ns; @to is the first moment outside */
};

struct sched_group {
	VEC(struct sched_stay) stays; /* in order of tid and time */
	u64 moved;                    /* how often a thread came in or left */
	u64 unnamed;                  /* samples of a group whose path is not in the recording */
};

/*
 * Those in @paths ("/a/b", as the records name them) and in all groups below. -ENODATA: samples do
 * not say their group, there is no such group, or no task ran in it.
 */
int sched_group_read(struct recording *recording, char *const *paths, size_t n,
		     struct sched_group *ret, struct err *e);
void sched_group_release(struct sched_group *g);
bool sched_group_has(const struct sched_group *g, u32 tid, u64 time);
/* At any time. */
bool sched_group_knows(const struct sched_group *g, u32 tid);
/* "/sys/fs/cgroup/a/b/", "a/b" -> "/a/b" */
char *sched_group_path(const char *name);

#endif
