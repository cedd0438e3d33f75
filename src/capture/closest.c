/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/closest.h"

#include <ctype.h>

void closest_init(struct closest *c, const char *word, size_t n)
{
	/* A third of the letters may be wrong, and at least two. */
	*c = (struct closest){ .word = word, .len = n, .distance = (u32)MAX(n / 3, 2) + 1 };
}

static u32 cost(char a, char b)
{
	if (a == b)
		return 0;
	if ((a == '_' && b == '-') || (a == '-' && b == '_'))
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 0 : 1;
}

/* Levenshtein with one row. */
static u32 distance(const char *a, size_t n, const char *b, size_t m)
{
	u32 row[CLOSEST_NAME_MOST + 1];

	for (size_t j = 0; j <= m; j++)
		row[j] = (u32)j;
	for (size_t i = 1; i <= n; i++) {
		u32 diagonal = row[0];

		row[0] = (u32)i;
		for (size_t j = 1; j <= m; j++) {
			u32 up = row[j], best = diagonal + cost(a[i - 1], b[j - 1]);

			best = MIN(best, up + 1);
			best = MIN(best, row[j - 1] + 1);
			row[j] = best;
			diagonal = up;
		}
	}
	return row[m];
}

void closest_offer(struct closest *c, const char *name)
{
	size_t m = strlen(name);
	u32 d;

	if (c->len > CLOSEST_NAME_MOST || m > CLOSEST_NAME_MOST || c->len == 0)
		return;
	d = distance(c->word, c->len, name, m);
	if (d < c->distance) {
		c->distance = d;
		c->best = name;
	}
}
