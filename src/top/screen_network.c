/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interfaces by their counters and, below, who sends and receives: processes and, in the scope of
 * one, its connections. TCP and UDP, at the socket, by the tool nettop.
 */
#include "top/screens.h"

#include "base/fmt.h"
#include "base/map.h"

enum { PROTOCOLS = 2 };

/* All connections of a process together. */
struct talker {
	u32 pid;
	const char *comm;
	double bytes[PROTOCOLS][2]; /* TCP and UDP; received and sent */
	u32 connections;
};

struct talkers {
	VEC(struct talker) list;
};

static const struct pane_cell *cell_of(const struct pane_table *t, const struct pane_row *row,
				       const char *key)
{
	static const struct pane_cell none;
	int column = pane_column(t, key);

	return column < 0 ? &none : &row->cells[column];
}

static double number_of(const struct pane_table *t, const struct pane_row *row, const char *key)
{
	const struct pane_cell *c = cell_of(t, row, key);

	return c->is_number ? c->number : 0;
}

static double sum_of(const struct talker *t)
{
	return t->bytes[0][0] + t->bytes[0][1] + t->bytes[1][0] + t->bytes[1][1];
}

static int most_first(const void *a, const void *b)
{
	double x = sum_of(a), y = sum_of(b);

	if (x > y || x < y)
		return x > y ? -1 : 1;
	return ((const struct talker *)a)->pid < ((const struct talker *)b)->pid ? -1 : 1;
}

static void find_talkers(const struct pane *p, const struct live_of *of, struct talkers *ret)
{
	const struct pane_table *t = pane_table(p, NULL);
	_cleanup_map_ struct map known = MAP_INIT;

	if (!t)
		return;
	vec_each(at, &t->rows) {
		u32 pid = (u32)number_of(t, *at, "pid");
		const char *proto = cell_of(t, *at, "proto")->text;
		int udp = proto && streq(proto, "UDP");
		u64 *place;

		if (!live_is_of(of, pid, 0))
			continue;
		place = map_at(&known, pid);
		if (!*place) {
			vec_push(&ret->list,
				 (struct talker){ .pid = pid,
						  .comm = cell_of(t, *at, "comm")->text });
			*place = ret->list.len;
		}
		ret->list.items[*place - 1].bytes[udp][0] += number_of(t, *at, "rx");
		ret->list.items[*place - 1].bytes[udp][1] += number_of(t, *at, "tx");
		ret->list.items[*place - 1].connections++;
	}
	vec_sort(&ret->list, most_first);
}

/* --- drawing ---------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ "PID", 7, true },       { "PROCESS", 16, false }, { "TCP in/s", 9, true },
	{ "TCP out/s", 9, true }, { "UDP in/s", 9, true },  { "UDP out/s", 9, true },
	{ "SOCKETS", 7, true },   { "", 0, false },
};

static enum role cell(void *ctx, int row, size_t column, struct buf *out)
{
	const struct talker *t = &((const struct talkers *)ctx)->list.items[row];

	switch (column) {
	case 0: buf_addf(out, "%u", t->pid); break;
	case 1: buf_addstr(out, t->comm ? t->comm : ""); break;
	case 2:
	case 3:
	case 4:
	case 5: {
		double bytes = t->bytes[(column - 2) / 2][column % 2];

		if (bytes < 1)
			return ROLE_DIM;
		fmt_size(out, (u64)bytes);
		return column % 2 ? ROLE_WRITE : ROLE_READ;
	}
	case 6: buf_addf(out, "%u", t->connections); break;
	default: break;
	}
	return ROLE_TEXT;
}

static void draw_talkers(struct top *t, struct rect r)
{
	struct talkers all = { 0 };
	const struct table_view view = { .columns = columns,
					 .n_columns = ARRAY_SIZE(columns),
					 .sorted = -1,
					 .cell = cell,
					 .ctx = &all };

	if (top_scope(t)->of.pid || *t->pane.why || !t->pane.any) {
		pane_draw(&t->grid, r, &t->pane, PANE_TABLE,
			  "pid comm string ip port ip port bytes bytes", &t->list);
		return;
	}
	find_talkers(&t->pane, &top_scope(t)->of, &all);
	table_draw(&t->grid, r, &view, &t->list, (int)all.list.len);
	if (!all.list.len && r.h > 1)
		grid_text(&t->grid, r.x, r.y + 1, r.w,
			  "nothing was sent or received since the last update", ROLE_DIM);
	vec_release(&all.list);
}

static void draw(struct top *t, struct rect r)
{
	struct list none = { .cursor = -1 };
	int lines = sheet_lines(t, "network", r.h / 3);

	if (t->o.input || r.h < 8) {
		sheet_draw(t, r, "network", &t->list);
		return;
	}
	sheet_draw(t, (struct rect){ r.x, r.y, r.w, lines }, "network", &none);
	draw_talkers(t, (struct rect){ r.x, r.y + lines + 1, r.w, r.h - lines - 1 });
}

static void command(const struct top *t, struct buf *out)
{
	buf_addf(out, "nettop %u", MAX(t->tool_pace, 1u));
	if (top_scope(t)->of.pid)
		buf_addf(out, " -p %u", top_scope(t)->of.pid);
}

/* From a process to its connections. */
static bool key_pressed(struct top *t, const struct input *in)
{
	struct talkers all = { 0 };

	if ((in->key != TUI_ENTER && in->key != TUI_DOUBLE_CLICK) || top_scope(t)->of.pid)
		return list_key(&t->list, in);
	find_talkers(&t->pane, &top_scope(t)->of, &all);
	if ((size_t)t->list.cursor < all.list.len) {
		const struct talker *at = &all.list.items[t->list.cursor];
		struct scope *s = top_narrow(t, "%u %s", at->pid, at->comm ? at->comm : "");

		s->of = (struct live_of){ .pid = at->pid };
		t->list = (struct list){ 0 };
		top_ask(t);
	}
	vec_release(&all.list);
	return true;
}

static void explain(struct top *t, struct buf *out)
{
	sheet_explain(t, out, "network");
	buf_addstr(out,
		   "\nProcesses: bytes of their calls that send and receive, of TCP and UDP,\n"
		   "loopback included; Enter: the connections of one.\n"
		   "  from: the tracepoints sock:sock_send_length and sock:sock_recv_length; no\n"
		   "  packet is captured. What the kernel sends again is not counted here.\n"
		   "fathom nettop prints it; fathom tcpretrans what is sent again, fathom tcplife\n"
		   "connections that ended.\n");
}

static void result(struct top *t, struct result *r)
{
	sheet_result(t, r, "network");
	pane_result(&t->pane, r);
}

const struct screen screen_network = {
	.key = "network",
	.title = "Network",
	.brief = "Net",
	.draw = draw,
	.key_pressed = key_pressed,
	.command = command,
	.explain = explain,
	.result = result,
};
