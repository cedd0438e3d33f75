/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines are sorted as byte strings: a stack's own line comes before all that begin with "name;",
 * but "name.part" comes in between. So each name has two ranks among its siblings, with and
 * without the semicolon. One walk over the profile's tree in that order gives every stack its
 * position; lines are sorted by numbers from there on.
 */
#include "view/fold_lines.h"

#include "analysis/flame.h"
#include "base/map.h"

enum { FLUSH_BYTES = 1 << 20 };

struct rank {
	const char *name;
	u32 string;
	char end; /* '\0': the line of the name itself; ';': what is below it */
};

struct line {
	u64 order; /* rank of the label and position of the stack */
	u32 label;
	u32 stack;
	u64 weight;
};

struct level {
	u32 stack;
	u32 end; /* of the path's text with this name */
};

struct folding {
	const struct profile *profile;
	const struct fold_names *names;
	const struct fold_sink *sink;
	u64 scale;        /* of the weights */
	u32 *same;        /* stack -> the one that stands for all of equal names; NULL: itself */
	u32 *position;    /* stack -> where its line comes */
	u32 *depth;       /* stack -> frames */
	u32 *own, *below; /* string -> rank, alone and with a semicolon */
	VEC(struct line) lines;
	VEC(struct level) path;
	VEC(u32) todo;
	u32 label; /* of the path */
	size_t label_end;
	struct buf text; /* of the path */
	struct buf out;
};

/* --- stacks of equal names ----------------------------------------------------------------- */

/* frame -> some other frame has the same name; NULL: none has */
static bool *shared_names(const struct folding *f)
{
	const struct profile *p = f->profile;
	_cleanup_free_ u32 *first = xcalloc(p->strings.len + 1, sizeof(*first));
	bool *shared = xcalloc(p->frames.len, sizeof(*shared)), any = false;

	for (u32 i = 1; i < p->frames.len; i++) {
		u32 *of_name = &first[f->names->frames[i]];

		if (*of_name)
			shared[i] = shared[*of_name] = any = true;
		else
			*of_name = i;
	}
	if (any)
		return shared;
	free(shared);
	return NULL;
}

static u32 parent_of(const struct folding *f, u32 stack)
{
	u32 parent = f->profile->stacks.items[stack].parent;

	return f->same ? f->same[parent] : parent;
}

/*
 * Only frames that share a name, and what is above them, have to be looked up; all else stands
 * for itself.
 */
static u32 find_same(const struct folding *f, struct map *known, const bool *shared, u32 stack)
{
	const struct stack *s = &f->profile->stacks.items[stack];
	u32 parent = parent_of(f, stack), found = 0;
	u64 *at;

	if (!shared[s->frame] && parent == s->parent)
		return stack;
	at = map_at(known, (u64)parent << 32 | f->names->frames[s->frame]);
	if (!*at && !shared[s->frame])
		found = profile_find_stack(f->profile, parent, s->frame);
	if (!*at)
		*at = found ? found : stack;
	return (u32)*at;
}

static void join_equal(struct folding *f)
{
	const struct profile *p = f->profile;
	_cleanup_free_ bool *shared = shared_names(f);
	_cleanup_map_ struct map known = MAP_INIT;

	if (!shared)
		return;
	f->same = xcalloc(p->stacks.len, sizeof(*f->same));
	for (u32 i = 1; i < p->stacks.len; i++)
		f->same[i] = find_same(f, &known, shared, i);
}

/* --- order --------------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const u8 *m = (const u8 *)x->name, *n = (const u8 *)y->name;
	u8 p, q;

	while (*m && *m == *n) {
		m++;
		n++;
	}
	p = *m ? *m : (u8)x->end;
	q = *n ? *n : (u8)y->end;
	return p < q ? -1 : p > q;
}

static void rank_names(struct folding *f)
{
	const struct profile *p = f->profile;
	VEC(struct rank) ranks = { 0 };

	f->own = xcalloc(p->strings.len + 1, sizeof(*f->own));
	f->below = xcalloc(p->strings.len + 1, sizeof(*f->below));
	for (size_t i = 1; i < p->frames.len; i++)
		f->own[f->names->frames[i]] = 1;
	for (size_t i = 1; i < p->threads.len; i++)
		f->own[f->names->threads[i]] = 1;
	for (u32 i = 0; i <= p->strings.len; i++) {
		if (!f->own[i])
			continue;
		vec_push(&ranks, (struct rank){ profile_str(p, i), i, '\0' });
		vec_push(&ranks, (struct rank){ profile_str(p, i), i, ';' });
	}
	vec_sort(&ranks, compare_ranks);
	for (u32 i = 0; i < ranks.len; i++) {
		const struct rank *r = &ranks.items[i];

		*(r->end ? &f->below[r->string] : &f->own[r->string]) = i + 1;
	}
	vec_release(&ranks);
}

/* What is still to be visited: rank << 33 | below << 32 | stack, the next one last. */
typedef VEC(u64) visit_list;

static int compare_visits(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x > y ? -1 : x < y;
}

