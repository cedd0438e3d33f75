/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/report.h"

#include "analysis/calltree.h"
#include "analysis/report_hierarchy.h"
#include "analysis/report_key.h"
#include "analysis/skid.h"
#include "analysis/report_tree.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "profile/load.h"

struct entry {
	u64 key[REPORT_KEYS_MOST];
	u64 self, total, samples;
};

/*
 * A stack in the samples of one part. Weights go up the tree once, whatever the number of samples:
 * the work is linear in the number of stacks, not in the sum of their depths.
 */
struct place {
	u32 entry;
	u32 up;          /* the caller's place */
	u32 first, next; /* callees, while weights are summed */
	u64 weight;
	bool outermost; /* no caller has the same entry */
};

struct reporter {
	struct profile *profile;
	const struct report_opts *opts;
	struct report_keys keys;
	u16 event;    /* the one that is reported now */
	bool by_line; /* a key is the source line */
	bool several; /* more than one event has samples */
	struct intern ids;
	VEC(struct entry) entries; /* [0] unused */
	struct map cache;          /* sample part and frame -> entry */
	struct map place_ids;      /* sample part and stack -> place */
	VEC(struct place) places;  /* [0] unused */
	u32 *roots;                /* outermost frame of each stack; NULL: not asked for */
};

/* The entry of @frame in sample @s. */
static u32 entry_of(struct reporter *rp, const struct profile_sample *s, u32 sample_part, u32 frame,
		    u32 root)
{
	u64 *known = map_at(&rp->cache, (u64)sample_part << 32 | frame), key[REPORT_KEYS_MOST];
	u32 id;

	if (*known)
		return (u32)*known;
	for (size_t i = 0; i < rp->keys.n; i++)
		key[i] = rp->keys.keys[i].get(&rp->keys.keys[i], rp->profile, s, frame, root);
	id = intern_bytes(&rp->ids, key, rp->keys.n * sizeof(key[0]));
	if (id == rp->entries.len)
		memcpy(vec_new(&rp->entries)->key, key, rp->keys.n * sizeof(key[0]));
	*known = id;
	return id;
}

/* The keys that belong to the sample, as one number: equal numbers, equal keys. */
static u32 sample_part_of(struct reporter *rp, struct intern *parts, const struct profile_sample *s,
			  u32 root)
{
	u64 key[REPORT_KEYS_MOST];
	size_t n = 0;

	for (size_t i = 0; i < rp->keys.n; i++)
		if (!rp->keys.keys[i].of_frame)
			key[n++] = rp->keys.keys[i].get(&rp->keys.keys[i], rp->profile, s, 0, root);
	return n ? intern_bytes(parts, key, n * sizeof(key[0])) : 0;
}

/* A stack's number is above its caller's: one pass. */
static u32 *find_roots(const struct profile *p)
{
	u32 *roots = xcalloc(MAX(p->stacks.len, (size_t)1), sizeof(*roots));

	for (size_t i = 1; i < p->stacks.len; i++) {
		const struct stack *st = &p->stacks.items[i];

		roots[i] = st->parent ? roots[st->parent] : st->frame;
	}
	return roots;
}

static bool has_key(const struct reporter *rp, const char *name)
{
	for (size_t i = 0; i < rp->keys.n; i++)
		if (streq(rp->keys.keys[i].name, name))
			return true;
	return false;
}

/*
 * The table counts functions as the linker knows them: code that was inlined belongs to the one
 * that it was inlined into, as in perf. The tree shows the inlined callers, and by source line
 * each is on its own.
 */
static u32 counted(const struct reporter *rp, u32 stack)
{
	const struct profile *p = rp->profile;

	while (!rp->by_line && stack && profile_frame_of(p, stack)->kind == FRAME_INLINED)
		stack = p->stacks.items[stack].parent;
	return stack;
}

