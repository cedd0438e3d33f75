/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tool at work: from options to a program, from rows and maps to results. */
#include "tool/operands.h"
#include "tool/recorded.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "cli/program.h"
#include "host/caps.h"
#include "host/procfs.h"
#include "lang/lang.h"
#include "tool/expr.h"
#include "tool/picture.h"
#include "tool/prelude.h"
#include "view/rows.h"

#include <math.h>
#include <signal.h>

enum { COLUMNS_MOST = 64, LATENCY_BITS = 2, FLUSH_BYTES = 1 << 16 };

struct session {
	struct context *ctx;
	const struct tool *tool;
	const struct tool_args *args;
	struct arena arena;
	struct lang_opts opts;
	struct lang *lang;
	struct launch child;
	struct buf source;
	struct buf diagnostics;
	struct rows_view stream;
	struct rows_column columns[COLUMNS_MOST + 1]; /* the first is the time of day */
	struct value cells[COLUMNS_MOST + 1];
	struct buf out;
	struct picture picture;
	bool filter_here;  /* the filter is not in the program */
	bool has_computed; /* columns */
	bool one_line;     /* tables have one row each: a line under one heading */
	FILE *file;        /* -o; or NULL */
	u64 interval;      /* of tables; 0: only at the end */
	u64 rounds;        /* most tables to show; 0: no limit */
	u64 shown;
	u64 rows; /* sent to the output */
	u64 started;
	u64 last_table;
	u64 until; /* 0: until stopped */
};

/* --- output ----------------------------------------------------------------------------------- */

static FILE *out_of(const struct session *s)
{
	return s->file ? s->file : s->ctx->out;
}

static int flush_out(struct session *s)
{
	FILE *f = out_of(s);

	if (s->out.len) {
		if (fwrite(s->out.data, 1, s->out.len, f) != s->out.len)
			return -(errno ? errno : EIO);
		buf_reset(&s->out);
	}
	return fflush(f) == EOF ? -(errno ? errno : EIO) : 0;
}

static int on_flush(void *ctx)
{
	struct session *s = ctx;
	int rc = flush_out(s);

	if (rc < 0)
		s->ctx->output_error = -rc;
	return rc;
}

/* printf() in a script. */
static int on_write(void *ctx, bool to_err, const char *text, size_t n)
{
	struct session *s = ctx;

	if (to_err)
		fwrite(text, 1, n, stderr);
	else
		buf_add(&s->out, text, n);
	return 0;
}

static void compute(const struct session *s, struct value *cells)
{
	const struct tool_header *h = &s->tool->header;

	for (size_t i = 0; s->has_computed && i < h->columns.len; i++) {
		const struct tool_column *c = &h->columns.items[i];
		enum value_type type = column_value_type(c->kind);
		double d;

		/* of what is not there, nothing is computed */
		if (!c->expr || !lang_column_shown(s->lang, c))
			continue;
		d = expr_number(c->expr, h, cells);
		if (!isfinite(d))
			cells[i] = (struct value){ 0 };
		else if (type == VALUE_PERCENT || type == VALUE_NUMBER)
			cells[i] = value_d(type, d);
		else
			cells[i] = value_u(type, d > 0 ? (u64)(d + 0.5) : 0);
	}
}

static bool passes(const struct session *s, const struct value *cells)
{
	double d;

	if (!s->filter_here)
		return true;
	d = expr_number(s->args->filter, &s->tool->header, cells);
	return isfinite(d) && d != 0;
}

static int on_row(void *ctx, const struct value *cells, size_t n, u64 wall_ns)
{
	struct session *s = ctx;

	memcpy(s->cells + 1, cells, n * sizeof(*cells));
	s->cells[0] = value_u(VALUE_TIME, wall_ns);
	compute(s, s->cells + 1);
	if (!passes(s, s->cells + 1))
		return 0;
	s->rows++;
	picture_add(&s->picture, s->tool, s->args, s->cells + 1, wall_ns);
	rows_add(&s->stream, s->cells, &s->out);
	return s->out.len > FLUSH_BYTES ? on_flush(s) : 0;
}

static enum rows_format format_of(const struct context *ctx)
{
	return cli_is(ctx, "json") ? ROWS_JSON : cli_is(ctx, "csv") ? ROWS_CSV : ROWS_TEXT;
}

