/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/synth.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/parse.h"
#include "capture/synth_record.h"
#include "host/cgroup.h"
#include "host/procfs.h"

enum { STAT_BYTES = 1024, COMM_BYTES = 64, CGROUPS_MOST = 1 << 16, CGROUP_DEPTH_MOST = 64 };

static int open_proc(const struct synth *s, const char *name)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	buf_addf(&path, "%s%s%s", s->proc ? s->proc : "/proc", *name ? "/" : "", name);
	return open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static ssize_t read_at(int dir, const char *name, char *buf, size_t n)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : read(fd, buf, n);
}

static int put_fork(struct synth *s, u32 pid, u32 tid, u32 ppid)
{
	struct synth_record r;
	u32 parent = pid == tid ? ppid : pid;

	synth_begin(&r, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC);
	synth_put_u32(&r, pid);
	synth_put_u32(&r, parent);
	synth_put_u32(&r, tid);
	synth_put_u32(&r, parent);
	synth_put_u64(&r, 0); /* time */
	return synth_end(s, &r);
}

static int put_comm(struct synth *s, u32 pid, u32 tid, const char *comm, size_t n)
{
	struct synth_record r;

	synth_begin(&r, PERF_RECORD_COMM, 0);
	synth_put_u32(&r, pid);
	synth_put_u32(&r, tid);
	synth_put_name(&r, comm, n);
	return synth_end(s, &r);
}

/* In the kernel's order of enum perf_ns_type. */
static const char *const namespace_files[] = { "ns/net",  "ns/uts", "ns/ipc",   "ns/pid",
					       "ns/user", "ns/mnt", "ns/cgroup" };

static int put_namespaces(struct synth *s, u32 pid, u32 tid, int dir)
{
	struct synth_record r;

	synth_begin(&r, PERF_RECORD_NAMESPACES, 0);
	synth_put_u32(&r, pid);
	synth_put_u32(&r, tid);
	synth_put_u64(&r, ARRAY_SIZE(namespace_files));
	for (size_t i = 0; i < ARRAY_SIZE(namespace_files); i++) {
		struct stat st = { 0 };

		if (fstatat(dir, namespace_files[i], &st, 0) < 0)
			st.st_dev = st.st_ino = 0;
		synth_put_u64(&r, st.st_dev);
		synth_put_u64(&r, st.st_ino);
	}
	return synth_end(s, &r);
}

static int put_thread(struct synth *s, u32 pid, u32 tid, int task_dir)
{
	char path[32], comm[COMM_BYTES];
	ssize_t n;

	snprintf(path, sizeof(path), "%u/comm", tid);
	n = read_at(task_dir, path, comm, sizeof(comm));
	if (n <= 0)
		return 0; /* gone */
	if (comm[n - 1] == '\n')
		n--;
	s->threads++;
	int r = put_fork(s, pid, tid, pid);

	return r < 0 ? r : put_comm(s, pid, tid, comm, (size_t)n);
}

static int put_threads(struct synth *s, u32 pid, int dir)
{
	int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (r >= 0 && (entry = readdir(d))) {
		const char *at = entry->d_name;
		u64 tid;

		if (scan_u64(&at, at + strlen(at), 10, &tid) && *at == '\0' && tid != pid &&
		    tid <= UINT32_MAX)
			r = put_thread(s, pid, (u32)tid, dirfd(d));
	}
	closedir(d);
	return r;
}

static int put_process(struct synth *s, u32 pid, int dir)
{
	char text[STAT_BYTES];
	struct proc_stat stat;
	ssize_t n = read_at(dir, "stat", text, sizeof(text));
	int r;

	if (n <= 0 || procfs_parse_stat(text, (size_t)n, &stat) < 0)
		return -ESRCH;
	s->processes++;
	s->threads++;
	r = put_fork(s, pid, pid, stat.ppid);
	if (r >= 0 && s->namespaces)
		r = put_namespaces(s, pid, pid, dir);
	if (r >= 0)
		r = put_comm(s, pid, pid, stat.comm, strlen(stat.comm));
	if (r >= 0) {
		r = synth_maps(s, pid, dir);
		if (r == -EACCES || r == -EPERM || r == -ENOENT) {
			s->failed++;
			r = 0;
		}
	}
	return r >= 0 && stat.threads > 1 ? put_threads(s, pid, dir) : r;
}

