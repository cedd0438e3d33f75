/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/btf.h"

#include "base/hash.h"
#include "base/io.h"
#include "host/bpf_log.h"
#include "host/kernel_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	BTF_MAX_TYPES = 1 << 22, /* kernels have about 130,000 */
	BTF_HASHED = 512, /* bytes of a name that are hashed: overlapping names cost no n^2 */
	BTF_MAX_VISITS = 1 << 16, /* members observed for one name */
};

struct kbtf {
	const u8 *types; /* the type section */
	const char *strings;
	u32 strings_len; /* the last byte is a NUL */
	u32 count;
	u32 *offsets; /* of each id in the type section; [0] unused */
	/* Names to ids: the head of each chain, and for each id the next of the same hash. */
	u32 *heads;
	u32 *next;
	u32 mask;
	void *mapped;
	size_t mapped_size;
	struct buf bytes; /* when the file could not be mapped */
	bool own;
};

/* Bytes after the record itself: members, values, parameters. -EINVAL for an unknown kind. */
static s64 tail_size(const struct btf_type *t)
{
	u32 n = BTF_INFO_VLEN(t->info);

	switch (kbtf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG: return sizeof(u32);
	case BTF_KIND_ARRAY: return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return (s64)n * (s64)sizeof(struct btf_member);
	case BTF_KIND_ENUM: return (s64)n * (s64)sizeof(struct btf_enum);
	case KBTF_KIND_ENUM64: return (s64)n * 12;
	case BTF_KIND_FUNC_PROTO: return (s64)n * (s64)sizeof(struct btf_param);
	case BTF_KIND_DATASEC: return (s64)n * (s64)sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG: return 0;
	default: return -EINVAL;
	}
}

/* Finds where each record begins and proves that it ends inside the section. */
static int index_types(struct kbtf *btf, u32 len, const char *name, struct err *e)
{
	u32 at = 0, cap = len / 24 + 2;

	btf->offsets = xmalloc((size_t)cap * sizeof(u32));
	while (at < len) {
		const struct btf_type *t = (const void *)(btf->types + at);
		s64 tail;

		if (len - at < sizeof(*t))
			return err_set(e, EBADMSG, "'%s': type record cut at offset %u", name, at);
		tail = tail_size(t);
		if (tail < 0)
			return err_set(e, EBADMSG, "'%s': unknown kind %u at offset %u", name,
				       kbtf_kind(t), at);
		if (tail > (s64)(len - at - sizeof(*t)))
			return err_set(e, EBADMSG, "'%s': type record too long at offset %u", name,
				       at);
		if (btf->count + 1 >= BTF_MAX_TYPES)
			return err_set(e, E2BIG, "'%s': more than %d types", name, BTF_MAX_TYPES);
		if (btf->count + 1 >= cap) {
			cap *= 2;
			btf->offsets = xreallocarray(btf->offsets, cap, sizeof(u32));
		}
		btf->offsets[++btf->count] = at;
		at += (u32)sizeof(*t) + (u32)tail;
	}
	return 0;
}

static int parse_header(struct kbtf *btf, const u8 *data, size_t size, const char *name,
			struct err *e)
{
	struct btf_header h;
	u64 types, strings;

	if (size < sizeof(h))
		return err_set(e, EBADMSG, "'%s': too short for BTF", name);
	memcpy(&h, data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION)
		return err_set(e, EBADMSG, "'%s': not BTF of this byte order", name);
	types = (u64)h.hdr_len + h.type_off;
	strings = (u64)h.hdr_len + h.str_off;
	if (h.hdr_len < sizeof(h) || types % 4 || types + h.type_len > size ||
	    strings + h.str_len > size)
		return err_set(e, EBADMSG, "'%s': BTF sections outside the file", name);
	if (h.str_len == 0 || data[strings] != '\0' || data[strings + h.str_len - 1] != '\0')
		return err_set(e, EBADMSG, "'%s': BTF strings are not terminated", name);
	btf->types = data + types;
	btf->strings = (const char *)data + strings;
	btf->strings_len = h.str_len;
	return index_types(btf, h.type_len, name, e);
}