static void open_stream(struct session *s)
{
	const struct tool_header *h = &s->tool->header;
	bool tty = !s->file && isatty(fileno(s->ctx->out)), coarse;

	s->one_line = s->interval && !tool_has_keys(s->tool) && !tool_streams(s->tool) &&
		      !tool_has_histograms(s->tool);
	coarse = s->one_line && s->interval >= NSEC_PER_SEC;
	s->columns[0] = (struct rows_column){ .key = "time",
					      .title = "TIME",
					      .kind = "timestamp",
					      .unit = column_unit(KIND_TIMESTAMP),
					      .type = VALUE_TIME,
					      .width = coarse ? 8 : 15,
					      .coarse = coarse,
					      .absent = !s->args->timestamp && !s->one_line };
	for (size_t i = 0; i < h->columns.len && i < COLUMNS_MOST; i++) {
		const struct tool_column *c = &h->columns.items[i];

		s->columns[i + 1] =
			(struct rows_column){ .key = c->name,
					      .title = c->title,
					      .kind = column_kind_name(c->kind),
					      .unit = column_unit(c->kind),
					      .type = column_value_type(c->kind),
					      .width = column_width(c),
					      .spare = c->spare,
					      .hidden = c->hidden,
					      .stack = c->kind == KIND_STACK,
					      .absent = !lang_column_shown(s->lang, c) };
		s->has_computed = s->has_computed || c->expr;
	}
	/* COLUMNS is respected, also in a pipe */
	rows_init(&s->stream, format_of(s->ctx), s->tool->name, s->columns, h->columns.len + 1,
		  tty || getenv("COLUMNS") ? cli_width(s->ctx) : 0, tty && cli_color(s->ctx));
}

/* --- tables ----------------------------------------------------------------------------------- */

static void drop_rows(const struct session *s, struct table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->rows.len; i++)
		if (passes(s, t->rows.items[i].cells))
			t->rows.items[kept++] = t->rows.items[i];
	t->rows.len = kept;
}

/* By the column requested, or that the header names. */
static void sort_table(const struct session *s, struct table *t)
{
	const char *by = s->args->sort ? s->args->sort : s->tool->header.sort;

	if (by)
		table_sort(t, by + (*by == '-'), *by == '-');
	if (s->args->top && t->rows.len > s->args->top)
		t->rows.len = s->args->top;
}

/* Keys are the first columns, but names of any length are best read at the end of the line. */
static void move_last(const struct tool *tool, struct table *t)
{
	size_t n = t->n_columns, left = n;

	for (size_t i = 0; left--;) {
		struct column moved = t->columns[i];

		if (!tool->header.columns.items[n - 1 - left].last) {
			i++;
			continue;
		}
		memmove(&t->columns[i], &t->columns[i + 1], (n - 1 - i) * sizeof(moved));
		t->columns[n - 1] = moved;
		vec_each(row, &t->rows) {
			struct value cell = row->cells[i];

			memmove(&row->cells[i], &row->cells[i + 1], (n - 1 - i) * sizeof(cell));
			row->cells[n - 1] = cell;
		}
	}
}

static void finish_table(struct session *s, struct table *t, u64 wall_ns)
{
	vec_each(row, &t->rows)
		compute(s, row->cells);
	drop_rows(s, t);
	sort_table(s, t);
	vec_each(row, &t->rows)
		picture_add(&s->picture, s->tool, s->args, row->cells, wall_ns);
	s->rows += t->rows.len;
	move_last(s->tool, t);
}

/* People find the time above each table when there are several. */
static void add_time(struct session *s, u64 wall_ns)
{
	if (format_of(s->ctx) != ROWS_TEXT || (!s->interval && !s->args->timestamp))
		return;
	if (s->shown)
		buf_addch(&s->out, '\n');
	fmt_clock(&s->out, wall_ns, 0);
	buf_addch(&s->out, '\n');
}

/* @cells may be NULL: nothing was counted. */
static void add_line(struct session *s, const struct value *cells, size_t n, u64 wall_ns)
{
	for (size_t i = 0; i < n; i++) {
		const struct tool_column *c = &s->tool->header.columns.items[i];
		struct value none = { 0 };

		s->cells[i + 1] = cells ? cells[i] : none;
		if (s->one_line && !s->cells[i + 1].type && !column_is_computed(c))
			s->cells[i + 1].type = column_value_type(c->kind);
	}
	s->cells[0] = value_u(VALUE_TIME, wall_ns);
	rows_add(&s->stream, s->cells, &s->out);
}

/*
 * Stacks need lines of their own below each row, which a table has no room for; and tables of one
 * row each are best read below one another.
 */
