/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/maps.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "host/procfs.h"

void unwind_maps_release(struct unwind_maps *m)
{
	vec_release(&m->items);
	arena_release(&m->arena);
}

void unwind_maps_push(struct unwind_maps *m, const struct unwind_map *map)
{
	if (map->start >= map->end || m->items.len >= MAPS_MAX)
		return;
	struct unwind_map add = *map;

	add.path = add.path[0] ? arena_strdup(&m->arena, add.path) : "";
	vec_push(&m->items, add);
}

static int compare_maps(const void *a, const void *b)
{
	const struct unwind_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void unwind_maps_sort(struct unwind_maps *m)
{
	size_t n = 0;

	vec_sort(&m->items, compare_maps);
	vec_each(item, &m->items) {
		if (!n || item->start >= m->items.items[n - 1].end)
			m->items.items[n++] = *item;
	}
	m->items.len = n;
}

static void push_line(struct unwind_maps *m, const struct proc_map *line)
{
	_cleanup_free_ char *path = xstrndup(line->path, line->path_len);
	const struct unwind_map map = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.ino = line->inode,
		.dev = line->dev_major << 20 | (line->dev_minor & 0xfffff),
		.exec = line->flags & PROC_MAP_EXEC,
		.write = line->flags & PROC_MAP_WRITE,
		.path = path,
	};

	unwind_maps_push(m, &map);
}

void unwind_maps_parse(struct unwind_maps *m, const char *text, size_t n)
{
	const char *end = text + n;
	struct proc_map line;
	int rc;

	while ((rc = procfs_next_map(&text, end, &line)) != -ENODATA) {
		if (!rc)
			push_line(m, &line);
	}
	unwind_maps_sort(m);
}

int unwind_maps_read(struct unwind_maps *m, int pid, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int rc = procfs_read((u32)pid, 0, "maps", PROCFS_MAX_MAPS, &text, e);

	if (!rc)
		unwind_maps_parse(m, buf_str(&text), text.len);
	return rc;
}

/* Index of the first mapping that ends after @address. */
static size_t maps_bound(const struct unwind_maps *m, u64 address)
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

struct unwind_map *unwind_maps_find(const struct unwind_maps *m, u64 address)
{
	size_t i = maps_bound(m, address);

	if (i == m->items.len || address < m->items.items[i].start)
		return NULL;
	return &m->items.items[i];
}

static void insert_at(struct unwind_maps *m, size_t i, struct unwind_map map)
{
	vec_push(&m->items, map);
	memmove(&m->items.items[i + 1], &m->items.items[i], (m->items.len - 1 - i) * sizeof(map));
	m->items.items[i] = map;
}

void unwind_maps_cover(struct unwind_maps *m, const struct unwind_map *map)
{
	if (map->start >= map->end || m->items.len + 2 > MAPS_MAX)
		return;
	const struct unwind_map add = *map;
	size_t i = maps_bound(m, add.start), covered = i;

	if (i < m->items.len && m->items.items[i].start < add.start) {
		struct unwind_map *old = &m->items.items[i];
		struct unwind_map rest = *old;

		old->end = add.start;
		if (rest.end > add.end) { /* the new one lies inside: the old one has a tail */
			rest.offset += add.end - rest.start;
			rest.start = add.end;
			insert_at(m, i + 1, rest);
		}
		covered = ++i;
	}
	while (covered < m->items.len && m->items.items[covered].end <= add.end)
		covered++;
	if (covered < m->items.len && m->items.items[covered].start < add.end) {
		struct unwind_map *next = &m->items.items[covered];

		next->offset += add.end - next->start;
		next->start = add.end;
	}
	if (covered > i)
		memmove(&m->items.items[i], &m->items.items[covered],
			(m->items.len - covered) * sizeof(add));
	m->items.len -= covered - i;
	insert_at(m, i, add);
}

void unwind_maps_add(struct unwind_maps *m, const struct unwind_map *map)
{
	struct unwind_map add = *map;

	add.path = arena_strdup(&m->arena, add.path ? add.path : "");
	unwind_maps_cover(m, &add);
}

void unwind_files_release(struct unwind_files *f)
{
	vec_each(file, &f->items)
		unwind_table_free(file->table);
	vec_release(&f->items);
	map_release(&f->by_key);
}

static int open_checked(const char *path, u64 ino)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	/* the device may differ from what the kernel shows (overlayfs, btrfs); the inode tells */
	if (fstat(fd, &st) || (ino && st.st_ino != ino))
		return -ESTALE;
	return TAKE_FD(fd);
}

int unwind_map_open(const struct unwind_map *map, int pid)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	int fd;

	if (pid > 0) {
		buf_addf(&path, "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)map->start,
			 (unsigned long long)map->end);
		fd = open(buf_str(&path), O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		buf_reset(&path);
		buf_addf(&path, "/proc/%d/root%s", pid, map->path);
		if (map->path[0] == '/') {
			fd = open_checked(buf_str(&path), map->ino);
			if (fd >= 0)
				return fd;
		}
	}
	return map->path[0] == '/' ? open_checked(map->path, map->ino) : -ENOENT;
}

static void load_file(struct unwind_file *file, const struct unwind_map *map, int pid)
{
	_cleanup_close_ int fd = unwind_map_open(map, pid);
	struct image im;

	if (fd < 0) {
		file->unreadable = true;
		return;
	}
	if (!image_open(&im, fd, map->path, NULL))
		(void)unwind_table_get(&im, &file->table, NULL, NULL);
}

int unwind_vdso_table(struct unwind_table **ret, u64 *ret_size)
{
	u64 start = getauxval(AT_SYSINFO_EHDR);
	struct proc_map own;
	struct image im;

	if (!start)
		return -ENOENT;
	int rc = procfs_own_map(start, &own);

	if (!rc)
		rc = image_open_memory(&im, (const void *)(uintptr_t)own.start, own.end - own.start,
				       "[vdso]", NULL);
	if (!rc)
		rc = unwind_table_compile(&im, ret, NULL);
	if (!rc)
		*ret_size = own.end - own.start;
	return rc;
}

/* The vDSO is in no file. For a process that is gone ours will do, if it is as large. */
static void load_vdso(struct unwind_file *file, const struct unwind_map *map)
{
	u64 size;

	if (unwind_vdso_table(&file->table, &size)) {
		file->unreadable = true;
		return;
	}
	if (size != map->end - map->start) {
		unwind_table_free(file->table);
		file->table = NULL;
		file->unreadable = true;
	}
}

const struct unwind_file *unwind_files_get(struct unwind_files *f, struct unwind_map *map, int pid)
{
	bool vdso = streq(map->path, "[vdso]");
	u64 key = vdso ? 1 : hash_mix(hash_mix(map->dev, map->ino), 0);

	if (!map->ino && !vdso) /* a core file knows only names */
		key = hash_str(map->path);
	if (map->table)
		return &f->items.items[map->table - 1];
	u64 known = map_get(&f->by_key, key, 0);

	if (!known) {
		struct unwind_file file = { 0 };

		if (vdso)
			load_vdso(&file, map);
		else
			load_file(&file, map, pid);
		vec_push(&f->items, file);
		known = f->items.len;
		map_put(&f->by_key, key, known);
	}
	map->table = (u32)known;
	return &f->items.items[known - 1];
}
