/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules: identity, finding and opening their files, and the look-up itself. */
#include "symbol/store.h"

#include "base/io.h"
#include "symbol/open.h"

#include <inttypes.h>
#include <sys/stat.h>

/* Longer names are cut; C++ templates make some of several thousand bytes. */
enum { MODULE_MAX_NAME = 16 << 10 };

struct module *store_module(const struct symbols *s, u32 id)
{
	return id && id <= s->modules.len ? s->modules.items[id - 1] : NULL;
}

/* The bytes that make two keys the same module. */
static void identity(const struct module_key *key, size_t path_len, struct buf *ret)
{
	if (key->build_id_len) {
		buf_addch(ret, 'b');
		buf_add(ret, key->build_id, MIN(key->build_id_len, (size_t)MODULE_BUILD_ID_MAX));
	} else {
		buf_addf(ret, "i%x:%x:%" PRIx64 ":%" PRIx64 ":%" PRIx64, key->maj, key->min,
			 key->ino, key->ino_gen, key->changed);
	}
	buf_addch(ret, '\0');
	buf_add(ret, key->path ? key->path : "", path_len);
}

static size_t path_length(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t n;

	if (!path)
		return 0;
	n = strlen(path);
	return path[0] == '/' && ends_with(path, mark) ? n - (sizeof(mark) - 1) : n;
}

static const char *last_part(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static struct module *module_new(struct symbols *s, const struct module_key *key, size_t path_len)
{
	struct module *m = xcalloc(1, sizeof(*m));
	size_t n = MIN(key->build_id_len, (size_t)MODULE_BUILD_ID_MAX);

	m->key = *key;
	m->key.path = arena_strndup(&s->arena, key->path ? key->path : "", path_len);
	m->key.build_id = n ? arena_dup(&s->arena, key->build_id, n) : NULL;
	m->key.build_id_len = n;
	m->short_name = last_part(m->key.path);
	return m;
}

u32 symbols_module(struct symbols *s, const struct module_key *key)
{
	const size_t path_len = path_length(key->path);
	u32 id;

	buf_reset(&s->scratch);
	identity(key, path_len, &s->scratch);
	id = intern_bytes(&s->identities, s->scratch.data, s->scratch.len);
	if (id > s->modules.len) {
		vec_push(&s->modules, module_new(s, key, path_len));
		if (key->pid && jit_is_dump(vec_last(&s->modules)[0]->key.path))
			runtime_note_dump(s, &vec_last(&s->modules)[0]->key);
	} else if (key->pid && !s->modules.items[id - 1]->loaded) {
		/* The latest process is the likeliest to be alive when its file is opened. */
		struct module_key *k = &s->modules.items[id - 1]->key;

		k->pid = key->pid;
		if (key->mapped && key->mapped < k->mapped)
			k->mapped = key->mapped;
		k->map_start = key->map_start;
		k->map_end = key->map_end;
	}
	return id;
}

u32 symbols_module_count(const struct symbols *s)
{
	return (u32)s->modules.len;
}

/* Old recordings pad a build id with zeros. */
static bool same_build_id(const struct module_key *key, const u8 *id, size_t n)
{
	if (n > key->build_id_len || memcmp(key->build_id, id, n) != 0)
		return false;
	for (size_t i = n; i < key->build_id_len; i++)
		if (key->build_id[i])
			return false;
	return n > 0;
}

static u64 time_ns(const struct timespec *t)
{
	return (u64)t->tv_sec * NSEC_PER_SEC + (u64)t->tv_nsec;
}

/* In place: it is the same inode. One of the times may be the future, or of a file that is deleted.
 */
static bool is_written_since(const struct module_key *key, const struct stat *st)
{
	const u64 known = key->changed ? key->changed : key->mapped;

	return known && st->st_ino == key->ino && time_ns(&st->st_mtim) > known &&
	       time_ns(&st->st_ctim) > known;
}

/* Whether an opened file is the recorded one; where that is not certain, says so. */
static bool accept_file(const struct symbols *s, struct module *m, const struct elf *elf)
{
	u8 id[MODULE_BUILD_ID_MAX] = { 0 };
	struct stat st;
	size_t n;

	if (m->key.build_id_len) {
		n = elf_build_id(elf, id, sizeof(id));
		if (same_build_id(&m->key, id, n))
			return true;
		m->why = "the file was replaced since: its build id is another";
		m->hint = "restart the program, or look at the recording where it was made";
		return false;
	}
	if (s->opts.offline) {
		m->why = "no build id was recorded, so a file of this machine may be another";
		return false;
	}
	if (fstat(elf->fd, &st) < 0)
		return true;
	if (is_written_since(&m->key, &st)) {
		m->why = "the file was written again since, and has no build id";
		m->hint = "link it with --build-id, or replace the file instead of writing to it";
		return false;
	}
	if (m->key.ino && st.st_ino != m->key.ino)
		m->why = "the file may have been replaced since: its inode is another";
	return true;
}

bool module_open_file(const struct symbols *s, struct module *m, struct elf *ret)
{
	int error = -ENOENT;

	for (enum module_way way = 0; way < WAY_COUNT; way++) {
		int fd;

		if (s->opts.offline && way != WAY_PATH && way != WAY_PERF)
			continue;
		fd = module_open(&m->key, way);
		if (fd < 0) {
			error = fd == -ENOENT ? error : fd;
			continue;
		}
		m->why = m->hint = NULL;
		if (elf_open_fd(ret, fd, m->key.path, NULL) < 0) {
			m->why = "the file is not an ELF file that can be read";
			continue;
		}
		if (accept_file(s, m, ret))
			return true;
		elf_release(ret);
	}
	if (!m->why)
		m->why = error == -EACCES || error == -EPERM ? "no permission to read the file"
							     : "the file no longer exists";
	return false;
}

static struct image *add_image(struct symbols *s, struct image *img)
{
	vec_push(&s->images, img);
	if (img->identity)
		map_put(&s->image_of_file, img->identity, s->images.len);
	return img;
}

/* The same file under another path, or in another container; never one with just the same id. */
static struct image *find_image(const struct symbols *s, u64 identity)
{
	u64 index = identity ? map_get(&s->image_of_file, identity, 0) : 0;

	return index ? s->images.items[index - 1] : NULL;
}

/* A file that is gone: its names may be in the cache. */
static struct image *image_of_lost(struct symbols *s, struct module *m)
{
	struct image *img = image_new();

	if (!s->opts.cache_dir ||
	    cache_load_lost(img, s->opts.cache_dir, m->key.build_id, m->key.build_id_len) < 0) {
		image_free(img);
		return NULL;
	}
	m->why = m->hint = NULL;
	return add_image(s, img);
}

/* How the file of a module is to be read; @room is for the root of its process. */
static struct image_source source_of(struct symbols *s, const struct module *m, char *room,
				     size_t room_size)
{
	struct image_source src = { .path = m->key.path,
				    .debug_dir = s->opts.debug_dir,
				    .server = &s->server,
				    .cache_dir = s->opts.cache_dir,
				    .no_debug_files = s->opts.no_debug_files,
				    .keep = s->opts.keep };

	if (m->key.pid && !s->opts.offline) {
		snprintf(room, room_size, "/proc/%d/root", (int)m->key.pid);
		src.root = room;
	}
	return src;
}

static bool any_named(const struct carried *c)
{
	vec_each(n, &c->list) {
		if (!(n->flags & SYM_FDE))
			return true;
	}
	return false;
}

bool module_has_more(struct symbols *s, struct module *m)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct module probe = *m;
	char root[64];

	if (m->probed || m->loaded || !m->carried.list.len)
		return m->more || m->loaded || !m->carried.list.len;
	m->probed = true;
	if (!module_open_file(s, &probe, &elf) || elf_find_type(&elf, SHT_SYMTAB) ||
	    elf_find_section(&elf, ".gnu_debugdata") || srcline_has(&elf)) {
		m->more = true;
	} else {
		struct image_source src = source_of(s, m, root, sizeof(root));

		m->more = image_has_debug_file(&elf, &src);
	}
	if (!m->more)
		image_explain(any_named(&m->carried), &m->why, &m->hint);
	return m->more;
}

