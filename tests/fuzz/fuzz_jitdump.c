/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a jitdump that grows: half of it, then all. */
#include "runtime/jitdump.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static int read_input(const void *ctx, u64 offset, void *ret, size_t n)
{
	const struct input *in = ctx;

	if (offset > in->size || n > in->size - offset)
		return -EIO;
	memcpy(ret, in->data + offset, n);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct input in = { data, size };
	struct jitdump d = JITDUMP_INIT;

	jitdump_update(&d, read_input, &in, size / 2);
	(void)jitdump_find(&d, 0x1000, 5);
	jitdump_update(&d, read_input, &in, size);
	if (d.consumed > size && d.entries.len)
		abort();
	for (size_t i = 0; i < d.entries.len && i < 100; i++) {
		const struct jitdump_entry *e = &d.entries.items[i];
		const struct jitdump_entry *found = jitdump_find(&d, e->start, e->time);

		if (!found || e->start < found->start || e->start - found->start >= found->size)
			abort();
		(void)jitdump_line(&d, e, e->start + e->size - 1);
		if (e->unwind_size && (e->unwind_at > size || e->unwind_size > size - e->unwind_at))
			abort();
	}
	jitdump_release(&d);
	return 0;
}
