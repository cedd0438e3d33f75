/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/recorded.h"

#include "analysis/flame.h"
#include "profile/load.h"
#include "top/live_code.h"
#include "top/live_state.h"
#include "waits/wait.h"

struct recorded_samples {
	struct profile profile;
	VEC(struct profile_sample) all;
	u16 event;
	double seconds;
	char *path;
	struct hits hits; /* of the same file, once code is requested */
	struct hits_opts hits_opts;
	bool has_hits, no_hits;
	char why[256];
};

int recorded_samples_new(struct recorded_samples **ret, const char *path, struct err *e)
{
	const struct load_opts opts = { .merge = true };
	struct recorded_samples *s = xcalloc(1, sizeof(*s));
	struct flame_opts chosen = { 0 };
	int r;

	profile_init(&s->profile);
	r = profile_load(&s->profile, path, &opts, e);
	if (r >= 0 && !s->profile.samples.len)
		r = profile_no_samples(&s->profile, e);
	if (r < 0) {
		recorded_samples_free(s);
		return r;
	}
	flame_choose_event(&s->profile, &chosen);
	s->event = chosen.event;
	s->seconds = (double)(s->profile.last_time - s->profile.first_time) / 1e9;
	vec_each(sample, &s->profile.samples)
		if (sample->event == s->event)
			vec_push(&s->all, *sample);
	s->path = xstrdup(path);
	*ret = s;
	return 0;
}

void recorded_samples_free(struct recorded_samples *s)
{
	if (!s)
		return;
	vec_release(&s->all);
	if (s->has_hits || s->no_hits)
		hits_release(&s->hits);
	free(s->path);
	profile_release(&s->profile);
	free(s);
}

static bool is_asked(const struct profile *p, const struct profile_sample *s,
		     const struct live_request *r)
{
	const struct profile_thread *t = &p->threads.items[s->thread];

	return live_is_of(&r->of, (u32)t->pid, (u32)t->tid) && live_has_asked(p, s->stack, r);
}

static void fill_code(struct recorded_samples *s, struct profile_frame *f,
		      const struct live_request *r)
{
	_cleanup_err_ struct err e = ERR_INIT;

	if (!s->has_hits && !s->no_hits) {
		s->no_hits = hits_load(&s->hits, s->path, &s->hits_opts, &e) < 0;
		s->has_hits = !s->no_hits;
		if (s->no_hits)
			snprintf(s->why, sizeof(s->why), "%s", e.what ? e.what : "no code");
	}
	if (s->has_hits)
		live_code_fill(f, &s->hits, r);
	else
		f->code_why = arena_strdup(&f->arena, s->why);
}

struct profile_frame *recorded_samples_frame(struct recorded_samples *s,
					     const struct live_request *r)
{
	struct profile_frame *f = xcalloc(1, sizeof(*f));

	waits_forget(&s->profile);
	vec_each(sample, &s->all)
		if (is_asked(&s->profile, sample, r))
			profile_add_sample(&s->profile, sample);
	f->seconds = s->seconds;
	f->lost = s->profile.lost_samples;
	f->frequency = s->profile.events.items[s->event].frequency;
	f->serial = UINT64_MAX;
	profile_frame_fill(f, &s->profile, s->event, r);
	if (*r->function)
		fill_code(s, f, r);
	return f;
}
