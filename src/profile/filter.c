/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/filter.h"

#include <fnmatch.h>

bool filter_name(const char *globs, const char *name)
{
	_cleanup_free_ char *copy = globs ? xstrdup(globs) : NULL;
	char *save = NULL;

	if (!globs)
		return true;
	for (char *g = strtok_r(copy, ",", &save); g; g = strtok_r(NULL, ",", &save))
		if (fnmatch(g, name, 0) == 0)
			return true;
	return false;
}

bool filter_id(const range_list *list, u64 id)
{
	return !list || !list->len || ranges_contain(list, id);
}

static bool time_passes(const struct profile *p, const struct load_opts *o, u64 time)
{
	u64 base = o->time_relative ? p->first_time : 0;

	if (o->time_from && time < base + o->time_from)
		return false;
	return !o->time_to || time <= base + o->time_to;
}

static bool leaf_passes(const struct profile *p, const struct load_opts *o, u32 stack)
{
	const struct frame *f;

	if (!o->dsos && !o->symbols)
		return true;
	if (!stack)
		return false;
	f = profile_frame_of(p, stack);
	return filter_name(o->dsos, profile_str(p, f->module)) &&
	       filter_name(o->symbols, profile_str(p, f->name));
}

static bool passes(const struct profile *p, const struct load_opts *o,
		   const struct profile_sample *s)
{
	const struct profile_thread *t = &p->threads.items[s->thread];

	return filter_id(o->pids, (u32)t->pid) && filter_id(o->tids, (u32)t->tid) &&
	       filter_id(o->cpus, (u64)(s64)s->cpu) && time_passes(p, o, s->time) &&
	       filter_name(o->event, profile_str(p, p->events.items[s->event].name)) &&
	       filter_name(o->comms, profile_str(p, t->comm)) && leaf_passes(p, o, s->stack);
}

/* The stack without its kernel or user frames. */
static u32 strip(struct profile *p, const struct load_opts *o, u32 stack)
{
	u32 frames[1024], kept = 0;
	size_t n = MIN(profile_frames(p, stack, frames, ARRAY_SIZE(frames)), ARRAY_SIZE(frames));

	for (size_t i = 0; i < n; i++) {
		bool kernel = p->frames.items[frames[i]].kind == FRAME_KERNEL;

		if (!(kernel ? o->no_kernel : o->no_user))
			kept = profile_get_stack(p, kept, frames[i]);
	}
	return kept;
}

static bool has_filter(const struct load_opts *o)
{
	return o->event || o->comms || o->dsos || o->symbols || (o->pids && o->pids->len) ||
	       (o->tids && o->tids->len) || (o->cpus && o->cpus->len) || o->time_from ||
	       o->time_to || o->no_kernel || o->no_user;
}

void profile_filter(struct profile *p, const struct load_opts *opts)
{
	size_t kept = 0;

	if (!has_filter(opts))
		return;
	vec_each(ev, &p->events)
		ev->samples = ev->weight = 0;
	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_sample s = p->samples.items[i];

		if (!passes(p, opts, &s))
			continue;
		if (opts->no_kernel || opts->no_user)
			s.stack = strip(p, opts, s.stack);
		p->events.items[s.event].samples += s.count;
		p->events.items[s.event].weight += s.weight;
		p->samples.items[kept++] = s;
	}
	p->samples.len = kept;
}
