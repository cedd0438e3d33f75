/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the table of a Go program: names and rules of its functions. */
#include "runtime/goframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_rule(void *ctx, u64 address, const struct unwind_rule *rule)
{
	u64 *last = ctx;

	if (address < *last || rule->cfa > UNWIND_CFA_FAR_FP)
		abort();
	*last = address;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gotab_function f;
	struct gotab t;
	const char *name;

	if (!gotab_open(&t, data, size, 0x1000))
		return 0;
	for (u64 i = 0; i < t.count && i < 1000; i++) {
		u64 last = 0;

		if (!gotab_function(&t, i, &f))
			continue;
		if (gotab_name(&t, &f, &name) > size)
			abort();
		go_frame_rules(&t, &f, on_rule, &last);
	}
	return 0;
}
