/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/paths.h"

/* A stack's number is above its caller's. */
void paths_sum(const struct profile *p, u64 *weights)
{
	for (size_t i = p->stacks.len; i-- > 1;)
		weights[p->stacks.items[i].parent] += weights[i];
}

struct links {
	u32 *first, *next; /* callees */
};

static struct links links_of(const struct profile *p)
{
	size_t n = MAX(p->stacks.len, (size_t)1);
	struct links l = { xcalloc(n, sizeof(u32)), xcalloc(n, sizeof(u32)) };

	for (u32 i = 1; i < p->stacks.len; i++) {
		u32 up = p->stacks.items[i].parent;

		l.next[i] = l.first[up];
		l.first[up] = i;
	}
	return l;
}

u8 *paths_outermost(const struct profile *p, const u32 *keys, size_t n_keys)
{
	u8 *ret = xcalloc(MAX(p->stacks.len, (size_t)1), 1);
	/* how many of each key are between the root and here */
	_cleanup_free_ u32 *open = xcalloc(MAX(n_keys, (size_t)1), sizeof(*open));
	struct links l = links_of(p);
	u32 at = 0;

	while (at || l.first[0]) {
		u32 down = l.first[at];

		if (down) {
			l.first[at] = l.next[down];
			ret[down] = keys[down] && !open[keys[down]];
			open[keys[down]]++;
			at = down;
		} else {
			open[keys[at]]--;
			at = p->stacks.items[at].parent;
		}
	}
	free(l.first);
	free(l.next);
	return ret;
}
