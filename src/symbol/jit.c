/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps of processes: finding them, and reading what was appended. */
#include "symbol/store.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/parse.h"
#include "symbol/open.h"

#include <sys/stat.h>

/* An unknown address makes a map be read again, but not more often than this. */
#define JIT_REREAD_NS (100 * NSEC_PER_MSEC)
/* ... nor so often that reading takes more than this part of the time. */
enum { JIT_READ_SHARE = 20, JIT_MAX_PROCESSES = 65536 };

void jit_free(struct jit *j)
{
	perfmap_release(&j->map);
	answers_release(&j->answers);
	free(j);
}

static struct jit *jit_of(struct symbols *s, pid_t pid)
{
	u64 *index;
	struct jit *j;

	if (s->jits.len >= JIT_MAX_PROCESSES && !map_find(&s->jit_of_pid, (u64)pid))
		return NULL;
	index = map_at(&s->jit_of_pid, (u64)pid);
	if (*index)
		return s->jits.items[*index - 1];
	j = xcalloc(1, sizeof(*j));
	j->pid = pid;
	j->uid = (uid_t)-1;
	vec_push(&s->jits, j);
	*index = s->jits.len;
	return j;
}

/* The process's id as it knows itself: the last number of "NSpid: 812 7". */
static pid_t own_pid(pid_t pid)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *at, *end;
	char path[64];
	u64 last = (u64)pid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (io_read_file(path, 1 << 16, &b, NULL) < 0)
		return pid;
	at = strstr(buf_str(&b), "\nNSpid:");
	if (!at)
		return pid;
	at += strlen("\nNSpid:");
	end = b.data + b.len;
	while (at < end && (*at == '\t' || *at == ' ')) {
		at++;
		if (!scan_u64(&at, end, 10, &last))
			break;
	}
	return (pid_t)last;
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
	fd = file_open(root ? root : own_root, path);
	/* The process may have ended, its map may still be here. */
	if (fd < 0 && !root && nspid == j->pid)
		fd = file_open(NULL, path);
	return fd;
}

static void forget(struct jit *j)
{
	perfmap_release(&j->map);
	j->consumed = 0;
	/* The answers stay: ids and names that were handed out remain good. */
}

static void read_new(struct jit *j, int fd, const struct stat *st)
{
	const size_t part = 1 << 20;
	_cleanup_buf_ struct buf b = BUF_INIT;
	u64 size = (u64)st->st_size, at = j->consumed;

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
		/* A line longer than all this is no line. */
		if (!used && b.len > part)
			used = b.len;
		at += used;
		memmove(b.data, b.data + used, b.len - used);
		buf_truncate(&b, b.len - used);
	}
	j->consumed = at;
}

static void jit_read(struct jit *j, pid_t nspid, const char *root)
{
	_cleanup_close_ int fd = open_map(j, nspid, root);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		if (!j->map.entries.len)
			j->why = "code made at run time, and no perf map that names it";
		return;
	}
	if (!trusted(j, &st)) {
		j->why = "its perf map belongs to another user";
		return;
	}
	j->why = NULL;
	if (j->ino != st.st_ino || (u64)st.st_size < j->consumed)
		forget(j);
	j->ino = st.st_ino;
	if ((u64)st.st_size > j->consumed)
		read_new(j, fd, &st);
	if (j->map.full)
		j->why = "its perf map is too large: older code has no names";
}

static struct perfmap_entry *find_or_read(struct jit *j, pid_t nspid, const char *root, u64 address,
					  u64 now)
{
	struct perfmap_entry *e = perfmap_find(&j->map, address);
	u64 begin, took;

	if (e || now < j->next_read_ns)
		return e;
	begin = clock_mono_ns();
	jit_read(j, nspid, root);
	e = perfmap_find(&j->map, address);
	took = clock_mono_ns() - begin;
	j->next_read_ns = now + MAX(JIT_REREAD_NS, took * JIT_READ_SHARE);
	return e;
}

static const struct symbol *jit_answer(struct symbols *s, struct jit *j, struct perfmap_entry *e)
{
	const char *raw;
	u32 name;
	u64 key;
	const struct symbol *known;

	if (e->result)
		return &j->answers.list.items[e->result - 1];
	raw = perfmap_name(&j->map, e);
	name = intern_str(&s->names, raw);
	key = hash_mix(e->start, name);
	known = answers_find(&j->answers, key);
	if (!known) {
		const struct symbol ret = { .start = e->start,
					    .size = e->size,
					    .flags = SYM_JIT,
					    .raw_name = intern_get(&s->names, name),
					    .name = intern_get(&s->names,
							       store_shown_name(s, raw, "")) };

		known = answers_add(&j->answers, key, &ret);
	}
	e->result = known->id;
	return known;
}

bool symbols_jit(struct symbols *s, pid_t pid, pid_t nspid, const char *root, u64 address,
		 u64 time_ns, struct symbol *ret)
{
	struct jit *j = s->opts.offline && !root ? NULL : jit_of(s, pid);
	struct perfmap_entry *e = NULL;

	if (j)
		e = find_or_read(j, nspid, root, address, time_ns ? time_ns : clock_mono_ns());
	if (!e) {
		s->jit_nameless++;
		return false;
	}
	s->jit_named++;
	*ret = *jit_answer(s, j, e);
	return true;
}

const char *symbols_jit_why(const struct symbols *s, pid_t pid)
{
	u64 index = map_get(&s->jit_of_pid, (u64)pid, 0);

	return index ? s->jits.items[index - 1]->why : NULL;
}