/* The places of a stack up to the first that is known. */
static void add_places(struct reporter *rp, const struct profile_sample *s, u32 part, u32 leaf,
		       u32 root)
{
	const struct stack *stacks = rp->profile->stacks.items;
	u32 below = 0;
	bool known = false;

	for (u32 k = leaf; k && !known; k = counted(rp, stacks[k].parent)) {
		u32 at = (u32)*map_at(&rp->place_ids, (u64)part << 32 | k);

		known = at;
		if (!at) {
			struct place new = { .entry =
						     entry_of(rp, s, part, stacks[k].frame, root) };

			at = (u32)rp->places.len;
			vec_push(&rp->places, new);
			map_put(&rp->place_ids, (u64)part << 32 | k, at);
		}
		if (below)
			rp->places.items[below].up = at;
		else
			rp->places.items[at].weight += s->weight;
		below = at;
	}
}

static void add_sample(struct reporter *rp, struct intern *parts, const struct profile_sample *s)
{
	const struct stack *stacks = rp->profile->stacks.items;
	u32 root = rp->roots ? rp->roots[s->stack] : 0;
	u32 part = sample_part_of(rp, parts, s, root);
	u32 leaf = counted(rp, s->stack);
	u32 id = entry_of(rp, s, part, stacks[leaf].frame, root);

	rp->entries.items[id].self += s->weight;
	rp->entries.items[id].samples += s->count;
	if (leaf && rp->keys.of_frame && !rp->opts->no_children)
		add_places(rp, s, part, leaf, root);
	else
		rp->entries.items[id].total += s->weight;
}

static void link_places(struct place *places, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		u32 up = places[i].up;

		places[i].next = places[up].first;
		places[up].first = (u32)i;
	}
}

/*
 * Recursion counts once: an entry gets the weight of a place if no caller of it is the same entry.
 * @open: how many places of each entry are between the root and here.
 */
static void sum_places(struct reporter *rp, u32 *open)
{
	struct place *places = rp->places.items;
	u32 at = 0;

	for (;;) {
		struct place *p = &places[at];
		u32 down = p->first;

		if (down) {
			p->first = places[down].next;
			places[down].outermost = !open[places[down].entry]++;
			at = down;
			continue;
		}
		if (!at)
			return;
		open[p->entry]--;
		if (p->outermost)
			rp->entries.items[p->entry].total += p->weight;
		if (p->up)
			places[p->up].weight += p->weight;
		at = p->up;
	}
}

static void collect(struct reporter *rp)
{
	struct intern parts = INTERN_INIT;
	_cleanup_free_ u32 *open = NULL;

	if (!rp->entries.len)
		vec_new(&rp->entries);
	vec_new(&rp->places);
	rp->roots = has_key(rp, "parent") ? find_roots(rp->profile) : NULL;
	vec_each(s, &rp->profile->samples)
		if (s->event == rp->event)
			add_sample(rp, &parts, s);
	link_places(rp->places.items, rp->places.len);
	open = xcalloc(rp->entries.len, sizeof(*open));
	sum_places(rp, open);
	intern_release(&parts);
	vec_release(&rp->places);
	map_release(&rp->place_ids);
	free(rp->roots);
	rp->roots = NULL;
}

/* Clocks count nanoseconds: people read them as time. */
static enum value_type weight_type(const struct profile *p, u16 event)
{
	return streq(profile_str(p, p->events.items[event].unit), "ns") ? VALUE_DURATION
									: VALUE_COUNT;
}

/* Weights were measured, one by one: offcpu-time and its like. Their number tells little. */
static bool is_measured_time(const struct reporter *rp)
{
	const struct profile_event *ev = &rp->profile->events.items[rp->event];

	return weight_type(rp->profile, rp->event) == VALUE_DURATION &&
	       ends_with(profile_str(rp->profile, ev->name), "-time");
}

static bool has_children(const struct reporter *rp)
{
	return !rp->opts->no_children && rp->keys.of_frame;
}

/*
 * What the table is sorted by. Sampled functions: the one that ran, or main and its like would
 * come first in every table. But all waits end in the scheduler: there the callers are more
 * informative.
 */
