/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hottest functions, live; of one function its callers and source lines. */
#include "top/screens.h"

#include "base/fmt.h"

static double percent(u64 part, u64 whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && *path == '/' ? slash + 1 : path;
}

/* --- the list --------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ "SELF%", 6, true },
	{ "TOTAL%", 6, true },
	{ "MODULE", 24, false },
	{ "FUNCTION", 0, false },
};

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct profile_frame *p = ctx;
	const struct live_function *f = &p->functions.items[row];
	double share = percent(column ? f->total : f->self, p->weight);

	switch (column) {
	case 0:
	case 1:
		buf_addf(out, "%.2f", share);
		return share >= 10 ? ROLE_BAD : share >= 3 ? ROLE_WARN : ROLE_TEXT;
	case 2: buf_addstr(out, base_name(f->module)); break;
	default: buf_addf(out, "%s %s", f->kind == FRAME_KERNEL ? "[k]" : "[.]", f->name);
	}
	return f->kind == FRAME_KERNEL ? ROLE_KERNEL : ROLE_TEXT;
}

/* --- one function ----------------------------------------------------------------------------- */

struct details {
	const struct profile_frame *p;
	bool lines;
};

static const struct table_column caller_columns[] = { { "SHARE%", 6, true },
						      { "CALLED FROM", 0, false } };
static const struct table_column line_columns[] = { { "SELF%", 6, true },
						    { "SOURCE LINE", 0, false } };

static enum role detail_cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct details *d = ctx;
	const struct live_detail *at =
		d->lines ? &d->p->lines.items[row] : &d->p->callers.items[row];

	if (column)
		buf_addstr(out, at->text);
	else
		buf_addf(out, "%.2f", percent(at->weight, d->p->weight));
	return ROLE_TEXT;
}

static void draw_function(struct top *t, struct rect r)
{
	struct details d = { .p = t->profile };
	const struct scope *s = top_scope(t);
	int lines = MIN((int)t->profile->lines.len + 1, MAX(r.h / 2, 2));
	struct table_view view = { .n_columns = 2, .sorted = 0, .cell = detail_cell, .ctx = &d };
	struct list none = { .cursor = -1 };
	u64 self = 0;

	vec_each(f, &t->profile->functions)
		if (streq(f->name, s->function))
			self = f->self;
	grid_textf(&t->grid, r.x, r.y, r.w, ROLE_BOLD, "%s  %s: on %.1f%% of a CPU, itself %.1f%%",
		   s->function, base_name(s->module),
		   percent(t->profile->samples,
			   (u64)(t->profile->seconds * (double)t->profile->frequency) + 1),
		   percent(self, t->profile->weight));
	r.y++;
	r.h--;
	if (t->profile->lines.len) {
		d.lines = true;
		view.columns = line_columns;
		table_draw(&t->grid, (struct rect){ r.x, r.y, r.w, lines }, &view, &none,
			   (int)t->profile->lines.len);
		/* a list without a cursor */
		r.y += lines;
		r.h -= lines;
	}
	d.lines = false;
	view.columns = caller_columns;
	table_draw(&t->grid, r, &view, &t->list, (int)t->profile->callers.len);
}

/* --- the screen ------------------------------------------------------------------------------- */

static void draw_head(struct top *t, struct rect r)
{
	const struct profile_frame *p = t->profile;
	_cleanup_buf_ struct buf text = BUF_INIT;

	fmt_count(&text, p->samples);
	buf_addf(&text, " samples of %s in %.0f s", p->event, p->seconds);
	if (p->user_stacks)
		buf_addf(&text, ", %.1f%% of user stacks complete",
			 percent(p->user_stacks - p->cut, p->user_stacks));
	if (p->lost)
		buf_addf(&text, ", %llu lost", (unsigned long long)p->lost);
	grid_text(&t->grid, r.x, r.y, r.w, buf_str(&text), p->lost ? ROLE_WARN : ROLE_DIM);
}

