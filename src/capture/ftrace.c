/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/ftrace.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "host/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define PREFIX "fathom-"

enum { FILE_MOST = 4 << 20, PAGE_MOST = 64 << 10, CPUS_MOST = 8192 };

/* Written in this order to bring a top level back to rest. */
static const struct {
	const char *file;
	const char *text;
} at_rest[] = {
	{ "tracing_on", "0" },
	{ "current_tracer", "nop" },
	{ "events/enable", "0" },
	{ "set_event_pid", "" },
	{ "set_ftrace_pid", "" },
	{ "set_ftrace_filter", "" },
	{ "set_ftrace_notrace", "" },
	{ "set_graph_function", "" },
	{ "set_graph_notrace", "" },
	{ "max_graph_depth", "0" },
	{ "tracing_thresh", "0" },
	{ "options/funcgraph-irqs", "1" },
	{ "options/sleep-time", "1" },
	{ "options/function-fork", "0" },
	{ "options/event-fork", "0" },
	{ "options/overwrite", "1" },
	{ "options/func_stack_trace", "0" },
	{ "trace_clock", "local" },
	{ "trace", "" },
	{ "tracing_on", "1" },
};

/* 0 or -errno. Opening with O_TRUNC empties lists, as a shell's ">" does. */
static int write_at(int dir, const char *file, enum ftrace_how how, const char *text)
{
	int flags = O_WRONLY | O_CLOEXEC | (how == FTRACE_ADD ? O_APPEND : O_TRUNC);
	_cleanup_close_ int fd = openat(dir, file, flags);

	if (fd < 0)
		return -errno;
	return *text ? io_write_all(fd, text, strlen(text)) : 0;
}

int ftrace_write(const struct ftrace *f, const char *file, enum ftrace_how how, const char *text,
		 struct err *e)
{
	int r = write_at(f->dir, file, how, text);

	if (r >= 0)
		return 0;
	err_sys(e, -r, "cannot write '%s' to tracefs file '%s'", text, file);
	if (r == -EPERM || r == -EACCES)
		err_hint(e, "the kernel refuses it: not root, tracefs is read-only, or the kernel "
			    "is locked down");
	return r;
}

bool ftrace_has(const struct ftrace *f, const char *file)
{
	return faccessat(f->dir, file, F_OK, 0) == 0;
}

int ftrace_read(const struct ftrace *f, const char *file, size_t max, struct buf *ret,
		struct err *e)
{
	return tracefs_read_in(f->dir, file, max, ret, e);
}

/* --- the place ------------------------------------------------------------------------------ */

/* The process that an instance's name tells of; 0: not one of ours. */
static u32 owner_of(const char *instance)
{
	const char *number = starts_with(instance, PREFIX), *end;
	u64 pid;

	if (!number)
		return 0;
	end = number + strlen(number);
	return scan_u64(&number, end, 10, &pid) && number == end && pid <= INT32_MAX ? (u32)pid : 0;
}

static bool is_alive(u32 pid)
{
	char comm[PROCFS_COMM];

	return procfs_comm(pid, 0, comm) >= 0 && starts_with(comm, "fathom");
}

