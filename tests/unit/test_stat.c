/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "analysis/stat.h"
#include "analysis/stat_result.h"
#include "analysis/stat_why.h"
#include "view/stat_form.h"

/* --- statistics ------------------------------------------------------------------------------- */

TEST("quantiles of Student's t are those of the tables")
{
	CHECK_NEAR(stat_student(1, 0.05), 12.7062, 1e-4);
	CHECK_NEAR(stat_student(4, 0.05), 2.776445, 1e-6);
	CHECK_NEAR(stat_student(9, 0.05), 2.262157, 1e-6);
	CHECK_NEAR(stat_student(9, 0.01), 3.249836, 1e-6);
	CHECK_NEAR(stat_student(1000, 0.05), 1.962339, 1e-6);
	CHECK_NEAR(stat_student(0, 0.05), 0, 0);
	CHECK_NEAR(stat_student(5, 0), 0, 0);
}

TEST("a mean with its spread and confidence")
{
	const double values[] = { 10, 12, 14 };
	struct stat_mean m;

	stat_mean_of(values, 3, &m);
	CHECK_NEAR(m.mean, 12, 1e-12);
	CHECK_NEAR(m.spread, 2, 1e-12);
	CHECK_NEAR(m.error, 100 * 2 / 1.7320508075688772 / 12, 1e-9);
	CHECK_NEAR(m.low, 12 - 4.302653 * 1.154701, 1e-5);
	CHECK_NEAR(m.high, 12 + 4.302653 * 1.154701, 1e-5);
	stat_mean_of(values, 1, &m);
	CHECK_NEAR(m.spread, 0, 0);
	CHECK_NEAR(m.low, 10, 0);
	stat_mean_of(values, 0, &m);
	CHECK_NEAR(m.mean, 0, 0);
}

TEST("large values lose nothing to cancellation")
{
	const double values[] = { 1e15 + 1, 1e15 + 2, 1e15 + 3 };
	struct stat_mean m;

	stat_mean_of(values, 3, &m);
	CHECK_NEAR(m.spread, 1, 1e-9);
}

TEST("Welch's test against a worked example")
{
	/* two samples of unequal variance; p by R: t.test(a, b) = 0.07538 and 0.9999 */
	const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
			     21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 };
	const double b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
			     24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4 };
	struct stat_mean ma, mb;

	stat_mean_of(a, ARRAY_SIZE(a), &ma);
	stat_mean_of(b, ARRAY_SIZE(b), &mb);
	CHECK(stat_welch(&ma, &mb) < 0.01);
	CHECK(stat_welch(&ma, &mb) > 0.001);
	CHECK_NEAR(stat_welch(&ma, &ma), 1, 1e-12);
	mb.runs = 1;
	CHECK_NEAR(stat_welch(&ma, &mb), 1, 0);
}

/* --- a machine with a PMU, made up ---------------------------------------------------------- */

struct made {
	struct stat_set set;
	struct event_list events;
};

/* Parses @text and gives each event the count of the same place; half of the time each has a
 * counter if @shared. */
static void make(struct made *m, const char *text, const u64 *counts, bool shared)
{
	struct stat_span *span;

	memset(m, 0, sizeof(*m));
	stat_init(&m->set, STAT_ALL, false, true);
	CHECK_EQ(event_parse(&m->events, text, NULL), 0);
	for (size_t i = 0; i < m->events.events.len; i++) {
		const struct event *ev = &m->events.events.items[i];
		struct stat_event *out = vec_new(&m->set.events);

		out->name = ev->name;
		out->unit = "";
		out->scale = 1;
		out->role = stat_role_of(ev);
	}
	(void)vec_new(&m->set.groups);
	span = vec_new(&m->set.spans);
	span->sums = xcalloc(m->events.events.len, sizeof(*span->sums));
	span->wall = 1000000000;
	for (size_t i = 0; i < m->events.events.len; i++)
		span->sums[i] = (struct count){ counts[i], 1000, shared ? 500 : 1000 };
}

static void made_release(struct made *m)
{
	stat_release(&m->set);
	event_list_release(&m->events);
}

