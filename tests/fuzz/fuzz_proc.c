/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the files of /proc that are read: stat, status, maps, cgroup, mountinfo,
 * numa_maps; and as /etc/passwd.
 */
#include "host/cgroup.h"
#include "host/numa_maps.h"
#include "host/procfs.h"
#include "host/users.h"
#include "unwind/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_maps(const char *text, size_t size)
{
	struct mappings maps = { 0 };
	struct proc_map map;
	const char *at = text;
	int r;

	while ((r = procfs_next_map(&at, text + size, &map)) != -ENODATA) {
		if (at > text + size)
			abort();
		if (r == 0 && map.path_len && map.path + map.path_len > text + size)
			abort();
	}
	mappings_parse(&maps, text, size);
	for (size_t i = 0; i < maps.items.len; i++) {
		const struct mapping *m = &maps.items.items[i];

		if (m->start >= m->end || (i && m[-1].end > m->start))
			abort();
		if (mappings_find(&maps, m->start) != m)
			abort();
	}
	mappings_release(&maps);
}

static void read_cgroup(const char *text, size_t size)
{
	struct cgroup_mounts mounts = { 0 };
	struct buf path = BUF_INIT;

	cgroup_mounts_parse(text, size, &mounts);
	cgroup_mounts_release(&mounts);
	(void)cgroup_parse(text, size, &path);
	buf_release(&path);
}

static void read_more(const char *text, size_t size)
{
	u64 sums[4 * NUMA_PARTS] = { 0 };
	struct users users = USERS_INIT;

	(void)numa_maps_parse(text, size, sums, 4);
	users_parse(&users, text, size);
	if (users.ids.len != users.names.len)
		abort();
	users_release(&users);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct proc_stat stat;
	struct proc_status status;

	if (procfs_parse_stat(text, size, &stat) == 0 && !memchr(stat.comm, 0, sizeof(stat.comm)))
		abort();
	procfs_parse_status(text, size, &status);
	read_maps(text, size);
	read_cgroup(text, size);
	read_more(text, size);
	return 0;
}
