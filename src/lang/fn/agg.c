/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose result only a map can hold. Their code is in gen/map.c. */
#include "lang/check/strict.h"
#include "lang/gen/gen.h"

enum { LHIST_MAX_BUCKETS = 1000, HIST_MAX_BITS = 5 };

static void need_number(struct comp *c, const struct node *n, u32 i)
{
	const struct type *t = strict_type(c, n->kids[i], n->kids[i]->type);

	if (t->kind != T_NONE && (!type_is_number(t) || t != n->kids[i]->type))
		check_error(c, n, "%s() only supports integer arguments (%s provided)", n->str,
			    t->kind == T_STR ? "string" : check_type_text(c, t));
}

static void simple(struct comp *c, struct node *n, enum type_kind kind)
{
	struct type *t = type_new(&c->types, kind, 8);

	if (n->n_kids) {
		need_number(c, n, 0);
		t->is_signed = n->kids[0]->type->is_signed;
	}
	n->type = t;
}

static void check_count(struct comp *c, struct node *n)
{
	simple(c, n, T_COUNT);
}

static void check_sum(struct comp *c, struct node *n)
{
	simple(c, n, T_SUM);
}

static void check_min(struct comp *c, struct node *n)
{
	simple(c, n, T_MIN);
}

static void check_max(struct comp *c, struct node *n)
{
	simple(c, n, T_MAX);
}

static void check_avg(struct comp *c, struct node *n)
{
	simple(c, n, T_AVG);
}

static void check_stats(struct comp *c, struct node *n)
{
	simple(c, n, T_STATS);
}

static bool constant(struct comp *c, const struct node *n, u32 i, const char *what)
{
	if (n->kids[i]->folded)
		return true;
	if (n->kids[i]->type->kind != T_NONE)
		check_error(c, n, "%s() %s must be a literal number", n->str, what);
	return false;
}

static void check_hist(struct comp *c, struct node *n)
{
	struct type *t = type_new(&c->types, T_HIST, 8);

	need_number(c, n, 0);
	t->p[0] = (s64)c->config.hist_bits;
	if (n->n_kids == 1 && n->kids[0]->type->kind == T_INT &&
	    n->kids[0]->type->p[0] == UNIT_DURATION &&
	    c->config.latency_bits > c->config.hist_bits) {
		t->p[0] = (s64)c->config.latency_bits;
		t->p[1] = 1;
	}
	if (n->n_kids > 1 && constant(c, n, 1, "bits")) {
		t->p[0] = (s64)n->kids[1]->ival;
		if (t->p[0] < 0 || t->p[0] > HIST_MAX_BITS) {
			check_error(c, n, "hist() bits %lld must be 0..5", (long long)t->p[0]);
			t->p[0] = 0;
		}
	}
	n->type = t;
}

static void check_lhist(struct comp *c, struct node *n)
{
	struct type *t = type_new(&c->types, T_LHIST, 8);
	s64 min, max, step;

	t->p[1] = t->p[2] = 1;
	n->type = t;
	need_number(c, n, 0);
	if (!constant(c, n, 1, "min") || !constant(c, n, 2, "max") || !constant(c, n, 3, "step"))
		return;
	min = (s64)n->kids[1]->ival;
	max = (s64)n->kids[2]->ival;
	step = (s64)n->kids[3]->ival;
	if (min < 0 && c->opts->compat)
		check_error(c, n, "lhist: invalid min value (must be non-negative literal)");
	else if (step <= 0)
		check_error(c, n, "lhist() step must be >= 1 (%lld provided)", (long long)step);
	else if (min > max)
		check_error(c, n,
			    "lhist() min must be less than max (provided min %lld and max %lld)",
			    (long long)min, (long long)max);
	else if ((u64)max - (u64)min < (u64)step)
		check_error(c, n,
			    "lhist() step is too large for the given range (provided step %lld "
			    "for range %lld)",
			    (long long)step, (long long)(max - min));
	else if (((u64)max - (u64)min) / (u64)step > LHIST_MAX_BUCKETS)
		check_error(c, n, "lhist() too many buckets, must be <= 1000 (would need %llu)",
			    (unsigned long long)(((u64)max - (u64)min) / (u64)step));
	else {
		t->p[0] = min;
		t->p[1] = max;
		t->p[2] = step;
	}
}

static void tseries_kind(struct comp *c, struct node *n, struct type *t)
{
	static const struct {
		const char *name;
		enum type_kind kind;
	} kinds[] = { { "avg", T_AVG }, { "max", T_MAX }, { "min", T_MIN }, { "sum", T_SUM } };

	if (n->n_kids < 4)
		return;
	if (n->kids[3]->kind == N_STR) {
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			if (streq(n->kids[3]->str, kinds[i].name)) {
				t->p[2] = kinds[i].kind;
				return;
			}
		}
	}
	check_error(c, n, "tseries() expects avg, max, min or sum as aggregation");
}

static void check_tseries(struct comp *c, struct node *n)
{
	struct type *t = type_new(&c->types, T_TSERIES, 8);
	u64 interval, buckets;

	if (c->config.no_tseries)
		check_error(c, n,
			    "tseries feature is not enabled: unstable_tseries=enable allows it");
	if (!c->config.tseries)
		advise_unstable(c, "tseries");
	t->p[0] = t->p[1] = 1;
	n->type = t;
	need_number(c, n, 0);
	tseries_kind(c, n, t);
	if (!constant(c, n, 1, "interval") || !constant(c, n, 2, "number of intervals"))
		return;
	interval = n->kids[1]->ival;
	buckets = n->kids[2]->ival;
	if (!interval || (s64)interval < 0)
		check_error(c, n, "tseries() interval_ns must be >= 1");
	else if (!buckets || buckets > LHIST_MAX_BUCKETS)
		check_error(c, n, "tseries() num_intervals must be 1..1000");
	else {
		t->p[0] = (s64)interval;
		t->p[1] = (s64)buckets;
	}
}

static void emit_agg(struct gen *g, struct node *n, struct val *ret)
{
	(void)ret;
	gen_fail(g, n, "this function can only be assigned to a map");
}

const struct fn fn_agg_table[] = {
	{ "count", 0, 0, FN_AGG, check_count, emit_agg },
	{ "sum", 1, 1, FN_AGG, check_sum, emit_agg },
	{ "min", 1, 1, FN_AGG, check_min, emit_agg },
	{ "max", 1, 1, FN_AGG, check_max, emit_agg },
	{ "avg", 1, 1, FN_AGG, check_avg, emit_agg },
	{ "stats", 1, 1, FN_AGG, check_stats, emit_agg },
	{ "hist", 1, 2, FN_AGG, check_hist, emit_agg },
	{ "lhist", 4, 4, FN_AGG, check_lhist, emit_agg },
	{ "tseries", 3, 4, FN_AGG, check_tseries, emit_agg },
	{ 0 },
};