TEST("instructions per cycle, stalls and miss rates")
{
	const u64 counts[] = { 2000, 5000, 1000, 25, 400, 40, 600 };
	struct made m;
	stat_lines lines = { 0 };

	make(&m,
	     "cycles,instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses,"
	     "stalled-cycles-backend",
	     counts, false);
	stat_report(&m.set, &lines);
	CHECK_EQ(lines.len, 7);
	CHECK_EQ(lines.items[0].n_metrics, 0); /* no clock: no GHz */
	CHECK_EQ(lines.items[1].n_metrics, 2);
	CHECK_NEAR(lines.items[1].metrics[0].value, 2.5, 1e-12);
	CHECK_STR(lines.items[1].metrics[0].unit, "insn per cycle");
	CHECK_NEAR(lines.items[1].metrics[1].value, 0.12, 1e-12);
	CHECK_STR(lines.items[1].metrics[1].unit, "stalled cycles per insn");
	CHECK_NEAR(lines.items[3].metrics[0].value, 2.5, 1e-12);
	CHECK_STR(lines.items[3].metrics[0].unit, "of all branches");
	CHECK_EQ(lines.items[3].metrics[0].style, STYLE_NONE);
	CHECK_NEAR(lines.items[5].metrics[0].value, 10, 1e-12);
	CHECK_EQ(lines.items[5].metrics[0].style, STYLE_BAD);
	CHECK_NEAR(lines.items[6].metrics[0].value, 30, 1e-12);
	vec_release(&lines);
	made_release(&m);
}

