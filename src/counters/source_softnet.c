/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/net/softnet_stat: packets that each CPU took in, a line each, in hexadecimal. */
#include "counters/reader.h"

#include "base/parse.h"

static const struct counter rows[] = {
	{ "softnet.processed", CUMULATIVE, UNIT_COUNT, "column 1",
	  "Packets that this CPU took in from interfaces.", .high = NULL, .bits = 32 },
	{ "softnet.dropped", CUMULATIVE, UNIT_COUNT, "column 2",
	  "Packets dropped because the CPU's backlog was full.",
	  .high = "Raise net.core.netdev_max_backlog, or spread the load (RPS, more queues).",
	  .bits = 32 },
	{ "softnet.squeezed", CUMULATIVE, UNIT_COUNT, "column 3",
	  "Times that the CPU had to stop with packets left.",
	  .high = "Raise net.core.netdev_budget, or spread the load.", .bits = 32 },
};

static void parse(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span line, word;
	char cpu[16];

	for (u64 i = 0; text_line(&text, end, &line); i++) {
		int n = snprintf(cpu, sizeof(cpu), "%llu", (unsigned long long)i);

		for (size_t k = 0; k < ARRAY_SIZE(rows) && line_word(&line, &word); k++) {
			const char *at = word.s;
			u64 value;

			if (scan_u64(&at, word.s + word.n, 16, &value) && at == word.s + word.n)
				reader_put_row(r, k, (struct span){ cpu, (size_t)n }, value);
		}
	}
}

const struct counter_source source_softnet = {
	.prefix = "softnet",
	.path = "proc/net/softnet_stat",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
