/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/numbered.h"

#include "base/io.h"

void numbered_release(struct numbered *n)
{
	vec_release(&n->items);
	arena_release(&n->arena);
}

/* The file that was opened knows best, whatever its process calls it. */
static const char *name_of(struct numbered *n, const struct mapping *map, int fd)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	if (fd >= 0 && !io_fd_path(fd, &path) && buf_str(&path)[0] == '/')
		return arena_strdup(&n->arena, buf_str(&path));
	return arena_strdup(&n->arena, map->path);
}

u32 numbered_add(struct numbered *n, const struct mapping *map, int pid, int fd,
		 const struct elf *elf)
{
	struct numbered_file file = {
		.ino = map->ino,
		.dev = map->dev,
		.pid = pid,
		.start = map->start,
		.end = map->end,
		.build_id_len = elf->build_id_len,
	};

	if (n->items.len >= NUMBERED_MOST)
		return 0;
	memcpy(file.build_id, elf->build_id, elf->build_id_len);
	file.path = name_of(n, map, fd);
	vec_push(&n->items, file);
	return (u32)n->items.len;
}

const struct numbered_file *numbered_get(const struct numbered *n, u32 number)
{
	return number && number <= n->items.len ? &n->items.items[number - 1] : NULL;
}
