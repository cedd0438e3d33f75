/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a memory access met (PERF_SAMPLE_DATA_SRC), in perf's words. */
#include "recording/data_src.h"
#include "view/script_state.h"

#include <linux/perf_event.h>

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
	data_src_op(value, b);
	buf_addstr(b, "|LVL ");
	data_src_level(value, b);
	buf_addstr(b, "|SNP ");
	data_src_snoop(value, b);
	buf_addstr(b, "|TLB ");
	data_src_tlb(value, b);
	buf_addstr(b, "|LCK ");
	data_src_lock(value, b);
	buf_addstr(b, "|BLK ");
	add_blocked(b, d.mem_blk);
	/* as wide as the widest until now */
	width = b->len - start;
	if (width < s->data_src_width)
		buf_fill(b, ' ', s->data_src_width - width);
	s->data_src_width = MAX(s->data_src_width, width);
}
