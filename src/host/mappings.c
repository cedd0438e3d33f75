/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/mappings.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/io.h"
#include "host/procfs.h"

void mappings_release(struct mappings *m)
{
	vec_release(&m->items);
	arena_release(&m->arena);
}

void mappings_push(struct mappings *m, const struct mapping *map)
{
	if (map->start >= map->end || m->items.len >= MAPPINGS_MOST)
		return;
	struct mapping add = *map;

	add.path = add.path[0] ? arena_strdup(&m->arena, add.path) : "";
	vec_push(&m->items, add);
}

static int compare_maps(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void mappings_sort(struct mappings *m)
{
	size_t n = 0;

	vec_sort(&m->items, compare_maps);
	vec_each(item, &m->items) {
		if (!n || item->start >= m->items.items[n - 1].end)
			m->items.items[n++] = *item;
	}
	m->items.len = n;
}

static void push_line(struct mappings *m, const struct proc_map *line)
{
	_cleanup_free_ char *path = xstrndup(line->path, line->path_len);
	const struct mapping map = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.ino = line->inode,
		.dev = line->dev_major << 20 | (line->dev_minor & 0xfffff),
		.exec = line->flags & PROC_MAP_EXEC,
		.write = line->flags & PROC_MAP_WRITE,
		.path = path,
	};

	mappings_push(m, &map);
}

void mappings_parse(struct mappings *m, const char *text, size_t n)
{
	const char *end = text + n;
	struct proc_map line;
	int rc;

	while ((rc = procfs_next_map(&text, end, &line)) != -ENODATA) {
		if (!rc)
			push_line(m, &line);
	}
	mappings_sort(m);
}

int mappings_read(struct mappings *m, int pid, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = procfs_read((u32)pid, 0, "maps", PROCFS_MAX_MAPS, &text, e);

	if (!rc)
		mappings_parse(m, buf_str(&text), text.len);
	return rc;
}

/* Index of the first mapping that ends after @address. */
static size_t maps_bound(const struct mappings *m, u64 address)
{
	size_t lo = 0, hi = m->items.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->items.items[mid].end > address)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct mapping *mappings_from(const struct mappings *m, u64 address)
{
	const size_t i = maps_bound(m, address);

	return i == m->items.len ? NULL : &m->items.items[i];
}

struct mapping *mappings_find(const struct mappings *m, u64 address)
{
	size_t i = maps_bound(m, address);

	if (i == m->items.len || address < m->items.items[i].start)
		return NULL;
	return &m->items.items[i];
}

static void insert_at(struct mappings *m, size_t i, struct mapping map)
{
	vec_push(&m->items, map);
	memmove(&m->items.items[i + 1], &m->items.items[i], (m->items.len - 1 - i) * sizeof(map));
	m->items.items[i] = map;
}

bool mappings_cover(struct mappings *m, const struct mapping *map)
{
	if (map->start >= map->end || m->items.len + 2 > MAPPINGS_MOST)
		return false;
	const struct mapping add = *map;
	size_t i = maps_bound(m, add.start), covered = i;

	if (i < m->items.len && m->items.items[i].start < add.start) {
		struct mapping *old = &m->items.items[i];
		struct mapping rest = *old;

		old->end = add.start;
		if (rest.end > add.end) { /* the new one is inside: the old one has a tail */
			rest.offset += add.end - rest.start;
			rest.start = add.end;
			insert_at(m, i + 1, rest);
		}
		covered = ++i;
	}
	while (covered < m->items.len && m->items.items[covered].end <= add.end)
		covered++;
	if (covered < m->items.len && m->items.items[covered].start < add.end) {
		struct mapping *next = &m->items.items[covered];

		next->offset += add.end - next->start;
		next->start = add.end;
	}
	if (covered > i)
		memmove(&m->items.items[i], &m->items.items[covered],
			(m->items.len - covered) * sizeof(add));
	m->items.len -= covered - i;
	insert_at(m, i, add);
	return true;
}

void mappings_add(struct mappings *m, const struct mapping *map)
{
	struct mapping add = *map;

	add.path = arena_strdup(&m->arena, add.path ? add.path : "");
	mappings_cover(m, &add);
}

void mappings_copy(struct mappings *to, const struct mappings *from)
{
	if (to == from)
		return;
	vec_clear(&to->items);
	vec_reserve(&to->items, from->items.len);
	vec_each(map, &from->items)
		vec_push(&to->items, *map);
}

/*
 * The device may differ from what the kernel shows (overlayfs, btrfs), and so may the inode; of
 * those the change time tells, to the nanosecond.
 */
static bool is_same(const struct mapping *map, const struct stat *st)
{
	const struct unwind_version *v = &map->version;
	u64 changed = (u64)st->st_ctim.tv_sec * NSEC_PER_SEC + (u64)st->st_ctim.tv_nsec;

	return !map->ino || st->st_ino == map->ino ||
	       (v->changed && v->changed == changed && v->size == (u64)st->st_size);
}

/* The file that lies there now may be another one than was mapped. */
static int open_checked(const char *path, const struct mapping *map)
{
	_cleanup_close_ int fd = io_open_regular(AT_FDCWD, path);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !is_same(map, &st))
		return -ESTALE;
	return TAKE_FD(fd);
}

int mapping_open(const struct mapping *map, int pid)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	int fd;

	if (pid > 0) {
		buf_addf(&path, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)map->start,
			 (unsigned long long)map->end);
		fd = open_checked(buf_str(&path), map);
		if (fd >= 0)
			return fd;
		buf_reset(&path);
		buf_addf(&path, "/proc/%d/root%s", pid, map->path);
		if (map->path[0] == '/') {
			fd = open_checked(buf_str(&path), map);
			if (fd >= 0)
				return fd;
		}
	}
	return map->path[0] == '/' ? open_checked(map->path, map) : -ENOENT;
}
