/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/safedir.h"

#include "base/io.h"
#include "base/outfile.h"
#include "base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { NAME_MOST = 255, OTHERS_CAN_WRITE = 022 };

/* A directory above ours: others may create files in it only if they cannot replace ours. */
static bool step_is_safe(const struct stat *st)
{
	const uid_t me = geteuid();

	if (!S_ISDIR(st->st_mode) || (st->st_uid != 0 && st->st_uid != me))
		return false;
	if (st->st_mode & S_ISVTX)
		return true;
	/* a user's private group may write to their home, no other user's group to root's */
	return !(st->st_mode & (me ? (mode_t)S_IWOTH : (mode_t)OTHERS_CAN_WRITE));
}

static int refuse(const char *path, size_t len, const char *why, struct err *e)
{
	return err_set(e, EPERM, "the directory '%.*s' is not safe: %s", (int)len, path, why);
}

/* One component below @at; made if it is missing. */
static int step(int at, const char *name, struct err *e)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return err_sys(e, errno, "cannot create the directory '%s'", name);
		fd = openat(at, name, flags);
	}
	return fd < 0 ? err_sys(e, errno, "cannot open the directory '%s'", name) : fd;
}

static int walk(const char *path, struct err *e)
{
	_cleanup_close_ int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	for (const char *p = path + strspn(path, "/"); *p; p += strspn(p, "/")) {
		char name[NAME_MOST + 1] = { 0 };
		const size_t n = strcspn(p, "/");
		int next;

		if (n > NAME_MOST)
			return err_sys(e, ENAMETOOLONG, "cannot open '%s'", path);
		memcpy(name, p, n);
		if (streq(name, "..") || streq(name, "."))
			return err_set(e, EINVAL, "'%s' has '%s' in it", path, name);
		next = step(at, name, e);
		if (next < 0)
			return next;
		close(at);
		at = next;
		p += n;
		if (fstat(at, &st) < 0)
			return err_sys(e, errno, "cannot stat '%s'", path);
		if (!step_is_safe(&st))
			return refuse(path, (size_t)(p - path),
				      "another user can write to it or owns it", e);
	}
	return TAKE_FD(at);
}

int safedir_open(const char *path, struct err *e)
{
	_cleanup_close_ int at = -1;
	struct stat st;
	int fd;

	if (path[0] != '/')
		return err_set(e, EINVAL, "'%s' is not an absolute path", path);
	at = walk(path, e);
	if (at < 0)
		return at;
	if (fstat(at, &st) < 0)
		return err_sys(e, errno, "cannot stat '%s'", path);
	if (st.st_uid != geteuid() || (st.st_mode & OTHERS_CAN_WRITE))
		return refuse(path, strlen(path), "it must be ours alone to write to", e);
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, errno, "cannot open '%s'", path) : fd;
}

/* @base may have links in it: what they lead to is checked. */
static bool try_base(const char *base, const char *below, struct buf *ret, struct err *e)
{
	_cleanup_free_ char *real = base && base[0] == '/' && base[1] ? realpath(base, NULL) : NULL;
	_cleanup_close_ int fd = -1;

	if (!base || base[0] != '/' || !base[1])
		return false;
	buf_reset(ret);
	buf_addf(ret, "%s%s", real ? real : base, below);
	err_release(e);
	fd = safedir_open(buf_str(ret), e);
	return fd >= 0;
}

int safedir_cache_path(const char *name, struct buf *ret, struct err *e)
{
	_cleanup_err_ struct err why = ERR_INIT;

	if (!try_base(getenv("XDG_CACHE_HOME"), "/fathom", ret, &why) &&
	    !try_base(getenv("HOME"), "/.cache/fathom", ret, &why) &&
	    !try_base("/var/cache", "/fathom", ret, &why))
		return err_set(e, why.code ? why.code : EPERM, "%s", why.what);
	if (name)
		buf_addf(ret, "/%s", name);
	return 0;
}

int safedir_open_file(int dir, const char *name, u64 max, u64 *ret_size)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & OTHERS_CAN_WRITE) ||
	    (u64)st.st_size > max)
		return -EPERM;
	*ret_size = (u64)st.st_size;
	(void)futimens(fd, NULL); /* the least recently used go first */
	return TAKE_FD(fd);
}

int safedir_write(int dir, const char *name, const void *bytes, size_t n)
{
	char temp[OUTFILE_TEMP];
	_cleanup_close_ int fd = outfile_temp(dir, temp);
	int r;

	if (fd < 0)
		return fd;
	r = io_write_all(fd, bytes, n);
	if (r >= 0 && renameat(dir, temp, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, temp, 0);
	return r;
}

bool safedir_each(int dir, bool (*each)(void *ctx, const char *name), void *ctx)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool done = false;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!done && (entry = readdir(d)))
		done = each(ctx, entry->d_name);
	closedir(d);
	return done;
}

struct used_file {
	char name[NAME_MOST + 1];
	struct timespec used;
	u64 size;
};

struct usage {
	int dir;
	bool (*ours)(const char *name);
	VEC(struct used_file) files;
	u64 total;
};

static u64 charge_of(u64 size)
{
	return MAX(size, (u64)SAFEDIR_FILE_LEAST);
}

static bool add_usage(void *ctx, const char *name)
{
	struct usage *u = ctx;
	struct used_file f = { 0 };
	struct stat st;

	if ((!u->ours(name) && !starts_with(name, OUTFILE_TEMP_PREFIX)) ||
	    strlen(name) > NAME_MOST || fstatat(u->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	memcpy(f.name, name, strlen(name));
	f.used = st.st_mtim;
	f.size = charge_of((u64)st.st_size);
	u->total += f.size;
	vec_push(&u->files, f);
	return false;
}

static int oldest_first(const void *a, const void *b)
{
	const struct used_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

void safedir_trim(int dir, u64 room, u64 most, bool (*ours)(const char *name))
{
	struct usage u = { .dir = dir, .ours = ours, .total = room };

	safedir_each(dir, add_usage, &u);
	if (u.total > most)
		vec_sort(&u.files, oldest_first);
	for (size_t i = 0; i < u.files.len && u.total > most; i++) {
		if (unlinkat(dir, u.files.items[i].name, 0) == 0)
			u.total -= u.files.items[i].size;
	}
	vec_release(&u.files);
}

/* How much was written since the last look is in a file there: all processes add to it. */
void safedir_make_room(int dir, u64 size, u64 most, bool (*ours)(const char *name))
{
	_cleanup_close_ int fd =
		openat(dir, SAFEDIR_WRITTEN,
		       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	u64 written = 0, charge = charge_of(size);
	bool known = fd >= 0 && pread(fd, &written, sizeof(written), 0) == sizeof(written);

	if (!known || written >= SAFEDIR_LOOK || charge >= SAFEDIR_LOOK - written) {
		safedir_trim(dir, charge, most, ours);
		written = 0;
	}
	written += charge;
	if (fd >= 0 && pwrite(fd, &written, sizeof(written), 0) < 0)
		(void)unlinkat(dir, SAFEDIR_WRITTEN, 0);
}
