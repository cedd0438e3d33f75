/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF call frame information: from the bytes of .eh_frame or .debug_frame to "from this address
 * on, the caller is found by this rule". Only four columns are followed (CFA, rbp, rbx and the
 * return address); everything that does not fit a rule becomes the unsupported rule, and is
 * counted.
 *
 * The bytes may be anything. The work is linear in their number.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/map.h"
#include "base/vec.h"
#include "bpf/unwind_abi.h"

struct cfi_section {
	const u8 *data; /* must outlive what is parsed from it */
	size_t size;
	u64 vaddr;
	u64 hdr_vaddr;       /* of .eh_frame_hdr, 0 if unknown: base of data-relative pointers */
	bool debug;          /* .debug_frame */
	bool ends_with_zero; /* its size is only an upper bound */
};

/* Where a column's old value is. */
enum cfi_where { CFI_SAME, CFI_UNDEFINED, CFI_OFFSET, CFI_VAL_OFFSET, CFI_REG, CFI_EXPR, CFI_LOST };

struct cfi_column {
	u8 where; /* enum cfi_where */
	u8 reg;   /* DWARF number */
	u32 expr_len;
	s64 offset;
	const u8 *expr;
};

/* The rules in force at one address. */
struct cfi_state {
	struct cfi_column cfa; /* CFI_REG: reg + offset, or CFI_EXPR */
	struct cfi_column bp;
	struct cfi_column ra;
	struct cfi_column bx;
	bool sp_moved; /* the caller's stack pointer is not the CFA: longjmp and its like */
};

struct cfi_cie {
	u64 code_align;
	s64 data_align;
	u64 ra_column;
	u8 fde_encoding;
	bool augmented; /* FDEs have augmentation data */
	bool signal;
	bool usable;
	struct cfi_state initial;
};

struct cfi_fde {
	u64 start; /* address */
	u64 end;
	u32 cie;
	u32 program_len;
	const u8 *program;
};

struct cfi {
	struct cfi_section section;
	VEC(struct cfi_cie) cies;
	VEC(struct cfi_fde) fdes; /* in the order of the section */
	struct map cie_at;        /* section offset -> index of the CIE + 1 */
	u64 bad;                  /* entries that could not be used */
};

/* Called for each row in order of address; equal neighbours are not merged. */
typedef void cfi_emit_fn(void *ctx, u64 address, const struct unwind_rule *rule);

/* Finds all CIEs and FDEs; what is broken is skipped and counted in @bad. */
void cfi_parse(struct cfi *c, const struct cfi_section *section);
void cfi_release(struct cfi *c);
/* Runs the program of one FDE. Its last row holds until @fde->end. */
void cfi_run(const struct cfi *c, const struct cfi_fde *fde, cfi_emit_fn *emit, void *ctx);

/* The rule at one address of a small section; false when nothing there describes it. */
bool cfi_rule_at(const struct cfi_section *section, u64 address, struct unwind_rule *ret);

/* The pieces, shared between the two source files. */
struct cfi_reader {
	const u8 *p;
	const u8 *end;
	bool bad; /* something was read past the end: values are 0 from then on */
};

u64 cfi_uint(struct cfi_reader *r, size_t bytes);
u64 cfi_uleb(struct cfi_reader *r);
s64 cfi_sleb(struct cfi_reader *r);
/* An encoded pointer (DW_EH_PE_*) that is in @s; sets r->bad for encodings that we lack. */
u64 cfi_pointer(struct cfi_reader *r, u8 encoding, const struct cfi_section *s);
/*
 * Runs instructions on @state, which begins as @cie->initial (or empty while that is computed).
 * @emit may be NULL. False when the program is broken.
 */
bool cfi_execute(const struct cfi *c, const struct cfi_cie *cie, struct cfi_reader *program,
		 u64 start, u64 end, struct cfi_state *state, cfi_emit_fn *emit, void *ctx);

#endif
