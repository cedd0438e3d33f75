/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs of the tracing language and the functions that they call agree on. */
#ifndef BPF_LANG_ABI_H
#define BPF_LANG_ABI_H

#include <linux/types.h>

enum {
	LANG_STACK_FRAMES = 127, /* of one stack, at most */
	LANG_STACKS = 32768,     /* different ones that are kept */
	LANG_STACKS_SEEN = 1024, /* whose hashes are noted: a power of two */
	LANG_PLACES = 1 << 16,   /* beside how many frames are wanted: as places in files */
	LANG_OF_PROCESS = 2, /* in the number of a stack: it means something only in its process */
};

/* A stack as it is kept, by its hash: never 0, and never negative as a signed number. */
struct lang_stack {
	__u64 bytes; /* of ip[] that are used */
	__u64 ip[LANG_STACK_FRAMES];
};
_Static_assert(sizeof(struct lang_stack) == 1024, "shared with BPF");

#endif
