/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/checks.h"

#include "base/parse.h"
#include "unwind/loader.h"

#include <errno.h>
#include <fcntl.h>

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

void unwind_checks_log(int counters)
{
	/* a set-uid program must not write where its user says */
	const char *path = secure_getenv("FATHOM_CHECK_LOG");
	struct unwind_counts counts;
	_cleanup_close_ int fd = -1;

	if (!path || !*path || counters < 0)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	unwind_counters_read(counters, &counts);
	dprintf(fd, "%llu %llu %llu %s\n", (unsigned long long)counts.n[UNWIND_COUNT_RECOGNISED],
		(unsigned long long)counts.n[UNWIND_COUNT_CHECKED],
		(unsigned long long)counts.n[UNWIND_COUNT_MISRECOGNISED],
		program_invocation_short_name);
}
