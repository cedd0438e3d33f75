/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/export.h"

#include "base/json.h"

struct scope {
	const struct profile *profile;
	const struct export_opts *opts;
	struct json json;
	struct buf *out;
};

static void add_frames(struct scope *s)
{
	const struct profile *p = s->profile;
	_cleanup_buf_ struct buf room = BUF_INIT;

	json_key(&s->json, "shared");
	json_open(&s->json);
	json_key(&s->json, "frames");
	json_array(&s->json);
	for (size_t i = 1; i < p->frames.len; i++) {
		const struct frame *f = &p->frames.items[i];

		json_open(&s->json);
		json_kv_str(&s->json, "name", export_frame_name(p, f, &room));
		if (f->file)
			json_kv_str(&s->json, "file", profile_str(p, f->file));
		else if (f->module)
			json_kv_str(&s->json, "file", profile_str(p, f->module));
		if (f->line)
			json_kv_u64(&s->json, "line", f->line);
		json_close(&s->json);
	}
	json_end(&s->json);
	json_close(&s->json);
}

static void add_stack(struct scope *s, u32 stack)
{
	const struct profile *p = s->profile;
	size_t n = profile_depth(p, stack);
	u32 *frames = xcalloc(n ? n : 1, sizeof(*frames));

	profile_frames(p, stack, frames, n);
	json_array(&s->json);
	for (size_t i = 0; i < n; i++)
		json_u64(&s->json, frames[i] - 1);
	json_end(&s->json);
	free(frames);
}

static const char *unit_name(const struct profile *p, u16 event)
{
	const char *unit = profile_str(p, p->events.items[event].unit);

	if (streq(unit, "ns"))
		return "nanoseconds";
	return streq(unit, "bytes") ? "bytes" : "none";
}

/* Neighbours with the same stack are one. */
static void add_samples(struct scope *s, const struct export_moment *m, size_t n)
{
	const struct profile_sample *samples = s->profile->samples.items;
	VEC(u64) weights = { 0 };
	u32 last = 0;

	json_key(&s->json, "samples");
	json_array(&s->json);
	for (size_t i = 0; i < n; i++) {
		const struct profile_sample *sample = &samples[m[i].index];

		if (weights.len && sample->stack == last) {
			*vec_last(&weights) += sample->weight;
			continue;
		}
		add_stack(s, sample->stack);
		vec_push(&weights, sample->weight);
		last = sample->stack;
	}
	json_end(&s->json);
	json_key(&s->json, "weights");
	json_array(&s->json);
	vec_each(w, &weights)
		json_u64(&s->json, *w);
	json_end(&s->json);
	vec_release(&weights);
}

static void add_profile(struct scope *s, const struct export_moment *m, size_t n)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	u64 total = 0;

	for (size_t i = 0; i < n; i++)
		total += s->profile->samples.items[m[i].index].weight;
	export_thread_name(s->profile, m->thread, &name);
	json_open(&s->json);
	json_kv_str(&s->json, "type", "sampled");
	json_kv_str(&s->json, "name", buf_str(&name));
	json_kv_str(&s->json, "unit", unit_name(s->profile, s->opts->event));
	json_kv_u64(&s->json, "startValue", 0);
	json_kv_u64(&s->json, "endValue", total);
	add_samples(s, m, n);
	json_close(&s->json);
}

/* Which profile opens: that of the thread that has most of the weight. */
static u64 heaviest(const struct profile *p, const export_moments *moments)
{
	u64 most = 0, best = 0, index = 0;

	for (size_t i = 0, n; i < moments->len; i += n, index++) {
		u64 total = 0;

		n = export_run(moments, i);
		for (size_t k = i; k < i + n; k++)
			total += p->samples.items[moments->items[k].index].weight;
		if (total > most) {
			most = total;
			best = index;
		}
	}
	return best;
}

void export_speedscope(const struct profile *p, const struct export_opts *o, struct buf *out)
{
	struct scope s = { .profile = p, .opts = o, .out = out };
	export_moments moments = { 0 };

	json_init(&s.json, out, false);
	json_open(&s.json);
	json_kv_str(&s.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_kv_str(&s.json, "exporter", "fathom " FATHOM_VERSION);
	json_kv_str(&s.json, "name", export_title(p, o));
	export_order(p, o->event, &moments);
	json_kv_u64(&s.json, "activeProfileIndex", heaviest(p, &moments));
	add_frames(&s);
	json_key(&s.json, "profiles");
	json_array(&s.json);
	for (size_t i = 0; i < moments.len; i += export_run(&moments, i))
		add_profile(&s, &moments.items[i], export_run(&moments, i));
	json_end(&s.json);
	json_close(&s.json);
	buf_addch(out, '\n');
	vec_release(&moments);
}
