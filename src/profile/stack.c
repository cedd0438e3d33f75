/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chain of a sample -> a stack of the profile. */
#include "profile/builder.h"
#include "profile/runtime.h"

enum { CHAIN_MOST = 8192, COPY_MOST = 1024 };

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

	if (c->n == CHAIN_MOST || (address_is_user(mode) ? o->no_user : o->no_kernel))
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

/* Code without name, distinguished by its address. */
static u32 address_frame(struct builder *b, const struct place *place, u64 address)
{
	struct frame f = frames_plain(&b->frames, place);
	char text[32];

	/* that of a file is the place in it, as perf shows it */
	if (place->dso && place->kind == PLACE_USER)
		address = place->address;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	f.name = profile_string(b->profile, text);
	return profile_get_frame(b->profile, &f);
}

/* In a guest or the hypervisor, where an address is all that is known without names of theirs. */
static bool is_elsewhere(const struct place *place)
{
	return place->kind >= PLACE_HYPERVISOR;
}

/* The innermost frame of an entry. */
static u32 frame_at(const struct chain *c, size_t i)
{
	struct place *place = place_at(c, i);
	bool by_address = c->b->opts->addresses || is_elsewhere(place);

	if (place->kind == PLACE_JIT && !place->name && !c->proc->nameless)
		c->proc->nameless = runtime_of(c->proc);
	if (by_address && (!place->name || place->flags & SYM_FDE))
		return address_frame(c->b, place, c->address[i]);
	if (!place->frame)
		place->frame = frames_of(&c->b->frames, place);
	return place->frame;
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
	u64 hash[CHAIN_MOST + 1]; /* of this many entries, counted from the root */
	const size_t n = c->n;
	size_t known;
	u32 stack;

	hash[0] = chainmemo_begin((u64)c->proc->pid << 32 | c->proc->generation);
	for (size_t i = 0; i < n; i++)
		hash[i + 1] = chainmemo_step(hash[i], c->address[n - 1 - i], c->kind[n - 1 - i]);
	known = find_known(&b->memo, hash, n, &stack);
	for (size_t i = known; i < n; i++) {
		stack = profile_push_frame(b->profile, stack, frame_at(c, n - 1 - i));
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
	bool user =
		f->kind != FRAME_KERNEL && (f->kind < FRAME_HYPERVISOR || f->kind == FRAME_MARKER);

	if (f->kind == FRAME_INLINED)
		return caller;
	caller.frames += caller.frames < UINT16_MAX;
	caller.unnamed += f->no_name && caller.unnamed < UINT16_MAX;
	caller.user |= user;
	caller.root |= user && f->is_root;
	return caller;
}

static void count_stack(struct profile *p, struct stack_facts f, bool no_chains, u32 count)
{
	p->stack_ends[!f.user || no_chains ? STACK_NO_USER
		      : f.root             ? STACK_ROOT
					   : STACK_CUT] += count;
}

static void count_frames(struct profile *p, struct stack_facts f, u32 count)
{
	p->total_frames += (u64)f.frames * count;
	p->unnamed_frames += (u64)f.unnamed * count;
}

void builder_count_stack(const struct builder *b, u32 stack)
{
	struct profile *p = b->profile;
	struct stack_facts f = { 0 };

	for (; stack; stack = p->stacks.items[stack].parent)
		f = add_frame(f, profile_frame_of(p, stack));
	count_frames(p, f, 1);
	count_stack(p, f, false, 1);
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
		count_frames(p, facts[s->stack], s->count);
		/* stacks that were cut as the user asked say nothing of how they ended */
		if (!b->opts->max_stack)
			count_stack(p, facts[s->stack], p->events.items[s->event].no_chains,
				    s->count);
	}
}
