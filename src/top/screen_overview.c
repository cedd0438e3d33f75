/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Meters of the whole machine; a short form of them is above the processes, too. */
#include "top/screens.h"

#include "base/fmt.h"

enum { COLUMN_LEAST = 36, CPUS_MOST = 64 };

static bool is_short(const struct top *t, const struct top_meter *m)
{
	return meters_have(t->short_meters, m->group);
}

/* One meter for all CPUs where there are more than lines for them. */
static bool is_drawn(const struct top *t, const struct top_meter *m, u32 cpus_most)
{
	if (!streq(m->group, "cpu"))
		return true;
	return streq(m->label, "all") == (t->frame->cpus > cpus_most);
}

static void draw_meter(struct grid *g, struct rect r, const struct top_meter *m, int label)
{
	struct meter view = { .label = m->label, .text = m->text, .n_parts = m->n_parts };

	memcpy(view.parts, m->parts, sizeof(view.parts));
	meter_draw(g, r, &view, label);
}

static u32 cpus_for(int columns, int lines)
{
	return (u32)MAX((lines - 1) * columns, 1);
}

int meters_lines(const struct top *t, int width, int most)
{
	int columns = MAX(width / COLUMN_LEAST, 1), n = 0;

	vec_each(m, &t->frame->meters)
		n += is_short(t, m) && is_drawn(t, m, cpus_for(columns, most));
	return MIN(DIV_ROUND_UP(n, columns) + 1, most);
}

static void draw_sums(struct top *t, struct rect r)
{
	const struct machine_frame *f = t->frame;
	_cleanup_buf_ struct buf text = BUF_INIT;
	u64 up = (u64)MAX(f->uptime, 0);

	buf_addf(&text, "Tasks: %u, %u thr; %u running  Load: %.2f %.2f %.2f  Up: ", f->n_processes,
		 f->n_tasks, f->n_running, f->load[0], f->load[1], f->load[2]);
	if (up >= 86400)
		buf_addf(&text, "%llu d ", (unsigned long long)(up / 86400));
	buf_addf(&text, "%02llu:%02llu", (unsigned long long)(up / 3600 % 24),
		 (unsigned long long)(up / 60 % 60));
	grid_text(&t->grid, r.x, r.y, r.w, buf_str(&text), ROLE_TEXT);
}

void meters_draw(struct top *t, struct rect r)
{
	int columns = MAX(r.w / COLUMN_LEAST, 1), width = r.w / columns, n = 0;
	u32 most = cpus_for(columns, r.h);

	vec_each(m, &t->frame->meters) {
		struct rect at = { r.x + n % columns * width, r.y + n / columns, width - 1, 1 };

		if (!is_short(t, m) || !is_drawn(t, m, most) || n / columns >= r.h - 1)
			continue;
		draw_meter(&t->grid, at, m, 4);
		n++;
	}
	draw_sums(t, (struct rect){ r.x, r.y + MIN(DIV_ROUND_UP(n, columns), r.h - 1), r.w, 1 });
}

/* --- the screen ------------------------------------------------------------------------------- */

/* How the rows of the processes and the meter agree: what is left has a name. */
static void draw_account(struct top *t, struct rect r)
{
	const struct top_account *a = &t->frame->account;

	if (a->meter <= 0 || r.h < 1)
		return;
	grid_textf(
		&t->grid, r.x, r.y, r.w, ROLE_TEXT,
		"CPU time %.2f s = rows %.2f s (%.2f s of short-lived tasks) + interrupts %.2f s + "
		"steal %.2f s + parents gone %.2f s + ticks %+.2f s",
		a->meter / 1e9, a->rows / 1e9, a->dead / 1e9, a->irq / 1e9, a->steal / 1e9,
		a->orphans / 1e9, a->unknown / 1e9);
}

static void draw_own(struct top *t, struct rect r)
{
	const struct machine_frame *f = t->frame;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (r.h < 1)
		return;
	buf_addstr(&text, "fathom itself: ");
	buf_addf(&text, "%.1f%% of a CPU, a look takes ", f->own_percent);
	fmt_duration(&text, f->collect_ns);
	buf_addstr(&text, ", a frame ");
	fmt_duration(&text, t->draws ? t->draw_ns / t->draws : 0);
	buf_addf(&text, "; the past: %zu looks in ", f->kept);
	fmt_size(&text, f->kept_bytes);
	if (f->interval_ns > t->o.interval)
		buf_addf(&text, "; looks every %.1f s to stay within %.0f%%",
			 (double)f->interval_ns / 1e9, t->o.budget);
	if (!f->by_bpf)
		buf_addstr(&text, "; tasks are read from /proc: short-lived ones are seen by their "
				  "parents only");
	grid_text(&t->grid, r.x, r.y, r.w, buf_str(&text), ROLE_DIM);
}

