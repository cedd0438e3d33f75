/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks from the files of /proc: where BPF is not available, and as an oracle in tests. */
#include "counters/tasks_state.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "host/procfs.h"

#include <dirent.h>
#include <fcntl.h>

enum { TICK_NS = 10000000, FILE_MOST = 64 << 10 };

struct by_proc {
	int dir; /* /proc */
	struct buf text;
};

static int read_below(struct by_proc *p, const char *path)
{
	_cleanup_close_ int fd = openat(p->dir, path, O_RDONLY | O_CLOEXEC);

	buf_reset(&p->text);
	return fd < 0 ? -errno : io_read_fd(fd, path, FILE_MOST, &p->text, NULL);
}

/* The number after a key at the start of a line; 0: none. */
static u64 keyed(const char *text, const char *key)
{
	const char *at = text;
	size_t n = strlen(key);

	while (at && *at) {
		if (strncmp(at, key, n) == 0 && at[n] == ':')
			return strtoull(at + n + 1, NULL, 10);
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return 0;
}

static u32 state_bits(char letter)
{
	static const char letters[] = "SDTt";
	const char *at = strchr(letters, letter);

	if (letter == 'Z')
		return 0x20;
	if (letter == 'X')
		return 0x10;
	if (letter == 'I')
		return 0x402;
	return at && letter ? 1u << (at - letters) : 0;
}

/* Fields after the name in parentheses, from 0 = state on; false: not that many. */
static bool field(const char *text, u32 number, u64 *ret)
{
	const char *at = strrchr(text, ')');

	for (u32 i = 0; at && i <= number; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*ret = strtoull(at + 1, NULL, 10);
	return true;
}

static bool read_stat(struct by_proc *p, const char *path, struct tasks_thread *out,
		      u64 *ret_children)
{
	struct proc_stat s;
	u64 cutime = 0, cstime = 0, vsize = 0, guest = 0, disk = 0;

	if (read_below(p, path) < 0 || procfs_parse_stat(buf_str(&p->text), p->text.len, &s) < 0)
		return false;
	out->r.kind = TASKS_THREAD;
	out->r.global = out->r.tid = s.pid;
	out->r.ppid = s.ppid;
	out->r.start = s.start * TICK_NS - (u64)clock_shift(CLOCK_BOOTTIME);
	out->r.figures[TASK_USER] = s.utime * TICK_NS;
	out->r.figures[TASK_SYSTEM] = s.stime * TICK_NS;
	out->r.figures[TASK_EXEC] = (s.utime + s.stime) * TICK_NS;
	out->r.figures[TASK_MINOR] = s.minflt;
	out->r.figures[TASK_MAJOR] = s.majflt;
	out->state = state_bits(s.state);
	out->flags = s.flags;
	out->cpu = s.cpu;
	out->threads = s.threads;
	out->nice = (s32)s.nice;
	out->policy = s.policy;
	out->rt_priority = s.rt_priority;
	out->rss = s.rss;
	snprintf(out->comm, sizeof(out->comm), "%.15s", s.comm);
	/* fields 16, 17 and 23 of proc(5) */
	if (field(buf_str(&p->text), 13, &cutime) && field(buf_str(&p->text), 14, &cstime))
		*ret_children = (cutime + cstime) * TICK_NS;
	if (field(buf_str(&p->text), 20, &vsize))
		out->vsize = vsize / (u64)sysconf(_SC_PAGESIZE);
	/* 42, which stays 0 unless the kernel accounts for delays, and 43 */
	if (field(buf_str(&p->text), 39, &disk))
		out->r.figures[TASK_DISK] = disk * TICK_NS;
	if (field(buf_str(&p->text), 40, &guest))
		out->r.figures[TASK_GUEST] = guest * TICK_NS;
	return true;
}

/* What other files add; each may be missing or not ours to read. */
static void read_more(struct by_proc *p, const char *base, struct tasks_thread *out)
{
	__u64 *f = out->r.figures;
	const char *text, *next;
	char path[96], *end;

	snprintf(path, sizeof(path), "%s/schedstat", base);
	if (read_below(p, path) == 0) {
		u64 exec = strtoull(buf_str(&p->text), &end, 10);

		/* the same clock as the ticks of the process stand for, only finer */
		if (*end == ' ') {
			f[TASK_EXEC] = exec;
			f[TASK_DELAY] = strtoull(end, NULL, 10);
		}
	}
	snprintf(path, sizeof(path), "%s/status", base);
	if (read_below(p, path) == 0) {
		text = buf_str(&p->text);
		f[TASK_VOLUNTARY] = keyed(text, "voluntary_ctxt_switches");
		f[TASK_FORCED] = keyed(text, "nonvoluntary_ctxt_switches");
		next = strstr(text, "\nUid:");
		out->uid = next ? (u32)strtoul(next + 5, NULL, 10) : 0;
	}
	snprintf(path, sizeof(path), "%s/io", base);
	if (read_below(p, path) == 0) {
		text = buf_str(&p->text);
		f[TASK_READ] = keyed(text, "read_bytes");
		f[TASK_WRITE] = keyed(text, "write_bytes");
		f[TASK_CANCELLED] = keyed(text, "cancelled_write_bytes");
		f[TASK_RCHAR] = keyed(text, "rchar");
		f[TASK_WCHAR] = keyed(text, "wchar");
	}
}

static void read_thread(struct tasks *t, struct by_proc *p, u32 pid, const char *tid)
{
	struct tasks_thread seen = { 0 };
	struct task *task;
	char base[64], path[96];
	u64 children = 0;

	snprintf(base, sizeof(base), "%u/task/%.16s", pid, tid);
	snprintf(path, sizeof(path), "%s/stat", base);
	if (!read_stat(p, path, &seen, &children))
		return;
	seen.r.pid = pid;
	read_more(p, base, &seen);
	tasks_take(t, &seen);
	task = tasks_find(t, &seen.r, false);
	if (task && seen.r.tid == pid)
		task->children = children;
}

static bool is_number(const char *name)
{
	return *name && !name[strspn(name, "0123456789")];
}

static void read_process(struct tasks *t, struct by_proc *p, const char *name)
{
	u32 pid = (u32)strtoul(name, NULL, 10);
	const struct dirent *d;
	char path[32];
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%u/task", pid);
	fd = openat(p->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir)))
		if (is_number(d->d_name))
			read_thread(t, p, pid, d->d_name);
	closedir(dir);
}

static int sweep(struct tasks *t)
{
	struct by_proc *p = t->state;
	int fd = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;

	if (!dir) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	while ((d = readdir(dir)))
		if (is_number(d->d_name))
			read_process(t, p, d->d_name);
	closedir(dir);
	return 0;
}

static void release(struct tasks *t)
{
	struct by_proc *p = t->state;

	if (!p)
		return;
	if (p->dir >= 0)
		close(p->dir);
	buf_release(&p->text);
	free(p);
	t->state = NULL;
}

static const struct tasks_source by_proc = { sweep, NULL, release };

int tasks_open_proc(struct tasks *t, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct by_proc *p = xcalloc(1, sizeof(*p));

	buf_addf(&path, "%s/proc", t->options.root ? t->options.root : "");
	p->dir = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->state = p;
	t->source = &by_proc;
	t->fd = -1;
	return p->dir < 0 ? err_sys(e, errno, "cannot read '%s'", buf_str(&path)) : 0;
}