static bool is_by_total(const struct reporter *rp)
{
	return has_children(rp) && (rp->opts->by_children || is_measured_time(rp));
}

static int compare_entries(const void *a, const void *b, void *ctx)
{
	const struct entry *x = a, *y = b;
	bool by_total = is_by_total(ctx);
	u64 m = by_total ? x->total : x->self;
	u64 n = by_total ? y->total : y->self;

	if (m != n)
		return m > n ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return memcmp(x->key, y->key, sizeof(x->key));
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static size_t make_columns(const struct reporter *rp, struct column *columns)
{
	const struct column children = { "children", "CHILDREN", VALUE_PERCENT, COLUMN_WEIGHT };
	size_t n = 0;

	if (is_measured_time(rp))
		columns[n++] = (struct column){ "time_ns", "TIME", VALUE_DURATION, 0 };
	if (is_by_total(rp))
		columns[n++] = children;
	columns[n++] = (struct column){ "self", "SELF", VALUE_PERCENT, COLUMN_WEIGHT };
	if (has_children(rp) && !is_by_total(rp))
		columns[n++] = children;
	columns[n++] = (struct column){ "samples", "SAMPLES", VALUE_COUNT, 0 };
	columns[n++] = (struct column){ "period", "PERIOD", weight_type(rp->profile, rp->event),
					COLUMN_HIDDEN };
	for (size_t i = 0; i < rp->keys.n; i++)
		columns[n++] = (struct column){ rp->keys.keys[i].name, rp->keys.keys[i].title,
						rp->keys.keys[i].type,
						i + 1 == rp->keys.n ? COLUMN_FILL : 0 };
	return n;
}

/* As the key shows it; a function that a clock samples for its callers is marked. */
static struct value show_key(const struct reporter *rp, struct result *ret, const struct entry *en,
			     size_t i)
{
	const struct report_key *key = &rp->keys.keys[i];
	struct value v = key->show(rp->profile, ret, en->key[i]);

	if (!rp->opts->marks || !streq(key->name, "symbol") || en->key[i] >> 32 != FRAME_KERNEL ||
	    !skid_event(rp->profile, rp->event) ||
	    !skid_function(profile_str(rp->profile, (u32)en->key[i])))
		return v;
	return value_textf(ret, "%s (late)", v.s);
}

static void add_row(const struct reporter *rp, struct result *ret, struct table *t,
		    const struct entry *en, u64 whole)
{
	struct row *row = table_row(ret, t);
	struct value *cell = row->cells, total = value_d(VALUE_PERCENT, percent(en->total, whole));
	bool by_total = is_by_total(rp);

	if (is_measured_time(rp))
		*cell++ = value_u(VALUE_DURATION, by_total ? en->total : en->self);
	if (by_total)
		*cell++ = total;
	*cell++ = value_d(VALUE_PERCENT, percent(en->self, whole));
	if (has_children(rp) && !by_total)
		*cell++ = total;
	*cell++ = value_u(VALUE_COUNT, en->samples);
	*cell++ = value_u(VALUE_COUNT, en->self);
	for (size_t i = 0; i < rp->keys.n; i++)
		*cell++ = show_key(rp, ret, en, i);
}

/* Entries left out of the table. */
struct hidden {
	u64 more;    /* below the limit, or too many */
	u64 callers; /* of a table of what ran: they never ran themselves */
};

static void hidden_note(const struct reporter *rp, struct result *ret, const struct hidden *h)
{
	const struct profile_event *ev = &rp->profile->events.items[rp->event];
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!h->more && !h->callers)
		return;
	if (rp->several && !rp->opts->group)
		buf_addf(&text, "'%s': ", profile_str(rp->profile, ev->name));
	fmt_count(&text, h->more ? h->more : h->callers);
	buf_addstr(&text, h->more ? " more entries" : " entries with no self time");
	if (h->more && h->callers) {
		buf_addstr(&text, " and ");
		fmt_count(&text, h->callers);
		buf_addstr(&text, " entries with no self time");
	}
	result_note(ret, NOTE_INFO, NULL, "%s are not shown; --all shows them", buf_str(&text));
}

