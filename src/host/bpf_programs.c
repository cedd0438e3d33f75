/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bpf_programs.h"

#include "base/io.h"
#include "host/bpf_sys.h"
#include "host/btf.h"

/*
 * Bytes of the kernel's struct that are kept: up to recursion_misses, which every perf that knows
 * the feature takes. A longer one is refused by older readers.
 */
enum { INFO_BYTES = 224, ARRAY_BYTES_MOST = 8 << 20 };

/* The arrays that are kept, by their bits in perf's word that says which there are. */
enum info_kind { INFO_KSYMS = 3, INFO_FUNC_LENS = 4, INFO_FUNCS = 5, INFO_TAGS = 8 };

/* An array that the kernel copies to where its pointer points, as long as its count says. */
struct info_array {
	enum info_kind kind;
	size_t pointer;
	size_t count;
	size_t record; /* field with the size of one, 0: @size */
	u32 size;
};

#define FIELD(name) offsetof(struct bpf_prog_info, name)

/* What names functions. Instructions and lines are hundreds of KB where such tools run. */
static const struct info_array arrays[] = {
	{ INFO_KSYMS, FIELD(jited_ksyms), FIELD(nr_jited_ksyms), 0, 8 },
	{ INFO_FUNC_LENS, FIELD(jited_func_lens), FIELD(nr_jited_func_lens), 0, 4 },
	{ INFO_FUNCS, FIELD(func_info), FIELD(nr_func_info), FIELD(func_info_rec_size), 0 },
	{ INFO_TAGS, FIELD(prog_tags), FIELD(nr_prog_tags), 0, BPF_TAG_SIZE },
};

static u32 *info_u32(struct bpf_prog_info *info, size_t offset)
{
	return (u32 *)(void *)((char *)info + offset);
}

static u64 *info_u64(struct bpf_prog_info *info, size_t offset)
{
	return (u64 *)(void *)((char *)info + offset);
}

static u32 record_size(struct bpf_prog_info *info, const struct info_array *a)
{
	return a->record ? *info_u32(info, a->record) : a->size;
}

/* One program as the kernel reports it; the pointers are offsets into @data. */
struct details {
	struct bpf_prog_info info;
	u64 which; /* bits of the arrays */
	struct buf data;
};

/* Asks how long the arrays are, then for them. */
static int read_details(int fd, struct details *d)
{
	struct bpf_prog_info first = { 0 }, *info = &d->info;
	size_t at[ARRAY_SIZE(arrays)], total = 0;
	u32 len = INFO_BYTES;
	int r = bpfsys_info(fd, &first, &len);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		const struct info_array *a = &arrays[i];
		u64 size = (u64)*info_u32(&first, a->count) * record_size(&first, a);

		if (size > ARRAY_BYTES_MOST)
			return -E2BIG;
		at[i] = total;
		total += ALIGN_UP((size_t)size, 8);
	}
	buf_fill(&d->data, 0, total);
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		const struct info_array *a = &arrays[i];
		u32 n = *info_u32(&first, a->count);

		if (!n)
			continue;
		*info_u32(info, a->count) = n;
		if (a->record)
			*info_u32(info, a->record) = record_size(&first, a);
		*info_u64(info, a->pointer) = (u64)(uintptr_t)(d->data.data + at[i]);
		d->which |= 1ull << a->kind;
	}
	len = INFO_BYTES;
	r = bpfsys_info(fd, info, &len);
	/* What was not requested has no length: readers rely on that. */
	info->jited_prog_len = info->xlated_prog_len = info->nr_map_ids = 0;
	info->nr_line_info = info->nr_jited_line_info = 0;
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		/* A length that changed since would lead out of the data. */
		if (r >= 0 && *info_u32(info, arrays[i].count) > *info_u32(&first, arrays[i].count))
			r = -EAGAIN;
		if (d->which & 1ull << arrays[i].kind)
			*info_u64(info, arrays[i].pointer) = at[i];
	}
	return r;
}

static void *element(struct details *d, enum info_kind kind, u32 i)
{
	for (size_t a = 0; a < ARRAY_SIZE(arrays); a++) {
		if (arrays[a].kind != kind || !(d->which & 1ull << kind) ||
		    i >= *info_u32(&d->info, arrays[a].count))
			continue;
		return d->data.data + *info_u64(&d->info, arrays[a].pointer) +
		       (size_t)i * record_size(&d->info, &arrays[a]);
	}
	return NULL;
}

static void put_u32(struct buf *b, u32 v)
{
	buf_add(b, &v, sizeof(v));
}

/* --- types ------------------------------------------------------------------------------------ */

