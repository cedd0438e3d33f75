/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Byte strings to dense u32 ids and back. Equal bytes give the same id; ids count from 1 in order
 * of first use; id 0 means "none" and reads as "". The bytes may be anything (names, arrays of
 * ids); each is followed by a NUL that is not part of it, and 8-byte aligned.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"

struct intern_entry {
	const char *bytes;
	u32 len;
	u32 hash;
};

struct intern {
	struct arena arena;
	struct intern_entry *entries; /* entries[id], entries[0] unused */
	u32 *slots;                   /* hash table of ids */
	size_t len;                   /* highest id */
	size_t cap;
	size_t slot_count;
};

#define INTERN_INIT \
	{           \
		0   \
	}

void intern_release(struct intern *in);
u32 intern_bytes(struct intern *in, const void *p, size_t n);
u32 intern_str(struct intern *in, const char *s);
/* The id if these bytes are known already, else 0. */
u32 intern_find(const struct intern *in, const void *p, size_t n);
/* Never NULL; "" for 0 and for ids that do not exist. */
const char *intern_get(const struct intern *in, u32 id);
size_t intern_len(const struct intern *in, u32 id);

#endif
