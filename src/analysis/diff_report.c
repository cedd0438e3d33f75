/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as tables. */
#include "analysis/chance.h"
#include "analysis/diff.h"
#include "analysis/flame.h"
#include "analysis/flame_names.h"
#include "analysis/report.h"

#include <math.h>

enum { STACK_TEXT_MOST = 4096 };

/* Weight and samples of both sides. */
struct pair {
	u64 weight[2];
	u64 count[2];
};

struct line {
	u32 id; /* frame or stack */
	double delta;
	double order; /* what it is sorted by, largest first */
	enum flame_change change;
};

struct comparison {
	const struct diff *diff;
	struct profile *profile;
	const struct diff_opts *opts;
	u32 *shown;         /* frame -> frame that it is shown as */
	struct pair *self;  /* by frame */
	struct pair *total; /* by frame, recursion counted once */
	u32 *seen;          /* frame -> stamp of the sample that counted it last */
	size_t n_frames;
	struct pair *stacks; /* by stack, self */
	u64 whole[2];
	VEC(struct line) lines;
};

static void add_pair(struct pair *p, int side, const struct profile_sample *s)
{
	p->weight[side] += s->weight;
	p->count[side] += s->count;
}

static void add_sample(struct comparison *c, const struct profile_sample *s, u32 stamp, int side)
{
	const struct stack *stacks = c->profile->stacks.items;

	c->whole[side] += s->weight;
	if (!s->stack)
		return;
	add_pair(&c->stacks[s->stack], side, s);
	add_pair(&c->self[c->shown[stacks[s->stack].frame]], side, s);
	for (u32 at = s->stack; at; at = stacks[at].parent) {
		u32 frame = c->shown[stacks[at].frame];

		if (c->seen[frame] == stamp)
			continue;
		c->seen[frame] = stamp;
		add_pair(&c->total[frame], side, s);
	}
}

static void collect(struct comparison *c)
{
	struct profile *p = c->profile;

	c->shown = flame_shown_frames(p);
	c->n_frames = p->frames.len;
	c->self = xcalloc(c->n_frames, sizeof(*c->self));
	c->total = xcalloc(c->n_frames, sizeof(*c->total));
	c->seen = xcalloc(c->n_frames, sizeof(*c->seen));
	c->stacks = xcalloc(p->stacks.len, sizeof(*c->stacks));
	for (u32 i = 0; i < p->samples.len; i++) {
		const struct profile_sample *s = &p->samples.items[i];

		if (s->event == c->diff->before.event)
			add_sample(c, s, i + 1, 0);
		else if (s->event == c->diff->after.event)
			add_sample(c, s, i + 1, 1);
	}
}

static void comparison_release(struct comparison *c)
{
	free(c->shown);
	free(c->self);
	free(c->total);
	free(c->seen);
	free(c->stacks);
	vec_release(&c->lines);
}

/* --- lines ---------------------------------------------------------------------------------- */

static double percent(const struct comparison *c, const struct pair *p, int side)
{
	/* of one whole for both: after normalisation they are equal, as they are they are not */
	return 100 * (double)p->weight[side] / (double)MAX(MAX(c->whole[0], c->whole[1]), 1ull);
}

static enum flame_change change_of(const struct comparison *c, const struct pair *p)
{
	double chance = chance_of(p->count[1], p->count[0], c->diff->exposure);

	if (p->weight[0] == p->weight[1])
		return CHANGE_NONE;
	if (c->opts->confidence > 0 && chance > 1 - c->opts->confidence)
		return CHANGE_NOISE;
	if (!p->weight[0])
		return CHANGE_NEW;
	if (!p->weight[1])
		return CHANGE_VANISHED;
	return p->weight[1] > p->weight[0] ? CHANGE_MORE : CHANGE_LESS;
}

/* In parts of what there was; new ones are twice as much at least. */
static double relative_growth(const struct pair *p)
{
	return fabs(log2(((double)p->weight[1] + 1) / ((double)p->weight[0] + 1)));
}

