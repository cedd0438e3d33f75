/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/feed.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/parse.h"
#include "unwind/feed_state.h"
#include "unwind/version.h"

enum {
	VDSO_INODE = 1,
	LATER_ROWS = 1 << 16, /* tables with more are given by pages */
	HINTS_MOST = 1 << 16, /* paths; then all are forgotten: most requests come with theirs */
};
/*
 * Of all that runs, most never shows up in a sample, and a large library takes megabytes. Those
 * are fetched when they are met; the first samples of them are copied and lose nothing.
 */
#define LARGE_CODE (8ull << 20)
/* As long as tables take no more than this, one that is met is given whole. */
#define WHOLE_BYTES (7ull << 20)
/* More than most machines need at once: then it is time to see what is still needed. */
#define RENEW_BYTES (24ull << 20)
#define RENEW_NS    (120 * NSEC_PER_SEC)

static u64 key_hash(const struct unwind_key *key)
{
	return hash_mix(hash_mix(key->ino, key->dev), 1);
}

static struct feed_file *find_file(const struct unwind_feed *f, const struct unwind_key *key)
{
	u64 i = map_get(&f->by_key, key_hash(key), 0);

	return i ? &f->files.items[i - 1] : NULL;
}

void feed_begin_change(struct unwind_feed *f)
{
	if (f->maps.epoch)
		__atomic_fetch_add(f->maps.epoch, 1, __ATOMIC_SEQ_CST);
}

void feed_end_change(struct unwind_feed *f)
{
	feed_begin_change(f);
}

static int write_page(struct unwind_feed *f, const struct unwind_table *t, u32 page, const u16 *ids,
		      u32 dir, struct err *e)
{
	const struct unwind_page *p = &t->pages[page];
	struct unwind_page to = { .count = p->count };

	if (p->count) {
		int rc = pool_take(&f->pool, p->count, true, &to.first, e);

		if (rc)
			return rc;
	}
	for (u32 i = 0; i < p->count; i++) {
		u32 row = t->rows[p->first + i];

		*pool_row(&f->pool, to.first + i) = (row & 0xffff0000) | ids[row & 0xffff];
	}
	pool_set_page(&f->pool, dir, page, to);
	return 0;
}

/* A damaged table, or one that does not fit, is treated as unknown. */
static void write_later(struct unwind_feed *f, const struct feed_later *l, u32 dir, u32 page)
{
	if (pool_page(&f->pool, dir, page).count != UNWIND_PAGE_LATER)
		return;
	if (!unwind_table_page_valid(l->table, page) ||
	    write_page(f, l->table, page, l->ids, dir, NULL))
		pool_set_page(&f->pool, dir, page, (struct unwind_page){ 0 });
}

/* A page was met. A table that has room comes whole: its other pages will be met soon. */
static void meet_page(struct unwind_feed *f, u32 dir, u64 page)
{
	u64 i = map_get(&f->by_dir, dir, 0);
	struct feed_later *l = i ? &f->later.items[i - 1] : NULL;

	if (!l || page >= l->table->n_pages)
		return;
	write_later(f, l, dir, (u32)page);
	if (!l->met && pool_bytes(&f->pool) + l->table->n_rows * 4ull <= WHOLE_BYTES) {
		for (u32 p = 0; p < l->table->n_pages; p++)
			write_later(f, l, dir, p);
	}
	l->met = true;
}

static u16 *global_ids(struct unwind_feed *f, const struct unwind_table *t)
{
	u16 *ids = xcalloc(t->n_rules, sizeof(*ids));

	for (u32 i = 0; i < t->n_rules; i++)
		ids[i] = pool_rule_id(&f->pool, &t->rules[i]);
	return ids;
}

static int write_table(struct unwind_feed *f, const struct unwind_table *t, struct unwind_bin *bin,
		       struct err *e)
{
	_cleanup_free_ u16 *ids = global_ids(f, t);
	u32 before = f->pool.used;
	int rc = pool_take(&f->pool, 2 * t->n_pages, false, &bin->dir, e);

	for (u32 i = 0; !rc && i < t->n_pages; i++)
		rc = write_page(f, t, i, ids, bin->dir, e);
	if (rc) {
		f->pool.used = before;
		return rc;
	}
	bin->pages = t->n_pages;
	return 0;
}