static int draw_groups(struct top *t, struct rect r)
{
	int columns = MAX(r.w / COLUMN_LEAST, 1), width, y = 0, n = 0;
	const char *group = "";

	columns = MIN(columns, 4);
	width = r.w / columns;
	for (size_t i = 0; i < t->frame->meters.len; i++) {
		const struct top_meter *m = &t->frame->meters.items[i];
		struct rect at;

		if (!is_drawn(t, m, CPUS_MOST) || !meters_have(t->overview_meters, m->group))
			continue;
		if (!streq(group, m->group)) {
			y += n ? DIV_ROUND_UP(n, columns) : 0;
			n = 0;
			group = m->group;
		}
		at = (struct rect){ r.x + n % columns * width, r.y + y + n / columns, width - 1,
				    1 };
		if (at.y < r.y + r.h)
			draw_meter(&t->grid, at, m, 8);
		n++;
	}
	return y + DIV_ROUND_UP(n, columns);
}

static void draw(struct top *t, struct rect r)
{
	int used = draw_groups(t, r), left = r.h - used;

	if (left >= 1)
		draw_sums(t, (struct rect){ r.x, r.y + used, r.w, 1 });
	draw_account(t, (struct rect){ r.x, r.y + used + 1, r.w, MIN(left - 1, 1) });
	draw_own(t, (struct rect){ r.x, r.y + used + 2, r.w, MIN(left - 2, 1) });
	if (left > 6) {
		struct rect graph = { r.x, r.y + used + 4, r.w, left - 4 };

		grid_text(&t->grid, r.x, r.y + used + 3, r.w, "CPU, all, 0 to 100 %", ROLE_DIM);
		graph_draw(&t->grid, graph, t->busy, t->n_busy, 100, ROLE_USER);
	}
}

void meters_explain(const struct top *t, struct buf *out, bool all)
{
	const char *seen[GROUPS_MOST * 2];
	size_t n = 0;

	vec_each(m, &t->frame->meters) {
		bool again = false;

		for (size_t i = 0; i < n; i++)
			again |= streq(seen[i], m->counter);
		if (again || n == ARRAY_SIZE(seen) || !(all || is_short(t, m)))
			continue;
		seen[n++] = m->counter;
		buf_addf(out, "meter %s\n", m->group);
		explain_counter(out, m->counter);
	}
	buf_addstr(
		out,
		"Tasks: processes, thr: threads that live; running: on a CPU or waiting for one\n"
		"  from: /proc, and /proc/stat, procs_running\n"
		"Load: tasks that ran, wanted a CPU or waited for a disk, damped over 1, 5, 15 "
		"min\n"
		"  from: /proc/loadavg; above the number of CPUs: fathom runqlat, fathom offcpu\n"
		"Up: time since boot, from /proc/uptime\n"
		"own: CPU time of this program in percent of a CPU, from getrusage(2)\n");
}

static void explain(struct top *t, struct buf *out)
{
	meters_explain(t, out, true);
	buf_addstr(
		out,
		"CPU time: the meter, /proc/stat, and what it is made of: rows (sum_exec_runtime\n"
		"  of tasks), interrupts and steal (/proc/stat), parents gone (short-lived tasks\n"
		"  whose parent ended, too); ticks: what is left, as /proc/stat counts in 10 ms\n"
		"fathom itself: its CPU time, a look (reading all tasks and counters), a frame\n"
		"  (drawing), and the memory of the past; --budget and --keep limit them\n"
		"graph: CPU time of all CPUs, a column for each look\n");
}

static void result(struct top *t, struct result *r)
{
	static const struct column columns[] = {
		{ "group", "GROUP", VALUE_TEXT, 0 },
		{ "name", "NAME", VALUE_TEXT, 0 },
		{ "share", "SHARE", VALUE_PERCENT, 0 },
		{ "text", "VALUE", VALUE_TEXT, 0 },
	};
	struct table *table = result_table(r, "meters", NULL, columns, ARRAY_SIZE(columns));

	vec_each(m, &t->frame->meters) {
		struct row *row = table_row(r, table);

		row->cells[0] = value_text(r, m->group);
		row->cells[1] = value_text(r, m->label);
		row->cells[2] = value_d(VALUE_PERCENT, 100 * m->share);
		row->cells[3] = value_text(r, m->text);
	}
}

static bool key_pressed(struct top *t, const struct input *in)
{
	if (in->key != TUI_ENTER)
		return false;
	top_go(t, top_screen_find("processes"));
	return true;
}

const struct screen screen_overview = {
	.key = "overview",
	.title = "Overview",
	.brief = "All",
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
	.result = result,
};
