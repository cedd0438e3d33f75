/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF programs and their types, as perf saved them for symbols and annotation. */
#include "recording/reader.h"

/* Offsets in the kernel's struct bpf_prog_info, which only ever grows. */
enum {
	INFO_TYPE = 0,
	INFO_ID = 4,
	INFO_TAG = 8,
	INFO_NAME = 64,
	INFO_NR_KSYMS = 104,
	INFO_NR_LENS = 108,
	INFO_KSYMS = 112, /* in the file: offset in the data after the info */
	INFO_LENS = 120,
	INFO_BTF_ID = 128,
	INFO_FUNC_SIZE = 132,
	INFO_FUNCS = 136,
	INFO_NR_FUNCS = 144,
	INFO_NR_TAGS = 180,
	INFO_TAGS = 184,
	INFO_NAME_SIZE = 16,
};

/* The field at @offset, 0 when the info is too short to have it. */
static u64 field(const struct recording_bpf_prog *p, size_t offset, size_t size, bool swap)
{
	struct bytes b = bytes_of(p->info, p->info_size, swap);

	if (!bytes_take(&b, offset))
		return 0;
	return size == 8 ? bytes_u64(&b) : bytes_u32(&b);
}

/* What they are called: a tag for each, and where its name is among the types. */
static void parse_function_names(struct recording *r, struct recording_bpf_prog *p, bool swap)
{
	struct bytes tags = bytes_of(p->data, p->data_size, swap), funcs = tags;
	u64 n = p->n_funcs, size = field(p, INFO_FUNC_SIZE, 4, swap);
	u32 *types;

	bytes_take(&tags, field(p, INFO_TAGS, 8, swap));
	if (field(p, INFO_NR_TAGS, 4, swap) == n && !tags.bad &&
	    n <= bytes_left(&tags) / sizeof(p->tag))
		p->func_tags = arena_dup(&r->arena, tags.p, n * sizeof(p->tag));
	bytes_take(&funcs, field(p, INFO_FUNCS, 8, swap));
	if (field(p, INFO_NR_FUNCS, 4, swap) != n || size < 8 || funcs.bad ||
	    n > bytes_left(&funcs) / size)
		return;
	p->func_types = types = arena_alloc(&r->arena, n * sizeof(*types));
	for (u64 i = 0; i < n; i++) {
		struct bytes one = bytes_of(bytes_take(&funcs, size), size, swap);

		(void)bytes_u32(&one); /* where it begins */
		types[i] = bytes_u32(&one);
	}
}

static void parse_functions(struct recording *r, struct recording_bpf_prog *p, bool swap)
{
	u64 n = field(p, INFO_NR_KSYMS, 4, swap), n_lens = field(p, INFO_NR_LENS, 4, swap);
	struct bytes addrs = bytes_of(p->data, p->data_size, swap), lens = addrs;
	u64 *a;
	u32 *l;

	bytes_take(&addrs, field(p, INFO_KSYMS, 8, swap));
	bytes_take(&lens, field(p, INFO_LENS, 8, swap));
	if (!n || addrs.bad || n > bytes_left(&addrs) / 8)
		return;
	p->n_funcs = (u32)n;
	p->func_addrs = a = arena_alloc(&r->arena, n * sizeof(*a));
	for (u64 i = 0; i < n; i++)
		a[i] = bytes_u64(&addrs);
	parse_function_names(r, p, swap);
	if (n_lens != n || lens.bad || n > bytes_left(&lens) / 4)
		return;
	p->func_lens = l = arena_alloc(&r->arena, n * sizeof(*l));
	for (u64 i = 0; i < n; i++)
		l[i] = bytes_u32(&lens);
}

static void parse_prog(struct recording *r, struct bytes *b)
{
	struct recording_bpf_prog p = { 0 };
	const void *info, *data;

	p.info_size = bytes_u32(b);
	p.data_size = bytes_u32(b);
	(void)bytes_u64(b); /* which arrays there are: their offsets say so */
	info = bytes_take(b, p.info_size);
	data = bytes_take(b, p.data_size);
	if (!info || !data)
		return;
	p.info = arena_dup(&r->arena, info, p.info_size);
	p.data = arena_dup(&r->arena, data, p.data_size);
	p.type = (u32)field(&p, INFO_TYPE, 4, b->swap);
	p.id = (u32)field(&p, INFO_ID, 4, b->swap);
	p.btf_id = (u32)field(&p, INFO_BTF_ID, 4, b->swap);
	p.name = "";
	if (p.info_size >= INFO_NAME + INFO_NAME_SIZE) {
		const char *name = (const char *)p.info + INFO_NAME;

		memcpy(p.tag, (const u8 *)p.info + INFO_TAG, sizeof(p.tag));
		p.name = arena_strndup(&r->arena, name, strnlen(name, INFO_NAME_SIZE));
	}
	parse_functions(r, &p, b->swap);
	vec_push(&r->info.bpf_progs, p);
}

int feature_parse_bpf_progs(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad; i++)
		parse_prog(r, b);
	return b->bad ? -EBADMSG : 0;
}

int feature_parse_btf(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad; i++) {
		struct recording_btf btf = { 0 };
		const void *data;

		btf.id = bytes_u32(b);
		btf.size = bytes_u32(b);
		data = bytes_take(b, btf.size);
		if (!data)
			break;
		btf.data = arena_dup(&r->arena, data, btf.size);
		vec_push(&r->info.btfs, btf);
	}
	return b->bad ? -EBADMSG : 0;
}
