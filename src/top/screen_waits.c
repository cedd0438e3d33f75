/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where threads wait, for what, and who woke them. */
#include "top/screens.h"

#include "base/fmt.h"

static const struct table_column columns[] = {
	{ "TID", 7, true },   { "THREAD", 15, false },   { "BLOCKED%", 8, true },
	{ "RUNQ%", 6, true }, { "COUNT", 6, true },      { "LONGEST", 8, true },
	{ "FOR", 9, false },  { "WOKEN BY", 16, false }, { "WHERE", 0, false },
};

static double share(u64 ns, double seconds)
{
	return seconds > 0 ? 100 * (double)ns / 1e9 / seconds : 0;
}

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct waits_frame *f = ctx;
	const struct live_wait *w = &f->waits.items[row];

	switch (column) {
	case 0: buf_addf(out, "%u", w->tid); break;
	case 1: buf_addstr(out, w->comm); break;
	case 2: buf_addf(out, "%.1f", share(w->blocked, f->seconds)); break;
	case 3:
		buf_addf(out, "%.1f", share(w->runq, f->seconds));
		return share(w->runq, f->seconds) >= 10 ? ROLE_RUNNABLE : ROLE_TEXT;
	case 4: buf_addf(out, "%llu", (unsigned long long)w->count); break;
	case 5: fmt_duration(out, w->longest); break;
	case 6: buf_addstr(out, w->kind); return ROLE_LOCK;
	case 7: buf_addstr(out, w->waker); break;
	default: buf_addstr(out, w->place);
	}
	return ROLE_TEXT;
}

static bool is_there(struct top *t, struct rect r)
{
	if (t->o.input) {
		grid_text(&t->grid, r.x, r.y, r.w,
			  "the recording holds counters; fathom threads -i shows its waits",
			  ROLE_DIM);
		return false;
	}
	if (!t->waits) {
		grid_text(&t->grid, r.x, r.y, r.w, "waits are watched...", ROLE_DIM);
		return false;
	}
	if (t->waits->why) {
		grid_text(&t->grid, r.x, r.y, r.w, t->waits->why, ROLE_BAD);
		grid_text(&t->grid, r.x, r.y + 1, r.w, t->waits->hint, ROLE_TEXT);
		return false;
	}
	return true;
}

/* What all threads of the scope did: shares that sum to 100 %. */
static void draw_shares(struct top *t, struct rect r)
{
	static const enum role roles[SHARE_COUNT] = { ROLE_RUN, ROLE_RUNNABLE, ROLE_DISK, ROLE_LOCK,
						      ROLE_NET, ROLE_SLEEP,    ROLE_OTHER };
	const struct scope *s = top_scope(t);
	struct share_row sum = { 0 };
	int x = 0;

	vec_each(row, &t->waits->shares.rows) {
		if (!live_is_of(&s->of, row->pid, row->tid))
			continue;
		sum.wall += row->wall;
		for (int i = 0; i < SHARE_COUNT; i++)
			sum.ns[i] += row->ns[i];
	}
	for (int i = 0; i < SHARE_COUNT; i++)
		x += grid_textf(&t->grid, r.x + x, r.y, r.w - x, roles[i], "%s %.1f%%  ",
				share_name((enum share)i),
				sum.wall ? 100 * (double)sum.ns[i] / (double)sum.wall : 0);
	if (t->waits->lost)
		grid_textf(&t->grid, r.x + x, r.y, r.w - x, ROLE_BAD, "%llu waits lost",
			   (unsigned long long)t->waits->lost);
}

static void draw(struct top *t, struct rect r)
{
	const struct table_view view = { .columns = columns,
					 .n_columns = ARRAY_SIZE(columns),
					 .sorted = 2,
					 .cell = cell,
					 .ctx = t->waits };

	if (!is_there(t, r))
		return;
	draw_shares(t, r);
	r.y++;
	r.h--;
	table_draw(&t->grid, r, &view, &t->list, (int)t->waits->waits.len);
	if (!t->waits->waits.len && r.h > 1)
		grid_text(&t->grid, r.x, r.y + 1, r.w, "nothing that anybody waits for", ROLE_DIM);
}