TEST("what the kernel multiplexed is scaled, and says so")
{
	const u64 counts[] = { 2000, 5000 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	const struct stat_form form = { .separator = ",", .header = true, .big = true };
	struct made m;
	stat_lines lines = { 0 };

	make(&m, "cycles,instructions", counts, true);
	stat_report(&m.set, &lines);
	CHECK_NEAR(lines.items[0].value.mean, 4000, 1e-9);
	stat_form_csv(&m.set, &lines, &form, &out);
	CHECK_STR(buf_str(&out), "4000,,cycles,500,50.00,,\n"
				 "10000,,instructions,500,50.00,2.50,insn per cycle\n");
	buf_reset(&out);
	stat_form_text(&m.set, &lines, &form, &out);
	CHECK(strstr(buf_str(&out), "10,000      instructions"));
	CHECK(strstr(buf_str(&out), "(50.00%)"));
	m.set.scale = false;
	stat_report(&m.set, &lines);
	CHECK_NEAR(lines.items[0].value.mean, 2000, 1e-9);
	vec_release(&lines);
	made_release(&m);
}

TEST("a second metric has a line of its own, in both forms")
{
	const u64 counts[] = { 2000, 5000, 600 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	const struct stat_form form = { .separator = ";" };
	struct made m;
	stat_lines lines = { 0 };

	make(&m, "cycles,instructions,stalled-cycles-backend", counts, false);
	stat_report(&m.set, &lines);
	stat_form_csv(&m.set, &lines, &form, &out);
	CHECK(strstr(buf_str(&out), "5000;;instructions;1000;100.00;2.50;insn per cycle\n"
				    ";;;;;0.12;stalled cycles per insn\n"));
	buf_reset(&out);
	stat_form_json(&m.set, &lines, &form, &out);
	CHECK(strstr(buf_str(&out),
		     "\n{\"metric-value\" : 0.120000, \"metric-unit\" : \"stalled cycles per "
		     "insn\"}\n"));
	vec_release(&lines);
	made_release(&m);
}

TEST("an event without a counter is not 0")
{
	const u64 counts[] = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	const struct stat_form form = { .separator = "," };
	struct made m;
	stat_lines lines = { 0 };

	make(&m, "cycles", counts, false);
	m.set.spans.items[0].sums[0].running = 0;
	stat_report(&m.set, &lines);
	CHECK_EQ(lines.items[0].state, STAT_NOT_COUNTED);
	stat_form_csv(&m.set, &lines, &form, &out);
	CHECK_STR(buf_str(&out), "<not counted>,,cycles,0,0.00,,\n");
	vec_release(&lines);
	made_release(&m);
}

TEST("every metric's events can be parsed, and give it")
{
	const char *name, *meaning;

	for (size_t i = 0; (name = stat_metric_name(i, &meaning)); i++) {
		struct event_list list = EVENT_LIST_INIT;
		const char *events = stat_metric_events(name);

		CHECK(events && meaning && *meaning);
		if (!strstr(events, "slots")) /* sysfs names, only where the PMU has them */
			CHECK_EQ(event_parse(&list, events, NULL), 0);
		event_list_release(&list);
	}
	CHECK(!stat_metric_events("no-such-metric"));
}

/* --- why -------------------------------------------------------------------------------------- */

TEST("the time of a thread in words, and it sums up")
{
	struct stat_why w = { 0 };
	struct delay d;
	_cleanup_buf_ struct buf out = BUF_INIT;

	CHECK(delay_parse("310000000 40000000 12\n", &d));
	CHECK(!delay_parse("310000000 40000000", &d));
	CHECK(!delay_parse("", &d));
	stat_why_of_delay(&w.main, &d, 1200000000);
	stat_why_text(&w, &out);
	CHECK_STR(
		buf_str(&out),
		" 1.200 s of the main thread: 0.310 s running, 0.040 s waiting for a CPU, 0.850 s\n"
		"   blocked\n");
	/* a wall time that is shorter than what ran is not debt */
	stat_why_of_delay(&w.main, &d, 1);
	CHECK_EQ(w.main.ns[STATE_OTHER], 0);
}

TEST("pressure is the total of its first line")
{
	u64 ns = 0;

	CHECK(pressure_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull total=9\n",
			     &ns));
	CHECK_EQ(ns, 1234000);
	CHECK(!pressure_parse("full avg10=0.00 total=1234", &ns));
	CHECK(!pressure_parse("some total=x", &ns));
	CHECK(!pressure_parse("", &ns));
}

/* --- files ------------------------------------------------------------------------------------ */

static const char file_a[] =
	"{\"command\":\"stat\",\"runs\":["
	"{\"run\":1,\"group\":null,\"event\":\"elapsed\",\"value\":1.00,\"unit\":\"s\"},"
	"{\"run\":2,\"group\":null,\"event\":\"elapsed\",\"value\":1.01,\"unit\":\"s\"},"
	"{\"run\":3,\"group\":null,\"event\":\"elapsed\",\"value\":0.99,\"unit\":\"s\"},"
	"{\"run\":1,\"event\":\"faults\",\"value\":10},{\"run\":2,\"event\":\"faults\",\"value\":"
	"30},"
	"{\"run\":3,\"event\":\"faults\",\"value\":20}]}";
static const char file_b[] =
	"{\"runs\":[{\"event\":\"elapsed\",\"value\":1.20,\"unit\":\"s\"},"
	"{\"event\":\"elapsed\",\"value\":1.21,\"unit\":\"s\"},"
	"{\"event\":\"elapsed\",\"value\":1.19,\"unit\":\"s\"},"
	"{\"event\":\"faults\",\"value\":12},{\"event\":\"faults\",\"value\":33},"
	"{\"event\":\"faults\",\"value\":18},{\"event\":\"alone\",\"value\":1}]}";

TEST("a comparison tells real differences from chance")
{
	struct stat_file a, b;
	struct result r;
	const struct table *t;

	CHECK_EQ(stat_file_parse(file_a, strlen(file_a), "a", &a, NULL), 0);
	CHECK_EQ(stat_file_parse(file_b, strlen(file_b), "b", &b, NULL), 0);
	result_init(&r, "stat");
	stat_compare(&a, &b, &r);
	t = r.sections.items[0].table;
	CHECK_EQ(t->rows.len, 2);
	CHECK_STR(t->rows.items[0].cells[1].s, "elapsed");
	CHECK_NEAR(t->rows.items[0].cells[5].d, 20, 1e-9);
	CHECK_STR(t->rows.items[0].cells[9].s, "more");
	CHECK_STR(t->rows.items[1].cells[9].s, "chance");
	CHECK_EQ(r.notes.len, 2);
	result_release(&r);
	stat_file_release(&a);
	stat_file_release(&b);
}

TEST("files that are no runs are refused by name")
{
	static const char *const bad[] = { "",
					   "[]",
					   "{}",
					   "{\"runs\":[]}",
					   "{\"runs\":[{]}",
					   "x",
					   "{\"runs\":[{\"event\":1,\"value\":\"a\"}]}",
					   "{\"runs\":{\"a\":1}}" };
	_cleanup_err_ struct err e = ERR_INIT;
	struct stat_file f;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(stat_file_parse(bad[i], strlen(bad[i]), "x.json", &f, &e), -EINVAL);
		CHECK(strstr(e.what, "'x.json'"));
		CHECK(e.hint != NULL);
	}
}
