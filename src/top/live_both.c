/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One flame graph in two halves: samples, and waits. */
#include "top/live.h"

/* Boxes of one half, from @start on; the first of them gets the name of the half. */
static void add_half(struct profile_frame *to, const struct profile_frame *from, const char *name)
{
	u64 start = to->weight;
	double scale = from->weight ? (double)LIVE_HALF / (double)from->weight : 0;
	u32 shift = (u32)to->boxes.len;

	if (!from->weight)
		return;
	for (size_t i = 0; i < from->boxes.len; i++) {
		const struct live_box *b = &from->boxes.items[i];
		struct live_box *copy = vec_new(&to->boxes);

		*copy = *b;
		copy->parent = i ? b->parent + shift : 0;
		copy->depth = b->depth + 1;
		copy->start = start + (u64)((double)b->start * scale);
		copy->weight = (u64)((double)b->weight * scale);
		copy->self = (u64)((double)b->self * scale);
		copy->name = i ? arena_strdup(&to->arena, b->name) : name;
		copy->module = arena_strdup(&to->arena, b->module);
	}
	to->weight += LIVE_HALF;
	to->samples += from->samples;
	to->rows = MAX(to->rows, from->rows + 1);
}

/* Samples come so and so often a second, whatever their weight counts. */
static u64 cpu_time(const struct profile_frame *f)
{
	return f->frequency && f->seconds > 0
		       ? (u64)((double)f->samples / (double)f->frequency / f->seconds * 1e9)
		       : 0;
}

struct profile_frame *live_join(const struct profile_frame *hot, const struct profile_frame *cold)
{
	struct profile_frame *f = xcalloc(1, sizeof(*f));

	f->both = true;
	f->hot_ns = cpu_time(hot);
	f->cold_ns = cold->seconds > 0 ? (u64)((double)cold->weight / cold->seconds) : 0;
	f->event = "";
	f->seconds = hot->seconds;
	f->lost = hot->lost + cold->lost;
	f->frequency = hot->frequency;
	f->serial = MIN(hot->serial, cold->serial);
	vec_push(&f->boxes, (struct live_box){ .name = "all", .module = "", .color = -1 });
	add_half(f, hot, "on CPUs");
	add_half(f, cold, "waiting");
	f->boxes.items[0].weight = f->weight;
	return f;
}
