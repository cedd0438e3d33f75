/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs that are loaded now: where their functions lie, and everything about them in
 * the form that recordings keep (features BPF_PROG_INFO and BPF_BTF of perf.data).
 */
#ifndef HOST_BPF_PROGRAMS_H
#define HOST_BPF_PROGRAMS_H

#include "base/buf.h"
#include "base/parse.h"
#include "base/vec.h"
#include "host/btf.h"

#include <linux/bpf.h>

enum {
	BPF_PROGRAMS_MOST = 1 << 14,
	BPF_PROGRAM_FUNCS_MOST = 1 << 12,
	BPF_PROGRAMS_BYTES_MOST = 16 << 20, /* of @infos and of @btfs; later ones have only names */
};

struct bpf_function {
	u64 address;
	u32 size;
	u32 program; /* index */
	char *name; /* "bpf_prog_0123456789abcdef_name": its own tag, as in records of the kernel */
};

struct bpf_program {
	u32 id;
	u8 tag[BPF_TAG_SIZE];
};

struct bpf_programs {
	VEC(struct bpf_program) programs;
	VEC(struct bpf_function) functions; /* in the order of their programs */
	u32 n_infos;
	struct buf infos; /* of each: sizes, the kernel's struct, its arrays */
	u32 n_btfs;
	struct buf btfs; /* of each: id, size, and types of just the functions */
};

/*
 * Reads all of them; one that vanishes meanwhile is left out. -EPERM without the privilege; what
 * the kernel hides (kernel.kptr_restrict) has no functions.
 */
int bpf_programs_read(struct bpf_programs *ret);
void bpf_programs_release(struct bpf_programs *p);
/* Adds the addresses of the code of one; nothing when the kernel hides them. */
int bpf_program_code(int fd, range_list *ret);

/* A function whose program brought types along; valid during the call that it is given to. */
struct bpf_program_func {
	u32 program; /* its id */
	u32 type;    /* of the function, in @btf */
	const char *name;
	const struct kbtf *btf;
};
int bpf_programs_each_func(void (*each)(void *ctx, const struct bpf_program_func *f), void *ctx);

#endif
