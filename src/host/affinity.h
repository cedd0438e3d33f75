/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On which CPUs processes may run. */
#ifndef HOST_AFFINITY_H
#define HOST_AFFINITY_H

#include "base/err.h"
#include "base/parse.h"
#include "base/vec.h"
#include "host/procfs.h"

struct affinity {
	u32 pid;
	u32 cpu; /* last run on */
	char comm[PROCFS_COMM];
	range_list allowed;
};

struct affinity_list {
	VEC(struct affinity) processes; /* by pid */
	u64 unread;                     /* ended meanwhile, or not ours to read */
};

/* Every process of the machine. */
int affinity_read(struct affinity_list *ret, struct err *e);
void affinity_release(struct affinity_list *l);
/* "Cpus_allowed_list" in the text of /proc/PID/status; false: it has none. */
bool affinity_parse(const char *text, size_t len, range_list *ret);

#endif
