/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/files.h"

#include <sys/auxv.h>

#include "base/hash.h"
#include "host/procfs.h"

void unwind_files_release(struct unwind_files *f)
{
	vec_each(file, &f->items)
		unwind_table_free(file->table);
	vec_release(&f->items);
	map_release(&f->by_key);
}

static void load_file(struct unwind_file *file, const struct mapping *map, int pid)
{
	_cleanup_close_ int fd = mapping_open(map, pid);
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if (fd < 0) {
		file->unreadable = true;
		return;
	}
	if (!elf_use_fd(&elf, fd, map->path, NULL))
		(void)unwind_table_get(&elf, &file->table, NULL, NULL);
}

int unwind_vdso_table(struct unwind_table **ret, u64 *ret_size)
{
	u64 start = getauxval(AT_SYSINFO_EHDR);
	struct proc_map own;
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if (!start)
		return -ENOENT;
	int rc = procfs_own_map(start, &own);

	if (!rc)
		rc = elf_open_mem(&elf, (const void *)(uintptr_t)own.start, own.end - own.start,
				  "[vdso]", NULL);
	if (!rc)
		rc = unwind_table_compile(&elf, ret, NULL);
	if (!rc)
		*ret_size = own.end - own.start;
	return rc;
}

/* The vDSO is in no file. For a process that is gone ours will do, if it is as large. */
static void load_vdso(struct unwind_file *file, const struct mapping *map)
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

const struct unwind_file *unwind_files_get(struct unwind_files *f, struct mapping *map, int pid)
{
	bool vdso = streq(map->path, "[vdso]");
	u64 key = vdso ? 1 : hash_mix(hash_mix(map->dev, map->ino), 0);

	if (!map->ino && !vdso) /* a core file knows only names */
		key = hash_str(map->path);
	if (map->id)
		return &f->items.items[map->id - 1];
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
	map->id = (u32)known;
	return &f->items.items[known - 1];
}
