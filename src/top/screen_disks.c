/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks by their counters and, below, how long their requests take, as the tool biolatency has it.
 */
#include "top/screens.h"

static void draw(struct top *t, struct rect r)
{
	_cleanup_buf_ struct buf title = BUF_INIT;
	struct list none = { .cursor = -1 };
	int lines = sheet_lines(t, "disks", r.h / 3);

	if (t->o.input || r.h < 8) {
		sheet_draw(t, r, "disks", &t->list);
		return;
	}
	sheet_draw(t, (struct rect){ r.x, r.y, r.w, lines }, "disks", &none);
	if (t->form == PANE_HEATMAP)
		buf_addstr(&title, "latency of requests over time  (m: histograms)");
	else if (t->tool_pace > 1)
		buf_addf(&title, "latency of requests in the last %u s, by disk  (m: heat map)",
			 t->tool_pace);
	else
		buf_addstr(&title,
			   "latency of requests in the last second, by disk  (m: heat map)");
	grid_textf(&t->grid, r.x, r.y + lines, r.w, ROLE_HEAD, "%-*s", r.w, buf_str(&title));
	pane_draw(&t->grid, (struct rect){ r.x, r.y + lines + 1, r.w, r.h - lines - 1 }, &t->pane,
		  t->form == PANE_HEATMAP ? PANE_HEATMAP : PANE_HISTOGRAM, NULL, &t->list);
}

static void command(const struct top *t, struct buf *out)
{
	buf_addf(out, "biolatency -D %u", MAX(t->tool_pace, 1u));
}

static bool key_pressed(struct top *t, const struct input *in)
{
	if (in->key != 'm')
		return list_key(&t->list, in);
	t->form = t->form == PANE_HEATMAP ? PANE_AUTO : PANE_HEATMAP;
	return true;
}

static void explain(struct top *t, struct buf *out)
{
	sheet_explain(t, out, "disks");
	buf_addstr(out,
		   "\nHistograms: from the moment a request is given to the device until it is\n"
		   "done.  from: the tracepoints block_rq_issue and block_rq_complete\n"
		   "Two humps: some requests wait for others, or for the disk to move.\n"
		   "fathom biosnoop lists requests, fathom biotop who makes them.\n");
}

static void result(struct top *t, struct result *r)
{
	sheet_result(t, r, "disks");
	pane_result(&t->pane, r);
}

const struct screen screen_disks = {
	.key = "disks",
	.title = "Disks",
	.brief = "Disk",
	.draw = draw,
	.key_pressed = key_pressed,
	.command = command,
	.explain = explain,
	.result = result,
};
