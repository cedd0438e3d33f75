/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chain of a sample -> a stack of the profile. */
#include "profile/builder.h"
#include "profile/runtime.h"

enum { CHAIN_MOST = 8192, COPY_MOST = 1024 };

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

	f.name = profile_string(b->profile, place->name ? place->name : "[unknown]");
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

/* --- chains -------------------------------------------------------------------------------- */

/* The entries of a chain that count, innermost first. */
struct chain {
	struct builder *b;
	struct process *proc;
	size_t n;
	u64 address[CHAIN_MOST];
	u8 kind[CHAIN_MOST]; /* enum address_mode << 1 | is a return address */
};

static void chain_add(struct chain *c, enum address_mode mode, u64 address, bool is_return)
{
	const struct load_opts *o = c->b->opts;

	if (c->n == CHAIN_MOST || (mode == ADDRESS_USER ? o->no_user : o->no_kernel))
		return;
	c->address[c->n] = address;
	c->kind[c->n++] = (u8)((u32)mode << 1 | is_return);
}

static struct place *place_at(const struct chain *c, size_t i)
{
	return machine_place(&c->b->machine, c->proc, (enum address_mode)(c->kind[i] >> 1),
			     c->address[i], c->kind[i] & 1);
}

static void read_chain(struct chain *c, const struct sample *s, enum address_mode mode)
{
	bool first = true;

	for (u64 i = 0; i < s->n_ips; i++) {
		if (machine_context(s->ips[i], &mode)) {
			first = true;
			continue;
		}
		chain_add(c, mode, s->ips[i], !first);
		first = false;
	}
}

/* The user half from a copy of the stack, where the recording has one (perf's dwarf mode). */
static void read_copy(struct chain *c, const struct sample *s)
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

/*
 * CPython with -X perf calls each function through code of its own that has the function's name.
 * Where the function itself is in the stack, that code is not a second one. It is left out before
 * anything is remembered: whether it is, depends on what is further in.
 */
static void drop_doubled(struct chain *c)
{
	bool interpreted = false; /* the last functions were Python's, not called from C yet */
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct place *place = place_at(c, i);
		bool code =
			place->kind == PLACE_JIT && place->name && starts_with(place->name, "py::");
		bool doubled = code && interpreted;

		interpreted = !code &&
			      (interpreted || (place->dso && streq(place->dso, PYTHON_MAP_NAME)));
		if (doubled)
			continue;
		c->address[kept] = c->address[i];
		c->kind[kept++] = c->kind[i];
	}
	c->n = kept;
}

static void chain_init(struct chain *c, struct builder *b, const struct record *r,
		       struct process *proc)
{
	const struct sample *s = r->sample;

	c->b = b;
	c->proc = proc;
	c->n = 0;
	if (s->type & PERF_SAMPLE_CALLCHAIN && s->n_ips)
		read_chain(c, s, machine_mode(r));
	read_copy(c, s);
	if (!c->n && s->type & PERF_SAMPLE_IP && !s->n_ips)
		chain_add(c, machine_mode(r), s->ip, false);
	if (b->has_python)
		drop_doubled(c);
}

/* --- stacks -------------------------------------------------------------------------------- */

/* Code without name, told apart by its address. */
static u32 address_frame(struct builder *b, const struct place *place, u64 address)
{
	struct frame f = plain_frame(b, place);
	char text[32];

	/* that of a file is the place in it, as perf shows it */
	if (place->dso && place->kind == PLACE_USER)
		address = place->address;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	f.name = profile_string(b->profile, text);
	return profile_get_frame(b->profile, &f);
}

/* The innermost frame of an entry. */
static u32 frame_at(const struct chain *c, size_t i)
{
	struct place *place = place_at(c, i);

	if (place->kind == PLACE_JIT && !place->name && !c->proc->nameless)
		c->proc->nameless = runtime_of(&c->b->machine, c->proc);
	if (c->b->opts->addresses && (!place->name || place->flags & SYM_FDE))
		return address_frame(c->b, place, c->address[i]);
	if (!place->frame)
		place->frame = make_frames(c->b, place);
	return place->frame;
}

/* Puts @frame onto @stack, and before it those that it was inlined into. */
static u32 push_frame(struct profile *p, u32 stack, u32 frame)
{
	u32 inlined[SOURCE_MAX_FRAMES], n = 0;

	for (; p->frames.items[frame].inline_of; frame = p->frames.items[frame].inline_of)
		inlined[n++] = frame;
	stack = profile_get_stack(p, stack, frame);
	while (n)
		stack = profile_get_stack(p, stack, inlined[--n]);
	return stack;
}

/*
 * Remembered are beginnings of whole strides, and all but the leaf. An entry in between is taken
 * again: that costs less than to keep them all.
 */
