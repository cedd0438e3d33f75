/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of fathom top, what a frame looks like, and the loop. */
#include "top/screens.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/stop.h"
#include "top/own_columns.h"
#include "view/term.h"

enum {
	KEEP_BYTES = 24 << 20,
	LINES_FOR_METERS = 12, /* of the screen, from which on meters are above the processes */
	LINES_FOR_KEYS = 7,
};

static const struct screen *const screens[] = {
	&screen_overview,   &screen_tasks,    &screen_functions, &screen_flame,
	&screen_waits,      &screen_disks,    &screen_network,   &screen_cgroups,
	&screen_interrupts, &screen_topology, &screen_tools,
};

const struct screen *const *top_screens(int *ret_n)
{
	*ret_n = (int)ARRAY_SIZE(screens);
	return screens;
}

int top_screen_find(const char *key)
{
	for (int i = 0; i < (int)ARRAY_SIZE(screens); i++)
		if (streq(screens[i]->key, key))
			return i;
	return -1;
}

/* --- words ------------------------------------------------------------------------------------ */

void top_say(struct top *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
	t->bad_message = false;
}

void top_complain(struct top *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
	t->bad_message = true;
}

void top_drop_profile(struct top *t)
{
	profile_frame_free(TAKE_PTR(t->profile));
	profile_frame_free(TAKE_PTR(t->hot));
	profile_frame_free(TAKE_PTR(t->cold));
}

/* --- where one is ----------------------------------------------------------------------------- */

void top_go(struct top *t, int screen)
{
	if (screen < 0 || screen >= (int)ARRAY_SIZE(screens))
		return;
	if (t->screen != screen)
		t->list = (struct list){ 0 };
	t->screen = screen;
	top_ask(t);
}

void top_step_tab(struct top *t, int by)
{
	int at = 0;

	for (int i = 0; i < t->n_tabs; i++)
		if (t->tabs[i] == t->screen)
			at = i;
	top_go(t, t->tabs[(at + t->n_tabs + by) % t->n_tabs]);
}

struct scope *top_narrow(struct top *t, const char *fmt, ...)
{
	struct scope *s = &t->scopes[t->n_scopes];
	va_list ap;

	s->screen = t->screen;
	s->cursor = screens[t->screen] == &screen_tasks ? t->tasks.list.cursor : t->list.cursor;
	if (t->n_scopes + 1 < SCOPES_MOST) {
		t->scopes[t->n_scopes + 1] = *s;
		t->n_scopes++;
	}
	s = &t->scopes[t->n_scopes];
	va_start(ap, fmt);
	vsnprintf(s->label, sizeof(s->label), fmt, ap);
	va_end(ap);
	/* of another scope */
	top_drop_profile(t);
	t->flame.path[0] = t->flame.zoom[0] = '\0';
	return s;
}

void narrow_to_process(struct top *t, u32 pid, const char *name)
{
	struct scope *s = top_narrow(t, "%u %s", pid, name);

	s->of = (struct live_of){ .pid = pid };
	top_go(t, top_screen_find("processes"));
	t->tasks.list.cursor = 0;
	top_ask(t);
}

