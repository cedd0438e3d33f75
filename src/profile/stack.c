/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chain of a sample -> a stack of the profile. */
#include "profile/builder.h"

enum { STACK_MOST = 4096, COPY_MOST = 1024 };

/* The walk over a chain, innermost frame first, as perf records it. */
struct chain {
	struct builder *b;
	struct process *proc;
	u32 frames[STACK_MOST];
	size_t n;
	size_t cut; /* frames that did not fit */
	size_t user_frames;
	bool saw_root;
	bool interpreted; /* the last functions were an interpreter's, not called from C yet */
};

static u8 frame_kind_of(const struct place *place)
{
	switch (place->kind) {
	case PLACE_KERNEL: return FRAME_KERNEL;
	case PLACE_JIT: return FRAME_JIT;
	case PLACE_HYPERVISOR: return FRAME_HYPERVISOR;
	default: return FRAME_USER;
	}
}

/* A frame for what the place is called; code without a name keeps its module's. */
static struct frame plain_frame(struct builder *b, const struct place *place)
{
	struct frame f = {
		.module = profile_string(b->profile, place->dso),
		.kind = frame_kind_of(place),
		.no_name = !place->name || place->flags & SYM_FDE,
	};
	char text[64];

	if (place->name && b->opts->addresses) {
		_cleanup_free_ char *with =
			xasprintf("%s+0x%llx", place->name,
				  (unsigned long long)(place->address - place->start));
		f.name = profile_string(b->profile, with);
	} else if (place->name) {
		f.name = profile_string(b->profile, place->name);
	} else if (b->opts->addresses) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)place->address);
		f.name = profile_string(b->profile, text);
	} else {
		f.name = profile_string(b->profile, "[unknown]");
	}
	return f;
}

static void set_source(struct builder *b, struct frame *f, const char *file, u32 line)
{
	if (!b->opts->lines || !file)
		return;
	f->file = profile_string(b->profile, file);
	f->line = line;
}

/* A function of an interpreted language: the recording carries its file and line. */
static u32 make_interpreted(struct builder *b, const struct place *place)
{
	struct frame f = plain_frame(b, place);
	const char *file = NULL;
	u32 line = 0;

	f.kind = FRAME_INTERPRETED;
	if (python_source_find(&b->python, place->address - place->is_return, &file, &line))
		set_source(b, &f, file, line);
	return profile_get_frame(b->profile, &f);
}

/*
 * The innermost frame of a place; its inline_of leads out to the function whose code it is. That
 * one keeps its name from the symbol table: debug information does not know clones.
 */
static u32 make_frames(struct builder *b, const struct place *place)
{
	struct source_frame source[SOURCE_MAX_FRAMES];
	struct frame f = plain_frame(b, place);
	size_t n = 0;
	u32 id;

	if (place->dso && streq(place->dso, PYTHON_MAP_NAME))
		return make_interpreted(b, place);
	if (place->module && (b->opts->lines || b->opts->inlines))
		n = symbols_lines(b->machine.symbols, place->module,
				  place->address - place->is_return, source, ARRAY_SIZE(source));
	if (n)
		set_source(b, &f, source[n - 1].file, source[n - 1].line);
	else
		set_source(b, &f, place->file, place->line);
	id = profile_get_frame(b->profile, &f);
	if (!n || !b->opts->inlines)
		return id;
	for (size_t i = n - 1; i--;) {
		struct frame inner = { .module = f.module, .kind = FRAME_INLINED, .inline_of = id };

		if (!source[i].function)
			continue;
		inner.name = profile_string(b->profile, source[i].function);
		set_source(b, &inner, source[i].file, source[i].line);
		id = profile_get_frame(b->profile, &inner);
	}
	return id;
}

