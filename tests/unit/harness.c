/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_S 20
#define OUTPUT_MAX        16384
#define NAME_MAX_LEN      256

enum verdict { VERDICT_NONE, VERDICT_FAIL, VERDICT_SKIP };

/* Shared with the child that runs a test. */
struct report {
	enum verdict verdict;
	char text[2048];
	char tmpdir[64];
};

/* What the parent learned about one child. */
struct outcome {
	int status;
	bool timed_out;
	size_t output_len;
	char output[OUTPUT_MAX + 1];
};

static struct test_case *tests_head;
static struct report *report;

void test_register(struct test_case *test)
{
	test->next = tests_head;
	tests_head = test;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "tests/unit/test_fold.c", "two_columns" -> "fold: two columns" */
static void full_name(const struct test_case *test, char *out, size_t size)
{
	const char *file = base_name(test->file);
	bool quoted = test->name[0] == '"';
	size_t name_len = strlen(test->name) - (quoted ? 2 : 0);

	if (!strncmp(file, "test_", 5))
		file += 5;
	int prefix = snprintf(out, size, "%.*s: ", (int)strcspn(file, "."), file);

	snprintf(out + prefix, size - (size_t)prefix, "%.*s", (int)name_len, test->name + quoted);
	for (char *p = out; *p; p++) {
		if (*p == '#' || (*p == '_' && !quoted && p >= out + prefix))
			*p = ' ';
	}
}

/* ---- inside the child -------------------------------------------------------------------- */

void test_fail(const char *file, int line, const char *fmt, ...)
{
	int n = snprintf(report->text, sizeof(report->text), "%s:%d: ", file, line);
	va_list args;

	va_start(args, fmt);
	vsnprintf(report->text + n, sizeof(report->text) - (size_t)n, fmt, args);
	va_end(args);
	report->verdict = VERDICT_FAIL;
	fflush(NULL);
	_exit(1);
}

void test_skip(const char *reason)
{
	snprintf(report->text, sizeof(report->text), "%s", reason);
	report->verdict = VERDICT_SKIP;
	fflush(NULL);
	_exit(0);
}

const char *test_tmpdir(void)
{
	if (report->tmpdir[0])
		return report->tmpdir;
	char path[sizeof(report->tmpdir)] = "/tmp/fathom-unit-XXXXXX";

	if (!mkdtemp(path))
		test_fail(__FILE__, __LINE__, "cannot make a temporary directory: %s",
			  strerror(errno));
	memcpy(report->tmpdir, path, sizeof(path));
	return report->tmpdir;
}

int test_make_dirs(const char *path)
{
	char copy[4096];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = c;
		if (!c)
			return 0;
	}
}

static void print_int(const struct test_int *v, char *out, size_t size)
{
	if (v->negative)
		snprintf(out, size, "%" PRId64, (int64_t)v->bits);
	else
		snprintf(out, size, "%" PRIu64 " (0x%" PRIx64 ")", v->bits, v->bits);
}

void test_check_eq(const char *file, int line, struct test_int a, struct test_int b)
{
	char left[64], right[64];

	if (a.negative == b.negative && a.bits == b.bits)
		return;
	print_int(&a, left, sizeof(left));
	print_int(&b, right, sizeof(right));
	test_fail(file, line, "%s is %s, not %s", a.text, left, right);
}

void test_check_str(const char *file, int line, const char *a, const char *b, const char *text)
{
	if (a == b || (a && b && !strcmp(a, b)))
		return;
	test_fail(file, line, "%s is %s%s%s, not %s%s%s", text, a ? "'" : "", a ? a : "NULL",
		  a ? "'" : "", b ? "'" : "", b ? b : "NULL", b ? "'" : "");
}

void test_check_mem(const char *file, int line, const void *a, const void *b, size_t size,
		    const char *text)
{
	const unsigned char *left = a, *right = b;

	for (size_t i = 0; i < size; i++) {
		if (left[i] != right[i])
			test_fail(file, line, "%s differs at byte %zu of %zu: 0x%02x, not 0x%02x",
				  text, i, size, left[i], right[i]);
	}
}

void test_check_near(const char *file, int line, double a, double b, double within,
		     const char *text)
{
	if (!(fabs(a - b) <= within))
		test_fail(file, line, "%s is %.17g, not within %g of %.17g", text, a, within, b);
}

/* exit() and not _exit(), so that the leak checker has its say. */
static void __attribute__((noreturn)) run_child(const struct test_case *test, int out_fd)
{
	setpgid(0, 0);
	dup2(out_fd, STDOUT_FILENO);
	dup2(out_fd, STDERR_FILENO);
	close(out_fd);
	test->run();
	exit(0);
}

/* ---- in the parent ----------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Reads what is there, and keeps the first OUTPUT_MAX bytes. Returns false at the end. */
static bool drain(int fd, struct outcome *out)
{
	char chunk[4096];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		if (n == 0)
			return false;
		size_t room = OUTPUT_MAX - out->output_len;
		size_t keep = (size_t)n < room ? (size_t)n : room;

		memcpy(out->output + out->output_len, chunk, keep);
		out->output_len += keep;
	}
}

/*
 * Waits on the child itself, not on the end of its output: a grandchild may hold the pipe open.
 */
