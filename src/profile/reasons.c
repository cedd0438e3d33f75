/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/reasons.h"

static int most_places(const void *a, const void *b)
{
	const struct profile_unnamed *x = a, *y = b;

	return (x->places < y->places) - (x->places > y->places);
}

/* Why there are no names, of files where none was found. */
static void take_unnamed(struct profile *p, const struct symbols *symbols)
{
	const char *hint, *why = symbols_kernel_why(symbols, &hint);
	struct module_info m;

	if (why)
		vec_push(&p->unnamed, (struct profile_unnamed){
					      .module = profile_string(p, "[kernel]"),
					      .why = profile_string(p, why),
					      .hint = profile_string(p, hint),
					      .places = symbols_kernel_nameless(symbols),
				      });
	for (u32 i = 1; i <= symbols_module_count(symbols); i++) {
		if (symbols_module_info(symbols, i, &m) && m.why && m.nameless && !m.named)
			vec_push(&p->unnamed, (struct profile_unnamed){
						      .module = profile_string(p, m.short_name),
						      .why = profile_string(p, m.why),
						      .hint = profile_string(p, m.hint),
						      .places = m.nameless,
					      });
	}
	vec_sort(&p->unnamed, most_places);
}

/* Samples by the module they were taken in; modules of which a line is known are left out. */
static void count_lineless(const struct profile *p, struct map *ret)
{
	vec_each(s, &p->samples) {
		const struct frame *f = s->stack ? profile_frame_of(p, s->stack) : NULL;

		if (f && f->module && (f->kind == FRAME_USER || f->kind == FRAME_INLINED))
			(*map_at(ret, f->module))++;
	}
	vec_each(f, &p->frames)
		if (f->file)
			map_del(ret, f->module);
}

static void take_lineless(struct profile *p, struct symbols *symbols)
{
	_cleanup_map_ struct map samples = MAP_INIT;
	struct module_info m;

	count_lineless(p, &samples);
	for (u32 i = 1; i <= symbols_module_count(symbols); i++) {
		if (!symbols_module_info(symbols, i, &m))
			continue;
		u32 module = profile_string(p, m.path);
		u64 n = map_get(&samples, module, 0);
		const char *hint, *why = n ? symbols_lines_why(symbols, i, &hint) : NULL;

		if (!why || !map_del(&samples, module))
			continue;
		vec_push(&p->lineless,
			 (struct profile_unnamed){ .module = profile_string(p, m.short_name),
						   .why = profile_string(p, why),
						   .hint = profile_string(p, hint),
						   .places = n });
	}
	vec_sort(&p->lineless, most_places);
}

void reasons_take(struct profile *p, struct symbols *symbols, bool lines)
{
	take_unnamed(p, symbols);
	if (lines)
		take_lineless(p, symbols);
}
