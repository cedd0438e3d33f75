/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"

#include "base/outfile.h"
#include "base/parse.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { IO_CHUNK = 1 << 16 };

int io_open_read(const char *path, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "cannot stat '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, EISDIR, "cannot read '%s': it is a directory", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int io_reopen_regular(int path_fd)
{
	struct stat st;
	char link[32];
	int fd;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int io_open_regular(int dir, const char *path)
{
	_cleanup_close_ int fd = openat(dir, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : io_reopen_regular(fd);
}

int io_open_in_root(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	if (!root || !*root || streq(root, "/"))
		return io_open_regular(AT_FDCWD, path);
	_cleanup_close_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : io_reopen_regular(fd);
}

int io_read_fd(int fd, const char *name, size_t max, struct buf *ret, struct err *e)
{
	for (;;) {
		size_t room = MIN((size_t)IO_CHUNK, max - ret->len + 1);
		ssize_t n = read(fd, buf_reserve(ret, room), room);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read '%s'", name);
		if (n == 0)
			break;
		if (ret->len + (size_t)n > max)
			return err_set(e, EFBIG, "'%s' is larger than %zu bytes", name, max);
		buf_added(ret, (size_t)n);
	}
	buf_added(ret, 0);
	return 0;
}

int io_read_file(const char *path, size_t max, struct buf *ret, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r;

	buf_reset(ret);
	r = io_open_read(path, &fd, e);
	if (r < 0)
		return r;
	return io_read_fd(fd, path, max, ret, e);
}

int io_read_line(const char *path, struct buf *ret, struct err *e)
{
	int r = io_read_file(path, 1 << 16, ret, e);

	if (r < 0)
		return r;
	while (ret->len && strchr("\n ", ret->data[ret->len - 1]))
		buf_truncate(ret, ret->len - 1);
	return 0;
}

int io_read_u64(const char *path, u64 *ret, struct err *e)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	int r = io_read_line(path, &b, e);

	if (r < 0)
		return r;
	r = parse_u64(buf_str(&b), ret, e);
	return r < 0 ? err_prefix(e, "'%s'", path) : 0;
}

int io_pread_all(int fd, u64 offset, void *to, size_t n)
{
	char *p = to;

	while (n) {
		ssize_t got = pread(fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ERANGE;
		p += got;
		offset += (u64)got;
		n -= (size_t)got;
	}
	return 0;
}

int io_fd_path(int fd, struct buf *ret)
{
	static const char deleted[] = " (deleted)";
	char link[32], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	if (ends_with(path, deleted))
		n -= (ssize_t)sizeof(deleted) - 1;
	buf_reset(ret);
	buf_add(ret, path, (size_t)n);
	return 0;
}

int io_write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t w = write(fd, at, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}

static mode_t mask_of_process(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

static int write_temp(int fd, const char *temp, const void *p, size_t n, struct err *e)
{
	int r = io_write_all(fd, p, n);

	if (r < 0)
		return err_sys(e, r, "cannot write '%s'", temp);
	if (fchmod(fd, 0644 & ~mask_of_process()) < 0)
		return err_sys(e, errno, "cannot set the mode of '%s'", temp);
	return 0;
}

bool io_is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int io_cannot_create(const char *path, int code, struct err *e)
{
	err_sys(e, code, "cannot create '%s'", path);
	if (code == ENOENT)
		err_hint(e, "the directory does not exist: create it, or write elsewhere");
	else if (code == EACCES || code == EROFS)
		err_hint(e, "permission denied: choose another directory");
	return -code;
}

static int write_special(const char *path, const void *p, size_t n, struct err *e)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int r;

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", path);
	r = io_write_all(fd, p, n);
	return r < 0 ? err_sys(e, r, "cannot write '%s'", path) : 0;
}

int io_write_file_atomic(const char *path, const void *p, size_t n, struct err *e)
{
	_cleanup_(outfile_release) struct outfile o = OUTFILE_INIT;
	int r;

	if (io_is_special(path))
		return write_special(path, p, n, e);
	r = outfile_open(&o, path, e);
	if (r < 0)
		return r;
	r = write_temp(o.fd, path, p, n, e);
	if (r < 0)
		return r;
	r = outfile_commit(&o);
	return r < 0 ? err_sys(e, r, "cannot rename to '%s'", path) : 0;
}

bool io_exists(const char *path)
{
	return access(path, F_OK) == 0;
}