enum { STRIDE = 4 };

/*
 * The longest beginning of the chain that is known: returns how many entries it has and writes
 * their stack. In growing steps away from the leaf, then back by halves.
 */
static size_t find_known(const struct chainmemo *memo, const u64 *hash, size_t n, u32 *ret_stack)
{
	size_t lo, hi, step = 1;
	const struct chainmemo_slot *slot = n > 1 ? chainmemo_find(memo, hash[n - 1]) : NULL,
				    *found;

	*ret_stack = slot ? slot->stack : 0;
	if (slot || !n)
		return slot ? n - 1 : 0;
	/* in strides: lo is known or the root, hi is not */
	for (lo = hi = (n - 1) / STRIDE + 1; lo; step *= 2) {
		lo -= MIN(lo, step);
		found = lo ? chainmemo_find(memo, hash[lo * STRIDE]) : NULL;
		if (found) {
			slot = found;
			break;
		}
		if (lo)
			hi = lo;
	}
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		found = chainmemo_find(memo, hash[mid * STRIDE]);
		if (found) {
			slot = found;
			lo = mid;
		} else {
			hi = mid;
		}
	}
	*ret_stack = slot ? slot->stack : 0;
	return lo * STRIDE;
}

static u32 chain_stack(const struct chain *c)
{
	struct builder *b = c->b;
	u64 hash[CHAIN_MOST + 1]; /* of so many entries, counted from the root */
	const size_t n = c->n;
	size_t known;
	u32 stack;

	hash[0] = chainmemo_begin((u64)c->proc->pid << 32 | c->proc->generation);
	for (size_t i = 0; i < n; i++)
		hash[i + 1] = chainmemo_step(hash[i], c->address[n - 1 - i], c->kind[n - 1 - i]);
	known = find_known(&b->memo, hash, n, &stack);
	for (size_t i = known; i < n; i++) {
		stack = push_frame(b->profile, stack, frame_at(c, n - 1 - i));
		if (i + 1 < n && (i + 2 == n || (i + 1) % STRIDE == 0))
			chainmemo_put(&b->memo, hash[i + 1], stack);
	}
	return stack;
}

/* With a limit on frames, inlined ones included, a stack depends on all that is further in. */
static u32 limited_stack(const struct chain *c, u32 max)
{
	struct profile *p = c->b->profile;
	u32 frames[CHAIN_MOST], n = 0, stack = 0;

	max = MIN(max, (u32)CHAIN_MOST);
	for (size_t i = 0; i < c->n && n < max; i++)
		for (u32 f = frame_at(c, i); f && n < max; f = p->frames.items[f].inline_of)
			frames[n++] = f;
	while (n)
		stack = profile_get_stack(p, stack, frames[--n]);
	return stack;
}

u32 builder_stack(struct builder *b, const struct record *r, struct process *proc)
{
	struct chain c;

	chain_init(&c, b, r, proc);
	return b->opts->max_stack ? limited_stack(&c, b->opts->max_stack) : chain_stack(&c);
}

/* --- health -------------------------------------------------------------------------------- */

/* What is true of a stack with all its callers. */
struct stack_facts {
	u16 frames;  /* without inlined ones; and of these */
	u16 unnamed; /* without a name */
	bool user;
	bool root;
};

static struct stack_facts add_frame(struct stack_facts caller, const struct frame *f)
{
	bool user = f->kind != FRAME_KERNEL && f->kind != FRAME_HYPERVISOR;

	if (f->kind == FRAME_INLINED)
		return caller;
	caller.frames += caller.frames < UINT16_MAX;
	caller.unnamed += f->no_name && caller.unnamed < UINT16_MAX;
	caller.user |= user;
	caller.root |= user && f->is_root;
	return caller;
}

void builder_count_health(const struct builder *b)
{
	struct profile *p = b->profile;
	_cleanup_free_ struct stack_facts *facts = xcalloc(p->stacks.len, sizeof(*facts));

	/* a stack's id is larger than its caller's */
	for (size_t i = 1; i < p->stacks.len; i++)
		facts[i] = add_frame(facts[p->stacks.items[i].parent],
				     &p->frames.items[p->stacks.items[i].frame]);
	vec_each(s, &p->samples) {
		const struct stack_facts *f = &facts[s->stack];

		p->total_frames += (u64)f->frames * s->count;
		p->unnamed_frames += (u64)f->unnamed * s->count;
		/* stacks that were cut as the user asked say nothing of how they ended */
		if (!b->opts->max_stack)
			p->stack_ends[!f->user || p->events.items[s->event].no_chains
					      ? STACK_NO_USER
				      : f->root ? STACK_ROOT
						: STACK_CUT] += s->count;
	}
}
