/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hottest functions, live; of one function its callers and source lines. */
#include "top/screens.h"

#include "base/fmt.h"
#include "base/hash.h"
#include "base/io.h"

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

/* The functions that are listed: all, or those with the text of the filter; and opened paths. */
struct listed {
	const struct profile_frame *p;
	VEC(struct listed_row {
		u32 function;
		u32 path; /* of that function + 1; 0: the function itself */
	})
	rows;
};

static u64 function_key(const struct live_function *f)
{
	return hash_mix(hash_bytes(f->name, strlen(f->name)),
			hash_bytes(f->module, strlen(f->module)));
}

static bool is_opened(const struct top *t, const struct live_function *f)
{
	return t->open_all != (map_get(&t->opened, function_key(f), 0) != 0);
}

static void add_listed(const struct top *t, u32 i, struct listed *ret)
{
	const struct live_function *f = &t->profile->functions.items[i];

	vec_push(&ret->rows, (struct listed_row){ .function = i });
	for (u32 k = 0; k < f->n_paths && is_opened(t, f); k++)
		vec_push(&ret->rows, (struct listed_row){ .function = i, .path = k + 1 });
}

static void list_functions(const struct top *t, struct listed *ret)
{
	*ret = (struct listed){ .p = t->profile };
	for (u32 i = 0; t->profile && i < t->profile->functions.len; i++) {
		const struct live_function *f = &t->profile->functions.items[i];

		if (!*t->functions_filter || strcasestr(f->name, t->functions_filter) ||
		    strcasestr(base_name(f->module), t->functions_filter))
			add_listed(t, i, ret);
	}
}

static enum role path_cell(const struct profile_frame *p, const struct live_detail *path,
			   size_t column, struct buf *out)
{
	if (column == 0)
		buf_addf(out, "%.2f", percent(path->weight, p->weight));
	else if (column == 3)
		buf_addf(out, "      < %s", path->text);
	return ROLE_DIM;
}

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct listed *l = ctx;
	const struct profile_frame *p = l->p;
	const struct listed_row *at = &l->rows.items[row];
	const struct live_function *f = &p->functions.items[at->function];
	double share = percent(column ? f->total : f->self, p->weight);

	if (at->path)
		return path_cell(p, &p->paths.items[f->first_path + at->path - 1], column, out);
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

static enum role code_cell(void *ctx, int row, size_t column UNUSED, struct buf *out)
{
	const struct live_code *c = &((const struct profile_frame *)ctx)->code.items[row];

	buf_addstr(out, c->text);
	return c->share >= 5 ? ROLE_BAD : c->share >= 1 ? ROLE_WARN : ROLE_TEXT;
}

/* Instructions between the lines of their source; the hottest is visible. */
static void draw_code(struct top *t, struct rect r, struct list *l)
{
	static const struct table_column column[] = { { "CODE  (% of the function)", 0, false } };
	const struct table_view view = { .columns = column,
					 .n_columns = 1,
					 .sorted = -1,
					 .cell = code_cell,
					 .ctx = t->profile };

	if (r.h < 2)
		return;
	if (t->profile->code_why)
		grid_text(&t->grid, r.x, r.y, r.w, t->profile->code_why, ROLE_DIM);
	else
		table_draw(&t->grid, r, &view, l, (int)t->profile->code.len);
}

static void draw_title(struct top *t, struct rect r)
{
	const struct scope *s = top_scope(t);
	u64 self = 0;

	vec_each(f, &t->profile->functions)
		if (streq(f->name, s->function))
			self = f->self;
	grid_textf(&t->grid, r.x, r.y, r.w, ROLE_BOLD, "%s  %s: on %.1f%% of a CPU, itself %.1f%%",
		   s->function, base_name(s->module),
		   percent(t->profile->samples,
			   (u64)(t->profile->seconds * (double)t->profile->frequency) + 1),
		   percent(self, t->profile->weight));
}