static void draw(struct top *t, struct rect r)
{
	const struct table_view view = {
		.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.sorted = 0,
		.cell = cell,
		.ctx = t->profile,
	};

	if (!profile_is_there(t, r))
		return;
	draw_head(t, r);
	r.y++;
	r.h--;
	if (*top_scope(t)->function)
		draw_function(t, r);
	else
		table_draw(&t->grid, r, &view, &t->list, (int)t->profile->functions.len);
}

bool profile_is_there(struct top *t, struct rect r)
{
	const struct profile_frame *p = t->profile;

	if (!p && t->o.input) {
		grid_text(&t->grid, r.x, r.y, r.w, "the recording holds no samples", ROLE_DIM);
		return false;
	}
	if (!p) {
		grid_text(&t->grid, r.x, r.y, r.w, "sampling begins...", ROLE_DIM);
		return false;
	}
	if (p->why) {
		grid_text(&t->grid, r.x, r.y, r.w, p->why, ROLE_BAD);
		grid_text(&t->grid, r.x, r.y + 1, r.w, p->hint, ROLE_TEXT);
		return false;
	}
	if (!p->samples) {
		grid_textf(&t->grid, r.x, r.y, r.w, ROLE_DIM,
			   p->cold ? "nothing was waited for in the last second"
				   : "no sample in the last %.0f s: it does not run",
			   p->seconds);
		return false;
	}
	return true;
}

void narrow_to_function(struct top *t, const char *name, const char *module)
{
	struct scope *s = top_narrow(t, "%s", name);

	snprintf(s->function, sizeof(s->function), "%s", name);
	snprintf(s->module, sizeof(s->module), "%s", module);
	top_go(t, top_screen_find("functions"));
	t->list = (struct list){ 0 };
	top_ask(t);
}

static bool key_pressed(struct top *t, const struct input *in)
{
	const struct profile_frame *p = t->profile;

	if (in->key != TUI_ENTER && in->key != TUI_DOUBLE_CLICK)
		return list_key(&t->list, in);
	if (*top_scope(t)->function)
		top_go(t, top_screen_find("flame"));
	else if (p && (size_t)t->list.cursor < p->functions.len)
		narrow_to_function(t, p->functions.items[t->list.cursor].name,
				   p->functions.items[t->list.cursor].module);
	return true;
}

static void explain(struct top *t, struct buf *out)
{
	buf_addf(out,
		 "SELF%%   samples that hit the function itself\n"
		 "TOTAL%%  samples with the function anywhere on the stack\n\n"
		 "from: perf events, %llu times a second on each CPU; stacks by the CFI tables\n"
		 "of the files, without stopping anybody. [k] code of the kernel, [.] of "
		 "programs.\n\n"
		 "Enter: who calls it, and its source lines. 4: all of it as a flame graph.\n"
		 "fathom record -p PID keeps samples for later.\n",
		 (unsigned long long)t->o.frequency);
}

static void result(struct top *t, struct result *r)
{
	static const struct column all[] = {
		{ "self_percent", "SELF%", VALUE_PERCENT, COLUMN_WEIGHT },
		{ "total_percent", "TOTAL%", VALUE_PERCENT, 0 },
		{ "module", "MODULE", VALUE_TEXT, 0 },
		{ "function", "FUNCTION", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *table = result_table(r, "functions", NULL, all, ARRAY_SIZE(all));

	if (!t->profile)
		return;
	if (t->profile->why)
		result_note(r, NOTE_WARNING, t->profile->hint, "%s", t->profile->why);
	result_fact(r, "samples", "samples", value_u(VALUE_COUNT, t->profile->samples));
	result_loss(r, "lost_samples", "samples lost because the ring was full", t->profile->lost);
	vec_each(f, &t->profile->functions) {
		struct row *row = table_row(r, table);

		row->cells[0] = value_d(VALUE_PERCENT, percent(f->self, t->profile->weight));
		row->cells[1] = value_d(VALUE_PERCENT, percent(f->total, t->profile->weight));
		row->cells[2] = value_text(r, f->module);
		row->cells[3] = value_text(r, f->name);
	}
}

const struct screen screen_functions = {
	.key = "functions",
	.title = "Functions",
	.needs = NEEDS_SAMPLES,
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
	.result = result,
};
