/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/fmt.h"
#include "base/stop.h"
#include "base/text.h"
#include "cli/cli.h"
#include "counters/counters.h"
#include "view/cell.h"

#include <fnmatch.h>

struct counters_args {
	u64 interval;
	u64 duration;
	bool watch;
	bool all;
	bool explain;
	const char *from;
};

#define AT(field) .offset = offsetof(struct counters_args, field)

static const struct opt counters_options[] = {
	{ .name = "interval",
	  .type = OPT_DURATION,
	  AT(interval),
	  .arg = "TIME",
	  .def = "1s",
	  .help = "rates and ratios are of this time" },
	{ .name = "watch", .type = OPT_FLAG, AT(watch), .help = "repeat until Ctrl-C" },
	{ .name = "duration",
	  .type = OPT_DURATION,
	  AT(duration),
	  .arg = "TIME",
	  .help = "--watch, for this time" },
	{ 'a', "all", OPT_FLAG, AT(all),
	  .help = "each CPU, disk and interface, and counters that cost more to read" },
	{ 'e', "explain", OPT_FLAG, AT(explain),
	  .help = "a paragraph for each, also when there are many" },
	{ .name = "from",
	  .type = OPT_FILE,
	  AT(from),
	  .arg = "DIR",
	  .help = "read DIR/proc and DIR/sys, not those of this machine" },
	OPT_END,
};

enum { EXPLAINED_MOST = 12, INSTANCES_MOST = 8 };

struct listing {
	struct context *ctx;
	const struct counters_args *args;
	struct counters *live;
	struct snapshot before, after;
	VEC(u32) chosen; /* counters */
};

/* "/sys/block": all devices are in it. */
static bool is_folder_of_all(const char *path)
{
	_cleanup_free_ char *name = xstrdup(path);
	size_t n = strlen(name);

	while (n && name[n - 1] == '/')
		name[--n] = '\0';
	return streq(name, "/sys/block") || fnmatch("/sys/class/*", name, FNM_PATHNAME) == 0;
}

/* "/sys/block/vda/stat" is of vda; other files are of all their instances. */
static bool is_instance_asked(const struct context *ctx, const char *instance)
{
	size_t n = strlen(instance);
	bool named = false;

	for (size_t i = 0; i < ctx->operands.len; i++) {
		const char *path = ctx->operands.items[i], *at = path;

		if (!n || !starts_with(path, "/sys/") || strchr(path, '*') ||
		    is_folder_of_all(path))
			continue;
		named = true;
		while ((at = strstr(at, instance))) {
			if (at[-1] == '/' && (at[n] == '/' || !at[n]))
				return true;
			at += n;
		}
	}
	return !named;
}

/* --- which ------------------------------------------------------------------------------------ */

