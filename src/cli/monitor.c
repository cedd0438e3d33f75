/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/stop.h"
#include "counters/track.h"
#include "host/machine.h"
#include "recording/recording.h"

#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>

#define AT(field) .offset = offsetof(struct monitor_args, field)

const struct opt monitor_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "a recording of 'fathom record --counters', not this machine" },
	{ .name = "at",
	  .type = OPT_STRING,
	  AT(at),
	  .arg = "TIME",
	  .help = "with -i: only the interval with this moment, as 14:03:59, or 2.5s after the "
		  "start" },
	{ .name = "duration",
	  .type = OPT_DURATION,
	  AT(duration),
	  .arg = "TIME",
	  .help = "stop after this time, like 10s; without INTERVAL each second" },
	{ .name = "from",
	  .type = OPT_FILE,
	  AT(from),
	  .arg = "DIR",
	  .help = "read DIR/proc and DIR/sys, not those of this machine" },
	{ .name = "timestamp",
	  .type = OPT_FLAG,
	  AT(timestamp),
	  .help = "begin each line with the time" },
	{ .name = "no-boot",
	  .type = OPT_FLAG,
	  AT(skip_first),
	  .help = "leave out the first figures, which are since boot" },
	OPT_END,
};

enum { COLUMNS_MOST = 128, LINES_DEFAULT = 22 };

/* A table with its formulas, ready to be computed. */
struct prepared {
	const struct monitor_table *table;
	bool timed;
	bool average; /* of all intervals, in place of the time */
	u32 each;     /* counter, SET_NONE: one row */
	struct formula *formulas;
	struct formula used;
	struct column *columns;
	struct column_look *looks;
	size_t n_columns; /* with the time */
};

struct run {
	struct context *ctx;
	const struct monitor *monitor;
	const struct monitor_args *args;
	const void *user;
	struct counters *live;       /* or */
	struct recording *recording; /* with */
	struct track_reader *replay;
	struct prepared *tables;
	struct snapshot before, after;
	struct snapshot first; /* for the mean of all */
	u64 shown;
	u32 lines; /* since the last heading */
};

int monitor_operands(struct context *ctx, struct monitor_args *a)
{
	if (ctx->operands.len &&
	    parse_duration(ctx->operands.items[0], &a->interval, &ctx->err) < 0)
		return EXIT_USAGE;
	if (ctx->operands.len && !a->interval) {
		err_set(&ctx->err, EINVAL, "an interval of 0 is too short");
		return EXIT_USAGE;
	}
	if (ctx->operands.len > 1 &&
	    parse_u64_range(ctx->operands.items[1], 1, 1 << 30, &a->count, &ctx->err) < 0)
		return EXIT_USAGE;
	return 0;
}

static struct counter_set *set_of(const struct run *run)
{
	return run->live ? counters_set(run->live) : &run->replay->set;
}

/* A recording has what it has; an unknown name is found when the formula is read. */
static int want(struct run *run, const char *formula)
{
	return run->live ? counters_want(run->live, formula, &run->ctx->err) : 0;
}

/* --- preparing -------------------------------------------------------------------------------- */

static void prepare_column(struct prepared *p, size_t at, const struct monitor_column *c)
{
	p->columns[at] = (struct column){
		.key = c->key,
		.title = c->title,
		.type = c->type      ? c->type
			: c->formula ? VALUE_NUMBER
				     : VALUE_TEXT,
		.flags = c->flags,
	};
	p->looks[at] = (struct column_look){
		.group = c->group,
		.width = c->width,
		.decimals = (u8)(c->decimals + 1),
	};
}

