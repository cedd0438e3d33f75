/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions of one function, with the source lines that they are of. */
#ifndef CODE_LISTING_H
#define CODE_LISTING_H

#include "code/disasm.h"
#include "code/hits.h"

enum { LISTING_BYTES_MOST = 1 << 20, LISTING_INLINES = 8 };

struct listing_line {
	struct insn insn;   /* addresses as the linker knows them */
	const char *callee; /* of a call, or a jump out of the function; or NULL */
	u64 callee_offset;  /* into it */
	const char *file;   /* source of the instruction; NULL: not known */
	u32 line;
	u32 depth;                            /* how many inlined functions the instruction is in */
	const char *inlined[LISTING_INLINES]; /* their names, the innermost first */
	u64 samples[HITS_EVENTS_MOST], weight[HITS_EVENTS_MOST];
};

struct listing {
	const struct hits_function *function;
	u64 address; /* of the function, as the linker knows it */
	u64 from;    /* bytes of it before those that are listed */
	struct buf code;
	VEC(struct listing_line) lines;
	u64 left_out; /* bytes of the function that are too many, and the samples in them */
	u64 samples_left_out;
	bool live;       /* the bytes are those of the running kernel or process */
	const char *why; /* there are no source lines, and why; or NULL */
	const char *why_hint;
};

struct listing_opts {
	enum disasm_syntax syntax;
	const char *vmlinux; /* the kernel's code; NULL: /proc/kcore */
};

/* -ENOENT, -ESTALE and the like with the reason: the code is not there, or another. */
int listing_make(struct listing *l, struct hits *h, const struct hits_function *f,
		 const struct listing_opts *opts, struct err *e);
void listing_release(struct listing *l);

#endif