/* Only where its pages will be; the table is kept. */
static int announce_table(struct unwind_feed *f, struct unwind_table *t, struct unwind_bin *bin,
			  struct err *e)
{
	int rc = pool_take(&f->pool, 2 * t->n_pages, false, &bin->dir, e);

	if (rc) {
		unwind_table_free(t);
		return rc;
	}
	for (u32 i = 0; i < t->n_pages; i++)
		pool_set_page(&f->pool, bin->dir, i,
			      (struct unwind_page){ .count = t->pages[i].count ? UNWIND_PAGE_LATER
									       : 0 });
	vec_push(&f->later, (struct feed_later){ .table = t, .ids = global_ids(f, t) });
	map_put(&f->by_dir, bin->dir, f->later.len);
	bin->pages = t->n_pages;
	return 0;
}

static u64 build_hash(const struct unwind_table *t)
{
	return t->build_id_len >= 8
		       ? hash_mix(hash_bytes(t->build_id, t->build_id_len), t->fingerprint)
		       : 0;
}

static int publish(struct unwind_feed *f, const struct feed_file *file, struct err *e)
{
	struct feed_file *old = find_file(f, &file->key);
	int rc;

	if (old)
		feed_begin_change(f);
	rc = bpf_map_update_elem(f->maps.bins, &file->key, &file->bin, BPF_ANY) ? -errno : 0;
	if (old)
		feed_end_change(f);
	if (rc)
		return err_sys(e, rc, "cannot publish an unwind table");
	if (old) {
		*old = *file;
		return 0;
	}
	vec_push(&f->files, *file);
	map_put(&f->by_key, key_hash(&file->key), f->files.len);
	return 0;
}

/* @take: not NULL and *@take is @t, which is kept and given by pages. */
static int add_file(struct unwind_feed *f, struct feed_file file, const struct unwind_table *t,
		    struct unwind_table **take, struct err *e)
{
	u64 build = t ? build_hash(t) : 0, twin = build ? map_get(&f->by_build, build, 0) : 0;
	int rc = 0;

	if (twin) {
		file.bin.dir = (u32)(twin >> 32);
		file.bin.pages = (u32)twin;
	} else if (t && take) {
		rc = announce_table(f, TAKE_PTR(*take), &file.bin, e);
	} else if (t) {
		rc = write_table(f, t, &file.bin, e);
	}
	/* A table without room is as if the file had none, so that the kernel stops asking. */
	file.has_cfi = t && !rc;
	int published = publish(f, &file, rc ? NULL : e);

	if (build && !twin && !rc)
		map_put(&f->by_build, build, (u64)file.bin.dir << 32 | file.bin.pages);
	return rc ? rc : published;
}

/* The index under which the kernel knows this build of Python; 0: not one, or not for us. */
static u32 python_of(struct unwind_feed *f, const struct elf *elf)
{
	struct python_build b = { 0 };

	if (!f->maps.pythons || python_build_read(elf, &b))
		return 0;
	for (size_t i = 0; i < f->pythons.len; i++) {
		if (!memcmp(&f->pythons.items[i], &b, sizeof(b))) /* NOLINT: zeroed before */
			return (u32)i + 1;
	}
	u32 index = (u32)f->pythons.len + 1;

	if (index > UNWIND_PYTHONS ||
	    bpf_map_update_elem(f->maps.pythons, &index, &b.frames, BPF_ANY))
		return 0;
	vec_push(&f->pythons, b);
	return index;
}

const struct python_build *unwind_feed_python(const struct unwind_feed *f, u32 index)
{
	return index && index <= f->pythons.len ? &f->pythons.items[index - 1] : NULL;
}

static bool all_valid(const struct unwind_table *t)
{
	for (u32 i = 0; i < t->n_pages; i++) {
		if (!unwind_table_page_valid(t, i))
			return false;
	}
	return true;
}

/*
 * The table of a file. *@later: its pages are not checked yet. Those of Python are wanted at once:
 * a stack that is finished later is one without its functions.
 */
