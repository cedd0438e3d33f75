/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.proto: https://github.com/google/pprof/blob/main/proto/profile.proto */
#include "view/export.h"

#include "base/varint.h"
#include "profile/gzip.h"
#include "profile/pprof.h"

struct pprof {
	const struct profile *profile;
	const struct export_opts *opts;
	struct buf *out;
	struct intern strings;   /* id is the index: 0 is "" there and here */
	struct map functions;    /* name, file -> id */
	struct map modules;      /* string -> id of the mapping */
	struct intern locations; /* frames, innermost first -> id */
	VEC(u32) chain;          /* frames of one location */
	struct buf message, inner, numbers;
};

static u64 string(struct pprof *w, const char *s)
{
	return *s ? intern_str(&w->strings, s) : 0;
}

static u64 own_string(struct pprof *w, u32 id)
{
	return string(w, profile_str(w->profile, id));
}

static void emit(struct pprof *w, u32 number)
{
	wire_message(w->out, number, &w->message);
	buf_reset(&w->message);
}

/* --- what samples refer to ------------------------------------------------------------------ */

static const char *build_id_of(const struct pprof *w, const char *path)
{
	for (size_t i = 0; i < w->opts->n_build_ids; i++)
		if (streq(w->opts->build_ids[i].path, path))
			return w->opts->build_ids[i].hex;
	return "";
}

static u64 module_id(struct pprof *w, u32 module)
{
	const char *path = profile_str(w->profile, module);
	u64 id = map_get(&w->modules, module, 0);

	if (!module || id)
		return id;
	id = w->modules.len + 1;
	map_put(&w->modules, module, id);
	wire_u64(&w->message, 1, id);
	wire_u64(&w->message, 5, string(w, path));
	wire_u64(&w->message, 6, string(w, build_id_of(w, path)));
	/* names need not be looked for any more */
	for (u32 has = 7; has <= 10; has++)
		wire_u64(&w->message, has, 1);
	emit(w, PROFILE_MAPPING);
	return id;
}

/* pprof takes the first mapping for the program: not a shared library, not the kernel. */
static void add_program(struct pprof *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 1; i < p->frames.len; i++) {
		const char *path = profile_str(p, p->frames.items[i].module);

		if (*path == '/' && !strstr(path, ".so")) {
			module_id(w, p->frames.items[i].module);
			return;
		}
	}
}

static u64 function_id(struct pprof *w, const struct frame *f)
{
	u64 key = (u64)f->file << 32 | f->name, id = map_get(&w->functions, key, 0), name;

	if (id)
		return id;
	id = w->functions.len + 1;
	map_put(&w->functions, key, id);
	name = own_string(w, f->name);
	wire_u64(&w->message, 1, id);
	wire_u64(&w->message, 2, name);
	wire_u64(&w->message, 3, name);
	wire_u64(&w->message, 4, own_string(w, f->file));
	emit(w, PROFILE_FUNCTION);
	return id;
}

static void add_line(struct pprof *w, struct buf *location, const struct frame *f)
{
	u64 function = function_id(w, f);

	buf_reset(&w->inner);
	wire_u64(&w->inner, 1, function);
	wire_u64(&w->inner, 2, f->line);
	wire_message(location, 4, &w->inner);
}

/* The frames collected in w->chain, innermost first, as one location. */
static u64 location_id(struct pprof *w)
{
	const struct frame *frames = w->profile->frames.items;
	size_t before = w->locations.len;
	u32 id =
		intern_bytes(&w->locations, w->chain.items, w->chain.len * sizeof(*w->chain.items));
	_cleanup_buf_ struct buf location = BUF_INIT;
	u64 module;

	if (id <= before)
		return id;
	module = module_id(w, frames[*vec_last(&w->chain)].module);
	wire_u64(&location, 1, id);
	wire_u64(&location, 2, module);
	vec_each(f, &w->chain)
		add_line(w, &location, &frames[*f]);
	wire_message(w->out, PROFILE_LOCATION, &location);
	return id;
}

/* --- samples -------------------------------------------------------------------------------- */

static void add_packed(struct pprof *w, u32 number)
{
	wire_message(&w->message, number, &w->numbers);
	buf_reset(&w->numbers);
}

static void add_stack(struct pprof *w, u32 stack)
{
	const struct profile *p = w->profile;
	_cleanup_buf_ struct buf ids = BUF_INIT;

	for (; stack; stack = p->stacks.items[stack].parent) {
		u32 frame = p->stacks.items[stack].frame;

		vec_push(&w->chain, frame);
		/* what was inlined belongs to the place that it was inlined into */
		if (p->frames.items[frame].kind == FRAME_INLINED && p->stacks.items[stack].parent)
			continue;
		varint_write(&ids, location_id(w));
		vec_clear(&w->chain);
	}
	buf_add(&w->numbers, buf_str(&ids), ids.len);
	add_packed(w, 1);
}

