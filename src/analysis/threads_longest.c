/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/threads_longest.h"

#include "base/hash.h"

struct builder {
	struct profile *profile;
	struct map places;   /* stack -> string of its place */
	struct map families; /* name of a thread -> string without numbers */
	struct map piles;    /* level and all that tells it apart -> index + 1 */
	struct map known;    /* threads of piles */
	struct buf text;
};

/* What is numbered of a pile: waiting threads, wakers, places; and the piles themselves. */
enum level { GROUP, ENDING, PAST, PLACE };

static u32 place_of(struct builder *b, u32 stack)
{
	u64 *at = map_at(&b->places, stack);

	if (!*at) {
		buf_reset(&b->text);
		wait_place_brief(b->profile, stack, &b->text);
		*at = profile_string(b->profile, buf_str(&b->text));
	}
	return (u32)*at;
}

static u32 pile_add(struct builder *b, pile_list *list, enum level level, u32 of, u64 key,
		    const struct wait *w)
{
	u64 *at = map_at(&b->piles, hash_mix((u64)of << 2 | level, key));
	struct pile *pile;

	if (!*at) {
		vec_push(list, (struct pile){ .of = of });
		*at = list->len;
	}
	pile = &list->items[*at - 1];
	if (!pile->wait || w->max_blocked > pile->max) {
		pile->wait = w;
		pile->max = w->max_blocked;
	}
	pile->ns += w->blocked;
	pile->count += w->count;
	pile->before += w->flags & OFFCPU_UNKNOWN_START ? w->count : 0;
	pile->open += w->flags & OFFCPU_OPEN ? w->count : 0;
	return (u32)(*at - 1);
}

/* 1 if it is new to the pile, else 0. */
static u32 is_new(struct builder *b, enum level level, u32 pile, u32 what)
{
	u64 *known = map_at(&b->known, hash_mix((u64)pile << 2 | level, what));
	bool new = !*known;

	*known = 1;
	return new;
}

/* Threads of a pool are numbered: "pool-1-thread-7" is one of "pool-#-thread-#". */
static u32 family_of(struct builder *b, u32 comm)
{
	u64 *known = map_at(&b->families, comm);

	if (*known)
		return (u32)*known;
	buf_reset(&b->text);
	for (const char *c = profile_str(b->profile, comm); *c; c++) {
		if (*c < '0' || *c > '9')
			buf_addch(&b->text, *c);
		else if (!b->text.len || buf_str(&b->text)[b->text.len - 1] != '#')
			buf_addch(&b->text, '#');
	}
	*known = profile_string(b->profile, buf_str(&b->text));
	return (u32)*known;
}

static u64 group_key(struct builder *b, const struct wait *w)
{
	const struct profile_thread *t = &b->profile->threads.items[w->thread];
	u32 place;
	enum thread_state kind = (enum thread_state)w->kind;

	/* pages are missing wherever code or data is met for the first time */
	place = kind == STATE_FAULT ? 0 : place_of(b, w->stack);
	return hash_mix((u64)family_of(b, t->comm) << 32 | place, kind);
}

static u64 waker_key(struct builder *b, const struct wait_link *l)
{
	/* the place where an interrupt wakes says nothing more */
	return hash_mix((u64)family_of(b, l->comm) << 32 | l->kind,
			waker_is_task(l->kind) ? place_of(b, l->stack) : 0);
}

static u64 ending_key(struct builder *b, const struct wait *w)
{
	return w->n_links ? waker_key(b, &w->links[0]) : 0;
}

static u64 past_key(struct builder *b, const struct wait *w)
{
	u64 key = 0;

	for (u32 i = 0; i < w->n_links && i < LONGEST_LINKS; i++) {
		const struct wait_link *l = &w->links[i];

		key = hash_mix(key, waker_key(b, l));
		key = hash_mix(key, l->sleep_stack ? place_of(b, l->sleep_stack) : 0);
		key = hash_mix(key, l->doing);
	}
	return key;
}

static void add(struct builder *b, struct longest *l, const struct wait *w)
{
	u32 tid = (u32)b->profile->threads.items[w->thread].tid, group, ending;

	group = pile_add(b, &l->groups, GROUP, 0, group_key(b, w), w);
	l->groups.items[group].threads += is_new(b, GROUP, group, tid);
	l->groups.items[group].places += is_new(b, PLACE, group, place_of(b, w->stack));
	ending = pile_add(b, &l->endings, ENDING, group, ending_key(b, w), w);
	if (w->n_links)
		l->endings.items[ending].threads += is_new(b, ENDING, ending, w->links[0].tid);
	pile_add(b, &l->pasts, PAST, ending, past_key(b, w), w);
}

void longest_build(struct profile *p, const wait_list *waits, bool idle, struct longest *ret)
{
	struct builder b = { .profile = p };

	*ret = (struct longest){ 0 };
	vec_each(w, waits) {
		if (w->max_blocked && (idle || !wait_is_idle((enum thread_state)w->kind)))
			add(&b, ret, w);
	}
	map_release(&b.places);
	map_release(&b.families);
	map_release(&b.piles);
	map_release(&b.known);
	buf_release(&b.text);
}

void longest_release(struct longest *l)
{
	vec_release(&l->groups);
	vec_release(&l->endings);
	vec_release(&l->pasts);
}

/* An order without ties. */
static bool is_before(const struct pile *a, const struct pile *b)
{
	return a->ns != b->ns ? a->ns > b->ns : a < b;
}

static const struct pile *next(const pile_list *list, u32 of, const struct pile *last)
{
	const struct pile *best = NULL;

	vec_each(p, list) {
		if (p->of == of && (!last || is_before(last, p)) && (!best || is_before(p, best)))
			best = p;
	}
	return best;
}

const struct pile *longest_group(const struct longest *l, const struct pile *last)
{
	return next(&l->groups, 0, last);
}

const struct pile *longest_ending(const struct longest *l, const struct pile *group,
				  const struct pile *last)
{
	return next(&l->endings, (u32)(group - l->groups.items), last);
}

const struct pile *longest_past(const struct longest *l, const struct pile *ending,
				const struct pile *last)
{
	return next(&l->pasts, (u32)(ending - l->endings.items), last);
}
