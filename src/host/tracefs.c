/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/tracefs.h"

#include "base/io.h"
#include "base/parse.h"
#include "host/mount.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

static const char *const usual_places[] = {
	"/sys/kernel/tracing",
	"/sys/kernel/debug/tracing",
};

/* Opens @path if it is a tracefs: an empty directory of sysfs stands there otherwise. */
static int open_place(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) < 0)
		return -errno;
	if ((unsigned long)fs.f_type != TRACEFS_MAGIC)
		return -ENOENT;
	return TAKE_FD(fd);
}

int tracefs_open(struct tracefs *t, struct err *e)
{
	int first = -ENOENT, fd;

	for (size_t i = 0; i < ARRAY_SIZE(usual_places); i++) {
		fd = open_place(usual_places[i]);
		if (fd >= 0) {
			t->fd = fd;
			t->mounted = xstrdup(usual_places[i]);
			return 0;
		}
		if (fd != -ENOENT && first == -ENOENT)
			first = fd;
	}
	fd = mount_detached("tracefs");
	if (fd >= 0) {
		t->fd = fd;
		t->mounted = NULL;
		snprintf(t->own, sizeof(t->own), "/proc/self/fd/%d", fd);
		return 0;
	}
	if (first == -EACCES) {
		err_sys(e, EACCES, "cannot open tracefs");
		err_hint(e, "run as root or with CAP_DAC_READ_SEARCH");
		return -EACCES;
	}
	err_set(e, ENOENT, "tracefs is not mounted");
	err_hint(e, "mount -t tracefs nodev %s", usual_places[0]);
	return fd == -ENODEV ? -ENODEV : -ENOENT;
}

void tracefs_release(struct tracefs *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->mounted);
	t->fd = -1;
	t->mounted = NULL;
}

int tracefs_read_in(int dir, const char *file, size_t max, struct buf *ret, struct err *e)
{
	_cleanup_close_ int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);

	buf_reset(ret);
	if (fd < 0)
		return err_sys(e, errno, "cannot open tracefs file '%s'", file);
	return io_read_fd(fd, file, max, ret, e);
}

int tracefs_read(const struct tracefs *t, const char *file, size_t max, struct buf *ret,
		 struct err *e)
{
	return tracefs_read_in(t->fd, file, max, ret, e);
}

static bool plain_name(const char *s)
{
	return *s && !strchr(s, '/') && *s != '.';
}

int tracefs_event_id(const struct tracefs *t, const char *group, const char *event, u64 *ret,
		     struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *s, *end;
	char path[512];
	int n, r;

	n = snprintf(path, sizeof(path), "events/%s/%s/id", group, event);
	if (!plain_name(group) || !plain_name(event) || n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ENOENT, "no tracepoint '%s:%s'", group, event);
	r = tracefs_read(t, path, 64, &text, NULL);
	if (r == -ENOENT)
		return err_set(e, ENOENT, "no tracepoint '%s:%s'", group, event);
	if (r < 0)
		return err_sys(e, r, "cannot read tracefs file '%s'", path);
	s = buf_str(&text);
	end = s + text.len;
	if (!scan_u64(&s, end, 10, ret))
		return err_set(e, EBADMSG, "tracepoint '%s:%s' has no number", group, event);
	return 0;
}