static void find_table(struct unwind_feed *f, const struct elf *elf, bool python,
		       struct unwind_table **ret, bool *later)
{
	*later = f->maps.later && !python;
	if (*later && !unwind_table_get_later(elf, ret, NULL) && (*ret)->n_rows <= LATER_ROWS) {
		*later = false;
		if (!all_valid(*ret)) {
			unwind_table_free(*ret);
			*ret = NULL;
		}
	}
	if (!*ret && !*later)
		(void)unwind_table_get(elf, ret, NULL, NULL);
}

/* The file, if it is known as it was then; @version: NULL or all 0: as it is. */
static const struct feed_file *find_version(const struct unwind_feed *f,
					    const struct unwind_key *key,
					    const struct unwind_version *version)
{
	const struct feed_file *file = find_file(f, key);
	bool any = !version || !(version->size | version->changed);

	return file && (any || unwind_version_same(&file->bin.version, version)) ? file : NULL;
}

/* Takes the descriptor's file under the key by which the kernel knows it. */
static int add_fd(struct unwind_feed *f, int fd, const struct mapping *map, int pid, struct err *e)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	struct feed_file file = { .key = { .ino = map->ino, .dev = map->dev } };
	const char *name = map->path;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct stat st;
	bool later = false;

	if (fstat(fd, &st))
		return err_sys(e, errno, "cannot stat '%s'", name);
	unwind_version_read(fd, &st, &file.bin.version);
	if (find_version(f, &file.key, &file.bin.version))
		return 0;
	/* what is not a program may be some machine's own code, which is known by its address */
	if (!elf_use_fd(&elf, fd, name, NULL)) {
		file.bin.number = numbered_add(&f->numbered, map, pid, fd, &elf, &file.bin.version);
		file.bin.python = python_of(f, &elf);
		find_table(f, &elf, file.bin.python != 0, &t, &later);
	}
	bool has_table = t != NULL;
	/* the kernel waits for the table, not for other readers */
	int rc = add_file(f, file, t, later ? &t : NULL, e);

	if (has_table && f->on_new)
		f->on_new(f->on_new_ctx, fd, &elf);
	return rc;
}

static const char *hint_of(const struct unwind_feed *f, const struct unwind_key *key)
{
	return intern_get(&f->paths, (u32)map_get(&f->hints, key_hash(key), 0));
}

int unwind_feed_map(struct unwind_feed *f, const struct mapping *map, int pid, struct err *e)
{
	const struct unwind_key key = { .ino = map->ino, .dev = map->dev };
	struct mapping named = *map;

	if (find_version(f, &key, &map->version))
		return 0;
	if (!named.path[0])
		named.path = hint_of(f, &key);
	_cleanup_close_ int fd = mapping_open(&named, pid);

	if (fd < 0)
		return err_sys(e, fd, "cannot open '%s' of process %d", map->path, pid);
	return add_fd(f, fd, &named, pid, e);
}

/* The path that came with a request; "": none. A path whose names changed meanwhile may be cut. */
static const char *need_path(const struct unwind_need *need)
{
	const char *path = need->text + need->path;

	if (!need->path || need->path >= UNWIND_PATH || *path != '/' ||
	    strnlen(path, UNWIND_PATH - need->path) != UNWIND_PATH - 1 - need->path)
		return "";
	return path;
}

/* *@map: what is known of it, with the path by which it was tried last. */
static int open_needed(const struct unwind_feed *f, const struct unwind_need *need,
		       struct mapping *map)
{
	const char *hint = hint_of(f, &need->key);

	*map = (struct mapping){
		.start = need->start,
		.end = need->end,
		.ino = need->key.ino,
		.dev = need->key.dev,
		.version = need->version,
		.exec = true,
		.path = need_path(need),
	};
	int fd = map->path[0] ? mapping_open(map, (int)need->pid) : -ENOENT;

	if (fd < 0) {
		map->path = hint;
		fd = mapping_open(map, (int)need->pid);
	}
	return fd;
}

/*
 * The kernel must find the version that it asked with. One that has been changed since will be
 * asked for once more; one for which the file system has two answers (the same question comes
 * @again) is taken as the kernel sees it.
 */
