/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the kernel's unwinder may recognise stacks instead of walking them, and how often that is
 * checked: see docs/waits.md.
 */
#ifndef UNWIND_CHECKS_H
#define UNWIND_CHECKS_H

#include "base/base.h"

enum { UNWIND_CHECK_EVERY = 1024 };

struct unwind_checks {
	bool walk_always; /* nothing is recognised */
	u32 every; /* one in this many recognised stacks is walked too; 0: UNWIND_CHECK_EVERY */
};

/*
 * What the environment asks for beyond that: FATHOM_CHECK_STACKS=N checks one in N, and
 * FATHOM_WALK_ALWAYS=1 recognises none. For tests, which ask it of every command at once.
 */
struct unwind_checks unwind_checks_of(bool walk_always);

/*
 * Appends "RECOGNISED CHECKED MISRECOGNISED COMMAND" to the file that FATHOM_CHECK_LOG names, if it
 * names one: tests/run adds up what all programs of a run found. @counters: as for
 * unwind_counters_read().
 */
void unwind_checks_log(int counters);

/* Fills in what a program of the unwinder has for it in @rodata. */
#define unwind_checks_set(rodata, always)                                      \
	do {                                                                   \
		const struct unwind_checks checks_ = unwind_checks_of(always); \
                                                                               \
		(rodata)->unwind_walk_always = checks_.walk_always;            \
		(rodata)->unwind_check_every = checks_.every;                  \
	} while (0)

#endif
