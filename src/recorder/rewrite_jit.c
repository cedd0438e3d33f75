/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jitdumps as ELF files: one for each process, beside its dump, with all functions one after
 * another; and a mapping of each function from the moment when it came to be. perf makes a file
 * for each function, which are hundreds of thousands where much is compiled.
 */
#include "recorder/rewrite_parts.h"

#include "base/io.h"
#include "base/log.h"
#include "base/outfile.h"
#include "elf/make.h"
#include "runtime/jit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { FUNCTION_MOST = 64 << 20, DUMP_FILES_MOST = 4096 };

struct converter {
	struct rewriter *w;
	const char *path; /* of the dump */
	int fd;
	u32 pid;
	struct jitdump dump;
	struct elf_make elf;
	struct map places; /* the writer's number of a function -> where it is in the file */
	struct buf code;
	VEC(struct elf_make_line) lines;
};

int rewrite_jit_check(struct rewriter *w)
{
	for (u32 i = 0; i < recording_n_events(w->recording); i++) {
		const struct perf_event_attr *a = &recording_event(w->recording, i)->attr;

		if (a->use_clockid && a->clockid == CLOCK_MONOTONIC)
			continue;
		err_set(w->e, EINVAL, "the recording has another clock than jitdumps have");
		err_hint(w->e,
			 "record with 'perf record -k mono'; 'fathom record' does without it");
		return -EINVAL;
	}
	return 0;
}

static int read_dump(const void *ctx, u64 offset, void *ret, size_t n)
{
	const ssize_t got = pread(*(const int *)ctx, ret, n, (off_t)offset);

	return got == (ssize_t)n ? 0 : -EIO;
}

static int open_dump(const char *path, u64 *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	*ret_size = (u64)st.st_size;
	return fd;
}

static void add_lines(struct converter *c, const struct jitdump_entry *e, u64 at)
{
	vec_clear(&c->lines);
	for (u32 i = 0; e->line && i < e->line_count; i++) {
		const struct jitdump_line *l = &c->dump.lines.items[e->line - 1 + i];

		if (l->address >= e->start && l->address - e->start < e->size)
			vec_push(&c->lines,
				 (struct elf_make_line){ .offset = l->address - e->start,
							 .file = jitdump_str(&c->dump, l->file),
							 .line = l->line });
	}
	elf_make_lines(&c->elf, at, e->size, c->lines.items, c->lines.len);
}

/* Code that moved has no bytes of its own: those of before are its. */
static u64 add_function(struct converter *c, const struct jitdump_entry *e)
{
	u64 at = e->code_at ? 0 : map_get(&c->places, e->index, 0);

	if (at || !e->code_at || e->size > FUNCTION_MOST)
		return at;
	buf_reset(&c->code);
	if (read_dump(&c->fd, e->code_at, buf_reserve(&c->code, e->size), e->size) < 0)
		return 0;
	at = elf_make_add(&c->elf, jitdump_str(&c->dump, e->name), c->code.data, e->size);
	if (at) {
		map_put(&c->places, e->index, at);
		add_lines(c, e, at);
	}
	return at;
}

static int earlier(const void *a, const void *b)
{
	const struct jit_mapping *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void add_mappings(struct converter *c)
{
	struct rewrite_jit *j = &c->w->jit;
	u32 order = 0, left_out = 0;

	vec_each(e, &c->dump.entries) {
		const u64 at = add_function(c, e);

		if (!at) {
			left_out++;
			continue;
		}
		vec_push(&j->mappings, (struct jit_mapping){ .time = e->time,
							     .start = e->start,
							     .size = e->size,
							     .offset = at,
							     .pid = c->pid,
							     .file = (u32)j->files.len,
							     .order = order });
		order++;
	}
	if (left_out)
		log_warn("'%s': %u functions without code, or too large, are left out", c->path,
			 left_out);
	c->w->counts->functions += order;
	if (j->mappings.len > j->next)
		qsort(j->mappings.items + j->next, j->mappings.len - j->next,
		      sizeof(*j->mappings.items), earlier);
}

static int write_file(const char *path, const struct buf *bytes, bool force, struct err *e)
{
	struct outfile o = OUTFILE_INIT;
	int r;

	if (!force && access(path, F_OK) == 0) {
		err_set(e, EEXIST, "'%s' exists", path);
		err_hint(e, "--force replaces the files of an earlier run");
		return -EEXIST;
	}
	r = outfile_open(&o, path, e);
	if (r == 0)
		r = io_write_all(o.fd, bytes->data, bytes->len);
	if (r == 0)
		(void)fchmod(o.fd, 0644);
	if (r == 0)
		r = outfile_commit(&o);
	outfile_release(&o);
	return r < 0 ? err_set(e, -r, "cannot write '%s'", path) : 0;
}

/* "DIR/jitted-PID.so", beside the dump: perf's place, for one file instead of many. */
static int make_file(struct converter *c)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct rewrite_jit *j = &c->w->jit;
	struct jit_file file = { 0 };
	int r;

	elf_make_finish(&c->elf, &bytes);
	file.path = xasprintf("%.*s/jitted-%u.so", (int)(strrchr(c->path, '/') - c->path), c->path,
			      c->pid);
	memcpy(file.build_id, c->elf.build_id, sizeof(file.build_id));
	r = write_file(file.path, &bytes, c->w->opts->force, c->w->e);
	vec_push(&j->files, file);
	map_put(&j->dumps, c->pid, j->files.len);
	return r;
}