int kbtf_parse(const void *data, size_t size, const char *name, struct kbtf **ret, struct err *e)
{
	struct kbtf *btf;
	int r;

	if (size > KBTF_MAX_SIZE)
		return err_set(e, EFBIG, "'%s': more than %d MB of BTF", name, KBTF_MAX_SIZE >> 20);
	if ((uintptr_t)data % 4)
		return err_set(e, EINVAL, "'%s': BTF is not aligned", name);
	btf = xcalloc(1, sizeof(*btf));
	r = parse_header(btf, data, size, name, e);
	if (r < 0) {
		kbtf_free(btf);
		return r;
	}
	*ret = btf;
	return 0;
}

/* Newer kernels let their BTF be mapped: no copy of 5 MB then. */
static void *map_file(const char *path, size_t *ret_size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > KBTF_MAX_SIZE)
		return NULL;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	*ret_size = (size_t)st.st_size;
	return p;
}

int kbtf_read_elf(const char *path, struct buf *ret)
{
	libbpf_print_fn_t print = libbpf_set_print(bpf_log);
	struct btf *btf = btf__parse_elf(path, NULL);
	int rc = btf ? 0 : -errno;
	const void *bytes;
	u32 size = 0;

	libbpf_set_print(print);
	bytes = btf && ret ? btf__raw_data(btf, &size) : NULL;
	if (bytes)
		buf_add(ret, bytes, size);
	else if (btf && ret)
		rc = -ENOMEM;
	btf__free(btf);
	return rc;
}

/* Other files than the kernel's can shrink while they are mapped, so those are read. */
static int read_file(const char *path, struct buf *ret, struct err *e)
{
	char magic[SELFMAG] = { 0 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0 || read(fd, magic, sizeof(magic)) != (ssize_t)sizeof(magic) ||
	    memcmp(magic, ELFMAG, SELFMAG))
		return io_read_file(path, KBTF_MAX_SIZE, ret, e);
	r = kbtf_read_elf(path, ret);
	return r < 0 ? err_sys(e, r, "'%s': no BTF can be read from it", path) : 0;
}

static int kbtf_open(const char *path, struct kbtf **ret, struct err *e)
{
	struct buf bytes = BUF_INIT;
	size_t size = 0;
	void *mapped = starts_with(path, "/sys/") ? map_file(path, &size) : NULL;
	int r;

	r = mapped ? 0 : read_file(path, &bytes, e);
	if (r == 0)
		r = mapped ? kbtf_parse(mapped, size, path, ret, e)
			   : kbtf_parse(bytes.data, bytes.len, path, ret, e);
	if (r < 0) {
		buf_release(&bytes);
		if (mapped)
			munmap(mapped, size);
		return r;
	}
	(*ret)->mapped = mapped;
	(*ret)->mapped_size = size;
	(*ret)->bytes = bytes;
	return 0;
}

int kbtf_open_kernel(struct kbtf **ret, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	bool own = kernel_types_own();
	int r = kernel_types_path(&path, e);

	if (r == 0)
		r = kbtf_open(buf_str(&path), ret, e);
	if (r == 0)
		(*ret)->own = own;
	return r;
}

bool kbtf_is_own(const struct kbtf *btf)
{
	return btf->own;
}

void kbtf_free(struct kbtf *btf)
{
	if (!btf)
		return;
	if (btf->mapped)
		munmap(btf->mapped, btf->mapped_size);
	buf_release(&btf->bytes);
	free(btf->offsets);
	free(btf->heads);
	free(btf->next);
	free(btf);
}

u32 kbtf_count(const struct kbtf *btf)
{
	return btf->count;
}

const struct btf_type *kbtf_type(const struct kbtf *btf, u32 id)
{
	if (id == 0 || id > btf->count)
		return NULL;
	return (const void *)(btf->types + btf->offsets[id]);
}

static const char *kbtf_string(const struct kbtf *btf, u32 offset)
{
	return offset < btf->strings_len ? btf->strings + offset : "";
}

const char *kbtf_name(const struct kbtf *btf, u32 id)
{
	const struct btf_type *t = kbtf_type(btf, id);

	return t ? kbtf_string(btf, t->name_off) : "";
}

static u32 name_hash(const char *name)
{
	return (u32)hash_bytes(name, strnlen(name, BTF_HASHED));
}

static void index_names(struct kbtf *btf)
{
	u32 slots = 256;

	while (slots < btf->count)
		slots *= 2;
	btf->mask = slots - 1;
	btf->heads = xcalloc(slots, sizeof(u32));
	btf->next = xcalloc((size_t)btf->count + 1, sizeof(u32));
	/* From the last to the first, so that the lowest id of a name is found first. */
	for (u32 id = btf->count; id > 0; id--) {
		const char *name = kbtf_name(btf, id);
		u32 slot;

		if (!*name)
			continue;
		slot = name_hash(name) & btf->mask;
		btf->next[id] = btf->heads[slot];
		btf->heads[slot] = id;
	}
}

