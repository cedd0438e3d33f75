/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/pressure: shares of time in which tasks could not continue for lack of a resource. */
#include "counters/reader.h"

static const char *const resources[] = { "cpu", "io", "memory", "irq" };

enum { VALUES = 4 };

#define AVERAGES(name, what, meaning, high_)                                                  \
	{ "pressure." name ".avg10",    GAUGE,         UNIT_PERCENT, what " avg10",           \
	  meaning " Damped over 10 s.", .high = high_, SCALE_CENTI },                         \
		{ "pressure." name ".avg60",    GAUGE,         UNIT_PERCENT, what " avg60",   \
		  meaning " Damped over 60 s.", .high = high_, SCALE_CENTI },                 \
		{ "pressure." name ".avg300",    GAUGE,         UNIT_PERCENT, what " avg300", \
		  meaning " Damped over 300 s.", .high = high_, SCALE_CENTI },                \
	{                                                                                     \
		"pressure." name ".total", CUMULATIVE, UNIT_TIME, what " total", meaning,     \
			.high = high_, SCALE_US                                               \
	}

#define CPU_HIGH    "Too few CPUs for the work, or a quota (fathom runqlat, fathom threads)."
#define IO_HIGH     "Disks hold the work up (fathom iostat -x, fathom offcpu)."
#define MEMORY_HIGH "Memory is short: reclaim and swapping hold the work up (fathom vmstat)."

/* In the order of resources[], "some" before "full". */
static const struct counter rows[] = {
	AVERAGES("cpu.some", "some", "Time in which a task waited for a CPU.", CPU_HIGH),
	AVERAGES("cpu.full", "full", "Time in which all tasks waited for a CPU: 0 for a machine.",
		 NULL),
	AVERAGES("io.some", "some", "Time in which a task waited for I/O.", IO_HIGH),
	AVERAGES("io.full", "full", "Time in which all tasks that had work waited for I/O.",
		 IO_HIGH),
	AVERAGES("memory.some", "some", "Time in which a task waited for memory.", MEMORY_HIGH),
	AVERAGES("memory.full", "full", "Time in which all tasks that had work waited for memory.",
		 MEMORY_HIGH),
	AVERAGES("irq.some", "some", "Not written by any kernel yet.", NULL),
	AVERAGES("irq.full", "full", "Time in which interrupts kept all tasks from running.",
		 "Interrupts load the CPUs (fathom irqtop)."),
};

static void parse_line(struct reader *r, size_t resource, struct span line)
{
	struct span word;
	size_t first;
	u64 value;

	if (!line_word(&line, &word) || !(span_is(word, "some") || span_is(word, "full")))
		return;
	first = (resource * 2 + span_is(word, "full")) * VALUES;
	for (size_t i = 0; i < VALUES && line_word(&line, &word); i++) {
		const char *equals = memchr(word.s, '=', word.n);
		struct span number;

		if (!equals)
			return;
		number.s = equals + 1;
		number.n = word.n - (size_t)(number.s - word.s);
		if (line_fixed(&number, i < VALUES - 1 ? 2 : 0, &value))
			reader_put_row(r, first + i, SPAN_NONE, value);
	}
}

static int read_all(struct reader *r)
{
	char path[64];
	int found = 0, rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		const char *text, *end;
		struct span line;
		size_t len;
		int one;

		snprintf(path, sizeof(path), "proc/pressure/%s", resources[i]);
		one = reader_text(r, path, &text, &len);
		if (one < 0) {
			rc = rc ? rc : one;
			continue;
		}
		found++;
		end = text + len;
		while (text_line(&text, end, &line))
			parse_line(r, i, line);
	}
	return found ? 0 : rc;
}

const struct counter_source source_pressure = {
	.prefix = "pressure",
	.path = "proc/pressure/*",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
	.needs = "Linux 4.20 with CONFIG_PSI, on some systems booted with psi=1",
};