/* From a wait to its waker: what does that one wait for? */
static bool key_pressed(struct top *t, const struct input *in)
{
	const struct live_wait *w;
	struct scope *s;

	if (in->key != TUI_ENTER && in->key != TUI_DOUBLE_CLICK)
		return list_key(&t->list, in);
	if (!t->waits || (size_t)t->list.cursor >= t->waits->waits.len)
		return true;
	w = &t->waits->waits.items[t->list.cursor];
	if (!w->waker_tid) {
		top_say(t,
			*w->waker ? "woken by %s, which is not a thread" : "its waker was not seen",
			w->waker);
		return true;
	}
	s = top_narrow(t, "waker %u %s", w->waker_tid, w->waker);
	s->of = (struct live_of){ .pid = w->waker_pid, .tid = w->waker_tid };
	waits_frame_free(TAKE_PTR(t->waits));
	t->list = (struct list){ 0 };
	top_ask(t);
	return true;
}

static void explain(struct top *t UNUSED, struct buf *out)
{
	buf_addstr(
		out,
		"BLOCKED%  time of the thread in this wait, in % of the time since the last look\n"
		"RUNQ%     time until it had a CPU after it was woken, in % of the same\n"
		"COUNT     waits of this kind; LONGEST: the longest of them\n"
		"FOR       what it waited for, by the stack, the system call and the name;\n"
		"          runnable: it was not blocked, others ran instead\n"
		"above     shares of the time of all threads shown; they sum to 100 %\n"
		"high: RUNQ%: too few CPUs, fathom runqlat; lock: fathom chain; disk: fathom "
		"biosnoop\n"
		"WOKEN BY  the thread, or the interrupt, that ended it\n\n"
		"from: BPF programs at the switches and wakeups of the scheduler; they run only\n"
		"while this screen, or a column of them, is shown.\n"
		"Enter: what the waker waits for itself. fathom chain -p PID follows the chain.\n");
}

static void result(struct top *t, struct result *r)
{
	static const struct column all[] = {
		{ "pid", "PID", VALUE_PID, 0 },
		{ "tid", "TID", VALUE_PID, 0 },
		{ "thread", "THREAD", VALUE_TEXT, 0 },
		{ "blocked_ns", "BLOCKED", VALUE_DURATION, 0 },
		{ "runq_ns", "RUNQ", VALUE_DURATION, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
		{ "kind", "FOR", VALUE_TEXT, 0 },
		{ "waker", "WOKEN BY", VALUE_TEXT, 0 },
		{ "place", "WHERE", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *table = result_table(r, "waits", NULL, all, ARRAY_SIZE(all));

	if (!t->waits)
		return;
	if (t->waits->why)
		result_note(r, NOTE_WARNING, t->waits->hint, "%s", t->waits->why);
	result_loss(r, "lost_waits", "waits lost", t->waits->lost);
	vec_each(w, &t->waits->waits) {
		struct row *row = table_row(r, table);

		row->cells[0] = value_u(VALUE_PID, w->pid);
		row->cells[1] = value_u(VALUE_PID, w->tid);
		row->cells[2] = value_text(r, w->comm);
		row->cells[3] = value_u(VALUE_DURATION, w->blocked);
		row->cells[4] = value_u(VALUE_DURATION, w->runq);
		row->cells[5] = value_u(VALUE_COUNT, w->count);
		row->cells[6] = value_text(r, w->kind);
		row->cells[7] = value_text(r, w->waker);
		row->cells[8] = value_text(r, w->place);
	}
}

const struct screen screen_waits = {
	.key = "waits",
	.title = "Waits",
	.brief = "Wait",
	.needs = NEEDS_WAITS,
	.draw = draw,
	.key_pressed = key_pressed,
	.explain = explain,
	.result = result,
};
