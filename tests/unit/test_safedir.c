/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories that others may have prepared: nothing outside of ours is read, written or deleted.
 */
#include "unit/harness.h"

#include "base/io.h"
#include "base/safedir.h"

#include "symbol/symbol.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

static const char *at(const char *name)
{
	static char path[4][512];
	static unsigned int turn;
	char *to = path[turn++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", test_tmpdir(), name);
	return to;
}

static bool accept_all(const char *name)
{
	return ends_with(name, ".sym");
}

TEST(a_directory_is_made_and_is_ours_alone)
{
	_cleanup_close_ int fd = safedir_open(at("a/b/c"), NULL);
	struct stat st;

	CHECK(fd >= 0);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0700);
}

TEST(a_link_in_the_path_is_refused)
{
	CHECK_EQ(mkdir(at("real"), 0700), 0);
	CHECK_EQ(symlink(at("real"), at("link")), 0);
	CHECK(safedir_open(at("link"), NULL) < 0);
	CHECK(safedir_open(at("link/below"), NULL) < 0);
	CHECK(!io_exists(at("real/below")));
}

TEST(a_directory_that_others_can_write_to_is_refused)
{
	CHECK_EQ(mkdir(at("open"), 0700), 0);
	CHECK_EQ(chmod(at("open"), 0777), 0);
	CHECK_EQ(safedir_open(at("open"), NULL), -EPERM);
	CHECK_EQ(safedir_open(at("open/below"), NULL), -EPERM);
	/* /tmp: others can create there, but not replace what is ours */
	CHECK_EQ(chmod(at("open"), 01777), 0);
	CHECK_EQ(safedir_open(at("open"), NULL), -EPERM);
	_cleanup_close_ int fd = safedir_open(at("open/below"), NULL);

	CHECK(fd >= 0);
}

TEST(a_directory_of_another_user_is_refused)
{
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_EQ(mkdir(at("other"), 0700), 0);
	CHECK_EQ(chown(at("other"), 1, 1), 0);
	CHECK_EQ(safedir_open(at("other/below"), NULL), -EPERM);
	CHECK(!io_exists(at("other/below")));
}

TEST(root_uses_no_cache_below_the_home_of_another_user)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_EQ(mkdir(at("home"), 0755), 0);
	CHECK_EQ(chown(at("home"), 1, 1), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", at("home"), 1);
	CHECK_EQ(safedir_cache_path("symbols", &b, NULL), 0);
	CHECK_STR(buf_str(&b), "/var/cache/fathom/symbols");
	CHECK(!io_exists(at("home/.cache")));
}

TEST(only_names_of_ours_are_deleted)
{
	_cleanup_close_ int fd = safedir_open(at("cache"), NULL);

	CHECK_EQ(io_write_file_atomic(at("cache/id_rsa"), "secret", 6, NULL), 0);
	CHECK_EQ(io_write_file_atomic(at("cache/a.sym"), "123456", 6, NULL), 0);
	CHECK_EQ(mkdir(at("elsewhere"), 0700), 0);
	CHECK_EQ(io_write_file_atomic(at("elsewhere/b.sym"), "123456", 6, NULL), 0);
	CHECK_EQ(symlink(at("elsewhere/b.sym"), at("cache/b.sym")), 0);
	safedir_trim(fd, 1, 1, accept_all);
	CHECK(io_exists(at("cache/id_rsa")));
	CHECK(!io_exists(at("cache/a.sym")));
	CHECK(io_exists(at("elsewhere/b.sym")));
}

static size_t names_seen;

static bool count_name(const char *name)
{
	names_seen++;
	return accept_all(name);
}

/* A machine that builds programs writes thousands of files; each must not cost a look at all. */
TEST(the_price_of_a_file_does_not_grow_with_the_cache)
{
	enum { FILES = 100, WRITES = 4000, LOOKS_MOST = 12 };
	_cleanup_close_ int fd = safedir_open(at("cache"), NULL);
	char name[32];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%d.sym", i);
		CHECK_EQ(safedir_write(fd, name, "123456", 6), 0);
	}
	names_seen = 0;
	for (int i = 0; i < WRITES; i++)
		safedir_make_room(fd, 6, 1 << 30, count_name);
	CHECK(names_seen < (size_t)LOOKS_MOST * FILES);
	/* but what is too much goes, and small files count as more than their bytes */
	CHECK_EQ(utimensat(fd, "99.sym", (struct timespec[2]){ { 0, 0 }, { INT32_MAX, 0 } }, 0), 0);
	for (int i = 0; i < SAFEDIR_LOOK / SAFEDIR_FILE_LEAST; i++)
		safedir_make_room(fd, 6, 2 * SAFEDIR_FILE_LEAST, count_name);
	CHECK(!io_exists(at("cache/0.sym")));
	CHECK(io_exists(at("cache/99.sym")));
}

