/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that came and went between two looks at a java process: its place has no sure name. */
#include "runtime/hotspot.h"

#include "base/clock.h"

/* Marks those of @a that are not in @b, and counts them; both are in the order of their addresses.
 */
static u32 each_other(struct hotspot *h, const struct hotspot_blob *a, size_t n_a,
		      const struct hotspot_blob *b, size_t n_b, u64 now)
{
	u32 n = 0;

	for (size_t i = 0, j = 0; i < n_a; i++) {
		while (j < n_b && b[j].address < a[i].address)
			j++;
		if (j < n_b && b[j].address == a[i].address && b[j].identity == a[i].identity)
			continue;
		hotspot_mark_unseen(h, &(struct code_name){ .time = h->looked,
							    .sure = now,
							    .start = a[i].code,
							    .size = a[i].end - a[i].code });
		n++;
	}
	return n;
}

/*
 * Code is freed: where it was, others may come and go before the next look, until one is seen
 * there. So may others have been where new code is. What was there in between has no name.
 */
void hotspot_note_unseen(struct hotspot *h, u64 now)
{
	const struct hotspot_blob *old = h->old_blobs.items, *new = h->blobs.items;

	if (!h->names)
		return;
	h->freed = each_other(h, old, h->old_blobs.len, new, h->blobs.len, now) > 0;
	if (h->freed)
		each_other(h, new, h->blobs.len, old, h->old_blobs.len, now);
}

void hotspot_ended(struct hotspot *h)
{
	const u64 now = clock_mono_ns();

	if (h->freed)
		each_other(h, h->blobs.items, h->blobs.len, NULL, 0, now);
	h->freed = false;
}
