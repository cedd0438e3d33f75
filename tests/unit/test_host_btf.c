/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of BTF, on types built here and on damaged ones. */
#include "harness.h"

#include "base/buf.h"
#include "host/btf.h"
#include "host/kernel_types.h"

/* Bytes of a BTF section under construction. */
struct builder {
	struct buf types;
	struct buf strings;
};

static u32 name(struct builder *b, const char *s)
{
	u32 at;

	if (b->strings.len == 0)
		buf_addch(&b->strings, '\0');
	at = (u32)b->strings.len;
	buf_add(&b->strings, s, strlen(s) + 1);
	return at;
}

static void type(struct builder *b, u32 name_off, u32 kind, u32 n, u32 size_or_type)
{
	const struct btf_type t = { name_off, kind << 24 | n, { size_or_type } };

	buf_add(&b->types, &t, sizeof(t));
}

static void words(struct builder *b, size_t n, const u32 *w)
{
	buf_add(&b->types, w, n * sizeof(*w));
}

#define WORDS(b, ...) words(b, sizeof((u32[]){ __VA_ARGS__ }) / sizeof(u32), (u32[]){ __VA_ARGS__ })

enum {
	T_INT = 1,
	T_INNER,
	T_OUTER,
	T_PTR,
	T_DEF,
	T_CONST,
	T_ARRAY,
	T_PROTO,
	T_FUNC,
	T_ENUM,
	T_LOOP
};

static void build(struct builder *b, struct buf *out)
{
	struct btf_header h = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h) };

	type(b, name(b, "int"), BTF_KIND_INT, 0, 4);
	WORDS(b, BTF_INT_SIGNED << 24 | 32);
	type(b, 0, BTF_KIND_STRUCT, 1, 8); /* anonymous */
	WORDS(b, name(b, "deep"), T_INT, 32);
	type(b, name(b, "outer"), BTF_KIND_STRUCT, 3, 24);
	WORDS(b, name(b, "first"), T_INT, 0);
	WORDS(b, 0, T_INNER, 64);
	WORDS(b, name(b, "named"), T_INNER, 128);
	type(b, 0, BTF_KIND_PTR, 0, T_OUTER);
	type(b, name(b, "btf_trace_thing"), BTF_KIND_TYPEDEF, 0, T_CONST);
	type(b, 0, BTF_KIND_CONST, 0, T_INT);
	type(b, 0, BTF_KIND_ARRAY, 0, 0);
	WORDS(b, T_OUTER, T_INT, 10);
	type(b, 0, BTF_KIND_FUNC_PROTO, 2, T_INT);
	WORDS(b, name(b, "a"), T_PTR);
	WORDS(b, name(b, "b"), T_INT);
	type(b, name(b, "outer"), BTF_KIND_FUNC, 0, T_PROTO);
	type(b, name(b, "colour"), BTF_KIND_ENUM, 2, 4);
	WORDS(b, name(b, "RED"), 3);
	WORDS(b, name(b, "BLUE"), (u32)-1);
	type(b, name(b, "loop"), BTF_KIND_TYPEDEF, 0, T_LOOP);
	h.type_len = (u32)b->types.len;
	h.str_off = h.type_len;
	h.str_len = (u32)b->strings.len;
	buf_add(out, &h, sizeof(h));
	buf_add(out, b->types.data, b->types.len);
	buf_add(out, b->strings.data, b->strings.len);
	buf_release(&b->types);
	buf_release(&b->strings);
}

static struct kbtf *open_sample(struct buf *bytes)
{
	struct builder b = { 0 };
	struct kbtf *btf = NULL;

	build(&b, bytes);
	CHECK_EQ(kbtf_parse(bytes->data, bytes->len, "sample", &btf, NULL), 0);
	CHECK_EQ(kbtf_count(btf), T_LOOP);
	return btf;
}

TEST("names are found by kind")
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *btf = open_sample(&bytes);

	CHECK_EQ(kbtf_find(btf, BTF_KIND_STRUCT, "outer"), T_OUTER);
	CHECK_EQ(kbtf_find(btf, BTF_KIND_FUNC, "outer"), T_FUNC);
	CHECK_EQ(kbtf_find(btf, BTF_KIND_UNION, "outer"), 0);
	CHECK_EQ(kbtf_find(btf, BTF_KIND_STRUCT, ""), 0);
	CHECK_EQ(kbtf_find_tracepoint(btf, "thing"), T_DEF);
	CHECK_EQ(kbtf_find_tracepoint(btf, "other"), 0);
	kbtf_free(btf);
}

TEST("members: by name, inside anonymous structs, by path")
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *btf = open_sample(&bytes);
	struct kbtf_member m;

	CHECK_EQ(kbtf_member(btf, T_OUTER, "first", &m), 0);
	CHECK_EQ(m.bit_offset, 0);
	CHECK_EQ(kbtf_member(btf, T_OUTER, "deep", &m), 0);
	CHECK_EQ(m.bit_offset, 64 + 32);
	CHECK_EQ(m.type, T_INT);
	CHECK_EQ(kbtf_member(btf, T_OUTER, "named.deep", &m), 0);
	CHECK_EQ(m.bit_offset, 128 + 32);
	CHECK_EQ(kbtf_member(btf, T_OUTER, "named.none", &m), -ENOENT);
	CHECK_EQ(kbtf_member(btf, T_OUTER, "firs", &m), -ENOENT);
	CHECK_EQ(kbtf_member(btf, T_OUTER, "", &m), -ENOENT);
	CHECK_EQ(kbtf_member(btf, T_OUTER, "named.", &m), -ENOENT);
	CHECK_EQ(kbtf_member(btf, T_INT, "first", &m), -ENOENT);
	CHECK_EQ(kbtf_member_at(btf, T_OUTER, 3, &m), -ENOENT);
	kbtf_free(btf);
}

