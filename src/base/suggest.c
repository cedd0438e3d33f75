/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/suggest.h"

#include <ctype.h>

bool suggest_american(const char *s, char *ret, size_t size)
{
	const char *at = strstr(s, "colour");
	int n;

	if (!at)
		return false;
	n = snprintf(ret, size, "%.*scolor%s", (int)(at - s), s, at + strlen("colour"));
	return n > 0 && (size_t)n < size;
}

static bool normalise(const char *s, char *ret)
{
	char american[SUGGEST_MAX];
	size_t i;

	if (suggest_american(s, american, sizeof(american)))
		s = american;
	if (strlen(s) >= SUGGEST_MAX)
		return false;
	for (i = 0; s[i]; i++)
		ret[i] = (char)(s[i] == '_' ? '-' : tolower((unsigned char)s[i]));
	ret[i] = '\0';
	return true;
}

/* One cell of the optimal string alignment table, rows given from newest to oldest. */
static size_t cell(const char *a, const char *b, size_t i, size_t j, const u8 *row, const u8 *up,
		   const u8 *upper)
{
	bool same = a[i - 1] == b[j - 1];
	size_t d = MIN(row[j - 1] + 1u, up[j] + 1u);

	d = MIN(d, (size_t)up[j - 1] + !same);
	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
		d = MIN(d, upper[j - 2] + 1u);
	return d;
}

size_t suggest_distance(const char *a, const char *b)
{
	char x[SUGGEST_MAX], y[SUGGEST_MAX];
	u8 rows[3][SUGGEST_MAX];
	size_t n, m;

	if (!normalise(a, x) || !normalise(b, y))
		return SIZE_MAX;
	n = strlen(x);
	m = strlen(y);
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (u8)j;
	for (size_t i = 1; i <= n; i++) {
		u8 *row = rows[i % 3];
		const u8 *up = rows[(i + 2) % 3], *upper = rows[(i + 1) % 3];

		row[0] = (u8)i;
		for (size_t j = 1; j <= m; j++)
			row[j] = (u8)cell(x, y, i, j, row, up, upper);
	}
	return rows[n % 3][m];
}

void suggest_init(struct suggestion *s, const char *typed)
{
	suggest_init_n(s, typed, strlen(typed));
}

void suggest_init_n(struct suggestion *s, const char *typed, size_t n)
{
	*s = (struct suggestion){ .distance = SIZE_MAX };
	if (n < SUGGEST_MAX)
		memcpy(s->typed, typed, n);
}

void suggest_try(struct suggestion *s, const char *name)
{
	size_t n = strlen(s->typed), most = MAX(n / 3, (size_t)1);
	size_t d = suggest_distance(s->typed, name);

	/* a beginning of a name is as good as one wrong letter */
	if (n >= 2 && d > 1 && strncmp(s->typed, name, n) == 0)
		d = 1;
	/* with one or two letters, everything is near everything */
	if (d > most || d >= n || d >= s->distance || strlen(name) >= SUGGEST_MAX)
		return;
	s->distance = d;
	snprintf(s->best, sizeof(s->best), "%s", name);
}
