/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/keep.h"

#include "base/base.h"
#include "base/fmt.h"
#include "base/io.h"
#include "symbol/debug.h"
#include "elf/find.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

enum { ID_BYTES = 64, LIST_MOST = 1 << 20, COPY_BYTES = 1 << 18 };

char *keep_folder(void)
{
	const char *named = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");

	return named && *named ? xstrdup(named) : xasprintf("%s/.debug", home ? home : "");
}

int keep_build_id(const char *path, struct buf *ret, struct err *e)
{
	struct elf elf = ELF_INIT;
	u8 id[ID_BYTES];
	size_t n;
	int r = elf_open(path, &elf, e);

	if (r < 0)
		return r;
	n = MIN(elf_build_id(&elf, id, sizeof(id)), sizeof(id));
	elf_release(&elf);
	if (!n) {
		err_set(e, ENODATA, "'%s' has no build id", path);
		err_hint(e, "link it with -Wl,--build-id");
		return -ENODATA;
	}
	fmt_hex(ret, id, n);
	return 0;
}

int keep_find_debug(const char *path, struct buf *ret)
{
	struct elf elf = ELF_INIT, debug = ELF_INIT;
	struct debug_search search = { .main = &elf, .path = path, .dir = "/usr/lib/debug" };
	u8 id[ID_BYTES];
	int r = elf_open(path, &elf, NULL);

	if (r < 0)
		return r;
	search.build_id = id;
	search.build_id_len = MIN(elf_build_id(&elf, id, sizeof(id)), sizeof(id));
	search.lines = elf_find_type(&elf, SHT_SYMTAB);
	r = debug_find(&search, &debug, ret);
	if (r >= 0)
		elf_release(&debug);
	elf_release(&elf);
	return r;
}

/* mkdir -p of the folder that @path is in. */
static int make_folders(const char *path, struct err *e)
{
	_cleanup_free_ char *copy = xstrdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return err_sys(e, errno, "cannot create '%s'", copy);
		*slash = '/';
	}
	return 0;
}

/* A file of its own: what is kept must not change with the program. */
static int copy_file(const char *from, const char *to, struct err *e)
{
	_cleanup_free_ char *bytes = xmalloc(COPY_BYTES), *temp = xasprintf("%s.new", to);
	_cleanup_close_ int in = -1, out = -1;
	struct stat st;
	ssize_t n;
	int r = io_open_read(from, &in, e);

	if (r < 0)
		return r;
	if (fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "'%s' is not a file", from);
	out = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		   (st.st_mode & 0777) | 0600);
	if (out < 0)
		return io_cannot_create(temp, errno, e);
	while ((n = read(in, bytes, COPY_BYTES)) > 0) {
		r = io_write_all(out, bytes, (size_t)n);
		if (r < 0)
			break;
	}
	if (n < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && rename(temp, to) < 0)
		r = -errno;
	if (r < 0)
		unlink(temp);
	return r < 0 ? err_sys(e, -r, "cannot copy '%s' to '%s'", from, to) : 0;
}

static char *link_of(const char *folder, const char *id)
{
	return xasprintf("%s/.build-id/%.2s/%s", folder, id, id + MIN(strlen(id), (size_t)2));
}

int keep_add(const char *folder, const char *path, struct buf *ret_id, struct err *e)
{
	_cleanup_free_ char *real = realpath(path, NULL), *link = NULL, *file = NULL, *to = NULL;
	_cleanup_buf_ struct buf id = BUF_INIT;
	int r = keep_build_id(path, &id, e);

	if (r < 0)
		return r;
	if (ret_id)
		buf_addstr(ret_id, buf_str(&id));
	link = link_of(folder, buf_str(&id));
	file = xasprintf("%s%s/%s/elf", folder, real ? real : path, buf_str(&id));
	to = xasprintf("../..%s/%s", real ? real : path, buf_str(&id));
	if (io_exists(link))
		return 1;
	r = make_folders(file, e);
	if (r >= 0)
		r = copy_file(path, file, e);
	if (r >= 0)
		r = make_folders(link, e);
	if (r >= 0 && symlink(to, link) < 0 && errno != EEXIST)
		r = err_sys(e, errno, "cannot create '%s'", link);
	return r;
}

static bool is_hex(const char *s)
{
	return *s && s[strspn(s, "0123456789abcdef")] == '\0';
}

int keep_remove(const char *folder, const char *id, struct err *e)
{
	_cleanup_free_ char *link = link_of(folder, id), *elf = xasprintf("%s/elf", link);
	_cleanup_free_ char *debug = xasprintf("%s/debug", link);
	char target[PATH_MAX];
	ssize_t n = is_hex(id) ? readlink(link, target, sizeof(target) - 1) : -1;
	_cleanup_free_ char *dir = NULL;

	if (n < 0)
		return err_set(e, ENOENT, "nothing is kept under '%s'", id);
	target[n] = '\0';
	dir = xasprintf("%s/.build-id/%.2s/%s", folder, id, target);
	unlink(elf);
	unlink(debug);
	rmdir(dir);
	return unlink(link) < 0 ? err_sys(e, errno, "cannot remove '%s'", link) : 0;
}

/* "../../usr/bin/x/ID": the path that it was kept for. */
static void list_link(const char *folder, const char *two, const char *rest, kept_files *ret)
{
	_cleanup_free_ char *link = xasprintf("%s/.build-id/%s/%s", folder, two, rest);
	char target[PATH_MAX], *slash;
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0)
		return;
	target[n] = '\0';
	slash = strrchr(target, '/');
	if (!starts_with(target, "../../") || !slash)
		return;
	*slash = '\0';
	vec_push(ret, (struct kept_file){ .id = xasprintf("%s%s", two, rest),
					  .path = xstrdup(target + strlen("../..")) });
}

int keep_list(const char *folder, kept_files *ret, struct err *e)
{
	_cleanup_free_ char *root = xasprintf("%s/.build-id", folder);
	DIR *outer = opendir(root);

	if (!outer)
		return errno == ENOENT ? 0 : err_sys(e, errno, "cannot open '%s'", root);
	for (struct dirent *d; (d = readdir(outer));) {
		_cleanup_free_ char *path = xasprintf("%s/%s", root, d->d_name);
		DIR *inner = strlen(d->d_name) == 2 && is_hex(d->d_name) ? opendir(path) : NULL;

		for (struct dirent *f; inner && ret->len < LIST_MOST && (f = readdir(inner));)
			if (is_hex(f->d_name))
				list_link(folder, d->d_name, f->d_name, ret);
		if (inner)
			closedir(inner);
	}
	closedir(outer);
	return 0;
}

void keep_list_release(kept_files *l)
{
	vec_each(f, l) {
		free(f->id);
		free(f->path);
	}
	vec_release(l);
}
