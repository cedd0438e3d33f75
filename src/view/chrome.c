/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples as slices of time: a call lasts from the first sample that shows it to the end of the
 * last one in a row. Between two samples that are further apart than a few periods nothing was
 * running.
 */
#include "view/export.h"

#include "base/json.h"

enum { GAP_PERIODS = 3 };

struct slice {
	u32 frame;
	u64 start;
};

struct chrome {
	const struct profile *profile;
	const struct export_opts *opts;
	struct json json;
	const struct profile_thread *thread;
	VEC(struct slice) open;
	VEC(u32) frames; /* of the sample, root first */
	u64 end;         /* of the sample before */
	u64 period;      /* usual distance of samples */
};

static void add_micros(struct chrome *c, const char *key, u64 ns)
{
	char text[48];

	json_key(&c->json, key);
	snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)(ns / 1000),
		 (unsigned long long)(ns % 1000));
	/* a number as it stands: doubles would lose nanoseconds */
	buf_addstr(c->json.out, text);
	c->json.after_key = false;
}

static void close_slices(struct chrome *c, size_t keep)
{
	const struct profile *p = c->profile;
	_cleanup_buf_ struct buf room = BUF_INIT;

	while (c->open.len > keep) {
		struct slice s = vec_pop(&c->open);
		const struct frame *f = &p->frames.items[s.frame];

		json_open(&c->json);
		json_kv_str(&c->json, "name", export_frame_name(p, f, &room));
		json_kv_str(&c->json, "cat", f->kind == FRAME_KERNEL ? "kernel" : "user");
		json_kv_str(&c->json, "ph", "X");
		add_micros(c, "ts", s.start - p->first_time);
		add_micros(c, "dur", c->end - s.start);
		json_kv_s64(&c->json, "pid", c->thread->pid);
		json_kv_s64(&c->json, "tid", c->thread->tid);
		if (f->module) {
			json_key(&c->json, "args");
			json_open(&c->json);
			json_kv_str(&c->json, "module", profile_str(p, f->module));
			json_close(&c->json);
		}
		json_close(&c->json);
	}
}

static void take_frames(struct chrome *c, u32 stack)
{
	const struct profile *p = c->profile;
	size_t n = profile_depth(p, stack);

	vec_reserve(&c->frames, n);
	c->frames.len = n;
	profile_frames(p, stack, c->frames.items, n);
}

static void add_sample(struct chrome *c, u64 start, u64 end, u32 stack)
{
	size_t same = 0;

	take_frames(c, stack);
	if (start > c->end + c->period * GAP_PERIODS) {
		close_slices(c, 0);
	} else {
		c->end = MAX(c->end, start);
		while (same < c->open.len && same < c->frames.len &&
		       c->open.items[same].frame == c->frames.items[same])
			same++;
		close_slices(c, same);
	}
	for (size_t i = same; i < c->frames.len; i++)
		vec_push(&c->open, (struct slice){ c->frames.items[i], start });
	c->end = end;
}

/* Without times samples stand one after another. */
static void add_thread(struct chrome *c, const struct export_moment *m, size_t n)
{
	const struct profile *p = c->profile;
	bool timed = m[n - 1].time != 0;
	u64 at = p->first_time;

	c->thread = &p->threads.items[m->thread];
	c->end = timed ? m->time : at;
	for (size_t i = 0; i < n; i++) {
		const struct profile_sample *s = &p->samples.items[m[i].index];
		u64 length = export_is_time(p, c->opts->event) ? s->weight : c->period;
		u64 start = timed ? s->time : at, end = start + length;

		if (timed && i + 1 < n)
			end = MIN(end, MAX(m[i + 1].time, start));
		add_sample(c, start, end, s->stack);
		at = end;
	}
	close_slices(c, 0);
}

static void add_name(struct chrome *c, const char *kind, s32 pid, s32 tid, const char *name)
{
	json_open(&c->json);
	json_kv_str(&c->json, "name", kind);
	json_kv_str(&c->json, "ph", "M");
	json_kv_s64(&c->json, "pid", pid);
	json_kv_s64(&c->json, "tid", tid);
	json_key(&c->json, "args");
	json_open(&c->json);
	json_kv_str(&c->json, "name", name);
	json_close(&c->json);
	json_close(&c->json);
}

static u64 usual_period(const struct profile *p, u16 event)
{
	const struct profile_event *ev = &p->events.items[event];

	if (ev->frequency)
		return NSEC_PER_SEC / ev->frequency;
	if (export_is_time(p, event) && ev->samples)
		return ev->weight / ev->samples;
	return NSEC_PER_MSEC;
}

void export_chrome(const struct profile *p, const struct export_opts *o, struct buf *out)
{
	struct chrome c = { .profile = p, .opts = o, .period = usual_period(p, o->event) };
	export_moments moments = { 0 };

	json_init(&c.json, out, false);
	json_open(&c.json);
	json_kv_str(&c.json, "displayTimeUnit", "ms");
	json_key(&c.json, "traceEvents");
	json_array(&c.json);
	export_order(p, o->event, &moments);
	for (size_t i = 0; i < moments.len; i += export_run(&moments, i)) {
		const struct profile_thread *t = &p->threads.items[moments.items[i].thread];

		if (t->pid == t->tid)
			add_name(&c, "process_name", t->pid, t->tid, profile_str(p, t->comm));
		add_name(&c, "thread_name", t->pid, t->tid, profile_str(p, t->comm));
		add_thread(&c, &moments.items[i], export_run(&moments, i));
	}
	json_end(&c.json);
	json_key(&c.json, "otherData");
	json_open(&c.json);
	json_kv_str(&c.json, "source", export_title(p, o));
	json_kv_u64(&c.json, "lost_samples", p->lost_samples);
	json_close(&c.json);
	json_close(&c.json);
	buf_addch(out, '\n');
	vec_release(&moments);
	vec_release(&c.open);
	vec_release(&c.frames);
}