static int show_as_lines(struct session *s, const struct table *t, u64 wall_ns)
{
	if (!s->one_line)
		add_time(s, wall_ns);
	if (!s->shown || (!s->one_line && format_of(s->ctx) == ROWS_TEXT))
		rows_begin(&s->stream, &s->out);
	if (s->one_line && !t->rows.len && !s->args->filter)
		add_line(s, NULL, t->n_columns, wall_ns);
	vec_each(row, &t->rows)
		add_line(s, row->cells, t->n_columns, wall_ns);
	return on_flush(s);
}

static int show_result(struct session *s, const struct result *r, u64 wall_ns)
{
	FILE *usual = s->ctx->out;
	int rc;

	add_time(s, wall_ns);
	rc = on_flush(s);
	s->ctx->stream = true;
	s->ctx->out = out_of(s);
	if (rc == 0)
		rc = cli_show(s->ctx, r);
	s->ctx->out = usual;
	return rc;
}

static int show_table(struct session *s)
{
	u64 now = clock_mono_ns(), wall = clock_wall_ns();
	double seconds = (double)(now - s->last_table) / NSEC_PER_SEC;
	bool lines = format_of(s->ctx) != ROWS_JSON &&
		     (s->one_line || tool_has_kind(s->tool, KIND_STACK));
	struct table *table = NULL;
	struct result r;
	int rc;

	result_init(&r, s->tool->name);
	rc = lang_table(s->lang, &r, seconds, &table, &s->ctx->err);
	if (rc == 0 && !s->tool->header.keep)
		lang_table_clear(s->lang);
	s->last_table = now;
	result_fact(&r, "time", NULL, value_u(VALUE_TIME, wall));
	result_fact(&r, "seconds", NULL, value_d(VALUE_NUMBER, seconds));
	if (rc == 0 && table)
		finish_table(s, table, wall);
	else
		s->rows += r.sections.len;
	if (cli_is(s->ctx, "json"))
		lang_losses(s->lang, &r);
	if (rc == 0 && table && lines)
		rc = show_as_lines(s, table, wall);
	else if (rc == 0)
		rc = show_result(s, &r, wall);
	s->shown++;
	result_release(&r);
	return rc;
}

/* True ends the run. */
static bool on_tick(void *ctx)
{
	struct session *s = ctx;
	u64 now = clock_mono_ns();

	if (s->until && now >= s->until)
		return true;
	if (!s->interval || now - s->last_table + NSEC_PER_MSEC < s->interval)
		return false;
	return show_table(s) < 0 || (s->rounds && s->shown >= s->rounds);
}

/* --- the program ------------------------------------------------------------------------------ */

static int compile(struct session *s, bool with_filter)
{
	_cleanup_free_ char *name = xasprintf("%s.bt", s->tool->name);
	int rc;

	buf_reset(&s->source);
	buf_reset(&s->diagnostics);
	err_release(&s->ctx->err);
	buf_add(&s->source, s->tool->text.data, s->tool->text.len);
	prelude_macros(&s->source);
	rc = prelude_target(s->args, s->child.pid, &s->source, &s->ctx->err);
	if (rc < 0)
		return rc;
	if (with_filter)
		prelude_filter(s->tool, s->args->filter, &s->source);
	return lang_compile(arena_strdup(&s->arena, s->tool->path ? s->tool->path : name),
			    s->source.data, s->source.len, &s->opts, &s->lang, &s->diagnostics,
			    &s->ctx->err);
}

/*
 * A filter goes into the program where that can be: what does not match costs nothing then.
 * Columns that are only known here (names of users, addresses, computed ones) are compared here.
 */
static int compile_filtered(struct session *s)
{
	int rc;

	if (!s->args->filter)
		return compile(s, false);
	rc = expr_check(s->args->filter, &s->tool->header, &s->ctx->err);
	if (rc < 0)
		return rc;
	if (tool_streams(s->tool)) {
		rc = compile(s, true);
		if (rc != -EINVAL)
			return rc;
	}
	s->filter_here = true;
	return compile(s, false);
}

static void print_diagnostics(const struct session *s)
{
	if (s->diagnostics.len)
		fputs(buf_str(&s->diagnostics), stderr);
}

static int first_pid(const struct tool_args *a, pid_t launched)
{
	if (launched)
		return launched;
	return a->pids.len == 1 && a->pids.items[0].first == a->pids.items[0].last
		       ? (int)a->pids.items[0].first
		       : 0;
}

