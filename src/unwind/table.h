/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of one file: for each offset in the file, the rule that leads to the caller.
 * Four bytes a row; keyed by file offset, so that no load address is needed to use it.
 *
 * A table does not change once it is made. Rule ids are the table's own; rules[UNWIND_RULE_END]
 * and rules[UNWIND_RULE_UNSUP] always exist.
 */
#ifndef UNWIND_TABLE_H
#define UNWIND_TABLE_H

#include "bpf/unwind_abi.h"
#include "elf/elf.h"

enum {
	UNWIND_MAX_PAGES = 1 << 18, /* 16 GB of file */
	UNWIND_MAX_ROWS = 32 << 20,
	UNWIND_MIN_FDES = 8, /* fewer in .eh_frame: .debug_frame is read too */
	UNWIND_MIN_GAP = 16, /* smaller gaps between functions are padding */
};
#define UNWIND_MAX_FRAME_BYTES (512ull << 20) /* bytes of frame information in one file */

/* What was met while compiling; kept with the table in the cache. */
struct unwind_table_stats {
	u64 fdes;
	u64 bad;           /* entries that could not be used */
	u64 unsupported;   /* rows with the unsupported rule */
	u64 rule_overflow; /* rows beyond UNWIND_MAX_RULES different rules */
	u64 dropped;       /* rows beyond UNWIND_PAGE_ROWS in a page or UNWIND_MAX_ROWS */
};

struct unwind_table {
	u32 *rows;
	struct unwind_page *pages; /* pages[file offset >> UNWIND_PAGE_BITS] */
	struct unwind_rule *rules;
	u32 n_rows;
	u32 n_pages;
	u32 n_rules;
	u32 build_id_len;
	u8 build_id[ELF_BUILD_ID_MAX];
	u64 fingerprint; /* of the file */
	struct unwind_table_stats stats;
	const u32 *sums; /* of the rows of each page; NULL: they are right */
	bool borrowed;   /* the arrays are not its own: they are in @map, or in a caller's bytes */
	const void *map; /* a file of the cache; or NULL */
	size_t map_len;
};

/* -ENODATA when the file has no frame information, -ENOEXEC when it is not for x86-64. */
int unwind_table_compile(const struct elf *elf, struct unwind_table **ret, struct err *e);
/* From the cache on disk if it is there, otherwise compiled and stored; @cached may be NULL. */
int unwind_table_get(const struct elf *elf, struct unwind_table **ret, bool *cached, struct err *e);
/* The same without looking at rows: unwind_table_page_valid() must be asked before using a page. */
int unwind_table_get_later(const struct elf *elf, struct unwind_table **ret, struct err *e);
bool unwind_table_page_valid(const struct unwind_table *t, u32 page);
void unwind_table_free(struct unwind_table *t);
static inline void unwind_table_freep(struct unwind_table **t)
{
	unwind_table_free(*t);
}
#define _cleanup_table_ _cleanup_(unwind_table_freep)
/* Memory that it takes. */
size_t unwind_table_bytes(const struct unwind_table *t);
/* Never NULL: outside of everything, and without a table, it is the END rule. */
const struct unwind_rule *unwind_table_rule(const struct unwind_table *t, u64 offset);

/*
 * The cache file's form, for tests and the fuzzer. Loading checks every number, but with @later
 * those of rows. The bytes, on a boundary of 8, must outlive the table.
 */
void unwind_table_pack(const struct unwind_table *t, struct buf *out);
int unwind_table_unpack(const void *bytes, size_t n, bool later, struct unwind_table **ret,
			struct err *e);

#endif
