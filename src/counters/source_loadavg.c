/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/loadavg: tasks that run, wait for a CPU, or are blocked without being interruptible. */
#include "counters/reader.h"

static const struct counter rows[] = {
	{ "load.1", GAUGE, UNIT_NUMBER, "1 min",
	  "Tasks that ran, waited for a CPU or were blocked (state D), damped over a minute.",
	  .high = "Above the number of CPUs: look at pressure to tell CPU from disk.",
	  SCALE_CENTI },
	{ "load.5", GAUGE, UNIT_NUMBER, "5 min", "The same, damped over five minutes.",
	  .high = NULL, SCALE_CENTI },
	{ "load.15", GAUGE, UNIT_NUMBER, "15 min", "The same, damped over fifteen minutes.",
	  .high = NULL, SCALE_CENTI },
	{ "load.runnable", GAUGE, UNIT_COUNT, "runnable",
	  "Tasks that run or wait for a CPU at this moment.", .high = NULL },
	{ "load.tasks", GAUGE, UNIT_COUNT, "tasks", "All tasks, each thread one.",
	  .high = "A program leaks threads or processes." },
};

static void parse(struct reader *r, const char *text, size_t len)
{
	struct span line = { text, len }, word;
	const char *slash;
	u64 value;

	for (size_t i = 0; i < 3; i++) {
		if (!line_fixed(&line, 2, &value))
			return;
		reader_put_row(r, i, SPAN_NONE, value);
	}
	if (!line_word(&line, &word))
		return;
	slash = memchr(word.s, '/', word.n);
	if (!slash)
		return;
	if (span_number((struct span){ word.s, (size_t)(slash - word.s) }, &value))
		reader_put_row(r, 3, SPAN_NONE, value);
	if (span_number((struct span){ slash + 1, word.n - (size_t)(slash + 1 - word.s) }, &value))
		reader_put_row(r, 4, SPAN_NONE, value);
}

const struct counter_source source_loadavg = {
	.prefix = "load",
	.path = "proc/loadavg",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