static bool contains(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool is_file_or_folder(const char *pattern, const char *path)
{
	size_t n = strlen(path);

	return fnmatch(pattern, path, FNM_PATHNAME) == 0 || streq(pattern, path) ||
	       (n && strncmp(pattern, path, n) == 0 && (path[n - 1] == '/' || pattern[n] == '/'));
}

/* "/proc/vmstat", "/sys/block/vda/stat"; "/proc/net" for all files in it */
static bool is_file_of(const char *path, const struct counter_source *s)
{
	char pattern[128];
	const char *at = s->also;

	path += *path == '/';
	if (is_file_or_folder(s->path, path))
		return true;
	while (at && *at) {
		size_t n = strcspn(at, " ");

		snprintf(pattern, sizeof(pattern), "%.*s", (int)n, at);
		if (is_file_or_folder(pattern, path))
			return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

static bool matches(const struct counter *row, const struct counter_source *s, const char *word)
{
	if (*word == '/')
		return s && row->kind != RATIO && is_file_of(word, s);
	if (fnmatch(word, row->name, 0) == 0)
		return true;
	/* "meminfo": the file's name */
	if (s && row->kind != RATIO && contains(strrchr(s->path, '/'), word))
		return true;
	return contains(row->name, word) || contains(row->field, word) ||
	       contains(row->meaning, word);
}

static const struct counter_source *source_of(const struct set_counter *c)
{
	size_t n;
	const struct counter_source *const *all = counter_sources(&n);

	return c->source < n ? all[c->source] : NULL;
}

/* All words have to be found, anywhere. */
static bool is_asked(const struct listing *l, const struct set_counter *c)
{
	for (size_t i = 0; i < l->ctx->operands.len; i++)
		if (!matches(c->row, source_of(c), l->ctx->operands.items[i]))
			return false;
	return true;
}

/* The first series of a counter; of a ratio those of what it is computed from. */
static u32 first_series(const struct counter_set *set, u32 counter)
{
	u32 domain = formula_domain(set, counter);

	return domain == SET_NONE ? SET_NONE : set->counters.items[domain].first;
}

static bool is_shown(const struct context *ctx, const struct delta *d, u32 series)
{
	return snapshot_has(d->after, series) &&
	       is_instance_asked(ctx, series_instance(d->set, series));
}

static size_t count_instances(const struct context *ctx, const struct delta *d, u32 counter)
{
	size_t n = 0;

	for (u32 s = first_series(d->set, counter); s != SET_NONE; s = d->set->series.items[s].next)
		n += is_shown(ctx, d, s);
	return n;
}

static void choose(struct listing *l, const struct delta *d)
{
	vec_clear(&l->chosen);
	for (u32 i = 0; i < d->set->counters.len; i++)
		if (is_asked(l, &d->set->counters.items[i]) && count_instances(l->ctx, d, i))
			vec_push(&l->chosen, i);
}

/* --- values ----------------------------------------------------------------------------------- */

static struct value in_unit(enum counter_unit unit, double v)
{
	switch (unit) {
	case UNIT_BYTES: return cell_of_real(VALUE_BYTES, v);
	case UNIT_TIME: return cell_of_real(VALUE_DURATION, v);
	case UNIT_PERCENT: return cell_of_real(VALUE_PERCENT, v);
	case UNIT_COUNT: return cell_of_real(VALUE_COUNT, v + 0.5);
	default: return cell_of_real(VALUE_NUMBER, v);
	}
}

static const char *const unit_names[] = {
	[UNIT_COUNT] = "count",     [UNIT_BYTES] = "bytes", [UNIT_TIME] = "nanoseconds",
	[UNIT_PERCENT] = "percent", [UNIT_HERTZ] = "hertz", [UNIT_CELSIUS] = "celsius",
	[UNIT_NUMBER] = "number",
};
static const char *const kind_names[] = {
	[GAUGE] = "gauge",
	[CUMULATIVE] = "cumulative",
	[RATIO] = "ratio",
};

/* The value now, and how much it grows each second. */
struct figure {
	bool has, has_rate;
	double value, rate;
};

static struct figure figure_of(const struct delta *d, u32 counter, u32 instance)
{
	const struct counter *row = d->set->counters.items[counter].row;
	struct delta total = { d->set, NULL, d->after, d->seconds };
	struct figure f = { 0 };

	f.has = formula_counter(row->kind == RATIO ? d : &total, counter, instance, &f.value);
	if (row->kind == CUMULATIVE) {
		f.has_rate = formula_counter(d, counter, instance, &f.rate);
		f.rate /= d->seconds;
	}
	return f;
}

enum {
	C_COUNTER,
	C_NAME,
	C_INSTANCE,
	C_VALUE,
	C_RATE,
	C_UNIT,
	C_KIND,
	C_MEANING,
	C_SOURCE,
	C_FIELD,
	C_FORMULA,
	C_HIGH,
};

static const struct column columns[] = {
	{ "counter", "COUNTER", VALUE_TEXT, 0 },
	{ "name", "NAME", VALUE_TEXT, COLUMN_HIDDEN },
	{ "instance", "OF", VALUE_TEXT, COLUMN_HIDDEN },
	{ "value", "VALUE", VALUE_NUMBER, 0 },
	{ "rate", "EACH SECOND", VALUE_NUMBER, 0 },
	{ "unit", "UNIT", VALUE_TEXT, COLUMN_HIDDEN },
	{ "kind", "KIND", VALUE_TEXT, COLUMN_HIDDEN },
	{ "meaning", "MEANING", VALUE_TEXT, COLUMN_FILL },
	{ "source", "SOURCE", VALUE_TEXT, COLUMN_HIDDEN },
	{ "field", "FIELD", VALUE_TEXT, COLUMN_HIDDEN },
	{ "formula", "FORMULA", VALUE_TEXT, COLUMN_HIDDEN },
	{ "high", "IF HIGH", VALUE_TEXT, COLUMN_HIDDEN },
};

static struct value source_text(struct result *r, const struct set_counter *c)
{
	const struct counter_source *s = source_of(c);

	return s && c->row->kind != RATIO ? value_textf(r, "/%s", s->path) : value_text(r, NULL);
}

static void add_row(struct result *r, struct table *t, const struct delta *d, u32 counter,
		    const char *instance, const struct figure *f)
{
	const struct set_counter *c = &d->set->counters.items[counter];
	struct row *row = table_row(r, t);

	row->cells[C_COUNTER] = instance ? value_textf(r, "%s{%s}", c->row->name, instance)
					 : value_text(r, c->row->name);
	row->cells[C_NAME] = value_text(r, c->row->name);
	row->cells[C_INSTANCE] = value_text(r, instance);
	if (f->has)
		row->cells[C_VALUE] = in_unit(c->row->unit, f->value);
	if (f->has_rate)
		row->cells[C_RATE] = in_unit(c->row->unit, f->rate);
	row->cells[C_UNIT] = value_text(r, unit_names[c->row->unit]);
	row->cells[C_KIND] = value_text(r, kind_names[c->row->kind]);
	row->cells[C_MEANING] = value_text(r, c->row->meaning);
	row->cells[C_SOURCE] = source_text(r, c);
	row->cells[C_FIELD] = value_text(r, c->row->field);
	row->cells[C_FORMULA] = value_text(r, c->row->formula);
	row->cells[C_HIGH] = value_text(r, c->row->high);
}

/* Many instances are one row unless they are requested: their sum. */
static void add_sum(struct result *r, struct table *t, const struct delta *d, u32 counter, size_t n)
{
	const struct counter_set *set = d->set;
	struct figure sum = { .has = true, .has_rate = true };
	char of[32];

	for (u32 s = set->counters.items[counter].first; s != SET_NONE;
	     s = set->series.items[s].next) {
		struct figure one = figure_of(d, counter, set->series.items[s].instance);

		sum.value += one.has ? one.value : 0;
		sum.rate += one.has_rate ? one.rate : 0;
	}
	sum.has_rate = set->counters.items[counter].row->kind == CUMULATIVE;
	snprintf(of, sizeof(of), "all %zu", n);
	add_row(r, t, d, counter, of, &sum);
}

/* Idle loop devices are hidden from people. */
static bool is_idle(const struct listing *l, const struct figure *f)
{
	return !l->args->all && !cli_is_machine(l->ctx) && !(f->value > 0) && !(f->rate > 0);
}

static void add_counter(const struct listing *l, struct result *r, struct table *t,
			const struct delta *d, u32 counter)
{
	const struct set_counter *c = &d->set->counters.items[counter];
	size_t n = count_instances(l->ctx, d, counter);

	if (n > INSTANCES_MOST && c->row->kind != RATIO && !l->args->all &&
	    !cli_is_machine(l->ctx)) {
		add_sum(r, t, d, counter, n);
		return;
	}
	for (u32 s = first_series(d->set, counter); s != SET_NONE;
	     s = d->set->series.items[s].next) {
		const char *instance = series_instance(d->set, s);
		struct figure f;

		if (!is_shown(l->ctx, d, s))
			continue;
		f = figure_of(d, counter, d->set->series.items[s].instance);
		if (n > INSTANCES_MOST && is_idle(l, &f))
			continue;
		add_row(r, t, d, counter, *instance ? instance : NULL, &f);
	}
}

/* --- a paragraph for each --------------------------------------------------------------------- */

static void add_value(struct buf *out, enum counter_unit unit, double v)
{
	struct value value = in_unit(unit, v);

	cell_text(out, &value);
	if (unit == UNIT_HERTZ)
		buf_addstr(out, " Hz");
}

static void add_figures(struct buf *out, const struct delta *d, u32 counter, u32 instance)
{
	const struct set_counter *c = &d->set->counters.items[counter];
	struct figure f = figure_of(d, counter, instance);
	const char *name = intern_get(&d->set->instances, instance);

	if (!f.has)
		return;
	buf_addstr(out, "    ");
	if (*name) {
		fmt_clean(out, name, strlen(name));
		buf_addstr(out, ": ");
	}
	add_value(out, c->row->unit, f.value);
	if (f.has_rate) {
		buf_addstr(out, ", ");
		add_value(out, c->row->unit, f.rate);
		buf_addstr(out, " each second");
	}
	buf_addch(out, '\n');
}

static void add_line(struct buf *out, const char *label, const char *text, size_t width)
{
	if (!text)
		return;
	buf_addf(out, "    %s", label);
	text_fill(out, text, strlen(text), 4 + strlen(label), 8, width);
}

static void explain(const struct listing *l, struct buf *out, const struct delta *d, u32 counter)
{
	size_t width = (size_t)cli_width(l->ctx), n = count_instances(l->ctx, d, counter);
	const struct set_counter *c = &d->set->counters.items[counter];
	const struct counter_source *source = source_of(c);

	buf_addf(out, "%s  (%s, %s)\n", c->row->name, kind_names[c->row->kind],
		 unit_names[c->row->unit]);
	for (u32 s = first_series(d->set, counter); s != SET_NONE;
	     s = d->set->series.items[s].next) {
		struct figure f = figure_of(d, counter, d->set->series.items[s].instance);

		if (is_shown(l->ctx, d, s) && !(n > INSTANCES_MOST && is_idle(l, &f)))
			add_figures(out, d, counter, d->set->series.items[s].instance);
	}
	add_line(out, "", c->row->meaning, width);
	add_line(out, "formula: ", c->row->formula, width);
	if (source && c->row->kind != RATIO)
		buf_addf(out, "    source: /%s, field '%s'\n", source->path,
			 c->row->field ? c->row->field : "");
	add_line(out, "if high: ", c->row->high, width);
	buf_addch(out, '\n');
}

static void explain_all(const struct listing *l, struct result *r, const struct delta *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	vec_each(counter, &l->chosen)
		explain(l, &text, d, *counter);
	if (text.len)
		buf_truncate(&text, text.len - 1);
	result_text(r, buf_str(&text));
}

/* --- the command ------------------------------------------------------------------------------ */

static void add_missing(const struct listing *l, struct result *r)
{
	size_t n;
	const struct counter_source *const *sources = counter_sources(&n);

	for (u32 i = 0; i < n; i++) {
		int why = counters_why(l->live, i);

		if (counters_wanted(l->live, i) && why < 0)
			result_note(r, NOTE_INFO, sources[i]->needs, "not here: /%s: %s",
				    sources[i]->path, err_words(-why));
	}
}

/* "/proc/PID/stat", "/proc/1234/statm", "statm" */
static bool asks_of_process(const struct context *ctx)
{
	static const char *const patterns[] = { "/proc/PID*", "/proc/[1-9]*", "/proc/self*",
						"statm", "smaps*" };

	vec_each(word, &ctx->operands)
		for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
			if (fnmatch(patterns[i], *word, 0) == 0)
				return true;
	return false;
}

static int nothing_found(const struct listing *l)
{
	_cleanup_buf_ struct buf words = BUF_INIT;

	for (size_t i = 0; i < l->ctx->operands.len; i++)
		buf_addf(&words, "%s%s", i ? " " : "", l->ctx->operands.items[i]);
	err_set(&l->ctx->err, ENODATA, "no counter has '%s' in its name or meaning",
		buf_str(&words));
	if (asks_of_process(l->ctx))
		err_hint(&l->ctx->err, "'fathom pidstat' and 'fathom top' show what the kernel "
				       "counts of processes and threads");
	else
		err_hint(&l->ctx->err,
			 "'fathom counters' lists all; -a also reads the expensive ones");
	return -ENODATA;
}

static int show(struct listing *l)
{
	_cleanup_result_ struct result r = { 0 };
	struct context *ctx = l->ctx;
	struct delta d;

	result_init(&r, "counters");
	delta_init(&d, counters_set(l->live), &l->before, &l->after);
	choose(l, &d);
	if (!l->chosen.len) {
		result_release(&r);
		result_init(&r, "counters");
		return nothing_found(l);
	}
	result_fact(&r, "time_ns", NULL, value_u(VALUE_TIME, l->after.wall));
	result_fact(&r, "duration_ns", NULL, value_u(VALUE_DURATION, (u64)(d.seconds * 1e9)));
	result_fact(&r, "cost_ns", NULL, value_u(VALUE_DURATION, l->after.cost));
	if (!cli_is_machine(ctx) &&
	    (l->args->explain || (l->chosen.len <= EXPLAINED_MOST && !l->args->watch))) {
		explain_all(l, &r, &d);
	} else {
		struct table *t = result_table(&r, "counters", NULL, columns, ARRAY_SIZE(columns));

		vec_each(counter, &l->chosen)
			add_counter(l, &r, t, &d, *counter);
	}
	if (!ctx->operands.len && !l->args->watch)
		add_missing(l, &r);
	if (l->args->watch && isatty(fileno(ctx->out)) && !cli_is_machine(ctx))
		fputs("\033[H\033[J", ctx->out);
	return cli_show(ctx, &r);
}

/* What is named is read, even if it costs more. */
static void want(struct listing *l)
{
	struct counter_set *set = counters_set(l->live);

	counters_want_all(l->live, l->args->all);
	if (!l->ctx->operands.len)
		return;
	for (u32 i = 0; i < set->counters.len; i++)
		if (is_asked(l, &set->counters.items[i]))
			(void)counters_want(l->live, set->counters.items[i].row->name, NULL);
}

static int list(struct listing *l)
{
	u64 interval = l->args->interval, most = l->args->duration;
	u64 now = clock_mono_ns(), end = most ? now + most : UINT64_MAX;
	int r;

	if (!interval) {
		err_set(&l->ctx->err, EINVAL, "an interval of 0 is too short");
		return EXIT_USAGE;
	}
	want(l);
	l->ctx->stream = l->args->watch;
	counters_sweep(l->live, &l->after);
	do {
		struct snapshot old = l->before;

		l->before = l->after;
		l->after = old;
		if (!l->args->watch)
			cli_progress_watching(l->ctx, interval);
		if (stop_wait(MIN(interval, end - now)) && l->args->watch)
			return 0;
		cli_progress(l->ctx, "%s", "");
		counters_sweep(l->live, &l->after);
		r = show(l);
		now = clock_mono_ns();
	} while (r >= 0 && l->args->watch && now < end && !stop_requested());
	return r;
}

static int counters_run(struct context *ctx, void *args)
{
	struct counters_args *a = args;
	struct listing l = { .ctx = ctx, .args = a };

	a->watch |= a->duration != 0;
	int r = counters_new(&l.live, l.args->from, &ctx->err);

	if (!r)
		r = list(&l);
	snapshot_release(&l.before);
	snapshot_release(&l.after);
	vec_release(&l.chosen);
	counters_free(l.live);
	return r;
}

static const struct example counters_examples[] = {
	{ "fathom counters", "every counter of this machine with value and rate" },
	{ "fathom counters retrans", "counters of retransmissions, explained" },
	{ "fathom counters /proc/vmstat", "the fields of a file, with live values" },
	{ "fathom counters --watch 'disk.*'", "again each second, until Ctrl-C" },
	{ 0 },
};

const struct command cmd_counters = {
	.name = "counters",
	.summary = "every counter of the machine: value, rate, meaning, source",
	.description =
		"Lists the counters of the kernel that Fathom reads, with value, growth each "
		"second, and what they mean. WORDS are looked for in names, fields and meanings; "
		"a word that begins with a slash is a file of /proc or /sys, whose fields are "
		"explained. If only a few match, each gets a paragraph with source, formula, and "
		"what a high value suggests.\n\n"
		"A figure that is computed from others shows its formula: a name in it is what "
		"the counter grew by in the interval, or its value if it is a gauge.",
	.question = Q_MACHINE,
	.options = counters_options,
	.args_size = sizeof(struct counters_args),
	.operands = "[WORD]...",
	.max_operands = SIZE_MAX,
	.examples = counters_examples,
	.see_also = "fathom-vmstat proc(5)",
	.run = counters_run,
};