static void add_table(struct reporter *rp, struct result *ret)
{
	const struct profile_event *ev = &rp->profile->events.items[rp->event];
	struct column columns[REPORT_KEYS_MOST + 5];
	size_t n = make_columns(rp, columns), shown = 0;
	struct hidden hidden = { 0 };
	struct table *t = result_table(ret, "rows", NULL, columns, n);

	if (rp->entries.len > 2)
		qsort_r(rp->entries.items + 1, rp->entries.len - 1, sizeof(*rp->entries.items),
			compare_entries, rp);
	for (size_t i = 1; i < rp->entries.len; i++) {
		const struct entry *en = &rp->entries.items[i];
		u64 key = is_by_total(rp) || !rp->opts->max_lines ? en->total : en->self;

		if (!key || percent(key, ev->weight) < rp->opts->percent_limit ||
		    (rp->opts->max_lines && shown == rp->opts->max_lines)) {
			*(key ? &hidden.more : &hidden.callers) += 1;
			continue;
		}
		add_row(rp, ret, t, en, ev->weight);
		shown++;
	}
	hidden_note(rp, ret, &hidden);
}

static void add_hierarchy(struct reporter *rp, struct result *ret)
{
	VEC(struct hierarchy_entry) lines = { 0 };
	struct hidden hidden = { 0 };

	for (size_t i = 1; i < rp->entries.len; i++) {
		const struct entry *en = &rp->entries.items[i];

		if (en->self)
			vec_push(&lines, (struct hierarchy_entry){ en->key, en->self });
	}
	hidden.more = report_hierarchy(rp->profile, rp->opts, &rp->keys, lines.items, lines.len,
				       rp->profile->events.items[rp->event].weight,
				       weight_type(rp->profile, rp->event), ret);
	hidden_note(rp, ret, &hidden);
	vec_release(&lines);
}

/* --- the tree ------------------------------------------------------------------------------ */

/* Folded stacks have no commands: there is nothing to group by. */
static bool has_comms(const struct profile *p)
{
	vec_each(t, &p->threads)
		if (t->comm)
			return true;
	return false;
}

static void add_tree(const struct reporter *rp, struct result *ret)
{
	struct calltree_opts opts = {
		.event = rp->event,
		.group = rp->opts->tree == TREE_CALLER && has_comms(rp->profile) ? GROUP_COMM
										 : GROUP_NONE,
		.inverted = rp->opts->tree == TREE_CALLEE,
	};
	struct calltree t;

	if (rp->opts->tree == TREE_NONE)
		return;
	calltree_init(&t, rp->profile, &opts);
	calltree_sort(&t, ORDER_WEIGHT);
	report_tree(&t, rp->opts, weight_type(rp->profile, rp->event), ret);
	calltree_release(&t);
}

static void event_title(const struct reporter *rp, struct result *ret)
{
	const struct profile_event *ev = &rp->profile->events.items[rp->event];
	_cleanup_free_ char *text = NULL;

	if (!rp->several)
		return;
	text = xasprintf("Event '%s': %llu samples", profile_str(rp->profile, ev->name),
			 (unsigned long long)ev->samples);
	result_text(ret, text);
}

static void report_event(struct reporter *rp, struct result *ret)
{
	event_title(rp, ret);
	add_tree(rp, ret);
	collect(rp);
	if (rp->opts->hierarchy)
		add_hierarchy(rp, ret);
	else
		add_table(rp, ret);
	intern_release(&rp->ids);
	vec_release(&rp->entries);
	map_release(&rp->cache);
}

/* --- events side by side ------------------------------------------------------------------- */

enum { GROUP_EVENTS_MOST = 16 };

struct side {
	u64 self, total, samples;
};