/* From above: source lines, callers, and code where there is room; or code alone. */
static void draw_function(struct top *t, struct rect r)
{
	struct details d = { .p = t->profile };
	struct table_view view = { .n_columns = 2, .sorted = 0, .cell = detail_cell, .ctx = &d };
	struct list none = { .cursor = -1 };
	struct list hot = { .cursor = (int)t->profile->code_hottest };
	int lines = MIN((int)t->profile->lines.len + 1, MAX(r.h / 4, 2));
	int callers = MIN((int)t->profile->callers.len + 1, MAX(r.h / 3, 2));

	draw_title(t, r);
	r.y++;
	r.h--;
	if (t->code) {
		if (!t->list.n)
			t->list.cursor = hot.cursor;
		draw_code(t, r, &t->list);
		return;
	}
	if (t->profile->lines.len) {
		d.lines = true;
		view.columns = line_columns;
		table_draw(&t->grid, (struct rect){ r.x, r.y, r.w, lines }, &view, &none,
			   (int)t->profile->lines.len);
		r.y += lines;
		r.h -= lines;
	}
	d.lines = false;
	view.columns = caller_columns;
	table_draw(&t->grid, (struct rect){ r.x, r.y, r.w, MIN(callers, r.h) }, &view, &t->list,
		   (int)t->profile->callers.len);
	/* half of what is left is before the hottest instruction */
	hot.first = MAX(hot.cursor - (r.h - callers - 1) / 2, 0);
	draw_code(t, (struct rect){ r.x, r.y + callers, r.w, r.h - callers }, &hot);
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
	/* run-times that make code all the time are asked for its names, and that takes long */
	if (p->late >= 2)
		buf_addf(&text, ", %.0f s late", p->late);
	if (*t->functions_filter && !*top_scope(t)->function)
		buf_addf(&text, "  filter: %s", t->functions_filter);
	grid_text(&t->grid, r.x, r.y, r.w, buf_str(&text), p->lost ? ROLE_WARN : ROLE_DIM);
}

static void draw(struct top *t, struct rect r)
{
	struct listed listed;
	const struct table_view view = {
		.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.sorted = 0,
		.cell = cell,
		.ctx = &listed,
	};

	if (!profile_is_there(t, r))
		return;
	list_functions(t, &listed);
	draw_head(t, r);
	r.y++;
	r.h--;
	if (*top_scope(t)->function)
		draw_function(t, r);
	else
		table_draw(&t->grid, r, &view, &t->list, (int)listed.rows.len);
	vec_release(&listed.rows);
}

bool profile_is_there(struct top *t, struct rect r)
{
	const struct profile_frame *p = t->profile;

	if (!p && t->o.input) {
		grid_text(&t->grid, r.x, r.y, r.w, "the recording holds no samples", ROLE_DIM);
		return false;
	}
	if (!p) {
		grid_text(&t->grid, r.x, r.y, r.w,
			  t->flame.cold && t->screen == top_screen_find("flame")
				  ? "waits are watched..."
				  : "sampling begins...",
			  ROLE_DIM);
		return false;
	}
	if (p->why) {
		grid_text(&t->grid, r.x, r.y, r.w, p->why, ROLE_BAD);
		grid_text(&t->grid, r.x, r.y + 1, r.w, p->hint, ROLE_TEXT);
		return false;
	}
	if (!p->samples) {
		grid_textf(&t->grid, r.x, r.y, r.w, ROLE_DIM,
			   p->cold ? "nothing was waited for since the last look"
				   : "no sample in the last %.0f s: it does not run",
			   p->seconds);
		return false;
	}
	return true;
}

void narrow_to_function(struct top *t, const char *name, const char *module)
{
	/* the frame that they are of goes with the narrowing */
	_cleanup_free_ char *function = xstrdup(name), *in = xstrdup(module);
	struct scope *s = top_narrow(t, "%s", function);

	t->code = false;
	snprintf(s->function, sizeof(s->function), "%s", function);
	snprintf(s->module, sizeof(s->module), "%s", in);
	top_go(t, top_screen_find("functions"));
	t->list = (struct list){ 0 };
	top_ask(t);
}

/* --- keys, those of perf's browser ------------------------------------------------------------ */

static const struct live_function *chosen(const struct top *t)
{
	const struct live_function *f = NULL;
	struct listed l;

	list_functions(t, &l);
	if (t->list.cursor >= 0 && (size_t)t->list.cursor < l.rows.len)
		f = &t->profile->functions.items[l.rows.items[t->list.cursor].function];
	vec_release(&l.rows);
	return f;
}

static void zoom_module(struct top *t, const char *module, const char *label)
{
	struct scope *s = top_narrow(t, "%s", label);

	s->function[0] = '\0';
	snprintf(s->module, sizeof(s->module), "%s", module);
	t->list = (struct list){ 0 };
	top_ask(t);
}

static void choose_thread(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;

	vec_each(at, &t->profile->threads)
		buf_addf(&lines, "%6.2f%%  %7u %s\n", percent(at->weight, t->profile->weight),
			 at->tid, at->comm);
	popup_open(&t->popup, "Only this thread", buf_str(&lines), true);
	t->popup_for = POPUP_THREAD;
}

void functions_thread_chosen(struct top *t, int line)
{
	const struct live_thread *at;
	u32 pid, tid;
	struct scope *s;

	if (!t->profile || (size_t)line >= t->profile->threads.len)
		return;
	at = &t->profile->threads.items[line];
	pid = at->pid;
	tid = at->tid;
	/* the frame goes with the narrowing */
	s = top_narrow(t, "thread %u %s", tid, at->comm);
	s->of = (struct live_of){ .pid = pid, .tid = tid };
	t->list = (struct list){ 0 };
	top_ask(t);
}