static void add_line(struct comparison *c, u32 id, const struct pair *p)
{
	double delta = percent(c, p, 1) - percent(c, p, 0);
	enum flame_change change = change_of(c, p);
	double order = c->opts->relative ? relative_growth(p) : fabs(delta);

	/* what is only noise comes after all that is not */
	if (change == CHANGE_NOISE || change == CHANGE_NONE)
		order -= 1e6;
	vec_push(&c->lines, (struct line){ id, delta, order, change });
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static size_t lines_shown(const struct comparison *c)
{
	return c->opts->max_lines ? MIN(c->lines.len, (size_t)c->opts->max_lines) : c->lines.len;
}

static const char *change_word(enum flame_change c)
{
	switch (c) {
	case CHANGE_NONE: return "same";
	case CHANGE_NOISE: return "noise";
	case CHANGE_MORE: return "more";
	case CHANGE_LESS: return "less";
	case CHANGE_NEW: return "new";
	case CHANGE_VANISHED: return "vanished";
	}
	return "";
}

static enum style change_style(enum flame_change c)
{
	switch (c) {
	case CHANGE_MORE:
	case CHANGE_NEW: return STYLE_BAD;
	case CHANGE_LESS:
	case CHANGE_VANISHED: return STYLE_GOOD;
	default: return STYLE_DIM;
	}
}

static void note_hidden(const struct comparison *c, struct result *ret, const char *what)
{
	size_t hidden = c->lines.len - lines_shown(c);

	if (hidden)
		result_note(ret, NOTE_INFO, "--all shows them",
			    "%zu %s that changed less are not "
			    "shown",
			    hidden, what);
}

/* "x3.2", "-75%": growth in parts of what there was. */
static struct value relative_value(const struct pair *p)
{
	if (!p->weight[0])
		return (struct value){ 0 };
	return value_d(VALUE_PERCENT,
		       100 * ((double)p->weight[1] - (double)p->weight[0]) / (double)p->weight[0]);
}

/* --- functions ------------------------------------------------------------------------------ */

static const struct column function_columns[] = {
	{ "delta", "DELTA", VALUE_PERCENT, 0 },
	{ "change", "CHANGE", VALUE_TEXT, 0 },
	{ "before", "BEFORE", VALUE_PERCENT, 0 },
	{ "after", "AFTER", VALUE_PERCENT, 0 },
	{ "relative", "RELATIVE", VALUE_PERCENT, 0 },
	{ "self_delta", "SELF DELTA", VALUE_PERCENT, 0 },
	{ "self_before", "SELF BEFORE", VALUE_PERCENT, COLUMN_HIDDEN },
	{ "self_after", "SELF AFTER", VALUE_PERCENT, COLUMN_HIDDEN },
	{ "samples_before", "SAMPLES BEFORE", VALUE_COUNT, COLUMN_HIDDEN },
	{ "samples_after", "SAMPLES AFTER", VALUE_COUNT, COLUMN_HIDDEN },
	{ "module", "MODULE", VALUE_TEXT, COLUMN_HIDDEN },
	{ "symbol", "FUNCTION", VALUE_TEXT, COLUMN_FILL },
};

static void function_row(const struct comparison *c, struct result *ret, struct table *t,
			 const struct line *l)
{
	const struct frame *f = &c->profile->frames.items[l->id];
	const struct pair *total = &c->total[l->id], *self = &c->self[l->id];
	struct row *row = table_row(ret, t);

	row->style = change_style(l->change);
	row->cells[0] = value_d(VALUE_PERCENT, l->delta);
	row->cells[1] = value_text(ret, change_word(l->change));
	row->cells[2] = value_d(VALUE_PERCENT, percent(c, total, 0));
	row->cells[3] = value_d(VALUE_PERCENT, percent(c, total, 1));
	row->cells[4] = relative_value(total);
	row->cells[5] = value_d(VALUE_PERCENT, percent(c, self, 1) - percent(c, self, 0));
	row->cells[6] = value_d(VALUE_PERCENT, percent(c, self, 0));
	row->cells[7] = value_d(VALUE_PERCENT, percent(c, self, 1));
	row->cells[8] = value_u(VALUE_COUNT, total->count[0]);
	row->cells[9] = value_u(VALUE_COUNT, total->count[1]);
	row->cells[10] = value_text(ret, profile_str(c->profile, f->module));
	row->cells[11] = value_text(ret, profile_str(c->profile, f->name));
}

static void functions_table(struct comparison *c, struct result *ret)
{
	struct table *t = result_table(ret, "functions", "functions, with all that they called",
				       function_columns, ARRAY_SIZE(function_columns));

	vec_clear(&c->lines);
	for (u32 i = 1; i < c->n_frames; i++)
		if (c->total[i].weight[0] || c->total[i].weight[1])
			add_line(c, i, &c->total[i]);
	vec_sort(&c->lines, compare_lines);
	for (size_t i = 0; i < lines_shown(c); i++)
		function_row(c, ret, t, &c->lines.items[i]);
	note_hidden(c, ret, "functions");
}

/* --- stacks --------------------------------------------------------------------------------- */

static const struct column stack_columns[] = {
	{ "delta", "DELTA", VALUE_PERCENT, 0 },
	{ "change", "CHANGE", VALUE_TEXT, 0 },
	{ "before", "BEFORE", VALUE_PERCENT, 0 },
	{ "after", "AFTER", VALUE_PERCENT, 0 },
	{ "samples_before", "SAMPLES BEFORE", VALUE_COUNT, COLUMN_HIDDEN },
	{ "samples_after", "SAMPLES AFTER", VALUE_COUNT, COLUMN_HIDDEN },
	{ "stack", "STACK", VALUE_TEXT, COLUMN_FILL },
};

/* From the leaf on, which is what differs. */
static void stack_text(const struct comparison *c, u32 stack, struct buf *out)
{
	const struct stack *stacks = c->profile->stacks.items;

	for (; stack; stack = stacks[stack].parent) {
		const struct frame *f = &c->profile->frames.items[c->shown[stacks[stack].frame]];

		if (out->len > STACK_TEXT_MOST) {
			buf_addstr(out, " < ...");
			return;
		}
		buf_addf(out, "%s%s", out->len ? " < " : "", profile_str(c->profile, f->name));
	}
}

static void stacks_table(struct comparison *c, struct result *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct table *t = result_table(ret, "stacks", "stacks, from the leaf to the root",
				       stack_columns, ARRAY_SIZE(stack_columns));

	vec_clear(&c->lines);
	for (u32 i = 1; i < c->profile->stacks.len; i++) {
		enum flame_change change = change_of(c, &c->stacks[i]);

		if (change != CHANGE_NONE && change != CHANGE_NOISE)
			add_line(c, i, &c->stacks[i]);
	}
	vec_sort(&c->lines, compare_lines);
	for (size_t i = 0; i < lines_shown(c); i++) {
		const struct line *l = &c->lines.items[i];
		const struct pair *p = &c->stacks[l->id];
		struct row *row = table_row(ret, t);

		buf_reset(&text);
		stack_text(c, l->id, &text);
		row->style = change_style(l->change);
		row->cells[0] = value_d(VALUE_PERCENT, l->delta);
		row->cells[1] = value_text(ret, change_word(l->change));
		row->cells[2] = value_d(VALUE_PERCENT, percent(c, p, 0));
		row->cells[3] = value_d(VALUE_PERCENT, percent(c, p, 1));
		row->cells[4] = value_u(VALUE_COUNT, p->count[0]);
		row->cells[5] = value_u(VALUE_COUNT, p->count[1]);
		row->cells[6] = value_text(ret, buf_str(&text));
	}
	note_hidden(c, ret, "stacks");
}

/* --- all ------------------------------------------------------------------------------------ */

static void side_facts(const struct profile *p, const struct diff_side *s, const char *side,
		       struct result *ret)
{
	_cleanup_free_ char *samples = xasprintf("samples_%s", side);
	_cleanup_free_ char *weight = xasprintf("weight_%s", side);

	result_fact(ret, side, side,
		    value_textf(ret, "%s, %llu samples%s", profile_str(p, s->name),
				(unsigned long long)s->samples, s->lost ? " (some lost)" : ""));
	result_fact(ret, samples, NULL, value_u(VALUE_COUNT, s->samples));
	result_fact(ret, weight, NULL, value_d(VALUE_NUMBER, s->weight));
}

static void facts(const struct diff *d, const struct profile *p, const struct diff_opts *opts,
		  struct result *ret)
{
	side_facts(p, &d->before, "before", ret);
	side_facts(p, &d->after, "after", ret);
	result_fact(ret, "factor", NULL, value_d(VALUE_NUMBER, d->factor));
	result_fact(ret, "confidence", NULL, value_d(VALUE_PERCENT, 100 * opts->confidence));
	result_loss(ret, "lost_samples_before", "samples lost in the earlier recording",
		    d->before.lost);
	result_loss(ret, "lost_samples_after", "samples lost in the later recording",
		    d->after.lost);
	if (p->bad_records)
		result_loss(ret, "bad_records", "lines or records that could not be read",
			    p->bad_records);
}

static void damage(const struct profile *p, const struct diff_side *s, struct result *ret)
{
	if (s->fault)
		result_note(ret, NOTE_WARNING, "everything before the damage is compared",
			    "'%s': %s", profile_str(p, s->name), profile_str(p, s->fault));
}

void diff_report(const struct diff *d, struct profile *p, const struct diff_opts *opts,
		 struct result *ret)
{
	struct comparison c = { .diff = d, .profile = p, .opts = opts };

	facts(d, p, opts, ret);
	collect(&c);
	functions_table(&c, ret);
	stacks_table(&c, ret);
	damage(p, &d->before, ret);
	damage(p, &d->after, ret);
	comparison_release(&c);
}
