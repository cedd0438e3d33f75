/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes for tables in memory. Not for security, not stable between versions. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/base.h"

static inline u64 hash_u64(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

static inline u64 hash_mix(u64 h, u64 v)
{
	return hash_u64(h * 0x9e3779b97f4a7c15ull + v + 1);
}

static inline u64 hash_bytes(const void *data, size_t n)
{
	const u8 *p = data;
	u64 h = n * 0x9e3779b97f4a7c15ull, w;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0xd6e8feb86659fd93ull;
		h ^= h >> 32;
	}
	w = 0;
	if (n)
		memcpy(&w, p, n);
	return hash_u64(h ^ w);
}

static inline u64 hash_str(const char *s)
{
	return hash_bytes(s, strlen(s));
}

#endif