/* A place's frames; the last one pushed is the function whose code it is. */
static u32 push_frames(struct chain *c, u32 id)
{
	const struct profile *p = c->b->profile;
	const u32 max = c->b->opts->max_stack;

	for (;;) {
		const u32 outer = p->frames.items[id].inline_of;

		if (c->n == STACK_MOST || (max && c->n == max))
			c->cut++;
		else
			c->frames[c->n++] = id;
		if (!outer)
			return id;
		id = outer;
	}
}

/*
 * CPython with -X perf calls each function through code of its own that has the function's name.
 * Where the function itself is in the stack, that code is not a second one.
 */
static bool is_doubled(struct chain *c, const struct place *place)
{
	bool known = c->interpreted;

	if (place->kind != PLACE_JIT || !place->name || !starts_with(place->name, "py::"))
		return false;
	c->interpreted = false;
	return known;
}

static void chain_add(struct chain *c, enum address_mode mode, u64 address, bool is_return)
{
	struct builder *b = c->b;
	struct place *place;
	u32 outer;

	if ((mode == ADDRESS_USER ? b->opts->no_user : b->opts->no_kernel))
		return;
	if (c->n == STACK_MOST || (b->opts->max_stack && c->n == b->opts->max_stack)) {
		c->cut++;
		return;
	}
	place = machine_place(&b->machine, c->proc, mode, address, is_return);
	if (is_doubled(c, place))
		return;
	if (!place->frame)
		place->frame = make_frames(b, place);
	outer = push_frames(c, place->frame);
	b->profile->total_frames++;
	b->profile->unnamed_frames += b->profile->frames.items[outer].no_name;
	c->interpreted |= b->profile->frames.items[outer].kind == FRAME_INTERPRETED;
	if (mode == ADDRESS_USER) {
		c->user_frames++;
		c->saw_root |= profile_is_root_frame(b->profile, outer);
	}
}

static bool context_mark(u64 ip, enum address_mode *mode)
{
	if (ip < (u64)PERF_CONTEXT_MAX)
		return false;
	switch ((enum perf_callchain_context)ip) {
	case PERF_CONTEXT_HV: *mode = ADDRESS_HYPERVISOR; break;
	case PERF_CONTEXT_KERNEL:
	case PERF_CONTEXT_GUEST_KERNEL: *mode = ADDRESS_KERNEL; break;
	case PERF_CONTEXT_USER:
	case PERF_CONTEXT_GUEST_USER:
	case PERF_CONTEXT_GUEST: *mode = ADDRESS_USER; break;
	default: break;
	}
	return true;
}

static void walk_chain(struct chain *c, const struct sample *s, enum address_mode mode)
{
	bool first = true;

	for (u64 i = 0; i < s->n_ips; i++) {
		if (context_mark(s->ips[i], &mode)) {
			first = true;
			continue;
		}
		chain_add(c, mode, s->ips[i], !first);
		first = false;
	}
}

static enum address_mode mode_of(const struct record *r)
{
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_GUEST_KERNEL: return ADDRESS_KERNEL;
	case PERF_RECORD_MISC_HYPERVISOR: return ADDRESS_HYPERVISOR;
	default: return ADDRESS_USER;
	}
}

/* The user half from a copy of the stack, where the recording has one (perf's dwarf mode). */
static void walk_copy(struct chain *c, const struct sample *s)
{
	const u64 copy = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	u64 ips[COPY_MOST];
	size_t n;

	if ((s->type & copy) != copy || c->b->opts->no_user)
		return;
	n = stackcopy_unwind(&c->b->stacks, &c->b->machine, c->proc, s, ips, ARRAY_SIZE(ips));
	/* all but the first are those of calls: one before the return address */
	for (size_t i = 0; i < n; i++)
		chain_add(c, ADDRESS_USER, ips[i] + (i > 0), i > 0);
}

static u32 callee(struct builder *b, u32 parent, u32 frame)
{
	u32 at = (parent * 0x9e3779b1u + frame * 0x85ebca6bu) >> 17;
	struct stack_hint *h = &b->stack_hints[at % BUILDER_STACKS];

	if (h->parent != parent || h->frame != frame || !h->stack)
		*h = (struct stack_hint){ parent, frame,
					  profile_get_stack(b->profile, parent, frame) };
	return h->stack;
}

