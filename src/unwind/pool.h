/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of the kernel's unwinder: rows and rules, in maps that are mapped here too. It grows
 * up to a limit, POOL_MOST_BYTES; what is written is seen by programs that run at that moment.
 */
#ifndef UNWIND_POOL_H
#define UNWIND_POOL_H

#include "base/err.h"
#include "base/intern.h"
#include "base/vec.h"
#include "bpf/unwind_abi.h"

#define POOL_MOST_BYTES (128ull << 20) /* or a quarter of the machine's memory */

struct pool {
	int fd;                       /* the map of slabs */
	u32 *slabs[UNWIND_MAX_SLABS]; /* shared with the kernel */
	u32 n_slabs;
	u32 max_slabs;
	u32 used;                  /* rows that are taken */
	struct unwind_rule *rules; /* shared with the kernel */
	u32 n_rules;
	struct intern rule_ids;          /* id - 1 is the rule's number */
	VEC(struct pool_guest *) guests; /* slabs on their way into the map */
};

/* Takes a quarter of the machine's memory at most. The maps stay the caller's. */
int pool_init(struct pool *p, int pool_fd, int rules_fd, struct err *e);
void pool_release(struct pool *p);
/* Of kernel memory. */
u64 pool_bytes(const struct pool *p);

/* Most of what it may take is taken: of rows or of rules. */
bool pool_is_nearly_full(const struct pool *p);
/* All rows and rules are free again; what the kernel remembers of them must be void by then. */
void pool_clear(struct pool *p);

u16 pool_rule_id(struct pool *p, const struct unwind_rule *r);
/* Room for @n rows from *@ret on, which is even; @whole: they must not cross a chunk. */
int pool_take(struct pool *p, u32 n, bool whole, u32 *ret, struct err *e);
u32 *pool_row(const struct pool *p, u32 at);
/* Entry @page of the list of pages at @dir. It is read and written as one word. */
struct unwind_page pool_page(const struct pool *p, u32 dir, u32 page);
void pool_set_page(const struct pool *p, u32 dir, u32 page, struct unwind_page to);
/* The rule at @offset of a table; NULL: nothing is known about that page, or it is not there. */
const struct unwind_rule *pool_search(const struct pool *p, const struct unwind_bin *bin,
				      u64 offset);

#endif
