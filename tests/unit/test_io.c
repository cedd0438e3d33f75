/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/safedir.h"
#include "base/json.h"
#include "base/stop.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static char *in_tmp(const char *name)
{
	return xasprintf("%s/%s", test_tmpdir(), name);
}

TEST("a /proc file is read whole although its size says 0")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	CHECK_EQ(io_read_file("/proc/self/maps", IO_MAX_PROC, &b, NULL), 0);
	CHECK(b.len > 100);
	CHECK(strstr(buf_str(&b), "[stack]"));
}

TEST("the path of what is open, also when it is deleted")
{
	_cleanup_free_ char *path = in_tmp("open"), *moved = in_tmp("moved");
	_cleanup_buf_ struct buf got = BUF_INIT, real = BUF_INIT;
	_cleanup_close_ int fd = -1, dir = open(test_tmpdir(), O_RDONLY | O_CLOEXEC);

	CHECK_EQ(io_write_file_atomic(path, "x", 1, NULL), 0);
	CHECK_EQ(io_open_read(path, &fd, NULL), 0);
	CHECK_EQ(io_fd_path(dir, &real), 0);
	CHECK_EQ(rename(path, moved), 0);
	buf_addstr(&real, "/moved");
	CHECK_EQ(io_fd_path(fd, &got), 0);
	CHECK_STR(buf_str(&got), buf_str(&real));
	CHECK_EQ(unlink(moved), 0);
	CHECK_EQ(io_fd_path(fd, &got), 0);
	CHECK_STR(buf_str(&got), buf_str(&real));
	CHECK_EQ(io_fd_path(-1, &got), -ENOENT);
	CHECK_STR(buf_str(&got), buf_str(&real));
}

TEST("a part of a file is read whole or not at all")
{
	_cleanup_free_ char *path = in_tmp("part");
	_cleanup_close_ int fd = -1;
	char bytes[4];

	CHECK_EQ(io_write_file_atomic(path, "0123456789", 10, NULL), 0);
	CHECK_EQ(io_open_read(path, &fd, NULL), 0);
	CHECK_EQ(io_pread_all(fd, 6, bytes, 4), 0);
	CHECK(memcmp(bytes, "6789", 4) == 0);
	CHECK_EQ(io_pread_all(fd, 7, bytes, 4), -ERANGE);
	CHECK_EQ(io_pread_all(-1, 0, bytes, 4), -EBADF);
}

