/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/schedstat: what the scheduler counts for each CPU. */
#include "counters/reader.h"

#define COUNT(name, field, meaning, high_)                                           \
	{                                                                            \
		"sched." name, CUMULATIVE, UNIT_COUNT, field, meaning, .high = high_ \
	}
#define TIME(name, field, meaning, high_)                                           \
	{                                                                           \
		"sched." name, CUMULATIVE, UNIT_TIME, field, meaning, .high = high_ \
	}

/* In the order of the file. */
static const struct counter rows[] = {
	COUNT("yields", "yld_count", "Calls of sched_yield().",
	      "A program polls instead of waiting."),
	COUNT("legacy", "0", "Not used any more.", NULL),
	COUNT("schedules", "sched_count", "Calls of schedule().", NULL),
	COUNT("idle_schedules", "sched_goidle", "The part of these that found nothing to run.",
	      NULL),
	COUNT("wakeups", "ttwu_count", "Tasks woken on this CPU.", NULL),
	COUNT("local_wakeups", "ttwu_local", "Of these, by the CPU itself.", NULL),
	TIME("run_time", "rq_cpu_time", "Time that tasks ran.", NULL),
	TIME("wait_time", "run_delay", "Time that tasks waited for this CPU.",
	     "Tasks wait for a CPU (fathom runqlat)."),
	COUNT("slices", "pcount", "Times that a task was put on the CPU.", NULL),
};

static void parse(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span line, word;

	while (text_line(&text, end, &line)) {
		if (!line_word(&line, &word) || word.n < 4 || memcmp(word.s, "cpu", 3) != 0)
			continue;
		put_columns(r, line, (struct span){ word.s + 3, word.n - 3 }, 0, ARRAY_SIZE(rows));
	}
}

const struct counter_source source_schedstat = {
	.prefix = "sched",
	.path = "proc/schedstat",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
	.needs = "a kernel with CONFIG_SCHEDSTATS",
};
