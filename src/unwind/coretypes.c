/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/coretypes.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/safedir.h"
#include "host/kernel_types.h"

#define KERNEL_NOTES "/sys/kernel/notes"

enum { NESTED_MOST = 8, NOTES_MOST = 1 << 20, NAME_MOST = 128, INT_SIZES = 9 };

struct maker {
	struct kbtf *local;
	struct kbtf *kernel;
	struct btf *out;
	int ints[INT_SIZES]; /* ids by size; 0: not there yet */
	int pointer;
};

static int add_int(struct maker *m, s64 size)
{
	static const char *const names[INT_SIZES] = {
		[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"
	};

	if (size <= 0 || size >= INT_SIZES || !names[size])
		return -ENOTSUP;
	if (!m->ints[size])
		m->ints[size] = btf__add_int(m->out, names[size], (size_t)size, 0);
	return m->ints[size];
}

static int add_struct(struct maker *m, const char *name, u32 local, u32 kernel, int depth);
static int add_type(struct maker *m, u32 local, u32 kernel, int depth);

/* NULL: not one. */
static const struct btf_array *array_of(const struct kbtf *btf, u32 id)
{
	const struct btf_type *t = kbtf_type(btf, id);

	return t && kbtf_kind(t) == BTF_KIND_ARRAY ? (const struct btf_array *)(t + 1) : NULL;
}

static int add_array(struct maker *m, u32 local, u32 kernel, int depth)
{
	const struct btf_array *theirs = array_of(m->kernel, kernel);
	const struct btf_array *ours = array_of(m->local, local);
	int index = add_int(m, 4), element;

	if (!theirs || !ours || depth == NESTED_MOST)
		return -ENOTSUP;
	element = add_type(m, ours->type, theirs->type, depth + 1);
	if (element < 0 || index < 0)
		return MIN(element, index);
	return btf__add_array(m->out, index, element, theirs->nelems);
}

/* The type of a member; what pointers lead to does not matter. */
static int add_type(struct maker *m, u32 local, u32 kernel, int depth)
{
	const struct btf_type *t;

	kernel = kbtf_resolve(m->kernel, kernel);
	local = kbtf_resolve(m->local, local);
	t = kbtf_type(m->kernel, kernel);
	switch (t ? kbtf_kind(t) : BTF_KIND_UNKN) {
	case BTF_KIND_PTR:
		if (!m->pointer)
			m->pointer = btf__add_ptr(m->out, 0);
		return m->pointer;
	case BTF_KIND_INT:
	case BTF_KIND_ENUM: return add_int(m, kbtf_size(m->kernel, kernel));
	case BTF_KIND_ARRAY: return add_array(m, local, kernel, depth);
	case BTF_KIND_STRUCT:
		if (!local || depth == NESTED_MOST)
			return -ENOTSUP;
		return add_struct(m, kbtf_name(m->kernel, kernel), local, kernel, depth + 1);
	default: return -ENOTSUP;
	}
}

struct field {
	const char *name;
	int type;
	u32 bit_offset;
};

/* Members of members first: a struct's own follow it without a gap. */
static int add_struct(struct maker *m, const char *name, u32 local, u32 kernel, int depth)
{
	u32 n = kbtf_length(m->local, local), n_fields = 0;
	_cleanup_free_ struct field *fields = xcalloc(MAX(n, 1u), sizeof(*fields));
	s64 size = kbtf_size(m->kernel, kernel);
	int id, rc;

	for (u32 i = 0; i < n; i++) {
		struct kbtf_member ours, theirs;

		if (kbtf_member_at(m->local, local, i, &ours) < 0 || !ours.name[0])
			return -ENOTSUP;
		if (kbtf_member(m->kernel, kernel, ours.name, &theirs) < 0)
			continue;
		rc = theirs.bit_size ? -ENOTSUP : add_type(m, ours.type, theirs.type, depth);
		if (rc < 0)
			return rc;
		fields[n_fields++] = (struct field){ ours.name, rc, theirs.bit_offset };
	}
	id = size < 0 ? (int)size : btf__add_struct(m->out, name[0] ? name : NULL, (u32)size);
	for (u32 i = 0; id >= 0 && i < n_fields; i++) {
		rc = btf__add_field(m->out, fields[i].name, fields[i].type, fields[i].bit_offset,
				    0);
		if (rc < 0)
			return rc;
	}
	return id;
}

/* "mm_struct___old" is a flavour of mm_struct. */
static bool plain_name(const char *name, char *ret)
{
	const char *flavour = strstr(name, "___");
	size_t n = flavour ? (size_t)(flavour - name) : strlen(name);

	if (!n || n >= NAME_MOST)
		return false;
	memcpy(ret, name, n);
	ret[n] = '\0';
	return true;
}

static int add_all(struct maker *m)
{
	for (u32 id = 1; id <= kbtf_count(m->local); id++) {
		const struct btf_type *t = kbtf_type(m->local, id);
		char name[NAME_MOST];
		u32 kernel;
		int rc;

		if (!t || kbtf_kind(t) != BTF_KIND_STRUCT ||
		    !plain_name(kbtf_name(m->local, id), name))
			continue;
		kernel = kbtf_find(m->kernel, BTF_KIND_STRUCT, name);
		rc = kernel ? add_struct(m, name, id, kernel, 0) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

int coretypes_make(struct kbtf *local, struct kbtf *kernel, struct buf *ret)
{
	struct maker m = { .local = local, .kernel = kernel, .out = btf__new_empty() };
	const void *bytes;
	u32 size = 0;
	int rc;

	if (!m.out)
		return -ENOMEM;
	rc = add_all(&m);
	bytes = rc < 0 ? NULL : btf__raw_data(m.out, &size);
	if (bytes)
		buf_add(ret, bytes, size);
	else if (rc >= 0)
		rc = -ENOMEM;
	btf__free(m.out);
	return rc;
}

static int make_from_object(const void *object, size_t size, struct buf *ret)
{
	struct bpf_object *o = bpf_object__open_mem(object, size, NULL);
	struct btf *btf = o ? bpf_object__btf(o) : NULL;
	struct kbtf *local = NULL, *kernel = NULL;
	const void *bytes;
	u32 n = 0;
	int rc = -EINVAL;

	bytes = btf ? btf__raw_data(btf, &n) : NULL;
	if (bytes)
		rc = kbtf_parse(bytes, n, "the program", &local, NULL);
	if (rc >= 0)
		rc = kbtf_open_kernel(&kernel, NULL);
	if (rc >= 0)
		rc = coretypes_make(local, kernel, ret);
	kbtf_free(local);
	kbtf_free(kernel);
	bpf_object__close(o);
	return rc;
}

/* A kernel is known by its notes, which hold its build id, and by where its types are. */
static int kernel_hash(u64 *ret)
{
	_cleanup_buf_ struct buf notes = BUF_INIT, types = BUF_INIT;
	struct stat st;
	int rc = kernel_types_path(&types, NULL);

	if (rc < 0)
		return rc;
	if (stat(buf_str(&types), &st) < 0)
		return -errno;
	rc = io_read_file(KERNEL_NOTES, NOTES_MOST, &notes, NULL);
	if (rc < 0)
		return rc;
	*ret = hash_mix(hash_bytes(notes.data, notes.len), (u64)st.st_size);
	/* a file may be replaced by another */
	if (!kernel_types_own())
		*ret = hash_mix(hash_mix(*ret, (u64)st.st_ino), (u64)st.st_mtim.tv_sec);
	return 0;
}

int coretypes_cache_path(u64 what, const char *suffix, struct buf *ret)
{
	u64 kernel = 0;
	int rc = safedir_cache_path("types", ret, NULL);
	_cleanup_close_ int dir = rc < 0 ? -1 : safedir_open(buf_str(ret), NULL);

	if (rc >= 0 && dir < 0)
		rc = dir;
	if (rc >= 0)
		rc = kernel_hash(&kernel);
	if (rc >= 0)
		buf_addf(ret, "/%016llx%016llx%s", (unsigned long long)kernel,
			 (unsigned long long)what, suffix);
	return rc;
}

int coretypes_path(const void *object, size_t size, struct buf *ret)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc = coretypes_cache_path(hash_bytes(object, size), ".btf", ret);

	if (rc < 0 || io_exists(buf_str(ret)))
		return rc;
	rc = make_from_object(object, size, &bytes);
	return rc < 0 ? rc : io_write_file_atomic(buf_str(ret), bytes.data, bytes.len, NULL);
}
