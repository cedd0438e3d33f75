/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/find.h"

#include "base/io.h"
#include "elf/symbols.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { NEEDED_MAX_BYTES = 1 << 20, NEEDED_MAX_FILES = 256 };

int elf_open(const char *path, struct elf *ret, struct err *e)
{
	int fd, rc = io_open_read(path, &fd, e);

	return rc < 0 ? rc : elf_open_fd(ret, fd, path, e);
}

static char *in_path(const char *name, struct arena *arena)
{
	const char *path = getenv("PATH");

	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
	while (*path) {
		size_t n = strcspn(path, ":");
		char *file = arena_printf(arena, "%.*s/%s", (int)n, path, name);

		if (access(file, X_OK) == 0)
			return file;
		path += n + (path[n] == ':');
	}
	return NULL;
}

static const char *const dirs[] = { "/lib/x86_64-linux-gnu",
				    "/usr/lib/x86_64-linux-gnu",
				    "/lib64",
				    "/usr/lib64",
				    "/usr/local/lib",
				    "/usr/lib",
				    "/lib" };

/* The first ELF file: a .so without a number may be a linker script. */
static char *first_elf(const char *pattern, struct arena *arena)
{
	char *found = NULL;
	glob_t g = { 0 };

	if (glob(pattern, 0, NULL, &g) == 0) {
		for (size_t i = 0; !found && i < g.gl_pathc; i++) {
			_cleanup_elf_ struct elf elf = ELF_INIT;

			if (elf_open(g.gl_pathv[i], &elf, NULL) == 0)
				found = arena_strdup(arena, g.gl_pathv[i]);
		}
	}
	globfree(&g);
	return found;
}

static char *in_libraries(const char *name, struct arena *arena)
{
	static const char *const forms[] = { "%s/lib%s.so", "%s/lib%s.so.[0-9]*", "%s/lib%s-*.so",
					     "%s/lib%s", "%s/%s" };

	if (starts_with(name, "lib"))
		name += 3;
	for (size_t d = 0; d < ARRAY_SIZE(dirs); d++) {
		for (size_t f = 0; f < ARRAY_SIZE(forms); f++) {
			char *found, *pattern;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			pattern = arena_printf(arena, forms[f], dirs[d], name);
#pragma GCC diagnostic pop
			found = first_elf(pattern, arena);
			if (found)
				return found;
		}
	}
	return NULL;
}

char *elf_find(const char *name, struct arena *arena)
{
	char *found;

	if (strchr(name, '/'))
		return access(name, R_OK) == 0 ? arena_strdup(arena, name) : NULL;
	found = in_path(name, arena);
	return found ? found : in_libraries(name, arena);
}

/* The path that the kernel knows of an open file. */
static bool path_of(int fd, char ret[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, PATH_MAX - 1);
	ret[MAX(n, (ssize_t)0)] = 0;
	return n > 0;
}

/* Where the open file is below @root, whose own links must not be followed from here. */
static bool path_below(const char *root, int dir, int fd, char ret[PATH_MAX])
{
	char top[PATH_MAX], inside[PATH_MAX];
	struct stat opened, named;
	const char *rest;

	if (!path_of(dir, top) || !path_of(fd, inside) || fstat(fd, &opened) < 0)
		return false;
	rest = streq(top, "/") ? inside : starts_with(inside, top);
	return rest && snprintf(ret, PATH_MAX, "%s%s", root, rest) < PATH_MAX &&
	       stat(ret, &named) == 0 && named.st_ino == opened.st_ino &&
	       named.st_dev == opened.st_dev;
}

static int find_in_container(const char *root, const char *name, char ret[PATH_MAX], struct err *e)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, r = 0;

	if (dir < 0) {
		r = err_sys(e, errno, "cannot see the files of '%s'", root);
		err_hint(e, "the process may have ended already");
		return r;
	}
	name += strspn(name, "/");
	fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	if (fd < 0)
		r = err_sys(e, errno, "cannot open '/%s' below '%s'", name, root);
	else if (!path_below(root, dir, fd, ret))
		r = err_set(e, ENOENT, "'/%s' below '%s' has no path from here", name, root);
	close(dir);
	if (fd >= 0)
		close(fd);
	return r;
}

/* The length of "/proc/PID/root/" at the start of @name; 0: another path. */
static size_t container_prefix(const char *name, u32 *ret_pid)
{
	static const char proc[] = "/proc/", root[] = "/root/";
	const char *digits = name + sizeof(proc) - 1;
	unsigned long pid;
	char *end;

	if (!starts_with(name, proc) || *digits < '0' || *digits > '9')
		return 0;
	pid = strtoul(digits, &end, 10);
	if (!pid || pid > INT32_MAX || !starts_with(end, root))
		return 0;
	*ret_pid = (u32)pid;
	return (size_t)(end - name) + sizeof(root) - 1;
}

int elf_find_path(const char *name, u32 pid, char ret[PATH_MAX], struct err *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	const char *found = name;
	char root[64];
	size_t n = pid ? 0 : container_prefix(name, &pid);

	if (pid) {
		snprintf(root, sizeof(root), "/proc/%u/root", pid);
		return find_in_container(root, name + n, ret, e);
	}
	if (!strchr(name, '/') && access(name, F_OK) < 0)
		found = elf_find(name, &arena);
	if (found && realpath(found, ret))
		return 0;
	return err_sys(e, found ? errno : ENOENT, "cannot open '%s'", name);
}

/* --- the libraries of a program ----------------------------------------------------------------
 */

static bool has_path(const elf_paths *list, const char *path)
{
	vec_each(it, list) {
		if (streq(*it, path))
			return true;
	}
	return false;
}

static void add_library(const char *name, struct arena *arena, elf_paths *ret)
{
	for (size_t d = 0; d < ARRAY_SIZE(dirs); d++) {
		char *path = arena_printf(arena, "%s/%s", dirs[d], name);

		if (access(path, R_OK) < 0)
			continue;
		if (!has_path(ret, path) && ret->len < NEEDED_MAX_FILES)
			vec_push(ret, path);
		return;
	}
}

static void add_needed(const char *path, struct arena *arena, elf_paths *ret)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	_cleanup_buf_ struct buf dynamic = BUF_INIT;
	_cleanup_buf_ struct buf strings = BUF_INIT;
	const struct elf_section *s;
	Elf64_Dyn dyn;

	if (elf_open(path, &elf, NULL) < 0 || !elf.is64)
		return;
	s = elf_find_type(&elf, SHT_DYNAMIC);
	if (!s || !elf_read_table(&elf, s, NEEDED_MAX_BYTES, &dynamic, &strings))
		return;
	for (size_t at = 0; at + sizeof(dyn) <= dynamic.len; at += sizeof(dyn)) {
		const char *name;

		memcpy(&dyn, dynamic.data + at, sizeof(dyn));
		if (dyn.d_tag != DT_NEEDED || dyn.d_un.d_val >= strings.len)
			continue;
		name = strings.data + dyn.d_un.d_val;
		if (memchr(name, 0, strings.len - dyn.d_un.d_val) && !strchr(name, '/'))
			add_library(name, arena, ret);
	}
}

void elf_find_needed(const char *program, struct arena *arena, elf_paths *ret)
{
	char *path = strchr(program, '/') ? arena_strdup(arena, program) : in_path(program, arena);

	if (!path)
		return;
	vec_push(ret, path);
	for (size_t i = 0; i < ret->len; i++)
		add_needed(ret->items[i], arena, ret);
}
