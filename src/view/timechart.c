/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/timechart.h"

#include "base/fmt.h"
#include "view/look.h"
#include "view/svg.h"
#include "view/svg_asset.h"

enum {
	WIDTH = 1200,
	PAD = 20, /* left of the texts */
	LEFT = 190,
	RIGHT = 10,
	TOP = 96,
	LEGEND_Y = 60,
	CPU_HEIGHT = 26,
	POWER_HEIGHT = 8,
	LANE = 22,
	BAR = 16
};

/* What a pixel of a bar holds, from bottom to top. */
enum part { PART_RUNS, PART_WAITS, PART_BLOCKED, PART_NET, PART_SYNC, PART_POLL, PARTS };

static const char *const part_words[PARTS] = {
	[PART_RUNS] = "running",
	[PART_WAITS] = "waiting for a CPU",
	[PART_BLOCKED] = "blocked on I/O",
	[PART_NET] = "network",
	[PART_SYNC] = "sync",
	[PART_POLL] = "poll",
};

/* As in the time line and in graphs of hot and cold. */
static struct rgb part_color(int part)
{
	switch (part) {
	case PART_RUNS: return svg_color_of_state(HOT_ON_CPU);
	case PART_WAITS: return svg_color_of_state(HOT_RUNQ);
	case PART_NET: return svg_color_of_wait(STATE_NETWORK);
	case PART_SYNC: return svg_color_of_wait(STATE_FLUSH);
	case PART_POLL: return svg_color_of_wait(STATE_POLL);
	default: return svg_color_of_wait(STATE_DISK);
	}
}

struct canvas {
	const struct timechart *t;
	struct buf *out;
	u32 room; /* pixels of the time */
	u64 begin, end;
	double k;      /* pixels in a ns */
	float *rows;   /* of CPUs, then of tasks: PARTS for each pixel */
	float *pixels; /* of the row that is drawn */
	u32 cpus;
	struct map row_of; /* tid -> row + 1 */
	struct buf labels; /* texts, which do not stretch with the bars */
};

const char *timechart_comm(const struct timechart *t, u32 tid)
{
	const char *comm = activities_comm(t->activities, tid);
	const char *sched = sched_comm(t->map->names, tid);

	return comm && sched[0] == ':' ? comm : sched;
}

static void choose_row(struct canvas *c, u64 row)
{
	c->pixels = c->rows + row * c->room * PARTS;
}

/* The share of each pixel that a span covers. */
static void cover(struct canvas *c, u64 begin, u64 end, enum part part)
{
	double from = (double)(MAX(begin, c->begin) - c->begin) * c->k,
	       to = (double)(MIN(end, c->end) - c->begin) * c->k;

	if (end <= c->begin || begin >= c->end)
		return;
	for (u32 x = (u32)from; x < to && x < c->room; x++)
		c->pixels[x * PARTS + part] += (float)(MIN(to, x + 1.0) - MAX(from, (double)x));
}

/* Neighbours that look the same are one. */
static void draw_run(struct canvas *c, u32 x, u32 n, u32 y, u32 height)
{
	double at = y + height;

	for (int part = 0; part < PARTS; part++) {
		double share = MIN((double)c->pixels[x * PARTS + part], 1.0);

		if (share < 0.02)
			continue;
		at -= share * height;
		buf_addf(c->out, "<rect x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%.1f\" fill=\"",
			 LEFT + x, MAX(at, (double)y), n, share * height);
		look_add(c->out, part_color(part));
		buf_addstr(c->out, "\"/>\n");
	}
}

static bool is_same(const struct canvas *c, u32 x, u32 other)
{
	for (int part = 0; part < PARTS; part++) {
		float d = c->pixels[x * PARTS + part] - c->pixels[other * PARTS + part];

		if (d > 0.02f || d < -0.02f)
			return false;
	}
	return true;
}

static void draw(struct canvas *c, u32 y, u32 height)
{
	u32 from = 0;

	for (u32 x = 1; x <= c->room; x++) {
		if (x < c->room && is_same(c, x, from))
			continue;
		draw_run(c, from, x - from, y, height);
		from = x;
	}
}