static int prepare(struct run *run, struct prepared *p, const struct monitor_table *t)
{
	struct counter_set *set = set_of(run);
	struct err *e = &run->ctx->err;
	size_t n = t->n_columns + 1;
	int r = 0;

	p->table = t;
	p->timed = run->args->timestamp || (run->monitor->flags & MONITOR_TIMES);
	p->formulas = xcalloc(n, sizeof(*p->formulas));
	p->columns = xcalloc(n, sizeof(*p->columns));
	p->looks = xcalloc(n, sizeof(*p->looks));
	p->each = SET_NONE;
	if (p->timed) {
		p->columns[0] = (struct column){ "time_ns", "TIME", VALUE_TIME, 0 };
		p->looks[0] = (struct column_look){ .width = 8 };
		p->n_columns = 1;
	}
	if (t->each) {
		r = want(run, t->each);
		p->each = counter_set_find(set, t->each);
	}
	if (!r && t->used)
		r = formula_parse(&p->used, set, t->used, e);
	for (size_t i = 0; !r && i < t->n_columns; i++) {
		const struct monitor_column *c = &t->columns[i];

		prepare_column(p, p->n_columns++, c);
		if (!c->formula)
			continue;
		r = want(run, c->formula);
		if (!r)
			r = formula_parse(&p->formulas[i], set, c->formula, e);
	}
	return r;
}

static int open_recording(struct run *run)
{
	const char *path = run->args->input;
	struct err *e = &run->ctx->err;
	const struct recording_blob *blob;
	int r = recording_open(path, &run->recording, e);

	if (r < 0)
		return r;
	blob = recording_info_blob(recording_info(run->recording), FEATURE_COUNTERS);
	if (!blob) {
		err_set(e, ENODATA, "'%s' holds no counters", path);
		err_hint(e, "record them with 'fathom record --counters'");
		return -ENODATA;
	}
	run->replay = xcalloc(1, sizeof(*run->replay));
	r = track_reader_init(run->replay, blob->data, blob->size, e);
	return r < 0 ? err_prefix(e, "'%s'", path) : 0;
}

static int prepare_all(struct run *run)
{
	const struct monitor *m = run->monitor;
	int r = run->args->input ? open_recording(run)
				 : counters_new(&run->live, run->args->from, &run->ctx->err);

	run->tables = xcalloc(m->n_tables + 1, sizeof(*run->tables));
	for (size_t i = 0; !r && i < m->n_tables; i++)
		r = prepare(run, &run->tables[i], &m->tables[i]);
	for (const char *const *name = m->wants; !r && name && *name; name++)
		r = want(run, *name);
	if (!r && run->live)
		counters_want_meter(run->live, m->flags & MONITOR_METER, m->flags & MONITOR_DISK);
	if (!r && run->live && (m->flags & (MONITOR_TASKS | MONITOR_THREADS)))
		r = counters_want_tasks(run->live, m->flags & MONITOR_THREADS, &run->ctx->err);
	return r;
}

static void release_all(struct run *run)
{
	for (size_t i = 0; i < run->monitor->n_tables; i++) {
		free(run->tables[i].formulas);
		free(run->tables[i].columns);
		free(run->tables[i].looks);
	}
	free(run->tables);
	snapshot_release(&run->before);
	snapshot_release(&run->after);
	snapshot_release(&run->first);
	counters_free(run->live);
	if (run->replay)
		track_reader_release(run->replay);
	free(run->replay);
	recording_free(run->recording);
}

/* --- one result ------------------------------------------------------------------------------- */

static enum style severity(const struct monitor_column *c, double value)
{
	bool down = c->warn > c->bad;

	if (!(c->warn > 0) && !(c->bad > 0))
		return STYLE_NONE;
	if (down ? value <= c->bad : c->bad > 0 && value >= c->bad)
		return STYLE_BAD;
	if (down ? value <= c->warn : c->warn > 0 && value >= c->warn)
		return STYLE_WARN;
	return STYLE_NONE;
}

/* A column that had to grow stays as wide: lines that follow are in line with this one. */
static void keep_width(struct prepared *p, size_t at, double value)
{
	int n = snprintf(NULL, 0, "%.*f", p->looks[at].decimals - 1, value);

	p->looks[at].width = (u8)MAX((int)p->looks[at].width, MIN(n, 32));
}

static struct value value_of_real(enum value_type type, double v)
{
	if (type == VALUE_PERCENT || type == VALUE_NUMBER)
		return value_d(type, v);
	return value_u(type, v > 0 ? (u64)(v + 0.5) : 0);
}

