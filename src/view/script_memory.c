/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a memory access met (PERF_SAMPLE_DATA_SRC), in perf's words. */
#include "view/script_state.h"

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

static void add_op(struct buf *b, u64 op)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (op >> i & 1) {
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

static void add_level(struct buf *b, const union perf_mem_data_src *d)
{
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

static void add_snoop(struct buf *b, const union perf_mem_data_src *d)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	bool any = add_bits(b, d->mem_snoop, names, ARRAY_SIZE(names), false);

	if (!add_bits(b, d->mem_snoopx, more, ARRAY_SIZE(more), any))
		buf_addstr(b, "N/A");
}

static void add_tlb(struct buf *b, u64 tlb)
{
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };

	if (!add_bits(b, tlb & ~(u64)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), names,
		      ARRAY_SIZE(names), false))
		buf_addstr(b, "N/A");
	add_hit(b, tlb & PERF_MEM_TLB_HIT, tlb & PERF_MEM_TLB_MISS);
}

static void add_blocked(struct buf *b, u64 blocked)
{
	if (!blocked || blocked & PERF_MEM_BLK_NA) {
		buf_addstr(b, " N/A");
		return;
	}
	if (blocked & PERF_MEM_BLK_DATA)
		buf_addstr(b, " Data");
	if (blocked & PERF_MEM_BLK_ADDR)
		buf_addstr(b, " Addr");
}

void script_data_src(struct script *s, u64 value)
{
	const union perf_mem_data_src d = { .val = value };
	struct buf *b = &s->out;
	size_t start = b->len, width;

	buf_addf(b, "%16llx |OP ", (unsigned long long)value);
	add_op(b, d.mem_op);
	buf_addstr(b, "|LVL ");
	add_level(b, &d);
	buf_addstr(b, "|SNP ");
	add_snoop(b, &d);
	buf_addstr(b, "|TLB ");
	add_tlb(b, d.mem_dtlb);
	buf_addf(b, "|LCK %s|BLK ",
		 d.mem_lock & PERF_MEM_LOCK_NA       ? "N/A"
		 : d.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
						     : "No");
	add_blocked(b, d.mem_blk);
	/* as wide as the widest until now */
	width = b->len - start;
	if (width < s->data_src_width)
		buf_fill(b, ' ', s->data_src_width - width);
	s->data_src_width = MAX(s->data_src_width, width);
}
