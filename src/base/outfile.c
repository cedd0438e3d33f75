/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/outfile.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { NAME_MOST = 255, LINKS_MOST = 16, TEMP_TRIES = 16, PATH_MOST = 4096 };

int outfile_temp(int dir, char ret[OUTFILE_TEMP])
{
	for (int i = 0; i < TEMP_TRIES; i++) {
		u64 number;
		int fd;

		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
			number = clock_mono_ns();
		snprintf(ret, OUTFILE_TEMP, OUTFILE_TEMP_PREFIX "%016llx",
			 (unsigned long long)number);
		fd = openat(dir, ret, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* A walk down a path: the directory reached, and what is left of the path. */
struct walk {
	int dir;
	struct buf rest;
	unsigned int links;
};

static void walk_release(struct walk *w)
{
	if (w->dir >= 0)
		close(w->dir);
	buf_release(&w->rest);
}

static int enter(struct walk *w, int fd)
{
	if (fd < 0)
		return -errno;
	if (w->dir >= 0)
		close(w->dir);
	w->dir = fd;
	return 0;
}

static int begin(struct walk *w)
{
	const char *start = buf_str(&w->rest)[0] == '/' ? "/" : ".";

	if (start[0] != '/' && w->dir >= 0)
		return 0; /* a link's relative target */
	return enter(w, open(start, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* The link's target comes in place of its name. */
static int follow(struct walk *w, int link, const char *after)
{
	char target[PATH_MOST];
	_cleanup_free_ char *rest = NULL;
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);

	if (n < 0 || ++w->links > LINKS_MOST)
		return n < 0 ? -errno : -ELOOP;
	target[n] = '\0';
	rest = xasprintf("%s%s", target, after);
	buf_reset(&w->rest);
	buf_addstr(&w->rest, rest);
	return begin(w);
}

static bool is_trusted_link(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/*
 * Takes one name off the path. 1: it was the last, and is in @name; 0: there is more; -EPERM: it is
 * a link of another user on the way.
 */
static int take_step(struct walk *w, char name[NAME_MOST + 1])
{
	const char *p = buf_str(&w->rest) + strspn(buf_str(&w->rest), "/");
	const size_t n = strcspn(p, "/");
	const char *after = p + n;
	bool last = !after[strspn(after, "/")];
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!n || n > NAME_MOST)
		return n ? -ENAMETOOLONG : -EISDIR;
	memcpy(name, p, n);
	name[n] = '\0';
	fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return last && errno == ENOENT ? 1 : -errno;
	if (S_ISLNK(st.st_mode) && is_trusted_link(&st))
		return follow(w, fd, after);
	if (last)
		return S_ISDIR(st.st_mode) ? -EISDIR : 1;
	if (S_ISLNK(st.st_mode))
		return -EPERM;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	p = xasprintf("%s", after);
	buf_reset(&w->rest);
	buf_addstr(&w->rest, p);
	free((void *)(uintptr_t)p);
	return enter(w, TAKE_FD(fd));
}

int outfile_open(struct outfile *o, const char *path, struct err *e)
{
	_cleanup_(walk_release) struct walk w = { .dir = -1 };
	char name[NAME_MOST + 1] = "";
	int r;

	*o = (struct outfile)OUTFILE_INIT;
	buf_addstr(&w.rest, path);
	r = begin(&w);
	while (r == 0)
		r = take_step(&w, name);
	if (r == -EPERM) {
		err_set(e, EPERM, "cannot create '%s': a link of another user is in the way", path);
		err_hint(e, "name the directory that the link leads to, if you trust it");
		return -EPERM;
	}
	if (r < 0)
		return io_cannot_create(path, -r, e);
	o->fd = outfile_temp(w.dir, o->temp);
	if (o->fd < 0)
		return io_cannot_create(path, -o->fd, e);
	o->dir = w.dir;
	w.dir = -1;
	o->name = xstrdup(name);
	return 0;
}

int outfile_commit(struct outfile *o)
{
	if (renameat(o->dir, o->temp, o->dir, o->name) < 0)
		return -errno;
	o->temp[0] = '\0';
	return 0;
}

void outfile_release(struct outfile *o)
{
	if (o->dir >= 0 && o->temp[0])
		(void)unlinkat(o->dir, o->temp, 0);
	if (o->fd >= 0)
		close(o->fd);
	if (o->dir >= 0)
		close(o->dir);
	free(o->name);
	*o = (struct outfile)OUTFILE_INIT;
}
