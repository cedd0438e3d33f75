/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/set.h"

#define SOURCE(name) extern const struct counter_source source_##name;
#include "sources.inc"
#undef SOURCE

static const struct counter_source *const sources[] = {
#define SOURCE(name) &source_##name,
#include "sources.inc"
#undef SOURCE
};

const struct counter_source *const *counter_sources(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(sources);
	return sources;
}

void counter_set_init(struct counter_set *s)
{
	*s = (struct counter_set){ .page_size = (u64)sysconf(_SC_PAGESIZE) };
}

void counter_set_release(struct counter_set *s)
{
	arena_release(&s->arena);
	vec_release(&s->counters);
	vec_release(&s->series);
	intern_release(&s->names);
	intern_release(&s->instances);
	map_release(&s->by_key);
}

static u32 add_row(struct counter_set *s, const struct counter *row, u32 source)
{
	u32 id = intern_str(&s->names, row->name);

	/* a second row of the same name would be another counter with its number */
	if (id <= s->counters.len)
		return id - 1;
	vec_push(&s->counters, ((struct set_counter){ row, NULL, source, SET_NONE, SET_NONE }));
	return id - 1;
}

void counter_set_add_tables(struct counter_set *s)
{
	for (u32 i = 0; i < ARRAY_SIZE(sources); i++)
		for (size_t k = 0; k < sources[i]->n_rows; k++)
			add_row(s, &sources[i]->rows[k], i);
}

u32 counter_set_find(const struct counter_set *s, const char *name)
{
	u32 id = intern_find(&s->names, name, strlen(name));

	return id ? id - 1 : SET_NONE;
}

u32 counter_set_add(struct counter_set *s, const char *name, const struct counter *like, u32 source)
{
	struct counter *row;
	u32 known = counter_set_find(s, name);

	if (known != SET_NONE)
		return known;
	if (s->counters.len >= SET_COUNTERS_MOST)
		return SET_NONE;
	row = arena_dup(&s->arena, like, sizeof(*like));
	row->name = arena_strdup(&s->arena, name);
	row->field = like->field ? arena_strdup(&s->arena, like->field) : NULL;
	return add_row(s, row, source);
}

static u64 key_of(u32 counter, u32 instance)
{
	return (u64)counter << 32 | instance;
}

u32 counter_set_lookup(const struct counter_set *s, u32 counter, u32 instance)
{
	return (u32)map_get(&s->by_key, key_of(counter, instance), SET_NONE);
}

u32 counter_set_series(struct counter_set *s, u32 counter, u32 instance)
{
	u32 id = counter_set_lookup(s, counter, instance);
	struct set_counter *c = &s->counters.items[counter];

	if (id != SET_NONE)
		return id;
	if (s->series.len >= SET_SERIES_MOST) {
		s->full++;
		return SET_NONE;
	}
	id = (u32)s->series.len;
	vec_push(&s->series, ((struct series){ counter, instance, SET_NONE }));
	map_put(&s->by_key, key_of(counter, instance), id);
	if (c->last == SET_NONE)
		c->first = id;
	else
		s->series.items[c->last].next = id;
	c->last = id;
	return id;
}

double counter_factor(const struct counter_set *s, const struct counter *row)
{
	switch (row->scale) {
	case SCALE_KIB: return 1024;
	case SCALE_PAGE: return (double)s->page_size;
	case SCALE_SECTOR: return 512;
	case SCALE_TICK: return 1e7;
	case SCALE_MS: return 1e6;
	case SCALE_US: return 1e3;
	case SCALE_CENTI: return 0.01;
	case SCALE_MILLI: return 0.001;
	case SCALE_KHZ: return 1000;
	case SCALE_ONE: break;
	}
	return 1;
}
