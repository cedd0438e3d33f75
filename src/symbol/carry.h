/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers (ULEB128) and strings in the sections of names that a recording carries. */
#ifndef SYMBOL_CARRY_H
#define SYMBOL_CARRY_H

#include "symbol/symbol.h"

void carry_put(struct buf *b, u64 v);
/* The length, then the bytes. */
void carry_put_bytes(struct buf *b, const void *p, size_t n);

/* Reading: a cursor that cannot leave the blob. */
struct carry_blob {
	const u8 *bytes;
	size_t len;
	size_t at;
	bool bad;
};

u64 carry_get(struct carry_blob *b);
/* Not NUL-terminated; longer ones than @max make the blob bad. */
const char *carry_get_bytes(struct carry_blob *b, size_t max, size_t *ret_len);

/* Who a module is. */
void carry_put_key(struct buf *b, const struct module_key *k);
/* Its build id is inside of the blob; *ret_path is its path, the caller's to free. */
void carry_get_key(struct carry_blob *b, struct module_key *ret, char **ret_path);

#endif
