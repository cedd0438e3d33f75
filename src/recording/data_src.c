/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/data_src.h"

#include <linux/perf_event.h>

/* Bits of a field by name, joined by "or"; false when none is set. */
static bool add_bits(struct buf *b, u64 bits, const char *const *names, size_t n, bool before)
{
	for (size_t i = 0; i < n; i++) {
		if (!(bits >> i & 1))
			continue;
		buf_addf(b, "%s%s", before ? " or " : "", names[i]);
		before = true;
	}
	return before;
}

void data_src_op(u64 value, struct buf *b)
{
	const union perf_mem_data_src d = { .val = value };
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (d.mem_op >> i & 1) {
			buf_addstr(b, names[i]);
			return;
		}
	}
	buf_addstr(b, "No");
}

static void add_hit(struct buf *b, bool hit, bool miss)
{
	if (hit)
		buf_addstr(b, " hit");
	if (miss)
		buf_addstr(b, " miss");
}

void data_src_level(u64 value, struct buf *b)
{
	const union perf_mem_data_src source = { .val = value }, *d = &source;
	static const char *const names[] = {
		"N/A",
		"HIT",
		"MISS",
		"L1",
		"LFB",
		"L2",
		"L3",
		"Local RAM",
		"Remote RAM (1 hop)",
		"Remote RAM (2 hops)",
		"Remote Cache (1 hop)",
		"Remote Cache (2 hops)",
		"I/O",
		"Uncached",
	};
	static const char *const numbers[16] = {
		[0xb] = "Any cache", [0xc] = "LFB", [0xd] = "RAM", [0xe] = "PMEM", [0xf] = "N/A"
	};
	u64 bits = d->mem_lvl & ~(u64)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS);
	bool any;

	if (d->mem_remote)
		buf_addstr(b, "Remote ");
	any = add_bits(b, bits, names, ARRAY_SIZE(names), false);
	if (d->mem_lvl_num) {
		buf_addstr(b, any ? " or " : "");
		if (numbers[d->mem_lvl_num])
			buf_addstr(b, numbers[d->mem_lvl_num]);
		else
			buf_addf(b, "L%u", (u32)d->mem_lvl_num);
	} else if (!any && !d->mem_remote) {
		buf_addstr(b, "N/A");
	}
	add_hit(b, d->mem_lvl & PERF_MEM_LVL_HIT, d->mem_lvl & PERF_MEM_LVL_MISS);
}

void data_src_snoop(u64 value, struct buf *b)
{
	const union perf_mem_data_src source = { .val = value }, *d = &source;
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	bool any = add_bits(b, d->mem_snoop, names, ARRAY_SIZE(names), false);

	if (!add_bits(b, d->mem_snoopx, more, ARRAY_SIZE(more), any))
		buf_addstr(b, "N/A");
}

void data_src_tlb(u64 value, struct buf *b)
{
	const union perf_mem_data_src d = { .val = value };
	const u64 tlb = d.mem_dtlb;
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };

	if (!add_bits(b, tlb & ~(u64)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), names,
		      ARRAY_SIZE(names), false))
		buf_addstr(b, "N/A");
	add_hit(b, tlb & PERF_MEM_TLB_HIT, tlb & PERF_MEM_TLB_MISS);
}

void data_src_lock(u64 value, struct buf *b)
{
	const union perf_mem_data_src d = { .val = value };

	buf_addstr(b, d.mem_lock & PERF_MEM_LOCK_NA       ? "N/A"
		      : d.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
							  : "No");
}