static int prepare(struct session *s, struct buf *exe)
{
	int pid = first_pid(s->args, s->child.pid), rc;
	const struct tool_header *h = &s->tool->header;

	if (h->user_process && !pid) {
		err_set(&s->ctx->err, EINVAL, "'%s' looks at one process", s->tool->name);
		err_hint(&s->ctx->err, "give it with -p PID, or start it: fathom %s -- program",
			 s->tool->name);
		return EXIT_USAGE;
	}
	s->opts = (struct lang_opts){ .pid = h->user_process || h->may_process ? (u32)pid : 0,
				      .cpid = (u32)s->child.pid,
				      .command = s->child.name,
				      .percentiles = true,
				      .latency_bits = LATENCY_BITS,
				      .no_warnings = true,
				      .quiet = s->ctx->common.quiet,
				      .clean = isatty(fileno(out_of(s))),
				      .header = &s->tool->header };
	s->opts.params = prelude_params(s->tool, s->args, pid, &s->arena, &s->opts.n_params);
	if (pid && procfs_exe((u32)pid, exe) >= 0)
		s->opts.exe = buf_str(exe);
	rc = compile_filtered(s);
	if (rc < 0) {
		print_diagnostics(s);
		if (s->diagnostics.len)
			err_release(&s->ctx->err);
		if (s->diagnostics.len)
			return EXIT_FAILED;
		err_prefix(&s->ctx->err, "%s", s->tool->name);
	}
	return rc;
}

/* What was chosen, lost or left out. */
static void report(struct session *s)
{
	_cleanup_buf_ struct buf losses = BUF_INIT;
	const char *const *notes;
	size_t n = lang_notes(s->lang, &notes);

	for (size_t i = 0; i < n && !s->ctx->common.quiet; i++)
		fprintf(stderr, "note: %s\n", notes[i]);
	/* a table has them in its document */
	if (cli_is(s->ctx, "json") && tool_streams(s->tool)) {
		lang_report_json(s->lang, &losses);
		buf_add(&s->out, losses.data, losses.len);
		(void)on_flush(s);
		buf_reset(&losses);
	}
	lang_report(s->lang, &losses);
	for (char *line = losses.data, *end; line && *line && !s->ctx->common.quiet;
	     line = end + 1) {
		end = strchr(line, '\n');
		fprintf(stderr, "fathom: %.*s\n", (int)(end - line), line);
	}
	if (s->picture.left_out)
		fprintf(stderr, "fathom: %llu rows are not in the picture, which is full\n",
			(unsigned long long)s->picture.left_out);
}

static int loop(struct session *s)
{
	struct lang_sink sink = {
		.write = on_write, .flush = on_flush, .ctx = s, .row = on_row, .tick = on_tick
	};
	int rc = 0;

	s->started = s->last_table = clock_mono_ns();
	s->until = s->args->duration ? s->started + s->args->duration : 0;
	sink.tick_ns = s->interval ? s->interval : 100 * NSEC_PER_MSEC;
	if (s->until && s->interval)
		sink.tick_ns = MIN(s->interval, s->args->duration);
	open_stream(s);
	if (tool_streams(s->tool)) {
		rows_begin(&s->stream, &s->out);
		rc = on_flush(s);
	}
	if (rc == 0 && s->child.pid)
		rc = launch_go(&s->child, &s->ctx->err);
	if (rc == 0 && !tool_streams(s->tool) && !s->interval)
		cli_progress_watching(s->ctx, s->args->duration);
	if (rc == 0)
		rc = lang_loop(s->lang, &sink, s->child.pid ? s->child.pid_fd : -1, &s->ctx->err);
	cli_progress(s->ctx, "%s", "");
	return rc;
}

static bool shows_at_end(const struct session *s)
{
	return !tool_streams(s->tool) && (!s->rounds || s->shown < s->rounds) &&
	       (!s->shown || clock_mono_ns() - s->last_table > s->interval / 10);
}

static int work(struct session *s)
{
	int rc = lang_start(s->lang, &s->diagnostics, &s->ctx->err), status;

	if (rc < 0) {
		print_diagnostics(s);
		return err_prefix(&s->ctx->err, "%s", s->tool->name);
	}
	log_info("%s: %u probes are attached", s->tool->name, lang_probe_count(s->lang));
	rc = loop(s);
	if (rc >= 0 && shows_at_end(s) && !s->ctx->output_error)
		rc = show_table(s);
	(void)on_flush(s);
	lang_stop(s->lang, true);
	report(s);
	if (rc >= 0 && (s->args->flame || s->args->heatmap))
		rc = picture_write(&s->picture, s->ctx, s->tool, s->args);
	rows_release(&s->stream);
	status = program_end(&s->child);
	return rc ? rc : status;
}