/* As perf's P: all that is listed into a file of the next free number. */
static void print_functions(struct top *t)
{
	_cleanup_buf_ struct buf out = BUF_INIT, path = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct listed l;

	for (int i = 0; i < 1000; i++) {
		buf_reset(&path);
		buf_addf(&path, "fathom.hist.%d", i);
		if (!io_exists(buf_str(&path)))
			break;
	}
	list_functions(t, &l);
	vec_each(row, &l.rows) {
		const struct live_function *f = &t->profile->functions.items[row->function];

		if (row->path) {
			const struct live_detail *to =
				&t->profile->paths.items[f->first_path + row->path - 1];

			buf_addf(&out, "        %6.2f%%  < ",
				 percent(to->weight, t->profile->weight));
			fmt_clean(&out, to->text, strlen(to->text));
			buf_addch(&out, '\n');
			continue;
		}
		buf_addf(&out, "%6.2f%% %6.2f%%  %-24s  [%c] ",
			 percent(f->total, t->profile->weight),
			 percent(f->self, t->profile->weight), base_name(f->module),
			 f->kind == FRAME_KERNEL ? 'k' : '.');
		fmt_clean(&out, f->name, strlen(f->name));
		buf_addch(&out, '\n');
	}
	vec_release(&l.rows);
	if (io_write_file_atomic(buf_str(&path), buf_str(&out), out.len, &e) < 0)
		top_complain(t, "%s", e.what);
	else
		top_say(t, "written: %s", buf_str(&path));
}

void functions_prompt_changed(struct top *t)
{
	if (t->prompt == PROMPT_FUNCTIONS)
		memcpy(t->functions_filter, t->edit.text, sizeof(t->functions_filter));
}

/* Opens or closes the paths to the function under the cursor, which stays there. */
static void open_paths(struct top *t, u32 key, const struct live_function *f)
{
	struct listed l;
	u64 chosen_key = f ? function_key(f) : 0;

	if (key == 'E' || key == 'C') {
		t->open_all = key == 'E';
		map_clear(&t->opened);
	} else if (f && (key != 'c' || is_opened(t, f))) {
		if (!map_del(&t->opened, chosen_key))
			map_put(&t->opened, chosen_key, 1);
	}
	list_functions(t, &l);
	for (int i = 0; f && i < (int)l.rows.len; i++)
		if (!l.rows.items[i].path &&
		    &t->profile->functions.items[l.rows.items[i].function] == f)
			list_go(&t->list, i);
	vec_release(&l.rows);
}

static void show_code(struct top *t)
{
	const struct live_function *f = *top_scope(t)->function ? NULL : chosen(t);

	if (f)
		narrow_to_function(t, f->name, f->module);
	t->code = f || !t->code;
	t->list = (struct list){ 0 };
}

static bool perf_key(struct top *t, u32 key)
{
	const struct live_function *f = chosen(t);

	switch (key) {
	case 'a': show_code(t); return true;
	case '/':
		t->prompt = PROMPT_FUNCTIONS;
		edit_set(&t->edit, t->functions_filter);
		return true;
	case 'P': print_functions(t); return true;
	case 'e':
	case '+':
	case 'c':
	case 'E':
	case 'C': open_paths(t, key, f); return true;
	case 't': choose_thread(t); return true;
	case 'k': zoom_module(t, LIVE_KERNEL, "kernel"); return true;
	case 'd':
		if (f && !*top_scope(t)->function) {
			_cleanup_free_ char *module = xstrdup(f->module);

			zoom_module(t, module, base_name(module));
		}
		return true;
	default: return false;
	}
}

static bool key_pressed(struct top *t, const struct input *in)
{
	const struct live_function *f;

	if (t->profile && perf_key(t, in->key))
		return true;
	if (in->key != TUI_ENTER && in->key != TUI_DOUBLE_CLICK)
		return list_key(&t->list, in);
	f = chosen(t);
	if (*top_scope(t)->function)
		top_go(t, top_screen_find("flame"));
	else if (f)
		narrow_to_function(t, f->name, f->module);
	return true;
}

static void explain(struct top *t, struct buf *out)
{
	buf_addf(out,
		 "SELF%%   samples that hit the function itself, in %% of those shown\n"
		 "TOTAL%%  samples with the function anywhere on the stack, in %% of those shown\n"
		 "high: much SELF%%: look at its source lines; much TOTAL%% alone: at what it "
		 "calls\n\n"
		 "from: perf events, %llu times a second on each CPU; stacks by the CFI tables\n"
		 "of the files, without stopping anybody. [k] code of the kernel, [.] of "
		 "programs.\n\n"
		 "Enter: its source lines, who calls it, its instructions. a: instructions alone.\n"
		 "d, t, k: only this module, one thread, the kernel. 4: a flame graph.\n"
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
	.brief = "Func",
	.needs = NEEDS_SAMPLES,
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
	.result = result,
};