TEST("a file larger than the cap is refused")
{
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_free_ char *path = in_tmp("f");

	CHECK_EQ(io_write_file_atomic(path, "0123456789", 10, NULL), 0);
	CHECK_EQ(io_read_file(path, 9, &b, &e), -EFBIG);
	CHECK(strstr(e.what, "is larger than 9 bytes"));
	CHECK_EQ(io_read_file(path, 10, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "0123456789");
}

TEST("what cannot be read says why")
{
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_buf_ struct buf b = BUF_INIT;

	CHECK_EQ(io_read_file("/no/such/file", 10, &b, &e), -ENOENT);
	CHECK_STR(e.what, "cannot open '/no/such/file': no such file or directory");
	CHECK_EQ(io_read_file("/proc", 10, &b, &e), -EISDIR);
	CHECK_STR(e.what, "cannot read '/proc': it is a directory");
}

TEST("an atomic write replaces the whole file and leaves no other")
{
	_cleanup_free_ char *path = in_tmp("f");
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct stat st;

	CHECK_EQ(io_write_file_atomic(path, "long content", 12, NULL), 0);
	CHECK_EQ(io_write_file_atomic(path, "new", 3, NULL), 0);
	CHECK_EQ(io_read_line(path, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "new");
	CHECK_EQ(stat(test_tmpdir(), &st), 0);
	CHECK_EQ(io_write_file_atomic("/no/such/dir/f", "x", 1, &e), -ENOENT);
}

TEST("what is special is written to, and a link stays a link")
{
	_cleanup_free_ char *path = in_tmp("target"), *link = in_tmp("link"), *fifo = in_tmp("p");
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_close_ int fd = -1;
	struct stat st;
	char bytes[4] = "";

	CHECK_EQ(io_write_file_atomic("/dev/full", "x", 1, &e), -ENOSPC);
	CHECK_EQ(stat("/dev/full", &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK(io_is_special("/dev/full") && !io_is_special(test_tmpdir()));

	CHECK_EQ(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(io_write_file_atomic(fifo, "abc", 3, NULL), 0);
	CHECK_EQ(read(fd, bytes, 3), 3);
	CHECK_STR(bytes, "abc");

	CHECK_EQ(io_write_file_atomic(path, "old", 3, NULL), 0);
	CHECK_EQ(symlink(path, link), 0);
	CHECK_EQ(io_write_file_atomic(link, "new", 3, NULL), 0);
	CHECK_EQ(lstat(link, &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	CHECK_EQ(io_read_line(path, &b, NULL), 0);
	CHECK_STR(buf_str(&b), "new");
}

TEST("files keep to the mask of the process")
{
	_cleanup_free_ char *path = in_tmp("private");
	mode_t old = umask(077);
	struct stat st;

	CHECK_EQ(io_write_file_atomic(path, "x", 1, NULL), 0);
	umask(old);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
}

TEST("numbers and directories")
{
	_cleanup_free_ char *path = in_tmp("n");
	_cleanup_err_ struct err e = ERR_INIT;
	u64 v;

	CHECK_EQ(io_write_file_atomic(path, "42\n", 3, NULL), 0);
	CHECK_EQ(io_read_u64(path, &v, NULL), 0);
	CHECK_EQ(v, 42);
	CHECK_EQ(io_write_file_atomic(path, "4x\n", 3, NULL), 0);
	CHECK_EQ(io_read_u64(path, &v, &e), -EINVAL);
	CHECK(strstr(e.what, path));
}

TEST("the cache lives where XDG says")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_free_ char *want = in_tmp("fathom/symbols");

	setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
	CHECK_EQ(safedir_cache_path("symbols", &b, NULL), 0);
	CHECK_STR(buf_str(&b), want);
}

TEST("json nests, separates and escapes")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct json j;

	json_init(&j, &b, false);
	json_open(&j);
	json_kv_str(&j, "a\"b", "x\n\x01\xff\xc3\xa9");
	json_key(&j, "list");
	json_array(&j);
	json_u64(&j, UINT64_MAX);
	json_s64(&j, -1);
	json_double(&j, 0.5);
	json_double(&j, 1.0 / 0.0);
	json_null(&j);
	json_open(&j);
	json_close(&j);
	json_end(&j);
	json_kv_bool(&j, "t", true);
	json_close(&j);
	CHECK_STR(buf_str(&b), "{\"a\\\"b\":\"x\\n\\u0001\xef\xbf\xbd\xc3\xa9\",\"list\":"
			       "[18446744073709551615,-1,0.5,null,null,{}],\"t\":true}");
}

TEST("a signal before poll is not missed")
{
	struct pollfd p;

	CHECK_EQ(stop_install(NULL), 0);
	CHECK(!stop_requested());
	raise(SIGINT);
	CHECK(stop_requested());
	CHECK_EQ(stop_signal(), SIGINT);
	p = (struct pollfd){ .fd = stop_fd(), .events = POLLIN };
	CHECK_EQ(poll(&p, 1, 5000), 1);
	u64 before = clock_mono_ns();
	clock_sleep_ns(10 * NSEC_PER_SEC);
	CHECK(clock_mono_ns() - before < NSEC_PER_SEC);
}

/* The status of a process that gets @first and, after @pause, @second; 0 when it lives on. */
static int status_of_two(int first, u64 pause, int second)
{
	struct timespec t = { .tv_nsec = (long)pause };
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		stop_install(NULL);
		raise(first);
		nanosleep(&t, NULL);
		raise(second);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST("a second signal ends the process at once")
{
	CHECK_EQ(status_of_two(SIGTERM, 150 * NSEC_PER_MSEC, SIGTERM), 128 + SIGTERM);
	CHECK_EQ(status_of_two(SIGINT, 0, SIGTERM), 128 + SIGTERM);
}

TEST("the echo of a signal, as of timeout(1), does not")
{
	int tries = 20; /* a machine under load may keep the two apart for longer than an echo is */

	while (status_of_two(SIGINT, 0, SIGINT) && --tries)
		;
	CHECK(tries);
}

TEST("sleeping takes the time asked for")
{
	u64 before = clock_mono_ns(), took;

	clock_sleep_ns(20 * NSEC_PER_MSEC);
	took = clock_mono_ns() - before;
	CHECK(took >= 20 * NSEC_PER_MSEC);
	CHECK(clock_wall_ns() > 1600000000ull * NSEC_PER_SEC);
	CHECK(clock_cpu_ns() > 0);
}