static int read_btf(u32 id, struct buf *ret)
{
	struct bpf_btf_info info = { 0 };
	u32 len = sizeof(info);
	_cleanup_close_ int fd = bpfsys_btf_by_id(id);
	int r = fd < 0 ? fd : bpfsys_info(fd, &info, &len);

	if (r < 0)
		return r;
	if (info.btf_size > ARRAY_BYTES_MOST)
		return -E2BIG;
	u32 size = info.btf_size;

	buf_fill(ret, 0, size);
	info = (struct bpf_btf_info){ .btf = (u64)(uintptr_t)ret->data, .btf_size = size };
	len = sizeof(info);
	r = bpfsys_info(fd, &info, &len);
	return r < 0 ? r : info.btf_size > size ? -EAGAIN : 0;
}

/* Types of a BPF object, which its programs share; and what is kept of them. */
struct types {
	u32 id;
	struct buf bytes;
	struct kbtf *btf;
	struct buf funcs; /* struct btf_type of each function that was met */
	struct buf names; /* theirs, each with its NUL; the first is empty */
};

typedef VEC(struct types) types_list;

enum { TYPE_OF_PROTO = 1, TYPE_OF_FIRST = 2 }; /* ids in what is kept */

static struct types *types_of(types_list *list, u32 id)
{
	struct types *t;

	if (!id)
		return NULL;
	vec_each(known, list)
		if (known->id == id)
			return known;
	t = vec_new(list);
	t->id = id;
	buf_addch(&t->names, '\0');
	if (read_btf(id, &t->bytes) < 0 ||
	    kbtf_parse(t->bytes.data, t->bytes.len, "a BPF program", &t->btf, NULL) < 0)
		t->btf = NULL;
	return t;
}

/* The id of a function in what is kept. */
static u32 keep_function(struct types *t, const char *name)
{
	struct btf_type f = { .name_off = (u32)t->names.len,
			      .info = (u32)BTF_KIND_FUNC << 24,
			      .type = TYPE_OF_PROTO };
	u32 id = (u32)(t->funcs.len / sizeof(f)) + TYPE_OF_FIRST;

	buf_add(&t->names, name, strlen(name) + 1);
	buf_add(&t->funcs, &f, sizeof(f));
	return id;
}

/*
 * All types of an object are tens of KB, and hold what the names of its functions are: types of
 * just these are written, all with one prototype.
 */
static void put_types(struct bpf_programs *p, const struct types *t)
{
	const struct btf_type proto = { .info = (u32)BTF_KIND_FUNC_PROTO << 24 };
	const struct btf_header h = { .magic = BTF_MAGIC,
				      .version = BTF_VERSION,
				      .hdr_len = sizeof(h),
				      .type_len = (u32)(sizeof(proto) + t->funcs.len),
				      .str_off = (u32)(sizeof(proto) + t->funcs.len),
				      .str_len = (u32)t->names.len };

	if (!t->funcs.len)
		return;
	put_u32(&p->btfs, t->id);
	put_u32(&p->btfs, (u32)sizeof(h) + h.type_len + h.str_len);
	buf_add(&p->btfs, &h, sizeof(h));
	buf_add(&p->btfs, &proto, sizeof(proto));
	buf_add(&p->btfs, t->funcs.data, t->funcs.len);
	buf_add(&p->btfs, t->names.data, t->names.len);
	p->n_btfs++;
}

