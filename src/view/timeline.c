/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline as a picture: a row for each CPU with the tasks that ran there, and rows of tasks
 * with arrows from who woke to whom. The data lies in the file as numbers; a script draws what is
 * in sight, so that a million stretches zoom and move.
 */
#include "view/timeline.h"

#include "base/fmt.h"
#include "base/hash.h"
#include "view/svg_asset.h"

/* As the script has them. */
enum { LEFT = 150, TOP = 60, LANE = 42, RUN = 21, WIDTH = 1200 };

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

/* Tasks get small numbers; the colour is from the name. */
static void add_tasks(struct sched_map *m, struct map *numbers, struct buf *out)
{
	VEC(u32) tids = { 0 };

	vec_each(s, &m->stretches) {
		u64 *at = map_at(numbers, s->tid);

		if (*at)
			continue;
		vec_push(&tids, s->tid);
		*at = tids.len;
	}
	vec_each(w, &m->wakes) {
		const u32 both[] = { w->waker, w->wakee };

		for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
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
		buf_addf(out, ",%u]", (u32)(hash_str(comm) % 360));
	}
	buf_addstr(out, "],\n");
	vec_release(&tids);
}

/* Begin, length, CPU, task, whether it waits; and time, CPU, waker, woken: all in ns, in order. */
static void add_stretches(struct sched_map *m, const struct map *numbers, struct buf *out)
{
	bool first = true;

	buf_addstr(out, "\"stretches\":[");
	vec_each(s, &m->stretches) {
		if (!sched_filter_task(m->filter, m->names, s->tid))
			continue;
		buf_addf(out, "%s%llu,%llu,%u,%llu,%d", first ? "" : ",",
			 (unsigned long long)(s->begin - m->begin),
			 (unsigned long long)(s->end - s->begin), s->cpu,
			 (unsigned long long)map_get(numbers, s->tid, 1) - 1, s->waiting);
		first = false;
	}
	buf_addstr(out, "],\n\"wakes\":[");
	first = true;
	vec_each(w, &m->wakes) {
		if (!sched_filter_task(m->filter, m->names, w->waker) &&
		    !sched_filter_task(m->filter, m->names, w->wakee))
			continue;
		buf_addf(out, "%s%llu,%u,%llu,%llu", first ? "" : ",",
			 (unsigned long long)(w->time - m->begin), w->cpu,
			 (unsigned long long)map_get(numbers, w->waker, 1) - 1,
			 (unsigned long long)map_get(numbers, w->wakee, 1) - 1);
		first = false;
	}
	buf_addstr(out, "]");
}

/* Without scripts: the CPUs, as far as a stretch is wide enough to be seen. */
static void add_still(struct sched_map *m, struct buf *out)
{
	double k = (WIDTH - LEFT - 20) / (double)MAX(m->end - m->begin, 1ull);
	u32 shown = 0;

	for (u32 cpu = 0; cpu < m->names->cpus; cpu++)
		buf_addf(out, "<text x=\"10\" y=\"%u\">CPU %u</text>\n", TOP + cpu * LANE + 15,
			 cpu);
	vec_each(s, &m->stretches) {
		double width = (double)(s->end - s->begin) * k;

		if (width < 0.5 || s->waiting || shown++ > 4000 ||
		    !sched_filter_task(m->filter, m->names, s->tid))
			continue;
		buf_addf(out,
			 "<rect class=\"run\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
			 "height=\"%d\" fill=\"hsl(%u,55%%,68%%)\"/>\n",
			 LEFT + (double)(s->begin - m->begin) * k, TOP + s->cpu * LANE, width, RUN,
			 (u32)(hash_str(sched_comm(m->names, s->tid)) % 360));
	}
}

static void add_script(struct sched_map *m, bool cdata, struct buf *out)
{
	_cleanup_map_ struct map numbers = MAP_INIT;

	buf_addstr(out, cdata ? "<script><![CDATA[\n" : "<script>\n");
	buf_addf(out, "window.timelineData={\"cpus\":%u,\"length\":%llu,", m->names->cpus,
		 (unsigned long long)MAX(m->end - m->begin, 1ull));
	add_tasks(m, &numbers, out);
	add_stretches(m, &numbers, out);
	buf_addstr(out, "};\n");
	(void)svg_asset("web/timeline-svg.js", out);
	buf_addstr(out, cdata ? "]]></script>\n" : "</script>\n");
}

/* How much it is, and what is missing from it. */
static void add_facts(const struct sched_map *m, struct buf *out)
{
	buf_addstr(out, "<text id=\"facts\" class=\"small\" x=\"10\" y=\"37\">");
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
	buf_addstr(out, "</text>\n");
}

void timeline_svg(struct sched_map *m, bool html, struct buf *out)
{
	u32 height = TOP + m->names->cpus * LANE + 40;

	if (html)
		buf_addstr(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
				"<title>Scheduler timeline</title><style>body{margin:0}"
				"</style></head><body>\n");
	else
		buf_addstr(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_addf(out,
		 "<svg id=\"timeline\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" "
		 "height=\"%u\" role=\"img\" aria-label=\"who ran on which CPU\">\n<style>\n",
		 html ? "100%" : "1200", height);
	(void)svg_asset("web/timeline-svg.css", out);
	buf_addstr(out, "</style>\n<text id=\"title\" x=\"10\" y=\"22\">Scheduler timeline</text>\n"
			"<text id=\"info\" x=\"200\" y=\"22\"></text>\n");
	add_facts(m, out);
	buf_addstr(out, "<g id=\"drawn\">\n");
	add_still(m, out);
	buf_addf(
		out,
		"</g>\n<text id=\"help\" class=\"small\" x=\"10\" y=\"%u\">coloured: runs; yellow: "
		"waits for a CPU; arrow: wakes. Wheel, + and -: zoom; drag, arrow keys: move; "
		"click: choose a task; double click, Esc: all</text>\n",
		height - 8);
	/* inside of the picture the text of a script would be markup to a page's parser */
	if (!html)
		add_script(m, true, out);
	buf_addstr(out, "</svg>\n");
	if (html) {
		add_script(m, false, out);
		buf_addstr(out, "</body></html>\n");
	}
}
