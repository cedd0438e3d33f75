/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/open.h"

#include "base/fmt.h"
#include "base/io.h"
#include "symbol/symbol.h"

#include <inttypes.h>
#include <sys/stat.h>

/* Whether the file is the recorded one, as far as was recorded. */
static bool same_inode(int fd, const struct module_key *key)
{
	struct stat st;

	return !key->ino || (fstat(fd, &st) == 0 && st.st_ino == key->ino);
}

/* Whether a link of /proc means this path; a file that is gone has its mark there. */
static bool same_path(const char *target, const char *path)
{
	const char *rest = starts_with(target, path);

	return rest && (!*rest || streq(rest, " (deleted)"));
}

/* Another process may have the pid by now: the link must still say the same. */
static int open_mapping(const struct module_key *key)
{
	char link[96], target[4096];
	ssize_t n;
	int fd;

	if (!key->pid || !key->map_end)
		return -ENOENT;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)key->pid,
		 key->map_start, key->map_end);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (!key->build_id_len && !same_path(target, key->path))
		return -ESTALE;
	fd = io_open_in_root(NULL, link);
	if (fd >= 0 && !same_inode(fd, key)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int perf_kept_open(const u8 *build_id, size_t len, const char *name)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	const char *home = getenv("HOME");

	if (!home || len < 2)
		return -ENOENT;
	buf_addf(&path, "%s/.debug/.build-id/%02x/", home, build_id[0]);
	fmt_hex(&path, build_id + 1, len - 1);
	buf_addf(&path, "/%s", name);
	return io_open_in_root(NULL, buf_str(&path));
}

int module_open(const struct module_key *key, enum module_way way)
{
	char root[64];

	if (way == WAY_MAPPING)
		return open_mapping(key);
	if (way == WAY_PERF)
		return perf_kept_open(key->build_id, key->build_id_len,
				      key->path[0] == '/' ? "elf" : "vdso");
	if (key->path[0] != '/')
		return -ENOENT;
	if (way == WAY_PATH)
		return io_open_in_root(NULL, key->path);
	if (!key->pid)
		return -ENOENT;
	snprintf(root, sizeof(root), "/proc/%d/root", (int)key->pid);
	return io_open_in_root(root, key->path);
}
