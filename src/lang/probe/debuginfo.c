/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/probe/debuginfo.h"

#include "base/io.h"
#include "base/map.h"
#include "lang/comp.h"
#include "host/cpu.h"
#include "symbol/debug.h"
#include "symbol/srcline_types.h"

enum { BUILD_ID_MOST = 64, FIELDS_MOST = 4096, PASSED_IN_REGISTERS = 16 };

struct debug_file {
	const char *path;
	struct elf elf;
	struct srcline *lines; /* NULL: nothing is known */
	u64 shift;             /* of addresses in a separate file */
	struct map types;      /* number of a type -> address of ours */
};

struct debuginfo {
	VEC(struct debug_file *) files;
};

void debuginfo_free(struct debuginfo *d)
{
	if (!d)
		return;
	vec_each(it, &d->files) {
		srcline_free((*it)->lines);
		elf_release(&(*it)->elf);
		map_release(&(*it)->types);
		free(*it);
	}
	vec_release(&d->files);
	free(d);
}

/* --- files ------------------------------------------------------------------------------------ */

/* In the folders of --debuginfo, one after the other, then in the usual one. */
static int find_debug(struct comp *c, struct debug_search *search, struct elf *ret,
		      struct buf *ret_path)
{
	for (size_t i = 0; i < c->opts->n_debug_dirs; i++) {
		const char *list = c->opts->debug_dirs[i];

		while (*list) {
			size_t n = strcspn(list, ":");

			search->dir = arena_strndup(&c->arena, list, n);
			if (n && debug_find(search, ret, ret_path) == 0)
				return 0;
			list += n + (list[n] == ':');
		}
	}
	search->dir = "/usr/lib/debug";
	return debug_find(search, ret, ret_path);
}

static void open_lines(struct comp *c, struct debug_file *f)
{
	_cleanup_elf_ struct elf debug = ELF_INIT, alt = ELF_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	u8 id[BUILD_ID_MOST];
	struct debug_search search = { .main = &f->elf,
				       .path = f->path,
				       .dir = "/usr/lib/debug",
				       .build_id = id,
				       .lines = true };
	const struct elf *from = &f->elf;
	bool has_alt;

	search.build_id_len = elf_build_id(&f->elf, id, sizeof(id));
	if (!srcline_has(&f->elf)) {
		if (find_debug(c, &search, &debug, &path) < 0)
			return;
		from = &debug;
		if (elf_code_start(&debug))
			f->shift = elf_code_start(&debug) - elf_code_start(&f->elf);
	}
	has_alt = debug_find_alt(&search, from, path.len ? path.data : f->path, &alt) == 0;
	if (srcline_new(&f->lines, from, has_alt ? &alt : NULL) < 0)
		f->lines = NULL;
}

static struct debug_file *file_of(struct comp *c, const char *path)
{
	struct debug_file *f;
	int fd;

	if (!c->debuginfo)
		c->debuginfo = xcalloc(1, sizeof(*c->debuginfo));
	vec_each(it, &c->debuginfo->files) {
		if (streq((*it)->path, path))
			return (*it)->lines ? *it : NULL;
	}
	f = xcalloc(1, sizeof(*f));
	f->elf = (struct elf)ELF_INIT;
	f->path = arena_strdup(&c->arena, path);
	vec_push(&c->debuginfo->files, f);
	if (io_open_read(path, &fd, NULL) == 0 && elf_open_fd(&f->elf, fd, path, NULL) == 0)
		open_lines(c, f);
	return f->lines ? f : NULL;
}

/* --- types ------------------------------------------------------------------------------------ */

static const struct type *convert(struct comp *c, struct debug_file *f, u32 id, u32 depth);

struct members {
	struct comp *c;
	struct debug_file *f;
	u32 depth;
	VEC(struct field) fields;
};

static void add_member(void *ctx, const struct dtype_member *m)
{
	struct members *list = ctx;
	struct field to = { .name = arena_strdup(&list->c->types.arena, m->name),
			    .offset = (u32)(m->bit_offset / 8) };

	if (list->fields.len >= FIELDS_MOST)
		return;
	to.type = convert(list->c, list->f, m->type, list->depth + 1);
	if (m->bits && to.type->size) {
		u32 unit = to.type->size * 8;

		to.offset = (u32)(m->bit_offset / unit * to.type->size);
		to.bit = (u32)(m->bit_offset % unit);
		to.bits = m->bits;
	}
	vec_push(&list->fields, to);
}

static const struct type *convert_struct(struct comp *c, struct debug_file *f, u32 id,
					 const struct dtype *d, u32 depth)
{
	struct type *t = type_new(&c->types, T_STRUCT, (u32)MIN(d->size, (u64)TYPE_MAX_SIZE));
	struct members list = { .c = c, .f = f, .depth = depth };

	t->name = *d->name ? arena_printf(&c->types.arena, "struct %s", d->name) : "struct";
	t->space = SPACE_USER;
	/* before its members: they may point to it */
	map_put(&f->types, id, (u64)(uintptr_t)t);
	srcline_members(f->lines, id, add_member, &list);
	t->fields =
		arena_dup(&c->types.arena, list.fields.items, list.fields.len * sizeof(*t->fields));
	t->n_fields = (u32)list.fields.len;
	vec_release(&list.fields);
	return t;
}

