/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings of tasks: read once for each new task, not with each look. */
#ifndef TOP_NAMES_H
#define TOP_NAMES_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "counters/tasks.h"
#include "host/cgroup.h"

struct task_name {
	u64 key; /* of the process and its start */
	char comm[TASKS_COMM];
	u32 command, cgroup; /* of strings */
	u32 seen;
};

struct task_names {
	struct intern strings;
	struct map by_key; /* -> place in list + 1 */
	VEC(struct task_name) list;
	struct map users;   /* uid -> string */
	struct map cgroups; /* id -> string */
	struct cgroup_mounts mounts;
	bool live; /* otherwise only what the rows say is known */
	u32 round;
};

void task_names_init(struct task_names *n, bool live);
void task_names_release(struct task_names *n);
/* Once before each frame: forgets those that are gone. */
void task_names_begin(struct task_names *n);
/* Numbers of @strings. */
u32 task_names_user(struct task_names *n, u32 uid);
const struct task_name *task_names_get(struct task_names *n, const struct task_row *row);
/* "docker:1f2e3d4c5b6a" by the path of a group; false: not one of a container. */
bool container_of_cgroup(const char *path, struct buf *out);

#endif
