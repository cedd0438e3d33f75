/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the text of perf script, drawn and folded again. */
#include "fuzz/fuzz_draw.h"
#include "fuzz/fuzz_profile.h"

static int load(struct profile *p, const uint8_t *data, size_t size, struct err *e)
{
	return profile_load_script(p, (const char *)data, size, NULL, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, load, fuzz_draw);
}