/* The same lines of the table, counted for one event each. */
struct group {
	struct reporter *rp;
	size_t n; /* events */
	bool by_total;
	u16 events[GROUP_EVENTS_MOST];
	VEC(struct side) sides[GROUP_EVENTS_MOST]; /* by entry; those that came later are 0 */
};

static struct side side_of(const struct group *g, size_t event, size_t entry)
{
	return entry < g->sides[event].len ? g->sides[event].items[entry] : (struct side){ 0 };
}

static int compare_lines(const void *a, const void *b, void *ctx)
{
	const struct group *g = ctx;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	for (size_t i = 0; i < g->n; i++) {
		struct side m = side_of(g, i, x), n = side_of(g, i, y);
		u64 p = g->by_total ? m.total : m.self;
		u64 q = g->by_total ? n.total : n.self;

		if (p != q)
			return p > q ? -1 : 1;
	}
	return x < y ? -1 : x > y;
}

static void count_event(struct group *g, size_t i)
{
	struct reporter *rp = g->rp;

	vec_each(en, &rp->entries)
		en->self = en->total = en->samples = 0;
	rp->event = g->events[i];
	collect(rp);
	/* its keys number what samples have: each event has its own numbers */
	map_release(&rp->cache);
	vec_each(en, &rp->entries)
		vec_push(&g->sides[i], (struct side){ en->self, en->total, en->samples });
}

/* For each event what it and its callees have, and its own part. */
static size_t group_columns(const struct group *g, struct result *ret, struct column *columns)
{
	const struct reporter *rp = g->rp;
	bool children = has_children(rp);
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		const char *name =
			profile_str(rp->profile, rp->profile->events.items[g->events[i]].name);

		if (children)
			columns[n++] =
				(struct column){ arena_printf(&ret->arena, "%s_children", name),
						 arena_printf(&ret->arena, "%s", name),
						 VALUE_PERCENT, COLUMN_WEIGHT };
		columns[n++] =
			(struct column){ arena_printf(&ret->arena, "%s_self", name),
					 children ? "SELF" : arena_printf(&ret->arena, "%s", name),
					 VALUE_PERCENT, COLUMN_WEIGHT };
		columns[n++] = (struct column){ arena_printf(&ret->arena, "%s_samples", name),
						"SAMPLES", VALUE_COUNT, COLUMN_HIDDEN };
	}
	for (size_t i = 0; i < rp->keys.n; i++)
		columns[n++] = (struct column){ rp->keys.keys[i].name, rp->keys.keys[i].title,
						rp->keys.keys[i].type,
						i + 1 == rp->keys.n ? COLUMN_FILL : 0 };
	return n;
}

/* What the line is shown for. */
static u64 group_key(const struct group *g, size_t event, u32 entry)
{
	struct side s = side_of(g, event, entry);

	return g->by_total || !g->rp->opts->max_lines ? s.total : s.self;
}

/* True when some event has enough of the line. */
static bool group_shows(const struct group *g, u32 entry)
{
	for (size_t i = 0; i < g->n; i++) {
		u64 weight = g->rp->profile->events.items[g->events[i]].weight;
		u64 key = group_key(g, i, entry);

		if (key && percent(key, weight) >= g->rp->opts->percent_limit)
			return true;
	}
	return false;
}

static bool group_counts(const struct group *g, u32 entry)
{
	for (size_t i = 0; i < g->n; i++)
		if (group_key(g, i, entry))
			return true;
	return false;
}

static void group_row(const struct group *g, struct result *ret, struct table *t, u32 entry)
{
	const struct reporter *rp = g->rp;
	struct value *cell = table_row(ret, t)->cells;

	for (size_t i = 0; i < g->n; i++) {
		struct side s = side_of(g, i, entry);
		u64 weight = rp->profile->events.items[g->events[i]].weight;

		if (has_children(rp))
			*cell++ = value_d(VALUE_PERCENT, percent(s.total, weight));
		*cell++ = value_d(VALUE_PERCENT, percent(s.self, weight));
		*cell++ = value_u(VALUE_COUNT, s.samples);
	}
	for (size_t i = 0; i < rp->keys.n; i++)
		*cell++ = rp->keys.keys[i].show(rp->profile, ret, rp->entries.items[entry].key[i]);
}

