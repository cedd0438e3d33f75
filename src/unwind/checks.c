/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/checks.h"

#include "base/parse.h"

struct unwind_checks unwind_checks_of(bool walk_always)
{
	const char *every = getenv("FATHOM_CHECK_STACKS"), *always = getenv("FATHOM_WALK_ALWAYS");
	struct unwind_checks c = { .walk_always = walk_always, .every = UNWIND_CHECK_EVERY };
	u64 n;

	if (every && scan_u64(&every, every + strlen(every), 10, &n) && !*every && n &&
	    n <= UINT32_MAX)
		c.every = (u32)n;
	if (always && streq(always, "1"))
		c.walk_always = true;
	return c;
}