static int by_id(const void *a, const void *b)
{
	const struct types *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void types_release(types_list *list)
{
	vec_each(t, list) {
		kbtf_free(t->btf);
		buf_release(&t->bytes);
		buf_release(&t->funcs);
		buf_release(&t->names);
	}
	vec_release(list);
}

/* --- functions -------------------------------------------------------------------------------- */

static char *function_name(struct details *d, const struct kbtf *btf, u32 i)
{
	const u8 *tag = element(d, INFO_TAGS, i);
	const struct bpf_func_info *func = btf ? element(d, INFO_FUNCS, i) : NULL;
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *name = func ? kbtf_name(btf, func->type_id) : NULL;

	if (!tag)
		tag = d->info.tag;
	buf_addstr(&b, "bpf_prog_");
	for (size_t k = 0; k < BPF_TAG_SIZE; k++)
		buf_addf(&b, "%02x", tag[k]);
	if (name && *name)
		buf_addf(&b, "_%s", name);
	else if (d->info.name[0] && d->info.nr_jited_ksyms == 1)
		buf_addf(&b, "_%.*s", BPF_OBJ_NAME_LEN, d->info.name);
	else if (d->info.nr_jited_ksyms > 1)
		buf_addstr(&b, "_F");
	return buf_detach(&b);
}

static void add_functions(struct bpf_programs *p, struct details *d, const struct kbtf *btf)
{
	u32 n = MIN(d->info.nr_jited_ksyms, (u32)BPF_PROGRAM_FUNCS_MOST);

	for (u32 i = 0; i < n; i++) {
		const u64 *address = element(d, INFO_KSYMS, i);
		const u32 *size = element(d, INFO_FUNC_LENS, i);

		if (!address || !*address || !size)
			continue;
		vec_push(&p->functions, (struct bpf_function){
						.address = *address,
						.size = *size,
						.program = (u32)p->programs.len,
						.name = function_name(d, btf, i),
					});
	}
}

/* Functions get their ids in what is kept of the types. */
static void renumber(struct details *d, struct types *t)
{
	for (u32 i = 0; i < d->info.nr_func_info; i++) {
		struct bpf_func_info *func = element(d, INFO_FUNCS, i);

		if (!func)
			return;
		func->type_id = keep_function(t, kbtf_name(t->btf, func->type_id));
	}
}

static void add_info(struct bpf_programs *p, struct details *d, struct types *t)
{
	if (p->infos.len + INFO_BYTES + d->data.len > BPF_PROGRAMS_BYTES_MOST)
		return;
	if (t && t->btf && d->info.func_info_rec_size >= sizeof(struct bpf_func_info))
		renumber(d, t);
	put_u32(&p->infos, INFO_BYTES);
	put_u32(&p->infos, (u32)d->data.len);
	buf_add(&p->infos, &d->which, sizeof(d->which));
	buf_add(&p->infos, &d->info, INFO_BYTES);
	buf_add(&p->infos, d->data.data, d->data.len);
	p->n_infos++;
}

static void add_program(struct bpf_programs *p, types_list *list, u32 id)
{
	_cleanup_close_ int fd = bpfsys_prog_by_id(id);
	struct details d = { 0 };
	struct bpf_program program = { .id = id };

	if (fd >= 0 && read_details(fd, &d) >= 0) {
		struct types *t = types_of(list, d.info.btf_id);

		add_functions(p, &d, t ? t->btf : NULL);
		add_info(p, &d, t);
		memcpy(program.tag, d.info.tag, sizeof(program.tag));
		vec_push(&p->programs, program);
	}
	buf_release(&d.data);
}

int bpf_program_code(int fd, range_list *ret)
{
	struct details d = { 0 };
	int r = read_details(fd, &d);

	for (u32 i = 0; r >= 0 && i < d.info.nr_jited_ksyms; i++) {
		const u64 *address = element(&d, INFO_KSYMS, i);
		const u32 *size = element(&d, INFO_FUNC_LENS, i);

		if (address && *address && size && *size)
			vec_push(ret, (struct range){ *address, *address + *size - 1 });
	}
	buf_release(&d.data);
	return r;
}

int bpf_programs_read(struct bpf_programs *ret)
{
	struct bpf_programs p = { 0 };
	types_list list = { 0 };
	u32 id = 0;
	int r;

	while ((r = bpfsys_prog_next(id, &id)) >= 0 && p.programs.len < BPF_PROGRAMS_MOST)
		add_program(&p, &list, id);
	vec_sort(&list, by_id);
	vec_each(t, &list)
		put_types(&p, t);
	types_release(&list);
	if (r < 0 && r != -ENOENT) {
		bpf_programs_release(&p);
		return r;
	}
	*ret = p;
	return 0;
}

static void each_func(u32 id, types_list *list,
		      void (*each)(void *ctx, const struct bpf_program_func *f), void *ctx)
{
	_cleanup_close_ int fd = bpfsys_prog_by_id(id);
	struct details d = { 0 };
	const struct bpf_func_info *func;
	struct types *t = NULL;

	if (fd >= 0 && read_details(fd, &d) >= 0 &&
	    d.info.func_info_rec_size >= sizeof(struct bpf_func_info))
		t = types_of(list, d.info.btf_id);
	for (u32 i = 0; t && t->btf && (func = element(&d, INFO_FUNCS, i)); i++) {
		const struct bpf_program_func f = { id, func->type_id,
						    kbtf_name(t->btf, func->type_id), t->btf };

		if (*f.name)
			each(ctx, &f);
	}
	buf_release(&d.data);
}

int bpf_programs_each_func(void (*each)(void *ctx, const struct bpf_program_func *f), void *ctx)
{
	types_list list = { 0 };
	u32 id = 0, n = 0;
	int r;

	while ((r = bpfsys_prog_next(id, &id)) >= 0 && n++ < BPF_PROGRAMS_MOST)
		each_func(id, &list, each, ctx);
	types_release(&list);
	return r < 0 && r != -ENOENT ? r : 0;
}

void bpf_programs_release(struct bpf_programs *p)
{
	vec_each(f, &p->functions)
		free(f->name);
	vec_release(&p->functions);
	vec_release(&p->programs);
	buf_release(&p->infos);
	buf_release(&p->btfs);
	*p = (struct bpf_programs){ 0 };
}
