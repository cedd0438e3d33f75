/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/stat_result.h"

#include <math.h>

static const char no_pmu_text[] = "no hardware counters here: cycles, IPC, branch "
				  "and cache misses are not known";
static const char no_pmu_hint[] =
	"run on bare metal or give the guest a virtual PMU; --why says what was waited for";

enum {
	C_GROUP,
	C_EVENT,
	C_VALUE,
	C_UNIT,
	C_STATE,
	C_ERROR,
	C_SPREAD,
	C_LOW,
	C_HIGH,
	C_RUNNING,
	C_METRIC,
	C_METRIC_UNIT,
	C_WHY,
};

static const struct column columns[] = {
	[C_GROUP] = { "group", "GROUP", VALUE_TEXT, 0 },
	[C_EVENT] = { "event", "EVENT", VALUE_TEXT, 0 },
	[C_VALUE] = { "value", "VALUE", VALUE_NUMBER, 0 },
	[C_UNIT] = { "unit", "UNIT", VALUE_TEXT, 0 },
	[C_STATE] = { "state", "STATE", VALUE_TEXT, 0 },
	[C_ERROR] = { "error_percent", "+-", VALUE_PERCENT, 0 },
	[C_SPREAD] = { "standard_deviation", "SPREAD", VALUE_NUMBER, 0 },
	[C_LOW] = { "confidence_low", "LOW", VALUE_NUMBER, 0 },
	[C_HIGH] = { "confidence_high", "HIGH", VALUE_NUMBER, 0 },
	[C_RUNNING] = { "running_percent", "RUNNING", VALUE_PERCENT, 0 },
	[C_METRIC] = { "metric", "METRIC", VALUE_NUMBER, 0 },
	[C_METRIC_UNIT] = { "metric_unit", "OF", VALUE_TEXT, 0 },
	[C_WHY] = { "why", "WHY", VALUE_TEXT, COLUMN_FILL },
};

enum { R_RUN, R_GROUP, R_EVENT, R_VALUE, R_UNIT };

static const struct column run_columns[] = {
	[R_RUN] = { "run", "RUN", VALUE_COUNT, 0 },
	[R_GROUP] = { "group", "GROUP", VALUE_TEXT, 0 },
	[R_EVENT] = { "event", "EVENT", VALUE_TEXT, 0 },
	[R_VALUE] = { "value", "VALUE", VALUE_NUMBER, 0 },
	[R_UNIT] = { "unit", "UNIT", VALUE_TEXT, 0 },
};

static const char *const states[] = {
	[STAT_COUNTED] = "counted",
	[STAT_NOT_COUNTED] = "not counted",
	[STAT_NOT_SUPPORTED] = "not supported",
};

static void add_line(struct result *r, struct table *t, const struct stat_line *l)
{
	struct value *c = table_row(r, t)->cells;

	c[C_GROUP] = value_text(r, l->group->label);
	c[C_EVENT] = value_text(r, l->event->name);
	c[C_UNIT] = value_text(r, *l->event->unit ? l->event->unit : NULL);
	c[C_STATE] = value_text(r, states[l->state]);
	c[C_WHY] = value_text(r, l->event->why);
	if (l->state != STAT_COUNTED)
		return;
	c[C_VALUE] = value_d(VALUE_NUMBER, l->value.mean);
	c[C_RUNNING] = value_d(VALUE_PERCENT, 100 * l->running / l->enabled);
	if (l->value.runs > 1) {
		c[C_ERROR] = value_d(VALUE_PERCENT, l->value.error);
		c[C_SPREAD] = value_d(VALUE_NUMBER, l->value.spread);
		c[C_LOW] = value_d(VALUE_NUMBER, l->value.low);
		c[C_HIGH] = value_d(VALUE_NUMBER, l->value.high);
	}
	if (l->n_metrics) {
		c[C_METRIC] = value_d(VALUE_NUMBER, l->metrics[0].value);
		c[C_METRIC_UNIT] = value_text(r, l->metrics[0].unit);
	}
}

