/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/softirqs: how often each soft interrupt ran, by kind and CPU ("NET_RX/0"). */
#include "counters/matrix.h"

static const struct counter rows[] = {
	{ "softirq.count", CUMULATIVE, UNIT_COUNT, "count",
	  "Runs of a soft interrupt on a CPU: the work that interrupts leave for later.",
	  .high = "NET_RX on one CPU: spread receive queues; TASKLET: a driver; RCU: many frees." },
	{ "softirq.total", CUMULATIVE, UNIT_COUNT, "sum of a line",
	  "Runs of a soft interrupt on all CPUs.", .high = NULL },
};

static void parse(struct reader *r, const char *text, size_t len)
{
	parse_matrix(r, text, len, NULL);
}

const struct counter_source source_softirqs = {
	.prefix = "softirq",
	.path = "proc/softirqs",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