static struct image *image_of_file(struct symbols *s, struct module *m)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	char root[64];
	struct image_source src = source_of(s, m, root, sizeof(root));
	struct image *img;

	if (!module_open_file(s, m, &elf))
		return m->key.build_id_len ? image_of_lost(s, m) : NULL;
	img = find_image(s, elf.identity);
	if (img)
		return img;
	img = image_new();
	image_load(img, &elf, &src);
	return add_image(s, img);
}

bool module_open_vdso(const struct symbols *s, const struct module *m, struct elf *ret)
{
	if (!streq(m->key.path, "[vdso]") || image_open_vdso(ret) < 0)
		return false;
	if (m->key.build_id_len ? same_build_id(&m->key, ret->build_id, ret->build_id_len)
				: !s->opts.offline)
		return true;
	elf_release(ret);
	return false;
}

static struct image *image_of_vdso(struct symbols *s, struct module *m)
{
	struct image *img = image_new();

	if (image_load_vdso(img) < 0 ||
	    (m->key.build_id_len && !same_build_id(&m->key, img->build_id, img->build_id_len)) ||
	    (s->opts.offline && !m->key.build_id_len)) {
		image_free(img);
		img = m->key.build_id_len ? image_of_file(s, m) : NULL;
		if (!img)
			m->why = "the vDSO of another kernel";
		return img;
	}
	return add_image(s, img);
}

void module_load(struct symbols *s, struct module *m)
{
	m->loaded = true;
	if (streq(m->key.path, "[vdso]"))
		m->image = image_of_vdso(s, m);
	else if (m->key.path[0] != '/' || starts_with(m->key.path, "//anon"))
		m->why = "memory without a file";
	else
		m->image = image_of_file(s, m);
	if (m->image && !m->why) {
		m->why = m->image->why;
		m->hint = m->image->hint;
	}
}