/* --- each run --------------------------------------------------------------------------------- */

static void add_run(struct result *r, struct table *t, size_t run, const char *group,
		    const char *event, double value, const char *unit)
{
	struct value *c = table_row(r, t)->cells;

	c[R_RUN] = value_u(VALUE_COUNT, run + 1);
	c[R_GROUP] = value_text(r, group);
	c[R_EVENT] = value_text(r, event);
	c[R_VALUE] = value_d(VALUE_NUMBER, value);
	c[R_UNIT] = value_text(r, unit && *unit ? unit : NULL);
}

static void add_runs(const struct stat_set *s, struct result *r)
{
	struct table *t = result_table(r, "runs", NULL, run_columns, ARRAY_SIZE(run_columns));

	for (size_t run = 0; run < s->spans.len; run++) {
		const struct stat_span *span = &s->spans.items[run];
		struct stat_set one = *s;
		stat_lines lines = { 0 };

		one.spans.items = &s->spans.items[run];
		one.spans.len = 1;
		stat_report(&one, &lines);
		add_run(r, t, run, NULL, "elapsed", (double)span->wall / 1e9, "s");
		if (span->user || span->system) {
			add_run(r, t, run, NULL, "user", (double)span->user / 1e9, "s");
			add_run(r, t, run, NULL, "system", (double)span->system / 1e9, "s");
		}
		vec_each(l, &lines) {
			if (l->state == STAT_COUNTED)
				add_run(r, t, run, l->group->label, l->event->name, l->value.mean,
					l->event->unit);
		}
		vec_release(&lines);
	}
}

static void add_time(const struct stat_set *s, struct result *r, size_t of, const char *key,
		     const char *title)
{
	struct stat_mean t;

	stat_time(s, of, &t);
	result_fact(r, key, title, value_u(VALUE_DURATION, (u64)llround(t.mean)));
}

void stat_result(const struct stat_set *s, const char *subject, bool no_pmu, u64 time,
		 struct result *r)
{
	struct table *t;
	stat_lines lines = { 0 };

	result_title(r, "counts of %s", subject);
	result_fact(r, "subject", NULL, value_text(r, subject));
	if (time)
		result_fact(r, "time_ns", "time", value_u(VALUE_DURATION, time));
	result_fact(r, "runs", "runs", value_u(VALUE_COUNT, s->spans.len));
	add_time(s, r, offsetof(struct stat_span, wall), "elapsed_ns", "elapsed");
	if (!s->whole) {
		add_time(s, r, offsetof(struct stat_span, user), "user_ns", "user");
		add_time(s, r, offsetof(struct stat_span, system), "system_ns", "system");
	}
	t = result_table(r, "counters", NULL, columns, ARRAY_SIZE(columns));
	stat_report(s, &lines);
	vec_each(l, &lines)
		add_line(r, t, l);
	vec_release(&lines);
	if (!time)
		add_runs(s, r);
	if (no_pmu)
		result_note(r, NOTE_INFO, no_pmu_hint, "%s", no_pmu_text);
}

/* --- what is missing -------------------------------------------------------------------------- */

bool stat_any_missing(const struct stat_set *s)
{
	vec_each(ev, &s->events) {
		if (ev->why)
			return true;
	}
	return false;
}

void stat_missing(const struct stat_set *s, bool no_pmu, struct buf *out)
{
	const char *hint = NULL;
	size_t n = 0;

	if (no_pmu)
		buf_addf(out, " %s\n hint: %s\n", no_pmu_text, no_pmu_hint);
	vec_each(ev, &s->events) {
		if (!ev->why)
			continue;
		buf_addf(out, "%s%s", n++ ? ", " : " not counted here: ", ev->name);
		hint = ev->hint ? ev->hint : hint;
	}
	if (n)
		buf_addch(out, '\n');
	if (hint)
		buf_addf(out, " hint: %s\n", hint);
}