static int answer_version(struct unwind_feed *f, struct feed_file *known,
			  const struct unwind_version *asked, bool again, struct err *e)
{
	struct feed_file file = *known;

	known->asked = *asked;
	if (!memcmp(&file.bin.version, asked, sizeof(*asked)) ||
	    (file.bin.version.changed > asked->changed && !again))
		return 0;
	file.asked = *asked;
	file.bin.version = *asked;
	return publish(f, &file, e);
}

static void add_vdso(struct unwind_feed *f);

/*
 * Files come and go, on a machine that builds programs thousands a day, and nothing reports when a
 * table is not needed any more. So when little room is left all are given up: those that are in
 * use are requested again, and stacks that meet none meanwhile are finished in user space.
 */
static void renew(struct unwind_feed *f)
{
	feed_begin_change(f);
	vec_each(file, &f->files)
		bpf_map_delete_elem(f->maps.bins, &file->key);
	vec_clear(&f->files);
	map_clear(&f->by_key);
	map_clear(&f->by_build);
	map_clear(&f->by_dir);
	vec_each(l, &f->later) {
		unwind_table_free(l->table);
		free(l->ids);
	}
	vec_clear(&f->later);
	feed_drop_programs(f);
	pool_clear(&f->pool);
	feed_end_change(f);
	add_vdso(f);
	f->renewals++;
	f->renewed = clock_mono_ns();
}

static bool is_nearly_full(const struct unwind_feed *f)
{
	return f->files.len >= UNWIND_FILES - UNWIND_FILES / 8 || pool_is_nearly_full(&f->pool) ||
	       (f->pool.used * 4ull > RENEW_BYTES && clock_mono_ns() - f->renewed > RENEW_NS);
}

int unwind_feed_need(struct unwind_feed *f, const struct unwind_need *need, struct err *e)
{
	struct feed_file *known = find_file(f, &need->key);
	struct mapping map;

	if (need->key.dev == UNWIND_CODE_DEV)
		return feed_code(f, need->pid, need->version.size, e);
	if (known && unwind_version_same(&known->bin.version, &need->version)) {
		/* otherwise it asked again before the answer arrived */
		meet_page(f, known->bin.dir, need->page);
		return 0;
	}
	if (is_nearly_full(f)) {
		renew(f);
		known = NULL;
	}
	_cleanup_close_ int fd = open_needed(f, need, &map);

	if (fd < 0)
		return err_sys(e, ENOENT, "cannot open a mapped file of process %u", need->pid);
	bool again = known && unwind_version_same(&known->asked, &need->version);
	int rc = add_fd(f, fd, &map, (int)need->pid, e);

	known = find_file(f, &need->key);
	return rc || !known ? rc : answer_version(f, known, &need->version, again, e);
}

/* What a mapping shows of its file, which is the most that its code can be. */
static bool is_large(const struct mapping *m)
{
	return m->end - m->start > LARGE_CODE;
}

static int add_process(struct unwind_feed *f, int pid, bool large)
{
	_cleanup_(mappings_release) struct mappings maps = { 0 };
	int added = 0;

	if (mappings_read(&maps, pid, NULL))
		return 0;
	vec_each(m, &maps.items) {
		const struct unwind_key key = { .ino = m->ino, .dev = m->dev };

		if (m->exec && m->ino && (large || !is_large(m)) && !find_file(f, &key))
			added += !unwind_feed_map(f, m, pid, NULL);
	}
	return added;
}

void unwind_feed_module(struct unwind_feed *f, const struct module_key *key)
{
	const struct mapping map = { .start = key->map_start,
				     .end = key->map_end,
				     .ino = key->ino,
				     .dev = key->maj << 20 | key->min,
				     .exec = true,
				     .path = key->path };

	if (key->ino)
		unwind_feed_map(f, &map, key->pid, NULL);
}

void unwind_feed_file(struct unwind_feed *f, const char *path)
{
	_cleanup_free_ char *whole = realpath(path, NULL); /* tables are kept by whole paths */
	struct mapping map = { .exec = true, .path = whole };
	struct stat st;

	if (!whole || stat(whole, &st))
		return;
	map.ino = st.st_ino;
	map.dev = major(st.st_dev) << 20 | minor(st.st_dev);
	unwind_feed_map(f, &map, 0, NULL);
}

int unwind_feed_process(struct unwind_feed *f, int pid)
{
	return add_process(f, pid, true);
}

