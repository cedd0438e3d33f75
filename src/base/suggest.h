/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "did you mean": the nearest of several names to a mistyped one. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/base.h"

enum { SUGGEST_MAX = 64 }; /* longer words are not compared */

struct suggestion {
	char typed[SUGGEST_MAX]; /* "" for a word that is too long: nothing is near it */
	size_t distance;
	char best[SUGGEST_MAX]; /* "" while nothing is near enough */
};

void suggest_init(struct suggestion *s, const char *typed);
/* The first @n bytes of it. */
void suggest_init_n(struct suggestion *s, const char *typed, size_t n);
/* Keeps @name if it is nearer than all before it. */
void suggest_try(struct suggestion *s, const char *name);
/* Insertions, deletions, changes and swaps of neighbours that turn @a into @b; case is ignored
 * and colour equals color. SIZE_MAX for words of SUGGEST_MAX bytes and more. */
size_t suggest_distance(const char *a, const char *b);
/* Rewrites "colour" as "color"; false when there is nothing to rewrite or no room. */
bool suggest_american(const char *s, char *ret, size_t size);

#endif