u32 kbtf_find(struct kbtf *btf, u32 kind, const char *name)
{
	if (!*name)
		return 0;
	if (!btf->heads)
		index_names(btf);
	for (u32 id = btf->heads[name_hash(name) & btf->mask]; id; id = btf->next[id]) {
		if (kbtf_kind(kbtf_type(btf, id)) == kind && streq(kbtf_name(btf, id), name))
			return id;
	}
	return 0;
}

u32 kbtf_find_tracepoint(struct kbtf *btf, const char *name)
{
	char typedef_name[256];
	int n = snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);

	if (n < 0 || (size_t)n >= sizeof(typedef_name))
		return 0;
	return kbtf_find(btf, BTF_KIND_TYPEDEF, typedef_name);
}

u32 kbtf_tracepoint_args(struct kbtf *btf, const char *name)
{
	u32 id = kbtf_resolve(btf, kbtf_find_tracepoint(btf, name)), n;
	const struct btf_type *t = kbtf_type(btf, id);

	if (t && kbtf_kind(t) == BTF_KIND_PTR)
		t = kbtf_type(btf, id = kbtf_resolve(btf, t->type));
	if (!t || kbtf_kind(t) != BTF_KIND_FUNC_PROTO)
		return 0;
	n = kbtf_length(btf, id);
	return n ? n - 1 : 0; /* the first is not one of the tracepoint's */
}

u32 kbtf_resolve(const struct kbtf *btf, u32 id)
{
	for (int depth = 0; depth < KBTF_MAX_DEPTH; depth++) {
		const struct btf_type *t = kbtf_type(btf, id);

		if (!t)
			return 0;
		switch (kbtf_kind(t)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG: id = t->type; break;
		default: return id;
		}
	}
	return 0;
}

s64 kbtf_size(const struct kbtf *btf, u32 id)
{
	u64 times = 1;

	for (int depth = 0; depth < KBTF_MAX_DEPTH; depth++) {
		const struct btf_type *t = kbtf_type(btf, kbtf_resolve(btf, id));
		const struct btf_array *a;

		if (!t)
			return -EINVAL;
		switch (kbtf_kind(t)) {
		case BTF_KIND_PTR: return (s64)(times * 8);
		case BTF_KIND_INT:
		case BTF_KIND_FLOAT:
		case BTF_KIND_ENUM:
		case KBTF_KIND_ENUM64:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_DATASEC:
			if (times > INT64_MAX / MAX(t->size, 1u))
				return -EINVAL;
			return (s64)(times * t->size);
		case BTF_KIND_ARRAY:
			a = (const void *)(t + 1);
			if (__builtin_mul_overflow(times, (u64)a->nelems, &times) ||
			    times > INT64_MAX / 8)
				return -EINVAL;
			id = a->type;
			break;
		default: return -EINVAL;
		}
	}
	return -EINVAL;
}

static bool is_composite(const struct btf_type *t)
{
	return t && (kbtf_kind(t) == BTF_KIND_STRUCT || kbtf_kind(t) == BTF_KIND_UNION);
}

u32 kbtf_length(const struct kbtf *btf, u32 id)
{
	const struct btf_type *t = kbtf_type(btf, id);

	return t ? BTF_INFO_VLEN(t->info) : 0;
}

int kbtf_member_at(const struct kbtf *btf, u32 id, u32 i, struct kbtf_member *ret)
{
	const struct btf_type *t = kbtf_type(btf, kbtf_resolve(btf, id));
	const struct btf_member *m;
	bool bits;

	if (!is_composite(t) || i >= BTF_INFO_VLEN(t->info))
		return -ENOENT;
	m = (const struct btf_member *)(t + 1) + i;
	bits = BTF_INFO_KFLAG(t->info);
	*ret = (struct kbtf_member){
		.name = kbtf_string(btf, m->name_off),
		.type = m->type,
		.bit_offset = bits ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset,
		.bit_size = bits ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0,
	};
	return 0;
}