static void fill_row(struct result *r, struct table *out, struct prepared *p, const struct delta *d,
		     u32 instance)
{
	struct row *row = table_row(r, out);
	size_t at = 0;

	if (p->timed)
		row->cells[at++] =
			p->average ? value_text(r, "Average") : value_u(VALUE_TIME, d->after->wall);
	for (size_t i = 0; i < p->table->n_columns; i++, at++) {
		const struct monitor_column *c = &p->table->columns[i];
		double value;

		if (!c->formula) {
			row->cells[at] = value_text(r, intern_get(&d->set->instances, instance));
			continue;
		}
		if (!formula_eval(&p->formulas[i], d, instance, &value))
			continue;
		if (c->unit > 0)
			value /= c->unit;
		if (!c->type)
			keep_width(p, at, value);
		row->cells[at] =
			c->type ? value_of_real(c->type, value) : value_d(VALUE_NUMBER, value);
		row->cells[at].style = severity(c, value);
	}
}

static bool shows(const struct run *run, const struct prepared *p, const struct delta *d,
		  u32 instance)
{
	const struct monitor_table *t = p->table;
	double value;

	if (t->shows && !t->shows(run->user, intern_get(&d->set->instances, instance)))
		return false;
	return !t->used || !formula_eval(&p->used, d, instance, &value) || value > 0;
}

static void fill_table(const struct run *run, struct result *r, struct prepared *p,
		       const struct delta *d)
{
	const struct counter_set *set = d->set;
	struct table *out =
		result_table(r, p->table->name, p->table->title, p->columns, p->n_columns);

	if (p->each == SET_NONE)
		fill_row(r, out, p, d, 0);
	for (u32 s = p->each == SET_NONE ? SET_NONE : set->counters.items[p->each].first;
	     s != SET_NONE; s = set->series.items[s].next) {
		u32 instance = set->series.items[s].instance;

		if (snapshot_has(d->after, s) && shows(run, p, d, instance))
			fill_row(r, out, p, d, instance);
	}
	if (p->table->sort)
		table_sort(out, p->table->sort, false);
	if (p->table->limit && out->rows.len > p->table->limit)
		out->rows.len = p->table->limit;
	table_looks(r, out, p->looks);
}

/* What this machine is, and what observing it costs: above the first headings. */
static void add_title(const struct run *run, struct result *r)
{
	struct utsname u;
	range_list cpus = { 0 };

	if (run->args->from || run->args->input || uname(&u) < 0 ||
	    machine_online(&cpus, NULL) < 0) {
		vec_release(&cpus);
		return;
	}
	result_title(r, "Linux %s (%s), %llu CPUs; a look takes %.2f ms of CPU time", u.release,
		     u.nodename, (unsigned long long)ranges_count(&cpus),
		     (double)run->after.cost / 1e6);
	vec_release(&cpus);
}

static void add_facts(struct result *r, const struct delta *d)
{
	s64 step = delta_clock_step(d);
	u64 suspended = delta_suspended(d);

	result_fact(r, "time_ns", NULL, value_u(VALUE_TIME, d->after->wall));
	result_fact(r, "duration_ns", NULL, value_u(VALUE_DURATION, (u64)(d->seconds * 1e9)));
	result_fact(r, "since_boot", NULL, value_u(VALUE_BOOL, !d->before));
	result_fact(r, "cost_ns", NULL, value_u(VALUE_DURATION, d->after->cost));
	if (step)
		result_note(r, NOTE_INFO, NULL, "the clock was set by %.1f s; rates do not use it",
			    (double)step / 1e9);
	if (suspended)
		result_note(r, NOTE_INFO, NULL, "the machine was suspended for %.1f s",
			    (double)suspended / 1e9);
}