static void clean_in(int instances, u32 *ret_removed, u32 *ret_busy)
{
	int copy = openat(instances, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *d;

	*ret_removed = *ret_busy = 0;
	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((d = readdir(dir))) {
		u32 pid = owner_of(d->d_name);

		if (!pid || is_alive(pid))
			continue;
		if (unlinkat(instances, d->d_name, AT_REMOVEDIR) == 0)
			++*ret_removed;
		else
			++*ret_busy;
	}
	closedir(dir);
}

int ftrace_clean(u32 *ret_removed, u32 *ret_busy, struct err *e)
{
	struct tracefs fs = TRACEFS_INIT;
	int r = tracefs_open(&fs, e), instances;

	if (r < 0)
		return r;
	instances = openat(fs.fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*ret_removed = *ret_busy = 0;
	if (instances >= 0) {
		clean_in(instances, ret_removed, ret_busy);
		close(instances);
	}
	tracefs_release(&fs);
	return 0;
}

static int open_instance(struct ftrace *f, struct err *e)
{
	_cleanup_close_ int instances =
		openat(f->fs.fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	u32 removed, busy;

	if (instances < 0)
		return err_sys(e, errno, "cannot open tracefs folder 'instances'");
	clean_in(instances, &removed, &busy);
	snprintf(f->name, sizeof(f->name), PREFIX "%d", getpid());
	if (mkdirat(instances, f->name, 0750) < 0) {
		err_sys(e, errno, "cannot create the tracing instance '%s'", f->name);
		err_hint(e, "run as root; tracefs must not be read-only");
		return -e->code;
	}
	f->dir = openat(instances, f->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->dir < 0 ? err_sys(e, errno, "cannot open the tracing instance '%s'", f->name) : 0;
}

static int in_use(const char *what, struct err *e)
{
	err_set(e, EBUSY, "another program uses the kernel's tracer: %s", what);
	err_hint(e, "this run needs the top level of tracefs; 'cat current_tracer set_event' there "
		    "shows who: end that program first, nothing was changed");
	return -EBUSY;
}

/*
 * The kernel itself switches bpf_trace_printk on when the first BPF program that prints is loaded,
 * and leaves it on.
 */
static bool has_events(const char *text)
{
	static const char own[] = "bpf_trace:bpf_trace_printk\n";

	if (starts_with(text, own))
		text += strlen(own);
	return *text;
}

static int open_top(struct ftrace *f, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r;

	f->top = true;
	f->dir = openat(f->fs.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return err_sys(e, errno, "cannot open tracefs");
	r = ftrace_read(f, "current_tracer", 256, &text, e);
	if (r < 0)
		return r;
	if (!starts_with(buf_str(&text), "nop"))
		return in_use(buf_str(&text), e);
	r = ftrace_read(f, "set_event", FILE_MOST, &text, e);
	if (r < 0)
		return r;
	return has_events(buf_str(&text)) ? in_use("events are switched on", e) : 0;
}

int ftrace_open(struct ftrace *f, bool top, struct err *e)
{
	int r = tracefs_open(&f->fs, e);

	if (r >= 0)
		r = top ? open_top(f, e) : open_instance(f, e);
	if (r >= 0)
		r = ftrace_guard_start(f, e);
	/* a new instance may be switched off already by a kernel option */
	if (r >= 0)
		r = ftrace_write(f, "tracing_on", FTRACE_SET, "0", e);
	return r;
}

/*
 * A process that was killed closes its files one by one: until the last ring is closed, the tracer
 * cannot be changed and the instance not be removed.
 */
static bool busy_pause(int r, int *tries)
{
	struct timespec pause = { .tv_nsec = 20 * NSEC_PER_MSEC };

	if (r != -EBUSY || ++*tries > 250)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

static void put_back(int dir, const char *file, const char *text)
{
	int tries = 0, r;

	do {
		r = write_at(dir, file, FTRACE_SET, text);
	} while (busy_pause(r, &tries));
}

static void remove_instance(const struct ftrace *f)
{
	_cleanup_close_ int instances =
		openat(f->fs.fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int tries = 0, r = -ENOENT;

	do {
		if (instances >= 0)
			r = unlinkat(instances, f->name, AT_REMOVEDIR) < 0 ? -errno : 0;
	} while (busy_pause(r, &tries));
}

void ftrace_restore(const struct ftrace *f)
{
	for (size_t i = 0; f->top && i < ARRAY_SIZE(at_rest); i++)
		put_back(f->dir, at_rest[i].file, at_rest[i].text);
	if (f->top || !*f->name)
		return;
	put_back(f->dir, "tracing_on", "0");
	put_back(f->dir, "current_tracer", "nop");
	put_back(f->dir, "events/enable", "0");
	remove_instance(f);
}

static void close_rings(struct ftrace *f)
{
	vec_each(fd, &f->rings)
		if (*fd >= 0)
			close(*fd);
	vec_release(&f->rings);
}

void ftrace_release(struct ftrace *f)
{
	close_rings(f);
	if (f->guard >= 0) {
		ftrace_restore(f);
		ftrace_guard_end(f);
	}
	if (f->dir >= 0)
		close(f->dir);
	tracefs_release(&f->fs);
	*f = (struct ftrace)FTRACE_INIT;
}

/* --- tracers -------------------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || strchr(" \n", p[-1])) && strchr(" \n", p[n]))
			return true;
	return false;
}

int ftrace_has_tracer(const struct ftrace *f, const char *name, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct ftrace all = { .dir = f->fs.fd };
	int r = ftrace_read(&all, "available_tracers", 4096, &text, e);

	if (r < 0 || has_word(buf_str(&text), name))
		return r;
	err_set(e, EOPNOTSUPP, "this kernel has no tracer '%s'", name);
	err_hint(e, "it has: %.*s; 'fathom trace' and 'fathom funclatency' trace functions by BPF",
		 (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	return -EOPNOTSUPP;
}

int ftrace_tracer(const struct ftrace *f, const char *name, struct err *e)
{
	int r = write_at(f->dir, "current_tracer", FTRACE_SET, name);

	if (r >= 0)
		return 0;
	if (r == -EINVAL && !f->top)
		return err_set(e, EXDEV, "the tracer '%s' needs the top level", name);
	err_sys(e, -r, "the kernel refuses the tracer '%s'", name);
	err_hint(e, "events (-e) need no tracer; 'fathom trace', 'fathom funclatency' and 'fathom "
		    "doctor' say what else works here");
	return r == -EPERM || r == -EACCES ? -EOPNOTSUPP : r;
}

/* --- the rings ------------------------------------------------------------------------------ */

/* "buffer_subbuf_size_kb" is younger than the page header, which has the size of its data. */
static u32 page_size(const struct ftrace *f)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *data, *size, *end;
	u64 n, at;

	if (tracefs_read(&f->fs, "events/header_page", 4096, &text, NULL) < 0)
		return 4096;
	data = strstr(buf_str(&text), "data;");
	size = data ? strstr(data, "size:") : NULL;
	data = data ? strstr(data, "offset:") : NULL;
	end = buf_str(&text) + text.len;
	if (!size || !data)
		return 4096;
	size += strlen("size:");
	data += strlen("offset:");
	if (!scan_u64(&size, end, 10, &n) || !scan_u64(&data, end, 10, &at) || n + at > PAGE_MOST)
		return 4096;
	return (u32)(n + at);
}

int ftrace_open_rings(struct ftrace *f, bool snapshot, struct err *e)
{
	close_rings(f);
	f->page = page_size(f);
	for (u32 cpu = 0; cpu < CPUS_MOST; cpu++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "per_cpu/cpu%u/%s", cpu,
			 snapshot ? "snapshot_raw" : "trace_pipe_raw");
		fd = openat(f->dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT) {
			/* numbers of CPUs have gaps where some are not there */
			snprintf(path, sizeof(path), "per_cpu/cpu%u", cpu);
			if (faccessat(f->dir, path, F_OK, 0) == 0)
				return err_sys(e, ENOENT, "the kernel has no file '%s'", path);
			if (cpu >= f->rings.len + 64)
				break;
		} else if (fd < 0) {
			return err_sys(e, errno, "cannot open tracefs file '%s'", path);
		}
		vec_push(&f->rings, fd);
	}
	return 0;
}

int ftrace_drain(struct ftrace *f, ftrace_page_fn fn, void *ctx, struct err *e)
{
	_cleanup_free_ u8 *page = xmalloc(f->page);
	int r = 0;

	for (u32 cpu = 0; r >= 0 && cpu < f->rings.len; cpu++) {
		int fd = f->rings.items[cpu];
		ssize_t n = 1;

		while (fd >= 0 && r >= 0 && n > 0) {
			n = read(fd, page, f->page);
			if (n > 0)
				r = fn(ctx, cpu, page, (size_t)n);
			else if (n < 0 && errno != EAGAIN && errno != EINTR)
				r = err_sys(e, errno, "cannot read the trace of CPU %u", cpu);
		}
	}
	return r;
}

u64 ftrace_lost(const struct ftrace *f)
{
	u64 lost = 0;

	for (u32 cpu = 0; cpu < f->rings.len; cpu++) {
		static const char *const keys[] = { "overrun: ", "dropped events: " };
		_cleanup_buf_ struct buf text = BUF_INIT;
		char path[64];

		snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
		if (ftrace_read(f, path, 4096, &text, NULL) < 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			/* "commit overrun" is another figure */
			const char *line = i ? strstr(buf_str(&text), keys[i])
					     : strstr(buf_str(&text), "\noverrun: ");
			const char *end = buf_str(&text) + text.len;
			u64 n;

			if (!line)
				continue;
			line += strlen(keys[i]) + !i;
			if (scan_u64(&line, end, 10, &n))
				lost += n;
		}
	}
	return lost;
}
