/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of a recording: attrs of any size, ids, names. */
#include "recording/reader.h"

#include "recording/format.h"

#include <inttypes.h>

static const char *made_name(struct recording *r, const struct perf_event_attr *attr)
{
	static const char *const hardware[] = {
		"cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-misses",
		"bus-cycles",
		"stalled-cycles-frontend",
		"stalled-cycles-backend",
		"ref-cycles",
	};
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
	};
	u64 config = attr->config;

	if (attr->type == PERF_TYPE_HARDWARE && config < ARRAY_SIZE(hardware))
		return hardware[config];
	if (attr->type == PERF_TYPE_SOFTWARE && config < ARRAY_SIZE(software))
		return software[config];
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return arena_printf(&r->arena, "tracepoint:%" PRIu64, config);
	if (attr->type == PERF_TYPE_RAW)
		return arena_printf(&r->arena, "r%" PRIx64, config);
	return arena_printf(&r->arena, "event:%u:%" PRIx64, attr->type, config);
}

static int copy_attr(struct recording *r, const void *bytes, size_t size,
		     struct perf_event_attr *ret)
{
	struct perf_event_attr attr = { 0 };

	if (size < FORMAT_ATTR_MIN)
		return -EBADMSG;
	memcpy(&attr, bytes, MIN(size, sizeof(attr)));
	if (r->info.swapped)
		swap_attr(&attr);
	/* The first kernels wrote no size; a smaller one than the entry ends the known fields. */
	if (attr.size == 0)
		attr.size = FORMAT_ATTR_MIN;
	if (attr.size < FORMAT_ATTR_MIN || attr.size > FORMAT_ATTR_MAX)
		return -EBADMSG;
	if (attr.size < sizeof(attr))
		memset((u8 *)&attr + attr.size, 0, sizeof(attr) - attr.size);
	*ret = attr;
	return 0;
}

int recording_add_event(struct recording *r, const void *bytes, size_t size)
{
	struct recording_event ev = { .n_members = 1, .leader = (u32)r->events.len };
	struct event_layout layout;

	if (r->events.len >= FORMAT_MAX_EVENTS || copy_attr(r, bytes, size, &ev.attr) < 0)
		return -EBADMSG;
	ev.name = made_name(r, &ev.attr);
	sample_layout(&ev.attr, &layout);
	if (!r->events.len) {
		r->sample_id = sample_id_position(ev.attr.sample_type);
		r->id_id = ev.attr.sample_id_all ? trailing_id_position(ev.attr.sample_type) : -1;
	}
	vec_push(&r->events, ev);
	vec_push(&r->layouts, layout);
	vec_push(&r->named, 0);
	recording_name_tracepoints(r, (u32)r->events.len - 1);
	return 0;
}

void recording_add_ids(struct recording *r, u32 event, const void *ids, size_t n)
{
	struct recording_event *ev = &r->events.items[event];
	struct bytes b;
	u64 *all;

	n = MIN(n, (size_t)FORMAT_MAX_IDS - r->n_ids);
	if (!n || ev->n_ids)
		return;
	r->n_ids += n;
	b = bytes_of(ids, n * 8, r->info.swapped);
	all = arena_alloc(&r->arena, n * sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = bytes_u64(&b);
		map_put(&r->ids, all[i], event);
	}
	ev->ids = all;
	ev->n_ids = n;
	memset(r->id_memo, 0, sizeof(r->id_memo));
}

u32 recording_find_id(struct recording *r, u64 id)
{
	struct id_memo *memo = &r->id_memo[id % ID_MEMO];
	u32 event;

	if (likely(memo->id == id && id))
		return memo->event;
	event = (u32)map_get(&r->ids, id, RECORD_NO_EVENT);
	if (event != RECORD_NO_EVENT)
		*memo = (struct id_memo){ .id = id, .event = event };
	return event;
}

void recording_name_event(struct recording *r, u32 event, const char *name)
{
	if (event >= r->events.len || !name || !*name)
		return;
	r->events.items[event].name = name;
	r->named.items[event] = 1;
}

void recording_name_tracepoints(struct recording *r, u32 first)
{
	for (u32 i = first; r->info.formats.len && i < r->events.len; i++) {
		struct recording_event *ev = &r->events.items[i];
		const struct recording_format *f;

		if (r->named.items[i] || ev->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		f = recording_info_format(&r->info, ev->attr.config);
		if (f)
			recording_name_event(r, i,
					     arena_printf(&r->arena, "%s:%s", f->system, f->name));
	}
}