/* Sources that could not be read: what they would have filled is empty, and here is why. */
static void add_missing(const struct run *run, struct result *r)
{
	size_t n;
	const struct counter_source *const *sources = counter_sources(&n);

	for (u32 i = 0; i < n; i++) {
		int why = counters_why(run->live, i);

		if (!counters_wanted(run->live, i) || why >= 0)
			continue;
		result_note(r, NOTE_WARNING, sources[i]->needs, "/%s: %s", sources[i]->path,
			    err_words(-why));
	}
}

static u32 screen_lines(const struct context *ctx)
{
	struct winsize size;

	if (ioctl(fileno(ctx->out), TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_row > 4 ? size.ws_row - 3u : LINES_DEFAULT;
}

/* Headings are repeated when they would have scrolled away. */
static bool wants_heading(const struct run *run)
{
	u32 screen = screen_lines(run->ctx);

	if (!run->shown)
		return true;
	if (cli_is_machine(run->ctx))
		return false;
	if (!(run->monitor->flags & MONITOR_LINES))
		return true;
	return screen && run->lines >= screen;
}

static int show(struct run *run, const struct snapshot *before)
{
	_cleanup_result_ struct result r = { 0 };
	struct context *ctx = run->ctx;
	bool heading = wants_heading(run);
	struct delta d;
	int rc;

	result_init(&r, ctx->command->name);
	delta_init(&d, set_of(run), before, &run->after);
	if (heading && !(run->shown && !(run->monitor->flags & MONITOR_LINES)))
		add_title(run, &r);
	add_facts(&r, &d);
	for (size_t i = 0; i < run->monitor->n_tables; i++)
		fill_table(run, &r, &run->tables[i], &d);
	if (run->monitor->extra)
		run->monitor->extra(&r, &d, run->user);
	if (!run->shown && run->live)
		add_missing(run, &r);
	ctx->headless = !heading;
	if (run->shown && !(run->monitor->flags & MONITOR_LINES) && !cli_is_machine(ctx) &&
	    fputc('\n', ctx->out) == EOF)
		return -errno;
	rc = cli_show(ctx, &r);
	run->lines = heading ? 1 : run->lines + 1;
	run->shown++;
	return rc;
}

/* --- the loop --------------------------------------------------------------------------------- */

static void next_snapshot(struct run *run)
{
	struct snapshot old = run->before;

	run->before = run->after;
	run->after = old;
	counters_sweep(run->live, &run->after);
}

static int watch(struct run *run, u64 interval, u64 count)
{
	u64 start = clock_mono_ns(), due = start;
	u64 end = run->args->duration ? start + run->args->duration : UINT64_MAX;
	int rc = 0;

	for (u64 i = 1; rc >= 0 && (!count || run->shown < count) && due < end; i++) {
		u64 now = clock_mono_ns();

		due = start + i * interval;

		/* a look that took longer than the interval does not make the next one late */
		if (due < now) {
			i = (now - start) / interval + 1;
			due = start + i * interval;
		}
		due = MIN(due, end);
		if (counters_wait(run->live, due > now ? due - now : 0))
			break;
		next_snapshot(run);
		rc = show(run, &run->before);
	}
	return rc;
}

static int show_average(struct run *run)
{
	for (size_t i = 0; i < run->monitor->n_tables; i++)
		run->tables[i].average = true;
	return show(run, &run->first);
}

static int run_live(struct run *run)
{
	const struct monitor_args *a = run->args;
	u32 flags = run->monitor->flags;
	u64 interval = a->interval, count = a->count;
	int rc = 0;

	if (!interval && (a->duration || flags & (MONITOR_ENDLESS | MONITOR_RATES))) {
		interval = NSEC_PER_SEC;
		count = a->duration || flags & MONITOR_ENDLESS ? 0 : 1;
	}
	counters_sweep(run->live, &run->after);
	run->ctx->stream = interval != 0;
	if ((flags & MONITOR_NOW) || (!(flags & MONITOR_RATES) && !a->skip_first))
		rc = show(run, NULL);
	if (rc < 0 || !interval)
		return rc;
	if (flags & MONITOR_AVERAGE)
		snapshot_copy(&run->first, &run->after);
	rc = watch(run, interval, count);
	if (rc >= 0 && (flags & MONITOR_AVERAGE) && run->shown > 1)
		rc = show_average(run);
	return rc;
}

/* --- from a recording ------------------------------------------------------------------------- */

struct moment {
	bool given;
	bool relative; /* ns since the first snapshot; otherwise of the day */
	u64 ns;
};

static int parse_moment(struct context *ctx, const char *text, struct moment *ret)
{
	unsigned int hour, minute;
	double second;
	char end;

	*ret = (struct moment){ .given = text != NULL };
	if (!text)
		return 0;
	if (sscanf(text, "%u:%u:%lf%c", &hour, &minute, &second, &end) == 3 && hour < 24 &&
	    minute < 60 && second >= 0 && second < 61) {
		ret->ns = (u64)(hour * 3600 + minute * 60) * NSEC_PER_SEC + (u64)(second * 1e9);
		return 0;
	}
	ret->relative = true;
	if (parse_duration(*text == '+' ? text + 1 : text, &ret->ns, NULL) == 0)
		return 0;
	err_set(&ctx->err, EINVAL, "'%s' is not a time", text);
	err_hint(&ctx->err, "give 14:03:59, or a time since the start of the recording: 2.5s");
	return EXIT_USAGE;
}

static u64 time_of_day(u64 wall)
{
	time_t seconds = (time_t)(wall / NSEC_PER_SEC);
	struct tm tm;

	localtime_r(&seconds, &tm);
	return (u64)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * NSEC_PER_SEC +
	       wall % NSEC_PER_SEC;
}

/* Is the moment in the interval that ends with run->after? */
static bool is_in(const struct run *run, const struct moment *m)
{
	u64 from, to;

	if (m->relative) {
		from = run->before.mono - run->first.mono;
		to = run->after.mono - run->first.mono;
	} else {
		from = time_of_day(run->before.wall);
		to = time_of_day(run->after.wall);
	}
	return m->ns > from && m->ns <= to;
}

static int run_replay(struct run *run)
{
	const struct monitor_args *a = run->args;
	bool now = run->monitor->flags & MONITOR_NOW;
	bool tasks = run->monitor->flags & (MONITOR_TASKS | MONITOR_THREADS);
	struct moment at;
	struct snapshot next = SNAPSHOT_INIT;
	int rc = parse_moment(run->ctx, a->at, &at), more;

	if (rc)
		return rc;
	run->ctx->stream = true;
	rc = track_reader_next(run->replay, &run->before, &run->ctx->err);
	snapshot_copy(&run->first, &run->before);
	for (more = rc; more > 0 && rc >= 0 && (!a->count || run->shown < a->count);) {
		more = track_reader_next(run->replay, &next, &run->ctx->err);
		if (more <= 0)
			break;
		/* several recorded intervals make one requested; rows of tasks stay apart
		 */
		if (a->interval && !tasks &&
		    next.mono - run->before.mono + NSEC_PER_MSEC * 20 < a->interval)
			continue;
		snapshot_copy(&run->after, &next);
		if (!at.given || is_in(run, &at))
			rc = show(run, now ? NULL : &run->before);
		snapshot_copy(&run->before, &next);
		if (a->duration && next.mono - run->first.mono >= a->duration)
			break;
	}
	snapshot_release(&next);
	if (rc < 0 || more < 0)
		return MIN(rc, more);
	if (!run->shown) {
		err_set(&run->ctx->err, ENODATA, "'%s' has no counters of that time", a->input);
		return -ENODATA;
	}
	return (run->monitor->flags & MONITOR_AVERAGE) && run->shown > 1 ? show_average(run) : 0;
}

int monitor_run(struct context *ctx, const struct monitor *m, const struct monitor_args *a,
		const void *args)
{
	struct run run = { .ctx = ctx, .monitor = m, .args = a, .user = args };
	int rc = prepare_all(&run);

	if (!rc)
		rc = run.live ? run_live(&run) : run_replay(&run);
	release_all(&run);
	return rc;
}
