/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/numbered.h"

#include "base/hash.h"
#include "base/io.h"

void numbered_release(struct numbered *n)
{
	vec_release(&n->items);
	map_release(&n->by_file);
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

static bool is_same(const struct numbered_file *a, const struct numbered_file *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->version.size == b->version.size &&
	       a->version.changed == b->version.changed &&
	       a->version.generation == b->version.generation &&
	       a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static u64 hash_of(const struct numbered_file *f)
{
	u64 h = hash_mix(hash_mix(f->ino, f->dev), f->version.size);

	h = hash_mix(hash_mix(h, f->version.changed), f->version.generation);
	return hash_mix(h, hash_bytes(f->build_id, f->build_id_len));
}

u32 numbered_add(struct numbered *n, const struct mapping *map, int pid, int fd,
		 const struct elf *elf, const struct unwind_version *version)
{
	struct numbered_file file = {
		.ino = map->ino,
		.dev = map->dev,
		.pid = pid,
		.start = map->start,
		.end = map->end,
		.build_id_len = elf->build_id_len,
		.version = *version,
	};
	u64 *number;

	memcpy(file.build_id, elf->build_id, elf->build_id_len);
	number = map_at(&n->by_file, hash_of(&file));
	if (*number && is_same(&n->items.items[*number - 1], &file)) {
		struct numbered_file *known = &n->items.items[*number - 1];

		known->pid = pid;
		known->start = map->start;
		known->end = map->end;
		return (u32)*number;
	}
	if (n->items.len >= NUMBERED_MOST)
		return 0;
	file.path = name_of(n, map, fd);
	vec_push(&n->items, file);
	*number = n->items.len;
	return (u32)n->items.len;
}

const struct numbered_file *numbered_get(const struct numbered *n, u32 number)
{
	return number && number <= n->items.len ? &n->items.items[number - 1] : NULL;
}

const struct numbered_file *numbered_place(const struct numbered *n, u64 place, u64 *ret_offset)
{
	*ret_offset = place & ((1ull << UNWIND_PLACE_OFFSET) - 1);
	return numbered_get(n, (u32)((place & ~UNWIND_PLACE_BIT) >> UNWIND_PLACE_OFFSET));
}

struct module_key numbered_key(const struct numbered_file *f)
{
	return (struct module_key){
		.path = f->path,
		.build_id = f->build_id,
		.build_id_len = f->build_id_len,
		.maj = f->dev >> 20,
		.min = f->dev & 0xfffff,
		.ino = f->ino,
		.changed = f->version.changed,
		.pid = f->pid,
		.map_start = f->start,
		.map_end = f->end,
	};
}
