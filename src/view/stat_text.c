/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts for people: perf's look, without a line for each event that this machine does not have. */
#include "view/stat_form.h"

#include <math.h>

#include "base/fmt.h"
#include "view/term.h"

enum {
	VALUE_WIDTH = 18,
	EVENT_WIDTH = 24,
	TABLE_BARS = 40,
	SPREAD_COLUMN = 68,
	PERF_EVENT_WIDTH = 32,
	PERF_METRIC_WIDTH = 34, /* with its '#' */
	PERF_DIGITS = 5,        /* of times with their spread */
};

/* --- one line --------------------------------------------------------------------------------- */

static void pad(struct buf *out, const char *text, size_t width, bool right)
{
	size_t n = fmt_width(text), fill = n < width ? width - n : 0;

	if (right)
		buf_fill(out, ' ', fill);
	buf_addstr(out, text);
	if (!right)
		buf_fill(out, ' ', fill);
}

static void add_number(struct buf *out, double v, bool fraction, bool big)
{
	if (big && v >= 0 && v < 1e18) {
		double whole = floor(fraction ? v + 0.005 : v + 0.5);

		fmt_count(out, (u64)whole);
		if (fraction)
			buf_addf(out, ".%02d", (int)(fmax(v + 0.005 - whole, 0) * 100) % 100);
		return;
	}
	buf_addf(out, "%.*f", fraction ? 2 : 0, v);
}

static size_t label_width(const struct stat_set *s)
{
	size_t most = 0;

	vec_each(g, &s->groups) {
		if (g->label)
			most = MAX(most, fmt_width(g->label));
	}
	return most;
}

static size_t event_width(const struct stat_set *s, const struct stat_form *f)
{
	size_t most = f->as_perf ? PERF_EVENT_WIDTH : EVENT_WIDTH;

	vec_each(ev, &s->events) {
		if (!ev->why || f->as_perf)
			most = MAX(most, MIN(strlen(ev->name), 48));
	}
	return most;
}

static size_t value_width(const struct stat_set *s, const struct stat_form *f)
{
	return !f->as_perf && (f->interval || s->by != STAT_ALL) ? 14 : VALUE_WIDTH;
}

static void add_begin(const struct stat_set *s, const struct stat_line *l,
		      const struct stat_form *f, struct buf *out)
{
	if (f->interval && f->as_perf)
		buf_addf(out, "%6llu.%09llu ", (unsigned long long)(f->time / NSEC_PER_SEC),
			 (unsigned long long)(f->time % NSEC_PER_SEC));
	else if (f->interval)
		buf_addf(out, "%6llu.%06llu ", (unsigned long long)(f->time / NSEC_PER_SEC),
			 (unsigned long long)(f->time % NSEC_PER_SEC / NSEC_PER_USEC));
	if (l->group->label) {
		pad(out, l->group->label, label_width(s), false);
		buf_addch(out, ' ');
	}
}

static void add_metric(const struct stat_metric *m, const struct stat_form *f, struct buf *out)
{
	char text[96];

	snprintf(text, sizeof(text), "%8.*f%s %s%*s", m->decimals, m->value, m->percent ? "%" : "",
		 m->unit, f->as_perf ? MAX(0, PERF_METRIC_WIDTH - 11 - (int)strlen(m->unit)) : 0,
		 "");
	buf_addstr(out, " # ");
	term_add(out, text, strlen(text), m->style, f->color);
}

static void end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
	buf_addch(out, '\n');
}

/* After the metric, in a column of its own, as far as that fits. */
static void add_spread(const struct stat_line *l, const struct stat_form *f, size_t begin,
		       struct buf *out)
{
	size_t used = out->len - begin;

	if (!f->repeated || l->state != STAT_COUNTED)
		return;
	if (f->as_perf && !(l->value.error > 0))
		return;
	if (f->as_perf) {
		if (!l->n_metrics)
			buf_fill(out, ' ', PERF_METRIC_WIDTH + 1);
		buf_addf(out, "  ( +-%6.2f%% )", l->value.error);
		return;
	}
	if (used < SPREAD_COLUMN && !f->color)
		buf_fill(out, ' ', SPREAD_COLUMN - used);
	buf_addf(out, "  +- %.2f%%", l->value.error);
}

static void add_line(const struct stat_set *s, const struct stat_line *l, const struct stat_form *f,
		     struct buf *out)
{
	size_t begin = out->len;
	_cleanup_buf_ struct buf value = BUF_INIT;
	bool shared = l->running + 0.5 < l->enabled;

	add_begin(s, l, f, out);
	if (l->state == STAT_NOT_COUNTED)
		buf_addstr(&value, "<not counted>");
	else if (l->state == STAT_NOT_SUPPORTED)
		buf_addstr(&value, "<not supported>");
	else
		add_number(&value, l->value.mean, l->event->fraction, f->big);
	pad(out, buf_str(&value), value_width(s, f), true);
	buf_addch(out, ' ');
	pad(out, l->event->unit, 4, false);
	buf_addch(out, ' ');
	pad(out, l->event->name, event_width(s, f), false);
	if (l->n_metrics)
		add_metric(&l->metrics[0], f, out);
	add_spread(l, f, begin, out);
	if (shared)
		buf_addf(out, "  (%.2f%%)", 100 * l->running / l->enabled);
	end_line(out);
	for (size_t i = 1; i < l->n_metrics; i++) {
		add_begin(s, l, f, out);
		buf_fill(out, ' ', value_width(s, f) + 6 + event_width(s, f));
		add_metric(&l->metrics[i], f, out);
		buf_addch(out, '\n');
	}
}

