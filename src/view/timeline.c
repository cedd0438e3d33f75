/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline as a picture: a row for each CPU with the tasks that ran there, and rows of tasks
 * with arrows from who woke to whom. The data is in the file as numbers; a script draws what is
 * visible, so that a million stretches zoom and move.
 */
#include "view/timeline.h"

#include "base/fmt.h"
#include "view/look.h"
#include "view/svg.h"
#include "view/svg_asset.h"

enum { LEFT = 80, TOP = 44, LANE = 30, RUN = 24, WIDTH = 1200, ROOM = WIDTH - LEFT - 10 };

static void add_json(struct buf *out, const char *s)
{
	buf_addch(out, '"');
	for (; *s; s++) {
		u8 c = (u8)*s;

		if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' ||
		    c >= 0x7f)
			buf_addf(out, "\\u%04x", c);
		else
			buf_addch(out, *s);
	}
	buf_addch(out, '"');
}

/* Tasks get small numbers. */
static void add_tasks(struct sched_map *m, struct map *numbers, struct buf *out)
{
	VEC(u32) tids = { 0 };

	vec_each(s, &m->stretches) {
		u64 *at;

		if (!sched_map_shows(m, s))
			continue;
		at = map_at(numbers, s->tid);
		if (*at)
			continue;
		vec_push(&tids, s->tid);
		*at = tids.len;
	}
	vec_each(w, &m->wakes) {
		const u32 both[] = { w->waker, w->wakee };

		for (size_t i = 0; i < ARRAY_SIZE(both) && sched_map_shows_wake(m, w); i++) {
			u64 *at = map_at(numbers, both[i]);

			if (*at)
				continue;
			vec_push(&tids, both[i]);
			*at = tids.len;
		}
	}
	buf_addstr(out, "\"tasks\":[");
	for (size_t i = 0; i < tids.len; i++) {
		const char *comm = sched_comm(m->names, tids.items[i]);

		buf_addf(out, "%s[%u,", i ? "," : "", tids.items[i]);
		add_json(out, comm);
		buf_addch(out, ']');
	}
	buf_addstr(out, "],\n");
	vec_release(&tids);
}

/* Kinds of waits: name, words; each gets a number after those of what tasks do. */
static void add_kinds(const struct sched_map *m, u8 ret_numbers[STATE_COUNT], struct buf *out)
{
	bool seen[STATE_COUNT + 1] = { 0 };
	u8 n = SCHED_STOPPED;

	vec_each(s, &m->stretches)
		seen[s->kind] = true;
	buf_addstr(out, "\"kinds\":[");
	for (int k = 0; k < STATE_COUNT; k++) {
		if (!seen[k])
			continue;
		ret_numbers[k] = ++n;
		buf_addf(out, "%s[\"%s\",\"%s\",%d]", n > SCHED_STOPPED + 1 ? "," : "",
			 thread_state_name((enum thread_state)k),
			 thread_state_words((enum thread_state)k),
			 wait_is_idle((enum thread_state)k));
	}
	buf_addstr(out, "],\n");
}

/* Begin, length, CPU, task, what it does; and time, CPU, waker, woken: all in ns, in order. */
static void add_stretches(struct sched_map *m, const struct map *numbers, struct buf *out)
{
	bool first = true;
	u8 numbers_of[STATE_COUNT];

	add_kinds(m, numbers_of, out);
	buf_addstr(out, "\"stretches\":[");
	vec_each(s, &m->stretches) {
		if (!sched_map_shows(m, s))
			continue;
		buf_addf(out, "%s%llu,%llu,%u,%llu,%d", first ? "" : ",",
			 (unsigned long long)(s->begin - m->begin),
			 (unsigned long long)(s->end - s->begin), s->cpu,
			 (unsigned long long)map_get(numbers, s->tid, 1) - 1,
			 s->kind < STATE_COUNT ? numbers_of[s->kind] : s->does);
		first = false;
	}
	buf_addstr(out, "],\n\"wakes\":[");
	first = true;
	vec_each(w, &m->wakes) {
		if (!sched_map_shows_wake(m, w))
			continue;
		buf_addf(out, "%s%llu,%u,%llu,%llu", first ? "" : ",",
			 (unsigned long long)(w->time - m->begin), w->cpu,
			 (unsigned long long)map_get(numbers, w->waker, 1) - 1,
			 (unsigned long long)map_get(numbers, w->wakee, 1) - 1);
		first = false;
	}
	buf_addstr(out, "]");
}

/* Without scripts: how busy each CPU was, each pixel as dark as the share of its time. */
static void add_still(struct sched_map *m, struct buf *out)
{
	double k = ROOM / (double)MAX(m->end - m->begin, 1ull);
	_cleanup_free_ float *busy = xcalloc((size_t)(m->names->cpus + 1) * ROOM, sizeof(*busy));

	vec_each(s, &m->stretches) {
		double from = (double)(s->begin - m->begin) * k,
		       to = (double)(s->end - m->begin) * k;

		if (s->does != SCHED_RUNS || s->cpu >= m->names->cpus || !sched_map_shows(m, s))
			continue;
		for (u32 x = (u32)from; x < to && x < ROOM; x++)
			busy[s->cpu * ROOM + x] += (float)(MIN(to, x + 1.0) - MAX(from, (double)x));
	}
	for (u32 cpu = 0; cpu < m->names->cpus; cpu++) {
		buf_addf(out, "<text x=\"10\" y=\"%u\">CPU %u</text>\n", TOP + cpu * LANE + 16,
			 cpu);
		for (u32 x = 0; x < ROOM; x++) {
			float share = busy[cpu * ROOM + x];

			if (share < 0.01f)
				continue;
			buf_addf(out, "<rect x=\"%u\" y=\"%u\" width=\"1\" height=\"%d\" fill=\"",
				 LEFT + x, TOP + cpu * LANE, RUN);
			look_add(out, look_of_heat(share));
			buf_addstr(out, "\"/>\n");
		}
	}
}

