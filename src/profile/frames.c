/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/frames.h"

#include "bpf/unwind_abi.h"

static u8 frame_kind_of(const struct place *place)
{
	if (place->kind == PLACE_JIT && unwind_method(place->address))
		return FRAME_INTERPRETED;
	switch (place->kind) {
	case PLACE_KERNEL: return FRAME_KERNEL;
	case PLACE_JIT: return FRAME_JIT;
	case PLACE_HYPERVISOR: return FRAME_HYPERVISOR;
	case PLACE_GUEST_KERNEL: return FRAME_GUEST_KERNEL;
	case PLACE_GUEST_USER: return FRAME_GUEST_USER;
	default: return FRAME_USER;
	}
}

struct frame frames_plain(const struct frames *m, const struct place *place)
{
	struct frame f = {
		.module = profile_string(m->profile, place->dso),
		.kind = frame_kind_of(place),
		.no_name = !place->name || place->flags & SYM_FDE,
	};

	if (place->kind == PLACE_JIT && unwind_method(place->address) && !place->name)
		f.name = profile_string(m->profile, "[unreadable java method]");
	else
		f.name = profile_string(m->profile, place->name ? place->name : "[unknown]");
	return f;
}

static void set_source(const struct frames *m, struct frame *f, const char *file, u32 line)
{
	if (!m->lines || !file)
		return;
	f->file = profile_string(m->profile, file);
	f->line = line;
}

/* A function of an interpreted language: the recording carries its file and line. */
static u32 make_interpreted(const struct frames *m, const struct place *place)
{
	struct frame f = frames_plain(m, place);
	const char *file = NULL;
	u32 line = 0;

	f.kind = FRAME_INTERPRETED;
	if (m->python &&
	    python_source_find(m->python, place->address - place->is_return, &file, &line)) {
		f.module = profile_string(m->profile, file);
		set_source(m, &f, file, line);
	}
	return profile_get_frame(m->profile, &f);
}

/*
 * Run-time code named "outer->middle->inner", as HotSpot's debug positions and perf-map-agent have
 * it: the frame of the outer function, and the others inlined into it.
 */
static u32 make_unfolded(const struct frames *m, const struct place *place)
{
	struct frame f = frames_plain(m, place);
	_cleanup_free_ char *names = xstrdup(place->name);
	char *name = names, *next = strstr(names, "->");
	u32 id, n = 1;

	*next = 0;
	f.name = profile_string(m->profile, name);
	set_source(m, &f, place->file, place->line);
	id = profile_get_frame(m->profile, &f);
	for (name = next + 2; m->inlines && name && n < SOURCE_MAX_FRAMES; name = next, n++) {
		struct frame inner = { .module = f.module, .kind = FRAME_INLINED, .inline_of = id };

		next = strstr(name, "->");
		if (next) {
			*next = 0;
			next += 2;
		}
		inner.name = profile_string(m->profile, name);
		id = profile_get_frame(m->profile, &inner);
	}
	return id;
}

/* The outermost one keeps its name from the symbol table: debug information does not know clones.
 */
u32 frames_of(const struct frames *m, const struct place *place)
{
	struct source_frame source[SOURCE_MAX_FRAMES];
	struct frame f = frames_plain(m, place);
	size_t n = 0;
	u32 id;

	if (place->dso && streq(place->dso, PYTHON_MAP_NAME))
		return make_interpreted(m, place);
	if (place->kind == PLACE_JIT && place->name && strstr(place->name, "->"))
		return make_unfolded(m, place);
	if (place->module && (m->lines || m->inlines))
		n = symbols_lines(m->symbols, place->module, place->address - place->is_return,
				  source, ARRAY_SIZE(source));
	if (n)
		set_source(m, &f, source[n - 1].file, source[n - 1].line);
	else
		set_source(m, &f, place->file, place->line);
	id = profile_get_frame(m->profile, &f);
	if (!n || !m->inlines)
		return id;
	for (size_t i = n - 1; i--;) {
		struct frame inner = { .module = f.module, .kind = FRAME_INLINED, .inline_of = id };

		if (!source[i].function)
			continue;
		inner.name = profile_string(m->profile, source[i].function);
		set_source(m, &inner, source[i].file, source[i].line);
		id = profile_get_frame(m->profile, &inner);
	}
	return id;
}

u32 profile_push_frame(struct profile *p, u32 stack, u32 frame)
{
	u32 inlined[SOURCE_MAX_FRAMES], n = 0;

	for (; p->frames.items[frame].inline_of; frame = p->frames.items[frame].inline_of)
		inlined[n++] = frame;
	stack = profile_get_stack(p, stack, frame);
	while (n)
		stack = profile_get_stack(p, stack, inlined[--n]);
	return stack;
}
