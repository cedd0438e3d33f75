/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of BTF, the kernel's description of its own types: names to ids, members to offsets.
 *
 * Loading checks that every record is inside the data, so that later questions need not. Type
 * ids and string offsets inside records are checked when they are followed: a broken one reads as
 * id 0 (void) or "". The index of names is built by the first search.
 */
#ifndef HOST_BTF_H
#define HOST_BTF_H

#include "base/buf.h"
#include "base/err.h"

#include <linux/btf.h>

struct kbtf;

enum {
	KBTF_MAX_SIZE = 256 << 20, /* debug kernels have about 20 MB */
	KBTF_KIND_ENUM64 = 19,     /* newer than the oldest headers */
	KBTF_MAX_DEPTH = 32,       /* chains of typedefs, nested anonymous structs */
};

/* Types of the running kernel, from itself or a file: see kernel_types.h. */
int kbtf_open_kernel(struct kbtf **ret, struct err *e);
/* The kernel has them itself, so that their ids mean something to it. */
bool kbtf_is_own(const struct kbtf *btf);
/* The bytes of the BTF in an ELF file; @ret may be NULL, to know whether there is any. */
int kbtf_read_elf(const char *path, struct buf *ret);
/* From bytes that the caller keeps for as long as the result lives; @name is for messages. */
int kbtf_parse(const void *data, size_t size, const char *name, struct kbtf **ret, struct err *e);
void kbtf_free(struct kbtf *btf);

/* Ids are 1 to this. */
u32 kbtf_count(const struct kbtf *btf);
/* The record, or NULL for 0 and ids that do not exist. */
const struct btf_type *kbtf_type(const struct kbtf *btf, u32 id);
const char *kbtf_name(const struct kbtf *btf, u32 id);
static inline u32 kbtf_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

/* The type of that kind (BTF_KIND_FUNC ...) and name, or 0. */
u32 kbtf_find(struct kbtf *btf, u32 kind, const char *name);
/* What a typed raw tracepoint program names as its attach_btf_id, or 0. */
u32 kbtf_find_tracepoint(struct kbtf *btf, const char *name);
/* How many arguments it hands over; 0: it is not known. */
u32 kbtf_tracepoint_args(struct kbtf *btf, const char *name);
/* Through typedefs, const, volatile and the like to the type that has a shape; 0 when broken. */
u32 kbtf_resolve(const struct kbtf *btf, u32 id);
/* In bytes, as sizeof says; -EINVAL for types without one. */
s64 kbtf_size(const struct kbtf *btf, u32 id);

struct kbtf_member {
	const char *name; /* "" for an anonymous one */
	u32 type;
	u32 bit_offset; /* from the start of the outermost struct */
	u32 bit_size;   /* 0: not a bit field */
};

/* Number of members of a struct or union, of values of an enum, of parameters of a prototype. */
u32 kbtf_length(const struct kbtf *btf, u32 id);
/* Member @i of a struct or union; -ENOENT. */
int kbtf_member_at(const struct kbtf *btf, u32 id, u32 i, struct kbtf_member *ret);
/*
 * Member by name, also inside anonymous structs and unions, or by path: "mm.exe_file" crosses a
 * struct that is embedded, not a pointer. -ENOENT when there is none.
 */
int kbtf_member(const struct kbtf *btf, u32 id, const char *path, struct kbtf_member *ret);
/* Type and name of parameter @i of a FUNC or FUNC_PROTO; -ENOENT. @ret_name may be NULL. */
int kbtf_param(const struct kbtf *btf, u32 id, u32 i, u32 *ret_type, const char **ret_name);
/* Constant @i of an enum: its name, or NULL. */
const char *kbtf_enum_at(const struct kbtf *btf, u32 id, u32 i, s64 *ret_value);
/* Value of an enum's constant; -ENOENT. */
int kbtf_enum_value(const struct kbtf *btf, u32 id, const char *name, s64 *ret);
/* The first constant of that value, or NULL. */
const char *kbtf_enum_name(const struct kbtf *btf, u32 id, s64 value);

#endif