/* How much there is, and what is missing. */
static void add_facts(const struct timeline *t, struct buf *out)
{
	const struct sched_map *m = t->map;

	fmt_count(out, m->names->events);
	buf_addstr(out, " events over ");
	fmt_duration(out, m->end - m->begin);
	if (m->names->lost) {
		buf_addstr(out, ", ");
		fmt_count(out, m->names->lost);
		buf_addstr(out, " lost");
	} else {
		buf_addstr(out, ", none lost");
	}
	if (m->names->bad)
		buf_addf(out, ", %llu cut", (unsigned long long)m->names->bad);
	if (m->names->gaps) {
		buf_addstr(out, ", ");
		fmt_count(out, m->names->gaps);
		buf_addf(out, " span%s without a start not drawn", m->names->gaps > 1 ? "s" : "");
	}
	if (m->dropped)
		buf_addf(out, ", %llu spans not drawn", (unsigned long long)m->dropped);
	if (m->names->fault)
		buf_addstr(out, ", the file is damaged");
	if (t->kinds->host && *t->kinds->host)
		buf_addf(out, ", %s", t->kinds->host);
	if (t->kinds->kernel && *t->kinds->kernel)
		buf_addf(out, ", Linux %s", t->kinds->kernel);
}

/* Begin, length (-1: a moment), thread, name, id, whether it ended; times as above. */
static void add_marks(const struct sched_map *m, const struct marks *marks, struct buf *out)
{
	bool first = true;

	buf_addstr(out, ",\n\"marks\":[");
	vec_each(k, &marks->items) {
		u64 end = k->end ? k->end : m->end, begin = MAX(k->begin, m->begin);

		if (end < m->begin || k->begin > m->end)
			continue;
		buf_addf(out, "%s[%llu,", first ? "" : ",", (unsigned long long)(begin - m->begin));
		if (k->span)
			buf_addf(out, "%llu", (unsigned long long)(MIN(end, m->end) - begin));
		else
			buf_addstr(out, "-1");
		buf_addf(out, ",%u,", k->tid);
		add_json(out, intern_get(&marks->names, k->name));
		/* numbers of a script are exact to 2^53 */
		buf_addf(out, ",\"%lld\",%d]", (long long)k->id, k->end != 0);
		first = false;
	}
	buf_addstr(out, "]");
}

static void add_script(const struct timeline *t, bool cdata, struct buf *out)
{
	struct sched_map *m = t->map;
	_cleanup_map_ struct map numbers = MAP_INIT;
	_cleanup_buf_ struct buf facts = BUF_INIT;

	add_facts(t, &facts);
	buf_addstr(out, cdata ? "<script><![CDATA[\n" : "<script>\n");
	buf_addf(out, "window.timelineData={\"cpus\":%u,\"length\":%llu,\"start\":%.9f,\"file\":",
		 m->names->cpus, (unsigned long long)MAX(m->end - m->begin, 1ull),
		 (double)m->begin / 1e9);
	add_json(out, t->file);
	buf_addstr(out, ",\"facts\":");
	add_json(out, buf_str(&facts));
	buf_addch(out, ',');
	add_tasks(m, &numbers, out);
	add_stretches(m, &numbers, out);
	add_marks(m, t->marks, out);
	buf_addstr(out, "};\n");
	(void)svg_asset("web/timeline.js", out);
	buf_addstr(out, cdata ? "]]></script>\n" : "</script>\n");
}

static void add_styles(struct buf *out)
{
	buf_addstr(out, "<style>\n");
	(void)svg_asset("web/viewer.css", out);
	(void)svg_asset("web/timeline.css", out);
	buf_addstr(out, "</style>\n");
}

static void add_page(const struct timeline *t, struct buf *out)
{
	buf_addstr(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			"<title>Scheduler time line</title>\n");
	add_styles(out);
	buf_addstr(out, "</head><body>\n");
	add_script(t, false, out);
	buf_addstr(out, "</body></html>\n");
}

static void add_picture(const struct timeline *t, struct buf *out)
{
	struct sched_map *m = t->map;
	_cleanup_buf_ struct buf facts = BUF_INIT;
	u32 height = TOP + m->names->cpus * LANE + 20;

	buf_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg class=\"timeline\" "
		 "xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		 "viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"tasks on each CPU\">\n",
		 WIDTH, height, WIDTH, height);
	add_styles(out);
	buf_addf(out,
		 "<g id=\"still\">\n<rect width=\"%d\" height=\"%u\" fill=\"#fff\"/>\n"
		 "<text x=\"10\" y=\"18\" font-weight=\"600\">Scheduler time line</text>\n"
		 "<text x=\"10\" y=\"34\">",
		 WIDTH, height);
	add_facts(t, &facts);
	svg_escape(out, buf_str(&facts), facts.len, true);
	buf_addstr(out, "; the darker, the busier</text>\n");
	add_still(m, out);
	buf_addstr(out, "</g>\n");
	add_script(t, true, out);
	buf_addstr(out, "</svg>\n");
}

void timeline_svg(const struct timeline *t, bool html, struct buf *out)
{
	if (html)
		add_page(t, out);
	else
		add_picture(t, out);
}
