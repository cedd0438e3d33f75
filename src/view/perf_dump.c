/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/perf_dump.h"

#include "base/buf.h"
#include "base/fmt.h"
#include "base/map.h"
#include "base/vec.h"
#include "view/script_state.h"

#include <ctype.h>

enum { BYTES_A_LINE = 16, TASKS_MOST = 1 << 20, DEPTH_MOST = 64 };

/* --- all of it ------------------------------------------------------------------------------- */

struct dump {
	struct recording *recording;
	perf_dump_cb cb;
	void *ctx;
	struct buf out;
};

static void add_bytes(struct buf *out, const u8 *bytes, size_t n)
{
	for (size_t at = 0; at < n; at += BYTES_A_LINE) {
		buf_addf(out, ".  %04zx: ", at);
		for (size_t i = at; i < at + BYTES_A_LINE; i++) {
			if (i < n)
				buf_addf(out, " %02x", bytes[i]);
			else
				buf_addstr(out, "   ");
		}
		buf_addstr(out, "  ");
		for (size_t i = at; i < at + BYTES_A_LINE; i++)
			buf_addch(out, i < n && isprint(bytes[i]) ? (char)bytes[i]
				       : i < n                    ? '.'
								  : ' ');
		buf_addch(out, '\n');
	}
}

static void add_sample(struct buf *out, const struct record *r)
{
	const struct sample *s = r->sample;

	buf_addf(out, "(IP, 0x%x): %d/%d: %#llx period: %llu addr: %#llx\n", r->misc, (s32)s->pid,
		 (s32)s->tid, (unsigned long long)s->ip, (unsigned long long)s->period,
		 (unsigned long long)s->addr);
	if (!s->n_ips)
		return;
	buf_addf(out, "... FP chain: nr:%llu\n", (unsigned long long)s->n_ips);
	for (u64 i = 0; i < s->n_ips; i++)
		buf_addf(out, "..... %2llu: %016llx\n", (unsigned long long)i,
			 (unsigned long long)s->ips[i]);
}

static int dump_record(const struct record *r, void *ctx)
{
	struct dump *d = ctx;
	struct buf *out = &d->out;

	buf_reset(out);
	buf_addf(out, "\n%#llx@%s [%#x]: event: %u\n.\n. ... raw event: size %u bytes\n",
		 (unsigned long long)r->offset, recording_name(d->recording), r->size, r->type,
		 r->size);
	add_bytes(out, (const u8 *)r->header, r->size);
	buf_addch(out, '\n');
	if (r->has & PERF_SAMPLE_CPU)
		buf_addf(out, "%u ", r->cpu);
	buf_addf(out, "%llu %#llx [%#x]: PERF_RECORD_%s", (unsigned long long)r->time,
		 (unsigned long long)r->offset, r->size, record_type_name(r->type));
	if (r->sample)
		add_sample(out, r);
	else if (!script_side_text(out, r))
		buf_addch(out, '\n');
	return d->cb(d->ctx, buf_str(out), out->len);
}

int perf_dump(struct recording *r, perf_dump_cb cb, void *ctx, struct err *e)
{
	struct dump d = { .recording = r, .cb = cb, .ctx = ctx, .out = BUF_INIT };
	int code = recording_scan(r, dump_record, &d, e);

	buf_release(&d.out);
	return code;
}

/* --- counts ---------------------------------------------------------------------------------- */

struct stats {
	u64 types[RECORD_TYPE_END];
	VEC(u64) events;
};

static int count_record(const struct record *r, void *ctx)
{
	struct stats *s = ctx;

	if (r->type < RECORD_TYPE_END)
		s->types[r->type]++;
	if (r->sample && r->event != RECORD_NO_EVENT) {
		while (s->events.len <= r->event)
			vec_push(&s->events, 0);
		s->events.items[r->event]++;
	}
	return 0;
}

static void add_stats(const struct recording *r, struct stats *s, struct buf *out)
{
	const struct recording_counts *c = recording_counts(r);

	s->types[RECORD_FINISHED_ROUND] = c->rounds;
	buf_addf(out, "\nAggregated stats:\n%16s events: %10llu\n", "TOTAL",
		 (unsigned long long)c->records);
	for (u32 i = 0; i < RECORD_TYPE_END; i++)
		if (s->types[i])
			buf_addf(out, "%16s events: %10llu  (%4.1f%%)\n", record_type_name(i),
				 (unsigned long long)s->types[i],
				 100.0 * (double)s->types[i] / (double)MAX(c->records, 1ull));
	if (c->compressed_bytes)
		buf_addf(out, "%16s events: %10llu bytes, %llu before\n", "COMPRESSED",
			 (unsigned long long)c->compressed_bytes,
			 (unsigned long long)c->decompressed_bytes);
	for (u32 i = 0; i < s->events.len; i++) {
		const struct recording_event *ev = recording_event(r, i);

		if (ev && s->events.items[i])
			buf_addf(out, "%s stats:\n%16s events: %10llu\n", ev->name, "SAMPLE",
				 (unsigned long long)s->events.items[i]);
	}
}

