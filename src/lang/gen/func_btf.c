/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/gen/func_btf.h"

#include "base/buf.h"
#include "host/bpf_sys.h"

#include <linux/btf.h>

enum { ID_INT = 1, ID_PROTO, ID_LOCAL };
/* The kernel packs them: 22 bits of line, 10 of column. */
enum { LINE_SHIFT = 10, MAX_COLUMN = 1023, LINE_SHOWN = 200 };

static const char strings[] = "\0long\0fathom\0memory\0a";
enum { NAME_LONG = 1, NAME_FUNC = 6, NAME_MEMORY = 13, NAME_PARAM = 20 };

#define INFO(kind, vlen) ((u32)(kind) << 24 | (vlen))

struct writer {
	struct buf types;
	struct buf text;
	u32 last; /* id of the last type */
};

static u32 add_type(struct writer *w, u32 name, u32 info, u32 size_or_type)
{
	struct btf_type t = { .name_off = name, .info = info, .size = size_or_type };

	buf_add(&w->types, &t, sizeof(t));
	return ++w->last;
}

static void add_common(struct writer *w)
{
	u32 encoding = BTF_INT_SIGNED << 24 | 64;

	add_type(w, NAME_LONG, INFO(BTF_KIND_INT, 0), 8);
	buf_add(&w->types, &encoding, sizeof(encoding));
	add_type(w, 0, INFO(BTF_KIND_FUNC_PROTO, 0), ID_INT);
	add_type(w, NAME_FUNC, INFO(BTF_KIND_FUNC, BTF_FUNC_STATIC), ID_PROTO);
}

static u32 add_global(struct writer *w, const struct func_type *f)
{
	struct btf_param params[FUNC_MAX_PARAMS];
	u32 proto;

	for (u32 i = 0; i < f->n_params; i++) {
		u32 id = ID_INT;

		if (f->pointed[i]) {
			id = add_type(w, NAME_MEMORY, INFO(BTF_KIND_STRUCT, 0), f->pointed[i]);
			id = add_type(w, 0, INFO(BTF_KIND_PTR, 0), id);
		}
		params[i] = (struct btf_param){ NAME_PARAM, id };
	}
	proto = add_type(w, 0, INFO(BTF_KIND_FUNC_PROTO, f->n_params), ID_INT);
	buf_add(&w->types, params, f->n_params * sizeof(*params));
	return add_type(w, NAME_FUNC, INFO(BTF_KIND_FUNC, BTF_FUNC_GLOBAL), proto);
}

/* Printable text only: a line of a script may have any bytes. */
static u32 add_text(struct writer *w, const char *s, size_t n)
{
	u32 at = (u32)w->text.len;

	for (size_t i = 0; i < n; i++)
		buf_addch(&w->text, s[i] >= ' ' && s[i] < 127 ? s[i] : ' ');
	buf_addch(&w->text, 0);
	return at;
}

static u32 add_source_line(struct writer *w, const struct source *src, u32 offset)
{
	size_t begin = MIN(offset, src->len), end = begin;

	while (begin && src->text[begin - 1] != '\n')
		begin--;
	while (end < src->len && src->text[end] != '\n')
		end++;
	return add_text(w, src->text + begin, MIN(end - begin, (size_t)LINE_SHOWN));
}

static bool starts_function(const func_types *funcs, u32 insn)
{
	vec_each(it, funcs) {
		if (it->start == insn)
			return true;
	}
	return false;
}

static void add_lines(struct writer *w, const func_types *funcs, const struct source *src,
		      const u32 *lines, size_t n, struct func_btf *ret)
{
	u32 file = add_text(w, src->name, strlen(src->name)), text = 0, last = 0;

	ret->lines = xcalloc(n + funcs->len, sizeof(*ret->lines));
	for (u32 i = 0; i < n; i++) {
		u32 line, column;

		if (i && lines[i] == lines[i - 1] && !starts_function(funcs, i))
			continue;
		source_place(src, lines[i], &line, &column);
		if (line != last)
			text = add_source_line(w, src, lines[i]);
		last = line;
		ret->lines[ret->n_lines++] =
			(struct bpf_line_info){ i, file, text,
						line << LINE_SHIFT | MIN(column, (u32)MAX_COLUMN) };
	}
	/* Every function wants one, those of the run time too. */
	vec_each(it, funcs) {
		if (it->start >= n)
			ret->lines[ret->n_lines++] =
				(struct bpf_line_info){ it->start, file, 0, 1 << LINE_SHIFT };
	}
}

static int load(const struct writer *w)
{
	struct btf_header h = { .magic = BTF_MAGIC,
				.version = BTF_VERSION,
				.hdr_len = sizeof(h),
				.type_len = (u32)w->types.len,
				.str_off = (u32)w->types.len,
				.str_len = (u32)w->text.len };
	_cleanup_buf_ struct buf all = BUF_INIT;

	buf_add(&all, &h, sizeof(h));
	buf_add(&all, w->types.data, w->types.len);
	buf_add(&all, w->text.data, w->text.len);
	return bpfsys_btf_load(all.data, (u32)all.len, NULL, 0);
}

int func_btf_load(const func_types *funcs, const struct source *src, const u32 *lines,
		  size_t n_insns, struct func_btf *ret)
{
	struct writer w = { .types = BUF_INIT, .text = BUF_INIT };
	struct func_btf b = FUNC_BTF_INIT;
	int rc = 0;

	buf_add(&w.text, strings, sizeof(strings));
	add_common(&w);
	b.funcs = xcalloc(funcs->len, sizeof(*b.funcs));
	for (size_t i = 0; i < funcs->len; i++) {
		const struct func_type *f = &funcs->items[i];

		b.funcs[i] = (struct bpf_func_info){ f->start,
						     f->is_global ? add_global(&w, f) : ID_LOCAL };
	}
	if (src)
		add_lines(&w, funcs, src, lines, n_insns, &b);
	b.fd = load(&w);
	buf_release(&w.types);
	buf_release(&w.text);
	if (b.fd >= 0) {
		*ret = b;
	} else {
		rc = b.fd;
		func_btf_release(&b);
	}
	return rc;
}

void func_btf_release(struct func_btf *b)
{
	if (b->fd >= 0)
		close(b->fd);
	free(b->funcs);
	free(b->lines);
	*b = (struct func_btf)FUNC_BTF_INIT;
}
