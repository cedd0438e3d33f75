/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process: asked one by one where the kernel can (6.11), which also gives build
 * ids and no text to parse; from the text of maps otherwise.
 */
#include "capture/synth_record.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/io.h"
#include "host/procfs.h"

/* struct procmap_query of linux/fs.h, Linux 6.11. */
struct map_query {
	u64 size;
	u64 query_flags;
	u64 query_addr;
	u64 vma_start;
	u64 vma_end;
	u64 vma_flags;
	u64 vma_page_size;
	u64 vma_offset;
	u64 inode;
	u32 dev_major;
	u32 dev_minor;
	u32 vma_name_size;
	u32 build_id_size;
	u64 vma_name_addr;
	u64 build_id_addr;
};
_Static_assert(sizeof(struct map_query) == 104, "layout of the kernel's struct");

#define MAP_QUERY _IOWR('f', 17, struct map_query)

enum { QUERY_READ = 1, QUERY_WRITE = 2, QUERY_EXEC = 4, QUERY_SHARED = 8, QUERY_OR_NEXT = 16 };

/* What perf writes for code without a file. */
static const char anonymous[] = "//anon";

static u32 prot_of(u32 flags)
{
	return (flags & PROC_MAP_READ ? PROT_READ : 0) | (flags & PROC_MAP_WRITE ? PROT_WRITE : 0) |
	       (flags & PROC_MAP_EXEC ? PROT_EXEC : 0);
}

_Static_assert((int)QUERY_READ == (int)PROC_MAP_READ && (int)QUERY_WRITE == (int)PROC_MAP_WRITE &&
		       (int)QUERY_EXEC == (int)PROC_MAP_EXEC &&
		       (int)QUERY_SHARED == (int)PROC_MAP_SHARED,
	       "one prot_of() for both");

static int query_one(int fd, struct map_query *q, u64 at, bool data, char *name, u8 *build_id)
{
	*q = (struct map_query){
		.size = sizeof(*q),
		.query_flags = QUERY_OR_NEXT | (data ? 0 : QUERY_EXEC),
		.query_addr = at,
		.vma_name_addr = (u64)(uintptr_t)name,
		.vma_name_size = SYNTH_NAME_MOST,
		.build_id_addr = (u64)(uintptr_t)build_id,
		.build_id_size = build_id ? SYNTH_BUILD_ID_MOST : 0,
	};
	if (!build_id)
		q->build_id_addr = 0;
	return ioctl(fd, MAP_QUERY, q) < 0 ? -errno : 0;
}

static void from_query(struct synth_map *m, const struct map_query *q, const char *name)
{
	m->start = q->vma_start;
	m->end = q->vma_end;
	m->offset = q->vma_offset;
	m->inode = q->inode;
	m->dev_major = q->dev_major;
	m->dev_minor = q->dev_minor;
	m->prot = prot_of((u32)q->vma_flags);
	m->flags = q->vma_flags & QUERY_SHARED ? MAP_SHARED : MAP_PRIVATE;
	m->path = q->vma_name_size > 1 ? name : anonymous;
	m->path_len = q->vma_name_size > 1 ? strnlen(name, SYNTH_NAME_MOST) : sizeof(anonymous) - 1;
	m->build_id_size = MIN(q->build_id_size, SYNTH_BUILD_ID_MOST);
}

/* -ENOTTY: this kernel cannot. */
static int maps_by_query(struct synth *s, u32 pid, int fd)
{
	char name[SYNTH_NAME_MOST];
	u64 at = 0;

	for (u32 i = 0; i < SYNTH_MAPS_MOST; i++) {
		struct synth_map m = { 0 };
		struct map_query q;
		int r = query_one(fd, &q, at, s->data_maps, name, s->build_ids ? m.build_id : NULL);

		if (r == -ENAMETOOLONG || (r < 0 && i > 0 && r != -ENOENT && r != -ESRCH))
			return -ENOTTY; /* the text may still help */
		if (r == -ENOENT)
			return 0;
		if (r < 0)
			return r;
		from_query(&m, &q, name);
		r = synth_mmap2(s, pid, &m);
		if (r < 0)
			return r;
		if (q.vma_end <= at)
			return 0;
		at = q.vma_end;
	}
	return 0;
}

static int maps_by_text(struct synth *s, u32 pid, int fd)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_fd(fd, "maps", PROCFS_MAX_MAPS, &text, NULL);
	const char *at = buf_str(&text), *end = at + text.len;
	struct proc_map p;

	while (r >= 0 && (r = procfs_next_map(&at, end, &p)) != -ENODATA) {
		if (r == -EBADMSG || (!(p.flags & PROC_MAP_EXEC) && !s->data_maps)) {
			r = 0;
			continue;
		}
		struct synth_map m = {
			.start = p.start,
			.end = p.end,
			.offset = p.offset,
			.inode = p.inode,
			.dev_major = p.dev_major,
			.dev_minor = p.dev_minor,
			.prot = prot_of(p.flags),
			.flags = p.flags & PROC_MAP_SHARED ? MAP_SHARED : MAP_PRIVATE,
			.path = p.path_len ? p.path : anonymous,
			.path_len = p.path_len ? p.path_len : sizeof(anonymous) - 1,
		};
		r = synth_mmap2(s, pid, &m);
	}
	return r == -ENODATA ? 0 : r;
}

int synth_maps(struct synth *s, u32 pid, int proc_fd)
{
	_cleanup_close_ int fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	u64 before = s->maps;
	int r;

	if (fd < 0)
		return -errno;
	r = maps_by_query(s, pid, fd);
	if (r == -ESRCH)
		return 0; /* a kernel thread, or on its way out */
	if (r < 0 && s->maps == before)
		r = maps_by_text(s, pid, fd);
	return r;
}