int synth_process(struct synth *s, pid_t pid, struct err *e)
{
	char name[16];
	_cleanup_close_ int dir = -1;
	int r;

	snprintf(name, sizeof(name), "%d", (int)pid);
	dir = open_proc(s, name);
	r = dir < 0 ? -ESRCH : put_process(s, (u32)pid, dir);
	return r == -ESRCH ? err_set(e, ESRCH, "no process %d", (int)pid) : r;
}

int synth_processes(struct synth *s, struct err *e)
{
	int root = open_proc(s, "");
	DIR *d = root < 0 ? NULL : fdopendir(root);
	struct dirent *entry;
	int r = 0;

	if (!d)
		return err_sys(e, errno, "cannot read '%s'", s->proc ? s->proc : "/proc");
	while (r >= 0 && (entry = readdir(d))) {
		const char *at = entry->d_name;
		u64 pid;

		if (!scan_u64(&at, at + strlen(at), 10, &pid) || *at || pid > UINT32_MAX)
			continue;
		_cleanup_close_ int dir =
			openat(dirfd(d), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		r = dir < 0 ? -ESRCH : put_process(s, (u32)pid, dir);
		if (r == -ESRCH) {
			s->failed++;
			r = 0;
		}
	}
	closedir(d);
	return r;
}

int synth_lost_samples(struct synth *s, u64 lost)
{
	struct synth_record r;

	synth_begin(&r, PERF_RECORD_LOST_SAMPLES, 0);
	synth_put_u64(&r, lost);
	return synth_end(s, &r);
}

/* --- cgroups ---------------------------------------------------------------------------------- */

static int put_cgroup(struct synth *s, u64 id, const char *path)
{
	struct synth_record r;

	synth_begin(&r, PERF_RECORD_CGROUP, 0);
	synth_put_u64(&r, id);
	synth_put_name(&r, path, strlen(path));
	return synth_end(s, &r);
}

struct cgroup_walk {
	struct synth *synth;
	struct buf path; /* below the mount */
	u32 count;
	u32 depth;
};

/* @fd is taken over. */
static int walk_cgroup(struct cgroup_walk *w, int fd)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t len = w->path.len;
	struct dirent *entry;
	struct stat st;
	int r = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	/* The id is what the directory's handle says, which on 64-bit machines is its inode. */
	if (fstat(fd, &st) == 0)
		r = put_cgroup(w->synth, st.st_ino, len ? buf_str(&w->path) : "/");
	w->depth++;
	while (r >= 0 && (entry = readdir(d)) && w->depth < CGROUP_DEPTH_MOST) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || ++w->count > CGROUPS_MOST)
			continue;
		buf_addf(&w->path, "/%s", entry->d_name);
		r = walk_cgroup(w, openat(dirfd(d), entry->d_name,
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		buf_truncate(&w->path, len);
	}
	w->depth--;
	closedir(d);
	return r;
}

int synth_cgroups(struct synth *s, struct err *e)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = CGROUP_MOUNTS_INIT;
	struct cgroup_walk w = { .synth = s };
	int r = cgroup_mounts_read(&mounts, e);

	if (r < 0 || !mounts.v2)
		return r;
	r = walk_cgroup(&w, open(mounts.v2, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	buf_release(&w.path);
	return r;
}

/* --- all of it -------------------------------------------------------------------------------- */

int synth_target(struct synth *s, const struct target *target, pid_t skip, struct err *e)
{
	_cleanup_err_ struct err hidden = ERR_INIT;
	int r = synth_kernel(s, &hidden);

	s->kernel_hidden = r == -EACCES;
	if (s->kernel_hidden)
		r = 0;
	if (r >= 0)
		r = synth_modules(s, e);
	if (r >= 0 && s->cgroups)
		r = synth_cgroups(s, e);
	if (r >= 0 && (s->everybody || target_is_whole(target) || target->cgroups.len))
		return synth_processes(s, e);
	for (size_t i = 0; r >= 0 && i < target->processes.len; i++) {
		if (target->processes.items[i] == skip)
			continue;
		r = synth_process(s, target->processes.items[i], NULL);
		if (r == -ESRCH)
			r = 0;
	}
	return r;
}
