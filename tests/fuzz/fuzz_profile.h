/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What targets share that read a profile of some format: any bytes are loaded, or refused in words.
 */
#ifndef FATHOM_TESTS_FUZZ_PROFILE_H
#define FATHOM_TESTS_FUZZ_PROFILE_H

#include "profile/load.h"

enum { FUZZ_INPUT_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int (*fuzz_load_fn)(struct profile *p, const uint8_t *data, size_t size, struct err *e);

static inline int fuzz_profile(const uint8_t *data, size_t size, fuzz_load_fn load,
			       void (*use)(struct profile *p))
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	if (size > FUZZ_INPUT_MAX)
		return 0;
	profile_init(&p);
	if (load(&p, data, size, &e) >= 0)
		use(&p);
	else if (!e.what)
		abort();
	profile_release(&p);
	return 0;
}

#endif