static int check_pids(struct session *s)
{
	vec_each(it, &s->args->pids) {
		if (it->first == it->last && kill((pid_t)it->first, 0) < 0 && errno == ESRCH)
			return err_set(&s->ctx->err, ESRCH, "no process %llu exists",
				       (unsigned long long)it->first);
	}
	return 0;
}

static int check_sort(struct session *s)
{
	const char *by = s->args->sort;

	if (!by || header_column(&s->tool->header, by + (*by == '-'), strlen(by + (*by == '-'))) !=
			   SIZE_MAX)
		return 0;
	err_set(&s->ctx->err, EINVAL, "'%s' has no column '%s'", s->tool->name, by);
	err_hint(&s->ctx->err, "'fathom %s --help' lists them", s->tool->name);
	return -EINVAL;
}

static int open_file(struct session *s)
{
	const struct output_args *o = &s->args->output;
	struct output_args flame = { .path = s->args->flame, .force = o->force };
	struct output_args heatmap = { .path = s->args->heatmap, .force = o->force };
	int rc = output_check(s->ctx, o, NULL);

	if (rc == 0)
		rc = output_check(s->ctx, &flame, "svg html");
	if (rc == 0)
		rc = output_check(s->ctx, &heatmap, "svg");
	if (rc || !o->path || streq(o->path, "-"))
		return rc;
	s->file = fopen(o->path, "we");
	if (!s->file)
		return io_cannot_create(o->path, errno, &s->ctx->err);
	return 0;
}

static int run_session(struct session *s, struct tool_args *a)
{
	_cleanup_buf_ struct buf exe = BUF_INIT;
	int rc = operands_take(s->ctx, s->tool, a, &s->interval, &s->rounds);

	if (rc == 0)
		rc = check_sort(s);
	if (rc < 0)
		return EXIT_USAGE;
	rc = check_pids(s);
	if (rc == 0)
		rc = open_file(s);
	if (rc == 0 && s->ctx->program)
		rc = program_prepare(&s->child, s->ctx->program, &s->ctx->err);
	if (rc == 0)
		rc = prepare(s, &exe);
	caps_drop_unused();
	if (rc == 0)
		rc = work(s);
	return rc;
}

static void note_shadow(const struct context *ctx, const struct tool *t)
{
	if (t->shadows && !ctx->common.quiet)
		fprintf(stderr, "note: '%s' is used instead of the tool of that name\n", t->path);
}

int tool_run(struct context *ctx, void *args)
{
	const struct tool *t = tool_of(ctx->command);
	struct tool_args *a = args;
	struct session *s;
	int rc;

	if (a->source)
		return cli_print(ctx, &t->text);
	note_shadow(ctx, t);
	if (a->input)
		return recorded_run(ctx, t, a);
	s = xcalloc(1, sizeof(*s));
	s->ctx = ctx;
	s->tool = t;
	s->args = a;
	s->child = (struct launch)LAUNCH_INIT;
	rc = run_session(s, a);
	if (s->file && fclose(s->file) == EOF && rc == 0)
		rc = err_sys(&ctx->err, errno, "cannot write '%s'", a->output.path);
	lang_free(s->lang);
	launch_release(&s->child);
	picture_release(&s->picture);
	arena_release(&s->arena);
	buf_release(&s->source);
	buf_release(&s->diagnostics);
	buf_release(&s->out);
	free(s);
	return rc;
}

int tool_try(const struct tool *t, struct err *e)
{
	_cleanup_buf_ struct buf source = BUF_INIT, diagnostics = BUF_INIT;
	size_t size = sizeof(struct tool_args) + t->header.options.len * sizeof(u64);
	_cleanup_free_ struct tool_args *a = xcalloc(1, size);
	struct lang_opts opts = { .no_warnings = true, .header = &t->header };
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	struct lang *l = NULL;
	int rc;

	/* what it observes is only known when it runs */
	if (t->header.user_process)
		return 0;
	opts.params = prelude_defaults(t, &arena, &opts.n_params);
	buf_add(&source, t->text.data, t->text.len);
	prelude_macros(&source);
	rc = prelude_target(a, 0, &source, e);
	if (rc == 0)
		rc = lang_compile(t->name, source.data, source.len, &opts, &l, &diagnostics, e);
	lang_free(l);
	return rc;
}
