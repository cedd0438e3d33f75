/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/history.h"

#include "base/hash.h"
#include "waits/blame.h"

/* Of a thread that was asked about again, the last account counts. */
static void keep_last(struct waits_live *l)
{
	struct map seen = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < l->threads.len; i++) {
		const struct offcpu_thread *t = &l->threads.items[i];
		u64 *at = map_at(&seen, hash_mix(t->tid, t->begin));

		if (!*at)
			*at = ++n;
		l->threads.items[*at - 1] = *t;
	}
	l->threads.len = n;
	map_release(&seen);
}

int waits_history_take(struct waits_history *h, struct waits_live *l, wait_list *ret, struct err *e)
{
	struct observed seen;
	int rc = waits_engine_lives(l->engine, e);

	if (rc < 0 && rc != -EAGAIN)
		return rc;
	rc = waits_live_collect(l, e);
	if (rc < 0)
		return rc;
	keep_last(l);
	seen = waits_live_observed(l);
	seen.known = h->known;
	waits_blame(&seen, h->first, ret);
	return 0;
}

void waits_history_pass(struct waits_history *h, struct waits_live *l)
{
	size_t n = 0, most = WAITS_HISTORY_MOST,
	       old = l->waits.len > most ? l->waits.len - most : 0;

	for (size_t i = 0; i < old; i++)
		h->known = MAX(h->known, l->waits.items[i].time);
	if (old)
		memmove(l->waits.items, l->waits.items + old, most * sizeof(*l->waits.items));
	l->waits.len -= old;
	h->first = l->waits.len;
	/* a wait that ends from now on may have been woken by one that ended since */
	for (size_t i = 0; i < l->threads.len; i++) {
		if (l->threads.items[i].end >= h->known)
			l->threads.items[n++] = l->threads.items[i];
	}
	l->threads.len = n;
	waits_forget(&l->profile);
	l->begin = l->end;
}
