/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/interrupts: how often each interrupt came, by number and CPU ("36 virtio1-req.0/1"). */
#include "counters/matrix.h"

static const struct counter rows[] = {
	{ "irq.count", CUMULATIVE, UNIT_COUNT, "count",
	  "Interrupts of a line on a CPU, with the device that raises them.",
	  .high = "One CPU serves all of a busy device: set its affinity, or use more queues." },
	{ "irq.total", CUMULATIVE, UNIT_COUNT, "sum of a line", "Interrupts of a line on all CPUs.",
	  .high = "A busy device or timer; irq.count shows which CPUs serve it." },
};

/*
 * What follows the numbers: "IO-APIC   4-edge   ttyS0" of a device, whose name is last;
 * "Local timer interrupts" of those with letters, where all words count.
 */
static void label(struct span number, struct span rest, struct buf *out)
{
	struct span word, last = SPAN_NONE;
	bool device = number.s[0] >= '0' && number.s[0] <= '9';
	size_t n = 0;

	buf_add(out, number.s, number.n);
	while (line_word(&rest, &word)) {
		last = word;
		if (!device || ++n > 2)
			buf_addf(out, " %.*s", (int)word.n, word.s);
	}
	if (device && n && n <= 2)
		buf_addf(out, " %.*s", (int)last.n, last.s);
}

static void parse(struct reader *r, const char *text, size_t len)
{
	parse_matrix(r, text, len, label);
}

const struct counter_source source_interrupts = {
	.prefix = "irq",
	.path = "proc/interrupts",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
