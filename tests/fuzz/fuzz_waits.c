/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of waits from anywhere, and a wait that they are asked about. */
#include "waits/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct wait_kinds *kinds;
	struct profile p;
	struct wait w = { .syscall = 202, .state = 1 };

	profile_init(&p);
	if (wait_kinds_new(&kinds, &p, NULL) >= 0) {
		(void)wait_kinds_parse(kinds, (const char *)data, size, "fuzz", &e);
		w.thread = profile_get_thread(&p, 1, 1, profile_string(&p, "x"), 0);
		(void)wait_kinds_of(kinds, &w);
		wait_kinds_free(kinds);
	}
	profile_release(&p);
	return 0;
}
