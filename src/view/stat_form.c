/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms of 'perf stat' -x and -j. */
#include "view/stat_form.h"

#include "base/json.h"

/* What perf calls the groups in JSON. */
static const char *const keys[] = {
	[STAT_CPU] = "cpu",       [STAT_CORE] = "core",     [STAT_CLUSTER] = "cluster",
	[STAT_DIE] = "die",       [STAT_SOCKET] = "socket", [STAT_NODE] = "node",
	[STAT_THREAD] = "thread",
};

static const char *state_text(const struct stat_line *l)
{
	return l->state == STAT_NOT_SUPPORTED ? "<not supported>" : "<not counted>";
}

static double running_percent(const struct stat_line *l)
{
	return l->enabled > 0 ? 100 * l->running / l->enabled : 100;
}

/* Groups of CPUs that perf shows with their number of CPUs. */
static bool has_number(const struct stat_set *s)
{
	return s->by == STAT_CORE || s->by == STAT_CLUSTER || s->by == STAT_DIE ||
	       s->by == STAT_SOCKET || s->by == STAT_NODE;
}

static bool before_event(const struct stat_set *s, const struct stat_line *l)
{
	return l->group->label && s->by != STAT_CGROUP;
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void csv_prefix(const struct stat_set *s, const struct stat_line *l,
		       const struct stat_form *f, struct buf *out)
{
	if (f->interval)
		buf_addf(out, "%6llu.%09llu%s", (unsigned long long)(f->time / NSEC_PER_SEC),
			 (unsigned long long)(f->time % NSEC_PER_SEC), f->separator);
	else if (f->summary)
		buf_addf(out, "%16s%s", "summary", f->separator);
	if (!before_event(s, l))
		return;
	buf_addf(out, "%s%s", l->group->label, f->separator);
	if (has_number(s))
		buf_addf(out, "%u%s", l->group->cpus, f->separator);
}

static void csv_value(const struct stat_line *l, const struct stat_form *f, struct buf *out)
{
	if (l->state != STAT_COUNTED)
		buf_addstr(out, state_text(l));
	else
		buf_addf(out, "%.*f", l->event->fraction ? 2 : 0, l->value.mean);
	buf_addf(out, "%s%s%s%s", f->separator, l->event->unit, f->separator, l->event->name);
}

static void csv_metric(const struct stat_metric *m, const struct stat_form *f, struct buf *out)
{
	buf_addf(out, "%s%.*f%s%s\n", f->separator, m->decimals, m->value, f->separator, m->unit);
}

static void csv_line(const struct stat_set *s, const struct stat_line *l, const struct stat_form *f,
		     struct buf *out)
{
	size_t fields = 5 + (s->by == STAT_CGROUP) + f->repeated;

	csv_prefix(s, l, f, out);
	csv_value(l, f, out);
	if (s->by == STAT_CGROUP)
		buf_addf(out, "%s%s", f->separator, l->group->label);
	if (f->repeated)
		buf_addf(out, "%s%.2f%%", f->separator,
			 l->state == STAT_COUNTED ? l->value.error : 0);
	buf_addf(out, "%s%.0f%s%.2f", f->separator, l->running, f->separator, running_percent(l));
	if (!l->n_metrics)
		buf_addf(out, "%s%s\n", f->separator, f->separator);
	for (size_t i = 0; i < l->n_metrics; i++) {
		if (i) {
			csv_prefix(s, l, f, out);
			for (size_t k = 1; k < fields; k++)
				buf_addstr(out, f->separator);
		}
		csv_metric(&l->metrics[i], f, out);
	}
}

/* A line of names once, then a line of values for each group. */
static void csv_metrics_only(const struct stat_set *s, const stat_lines *lines,
			     const struct stat_form *f, struct buf *out)
{
	for (size_t g = 0; g < s->groups.len; g++) {
		const struct stat_group *group = &s->groups.items[g];
		struct stat_line place = { .group = group };

		if (f->header && g == 0) {
			if (f->interval)
				buf_addf(out, "time%s", f->separator);
			vec_each(l, lines) {
				for (size_t i = 0; l->group == group && i < l->n_metrics; i++)
					buf_addf(out, "%s%s", l->metrics[i].unit, f->separator);
			}
			buf_addch(out, '\n');
		}
		csv_prefix(s, &place, f, out);
		vec_each(l, lines) {
			for (size_t i = 0; l->group == group && i < l->n_metrics; i++)
				buf_addf(out, "%.*f%s", l->metrics[i].decimals, l->metrics[i].value,
					 f->separator);
		}
		buf_addch(out, '\n');
	}
}

void stat_form_csv(const struct stat_set *s, const stat_lines *lines, const struct stat_form *f,
		   struct buf *out)
{
	if (f->metric_only) {
		csv_metrics_only(s, lines, f, out);
		return;
	}
	vec_each(l, lines)
		csv_line(s, l, f, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_text_value(struct buf *out, const char *key, const char *value)
{
	buf_addf(out, "\"%s\" : ", key);
	json_quote(out, value, strlen(value));
	buf_addstr(out, ", ");
}

static void json_prefix(const struct stat_set *s, const struct stat_line *l,
			const struct stat_form *f, struct buf *out)
{
	buf_addch(out, '{');
	if (f->interval)
		buf_addf(out, "\"interval\" : %llu.%09llu, ",
			 (unsigned long long)(f->time / NSEC_PER_SEC),
			 (unsigned long long)(f->time % NSEC_PER_SEC));
	if (!before_event(s, l))
		return;
	/* perf gives the number of a CPU, but the names of all other groups */
	json_text_value(out, keys[s->by],
			s->by == STAT_CPU ? l->group->label + strlen("CPU") : l->group->label);
	if (has_number(s))
		buf_addf(out, "\"aggregate-number\" : %u, ", l->group->cpus);
}

static void json_metric(const struct stat_metric *m, struct buf *out)
{
	buf_addf(out, "\"metric-value\" : %f, \"metric-unit\" : \"%s\"}\n", m->value, m->unit);
}

static void json_line(const struct stat_set *s, const struct stat_line *l,
		      const struct stat_form *f, struct buf *out)
{
	static const struct stat_metric none = { .unit = "" };

	json_prefix(s, l, f, out);
	if (l->state != STAT_COUNTED)
		buf_addf(out, "\"counter-value\" : \"%s\", ", state_text(l));
	else
		buf_addf(out, "\"counter-value\" : \"%f\", ", l->value.mean);
	json_text_value(out, "unit", l->event->unit);
	json_text_value(out, "event", l->event->name);
	if (s->by == STAT_CGROUP)
		json_text_value(out, "cgroup", l->group->label);
	if (f->repeated)
		buf_addf(out, "\"variance\" : %.2f, ",
			 l->state == STAT_COUNTED ? l->value.error : 0);
	buf_addf(out, "\"event-runtime\" : %.0f, \"pcnt-running\" : %.2f, ", l->running,
		 running_percent(l));
	json_metric(l->n_metrics ? &l->metrics[0] : &none, out);
	for (size_t i = 1; i < l->n_metrics; i++) {
		json_prefix(s, l, f, out);
		json_metric(&l->metrics[i], out);
	}
}

void stat_form_json(const struct stat_set *s, const stat_lines *lines, const struct stat_form *f,
		    struct buf *out)
{
	vec_each(l, lines) {
		if (!f->metric_only) {
			json_line(s, l, f, out);
			continue;
		}
		for (size_t i = 0; i < l->n_metrics; i++) {
			json_prefix(s, l, f, out);
			json_metric(&l->metrics[i], out);
		}
	}
}