TEST(a_file_is_replaced_and_not_written_through)
{
	_cleanup_close_ int fd = safedir_open(at("cache"), NULL);
	_cleanup_buf_ struct buf b = BUF_INIT;
	u64 size;

	CHECK_EQ(io_write_file_atomic(at("target"), "theirs", 6, NULL), 0);
	CHECK_EQ(symlink(at("target"), at("cache/x.sym")), 0);
	CHECK(safedir_open_file(fd, "x.sym", 100, &size) < 0);
	CHECK_EQ(safedir_write(fd, "x.sym", "ours", 4), 0);
	CHECK_EQ(io_read_file(at("target"), 100, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "theirs");
	_cleanup_close_ int file = safedir_open_file(fd, "x.sym", 100, &size);

	CHECK(file >= 0);
	CHECK_EQ(size, 4);
}

/* Somebody puts a link there between our look and our write: the link goes, its target stays. */
TEST(an_output_file_replaces_a_link_of_another_user)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_EQ(io_write_file_atomic(at("victim"), "precious", 8, NULL), 0);
	CHECK_EQ(symlink(at("victim"), at("out")), 0);
	CHECK_EQ(lchown(at("out"), 1, 1), 0);
	CHECK_EQ(io_write_file_atomic(at("out"), "new", 3, NULL), 0);
	CHECK_EQ(io_read_file(at("victim"), 100, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "precious");
	CHECK_EQ(io_read_file(at("out"), 100, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "new");
}

TEST(a_directory_that_is_a_link_of_another_user_is_refused)
{
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK_EQ(mkdir(at("etc"), 0755), 0);
	CHECK_EQ(symlink(at("etc"), at("dir")), 0);
	CHECK_EQ(io_write_file_atomic(at("dir/mine"), "x", 1, NULL), 0);
	CHECK_EQ(lchown(at("dir"), 1, 1), 0);
	CHECK_EQ(io_write_file_atomic(at("dir/shadow"), "x", 1, NULL), -EPERM);
	CHECK(!io_exists(at("etc/shadow")));
}

TEST(links_of_our_own_are_followed)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	CHECK_EQ(io_write_file_atomic(at("file"), "old", 3, NULL), 0);
	CHECK_EQ(symlink("file", at("link")), 0);
	CHECK_EQ(io_write_file_atomic(at("link"), "new", 3, NULL), 0);
	CHECK_EQ(io_read_file(at("file"), 100, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "new");
}

/* To open a device may already do something: what is not a regular file is only checked. */
TEST(special_files_are_not_opened)
{
	_cleanup_close_ int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char event[512];

	CHECK_EQ(mkfifo(at("pipe"), 0600), 0);
	CHECK_EQ(io_write_file_atomic(at("plain"), "x", 1, NULL), 0);
	CHECK(inotify_add_watch(watch, at("pipe"), IN_OPEN) >= 0);
	CHECK_EQ(io_open_regular(AT_FDCWD, at("pipe")), -EINVAL);
	CHECK_EQ(read(watch, event, sizeof(event)), -1);
	CHECK_EQ(io_open_regular(AT_FDCWD, "/dev/null"), -EINVAL);
	CHECK_EQ(io_open_regular(AT_FDCWD, "/proc/self/root/dev/null"), -EINVAL);
	_cleanup_close_ int fd = io_open_regular(AT_FDCWD, at("plain"));

	CHECK(fd >= 0);
}

/* A recording names the files of its processes: any path. */
TEST(a_recording_does_not_make_us_open_devices)
{
	struct symbols *s = symbols_new(&(struct symbols_opts){ .no_debug_files = true });
	_cleanup_close_ int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	_cleanup_free_ char *path = xasprintf("/proc/self/root%s", at("pipe"));
	char event[512];
	struct symbol sym;

	CHECK_EQ(mkfifo(at("pipe"), 0600), 0);
	CHECK(inotify_add_watch(watch, at("pipe"), IN_OPEN) >= 0);
	CHECK(!symbols_lookup(s, symbols_module(s, &(struct module_key){ .path = path }), 0, &sym));
	CHECK_EQ(read(watch, event, sizeof(event)), -1);
	symbols_free(s);
}