static const struct symbol *answer_from_image(struct symbols *s, struct module *m,
					      const struct sym *sym, u64 start)
{
	const struct symbol *known = answers_find(&m->answers, start);
	struct symbol ret = { .start = start, .size = sym->size, .flags = sym->flags };
	const char *raw;
	u32 name;

	if (known)
		return known;
	if (sym->flags & SYM_FDE) {
		ret.name = ret.raw_name =
			arena_printf(&s->arena, "%s+0x%" PRIx64, m->short_name, sym->start);
	} else {
		raw = symtab_name(&m->image->symtab, sym);
		if (strnlen(raw, MODULE_MAX_NAME) == MODULE_MAX_NAME)
			raw = arena_strndup(&s->arena, raw, MODULE_MAX_NAME);
		name = store_shown_name(s, raw, sym->flags & SYM_PLT ? "@plt" : "");
		ret.name = intern_get(&s->names, name);
		ret.raw_name = sym->flags & SYM_PLT ? arena_printf(&s->arena, "%s@plt", raw) : raw;
	}
	return answers_add(&m->answers, start, &ret);
}

static const struct symbol *lookup_image(struct symbols *s, struct module *m, u64 offset,
					 bool named_only)
{
	const struct sym *sym;
	u64 vaddr, into;

	if (!m->image ||
	    !segments_vaddr(m->image->segments, m->image->segment_count, offset, &vaddr))
		return NULL;
	sym = symtab_find(&m->image->symtab, vaddr);
	if (!sym || (named_only && (sym->flags & SYM_FDE)))
		return NULL;
	into = vaddr - sym->start;
	return answer_from_image(s, m, sym, into < offset ? offset - into : 0);
}

static const char *carried_shown_name(struct symbols *s, const char *raw, u32 flags)
{
	_cleanup_free_ char *bare = NULL;

	if (!(flags & SYM_PLT) || !ends_with(raw, "@plt"))
		return intern_get(&s->names, store_shown_name(s, raw, ""));
	bare = xstrndup(raw, strlen(raw) - strlen("@plt"));
	return intern_get(&s->names, store_shown_name(s, bare, "@plt"));
}

static const struct symbol *answer_from_carried(struct symbols *s, struct module *m,
						const struct carried_name *c)
{
	const struct symbol *known = answers_find(&m->answers, c->start);
	struct symbol ret = { .start = c->start, .size = c->size, .flags = c->flags | SYM_CARRIED };

	if (known)
		return known;
	ret.raw_name = intern_get(&s->names, c->name);
	ret.name = carried_shown_name(s, ret.raw_name, c->flags);
	return answers_add(&m->answers, c->start, &ret);
}

/* What the recording says is true of it; only where it has no name, a file here may know one. */
static const struct symbol *lookup(struct symbols *s, struct module *m, u64 offset)
{
	const struct carried_name *c = carried_find(&m->carried, offset);
	const struct symbol *found;

	if (c && (!(c->flags & SYM_FDE) || !module_has_more(s, m)))
		return answer_from_carried(s, m, c);
	if (!m->loaded)
		module_load(s, m);
	found = lookup_image(s, m, offset, c != NULL);
	return !found && c ? answer_from_carried(s, m, c) : found;
}

bool symbols_lookup(struct symbols *s, u32 module, u64 file_offset, struct symbol *ret)
{
	struct module *m = store_module(s, module);
	const struct symbol *found = m ? lookup(s, m, file_offset) : NULL;

	if (!m)
		return false;
	if (!found) {
		m->nameless++;
		return false;
	}
	if (found->flags & SYM_FDE)
		m->grouped++;
	else
		m->named++;
	*ret = *found;
	return true;
}

bool symbols_vaddr(struct symbols *s, u32 module, u64 file_offset, u64 *ret)
{
	struct module *m = store_module(s, module);

	if (!m)
		return false;
	if (!m->loaded)
		module_load(s, m);
	return m->image &&
	       segments_vaddr(m->image->segments, m->image->segment_count, file_offset, ret);
}

bool symbols_module_info(const struct symbols *s, u32 module, struct module_info *ret)
{
	const struct module *m = store_module(s, module);

	if (!m)
		return false;
	*ret = (struct module_info){ .path = m->key.path,
				     .short_name = m->short_name,
				     .build_id = m->key.build_id,
				     .build_id_len = m->key.build_id_len,
				     .why = m->why,
				     .hint = m->hint,
				     .loaded = m->loaded,
				     .named = m->named,
				     .grouped = m->grouped,
				     .nameless = m->nameless };
	if (!m->image)
		return true;
	ret->debug_file = m->image->debug_file;
	ret->symbol_count = m->image->named;
	ret->from_cache = m->image->from_cache;
	lines_info(&m->image->lines, ret);
	if (!ret->build_id_len && m->image->build_id_len) {
		ret->build_id = m->image->build_id;
		ret->build_id_len = m->image->build_id_len;
	}
	return true;
}

bool symbols_module_exists(const struct symbols *s, u32 module)
{
	const struct module *m = store_module(s, module);

	return m && io_exists(m->key.path);
}

const char *symbols_module_name(const struct symbols *s, u32 module)
{
	const struct module *m = store_module(s, module);

	return m ? m->short_name : "";
}