/* The stack of the frames; what the thread's last one began with need not be looked up. */
static u32 join_frames(struct builder *b, const struct chain *c, u32 tid)
{
	struct last_path *last = &b->paths[tid % BUILDER_PATHS];
	u32 stack = 0, k = 0;
	size_t i = c->n;

	for (; i && k < last->n && last->frames[k] == c->frames[i - 1]; i--)
		stack = last->stacks[k++];
	for (; i; i--) {
		stack = callee(b, stack, c->frames[i - 1]);
		if (k == PATH_MOST)
			continue;
		last->frames[k] = c->frames[i - 1];
		last->stacks[k++] = stack;
	}
	last->n = k;
	return stack;
}

/* Not for security: a chain that is made to collide would only be shown as the other one. */
static void hash_chain(const struct record *r, const struct process *proc, u64 hash[2])
{
	const struct sample *s = r->sample;
	u64 a = 0x9e3779b97f4a7c15ull ^ s->n_ips, b = (u64)proc->pid << 32 | proc->generation;

	a ^= (u64)(r->misc & PERF_RECORD_MISC_CPUMODE_MASK) << 56;
	for (u64 i = 0; i < s->n_ips; i++) {
		a = (a ^ s->ips[i]) * 0xd6e8feb86659fd93ull;
		b = (b + s->ips[i]) * 0xff51afd7ed558ccdull;
		a ^= a >> 32;
		b ^= b >> 29;
	}
	hash[0] = a;
	hash[1] = b;
}

static u32 make_stack(struct builder *b, const struct record *r, struct process *proc,
		      enum stack_end *ret_end)
{
	const struct sample *s = r->sample;
	struct chain c;

	c.b = b;
	c.proc = proc;
	c.n = c.cut = c.user_frames = 0;
	c.saw_root = c.interpreted = false;
	if (s->type & PERF_SAMPLE_CALLCHAIN && s->n_ips)
		walk_chain(&c, s, mode_of(r));
	walk_copy(&c, s);
	if (!c.n && !c.cut && s->type & PERF_SAMPLE_IP && !s->n_ips)
		chain_add(&c, mode_of(r), s->ip, false);
	*ret_end = !c.user_frames ? STACK_NO_USER : c.saw_root ? STACK_ROOT : STACK_CUT;
	return join_frames(b, &c, s->tid);
}

/* Chains repeat: what one came to is remembered, unless it needs more than its addresses. */
u32 builder_stack(struct builder *b, const struct record *r, struct process *proc,
		  enum stack_end *ret_end)
{
	const struct sample *s = r->sample;
	u64 hash[2], frames = b->profile->total_frames, unnamed = b->profile->unnamed_frames;
	struct chain_memo *memo;
	u32 stack;

	if (!s->n_ips || s->type & PERF_SAMPLE_STACK_USER)
		return make_stack(b, r, proc, ret_end);
	hash_chain(r, proc, hash);
	memo = &b->chains[(hash[0] ^ hash[1]) % BUILDER_CHAINS];
	if (memo->end && memo->hash[0] == hash[0] && memo->hash[1] == hash[1]) {
		b->profile->total_frames += memo->frames;
		b->profile->unnamed_frames += memo->unnamed;
		*ret_end = (enum stack_end)(memo->end - 1);
		return memo->stack;
	}
	stack = make_stack(b, r, proc, ret_end);
	frames = b->profile->total_frames - frames;
	unnamed = b->profile->unnamed_frames - unnamed;
	if (frames <= UINT16_MAX)
		*memo = (struct chain_memo){ .hash = { hash[0], hash[1] },
					     .stack = stack,
					     .frames = (u16)frames,
					     .unnamed = (u16)unnamed,
					     .end = (u8)(*ret_end + 1) };
	return stack;
}
