/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sched_layout.h"

#include "recording/recording.h"

static const char *const type_names[SCHED_TYPES] = {
	[SCHED_SWITCH] = "sched:sched_switch",        [SCHED_WAKING] = "sched:sched_waking",
	[SCHED_WAKEUP] = "sched:sched_wakeup",        [SCHED_WAKEUP_NEW] = "sched:sched_wakeup_new",
	[SCHED_MIGRATE] = "sched:sched_migrate_task", [SCHED_RUNTIME] = "sched:sched_stat_runtime",
	[SCHED_FORK] = "sched:sched_process_fork",
};

/* The fields' names, by type; NULL: this type has none. */
static const char *const field_names[SCHED_TYPES][SCHED_F_COUNT] = {
	[SCHED_SWITCH] = { [SCHED_F_PREV] = "prev_pid",
			   [SCHED_F_NEXT] = "next_pid",
			   [SCHED_F_PREV_COMM] = "prev_comm",
			   [SCHED_F_NEXT_COMM] = "next_comm",
			   [SCHED_F_STATE] = "prev_state" },
	[SCHED_WAKING] = { [SCHED_F_NEXT] = "pid", [SCHED_F_NEXT_COMM] = "comm" },
	[SCHED_WAKEUP] = { [SCHED_F_NEXT] = "pid", [SCHED_F_NEXT_COMM] = "comm" },
	[SCHED_WAKEUP_NEW] = { [SCHED_F_NEXT] = "pid", [SCHED_F_NEXT_COMM] = "comm" },
	[SCHED_MIGRATE] = { [SCHED_F_NEXT] = "pid",
			    [SCHED_F_NEXT_COMM] = "comm",
			    [SCHED_F_FROM] = "orig_cpu",
			    [SCHED_F_TO] = "dest_cpu" },
	[SCHED_RUNTIME] = { [SCHED_F_NEXT] = "pid",
			    [SCHED_F_NEXT_COMM] = "comm",
			    [SCHED_F_RUNTIME] = "runtime" },
	[SCHED_FORK] = { [SCHED_F_PREV] = "parent_pid", [SCHED_F_NEXT] = "child_pid" },
};

static u32 number_after(const char *line, const char *end, const char *key)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	u64 v = 0;

	if (!at)
		return 0;
	at += strlen(key);
	return scan_u64(&at, end, 10, &v) && v < 1 << 20 ? (u32)v : 0;
}

/* "field:pid_t prev_pid;	offset:24;	size:4;	signed:1;" */
static bool line_names(const char *line, const char *end, const char *name)
{
	const char *semicolon = memchr(line, ';', (size_t)(end - line));
	size_t n = strlen(name);

	if (!semicolon || !memmem(line, (size_t)(semicolon - line), "field:", 6))
		return false;
	if (semicolon[-1] == ']')
		while (semicolon > line && *semicolon != '[')
			semicolon--;
	return (size_t)(semicolon - line) > n && memcmp(semicolon - n, name, n) == 0 &&
	       (semicolon[-(s64)n - 1] == ' ' || semicolon[-(s64)n - 1] == '\t');
}

void sched_field_find(const struct recording_format *f, const char *name, struct sched_field *ret)
{
	const char *p = f->text, *end = f->text + f->text_size;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;

		if (line_names(p, stop, name)) {
			ret->offset = number_after(p, stop, "offset:");
			ret->size = number_after(p, stop, "size:");
			ret->relative = memmem(p, (size_t)(stop - p), "__rel_loc", 9);
			return;
		}
		p = stop + 1;
	}
}

static u16 place(u64 type, u64 before)
{
	return (u16)(sizeof(struct perf_event_header) +
		     8 * (size_t)__builtin_popcountll(type & before));
}

