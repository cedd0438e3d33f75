/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/filters.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "offcpu.skel.h"

static int put(const struct bpf_map *map, const void *key, struct err *e)
{
	u8 one = 1;

	if (bpf_map_update_elem(bpf_map__fd(map), key, &one, BPF_ANY))
		return err_sys(e, errno, "cannot set the filter");
	return 0;
}

static int put_ranges(const struct bpf_map *map, const range_list *list, struct err *e)
{
	u32 most = bpf_map__max_entries(map);
	int rc = 0;

	if (list && ranges_count(list) > most)
		return err_set(e, E2BIG, "at most %u processes can be named", most);
	for (size_t i = 0; list && i < list->len; i++) {
		for (u64 id = list->items[i].first; !rc && id <= list->items[i].last; id++)
			rc = put(map, &(u32){ (u32)id }, e);
	}
	return rc;
}

static int put_cgroup(const struct offcpu_bpf *skel, u32 at, const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "cannot open control group '%s'", path);
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.offcpu_cgroups), &at, &fd, BPF_ANY)) {
		err_sys(e, errno, "cannot filter by control group '%s'", path);
		err_hint(e, "only those of version 2 can be filtered by");
		return -errno;
	}
	/* the kernel's number of a group is that of its directory */
	return put(skel->maps.offcpu_cgroup_ids, &(u64){ st.st_ino }, e);
}

int waits_filters_fill(const struct offcpu_bpf *skel, const struct waits_opts *in, struct err *e)
{
	int rc = put_ranges(skel->maps.offcpu_pids, in->pids, e);

	if (!rc)
		rc = put_ranges(skel->maps.offcpu_tids, in->tids, e);
	for (size_t i = 0; !rc && i < in->n_uids; i++)
		rc = put(skel->maps.offcpu_uids, &in->uids[i], e);
	for (size_t i = 0; !rc && i < in->n_comms; i++) {
		char comm[OFFCPU_COMM] = { 0 };

		memcpy(comm, in->comms[i], MIN(strlen(in->comms[i]), sizeof(comm) - 1));
		rc = put(skel->maps.offcpu_comms, comm, e);
	}
	for (size_t i = 0; !rc && i < in->n_cgroups; i++)
		rc = put_cgroup(skel, (u32)i, in->cgroups[i], e);
	return rc;
}

int waits_filters_add_pid(const struct offcpu_bpf *skel, u32 pid, struct err *e)
{
	return put(skel->maps.offcpu_pids, &pid, e);
}