static void add_label(struct canvas *c, u32 y, const char *text)
{
	buf_addf(&c->labels, "<text class=\"row\" x=\"%d\" y=\"%u\">", PAD, y);
	svg_escape(&c->labels, text, strlen(text), true);
	buf_addstr(&c->labels, "</text>\n");
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* Deeper states are darker; a higher frequency is warmer. */
static void draw_power(struct canvas *c, const struct activity *a, u32 y, u32 most)
{
	double from, to;
	bool idle = a->kind == ACTIVITY_IDLE;

	if (a->end <= c->begin || a->begin >= c->end)
		return;
	from = (double)(MAX(a->begin, c->begin) - c->begin) * c->k;
	to = (double)(MIN(a->end, c->end) - c->begin) * c->k;
	if (to - from < 0.3) /* they come by the thousand: the bar of the CPU shows them */
		return;
	buf_addf(c->out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"",
		 LEFT + from, y, to - from, POWER_HEIGHT / 2);
	if (idle)
		look_add(c->out, (struct rgb){ (u8)(210 - MIN(a->detail, 5u) * 25),
					       (u8)(215 - MIN(a->detail, 5u) * 20), 225 });
	else
		look_add(c->out, look_of_heat(most ? (double)a->detail / most : 0));
	buf_addf(c->out, "\"><title>%s%u%s</title></rect>\n", idle ? "C" : "",
		 idle ? a->detail : a->detail / 1000, idle ? "" : " MHz");
}

static u32 highest_frequency(const struct activities *a)
{
	u32 most = 0;

	vec_each(it, &a->items)
		if (it->kind == ACTIVITY_FREQUENCY)
			most = MAX(most, it->detail);
	return most;
}

static u32 cpus_of(const struct timechart *t)
{
	u32 n = t->map->names->cpus;

	vec_each(a, &t->activities->items)
		if (a->kind <= ACTIVITY_FREQUENCY && a->who < SCHED_CPUS_MOST)
			n = MAX(n, a->who + 1);
	return n;
}

static void draw_cpus(struct canvas *c, u32 y)
{
	u32 most = highest_frequency(c->t->activities), n = cpus_of(c->t);

	for (u32 cpu = 0; cpu < n; cpu++) {
		char name[32];

		choose_row(c, cpu);
		snprintf(name, sizeof(name), "CPU %u", cpu);
		add_label(c, y + cpu * CPU_HEIGHT + 12, name);
		draw(c, y + cpu * CPU_HEIGHT, CPU_HEIGHT - POWER_HEIGHT - 4);
	}
	vec_each(a, &c->t->activities->items)
		if (a->kind <= ACTIVITY_FREQUENCY && a->who < n)
			draw_power(c, a,
				   y + (a->who + 1) * CPU_HEIGHT - POWER_HEIGHT - 2 +
					   (a->kind == ACTIVITY_IDLE ? POWER_HEIGHT / 2 : 0),
				   most);
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void cover_io(struct canvas *c)
{
	static const u8 part_of[ACTIVITY_KINDS] = {
		[ACTIVITY_DISK] = PART_BLOCKED,
		[ACTIVITY_SYNC] = PART_SYNC,
		[ACTIVITY_NETWORK] = PART_NET,
		[ACTIVITY_POLL] = PART_POLL,
	};

	vec_each(a, &c->t->activities->items) {
		u64 row = a->kind > ACTIVITY_FREQUENCY ? map_get(&c->row_of, a->who, 0) : 0;

		if (!row)
			continue;
		choose_row(c, row - 1);
		cover(c, a->begin, a->end, (enum part)part_of[a->kind]);
	}
}

static int part_of_stretch(const struct sched_stretch *s)
{
	if (s->does == SCHED_RUNS)
		return PART_RUNS;
	if (s->does == SCHED_WAITS)
		return PART_WAITS;
	if (s->kind == STATE_NETWORK)
		return PART_NET;
	return s->does == SCHED_DISK || s->kind == STATE_DISK || s->kind == STATE_FLUSH
		       ? PART_BLOCKED
		       : -1;
}

static void cover_stretches(struct canvas *c)
{
	vec_each(s, &c->t->map->stretches) {
		u64 row = c->t->io ? 0 : map_get(&c->row_of, s->tid, 0);
		int part = part_of_stretch(s);

		if (row && part >= 0) {
			choose_row(c, row - 1);
			cover(c, s->begin, s->end, (enum part)part);
		}
		if (part == PART_RUNS && s->tid && s->cpu < c->cpus) {
			choose_row(c, s->cpu);
			cover(c, s->begin, s->end, PART_RUNS);
		}
	}
}

static void draw_tasks(struct canvas *c, u32 y)
{
	vec_each(task, &c->t->tasks) {
		_cleanup_buf_ struct buf name = BUF_INIT;

		choose_row(c, map_get(&c->row_of, task->tid, 1) - 1);
		buf_addf(&name, "%s:%u", timechart_comm(c->t, task->tid), task->tid);
		add_label(c, y + 12, buf_str(&name));
		buf_addf(c->out,
			 "<rect class=\"bar\" x=\"%d\" y=\"%u\" width=\"%u\" height=\"%d\"/>\n",
			 LEFT, y, c->room, BAR);
		draw(c, y, BAR);
		y += LANE;
	}
}

/* --- the picture ------------------------------------------------------------------------------ */

static void add_axis(struct canvas *c, u32 height)
{
	u64 length = c->end - c->begin, unit = 1, step;

	while (length / unit > 100)
		unit *= 10;
	step = length / unit > 50 ? unit * 10 : length / unit > 20 ? unit * 5 : unit * 2;
	for (u64 at = 0; at <= length; at += step) {
		double x = LEFT + (double)at * c->k;
		_cleanup_buf_ struct buf text = BUF_INIT;

		fmt_duration(&text, at);
		buf_addf(c->out,
			 "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%u\"/>\n", x,
			 x, TOP - 6, height - 10);
		buf_addf(&c->labels,
			 "<text class=\"tick time\" text-anchor=\"middle\" x=\"%.1f\" "
			 "y=\"%d\">%s</text>\n",
			 x, TOP - 10, buf_str(&text));
	}
}

static void add_legend(struct canvas *c)
{
	u32 x = PAD;

	buf_addstr(c->out, "<g id=\"legend\">");
	for (int part = 0; part < PARTS; part++) {
		buf_addf(c->out,
			 "<rect x=\"%u\" y=\"%d\" width=\"11\" height=\"11\" rx=\"2\" fill=\"", x,
			 LEGEND_Y - 10);
		look_add(c->out, part_color(part));
		buf_addf(c->out, "\"/><text class=\"soft\" x=\"%u\" y=\"%d\">%s</text>\n", x + 16,
			 LEGEND_Y, part_words[part]);
		x += 34 + 7 * (u32)strlen(part_words[part]);
	}
	buf_addstr(c->out, "</g>\n");
}

static void add_facts(struct canvas *c)
{
	const struct sched_names *n = c->t->map->names;

	fmt_duration(c->out, c->end - c->begin);
	buf_addf(c->out, ", %zu tasks", c->t->tasks.len);
	if (c->t->more)
		buf_addf(c->out, ", %llu more not drawn", (unsigned long long)c->t->more);
	if (n->lost)
		buf_addf(c->out, ", %llu events lost", (unsigned long long)n->lost);
	else
		buf_addstr(c->out, ", none lost");
	if (n->gaps)
		buf_addf(c->out, ", %llu turns without a start not drawn",
			 (unsigned long long)n->gaps);
	if (c->t->map->dropped || c->t->activities->dropped)
		buf_addf(c->out, ", %llu spans not drawn",
			 (unsigned long long)c->t->map->dropped + c->t->activities->dropped);
}

static void add_head(struct canvas *c)
{
	buf_addf(c->out,
		 "<g id=\"head\"><text class=\"heading\" x=\"%d\" y=\"26\">Time chart</text>\n"
		 "<text class=\"soft fact\" x=\"%d\" y=\"43\">",
		 PAD, PAD);
	add_facts(c);
	buf_addstr(c->out, "</text>\n");
	add_legend(c);
	buf_addstr(c->out, "</g>\n");
}

/* @fluid: a script fits it to the window. */
static void begin(struct canvas *c, u32 width, u32 height, bool fluid)
{
	buf_addf(c->out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg class=\"picture timechart\" "
		 "xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		 "viewBox=\"0 0 %u %u\" data-left=\"%d\" data-top=\"%d\" data-room=\"%u\" "
		 "data-fluid=\"%d\" role=\"group\" aria-label=\"what tasks did over time\" "
		 "font-family=\"" SVG_FONT "\" font-size=\"12\">\n<style>\n",
		 width, height, width, height, LEFT, TOP, c->room, fluid);
	svg_asset("web/picture.css", c->out);
	buf_addstr(c->out,
		   ".timechart .row { font-size: 11px }\n"
		   ".timechart .tick { font-size: 11px; fill: var(--soft) }\n"
		   ".timechart .grid { stroke: var(--line); vector-effect: non-scaling-stroke }\n"
		   ".timechart .bar { fill: var(--faint) }\n</style>\n");
	add_head(c);
}

void timechart_svg(const struct timechart *t, struct buf *out)
{
	u32 width = t->width ? t->width : WIDTH, cpus = t->cpus ? cpus_of(t) : 0;
	u32 height = TOP + cpus * CPU_HEIGHT + 12 + (u32)t->tasks.len * LANE + 16;
	struct canvas c = { .t = t,
			    .out = out,
			    .room = width - LEFT - RIGHT,
			    .begin = t->map->begin,
			    .end = MAX(t->map->end, t->map->begin + 1) };

	c.k = c.room / (double)(c.end - c.begin);
	c.cpus = cpus;
	c.rows = xcalloc((cpus + t->tasks.len + 1) * c.room * PARTS, sizeof(*c.rows));
	for (size_t i = 0; i < t->tasks.len; i++)
		map_put(&c.row_of, t->tasks.items[i].tid, cpus + i + 1);
	cover_stretches(&c);
	if (t->io)
		cover_io(&c);
	begin(&c, width, height, !t->width);
	buf_addstr(out, "<g id=\"plot\">\n");
	add_axis(&c, height);
	if (cpus)
		draw_cpus(&c, TOP);
	draw_tasks(&c, TOP + cpus * CPU_HEIGHT + 12);
	buf_addf(out, "</g>\n<g id=\"labels\">\n%s</g>\n<script><![CDATA[\n", buf_str(&c.labels));
	svg_asset("web/timechart-svg.js", out);
	buf_addstr(out, "]]></script>\n</svg>\n");
	buf_release(&c.labels);
	map_release(&c.row_of);
	free(c.rows);
}
