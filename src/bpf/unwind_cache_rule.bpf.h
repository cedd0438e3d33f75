/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules by address: what unwind_find_rule() found for an address of a process. Each CPU has its
 * own; an interrupt may come in the middle of a change, so each entry has a version that is odd
 * meanwhile. Nothing is invalidated one by one: an entry holds for its key (unwind_valid.bpf.h).
 */
#ifndef BPF_UNWIND_CACHE_RULE_BPF_H
#define BPF_UNWIND_CACHE_RULE_BPF_H

#include "bpf/unwind_abi.h"
#include "bpf/unwind_valid.bpf.h"

struct unwind_rule_entry {
	struct unwind_valid valid;
	u64 word;  /* address << 16 | rule */
	u64 place; /* from the address to its place */
	u64 version;
};

/* In lines, because the kernel allocates per-CPU memory element by element. */
struct unwind_rule_line {
	struct unwind_rule_entry entry[UNWIND_MEMO_LINE];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_MEMO / UNWIND_MEMO_LINE);
	__type(key, u32);
	__type(value, struct unwind_rule_line);
} unwind_rule_cache SEC(".maps");

static __always_inline struct unwind_rule_entry *unwind_rule_at(const struct unwind_valid *valid,
								u64 pc)
{
	u64 hash = (pc ^ valid->mm << 20) * 0x9e3779b97f4a7c15ull;
	u32 at = hash >> 40 & (UNWIND_MEMO - 1), line = at / UNWIND_MEMO_LINE;
	struct unwind_rule_line *lines = bpf_map_lookup_elem(&unwind_rule_cache, &line);

	return lines ? &lines->entry[at & (UNWIND_MEMO_LINE - 1)] : 0;
}

/* The rule at @pc, and @place; UNWIND_NO_TABLE: it is not known. */
static __always_inline u32 unwind_rule_lookup(const struct unwind_valid *valid, u64 pc, u64 *place)
{
	struct unwind_rule_entry *e = valid->mm ? unwind_rule_at(valid, pc) : 0;
	u64 version, word, at;

	if (!e)
		return UNWIND_NO_TABLE;
	version = READ_ONCE(e->version);
	if (!unwind_is_valid(&e->valid, valid))
		return UNWIND_NO_TABLE;
	word = READ_ONCE(e->word);
	at = READ_ONCE(e->place);
	if (word >> 16 != pc || version & 1 || READ_ONCE(e->version) != version)
		return UNWIND_NO_TABLE;
	*place = at;
	return word & 0xffff;
}

static __always_inline void unwind_rule_insert(const struct unwind_valid *valid, u64 pc, u32 rule,
					       u64 place)
{
	struct unwind_rule_entry *e = valid->mm && !(pc >> 48) ? unwind_rule_at(valid, pc) : 0;
	u64 version;

	if (!e)
		return;
	version = READ_ONCE(e->version);
	if (version & 1)
		return; /* whom we interrupted is writing here */
	WRITE_ONCE(e->version, version + 1);
	barrier();
	e->valid = *valid;
	e->word = pc << 16 | rule;
	e->place = place;
	barrier();
	WRITE_ONCE(e->version, version + 2);
}

#endif
