/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolved call chains, cached from the outermost entry inwards: a chain that differs from
 * an earlier one in its innermost addresses only costs these. Each beginning is known by 64 bits
 * of hash over its addresses and its process's mappings; the addresses themselves are not kept.
 * Not for security: a chain that is made to collide would only be shown as the other one.
 */
#ifndef PROFILE_CHAINMEMO_H
#define PROFILE_CHAINMEMO_H

#include "base/hash.h"

struct chainmemo_slot {
	u64 hash; /* 0: free */
	u32 stack;
	u32 unused;
};

struct chainmemo {
	struct chainmemo_slot *slots;
	size_t cap; /* a power of two, or 0 */
	size_t len;
};

void chainmemo_release(struct chainmemo *m);
/* NULL: not known. Valid until the next chainmemo_put(). */
const struct chainmemo_slot *chainmemo_find(const struct chainmemo *m, u64 hash);
/* @hash must not be known. Once the table is as large as it gets, it forgets. */
void chainmemo_put(struct chainmemo *m, u64 hash, u32 stack);

/* Adds one entry, going inwards. @kind tells entries apart that have the same address. */
static inline u64 chainmemo_step(u64 hash, u64 address, u32 kind)
{
	hash = (hash ^ address) * 0xd6e8feb86659fd93ull + kind;
	return hash ^ hash >> 32;
}

/* The hash of nothing yet, for @seed. */
static inline u64 chainmemo_begin(u64 seed)
{
	return hash_u64(seed ^ 0x9e3779b97f4a7c15ull);
}

#endif