bool top_widen(struct top *t)
{
	const struct scope *s;

	if (!t->n_scopes)
		return false;
	t->n_scopes--;
	s = top_scope(t);
	t->screen = s->screen;
	t->tasks.list.cursor = s->cursor;
	t->list.cursor = s->cursor;
	top_drop_profile(t);
	t->flame.path[0] = t->flame.zoom[0] = '\0';
	top_ask(t);
	return true;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void draw_crumbs(struct top *t, int y)
{
	_cleanup_buf_ struct buf right = BUF_INIT;
	int x = grid_text(&t->grid, 0, y, t->grid.width, t->o.input ? "recording" : "machine",
			  ROLE_CRUMB);

	for (int i = 1; i <= t->n_scopes; i++) {
		x += grid_text(&t->grid, x, y, t->grid.width - x, " \xe2\x80\xba ", ROLE_DIM);
		x += grid_text(&t->grid, x, y, t->grid.width - x, t->scopes[i].label, ROLE_CRUMB);
	}
	if (*t->tasks.filter_text && screens[t->screen] == &screen_tasks)
		x += grid_textf(&t->grid, x, y, t->grid.width - x, ROLE_WARN, "  filter: %s",
				t->tasks.filter_text);
	if (*t->tasks.user && screens[t->screen] == &screen_tasks)
		x += grid_textf(&t->grid, x, y, t->grid.width - x, ROLE_WARN, "  user: %s",
				t->tasks.user);
	buf_addf(&right, "own %.1f%%", t->frame->own_percent);
	if (t->frame->pace > 1)
		buf_addf(&right, ", looks every %.1f s", (double)t->frame->interval_ns / 1e9);
	if (t->frame->lost)
		buf_addf(&right, "  %llu ends lost", (unsigned long long)t->frame->lost);
	if (!t->o.input && x + (int)right.len + 2 < t->grid.width)
		grid_text_right(&t->grid, x, y, t->grid.width - x, buf_str(&right), ROLE_DIM);
}

static void draw_bottom(struct top *t, int y)
{
	static const char *const labels[] = {
		[PROMPT_SEARCH] = "Search:",
		[PROMPT_FILTER] = "Filter:",
		[PROMPT_AFFINITY] = "CPUs (0-3,7):",
		[PROMPT_WRITE] = "Write to:",
		[PROMPT_SETTING] = "Setting:",
		[PROMPT_TOOL] = "fathom",
		[PROMPT_FUNCTIONS] = "Functions with:",
	};

	if (t->prompt) {
		edit_draw(&t->grid, (struct rect){ 0, y, t->grid.width, 1 }, labels[t->prompt],
			  &t->edit);
		if (*t->message && t->bad_message)
			grid_text_right(&t->grid, t->grid.width / 2, y, t->grid.width / 2,
					t->message, ROLE_BAD);
	} else if (*t->message) {
		grid_text(&t->grid, 0, y, t->grid.width, t->message,
			  t->bad_message ? ROLE_BAD : ROLE_GOOD);
	} else if (t->paused) {
		timeline_draw(t, y);
	} else {
		keys_draw(t, y);
	}
}

/*
 * From the top: tabs, the scope, meters (above the processes, if there is room), the screen, and at
 * the bottom keys, a message or the input line. What does not fit is omitted, the screen last.
 */
void top_draw(struct top *t)
{
	struct grid *g = &t->grid;
	struct rect r = grid_all(g);
	u64 begin = clock_cpu_ns();
	bool bottom = g->height >= LINES_FOR_KEYS || t->prompt || *t->message;

	t->has_bottom = bottom;
	grid_clear(g);
	if (g->height >= 4) {
		tabs_draw(t, r.y);
		draw_crumbs(t, r.y + 1);
		r.y += 2;
		r.h -= 2;
	}
	if (bottom && r.h > 1)
		r.h--;
	if (screens[t->screen] == &screen_tasks && g->height >= LINES_FOR_METERS) {
		int lines = meters_lines(t, r.w, MAX(r.h / 3, 2));

		meters_draw(t, (struct rect){ r.x, r.y, r.w, lines });
		r.y += lines;
		r.h -= lines;
	}
	screens[t->screen]->draw(t, r);
	if (bottom)
		draw_bottom(t, g->height - 1);
	popup_draw(g, &t->popup);
	t->draws++;
	t->draw_ns += clock_cpu_ns() - begin;
}

/* --- keys ------------------------------------------------------------------------------------- */

static void prompt_key(struct top *t, const struct input *in)
{
	if (in->key == TUI_ESC) {
		t->prompt = PROMPT_NONE;
		t->message[0] = '\0';
		return;
	}
	if (in->key != TUI_ENTER) {
		if (edit_key(&t->edit, in)) {
			tasks_prompt_changed(t);
			functions_prompt_changed(t);
			if (t->prompt == PROMPT_SEARCH)
				memcpy(t->flame.search, t->edit.text, sizeof(t->flame.search));
		}
		return;
	}
	if (t->prompt == PROMPT_WRITE)
		top_write(t, t->edit.text);
	else if (t->prompt == PROMPT_SETTING)
		settings_take(t, t->edit.text);
	else if (t->prompt == PROMPT_TOOL)
		tools_prompt_done(t);
	else
		tasks_prompt_done(t);
	t->prompt = PROMPT_NONE;
}

static bool common_key(struct top *t, const struct input *in)
{
	size_t n;
	const struct top_key *k = top_keys(&n);

	if (top_tab_of_key(t, in->key) >= 0) {
		top_go(t, top_tab_of_key(t, in->key));
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (k[i].act && (k[i].key == in->key || (k[i].also && k[i].also == in->key))) {
			k[i].act(t);
			return true;
		}
	}
	return false;
}

void top_press(struct top *t, const struct input *in)
{
	t->message[0] = '\0';
	if (!screens[t->screen]->key_pressed(t, in))
		(void)common_key(t, in);
}

void top_key(struct top *t, const struct input *in)
{
	struct input mapped = *in, pressed;
	int chosen;

	if (in->key == TUI_RESIZE)
		return;
	for (int i = 0; i < t->n_remapped && !t->prompt && !t->popup.typing; i++) {
		if (t->remapped[i].from == in->key) {
			mapped.key = t->remapped[i].to;
			break;
		}
	}
	in = &mapped;
	if (popup_key(&t->popup, in, &chosen)) {
		if (chosen >= 0)
			tasks_chosen(t, chosen);
		return;
	}
	if (t->prompt) {
		prompt_key(t, in);
		return;
	}
	if (bars_click(t, in, &pressed) && !pressed.key)
		return;
	top_press(t, pressed.key ? &pressed : in);
}

/* --- life ------------------------------------------------------------------------------------- */

static int prepare_tasks(struct top *t, struct err *e)
{
	size_t n;
	const struct top_column *c = top_columns(&n);
	struct tasks_state *s = &t->tasks;

	if (!s->n_columns)
		for (size_t i = 0; i < n; i++)
			if (c[i].flags & TOP_SHOWN)
				s->columns[s->n_columns++] = (int)i;
	if (t->o.column && !settings_own_columns(t, t->o.column, e))
		return -EINVAL;
	if (t->o.columns && tasks_set_columns(s, t->o.columns, e) < 0)
		return -EINVAL;
	if (t->o.sort) {
		s->sort = top_column_find(t->o.sort, strlen(t->o.sort));
		if (s->sort < 0) {
			err_set(e, EINVAL, "'%s' is not a column", t->o.sort);
			err_hint(
				e,
				"--sort takes one of those that --once --json has: cpu, res, time");
			return -EINVAL;
		}
		s->ascending = c[s->sort].flags & TOP_ASCENDING;
	}
	if (t->o.filter) {
		snprintf(s->filter_text, sizeof(s->filter_text), "%s", t->o.filter);
		return filter_parse(&s->filter, t->o.filter, e);
	}
	return 0;
}

static int prepare_screen(struct top *t, struct err *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT;

	t->screen = top_screen_find(t->o.screen ? t->o.screen : "processes");
	if (t->screen >= 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(screens); i++)
		buf_addf(&names, "%s%s", i ? ", " : "", screens[i]->key);
	err_set(e, EINVAL, "'%s' is not a screen", t->o.screen);
	err_hint(e, "one of: %s", buf_str(&names));
	return -EINVAL;
}

static int choose_theme(struct top *t, struct err *e)
{
	size_t n;
	const struct theme *theme = t->o.theme ? theme_find(t->o.theme) : theme_list(&n);

	if (!theme) {
		err_set(e, EINVAL, "'%s' is not a theme", t->o.theme);
		err_hint(e, "one of: default, safe, mono");
		return -EINVAL;
	}
	if (!t->o.theme && t->grid.theme)
		theme = t->grid.theme;
	settings_theme(t, theme_find((t->o.no_color ? theme_plain() : theme)->name));
	return 0;
}

int top_new(struct top **ret, const struct top_opts *o, struct err *e)
{
	struct top *t = xcalloc(1, sizeof(*t));
	const struct machine_opts mo = {
		.interval = o->interval,
		.budget = o->budget,
		.keep_bytes = KEEP_BYTES,
		.keep_ns = o->keep_ns,
		.input = o->input,
		.record = o->record,
	};
	int r;

	t->o = *o;
	t->tasks.sort = top_column_find("cpu", 3);
	t->tasks.tree = o->tree;
	t->tasks.threads = o->threads;
	t->grid.ascii = o->ascii;
	while (t->n_tabs < (int)ARRAY_SIZE(screens)) {
		t->tabs[t->n_tabs] = t->n_tabs;
		t->n_tabs++;
	}
	snprintf(t->overview_meters, sizeof(t->overview_meters),
		 "cpu,memory,pressure,disk,network,kernel");
	snprintf(t->short_meters, sizeof(t->short_meters), "cpu,memory");
	settings_read(t);
	t->tasks.tree |= o->tree;
	t->tasks.threads |= o->threads;
	t->grid.ascii |= o->ascii;
	r = prepare_tasks(t, e);
	if (!r)
		r = prepare_screen(t, e);
	if (!r)
		r = choose_theme(t, e);
	if (!r)
		r = machine_source_new(&t->machine, &mo, e);
	if (!r)
		machine_source_formulas(t->machine, own_column_formula);
	if (!r && !machine_source_has_counters(t->machine) && !o->screen)
		t->screen = top_screen_find("functions");
	if (!r && !o->input)
		t->live = live_new(o->frequency, o->keep_ns);
	if (r < 0) {
		top_free(t);
		return r;
	}
	if (o->pid) {
		t->n_scopes = 1;
		t->scopes[0].screen = t->screen;
		t->scopes[1] = (struct scope){ .of.pid = o->pid, .screen = t->screen };
		snprintf(t->scopes[1].label, sizeof(t->scopes[1].label), "%u", o->pid);
	}
	top_ask(t);
	r = machine_source_start(t->machine, e);
	if (r < 0) {
		top_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void top_free(struct top *t)
{
	if (!t)
		return;
	live_free(t->live);
	pane_release(&t->pane);
	pane_release(&t->toolbox);
	topology_source_free(t->topology);
	topo_load_release(&t->topology_load);
	recorded_samples_free(t->recorded);
	machine_source_free(t->machine);
	machine_frame_free(t->frame);
	top_drop_profile(t);
	waits_frame_free(t->waits);
	vec_release(&t->tasks.lines);
	vec_release(&t->tasks.first_child);
	vec_release(&t->tasks.next_sibling);
	map_release(&t->tasks.tagged);
	map_release(&t->tasks.closed);
	map_release(&t->opened);
	popup_close(&t->popup);
	grid_release(&t->grid);
	free(t);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void resize(struct top *t, struct driver *d)
{
	int width, height;

	driver_size(d, &width, &height);
	if (width != t->grid.width || height != t->grid.height)
		grid_resize(&t->grid, width, height);
}

static bool take_keys(struct top *t, struct driver *d)
{
	struct input in;
	bool any = false;

	while (!t->quit && driver_input(d, &in)) {
		any = true;
		if (in.key == TUI_RESIZE || in.key == 12) /* Ctrl-L */
			driver_redraw(d);
		top_key(t, &in);
		/* the next key acts on what this one has made */
		if (t->frame)
			tasks_arrange(t);
	}
	return any;
}

/* For poll(): until then, -1: forever. */
static int ms_until(u64 end)
{
	u64 now = clock_mono_ns();

	return end == UINT64_MAX ? -1
	       : end <= now      ? 0
				 : (int)MIN((end - now) / NSEC_PER_MSEC + 1, (u64)INT_MAX);
}

static int loop(struct top *t, struct driver *d, struct err *e)
{
	u64 end = t->o.duration ? clock_mono_ns() + t->o.duration : UINT64_MAX;
	int r = top_wait(t, e);
	bool dirty = true;

	while (r >= 0 && !t->quit && !stop_requested() && clock_mono_ns() < end) {
		struct pollfd fds[TOP_FDS + 2] = { { .fd = driver_fd(d), .events = POLLIN },
						   { .fd = stop_fd(), .events = POLLIN } };
		int numbers[TOP_FDS], n = top_poll_fds(t, numbers);

		for (int i = 0; i < n; i++)
			fds[i + 2] = (struct pollfd){ .fd = numbers[i], .events = POLLIN };

		if (dirty) {
			resize(t, d);
			top_draw(t);
			driver_show(d, &t->grid);
		}
		if (poll(fds, (nfds_t)n + 2, ms_until(end)) < 0 && errno != EINTR)
			return err_sys(e, errno, "cannot wait for keys");
		/* the terminal went away */
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			break;
		dirty = take_keys(t, d);
		dirty |= top_take(t);
	}
	return r;
}

int top_run(struct top *t, struct err *e)
{
	struct driver *d;
	int r = driver_open(&d, e);

	if (r < 0)
		return r;
	if (!driver_has_color(d))
		settings_theme(t, theme_plain());
	t->grid.ascii |= !term_unicode();
	r = loop(t, d, e);
	driver_close(d);
	return r;
}