static int convert(struct converter *c)
{
	u64 size = 0;
	int r = 0;

	c->fd = open_dump(c->path, &size);
	if (c->fd < 0) {
		log_warn("'%s': %s", c->path, strerror(-c->fd));
		c->w->counts->gone++;
		return 0;
	}
	jitdump_update(&c->dump, read_dump, &c->fd, size);
	if (c->dump.why || c->dump.own_clock) {
		log_warn("'%s': %s", c->path,
			 c->dump.why ? c->dump.why : "its times are of the processor's counter");
		c->w->counts->gone++;
	} else if (c->dump.entries.len) {
		c->elf.machine = c->dump.machine;
		add_mappings(c);
		c->w->counts->dumps++;
		r = make_file(c);
	}
	close(c->fd);
	return r;
}

static int take_dump(struct rewriter *w, const struct record_mmap *m)
{
	struct converter c = { .w = w, .path = m->filename, .pid = m->pid };
	int r;

	if (w->jit.files.len >= DUMP_FILES_MOST || map_get(&w->jit.dumps, m->pid, 0))
		return 0; /* a process maps its dump once; children that inherit it have its pid */
	r = convert(&c);
	jitdump_release(&c.dump);
	elf_make_release(&c.elf);
	map_release(&c.places);
	buf_release(&c.code);
	vec_release(&c.lines);
	return r;
}

bool rewrite_jit_takes(struct rewriter *w, const struct record *r)
{
	struct record_mmap m;

	if ((r->type != PERF_RECORD_MMAP2 && r->type != PERF_RECORD_MMAP) ||
	    record_is_kernel_mode(r) || record_mmap(r, &m) < 0)
		return false;
	if (m.filename[0] == '/' && jit_is_dump(m.filename)) {
		if (w->fault == 0)
			w->fault = take_dump(w, &m);
		return map_get(&w->jit.dumps, m.pid, 0) != 0;
	}
	/* it would cover the functions that are in it */
	return map_get(&w->jit.dumps, m.pid, 0) &&
	       (starts_with(m.filename, "//anon") || starts_with(m.filename, "[anon"));
}

static int write_mapping(struct rewriter *w, const struct jit_mapping *j)
{
	const struct recording_event *ev = recording_event(w->recording, 0);
	const struct jit_file *file = &w->jit.files.items[j->file];
	const struct record_ids ids = {
		.pid = j->pid, .tid = j->pid, .time = j->time, .id = ev->n_ids ? ev->ids[0] : 0
	};
	struct record_mmap m = { .pid = j->pid,
				 .tid = j->pid,
				 .addr = j->start,
				 .len = j->size,
				 .pgoff = j->offset,
				 .prot = PROT_READ | PROT_EXEC,
				 .flags = MAP_SHARED,
				 .build_id_size = sizeof(file->build_id),
				 .filename = file->path };
	int r;

	memcpy(m.build_id, file->build_id, sizeof(file->build_id));
	buf_reset(&w->jit.record);
	r = build_mmap2(&w->jit.record, &ev->attr, &ids, PERF_RECORD_MISC_USER, &m);
	if (r < 0)
		return err_set(w->e, -r, "the path '%s' is too long", file->path);
	return recording_writer_add(w->writer, w->jit.record.data, w->jit.record.len, w->e);
}

int rewrite_jit_until(struct rewriter *w, u64 time)
{
	struct rewrite_jit *j = &w->jit;
	int r = w->fault;

	while (r == 0 && j->next < j->mappings.len && j->mappings.items[j->next].time <= time)
		r = write_mapping(w, &j->mappings.items[j->next++]);
	return r;
}

void rewrite_jit_release(struct rewriter *w)
{
	vec_each(f, &w->jit.files)
		free(f->path);
	vec_release(&w->jit.files);
	vec_release(&w->jit.mappings);
	map_release(&w->jit.dumps);
	buf_release(&w->jit.record);
}
