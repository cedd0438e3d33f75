/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/slabinfo: caches of kernel objects. Reading it stops allocations for a moment. */
#include "counters/reader.h"

enum { ACTIVE, OBJECTS, SIZE, PER_SLAB, PAGES, ACTIVE_SLABS, SLABS };

static const struct counter rows[] = {
	{ "slab.active", GAUGE, UNIT_COUNT, "active_objs", "Objects in use.",
	  .high = "The kernel holds many of these; growing without end, it leaks." },
	{ "slab.objects", GAUGE, UNIT_COUNT, "num_objs", "Objects that there is room for.",
	  .high = NULL },
	{ "slab.object_size", GAUGE, UNIT_BYTES, "objsize", "Size of an object.", .high = NULL },
	{ "slab.objects_per_slab", GAUGE, UNIT_COUNT, "objperslab", "Objects of a slab.",
	  .high = NULL },
	{ "slab.slab_pages", GAUGE, UNIT_BYTES, "pagesperslab", "Size of a slab.", .high = NULL,
	  SCALE_PAGE },
	{ "slab.active_slabs", GAUGE, UNIT_COUNT, "active_slabs", "Slabs in use.", .high = NULL },
	{ "slab.slabs", GAUGE, UNIT_COUNT, "num_slabs", "Slabs.", .high = NULL },

	{ "slab.size", RATIO, UNIT_BYTES, NULL, "Memory of a cache.",
	  .high = "The kernel holds many of these objects.",
	  .formula = "slab.slabs * slab.slab_pages" },
	{ "slab.used_percent", RATIO, UNIT_PERCENT, NULL, "Share of objects in use.", .high = NULL,
	  .formula = "100 * slab.active / slab.objects" },
};

/* name active objects size perslab pages : tunables a b c : slabdata active slabs shared */
static void parse_line(struct reader *r, struct span line)
{
	struct span name, word;
	u64 value;

	if (!line_word(&line, &name) || name.s[0] == '#' || span_is(name, "slabinfo"))
		return;
	for (size_t i = ACTIVE; i <= PAGES; i++) {
		if (!line_number(&line, &value))
			return;
		reader_put_row(r, i, name, value);
	}
	while (line_word(&line, &word) && !span_is(word, "slabdata"))
		continue;
	for (size_t i = ACTIVE_SLABS; i <= SLABS; i++)
		if (line_number(&line, &value))
			reader_put_row(r, i, name, value);
}

static void parse(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span line;

	while (text_line(&text, end, &line))
		parse_line(r, line);
}

const struct counter_source source_slabinfo = {
	.prefix = "slab",
	.path = "proc/slabinfo",
	.flags = SOURCE_COSTLY | SOURCE_GAUGES,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
	.needs = "only root may read it",
};
