/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of files, as src/unwind/pool.c lays them out, and the rule at a place of a file. */
#ifndef BPF_UNWIND_TABLE_BPF_H
#define BPF_UNWIND_TABLE_BPF_H

#include "bpf/ktypes.h"
#include "bpf/unwind_abi.h"
#include <bpf/bpf_helpers.h>

struct unwind_slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_SLAB_CHUNKS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct unwind_chunk));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_MAX_SLABS);
	__type(key, u32);
	__array(values, struct unwind_slab);
} unwind_pool SEC(".maps");

/* The chunk of the pool that holds row @at. */
static __always_inline struct unwind_chunk *unwind_chunk_of(u32 at)
{
	u32 slab = at >> (UNWIND_CHUNK_BITS + UNWIND_SLAB_CHUNKS_BITS);
	u32 chunk = (at >> UNWIND_CHUNK_BITS) & (UNWIND_SLAB_CHUNKS - 1);
	void *inner = bpf_map_lookup_elem(&unwind_pool, &slab);

	return inner ? bpf_map_lookup_elem(inner, &chunk) : 0;
}

__attribute__((noinline)) int unwind_search(const struct unwind_bin *bin, u64 offset)
{
	if (!bin)
		return UNWIND_RULE_END;
	u64 page = offset >> UNWIND_PAGE_BITS, low = offset & 0xffff;

	if (page >= bin->pages)
		return UNWIND_RULE_END;
	u32 at = bin->dir + 2 * (u32)page;
	struct unwind_chunk *c = unwind_chunk_of(at);

	if (!c)
		return UNWIND_RULE_END;
	/* as one word: user space may be about to fill it in */
	u64 entry = *(volatile u64 *)&c->row[at & (UNWIND_CHUNK_ROWS - 1) & ~1u];
	u32 count = entry >> 32;

	if (!count)
		return UNWIND_RULE_END;
	if (count == UNWIND_PAGE_LATER)
		return UNWIND_NO_TABLE;
	at = entry;
	c = unwind_chunk_of(at);
	if (!c)
		return UNWIND_RULE_END;
#pragma unroll
	for (int i = 0; i < UNWIND_CHUNK_BITS; i++) {
		/* without a branch, so that the verifier has one way to follow */
		u32 half = count >> 1;
		u64 low_of = c->row[(at + half) & (UNWIND_CHUNK_ROWS - 1)] >> 16;
		u64 not_after = (low_of - low - 1) >> 63;

		at += half & -(u32)not_after;
		count -= half;
	}
	return c->row[at & (UNWIND_CHUNK_ROWS - 1)] & 0xffff;
}

#endif