TEST("sizes, typedefs, parameters, values")
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *btf = open_sample(&bytes);
	const char *param = NULL;
	u32 t = 0;
	s64 v = 0;

	CHECK_EQ(kbtf_size(btf, T_ARRAY), 240);
	CHECK_EQ(kbtf_size(btf, T_PTR), 8);
	CHECK_EQ(kbtf_size(btf, T_DEF), 4);
	CHECK_EQ(kbtf_size(btf, T_FUNC), -EINVAL);
	CHECK_EQ(kbtf_size(btf, 999), -EINVAL);
	CHECK_EQ(kbtf_resolve(btf, T_DEF), T_INT);
	CHECK_EQ(kbtf_resolve(btf, T_LOOP), 0);
	CHECK_EQ(kbtf_size(btf, T_LOOP), -EINVAL);
	CHECK_EQ(kbtf_param(btf, T_FUNC, 1, &t, &param), 0);
	CHECK_EQ(t, T_INT);
	CHECK_STR(param, "b");
	CHECK_EQ(kbtf_param(btf, T_FUNC, 2, &t, NULL), -ENOENT);
	CHECK_EQ(kbtf_enum_value(btf, T_ENUM, "BLUE", &v), 0);
	CHECK_EQ(v, -1);
	CHECK_EQ(kbtf_enum_value(btf, T_ENUM, "GREEN", &v), -ENOENT);
	CHECK_STR(kbtf_enum_name(btf, T_ENUM, v), "BLUE");
	CHECK(!kbtf_enum_name(btf, T_ENUM, v + 1000));
	CHECK(!kbtf_enum_name(btf, T_INT, v));
	kbtf_free(btf);
}

/* Asks everything of every id: the sanitizers watch. */
static void ask_all(struct kbtf *btf)
{
	struct kbtf_member m;
	const char *s;
	u32 t;
	s64 v;

	for (u32 id = 0; id <= kbtf_count(btf) + 1; id++) {
		kbtf_size(btf, id);
		kbtf_member(btf, id, "named.deep", &m);
		kbtf_param(btf, id, 1, &t, &s);
		kbtf_enum_value(btf, id, "BLUE", &v);
		kbtf_enum_name(btf, id, 7);
		kbtf_find(btf, BTF_KIND_STRUCT, kbtf_name(btf, id));
	}
}

TEST("damaged bytes are refused or read within bounds")
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *btf = open_sample(&bytes);

	kbtf_free(btf);
	for (size_t i = 0; i < bytes.len; i++) {
		for (int flip = 0; flip < 3; flip++) {
			_cleanup_free_ u8 *copy = xmemdup(bytes.data, bytes.len);

			copy[i] = flip == 0 ? 0xff : flip == 1 ? 0 : copy[i] ^ 0x11;
			if (kbtf_parse(copy, bytes.len, "damaged", &btf, NULL) < 0)
				continue;
			ask_all(btf);
			kbtf_free(btf);
		}
	}
}

TEST("cut bytes are refused with a reason")
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct kbtf *btf = open_sample(&bytes);

	kbtf_free(btf);
	for (size_t n = 0; n < bytes.len; n++) {
		_cleanup_free_ u8 *copy = xmemdup(bytes.data, n ? n : 1);
		_cleanup_err_ struct err e = ERR_INIT;

		CHECK_EQ(kbtf_parse(copy, n, "cut", &btf, &e), -EBADMSG);
		CHECK(e.what && strstr(e.what, "'cut'"));
	}
}

TEST("the kernel's own types: task_struct and a tracepoint")
{
	struct kbtf *btf;
	struct kbtf_member m;
	u32 task;

	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		SKIP("this kernel has no BTF");
	CHECK_EQ(kbtf_open_kernel(&btf, NULL), 0);
	task = kbtf_find(btf, BTF_KIND_STRUCT, "task_struct");
	CHECK(task != 0);
	CHECK_EQ(kbtf_member(btf, task, "comm", &m), 0);
	CHECK_EQ(kbtf_size(btf, m.type), 16);
	CHECK(m.bit_offset / 8 < (u64)kbtf_size(btf, task));
	CHECK(kbtf_find_tracepoint(btf, "sched_switch") != 0);
	kbtf_free(btf);
}

TEST("types from a file, where the kernel has none")
{
	_cleanup_buf_ struct buf bytes = BUF_INIT, path = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	char name[] = "/tmp/fathom-types-XXXXXX";
	struct kbtf *btf = open_sample(&bytes);
	_cleanup_close_ int fd = mkstemp(name);
	u32 n = kbtf_count(btf);

	kbtf_free(btf);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes.data, bytes.len), (ssize_t)bytes.len);
	CHECK_EQ(setenv("FATHOM_NO_BTF", "1", 1), 0);
	CHECK_EQ(setenv("FATHOM_BTF", name, 1), 0);
	CHECK(!kernel_types_own());
	CHECK_EQ(kernel_types_path(&path, &e), 0);
	CHECK_STR(buf_str(&path), name);
	CHECK_EQ(kbtf_open_kernel(&btf, &e), 0);
	CHECK_EQ(kbtf_count(btf), n);
	CHECK(!kbtf_is_own(btf));
	kbtf_free(btf);
	/* neither BTF nor ELF with a section of it */
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(pwrite(fd, "\177ELF and no more", 16, 0), 16);
	CHECK(kbtf_open_kernel(&btf, &e) < 0);
	CHECK(e.what && strstr(e.what, name));
	unlink(name);
	CHECK_EQ(kernel_types_path(&path, NULL), -ENOENT);
	unsetenv("FATHOM_BTF");
	unsetenv("FATHOM_NO_BTF");
}
