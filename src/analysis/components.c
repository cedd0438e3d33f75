/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/components.h"

#include "analysis/flame.h"
#include "analysis/skid.h"
#include "base/fmt.h"

#include <fnmatch.h>

/* --- the table ------------------------------------------------------------------------------ */

static const char *const wheres[RULE_WHERE_COUNT] = { "self",         "kernel", "stack",
						      "kernel-stack", "comm",   "user" };

/* Colours for components without one: colour-blind safe, pale enough for black text. */
static const char *const palette[] = {
	"#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff",
	"#44bb99", "#bbcc33", "#aaaa00", "#dddddd", "#cc99bb",
};

struct line {
	char *fields[3];
	size_t n;
};

static bool find_component(const struct taxonomy *t, const char *name, u32 *ret)
{
	for (u32 i = 0; i < t->components.len; i++) {
		if (streq(t->components.items[i].name, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool is_color(const char *s)
{
	return *s == '#' && strlen(s) == 7 && strspn(s + 1, "0123456789abcdefABCDEF") == 6;
}

/* The component of that name, made if it is new; false: too many. */
static bool need_component(struct taxonomy *t, const char *name, u32 *ret)
{
	if (find_component(t, name, ret))
		return true;
	if (t->components.len == COMPONENTS_MOST)
		return false;
	*ret = (u32)t->components.len;
	vec_push(&t->components, (struct component){ arena_strdup(&t->arena, name),
						     palette[*ret % ARRAY_SIZE(palette)], "" });
	return true;
}

static const char *add_component(struct taxonomy *t, const struct line *l)
{
	u32 id;

	if (!l->fields[0][1])
		return "a component without name";
	if (!need_component(t, l->fields[0] + 1, &id))
		return "too many components";
	if (l->n > 1 && *l->fields[1]) {
		if (!is_color(l->fields[1]))
			return "a colour is #rrggbb";
		t->components.items[id].color = arena_strdup(&t->arena, l->fields[1]);
	}
	if (l->n > 2)
		t->components.items[id].text = arena_strdup(&t->arena, l->fields[2]);
	return NULL;
}

static const char *add_rule(struct taxonomy *t, const struct line *l)
{
	u32 id, where = RULE_SELF;

	if (l->n < 2 || !*l->fields[0] || !*l->fields[1])
		return "a pattern and a component are wanted, separated by a tab";
	if (!need_component(t, l->fields[1], &id))
		return "too many components";
	if (l->n > 2 && *l->fields[2]) {
		for (where = 0; where < RULE_WHERE_COUNT; where++)
			if (streq(wheres[where], l->fields[2]))
				break;
		if (where == RULE_WHERE_COUNT)
			return "the third column is self, kernel, stack, kernel-stack, comm or "
			       "user";
	}
	if (strpbrk(l->fields[0], "*?[")) {
		vec_push(&t->rules[where],
			 (struct rule){ arena_strdup(&t->arena, l->fields[0]), id });
		return NULL;
	}
	map_put(&t->exact, (u64)where << 32 | intern_str(&t->names, l->fields[0]), id + 1ull);
	return NULL;
}

static void split_line(char *text, struct line *ret)
{
	*ret = (struct line){ .fields = { text }, .n = 1 };
	for (char *tab = strchr(text, '\t'); tab && ret->n < 3; tab = strchr(tab, '\t')) {
		*tab++ = '\0';
		ret->fields[ret->n++] = tab;
	}
}

int taxonomy_parse(struct taxonomy *t, const char *text, size_t len, const char *name,
		   struct err *e)
{
	_cleanup_free_ char *copy = xstrndup(text, len);
	size_t number = 0;

	*t = (struct taxonomy){ 0 };
	for (char *at = copy, *end; *at; at = end) {
		const char *fault = NULL;
		struct line l;

		number++;
		end = at + strcspn(at, "\r\n");
		if (*end == '\r')
			*end++ = '\0';
		if (*end)
			*end++ = '\0';
		if (!*at || *at == '#')
			continue;
		split_line(at, &l);
		fault = *at == '=' ? add_component(t, &l) : add_rule(t, &l);
		if (fault)
			return err_set(e, EBADMSG, "'%s', line %zu: %s", name, number, fault);
	}
	if (!t->components.len)
		return err_set(e, EBADMSG, "'%s' names no component", name);
	return 0;
}

void taxonomy_release(struct taxonomy *t)
{
	for (size_t i = 0; i < RULE_WHERE_COUNT; i++)
		vec_release(&t->rules[i]);
	vec_release(&t->components);
	map_release(&t->exact);
	intern_release(&t->names);
	arena_release(&t->arena);
}

/* --- classes -------------------------------------------------------------------------------- */

enum { NOT_ASKED, NO_RULE, FIRST_CLASS }; /* what a remembered answer says */

struct counter {
	const struct taxonomy *taxonomy;
	struct profile *profile;
	struct breakdown *breakdown;
	u8 *self, *stack, *user; /* by frame */
	bool skids;              /* the event is a clock */
	u8 *stacks;              /* by stack: the nearest caller with a rule */
	struct map comms;        /* string -> answer */
	struct map symbols;      /* name of the breakdown << 32 | component -> index */
};

/* Length of the name without what compilers and allocation profiling add. */
static size_t plain_len(const char *name)
{
	const char *dot = strchr(name + (*name == '.'), '.');
	size_t n = dot ? (size_t)(dot - name) : strlen(name);

	if (n > 7 && memcmp(name + n - 7, "_noprof", 7) == 0)
		n -= 7;
	return n;
}

static u8 ask(const struct taxonomy *t, enum rule_where where, const char *name)
{
	size_t n = plain_len(name);
	_cleanup_free_ char *plain = xstrndup(name, n);
	u32 id = intern_find(&t->names, plain, n);
	u64 exact = id ? map_get(&t->exact, (u64)where << 32 | id, 0) : 0;

	if (exact)
		return (u8)(FIRST_CLASS + exact - 1);
	vec_each(r, &t->rules[where])
		if (fnmatch(r->pattern, plain, 0) == 0)
			return (u8)(FIRST_CLASS + r->component);
	return NO_RULE;
}

/* Rules for all, then those that are only for the kernel. */
static u8 ask_frame(const struct counter *c, u8 *known, enum rule_where where, u32 frame)
{
	const struct frame *f = &c->profile->frames.items[frame];
	const char *name = profile_str(c->profile, f->name);

	if (known[frame] == NOT_ASKED) {
		known[frame] = ask(c->taxonomy, where, name);
		if (known[frame] == NO_RULE && f->kind == FRAME_KERNEL && where == RULE_SELF)
			known[frame] = ask(c->taxonomy, RULE_KERNEL, name);
		if (known[frame] == NO_RULE && f->kind == FRAME_KERNEL && where == RULE_STACK)
			known[frame] = ask(c->taxonomy, RULE_KERNEL_STACK, name);
	}
	return known[frame];
}

/* The nearest caller counts; a stack's answer is its own frame's or its caller's. */
static u8 ask_stack(struct counter *c, u32 stack)
{
	const struct stack *stacks = c->profile->stacks.items;
	u8 answer = NO_RULE;
	u32 at;

	for (at = stack; at; at = stacks[at].parent) {
		if (c->stacks[at] != NOT_ASKED) {
			answer = c->stacks[at];
			break;
		}
		answer = ask_frame(c, c->stack, RULE_STACK, stacks[at].frame);
		if (answer != NO_RULE)
			break;
	}
	for (; stack && stack != at; stack = stacks[stack].parent)
		c->stacks[stack] = answer;
	return answer;
}

static u8 ask_comm(struct counter *c, u32 comm)
{
	u64 *known = map_at(&c->comms, comm);

	if (*known == NOT_ASKED)
		*known = ask(c->taxonomy, RULE_COMM, profile_str(c->profile, comm));
	return (u8)*known;
}

static bool is_kernel(const struct profile *p, u32 stack)
{
	return stack && profile_frame_of(p, stack)->kind == FRAME_KERNEL;
}

/* Where interrupts are switched on again a clock shows the time of the caller. */
static u32 classify(struct counter *c, const struct profile_sample *s)
{
	u32 stack = c->skids ? skid_stack(c->profile, s->stack) : s->stack;
	u32 leaf = stack ? c->profile->stacks.items[stack].frame : 0;
	u8 answer = leaf ? ask_frame(c, c->self, RULE_SELF, leaf) : (u8)NO_RULE;

	if (answer == NO_RULE && leaf)
		answer = ask_stack(c, stack);
	if (answer == NO_RULE)
		answer = ask_comm(c, c->profile->threads.items[s->thread].comm);
	if (answer == NO_RULE && leaf && !is_kernel(c->profile, s->stack))
		answer = ask_frame(c, c->user, RULE_USER, leaf);
	return answer == NO_RULE ? COMPONENT_UNMAPPED : answer - (u32)FIRST_CLASS;
}

/* --- counting ------------------------------------------------------------------------------- */

static void count_symbol(struct counter *c, const struct profile_sample *s, u32 component)
{
	struct breakdown *b = c->breakdown;
	const struct frame *f = s->stack ? profile_frame_of(c->profile, s->stack) : NULL;
	u32 name = intern_str(&b->strings,
			      f && f->name ? profile_str(c->profile, f->name) : "[no stack]");
	u64 *index = map_at(&c->symbols, (u64)name << 32 | component);
	struct breakdown_symbol *symbol;

	if (!*index) {
		vec_push(&b->symbols,
			 (struct breakdown_symbol){ .name = name,
						    .component = component,
						    .is_kernel = is_kernel(c->profile, s->stack) });
		*index = b->symbols.len;
	}
	symbol = &b->symbols.items[*index - 1];
	symbol->weight += s->weight;
	symbol->samples += s->count;
}

static void count_sample(struct counter *c, const struct profile_sample *s, bool kernel_only)
{
	struct breakdown *b = c->breakdown;
	bool kernel = is_kernel(c->profile, s->stack);
	u32 component;

	if (kernel_only && !kernel)
		return;
	component = classify(c, s);
	b->weight[component] += s->weight;
	b->samples[component] += s->count;
	b->total += s->weight;
	if (kernel) {
		b->kernel += s->weight;
		if (component == COMPONENT_UNMAPPED)
			b->kernel_unmapped += s->weight;
	}
	count_symbol(c, s, component);
}

static int compare_symbols(const void *a, const void *b)
{
	const struct breakdown_symbol *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static const char *facts_of(struct breakdown *b, const struct profile *p, u16 event)
{
	_cleanup_buf_ struct buf facts = BUF_INIT;

	fmt_count(&facts, p->events.items[event].samples);
	buf_addf(&facts, " samples of %s", profile_str(p, p->events.items[event].name));
	flame_origin(p, &facts);
	return intern_get(&b->strings, intern_str(&b->strings, buf_str(&facts)));
}

int breakdown_init(struct breakdown *b, const struct taxonomy *t, struct profile *p, u16 event,
		   bool kernel_only, struct err *e)
{
	struct counter c = { .taxonomy = t, .profile = p, .breakdown = b };

	*b = (struct breakdown){ 0 };
	b->title = intern_get(&b->strings, intern_str(&b->strings, profile_str(p, p->source)));
	b->facts = facts_of(b, p, event);
	c.skids = skid_event(p, event);
	b->skid = skid_percent(p, event);
	c.self = xcalloc(p->frames.len, 1);
	c.stack = xcalloc(p->frames.len, 1);
	c.user = xcalloc(p->frames.len, 1);
	c.stacks = xcalloc(p->stacks.len, 1);
	vec_each(s, &p->samples)
		if (s->event == event)
			count_sample(&c, s, kernel_only);
	vec_sort(&b->symbols, compare_symbols);
	free(c.self);
	free(c.stack);
	free(c.user);
	free(c.stacks);
	map_release(&c.comms);
	map_release(&c.symbols);
	if (b->total)
		return 0;
	return err_set(e, ENODATA, "'%s' has no %ssample with any weight", b->title,
		       kernel_only ? "kernel " : "");
}

void breakdown_release(struct breakdown *b)
{
	intern_release(&b->strings);
	vec_release(&b->symbols);
}

double breakdown_share(const struct breakdown *b, u32 component)
{
	return b->total ? 100 * (double)b->weight[component] / (double)b->total : 0;
}
