/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf maps and jitdumps of processes: finding them, and reading what was appended. */
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
	jitdump_release(&j->dump);
	jitdump_release(&j->carried);
	answers_release(&j->answers);
	vec_release(&j->times);
	free(j->dump_key);
	free(j);
}

struct jit *jit_of(struct symbols *s, pid_t pid)
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
	memset(j->tail, 0, sizeof(j->tail));
	/* The answers stay: ids and names that were handed out remain good. */
}

static void keep_tail(struct jit *j, const char *text, size_t n)
{
	if (n >= sizeof(j->tail))
		memcpy(j->tail, text + n - sizeof(j->tail), sizeof(j->tail));
}

/* A file that was written anew may have grown past where we were: what we read last is not there.
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
		keep_tail(j, b.data, used);
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

void jit_note_dump(struct symbols *s, const struct module_key *key)
{
	struct jit *j = jit_of(s, key->pid);

	if (!j)
		return;
	/* The latest is the one that is written to. */
	free(j->dump_key);
	j->dump_key = xmemdup(key, sizeof(*key));
	jitdump_release(&j->dump);
	j->dump_ino = 0;
}

static int read_fd(const void *ctx, u64 offset, void *ret, size_t n)
{
	const ssize_t got = pread(*(const int *)ctx, ret, n, (off_t)offset);

	return got == (ssize_t)n ? 0 : -EIO;
}

static int open_dump(const struct symbols *s, struct jit *j, struct stat *ret)
{
	for (enum module_way way = 0; way < WAY_COUNT; way++) {
		int fd = s->opts.offline && way != WAY_PATH ? -ENOENT
							    : module_open(j->dump_key, way);

		if (fd < 0)
			continue;
		if (fstat(fd, ret) == 0 && trusted(j, ret))
			return fd;
		close(fd);
		j->why = "its jitdump belongs to another user";
	}
	return -ENOENT;
}

static void dump_read(const struct symbols *s, struct jit *j)
{
	struct stat st;
	_cleanup_close_ int fd = open_dump(s, j, &st);

	if (fd < 0)
		return;
	if (j->dump_ino != st.st_ino || (u64)st.st_size < j->dump.consumed)
		jitdump_release(&j->dump);
	j->dump_ino = st.st_ino;
	jitdump_update(&j->dump, read_fd, &fd, (u64)st.st_size);
	j->why = j->dump.full ? "its jitdump is too large: later code has no names" : j->dump.why;
}

/* --- look-ups ------------------------------------------------------------------------------ */

/* What is known of an address: one of the two. */
struct found {
	struct jitdump_entry *dumped;
	const struct jitdump *strings; /* of @dumped */
	struct perfmap_entry *mapped;
};

static bool find(struct jit *j, u64 address, u64 time_ns, struct found *ret)
{
	ret->mapped = NULL;
	ret->dumped = jitdump_find(&j->carried, address, time_ns);
	ret->strings = &j->carried;
	if (!ret->dumped && j->dump_key) {
		ret->dumped = jitdump_find(&j->dump, address, time_ns);
		ret->strings = &j->dump;
	}
	if (!ret->dumped)
		ret->mapped = perfmap_find(&j->map, address);
	return ret->dumped || ret->mapped;
}

static bool find_or_read(const struct symbols *s, struct jit *j, pid_t nspid, const char *root,
			 u64 address, u64 time_ns, struct found *ret)
{
	const u64 now = time_ns ? time_ns : clock_mono_ns();
	u64 begin, took;

	const bool found = find(j, address, time_ns, ret);

	/* a dump goes on to be written: what was read before the moment may be out of date */
	if (found && (!j->dump_key || !time_ns || time_ns <= j->read_ns))
		return true;
	/* one that is found there may be of code that is gone: that is not a matter of patience */
	if ((now < j->next_read_ns && !(found && j->dump_key)) || (s->opts.offline && !root))
		return found;
	begin = j->read_ns = clock_mono_ns();
	if (j->dump_key)
		dump_read(s, j);
	if (!j->dump.entries.len)
		jit_read(j, nspid, root);
	took = clock_mono_ns() - begin;
	j->next_read_ns = now + MAX(JIT_REREAD_NS, took * JIT_READ_SHARE);
	return find(j, address, time_ns, ret);
}

