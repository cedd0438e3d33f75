/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps and jitdumps of processes: finding them, and reading what was appended. */
#include "runtime/jit.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/parse.h"
#include "host/procfs.h"

#include <fcntl.h>

/* An unknown address makes a map be read again, but not more often than this. */
#define JIT_REREAD_NS (100 * NSEC_PER_MSEC)
/* ... nor so often that reading takes more than this part of the time. */
enum { JIT_READ_SHARE = 20 };

void jit_init(struct jit *j, pid_t pid, bool offline)
{
	*j = (struct jit){ .pid = pid, .uid = (uid_t)-1, .offline = offline };
}

void jit_release(struct jit *j)
{
	perfmap_release(&j->map);
	jitdump_release(&j->dump);
	jitdump_release(&j->carried);
}

/* The process's id as it knows itself. */
static pid_t own_pid(pid_t pid)
{
	struct proc_status status;

	return procfs_status((u32)pid, &status) < 0 || !status.ns_pid ? pid : (pid_t)status.ns_pid;
}

/* Anybody can write to /tmp: only the process's owner, root and we ourselves are believed. */
static bool trusted(struct jit *j, const struct stat *st)
{
	char path[64];
	struct stat proc;

	snprintf(path, sizeof(path), "/proc/%d", (int)j->pid);
	if (stat(path, &proc) == 0)
		j->uid = proc.st_uid;
	return st->st_uid == 0 || st->st_uid == geteuid() || st->st_uid == j->uid;
}

static int open_map(const struct jit *j, pid_t nspid, const char *root)
{
	char own_root[64], path[64];
	int fd;

	snprintf(own_root, sizeof(own_root), "/proc/%d/root", (int)j->pid);
	if (!nspid)
		nspid = own_pid(j->pid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)nspid);
	fd = io_open_in_root(root ? root : own_root, path);
	/* The process may have ended, its map may still be here. */
	if (fd < 0 && !root && nspid == j->pid)
		fd = io_open_in_root(NULL, path);
	return fd;
}

static void forget(struct jit *j)
{
	if (j->keep)
		perfmap_compact(&j->map);
	else
		perfmap_release(&j->map);
	j->kept = j->map.entries.len;
	j->rewritten++;
	j->consumed = 0;
	memset(j->tail, 0, sizeof(j->tail));
	/* The answers stay: ids and names that were handed out remain good. */
}

static void keep_tail(struct jit *j, const char *text, size_t n)
{
	const size_t room = sizeof(j->tail), taken = MIN(n, room);

	memmove(j->tail, j->tail + taken, room - taken);
	memcpy(j->tail + room - taken, text + n - taken, taken);
}

/* A file that was written again may have grown past where we were: what we read last is not there.
 */
static bool is_rewritten(const struct jit *j, int fd)
{
	static const u8 none[sizeof(j->tail)];
	u8 now[sizeof(j->tail)];

	if (j->consumed < sizeof(now) || memcmp(j->tail, none, sizeof(none)) == 0)
		return false;
	return pread(fd, now, sizeof(now), (off_t)(j->consumed - sizeof(now))) !=
		       (ssize_t)sizeof(now) ||
	       memcmp(now, j->tail, sizeof(now)) != 0;
}

static void read_new(struct jit *j, int fd, const struct stat *st)
{
	const size_t part = 1 << 20;
	_cleanup_buf_ struct buf b = BUF_INIT;
	u64 size = (u64)st->st_size, at = j->consumed;

	if (j->most)
		size = MIN(size, MAX(j->most, at));
	if (size - at > PERFMAP_MAX_BYTES) {
		at = size - PERFMAP_MAX_BYTES; /* a cut first line is not understood, and goes */
		j->map.full = true;
	}
	while (at < size && !(j->map.full && j->map.entries.len >= PERFMAP_MAX_ENTRIES)) {
		ssize_t n = pread(fd, buf_reserve(&b, part), part, (off_t)(at + b.len));
		size_t used;

		if (n <= 0)
			break;
		buf_added(&b, (size_t)n);
		used = perfmap_add(&j->map, b.data, b.len);
		/* A line longer than this is not a line of a perf map. */
		if (!used && b.len > part)
			used = b.len;
		at += used;
		keep_tail(j, b.data, used);
		memmove(b.data, b.data + used, b.len - used);
		buf_truncate(&b, b.len - used);
	}
	j->consumed = at;
}