static const struct type *make(struct comp *c, struct debug_file *f, u32 id, const struct dtype *d,
			       u32 depth)
{
	const struct type *elem;
	struct dtype of;

	switch (d->kind) {
	case DTYPE_INT:
		return d->size == 1 || d->size == 2 || d->size == 4 || d->size == 8
			       ? type_int(&c->types, (u32)d->size, d->is_signed)
			       : type_new(&c->types, T_VOID, (u32)MIN(d->size, 4096ull));
	case DTYPE_PTR:
		elem = convert(c, f, d->elem, depth + 1);
		return type_ptr(&c->types, elem, SPACE_USER);
	case DTYPE_STRUCT: return convert_struct(c, f, id, d, depth);
	case DTYPE_ARRAY:
		if (srcline_type(f->lines, d->elem, &of) && of.is_char && d->count &&
		    d->count <= TYPE_MAX_STRING)
			return type_str(&c->types, (u32)d->count);
		elem = convert(c, f, d->elem, depth + 1);
		return type_array(&c->types, elem, (u32)d->count);
	default: return type_new(&c->types, T_VOID, (u32)MIN(d->size, 4096ull));
	}
}

static const struct type *convert(struct comp *c, struct debug_file *f, u32 id, u32 depth)
{
	const struct type *t = (const struct type *)(uintptr_t)map_get(&f->types, id, 0);
	struct dtype d;

	if (t)
		return t;
	if (depth > DTYPE_MAX_DEPTH || !srcline_type(f->lines, id, &d))
		return type_new(&c->types, T_VOID, 0);
	t = make(c, f, id, &d, depth);
	map_put(&f->types, id, (u64)(uintptr_t)t);
	return t;
}

const struct type *debuginfo_type(struct comp *c, const char *path, const char *name)
{
	struct debug_file *f = file_of(c, path);
	u32 id = f ? srcline_find_type(f->lines, name) : 0;

	return id ? convert(c, f, id, 0) : NULL;
}

/* --- parameters ------------------------------------------------------------------------------- */

struct params {
	struct comp *c;
	struct debug_file *f;
	VEC(struct field) fields;
	u32 words; /* of integer registers taken */
	u32 stack; /* words on the stack taken */
};

/* Where the calling convention of x86-64 puts it. What is not a number is only counted. */
static void add_param(void *ctx, const char *name, u32 type)
{
	_cleanup_buf_ struct buf decl = BUF_INIT;
	struct params *p = ctx;
	struct field to = { .name = arena_strdup(&p->c->types.arena, name) };
	struct dtype d;
	u32 words;

	if (!srcline_type(p->f->lines, type, &d) || d.kind == DTYPE_FLOAT)
		return;
	words = (u32)MIN((d.size + 7) / 8, 1024ull);
	if (d.kind == DTYPE_STRUCT || d.kind == DTYPE_ARRAY) {
		if (d.size > PASSED_IN_REGISTERS || cpu_argument(p->words + words - 1) < 0)
			p->stack += words;
		else
			p->words += words;
		return;
	}
	if (cpu_argument(p->words) >= 0)
		to.offset = p->words++;
	else
		to.offset = DEBUGINFO_STACK + p->stack++;
	to.type = convert(p->c, p->f, type, 0);
	srcline_type_name(p->f->lines, type, &decl);
	to.decl = arena_printf(&p->c->types.arena, "%s %s", buf_str(&decl), name);
	if (*name && p->fields.len < FIELDS_MOST)
		vec_push(&p->fields, to);
}

const struct type *debuginfo_params(struct comp *c, const char *path, u64 offset)
{
	struct debug_file *f = file_of(c, path);
	struct params p = { .c = c, .f = f };
	struct type *t = NULL;
	u64 vaddr;

	if (!f || !segments_vaddr(f->elf.segments, f->elf.segment_count, offset, &vaddr))
		return NULL;
	if (srcline_params(f->lines, vaddr + f->shift, add_param, &p)) {
		t = type_new(&c->types, T_STRUCT, 0);
		t->name = "args";
		t->space = SPACE_CTX;
		t->fields = arena_dup(&c->types.arena, p.fields.items,
				      p.fields.len * sizeof(*t->fields));
		t->n_fields = (u32)p.fields.len;
	}
	vec_release(&p.fields);
	return t;
}

/* --- lines ------------------------------------------------------------------------------------ */

struct line_search {
	const struct debug_file *f;
	offset_list *ret;
};

static void add_address(void *ctx, u64 vaddr)
{
	struct line_search *s = ctx;
	u64 offset;

	if (segments_offset(s->f->elf.segments, s->f->elf.segment_count, vaddr - s->f->shift,
			    &offset))
		vec_push(s->ret, offset);
}

void debuginfo_line(struct comp *c, const char *path, const char *file, u32 line, offset_list *ret)
{
	struct line_search s = { .f = file_of(c, path), .ret = ret };

	if (s.f)
		srcline_addresses(s.f->lines, file, line, add_address, &s);
}
