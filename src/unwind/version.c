/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/version.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include "base/clock.h"

void unwind_version_read(int fd, const struct stat *st, struct unwind_version *ret)
{
	int generation = 0;

	*ret = (struct unwind_version){
		.size = (u64)st->st_size,
		.changed = (u64)st->st_ctim.tv_sec * NSEC_PER_SEC + (u64)st->st_ctim.tv_nsec,
	};
	/* most file systems have it; the others do without */
	if (!ioctl(fd, FS_IOC_GETVERSION, &generation))
		ret->generation = (u32)generation;
}

bool unwind_version_same(const struct unwind_version *a, const struct unwind_version *b)
{
	return a->size == b->size && a->changed == b->changed &&
	       (!a->generation || !b->generation || a->generation == b->generation);
}
