/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/reader.h"

static const struct counter rows[] = {
	{ "system.uptime", GAUGE, UNIT_NUMBER, "uptime",
	  "Seconds since the machine was started, suspended time included.", .high = NULL,
	  SCALE_CENTI },
	{ "system.idle_seconds", GAUGE, UNIT_NUMBER, "idle",
	  "Seconds that all CPUs together were idle since then.", .high = NULL, SCALE_CENTI },
};

static void parse(struct reader *r, const char *text, size_t len)
{
	struct span line = { text, len };
	u64 value;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && line_fixed(&line, 2, &value); i++)
		reader_put_row(r, i, SPAN_NONE, value);
}

const struct counter_source source_uptime = {
	.prefix = "system",
	.path = "proc/uptime",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
