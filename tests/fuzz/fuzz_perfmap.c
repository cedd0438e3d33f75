/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a perf map, in two parts; names as mangled names. */
#include "symbol/demangle.h"
#include "runtime/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap m = PERFMAP_INIT;
	const char *text = (const char *)data;
	struct buf b = BUF_INIT;
	size_t used = perfmap_add(&m, text, size / 2);

	(void)perfmap_find(&m, 0x1000);
	if (used > size / 2 || perfmap_add(&m, text + used, size - used) > size - used)
		abort();
	for (size_t i = 0; i < m.entries.len && i < 100; i++) {
		const struct perfmap_entry *e = &m.entries.items[i];
		const struct perfmap_entry *found = perfmap_find(&m, e->start);

		if (!found || e->start < found->start || e->start - found->start >= found->size)
			abort();
		(void)demangle(perfmap_name(&m, e), &b);
		buf_reset(&b);
	}
	buf_release(&b);
	perfmap_release(&m);
	return 0;
}
