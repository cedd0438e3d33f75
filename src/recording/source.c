/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/source.h"

#include "base/io.h"

#include <fcntl.h>
#include <sys/stat.h>

int source_open_fd(struct source *s, int fd, const char *name, struct err *e)
{
	struct stat st;
	off_t pos;

	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "cannot read '%s'", name);
	*s = (struct source){ .fd = fd };
	pos = lseek(fd, 0, SEEK_CUR);
	if (S_ISREG(st.st_mode) && pos >= 0) {
		s->seekable = true;
		s->size = (u64)st.st_size;
	}
	return 0;
}

int source_open_path(struct source *s, const char *path, struct err *e)
{
	int fd, ret;

	if (streq(path, "-")) {
		if (isatty(STDIN_FILENO)) {
			ret = err_set(e, EINVAL, "cannot read a recording from a terminal");
			err_hint(e, "redirect a file or a pipe to standard input, or give -i FILE");
			return ret;
		}
		return source_open_fd(s, STDIN_FILENO, "standard input", e);
	}
	ret = io_open_read(path, &fd, e);
	if (ret == -EISDIR)
		err_hint(e, "'perf record --threads' writes folders; record without --threads");
	if (ret < 0)
		return ret;
	ret = source_open_fd(s, fd, path, e);
	if (ret < 0)
		close(fd);
	else
		s->own_fd = true;
	return ret;
}

void source_open_memory(struct source *s, const void *data, size_t size)
{
	*s = (struct source){ .fd = -1, .seekable = true, .memory = data, .size = size };
}

void source_release(struct source *s)
{
	if (s->own_fd)
		close(s->fd);
	*s = (struct source){ .fd = -1 };
}

static ssize_t read_some(struct source *s, void *buf, size_t n)
{
	if (s->fd < 0) {
		size_t left = s->pos < s->size ? s->size - s->pos : 0;

		n = MIN(n, left);
		if (n)
			memcpy(buf, s->memory + s->pos, n);
		return (ssize_t)n;
	}
	for (;;) {
		ssize_t got =
			s->seekable ? pread(s->fd, buf, n, (off_t)s->pos) : read(s->fd, buf, n);

		if (got >= 0)
			return got;
		if (errno != EINTR)
			return -errno;
	}
}

ssize_t source_read(struct source *s, void *buf, size_t min, size_t max)
{
	size_t done = 0;

	while (done < min) {
		ssize_t got = read_some(s, (char *)buf + done, max - done);

		if (got < 0)
			return done ? (ssize_t)done : got;
		if (got == 0)
			break;
		done += (size_t)got;
		s->pos += (u64)got;
	}
	return (ssize_t)done;
}

int source_seek(struct source *s, u64 pos)
{
	if (!s->seekable)
		return -ESPIPE;
	if (pos > INT64_MAX)
		return -EINVAL;
	s->pos = pos;
	return 0;
}

u64 source_skip(struct source *s, u64 n)
{
	char scratch[4096];
	u64 done = 0;

	if (s->seekable) {
		done = s->pos < s->size ? MIN(n, s->size - s->pos) : 0;
		s->pos += done;
		return done;
	}
	while (done < n) {
		ssize_t got = source_read(s, scratch, 1, MIN(n - done, sizeof(scratch)));

		if (got <= 0)
			break;
		done += (u64)got;
	}
	return done;
}

static int open_unnamed(void)
{
	static const char *const places[] = { "/var/tmp", "/tmp" };
	const char *dir = getenv("TMPDIR");
	int fd = dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(places); i++)
		fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int source_spool(struct source *s, const void *head, size_t head_size, struct err *e)
{
	enum { STEP = 256 << 10 };
	_cleanup_free_ char *step = xmalloc(STEP);
	_cleanup_close_ int fd = open_unnamed();
	u64 size = head_size;
	ssize_t got;
	int ret;

	if (fd < 0)
		return err_sys(e, fd, "cannot make a temporary file for the recording");
	ret = io_write_all(fd, head, head_size);
	while (ret >= 0) {
		got = source_read(s, step, 1, STEP);
		if (got < 0)
			return err_sys(e, (int)got, "cannot read standard input");
		if (got == 0)
			break;
		ret = io_write_all(fd, step, (size_t)got);
		size += (u64)got;
	}
	if (ret < 0)
		return err_sys(e, ret, "cannot write a temporary file for the recording");
	source_release(s);
	*s = (struct source){ .fd = TAKE_FD(fd), .own_fd = true, .seekable = true, .size = size };
	return 0;
}