/* One name, of @len bytes, in a struct and the anonymous ones inside it. */
static int find_member(const struct kbtf *btf, u32 id, const char *name, size_t len, int depth,
		       u32 *visits, struct kbtf_member *ret)
{
	struct kbtf_member m, inner;

	if (depth >= KBTF_MAX_DEPTH)
		return -ENOENT;
	for (u32 i = 0; kbtf_member_at(btf, id, i, &m) == 0; i++) {
		if (++*visits > BTF_MAX_VISITS)
			return -ENOENT;
		if (*m.name) {
			if (strncmp(m.name, name, len) == 0 && m.name[len] == '\0') {
				*ret = m;
				return 0;
			}
			continue;
		}
		if (find_member(btf, m.type, name, len, depth + 1, visits, &inner) == 0) {
			inner.bit_offset += m.bit_offset;
			*ret = inner;
			return 0;
		}
	}
	return -ENOENT;
}

int kbtf_member(const struct kbtf *btf, u32 id, const char *path, struct kbtf_member *ret)
{
	struct kbtf_member m = { .type = id }, step;
	u32 visits = 0;

	for (;;) {
		size_t len = strcspn(path, ".");

		if (len == 0 || find_member(btf, m.type, path, len, 0, &visits, &step) < 0)
			return -ENOENT;
		step.bit_offset += m.bit_offset;
		m = step;
		if (path[len] == '\0')
			break;
		path += len + 1;
	}
	*ret = m;
	return 0;
}

int kbtf_param(const struct kbtf *btf, u32 id, u32 i, u32 *ret_type, const char **ret_name)
{
	const struct btf_type *t = kbtf_type(btf, id);
	const struct btf_param *p;

	if (t && kbtf_kind(t) == BTF_KIND_FUNC)
		t = kbtf_type(btf, t->type);
	if (!t || kbtf_kind(t) != BTF_KIND_FUNC_PROTO || i >= BTF_INFO_VLEN(t->info))
		return -ENOENT;
	p = (const struct btf_param *)(t + 1) + i;
	*ret_type = p->type;
	if (ret_name)
		*ret_name = kbtf_string(btf, p->name_off);
	return 0;
}

/* Records of an enum's constants are name, low word and, for ENUM64, high word. */
static u32 enum_step(const struct btf_type *t)
{
	if (!t || (kbtf_kind(t) != BTF_KIND_ENUM && kbtf_kind(t) != KBTF_KIND_ENUM64))
		return 0;
	return kbtf_kind(t) == BTF_KIND_ENUM ? 2 : 3;
}

static s64 enum_record_value(const u32 *record, u32 step)
{
	return step == 3 ? (s64)((u64)record[2] << 32 | record[1]) : (s32)record[1];
}

const char *kbtf_enum_at(const struct kbtf *btf, u32 id, u32 i, s64 *ret_value)
{
	const struct btf_type *t = kbtf_type(btf, kbtf_resolve(btf, id));
	u32 step = enum_step(t);
	const u32 *record;

	if (!step || i >= BTF_INFO_VLEN(t->info))
		return NULL;
	record = (const u32 *)(t + 1) + i * step;
	*ret_value = enum_record_value(record, step);
	return kbtf_string(btf, record[0]);
}

int kbtf_enum_value(const struct kbtf *btf, u32 id, const char *name, s64 *ret)
{
	const struct btf_type *t = kbtf_type(btf, kbtf_resolve(btf, id));
	u32 step = enum_step(t);
	const u32 *word;

	if (!step)
		return -ENOENT;
	word = (const u32 *)(t + 1);
	for (u32 i = 0; i < BTF_INFO_VLEN(t->info); i++, word += step) {
		if (!streq(kbtf_string(btf, word[0]), name))
			continue;
		*ret = enum_record_value(word, step);
		return 0;
	}
	return -ENOENT;
}

const char *kbtf_enum_name(const struct kbtf *btf, u32 id, s64 value)
{
	const struct btf_type *t = kbtf_type(btf, kbtf_resolve(btf, id));
	u32 step = enum_step(t);
	const u32 *word;

	if (!step)
		return NULL;
	word = (const u32 *)(t + 1);
	for (u32 i = 0; i < BTF_INFO_VLEN(t->info); i++, word += step) {
		s64 v = enum_record_value(word, step);

		/* Enums of 4 bytes are read with or without a sign. */
		if (v == value || (step == 2 && (u32)v == (u64)value))
			return kbtf_string(btf, word[0]);
	}
	return NULL;
}