int perf_dump_stats(struct recording *r, struct buf *out, struct err *e)
{
	struct stats s = { 0 };
	int code = recording_scan(r, count_record, &s, e);

	if (code == 0)
		add_stats(r, &s, out);
	vec_release(&s.events);
	return code;
}

/* --- threads --------------------------------------------------------------------------------- */

struct task {
	s32 pid, tid, ppid, ptid;
	char comm[16];
	bool shown;
	u32 first, next; /* its first child and its sibling: place in the list plus one */
};

struct tasks {
	VEC(struct task) list;
	struct map ids; /* tid -> place in the list plus one */
};

static struct task *task_of(struct tasks *t, s32 pid, s32 tid)
{
	u64 *at;

	if (t->list.len >= TASKS_MOST)
		return NULL;
	at = map_at(&t->ids, (u64)(u32)tid);
	if (!*at) {
		vec_push(&t->list, (struct task){ .pid = pid, .tid = tid, .ppid = -1, .ptid = -1 });
		*at = t->list.len;
	}
	return &t->list.items[*at - 1];
}

static int see_task(const struct record *r, void *ctx)
{
	struct tasks *t = ctx;
	struct record_comm c;
	struct record_task f;
	struct task *task;

	if (r->type == PERF_RECORD_COMM && record_comm(r, &c) >= 0) {
		task = task_of(t, (s32)c.pid, (s32)c.tid);
		if (task)
			snprintf(task->comm, sizeof(task->comm), "%s", c.comm);
	} else if (r->type == PERF_RECORD_FORK && record_task(r, &f) >= 0) {
		task = task_of(t, (s32)f.pid, (s32)f.tid);
		if (task) {
			const struct task *parent = task_of(t, (s32)f.ppid, (s32)f.ptid);

			task = task_of(t, (s32)f.pid, (s32)f.tid);
			task->ppid = (s32)f.ppid;
			task->ptid = (s32)f.ptid;
			if (parent && !*task->comm)
				memcpy(task->comm, parent->comm, sizeof(task->comm));
		}
	} else if (r->sample && r->has & PERF_SAMPLE_TID) {
		(void)task_of(t, (s32)r->pid, (s32)r->tid);
	}
	return 0;
}

static void show_task(struct tasks *t, size_t at, int depth, struct buf *out)
{
	struct task *task = &t->list.items[at];

	if (task->shown || depth > DEPTH_MOST)
		return;
	task->shown = true;
	buf_addf(out, "%10d %8d %8d |%*s", task->pid, task->tid, task->ppid, depth, "");
	fmt_clean(out, *task->comm ? task->comm : ":-1", strlen(*task->comm ? task->comm : ":-1"));
	buf_addch(out, '\n');
	for (u32 child = task->first; child; child = t->list.items[child - 1].next)
		show_task(t, child - 1, depth + 1, out);
}

/* From the last on: children stay in their order. */
static void link_children(struct tasks *t)
{
	for (size_t i = t->list.len; i-- > 0;) {
		struct task *task = &t->list.items[i], *parent;
		u64 at = task->ppid == -1 ? 0 : map_get(&t->ids, (u64)(u32)task->ptid, 0);

		if (!at || at == i + 1)
			continue;
		parent = &t->list.items[at - 1];
		task->next = parent->first;
		parent->first = (u32)i + 1;
	}
}

int perf_dump_tasks(struct recording *r, struct buf *out, struct err *e)
{
	struct tasks t = { 0 };
	struct task *idle = task_of(&t, 0, 0);
	int code;

	snprintf(idle->comm, sizeof(idle->comm), "swapper");
	code = recording_replay(r, see_task, &t, e);
	if (code == 0) {
		link_children(&t);
		buf_addstr(out, "#      pid      tid     ppid  comm\n");
		for (size_t i = 0; i < t.list.len; i++)
			if (t.list.items[i].ppid == -1 || i == 0)
				show_task(&t, i, 0, out);
		for (size_t i = 0; i < t.list.len; i++)
			show_task(&t, i, 0, out);
	}
	map_release(&t.ids);
	vec_release(&t.list);
	return code;
}
