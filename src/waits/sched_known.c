/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sched_known.h"

void sched_known_release(struct sched_known *k)
{
	free(k->low);
	map_release(&k->high);
	vec_release(&k->more);
	*k = (struct sched_known){ 0 };
}

struct sched_since *sched_since_grow(struct sched_known *k, u32 tid)
{
	u64 *at;

	if (tid < SCHED_TIDS_MOST) {
		k->low = sched_by_tid(k->low, &k->n_low, sizeof(*k->low), tid);
		return &k->low[tid];
	}
	at = map_at(&k->high, tid);
	if (!*at) {
		(void)vec_new(&k->more);
		*at = k->more.len;
	}
	return &k->more.items[*at - 1];
}
