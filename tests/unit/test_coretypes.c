/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include <bpf/btf.h>

#include "unwind/coretypes.h"

struct side {
	struct btf *btf;
	struct kbtf *types;
};

static void take(struct side *s)
{
	u32 size = 0;
	const void *bytes = btf__raw_data(s->btf, &size);

	CHECK(bytes != NULL);
	CHECK_EQ(kbtf_parse(bytes, size, "test", &s->types, NULL), 0);
}

static void drop(struct side *s)
{
	kbtf_free(s->types);
	btf__free(s->btf);
}

/* struct inner { u32 x; void *y; }; struct outer { u64 pad; struct inner in; u32 last; } */
static void make_kernel(struct side *s)
{
	int u32_id, u64_id, ptr, inner;

	s->btf = btf__new_empty();
	u32_id = btf__add_int(s->btf, "unsigned int", 4, 0);
	u64_id = btf__add_int(s->btf, "unsigned long", 8, 0);
	ptr = btf__add_ptr(s->btf, 0);
	inner = btf__add_struct(s->btf, "inner", 16);
	btf__add_field(s->btf, "x", u32_id, 0, 0);
	btf__add_field(s->btf, "y", ptr, 64, 0);
	btf__add_struct(s->btf, "outer", 32);
	btf__add_field(s->btf, "pad", u64_id, 0, 0);
	btf__add_field(s->btf, "in", inner, 64, 0);
	btf__add_field(s->btf, "last", u32_id, 192, 0);
	btf__add_field(s->btf, "bits", u32_id, 224, 3);
	take(s);
}

/* What a program knows: struct inner { void *y; }; struct NAME { u32 last; inner in; MEMBER } */
static void make_local(struct side *s, const char *name, const char *member)
{
	int u32_id, ptr, inner;

	s->btf = btf__new_empty();
	u32_id = btf__add_int(s->btf, "u32", 4, 0);
	ptr = btf__add_ptr(s->btf, 0);
	inner = btf__add_struct(s->btf, "inner", 8);
	btf__add_field(s->btf, "y", ptr, 0, 0);
	btf__add_struct(s->btf, name, 24);
	btf__add_field(s->btf, "last", u32_id, 0, 0);
	btf__add_field(s->btf, "in", inner, 64, 0);
	btf__add_field(s->btf, member, u32_id, 128, 0);
	btf__add_struct(s->btf, "only_ours", 4);
	btf__add_field(s->btf, "z", u32_id, 0, 0);
	take(s);
}

TEST("the types that a program reads are those of the kernel, and no others")
{
	struct side kernel, local;
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *made = NULL;
	struct kbtf_member m;
	u32 outer;

	make_kernel(&kernel);
	make_local(&local, "outer___old", "gone");
	CHECK(coretypes_make(local.types, kernel.types, &bytes) >= 0);
	CHECK_EQ(kbtf_parse(bytes.data, bytes.len, "made", &made, NULL), 0);
	outer = kbtf_find(made, BTF_KIND_STRUCT, "outer");
	CHECK(outer != 0);
	CHECK_EQ(kbtf_size(made, outer), 32);
	CHECK_EQ(kbtf_length(made, outer), 2);
	CHECK_EQ(kbtf_member(made, outer, "last", &m), 0);
	CHECK_EQ(m.bit_offset, 192);
	CHECK_EQ(kbtf_size(made, m.type), 4);
	CHECK_EQ(kbtf_member(made, outer, "in.y", &m), 0);
	CHECK_EQ(m.bit_offset, 128);
	CHECK_EQ(kbtf_member(made, outer, "gone", &m), -ENOENT);
	CHECK_EQ(kbtf_member(made, outer, "pad", &m), -ENOENT);
	CHECK_EQ(kbtf_find(made, BTF_KIND_STRUCT, "only_ours"), 0);
	kbtf_free(made);
	drop(&kernel);
	drop(&local);
}

TEST("a member that is unknown is not guessed")
{
	struct side kernel, local;
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	make_kernel(&kernel);
	make_local(&local, "outer", "bits");
	CHECK_EQ(coretypes_make(local.types, kernel.types, &bytes), -ENOTSUP);
	CHECK_EQ(bytes.len, 0);
	drop(&kernel);
	drop(&local);
}

/* struct task { u64 pad; TYPE comm; }, where TYPE is char[16] or u64 */
static void make_named(struct side *s, bool array)
{
	int char_id, u32_id, u64_id, name;

	s->btf = btf__new_empty();
	char_id = btf__add_int(s->btf, "char", 1, 0);
	u32_id = btf__add_int(s->btf, "unsigned int", 4, 0);
	u64_id = btf__add_int(s->btf, "unsigned long", 8, 0);
	name = array ? btf__add_array(s->btf, u32_id, char_id, 16) : u64_id;
	btf__add_struct(s->btf, "task", 24);
	btf__add_field(s->btf, "pad", u64_id, 0, 0);
	btf__add_field(s->btf, "comm", name, 64, 0);
	take(s);
}

TEST("arrays have the kernel's length")
{
	struct side kernel, local;
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *made = NULL;
	struct kbtf_member m;

	make_named(&kernel, true);
	make_named(&local, true);
	CHECK(coretypes_make(local.types, kernel.types, &bytes) >= 0);
	CHECK_EQ(kbtf_parse(bytes.data, bytes.len, "made", &made, NULL), 0);
	CHECK_EQ(kbtf_member(made, kbtf_find(made, BTF_KIND_STRUCT, "task"), "comm", &m), 0);
	CHECK_EQ(m.bit_offset, 64);
	CHECK_EQ(kbtf_kind(kbtf_type(made, m.type)), BTF_KIND_ARRAY);
	CHECK_EQ(kbtf_size(made, m.type), 16);
	kbtf_free(made);
	drop(&kernel);
	drop(&local);
}

TEST("an array that is none for the program is no guess")
{
	struct side kernel, local;
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	make_named(&kernel, true);
	make_named(&local, false);
	CHECK_EQ(coretypes_make(local.types, kernel.types, &bytes), -ENOTSUP);
	drop(&kernel);
	drop(&local);
}