/* Where the fields of a sample lie, as far as that is the same for all samples. */
static void learn_sample(struct sched_layout *l, u64 type)
{
	enum {
		TID = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP,
		TIME = TID | PERF_SAMPLE_TID,
		CPU = TIME | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
		      PERF_SAMPLE_STREAM_ID,
		RAW = CPU | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	};

	l->plain = (type & PERF_SAMPLE_RAW) && (type & PERF_SAMPLE_TIME) &&
		   (type & PERF_SAMPLE_TID) && (type & PERF_SAMPLE_CPU) &&
		   !(type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN));
	l->place.tid = (u16)(place(type, TID) + 4); /* after the pid */
	l->place.time = place(type, TIME);
	l->place.cpu = place(type, CPU);
	l->place.raw = place(type, RAW);
}

/* Where @f lies from the header on; @otherwise if there is none. False: not of this size. */
static bool quick_place(const struct sched_layout *l, enum sched_field_id f, u32 size,
			u16 otherwise, u16 *ret)
{
	u32 at = l->place.raw + 4u + l->fields[f].offset;

	*ret = l->fields[f].size ? (u16)at : otherwise;
	return !l->fields[f].size || (l->fields[f].size == size && at <= UINT16_MAX);
}

/* The CPUs of a migration are neighbours. */
static bool quick_value(const struct sched_layout *l, u16 *ret)
{
	const struct sched_field *from = &l->fields[SCHED_F_FROM], *to = &l->fields[SCHED_F_TO];

	if (l->type == SCHED_MIGRATE)
		return from->size == 4 && to->size == 4 && to->offset == from->offset + 4 &&
		       quick_place(l, SCHED_F_FROM, 4, 0, ret);
	return quick_place(l, l->type == SCHED_RUNTIME ? SCHED_F_RUNTIME : SCHED_F_STATE, 8,
			   l->place.time, ret);
}

/* All that the type should have but names. */
static bool has_fields(const struct sched_layout *l)
{
	for (int i = 0; i < SCHED_F_COUNT; i++)
		if (field_names[l->type][i] && !l->fields[i].size && i != SCHED_F_PREV_COMM &&
		    i != SCHED_F_NEXT_COMM)
			return false;
	return true;
}

static void learn_quick(struct sched_layout *l, bool swap)
{
	u32 least = l->place.raw + 4u + l->need;

	if (!l->plain || swap || least > UINT16_MAX || !has_fields(l) ||
	    !quick_place(l, SCHED_F_NEXT, 4, 0, &l->next) ||
	    !quick_place(l, SCHED_F_PREV, 4, l->place.tid, &l->prev) || !quick_value(l, &l->value))
		return;
	/* newer kernels have names of any length in some events: those are not read */
	if (!quick_place(l, SCHED_F_NEXT_COMM, SCHED_COMM, 0, &l->next_comm))
		l->next_comm = 0;
	if (!quick_place(l, SCHED_F_PREV_COMM, SCHED_COMM, 0, &l->prev_comm))
		l->prev_comm = 0;
	l->least = least;
}

void sched_layout_learn(const struct recording *recording, u32 event, bool swap,
			struct sched_layout *ret)
{
	const struct recording_event *ev = recording_event(recording, event);
	const struct recording_format *f = NULL;

	*ret = (struct sched_layout){ .type = SCHED_TYPES, .least = UINT32_MAX };
	if (!ev)
		return;
	learn_sample(ret, ev->attr.sample_type);
	if (ev->attr.type == PERF_TYPE_TRACEPOINT)
		f = recording_info_format(recording_info(recording), ev->attr.config);
	for (int t = 0; f && t < SCHED_TYPES; t++) {
		if (!streq(f->system, "sched") || !streq(f->name, type_names[t] + 6))
			continue;
		ret->type = (u8)t;
		ret->need = SCHED_COMMON;
		for (int i = 0; i < SCHED_F_COUNT; i++) {
			if (field_names[t][i])
				sched_field_find(f, field_names[t][i], &ret->fields[i]);
			ret->need = MAX(ret->need, ret->fields[i].offset + ret->fields[i].size);
		}
		learn_quick(ret, swap);
	}
}