static void wait_child(pid_t pid, int fd, unsigned int timeout_s, struct outcome *out)
{
	int64_t deadline = now_ms() + (int64_t)timeout_s * 1000;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[2] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	while (pidfd >= 0) {
		int64_t left = deadline - now_ms();

		if (left <= 0) {
			out->timed_out = true;
			break;
		}
		if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
			break;
		if (fds[1].revents && !drain(fd, out))
			fds[1].fd = -1;
		if (fds[0].revents)
			break;
	}
	if (out->timed_out)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &out->status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);
	drain(fd, out);
	if (pidfd >= 0)
		close(pidfd);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int run_test(const struct test_case *test, struct outcome *out)
{
	unsigned int timeout_s = test->timeout_s ? test->timeout_s : DEFAULT_TIMEOUT_S;
	int fds[2];

	memset(out, 0, sizeof(*out));
	memset(report, 0, sizeof(*report));
	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid_t pid = fork();

	if (pid < 0) {
		int ret = -errno;

		close(fds[0]);
		close(fds[1]);
		return ret;
	}
	if (pid == 0) {
		close(fds[0]);
		run_child(test, fds[1]);
	}
	setpgid(pid, pid);
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	wait_child(pid, fds[0], timeout_s, out);
	close(fds[0]);
	out->output[out->output_len] = '\0';
	if (report->tmpdir[0])
		nftw(report->tmpdir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* A sanitizer may report and continue, and the test may even have ended well. */
static bool sanitizer_spoke(const char *output)
{
	return strstr(output, ": runtime error: ") || strstr(output, "ERROR: AddressSanitizer") ||
	       strstr(output, "ERROR: LeakSanitizer") || strstr(output, "WARNING: ThreadSanitizer");
}

static bool outcome_is_good(const struct outcome *out)
{
	return !out->timed_out && report->verdict != VERDICT_FAIL && WIFEXITED(out->status) &&
	       WEXITSTATUS(out->status) == 0 && !sanitizer_spoke(out->output);
}

static void print_lines(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		printf("# %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void explain(const struct test_case *test, const struct outcome *out)
{
	if (report->verdict == VERDICT_FAIL) {
		print_lines(report->text);
	} else if (out->timed_out) {
		printf("# %s:%d: timed out after %u s\n", test->file, test->line,
		       test->timeout_s ? test->timeout_s : DEFAULT_TIMEOUT_S);
	} else if (WIFSIGNALED(out->status)) {
		printf("# %s:%d: killed by signal %d (%s)\n", test->file, test->line,
		       WTERMSIG(out->status), strsignal(WTERMSIG(out->status)));
	} else {
		printf("# %s:%d: ended with status %d\n", test->file, test->line,
		       WEXITSTATUS(out->status));
	}
	print_lines(out->output);
	if (out->output_len == OUTPUT_MAX)
		printf("# (output cut after %d bytes)\n", OUTPUT_MAX);
}

/* Returns whether the test passed or was skipped. */
static bool run_and_print(const struct test_case *test, size_t number, struct outcome *out)
{
	char name[NAME_MAX_LEN];
	int ret = run_test(test, out);

	full_name(test, name, sizeof(name));
	if (ret < 0) {
		printf("not ok %zu - %s\n# cannot start: %s\n", number, name, strerror(-ret));
		return false;
	}
	bool good = outcome_is_good(out);

	if (good && report->verdict == VERDICT_SKIP) {
		printf("ok %zu - %s # SKIP %s\n", number, name, report->text);
		return true;
	}
	printf("%s %zu - %s\n", good ? "ok" : "not ok", number, name);
	if (!good)
		explain(test, out);
	return good;
}

static bool is_wanted(const struct test_case *test, char *const *globs)
{
	char name[NAME_MAX_LEN];

	if (!*globs)
		return true;
	full_name(test, name, sizeof(name));
	for (; *globs; globs++) {
		if (!fnmatch(*globs, name, 0) || !strncmp(name, *globs, strlen(*globs)))
			return true;
	}
	return false;
}

static int compare_tests(const void *a, const void *b)
{
	const struct test_case *const *left = a, *const *right = b;
	int order = strcmp((*left)->file, (*right)->file);

	return order ? order : (*left)->line - (*right)->line;
}

static struct test_case **select_tests(char *const *globs, size_t *ret_count)
{
	size_t count = 0, total = 0;

	for (struct test_case *t = tests_head; t; t = t->next)
		total++;
	struct test_case **list = calloc(total + 1, sizeof(struct test_case *));

	if (!list)
		abort();
	for (struct test_case *t = tests_head; t; t = t->next) {
		if (is_wanted(t, globs))
			list[count++] = t;
	}
	qsort(list, count, sizeof(struct test_case *), compare_tests);
	*ret_count = count;
	return list;
}

static void list_tests(struct test_case *const *list, size_t count)
{
	char name[NAME_MAX_LEN];

	for (size_t i = 0; i < count; i++) {
		full_name(list[i], name, sizeof(name));
		printf("%s:%d: %s\n", list[i]->file, list[i]->line, name);
	}
}

static size_t run_all(struct test_case *const *list, size_t count)
{
	struct outcome *out = calloc(1, sizeof(*out));
	size_t failed = 0;

	if (!out)
		abort();
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++)
		failed += !run_and_print(list[i], i + 1, out);
	fflush(stdout);
	free(out);
	return failed;
}

int main(int argc, char **argv)
{
	bool list_only = argc > 1 && !strcmp(argv[1], "-l");
	size_t count, failed = 0;

	if (argc > 1 && argv[1][0] == '-' && !list_only) {
		fprintf(stderr, "usage: %s [-l] [name or glob]...\n", argv[0]);
		return 2;
	}
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	struct test_case **list = select_tests(argv + 1 + list_only, &count);

	if (list_only)
		list_tests(list, count);
	else
		failed = run_all(list, count);
	free(list);
	munmap(report, sizeof(*report));
	if (!count)
		fprintf(stderr, "no test matches\n");
	return failed || !count ? 1 : 0;
}
