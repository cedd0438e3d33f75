/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/func_btf.h"

#include "base/buf.h"
#include "host/bpf_sys.h"

#include <linux/btf.h>

enum { ID_INT = 1, ID_PROTO, ID_LOCAL };

static const char strings[] = "\0long\0fathom\0memory\0a";
enum { NAME_LONG = 1, NAME_FUNC = 6, NAME_MEMORY = 13, NAME_PARAM = 20 };

#define INFO(kind, vlen) ((u32)(kind) << 24 | (vlen))

struct writer {
	struct buf types;
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

int func_btf_load(const func_types *funcs, struct bpf_func_info *info)
{
	struct btf_header h = { .magic = BTF_MAGIC,
				.version = BTF_VERSION,
				.hdr_len = sizeof(h),
				.str_len = sizeof(strings) };
	_cleanup_buf_ struct buf all = BUF_INIT;
	struct writer w = { .types = BUF_INIT };
	int fd;

	add_common(&w);
	for (size_t i = 0; i < funcs->len; i++) {
		const struct func_type *f = &funcs->items[i];

		info[i] = (struct bpf_func_info){ f->start,
						  f->is_global ? add_global(&w, f) : ID_LOCAL };
	}
	h.type_len = h.str_off = (u32)w.types.len;
	buf_add(&all, &h, sizeof(h));
	buf_add(&all, w.types.data, w.types.len);
	buf_add(&all, strings, sizeof(strings));
	fd = bpfsys_btf_load(all.data, (u32)all.len, NULL, 0);
	buf_release(&w.types);
	return fd;
}