int unwind_feed_running(struct unwind_feed *f, bool large)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int added = 0;

	while (dir && (d = readdir(dir))) {
		const char *p = d->d_name;
		u64 pid;

		if (scan_u64(&p, p + strlen(p), 10, &pid) && !*p && pid <= INT32_MAX)
			added += add_process(f, (int)pid, large);
	}
	if (dir)
		closedir(dir);
	return added;
}

void unwind_feed_hint(struct unwind_feed *f, const struct unwind_key *key, const char *path)
{
	u64 *known;

	if (path[0] != '/')
		return;
	if (f->paths.len >= HINTS_MOST) {
		map_clear(&f->hints);
		intern_release(&f->paths);
		f->paths = (struct intern){ 0 };
	}
	known = map_at(&f->hints, key_hash(key));
	/* most are those of the process before */
	if (!streq(intern_get(&f->paths, (u32)*known), path))
		*known = intern_str(&f->paths, path);
}

static void add_vdso(struct unwind_feed *f)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	const struct mapping map = { .ino = VDSO_INODE, .path = "[vdso]" };
	struct feed_file file = { .key.ino = VDSO_INODE };
	u64 size;

	if (unwind_vdso_table(&t, &size))
		return;
	file.bin.number =
		numbered_add(&f->numbered, &map, 0, -1, &(struct elf)ELF_INIT, &file.bin.version);
	add_file(f, file, t, NULL, NULL);
}

int unwind_feed_new(struct unwind_feed **ret, const struct unwind_feed_maps *maps, struct err *e)
{
	struct unwind_feed *f = xcalloc(1, sizeof(*f));
	int rc = pool_init(&f->pool, maps->pool, maps->rules, e);

	if (rc) {
		free(f);
		return rc;
	}
	f->maps = *maps;
	f->renewed = clock_mono_ns();
	mapwatch_base_init(&f->map_base);
	add_vdso(f);
	*ret = f;
	return 0;
}

void unwind_feed_free(struct unwind_feed *f)
{
	if (!f)
		return;
	pool_release(&f->pool);
	intern_release(&f->paths);
	numbered_release(&f->numbered);
	vec_release(&f->files);
	vec_release(&f->pythons);
	vec_each(p, &f->programs)
		feed_program_free(*p);
	vec_release(&f->programs);
	code_names_release(&f->names);
	mapwatch_base_release(&f->map_base);
	map_release(&f->by_key);
	map_release(&f->by_build);
	map_release(&f->by_dir);
	vec_each(l, &f->later) {
		unwind_table_free(l->table);
		free(l->ids);
	}
	vec_release(&f->later);
	map_release(&f->hints);
	free(f);
}

void unwind_feed_on_new(struct unwind_feed *f, unwind_feed_new_fn *fn, void *ctx)
{
	f->on_new = fn;
	f->on_new_ctx = ctx;
}

const struct code_names *unwind_feed_names(const struct unwind_feed *f)
{
	return &f->names;
}

bool unwind_feed_rule(struct unwind_feed *f, const struct unwind_key *key,
		      const struct unwind_version *version, u64 offset,
		      const struct unwind_rule **ret)
{
	const struct feed_file *file = find_version(f, key, version);

	if (!file)
		return false;
	if (file->has_cfi)
		meet_page(f, file->bin.dir, offset >> UNWIND_PAGE_BITS);
	*ret = file->has_cfi ? pool_search(&f->pool, &file->bin, offset) : NULL;
	if (file->has_cfi && !*ret)
		*ret = &f->pool.rules[UNWIND_RULE_END];
	return true;
}

u32 unwind_feed_number(const struct unwind_feed *f, const struct unwind_key *key,
		       const struct unwind_version *version)
{
	const struct feed_file *file = find_version(f, key, version);

	return file ? file->bin.number : 0;
}

const struct numbered *unwind_feed_numbered(const struct unwind_feed *f)
{
	return &f->numbered;
}

void unwind_feed_stats(const struct unwind_feed *f, struct unwind_feed_stats *ret)
{
	ret->files = f->files.len;
	ret->renewals = f->renewals;
	ret->bytes = pool_bytes(&f->pool);
}