static u32 new_answer(struct symbols *s, struct jit *j, u64 start, u64 size, u64 time,
		      const char *raw)
{
	const u32 name = intern_str(&s->names, raw);
	const u64 key = hash_mix(hash_mix(start, name), time);
	const struct symbol *known = answers_find(&j->answers, key);

	if (!known) {
		const struct symbol ret = { .start = start,
					    .size = size,
					    .flags = SYM_JIT,
					    .raw_name = intern_get(&s->names, name),
					    .name = intern_get(&s->names,
							       store_shown_name(s, raw, "")) };

		known = answers_add(&j->answers, key, &ret);
		vec_push(&j->times, time);
	}
	return known->id;
}

static const struct symbol *jit_answer(struct symbols *s, struct jit *j, const struct found *f)
{
	u32 *result = f->dumped ? &f->dumped->result : &f->mapped->result;

	if (!*result && f->dumped)
		*result = new_answer(s, j, f->dumped->start, f->dumped->size, f->dumped->time,
				     jitdump_str(f->strings, f->dumped->name));
	else if (!*result)
		*result = new_answer(s, j, f->mapped->start, f->mapped->size, 0,
				     perfmap_name(&j->map, f->mapped));
	return &j->answers.list.items[*result - 1];
}

bool symbols_jit(struct symbols *s, pid_t pid, pid_t nspid, const char *root, u64 address,
		 u64 time_ns, struct symbol *ret)
{
	struct jit *j = jit_of(s, pid);
	struct found f;

	if (!j || !find_or_read(s, j, nspid, root, address, time_ns, &f))
		return false;
	*ret = *jit_answer(s, j, &f);
	return true;
}

static struct jit *known_jit(const struct symbols *s, pid_t pid)
{
	const u64 index = map_get(&s->jit_of_pid, (u64)pid, 0);

	return index ? s->jits.items[index - 1] : NULL;
}

u64 symbols_jit_changes(struct symbols *s, pid_t pid, u64 time_ns)
{
	struct jit *j = known_jit(s, pid);

	return j ? jitdump_changes(&j->carried, time_ns) + jitdump_changes(&j->dump, time_ns) : 0;
}

bool symbols_jit_line(struct symbols *s, pid_t pid, u64 address, u64 time_ns,
		      struct source_frame *ret)
{
	struct jit *j = known_jit(s, pid);
	const struct jitdump_entry *e = j ? jitdump_find(&j->dump, address, time_ns) : NULL;
	const struct jitdump_line *line = e ? jitdump_line(&j->dump, e, address) : NULL;
	u32 file;

	if (!line || !line->file)
		return false;
	file = store_shown_text(s, jitdump_str(&j->dump, line->file));
	*ret = (struct source_frame){ .file = intern_get(&s->names, file), .line = line->line };
	return true;
}

int symbols_jit_unwind(struct symbols *s, pid_t pid, u64 address, u64 time_ns,
		       struct jit_unwind *ret, struct buf *ret_bytes)
{
	struct jit *j = known_jit(s, pid);
	const struct jitdump_entry *e = j ? jitdump_find(&j->dump, address, time_ns) : NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!e || !e->unwind_size)
		return -ENOENT;
	fd = open_dump(s, j, &st);
	if (fd < 0)
		return fd;
	if (read_fd(&fd, e->unwind_at, buf_reserve(ret_bytes, e->unwind_size), e->unwind_size) < 0)
		return -EIO;
	buf_added(ret_bytes, e->unwind_size);
	*ret = (struct jit_unwind){ .eh_frame_address = e->start + ALIGN_UP(e->size, 8),
				    .eh_frame_size = e->unwind_size - e->unwind_hdr_size };
	return 0;
}

int symbols_jit_bytes(struct symbols *s, pid_t pid, u64 address, u64 time_ns, size_t max,
		      struct buf *ret)
{
	struct jit *j = known_jit(s, pid);
	const struct jitdump_entry *e = j ? jitdump_find(&j->dump, address, time_ns) : NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	size_t n;

	if (!e || !e->code_at || !e->size)
		return -ENOENT;
	fd = open_dump(s, j, &st);
	if (fd < 0)
		return fd;
	n = MIN((size_t)e->size, max);
	if (read_fd(&fd, e->code_at, buf_reserve(ret, n), n) < 0)
		return -EIO;
	buf_added(ret, n);
	return 0;
}

const char *symbols_jit_why(const struct symbols *s, pid_t pid)
{
	const struct jit *j = known_jit(s, pid);

	return j ? j->why : NULL;
}