/* Its weight is the number of samples: one value says both. */
static bool is_plain(const struct profile *p, size_t event)
{
	const struct profile_event *ev = &p->events.items[event];

	return p->events.len == 1 && ev->weight == ev->samples &&
	       streq(profile_str(p, ev->name), "samples");
}

static void add_values(struct pprof *w, const struct profile_sample *s)
{
	for (size_t i = 0; i < w->profile->events.len; i++) {
		varint_write(&w->numbers, i == s->event ? s->count : 0);
		if (!is_plain(w->profile, i))
			varint_write(&w->numbers, i == s->event ? s->weight : 0);
	}
	add_packed(w, 2);
}

static void add_text_label(struct pprof *w, const char *key, u32 text)
{
	if (!text)
		return;
	buf_reset(&w->inner);
	wire_u64(&w->inner, 1, string(w, key));
	wire_u64(&w->inner, 2, own_string(w, text));
	wire_message(&w->message, 3, &w->inner);
}

static void add_number_label(struct pprof *w, const char *key, s64 v)
{
	if (v <= 0)
		return;
	buf_reset(&w->inner);
	wire_u64(&w->inner, 1, string(w, key));
	wire_s64(&w->inner, 3, v);
	wire_message(&w->message, 3, &w->inner);
}

static void add_sample(struct pprof *w, const struct profile_sample *s)
{
	const struct profile_thread *t = &w->profile->threads.items[s->thread];

	add_stack(w, s->stack);
	add_values(w, s);
	add_text_label(w, "comm", t->comm);
	add_number_label(w, "pid", t->pid);
	add_number_label(w, "tid", t->tid);
	add_text_label(w, "cgroup", t->cgroup);
	emit(w, PROFILE_SAMPLE);
}

/* --- heading -------------------------------------------------------------------------------- */

static const char *unit_of(const struct profile *p, u16 event)
{
	const char *unit = profile_str(p, p->events.items[event].unit);

	if (streq(unit, "ns"))
		return "nanoseconds";
	return *unit ? unit : "count";
}

static void add_type(struct pprof *w, u32 number, const char *type, const char *unit)
{
	wire_u64(&w->message, 1, string(w, type));
	wire_u64(&w->message, 2, string(w, unit));
	emit(w, number);
}

static void add_types(struct pprof *w)
{
	const struct profile *p = w->profile;

	for (u16 i = 0; i < p->events.len; i++) {
		const char *name = profile_str(p, p->events.items[i].name);
		_cleanup_free_ char *samples =
			p->events.len == 1 ? xstrdup("samples") : xasprintf("%s_samples", name);

		add_type(w, PROFILE_TYPE, is_plain(p, i) ? name : samples, "count");
		if (is_plain(p, i))
			continue;
		/* two kinds of one name could not be distinguished */
		add_type(w, PROFILE_TYPE, streq(name, samples) ? "weight" : name, unit_of(p, i));
	}
}

static void add_facts(struct pprof *w)
{
	const struct profile *p = w->profile;
	u16 event = w->opts->event;
	const struct profile_event *ev = &p->events.items[event];
	const char *name = profile_str(p, ev->name);
	u64 period = ev->frequency ? NSEC_PER_SEC / ev->frequency : ev->period;

	wire_u64(w->out, PROFILE_TIME, p->wall_start);
	wire_u64(w->out, PROFILE_DURATION, p->last_time - p->first_time);
	if (period) {
		add_type(w, PROFILE_PERIOD_TYPE, name, unit_of(p, event));
		wire_u64(w->out, PROFILE_PERIOD, period);
	}
	if (p->events.len)
		wire_u64(w->out, PROFILE_DEFAULT_TYPE,
			 string(w,
				streq(name, "samples") && p->events.len == 1 && !is_plain(p, event)
					? "weight"
					: name));
	if (p->lost_samples) {
		_cleanup_free_ char *lost =
			xasprintf("%llu samples lost", (unsigned long long)p->lost_samples);

		wire_u64(w->out, PROFILE_COMMENT, string(w, lost));
	}
}

void export_pprof(const struct profile *p, const struct export_opts *o, struct buf *out)
{
	_cleanup_buf_ struct buf plain = BUF_INIT;
	struct pprof w = { .profile = p, .opts = o, .out = &plain };

	add_types(&w);
	add_program(&w);
	vec_each(s, &p->samples)
		add_sample(&w, s);
	add_facts(&w);
	for (u32 id = 0; id <= w.strings.len; id++)
		wire_bytes(&plain, PROFILE_STRING, intern_get(&w.strings, id),
			   intern_len(&w.strings, id));
	gzip_pack(&plain, out);
	intern_release(&w.strings);
	intern_release(&w.locations);
	map_release(&w.functions);
	map_release(&w.modules);
	vec_release(&w.chain);
	buf_release(&w.message);
	buf_release(&w.inner);
	buf_release(&w.numbers);
}