/* --- only metrics ----------------------------------------------------------------------------- */

static void add_metrics_only(const struct stat_set *s, const stat_lines *lines,
			     const struct stat_form *f, struct buf *out)
{
	for (size_t g = 0; g < s->groups.len; g++) {
		struct stat_line place = { .group = &s->groups.items[g] };

		if (f->header && g == 0) {
			buf_fill(out, ' ',
				 (f->interval ? 14 : 0) +
					 (place.group->label ? label_width(s) + 1 : 0));
			vec_each(l, lines) {
				for (size_t i = 0; l->group == place.group && i < l->n_metrics;
				     i++) {
					pad(out, l->metrics[i].unit, 14, true);
					buf_addstr(out, "  ");
				}
			}
			buf_addch(out, '\n');
		}
		add_begin(s, &place, f, out);
		vec_each(l, lines) {
			for (size_t i = 0; l->group == place.group && i < l->n_metrics; i++) {
				char text[40];

				snprintf(text, sizeof(text), "%.*f%s", l->metrics[i].decimals,
					 l->metrics[i].value, l->metrics[i].percent ? "%" : "");
				pad(out, text, MAX(14, strlen(l->metrics[i].unit)), true);
				buf_addstr(out, "  ");
			}
		}
		buf_addch(out, '\n');
	}
}

/* --- times ------------------------------------------------------------------------------------ */

static void add_time(const struct stat_set *s, size_t of, const char *what,
		     const struct stat_form *f, struct buf *out)
{
	struct stat_mean t;

	stat_time(s, of, &t);
	if (f->as_perf && f->repeated) {
		buf_addf(out, " %17.*f +- %.*f seconds %s  ( +-%6.2f%% )\n", PERF_DIGITS,
			 t.mean / 1e9, PERF_DIGITS, t.mean * t.error / 100 / 1e9, what, t.error);
		return;
	}
	if (f->as_perf) {
		buf_addf(out, "%18.9f seconds %s\n", t.mean / 1e9, what);
		return;
	}
	if (!f->repeated) {
		buf_addf(out, "%18.9f s    %s\n", t.mean / 1e9, what);
		return;
	}
	buf_addf(out, "%18.9f s    %-8s", t.mean / 1e9, what);
	if (t.runs > 1)
		buf_addf(out, " +- %.2f%%, 95%% sure: %.6f s to %.6f s", t.error,
			 fmax(t.low, 0) / 1e9, t.high / 1e9);
	end_line(out);
}

/* Each run as a bar, to see a trend or an outlier. */
static void add_table(const struct stat_set *s, struct buf *out)
{
	struct stat_mean t;
	double most = 0;

	stat_time(s, offsetof(struct stat_span, wall), &t);
	vec_each(span, &s->spans)
		most = fmax(most, (double)span->wall);
	buf_addstr(out, "\n  # each run:\n");
	vec_each(span, &s->spans) {
		double wall = (double)span->wall;
		int bars = most > 0 ? (int)(wall / most * TABLE_BARS + 0.5) : 0;

		buf_addf(out, "%18.9f s  (%+.6f)  ", wall / 1e9, (wall - t.mean) / 1e9);
		buf_fill(out, '#', (size_t)bars);
		buf_addch(out, '\n');
	}
}

static void add_times(const struct stat_set *s, const struct stat_form *f, struct buf *out)
{
	bool program = false;

	vec_each(span, &s->spans)
		program |= span->user || span->system;
	if (f->table)
		add_table(s, out);
	buf_addch(out, '\n');
	add_time(s, offsetof(struct stat_span, wall), f->as_perf ? "time elapsed" : "elapsed", f,
		 out);
	if (f->as_perf && (f->repeated || !program || f->whole)) {
		buf_addstr(out, "\n");
	} else if (f->as_perf) {
		buf_addch(out, '\n');
		add_time(s, offsetof(struct stat_span, user), "user", f, out);
		add_time(s, offsetof(struct stat_span, system), "sys", f, out);
		buf_addstr(out, "\n\n");
	} else if (program) {
		add_time(s, offsetof(struct stat_span, user), "user", f, out);
		add_time(s, offsetof(struct stat_span, system), "system", f, out);
	}
}

/* --- all -------------------------------------------------------------------------------------- */

void stat_form_text(const struct stat_set *s, const stat_lines *lines, const struct stat_form *f,
		    struct buf *out)
{
	if (!f->interval && f->subject) {
		buf_addf(out, "\n %s for %s", f->as_perf ? "Performance counter stats" : "Counted",
			 f->subject);
		if (f->repeated)
			buf_addf(out, " (%zu runs)", s->spans.len);
		buf_addstr(out, ":\n\n");
	}
	if (f->interval && f->header && f->as_perf)
		buf_addf(out, "#           time %*s            counts unit events\n",
			 (int)(s->groups.items[0].label ? label_width(s) : 0), "");
	else if (f->interval && f->header && !f->metric_only)
		buf_addf(out, "#       time %*s         count unit event\n",
			 (int)(s->groups.items[0].label ? label_width(s) : 0), "");
	if (f->metric_only) {
		add_metrics_only(s, lines, f, out);
	} else {
		vec_each(l, lines) {
			if (l->state != STAT_NOT_SUPPORTED || f->as_perf)
				add_line(s, l, f, out);
		}
	}
	if (!f->interval)
		add_times(s, f, out);
}
