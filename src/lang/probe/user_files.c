/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a user probe names: one by its name, several by a pattern. */
#include "lang/probe/user.h"

#include "base/io.h"
#include "elf/find.h"
#include "host/procfs.h"

#include <glob.h>
#include <sys/stat.h>

enum { FILES_MOST = 1 << 14 };

static void add_file(struct comp *c, const char *path, elf_paths *ret)
{
	struct stat st;

	if (ret->len >= FILES_MOST || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	vec_each(it, ret)
		if (streq(*it, path))
			return;
	vec_push(ret, arena_strdup(&c->arena, path));
}

/* What a process has mapped as code, seen from its own root. */
static void mapped_files(struct comp *c, const char *pattern, elf_paths *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct proc_map map;
	const char *at, *end;
	int rc;

	if (procfs_read(c->opts->pid, 0, "maps", PROCFS_MAX_MAPS, &text, NULL) < 0)
		return;
	at = buf_str(&text);
	end = at + text.len;
	while ((rc = procfs_next_map(&at, end, &map)) != -ENODATA) {
		const char *path;

		if (rc < 0 || !(map.flags & PROC_MAP_EXEC) || !map.path_len || map.path[0] != '/')
			continue;
		path = arena_strndup(&c->arena, map.path, map.path_len);
		if (provider_match(pattern, path))
			add_file(c, arena_printf(&c->arena, "/proc/%u/root%s", c->opts->pid, path),
				 ret);
	}
}

static void glob_files(struct comp *c, const char *pattern, elf_paths *ret)
{
	glob_t found = { 0 };

	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_file(c, found.gl_pathv[i], ret);
	}
	globfree(&found);
}

static void path_files(struct comp *c, const char *pattern, elf_paths *ret)
{
	const char *dirs = getenv("PATH");

	glob_files(c, pattern, ret);
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (n)
			glob_files(c, arena_printf(&c->arena, "%.*s/%s", (int)n, dirs, pattern),
				   ret);
		dirs += n + (dirs[n] == ':');
	}
}

void user_files(struct comp *c, const char *name, elf_paths *ret)
{
	const char *path;

	if (provider_is_pattern(name) && c->opts->pid && !c->opts->cpid) {
		mapped_files(c, name, ret);
	} else if (provider_is_pattern(name)) {
		if (strchr(name, '/'))
			glob_files(c, name, ret);
		else
			path_files(c, name, ret);
	} else {
		path = elf_find(name, &c->arena);
		if (path)
			vec_push(ret, path);
	}
}