static void group_table(const struct group *g, struct result *ret)
{
	const struct reporter *rp = g->rp;
	struct column columns[REPORT_KEYS_MOST + 3 * GROUP_EVENTS_MOST];
	size_t n = group_columns(g, ret, columns), shown = 0;
	struct table *t = result_table(ret, "rows", NULL, columns, n);
	VEC(u32) lines = { 0 };
	struct hidden hidden = { 0 };

	for (u32 i = 1; i < rp->entries.len; i++)
		vec_push(&lines, i);
	if (lines.len > 1)
		qsort_r(lines.items, lines.len, sizeof(u32), compare_lines, (void *)(uintptr_t)g);
	vec_each(line, &lines) {
		bool counts = group_counts(g, *line);

		if ((rp->opts->max_lines && shown == rp->opts->max_lines) ||
		    !group_shows(g, *line)) {
			*(counts ? &hidden.more : &hidden.callers) += 1;
			continue;
		}
		group_row(g, ret, t, *line);
		shown++;
	}
	hidden_note(rp, ret, &hidden);
	vec_release(&lines);
}

static void report_group(struct reporter *rp, struct result *ret)
{
	struct group g = { .rp = rp, .by_total = has_children(rp) && rp->opts->by_children };
	const struct profile *p = rp->profile;

	for (size_t i = 0; i < p->events.len; i++) {
		rp->event = (u16)i;
		if (!p->events.items[i].samples)
			continue;
		event_title(rp, ret);
		add_tree(rp, ret);
		if (g.n < GROUP_EVENTS_MOST)
			g.events[g.n++] = (u16)i;
	}
	for (size_t i = 0; i < g.n; i++)
		count_event(&g, i);
	group_table(&g, ret);
	for (size_t i = 0; i < g.n; i++)
		vec_release(&g.sides[i]);
	intern_release(&rp->ids);
	vec_release(&rp->entries);
}

static size_t events_with_samples(const struct profile *p)
{
	size_t n = 0;

	vec_each(ev, &p->events)
		n += ev->samples > 0;
	return n;
}

static bool has_modules(const struct profile *p)
{
	vec_each(f, &p->frames)
		if (f->module)
			return true;
	return false;
}

/* Default keys that this input knows nothing of would be columns of dashes. */
static const char *default_keys(const struct profile *p)
{
	if (has_modules(p))
		return "comm,dso,symbol";
	return has_comms(p) ? "comm,symbol" : "symbol";
}

int report_build(struct profile *p, const struct report_opts *opts, struct result *ret,
		 struct err *e)
{
	struct reporter rp = { .profile = p, .opts = opts };
	/* "+pid": in addition to the usual ones */
	const char *more = opts->sort && opts->sort[0] == '+' ? opts->sort + 1 : NULL;
	_cleanup_free_ char *keys = more ? xasprintf("%s,%s", default_keys(p), more) : NULL;
	const char *sort = keys ? keys : opts->sort;
	int r = report_keys_parse(p, sort ? sort : default_keys(p), &rp.keys, e);

	if (r < 0)
		return r;
	if (!p->samples.len)
		return profile_no_samples(p, e);
	report_facts(p, opts->header, ret);
	rp.by_line = has_key(&rp, "srcline");
	rp.several = events_with_samples(p) > 1;
	if (opts->group && rp.several) {
		report_group(&rp, ret);
		report_health(p, ret);
		return 0;
	}
	for (size_t i = 0; i < p->events.len; i++) {
		rp.event = (u16)i;
		if (p->events.items[i].samples)
			report_event(&rp, ret);
	}
	report_health(p, ret);
	return 0;
}
