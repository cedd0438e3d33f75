/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups: where version 2 is mounted, paths to the ids that BPF programs see. */
#ifndef HOST_CGROUP_H
#define HOST_CGROUP_H

#include "base/buf.h"
#include "base/err.h"

struct cgroup_mounts {
	char *v2;        /* mount point of version 2, or NULL */
	char *v1_memory; /* mount points of version 1 controllers, or NULL */
	char *v1_cpu;
	char *v1_perf; /* perf_event: the hierarchy that counters know, where there is one */
	u32 v1_count;  /* how many version 1 hierarchies there are */
};

#define CGROUP_MOUNTS_INIT \
	{                  \
		0          \
	}
#define _cleanup_cgroup_mounts_ _cleanup_(cgroup_mounts_release)

int cgroup_mounts_read(struct cgroup_mounts *ret, struct err *e);
/* From the text of a mountinfo file; the first mount of each kind is kept. */
void cgroup_mounts_parse(const char *text, size_t len, struct cgroup_mounts *ret);
void cgroup_mounts_release(struct cgroup_mounts *m);

/* What bpf_get_current_cgroup_id() says in the group of that directory. */
int cgroup_id(const char *path, u64 *ret, struct err *e);
/* The path below the mount of the group with that id, "/" for the root; -ENOENT: there is none. */
int cgroup_by_id(const struct cgroup_mounts *m, u64 id, struct buf *ret);
/* "/system.slice/x", "system.slice/x" or "/sys/fs/cgroup/system.slice/x" -> the directory. */
int cgroup_find(const struct cgroup_mounts *m, const char *name, struct buf *ret_path,
		struct err *e);
/* Path of a process below the version 2 mount, "/" for the root; -ENOENT when it has none. */
int cgroup_of_pid(u32 pid, struct buf *ret);
/* The same from the text of /proc/PID/cgroup. */
int cgroup_parse(const char *text, size_t len, struct buf *ret);

#endif