static void visit_later(const struct folding *f, visit_list *list, const u32 *first,
			const u32 *next, u32 parent)
{
	size_t begin = list->len;

	for (u32 c = first[parent]; c; c = next[c]) {
		u32 name = f->names->frames[f->profile->stacks.items[c].frame];

		if (first[c])
			vec_push(list, (u64)f->below[name] << 33 | 1ull << 32 | c);
		vec_push(list, (u64)f->own[name] << 33 | c);
	}
	if (list->items && next[first[parent]])
		qsort(list->items + begin, list->len - begin, sizeof(u64), compare_visits);
}

static void find_positions(struct folding *f)
{
	const struct profile *p = f->profile;
	_cleanup_free_ u32 *first = xcalloc(p->stacks.len, sizeof(*first));
	_cleanup_free_ u32 *next = xcalloc(p->stacks.len, sizeof(*next));
	visit_list list = { 0 };
	u32 position = 0;

	for (u32 i = 1; i < p->stacks.len; i++) {
		u32 parent = parent_of(f, i);

		f->depth[i] = f->depth[p->stacks.items[i].parent] + 1;
		if (f->same && f->same[i] != i)
			continue;
		next[i] = first[parent];
		first[parent] = i;
	}
	visit_later(f, &list, first, next, 0);
	while (list.len) {
		u64 visit = vec_pop(&list);

		if (visit >> 32 & 1)
			visit_later(f, &list, first, next, (u32)visit);
		else
			f->position[(u32)visit] = ++position;
	}
	vec_release(&list);
}

/* --- lines --------------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void collect(struct folding *f, const struct fold_opts *opts)
{
	size_t kept = 0;

	vec_each(s, &f->profile->samples) {
		u32 label = f->names->threads[s->thread];
		u32 stack = f->same ? f->same[s->stack] : s->stack;
		u32 rank = !label ? 0 : stack ? f->below[label] : f->own[label];
		u64 weight = opts->counts ? s->count : s->weight;

		if (s->event == opts->event && weight)
			vec_push(&f->lines, (struct line){ (u64)rank << 32 | f->position[stack],
							   label, stack, weight });
	}
	vec_sort(&f->lines, compare_lines);
	vec_each(l, &f->lines) {
		if (kept && f->lines.items[kept - 1].order == l->order)
			f->lines.items[kept - 1].weight += l->weight;
		else
			f->lines.items[kept++] = *l;
	}
	f->lines.len = kept;
}

static void begin_label(struct folding *f, u32 label)
{
	buf_reset(&f->text);
	if (label)
		buf_addstr(&f->text, profile_str(f->profile, label));
	f->label = label;
	f->label_end = f->text.len;
	vec_clear(&f->path);
}

/* The text of a line's path; what it has in common with the line before stays. */
static void set_path(struct folding *f, const struct line *l)
{
	u32 k = l->stack;

	if (l->label != f->label)
		begin_label(f, l->label);
	for (; k; k = parent_of(f, k)) {
		if (f->depth[k] <= f->path.len && f->path.items[f->depth[k] - 1].stack == k)
			break;
		vec_push(&f->todo, k);
	}
	f->path.len = k ? f->depth[k] : 0;
	buf_truncate(&f->text, f->path.len ? vec_last(&f->path)->end : f->label_end);
	while (f->todo.len) {
		u32 s = vec_pop(&f->todo), frame = f->profile->stacks.items[s].frame;

		if (f->label || f->path.len)
			buf_addch(&f->text, ';');
		buf_addstr(&f->text, profile_str(f->profile, f->names->frames[frame]));
		vec_push(&f->path, (struct level){ s, (u32)f->text.len });
	}
}

static int write_line(struct folding *f, u64 weight)
{
	buf_add(&f->out, buf_str(&f->text), f->text.len);
	buf_addch(&f->out, ' ');
	buf_addu(&f->out, weight / f->scale);
	flame_fraction(&f->out, weight, f->scale);
	buf_addch(&f->out, '\n');
	if (f->out.len < FLUSH_BYTES)
		return 0;
	return f->sink->flush(&f->out, f->sink->ctx);
}

static int write_lines(struct folding *f)
{
	int r = 0;

	begin_label(f, 0);
	for (size_t i = 0; i < f->lines.len && r >= 0; i++) {
		set_path(f, &f->lines.items[i]);
		r = write_line(f, f->lines.items[i].weight);
	}
	return r < 0 ? r : f->sink->flush(&f->out, f->sink->ctx);
}

static void folding_release(struct folding *f)
{
	free(f->same);
	free(f->position);
	free(f->depth);
	free(f->own);
	free(f->below);
	vec_release(&f->lines);
	vec_release(&f->path);
	vec_release(&f->todo);
	buf_release(&f->text);
	buf_release(&f->out);
}

int fold_lines(const struct profile *p, const struct fold_names *names,
	       const struct fold_opts *opts, const struct fold_sink *sink)
{
	struct folding f = {
		.profile = p,
		.names = names,
		.sink = sink,
		.scale = opts->counts ? 1 : flame_scale(p, opts->event),
		.position = xcalloc(p->stacks.len, sizeof(u32)),
		.depth = xcalloc(p->stacks.len, sizeof(u32)),
	};
	int r;

	join_equal(&f);
	rank_names(&f);
	find_positions(&f);
	collect(&f, opts);
	r = write_lines(&f);
	folding_release(&f);
	return r;
}
