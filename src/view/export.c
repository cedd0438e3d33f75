/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/export.h"

#include "base/folded.h"
#include "view/cell.h"

static int compare_moments(const void *a, const void *b)
{
	const struct export_moment *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void export_order(const struct profile *p, u16 event, export_moments *ret)
{
	for (u32 i = 0; i < p->samples.len; i++) {
		const struct profile_sample *s = &p->samples.items[i];

		if (s->event == event)
			vec_push(ret, (struct export_moment){ s->thread, i, s->time });
	}
	vec_sort(ret, compare_moments);
}

size_t export_run(const export_moments *m, size_t i)
{
	size_t end = i;

	while (end < m->len && m->items[end].thread == m->items[i].thread)
		end++;
	return end - i;
}

void export_thread_name(const struct profile *p, u32 thread, struct buf *out)
{
	const struct profile_thread *t = &p->threads.items[thread];

	buf_addstr(out, profile_str(p, t->comm));
	if (t->pid || t->tid)
		buf_addf(out, "%s%d/%d", out->len ? " " : "", t->pid, t->tid);
	if (!out->len)
		buf_addstr(out, "all");
}

const char *export_frame_name(const struct profile *p, const struct frame *f, struct buf *room)
{
	const char *name = profile_str(p, f->name), *path = profile_str(p, f->module);
	const char *slash = strrchr(path, '/');

	if (!*path || !streq(name, "[unknown]"))
		return name;
	buf_reset(room);
	buf_addf(room, *path == '[' ? "%s" : "[%s]", slash ? slash + 1 : path);
	return buf_str(room);
}

const char *export_title(const struct profile *p, const struct export_opts *o)
{
	return o->title ? o->title : profile_str(p, p->source);
}

bool export_is_time(const struct profile *p, u16 event)
{
	return streq(profile_str(p, p->events.items[event].unit), "ns");
}

/* --- CSV ------------------------------------------------------------------------------------ */

/* Root first; semicolons in names would end them. */
static void stack_text(const struct profile *p, u32 stack, struct buf *out)
{
	_cleanup_buf_ struct buf room = BUF_INIT;
	size_t n = profile_depth(p, stack);
	u32 *frames = xcalloc(n ? n : 1, sizeof(*frames));

	profile_frames(p, stack, frames, n);
	for (size_t i = 0; i < n; i++) {
		const char *name = export_frame_name(p, &p->frames.items[frames[i]], &room);

		folded_name(out, 0, name);
	}
	free(frames);
}

void export_csv(const struct profile *p, const struct export_opts *o, struct buf *out)
{
	_cleanup_buf_ struct buf stack = BUF_INIT;

	(void)o;
	buf_addstr(out, "event,unit,command,pid,tid,cpu,time,samples,weight,stack\n");
	vec_each(s, &p->samples) {
		const struct profile_event *ev = &p->events.items[s->event];
		const struct profile_thread *t = &p->threads.items[s->thread];

		cell_csv_text(out, profile_str(p, ev->name));
		buf_addch(out, ',');
		cell_csv_text(out, profile_str(p, ev->unit));
		buf_addch(out, ',');
		cell_csv_text(out, profile_str(p, t->comm));
		buf_addf(out, ",%d,%d,", t->pid, t->tid);
		if (s->cpu >= 0)
			buf_addu(out, (u64)s->cpu);
		buf_addch(out, ',');
		if (s->time)
			buf_addf(out, "%llu.%09llu", (unsigned long long)(s->time / NSEC_PER_SEC),
				 (unsigned long long)(s->time % NSEC_PER_SEC));
		buf_addf(out, ",%u,%llu,", s->count, (unsigned long long)s->weight);
		buf_reset(&stack);
		stack_text(p, s->stack, &stack);
		cell_csv_text(out, buf_str(&stack));
		buf_addch(out, '\n');
	}
}