void jit_read(struct jit *j, pid_t nspid, const char *root)
{
	_cleanup_close_ int fd = open_map(j, nspid, root);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		/* names that a recording carries are from a map that is gone */
		if (!j->map.entries.len && !j->carried.entries.len)
			j->why = "no perf map names it";
		return;
	}
	if (!trusted(j, &st)) {
		j->why = "its perf map belongs to another user";
		return;
	}
	j->why = NULL;
	if (j->ino != st.st_ino || (u64)st.st_size < j->consumed || is_rewritten(j, fd))
		forget(j);
	j->ino = st.st_ino;
	if ((u64)st.st_size > j->consumed)
		read_new(j, fd, &st);
	if (j->map.full)
		j->why = "its perf map is too large: older code has no names";
}

int jit_stat(const struct jit *j, struct stat *ret)
{
	_cleanup_close_ int fd = open_map(j, 0, NULL);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

/* --- jitdumps ------------------------------------------------------------------------------ */

bool jit_is_dump(const char *path)
{
	const char *at = strrchr(path, '/'), *end;
	u64 pid;

	at = at ? starts_with(at, "/jit-") : NULL;
	if (!at)
		return false;
	end = at + strlen(at);
	return scan_u64(&at, end, 10, &pid) && streq(at, ".dump");
}

void jit_set_dump(struct jit *j, jit_open_fn open_dump, const void *ctx)
{
	j->open_dump = open_dump;
	j->open_ctx = ctx;
	jitdump_release(&j->dump);
	j->dump_ino = 0;
}

static int read_fd(const void *ctx, u64 offset, void *ret, size_t n)
{
	const ssize_t got = pread(*(const int *)ctx, ret, n, (off_t)offset);

	return got == (ssize_t)n ? 0 : -EIO;
}

static int open_dump(struct jit *j, struct stat *ret)
{
	int fd;

	for (unsigned int way = 0; (fd = j->open_dump(j->open_ctx, way)) != -ENOTSUP; way++) {
		if (fd < 0)
			continue;
		if (fstat(fd, ret) == 0 && trusted(j, ret))
			return fd;
		close(fd);
		j->why = "its jitdump belongs to another user";
	}
	return -ENOENT;
}

/*
 * A dump that claims to be older than its file is by an earlier clock than ours: its process is in
 * a time namespace. Clocks that are later are seen by what they say of code (jitdump_names()).
 */
static bool is_earlier_clock(const struct jitdump *d, int fd)
{
	const u64 slack = 2 * NSEC_PER_SEC, claimed = d->begun + clock_wall_ns() - clock_mono_ns();
	struct statx st;

	if (!d->begun || statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 ||
	    !(st.stx_mask & STATX_BTIME))
		return false;
	return (u64)st.stx_btime.tv_sec * NSEC_PER_SEC + st.stx_btime.tv_nsec > claimed + slack;
}

static void dump_read(struct jit *j)
{
	struct stat st;
	_cleanup_close_ int fd = open_dump(j, &st);

	if (fd < 0)
		return;
	if (j->dump_ino != st.st_ino || (u64)st.st_size < j->dump.consumed)
		jitdump_release(&j->dump);
	j->dump_ino = st.st_ino;
	jitdump_update(&j->dump, read_fd, &fd, (u64)st.st_size);
	if (!j->offline && is_earlier_clock(&j->dump, fd))
		j->dump.own_clock = true;
	j->why = j->dump.full ? "its jitdump is too large: later code has no names" : j->dump.why;
}

/* --- look-ups ------------------------------------------------------------------------------ */

static bool find(struct jit *j, u64 address, u64 time_ns, struct jit_code *ret)
{
	ret->mapped = NULL;
	ret->dumped = jitdump_find(&j->carried, address, time_ns);
	ret->strings = &j->carried;
	if (!ret->dumped && j->open_dump) {
		ret->dumped = jitdump_find(&j->dump, address, time_ns);
		ret->strings = &j->dump;
	}
	if (!ret->dumped)
		ret->mapped = perfmap_find(&j->map, address);
	return ret->dumped || ret->mapped;
}

static void read_files(struct jit *j, pid_t nspid, const char *root, u64 now)
{
	const u64 begin = clock_mono_ns();
	u64 took;

	j->read_ns = begin;
	if (j->open_dump)
		dump_read(j);
	if (!j->dump.entries.len)
		jit_read(j, nspid, root);
	took = clock_mono_ns() - begin;
	j->next_read_ns = now + MAX(JIT_REREAD_NS, took * JIT_READ_SHARE);
}

bool jit_find(struct jit *j, pid_t nspid, const char *root, u64 address, u64 time_ns,
	      struct jit_code *ret)
{
	const u64 now = time_ns ? time_ns : clock_mono_ns();
	const bool found = find(j, address, time_ns, ret);

	/* the compiler appends to its dump: an answer from before this moment may be out of date */
	if (found && (!j->open_dump || !time_ns || time_ns <= j->read_ns))
		return true;
	/* an old answer from a dump may be of code that was replaced: it is checked at once */
	if ((now < j->next_read_ns && !(found && j->open_dump)) || (j->offline && !root))
		return found;
	read_files(j, nspid, root, now);
	return find(j, address, time_ns, ret);
}

u64 jit_changes(struct jit *j, u64 time_ns)
{
	if (!time_ns && j->open_dump && !j->offline && clock_mono_ns() >= j->next_read_ns)
		read_files(j, 0, NULL, clock_mono_ns());
	return jitdump_changes(&j->carried, time_ns) + jitdump_changes(&j->dump, time_ns);
}

const struct jitdump_line *jit_line(struct jit *j, u64 address, u64 time_ns)
{
	const struct jitdump_entry *e = jitdump_find(&j->dump, address, time_ns);

	return e ? jitdump_line(&j->dump, e, address) : NULL;
}

/* Appends @n bytes of the jitdump at @offset. */
static int dump_bytes(struct jit *j, u64 offset, size_t n, struct buf *ret)
{
	struct stat st;
	_cleanup_close_ int fd = open_dump(j, &st);

	if (fd < 0)
		return fd;
	if (read_fd(&fd, offset, buf_reserve(ret, n), n) < 0)
		return -EIO;
	buf_added(ret, n);
	return 0;
}

int jit_unwind_bytes(struct jit *j, u64 address, u64 time_ns, struct jit_unwind *ret,
		     struct buf *ret_bytes)
{
	const struct jitdump_entry *e = jitdump_find(&j->dump, address, time_ns);

	if (!e || !e->unwind_size)
		return -ENOENT;
	*ret = (struct jit_unwind){ .eh_frame_address = e->start + ALIGN_UP(e->size, 8),
				    .eh_frame_size = e->unwind_size - e->unwind_hdr_size };
	return dump_bytes(j, e->unwind_at, e->unwind_size, ret_bytes);
}

int jit_code_bytes(struct jit *j, u64 address, u64 time_ns, size_t max, struct buf *ret)
{
	const struct jitdump_entry *e = jitdump_find(&j->dump, address, time_ns);

	if (!e || !e->code_at || !e->size)
		return -ENOENT;
	return dump_bytes(j, e->code_at, MIN((size_t)e->size, max), ret);
}
