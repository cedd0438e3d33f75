/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/stat.h"

#include <math.h>

#include "base/buf.h"
#include "base/fmt.h"

void stat_init(struct stat_set *s, enum stat_by by, bool whole, bool scale)
{
	*s = (struct stat_set){ .by = by, .whole = whole, .scale = scale };
}

static void release_spans(struct stat_set *s)
{
	vec_each(span, &s->spans)
		free(span->sums);
	vec_clear(&s->spans);
}

void stat_restart(struct stat_set *s)
{
	memset(s->past, 0, s->events.len * s->n_places * sizeof(*s->past));
}

void stat_forget(struct stat_set *s)
{
	release_spans(s);
}

void stat_release(struct stat_set *s)
{
	release_spans(s);
	vec_release(&s->spans);
	vec_release(&s->events);
	vec_release(&s->groups);
	free(s->group_of);
	free(s->past);
	arena_release(&s->arena);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool is_clock(const struct event *ev)
{
	return ev->attr.type == PERF_TYPE_SOFTWARE && (ev->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
						       ev->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

static u32 context_of(const struct perf_event_attr *a)
{
	return (u32)(a->exclude_user | a->exclude_kernel << 1 | a->exclude_hv << 2 |
		     a->exclude_host << 3 | a->exclude_idle << 4);
}

static void add_event(struct stat_set *s, const struct event *ev, const struct counting *c,
		      size_t i)
{
	const struct err *failure = counting_failure(c, i);
	bool user = counting_narrowed(c, i);
	struct stat_event *out = vec_new(&s->events);

	out->name = user ? arena_printf(&s->arena, "%s%s", ev->name,
					strchr(ev->name, ':') && !ev->sysname ? "u" : ":u")
			 : arena_strdup(&s->arena, ev->name);
	out->role = stat_role_of(ev);
	out->context = context_of(&ev->attr) | (user ? 1 << 1 : 0);
	if (is_clock(ev)) {
		out->unit = "msec";
		out->scale = 1e-6;
	} else {
		out->unit = ev->unit ? arena_strdup(&s->arena, ev->unit) : "";
		out->scale = ev->scale > 0 ? ev->scale : 1;
	}
	out->fraction = floor(out->scale) != out->scale;
	if (failure) {
		out->why = failure->what ? arena_strdup(&s->arena, failure->what)
					 : "the threads have ended";
		out->hint = failure->hint ? arena_strdup(&s->arena, failure->hint) : NULL;
	}
}

/* --- groups ----------------------------------------------------------------------------------- */

static void ids_of_cpu(enum stat_by by, const struct topology_cpu *c, s32 cpu, s32 ret[3])
{
	s32 package = c ? c->package : -1, die = c && c->die >= 0 ? c->die : 0;

	ret[0] = ret[1] = ret[2] = 0;
	switch (by) {
	case STAT_CPU: ret[0] = cpu; break;
	case STAT_NODE: ret[0] = c ? c->node : -1; break;
	case STAT_SOCKET: ret[0] = package; break;
	default:
		ret[0] = package;
		ret[1] = die;
		if (by == STAT_CORE)
			ret[2] = c ? c->core : -1;
		else if (by == STAT_CLUSTER)
			ret[2] = c ? c->cluster : -1;
		break;
	}
}

static u32 group_of_ids(struct stat_set *s, const s32 ids[3])
{
	for (u32 i = 0; i < s->groups.len; i++) {
		if (memcmp(s->groups.items[i].id, ids, sizeof(s->groups.items[i].id)) == 0)
			return i;
	}
	struct stat_group *g = vec_new(&s->groups);

	memcpy(g->id, ids, sizeof(g->id));
	return (u32)s->groups.len - 1;
}

static int group_order(const void *a, const void *b)
{
	const struct stat_group *x = a, *y = b;

	for (size_t i = 0; i < ARRAY_SIZE(x->id); i++) {
		if (x->id[i] != y->id[i])
			return x->id[i] < y->id[i] ? -1 : 1;
	}
	return 0;
}

void stat_label_thread(struct stat_set *s, struct stat_group *g, const char *comm)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	fmt_clean(&text, comm, strlen(comm));
	g->label = arena_printf(&s->arena, "%s-%d", buf_str(&text), g->id[0]);
}

static const char *label_of(struct stat_set *s, const struct stat_group *g, const struct target *t)
{
	switch (s->by) {
	case STAT_ALL:
	case STAT_THREAD: return NULL;
	case STAT_CGROUP: return arena_strdup(&s->arena, t->cgroups.items[g->id[0]].path);
	case STAT_CPU: return arena_printf(&s->arena, "CPU%d", g->id[0]);
	case STAT_SOCKET: return arena_printf(&s->arena, "S%d", g->id[0]);
	case STAT_NODE: return arena_printf(&s->arena, "N%d", g->id[0]);
	case STAT_DIE: return arena_printf(&s->arena, "S%d-D%d", g->id[0], g->id[1]);
	case STAT_CLUSTER:
		return arena_printf(&s->arena, "S%d-D%d-CLS%d", g->id[0], g->id[1], g->id[2]);
	case STAT_CORE: return arena_printf(&s->arena, "S%d-D%d-C%d", g->id[0], g->id[1], g->id[2]);
	}
	return NULL;
}

static void ids_of_place(const struct stat_set *s, const struct count_place *p,
			 const struct topology *topology, s32 ret[3])
{
	ret[0] = ret[1] = ret[2] = 0;
	switch (s->by) {
	case STAT_ALL: break;
	case STAT_THREAD: ret[0] = p->tid; break;
	case STAT_CGROUP: ret[0] = p->cgroup; break;
	default: ids_of_cpu(s->by, topology_cpu(topology, (u32)p->cpu), p->cpu, ret); break;
	}
}

/* Counted once for each CPU, even where several threads are counted on it. */
static void count_cpus(struct stat_set *s, const struct count_place *places)
{
	for (size_t i = 0; i < s->n_places; i++) {
		bool seen = places[i].cpu < 0;

		for (size_t j = 0; j < i && !seen; j++)
			seen = places[j].cpu == places[i].cpu;
		s->groups.items[s->group_of[i]].cpus += !seen;
	}
}

static void make_groups(struct stat_set *s, const struct counting *c, const struct target *t,
			const struct topology *topology)
{
	const struct count_place *places = counting_places(c, &s->n_places);
	s32 ids[3];

	for (size_t i = 0; i < s->n_places; i++) {
		ids_of_place(s, &places[i], topology, ids);
		(void)group_of_ids(s, ids);
	}
	if (!s->groups.len)
		(void)vec_new(&s->groups);
	vec_sort(&s->groups, group_order);
	s->group_of = xcalloc(s->n_places ? s->n_places : 1, sizeof(*s->group_of));
	for (size_t i = 0; i < s->n_places; i++) {
		ids_of_place(s, &places[i], topology, ids);
		s->group_of[i] = group_of_ids(s, ids);
	}
	if (s->by != STAT_ALL && s->by != STAT_THREAD && s->by != STAT_CGROUP)
		count_cpus(s, places);
	vec_each(g, &s->groups)
		g->label = s->n_places ? label_of(s, g, t) : NULL;
}

void stat_setup(struct stat_set *s, const struct event_list *events, const struct counting *c,
		const struct target *target, const struct topology *topology)
{
	for (size_t i = 0; i < events->events.len; i++)
		add_event(s, &events->events.items[i], c, i);
	make_groups(s, c, target, topology);
	s->past = xcalloc(MAX(s->events.len * s->n_places, 1), sizeof(*s->past));
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Counters of the kernel only grow; one that seems to shrink has been reset. */
static u64 since(u64 now, u64 past)
{
	return now >= past ? now - past : now;
}

struct stat_span *stat_take(struct stat_set *s, const struct counting *c)
{
	size_t n_groups = s->groups.len;
	struct stat_span *span = vec_new(&s->spans);

	span->sums = xcalloc(MAX(s->events.len * n_groups, 1), sizeof(*span->sums));
	for (size_t event = 0; event < s->events.len; event++) {
		for (size_t place = 0; place < s->n_places; place++) {
			const struct count *now = counting_at(c, event, place);
			struct count *past = &s->past[event * s->n_places + place];
			struct count *sum = &span->sums[event * n_groups + s->group_of[place]];

			sum->value += since(now->value, past->value);
			sum->enabled += since(now->enabled, past->enabled);
			sum->running += since(now->running, past->running);
			*past = *now;
		}
	}
	return span;
}
