/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some tracepoints record the address of a constant string ("Start context switch"). Tracefs lists
 * these strings, and recordings carry its list. Where one does not, that of the kernel that runs
 * here is asked if it is the recorded one. After a reboot the addresses differ, and the number is
 * shown.
 */
#ifndef PROFILE_KERNEL_STRINGS_H
#define PROFILE_KERNEL_STRINGS_H

#include "base/intern.h"
#include "base/map.h"
#include "recording/recording.h"

struct kernel_strings {
	struct map ids; /* address -> text */
	struct intern texts;
	bool read;
};

void kernel_strings_release(struct kernel_strings *k);
/* NULL: not known. */
const char *kernel_strings_get(struct kernel_strings *k, const struct recording *r, u64 address);

#endif
