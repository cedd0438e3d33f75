/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"
#include "analysis/heatmap.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "view/html.h"
#include "view/svg.h"
#include "view/svg_heatmap.h"
#include "view/term.h"

#include <sys/ioctl.h>

enum { TEXT_MOST = 2047 << 20, SNIFF = 4096 };

struct heatmap_args {
	struct profile_args profile;
	struct output_args output;
	int kind;
	bool kind_given;
	const char *pair;
	u64 rows, step, min, max, time_unit, value_unit;
	bool idle, linear;
	int scale;
	const char *title;
};

static const char *const kinds[] = { "subsecond", "latency", "utilization", NULL };
static const char *const scales[] = { "auto", "linear", "log", NULL };

#define AT(field) .offset = offsetof(struct heatmap_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct heatmap_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)
#define ROWS .group = "Rows and columns"

static const struct opt heatmap_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ 't', "type", OPT_CHOICE, AT(kind), .arg = "KIND", .def = "subsecond", .choices = kinds,
	  .given_offset = offsetof(struct heatmap_args, kind_given),
	  .help = "when in each second samples were taken; how long events took; how busy CPUs "
		  "were" },
	OPTION(0, "pair", OPT_STRING, pair, "FROM,TO,KEY...",
	       "latency: from one tracepoint to another with equal fields; 'block' and "
	       "'syscall' are known"),
	OPTION(0, "rows", OPT_U64, rows, "N", "rows (default: fits the data)",
	       .max = HEATMAP_ROWS_MOST, ROWS),
	OPTION(0, "step", OPT_DURATION, step, "TIME",
	       "width of a column (default: fits the data; subsecond: 1s, 100ms below 8s)", ROWS),
	OPTION(0, "min", OPT_DURATION, min, "TIME", "latency: lowest row (default: of the data)",
	       ROWS),
	OPTION(0, "max", OPT_DURATION, max, "TIME", "latency: highest row (default: of the data)",
	       ROWS),
	OPTION(0, "linear", OPT_FLAG, linear, NULL,
	       "latency: rows of equal height instead of logarithmic ones", ROWS),
	OPTION(0, "scale", OPT_CHOICE, scale, "HOW",
	       "colours by the count or by its logarithm (auto: log for latency)", .def = "auto",
	       .choices = scales),
	OPTION(0, "idle", OPT_FLAG, idle, NULL, "subsecond: show samples of the idle task, too"),
	OPTION(0, "unitstime", OPT_DURATION, time_unit, "UNIT",
	       "text: what one of the first column is", .def = "1us"),
	OPTION(0, "unitslat", OPT_DURATION, value_unit, "UNIT",
	       "text: what one of the second column is", .def = "1us"),
	OPTION(0, "title", OPT_STRING, title, "TEXT", "heading"),
	OPT_END,
};

enum { MISSING_SHARE = 20 }; /* from a twentieth on the reason is worth a line */

/* --- points --------------------------------------------------------------------------------- */

static int parse_pair(const char *text, struct arena *arena, struct event_pair *ret, struct err *e)
{
	char *from, *to, *key;

	if (streq(text, "block")) {
		*ret = (struct event_pair){ "block:block_rq_issue", "block:block_rq_complete",
					    "dev,sector", true };
		return 0;
	}
	if (streq(text, "syscall")) {
		*ret = (struct event_pair){ "raw_syscalls:sys_enter", "raw_syscalls:sys_exit",
					    "common_pid", false };
		return 0;
	}
	from = arena_strdup(arena, text);
	to = strchr(from, ',');
	key = to ? strchr(to + 1, ',') : NULL;
	if (!key) {
		err_set(e, EINVAL, "'%s' is not a pair of events", text);
		err_hint(e, "FROM,TO,KEY: block:block_rq_issue,block:block_rq_complete,dev,sector");
		return -EINVAL;
	}
	*to++ = '\0';
	*key++ = '\0';
	*ret = (struct event_pair){ from, to, key, false };
	return 0;
}

/* Text of times and latencies: the first line that counts is two numbers. */
static bool is_plain_text(const char *path)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	_cleanup_close_ int fd = -1;
	latency_points points = { 0 };
	u64 bad;
	ssize_t n;
	bool ok;

	if (streq(path, "-"))
		return true;
	if (io_open_read(path, &fd, NULL) < 0)
		return false;
	n = read(fd, buf_reserve(&head, SNIFF), SNIFF);
	if (n <= 0 || memchr(head.data, '\0', (size_t)n))
		return false;
	ok = heat_points_of_text(head.data, (size_t)n, 1, 1, &points, &bad, NULL) >= 0 &&
	     points.len > bad;
	vec_release(&points);
	return ok;
}

static int points_of_text(struct context *ctx, const struct heatmap_args *a, const char *path,
			  latency_points *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	u64 bad;
	int r = streq(path, "-") ? io_read_fd(STDIN_FILENO, path, TEXT_MOST, &text, &ctx->err)
				 : io_read_file(path, TEXT_MOST, &text, &ctx->err);

	if (r >= 0)
		r = heat_points_of_text(buf_str(&text), text.len, a->time_unit, a->value_unit, ret,
					&bad, &ctx->err);
	if (r >= 0 && bad)
		log_warn("%llu lines are not a time and a latency", (unsigned long long)bad);
	return r;
}

static int points_of_pair(struct context *ctx, const struct heatmap_args *a, const char *path,
			  latency_points *ret, u64 *ret_unmatched)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	struct event_pair pair;
	int r = parse_pair(a->pair, &arena, &pair, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	return event_pair_points(path, &pair, ret, ret_unmatched, &ctx->err);
}

/* The part that --time asks for; other inputs are cut while they are read. */
static void cut_points(latency_points *points, const struct load_opts *load)
{
	u64 base = UINT64_MAX;
	size_t kept = 0;

	vec_each(p, points)
		base = MIN(base, p->time);
	base = load->time_relative ? base : 0;
	vec_each(p, points)
		if (p->time >= base + load->time_from &&
		    (!load->time_to || p->time <= base + load->time_to))
			points->items[kept++] = *p;
	points->len = kept;
}

/* --- output --------------------------------------------------------------------------------- */

static int screen_rows(const struct context *ctx)
{
	struct winsize size;

	if (ioctl(fileno(ctx->out), TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return 24;
	return size.ws_row > 14 ? size.ws_row - 7 : 8;
}

static const char *title_of(const struct heatmap_args *a)
{
	static const char *const titles[] = { "Subsecond-Offset Heat Map", "Latency Heat Map",
					      "CPU Utilization Heat Map" };

	return a->title ? a->title : titles[a->kind];
}

static void subtitle_of(const struct heatmap *h, const char *event, const char *file,
			struct buf *out)
{
	fmt_count(out, h->total);
	buf_addf(out, " %s", h->kind == HEAT_UTILIZATION ? "readings of CPUs" : heatmap_noun(h));
	if (event)
		buf_addf(out, " of %s", event);
	buf_addf(out, "%s%s, a column is ", file ? " in " : "", file ? file : "");
	fmt_duration(out, h->step);
	if (h->idle) {
		buf_addstr(out, "; ");
		fmt_count(out, h->idle);
		buf_addstr(out, " idle samples left out");
	}
	if (h->unmatched) {
		buf_addstr(out, "; ");
		fmt_count(out, h->unmatched);
		buf_addstr(out, " events without a counterpart, not shown");
		if (h->unmatched * MISSING_SHARE > h->total)
			buf_addstr(out, " (not every kernel hands on what happens on an idle CPU; "
					"'fathom biosnoop --heatmap FILE' sees it)");
	}
}

/* @p: what the map is of, or NULL. */
static int show(struct context *ctx, const struct heatmap_args *a, const struct heatmap *h,
		const struct profile *p, const char *event, const char *file)
{
	_cleanup_buf_ struct buf text = BUF_INIT, page = BUF_INIT, subtitle = BUF_INIT;
	struct heat_view v = {
		.title = title_of(a),
		.file = file,
		.event = a->profile.event,
		.log_count = a->scale ? a->scale == 2 : a->kind == HEAT_LATENCY,
		.width = cli_width(ctx),
		.height = screen_rows(ctx),
		.color = cli_color(ctx),
		.unicode = term_unicode(),
	};

	if (cli_is_machine(ctx)) {
		_cleanup_result_ struct result result = { 0 };

		result_init(&result, "heatmap");
		heatmap_report(h, &result);
		return cli_show(ctx, &result);
	}
	subtitle_of(h, event, file, &subtitle);
	v.subtitle = buf_str(&subtitle);
	if (!a->output.path) {
		term_heatmap(h, &v, &text);
		return cli_print(ctx, &text);
	}
	if (p) {
		buf_addch(&subtitle, ';');
		flame_origin(p, &subtitle);
		v.subtitle = buf_str(&subtitle);
	}
	svg_heatmap(h, &v, &text);
	if (!output_is(&a->output, "html"))
		return output_write(ctx, &a->output, &text);
	svg_page(&page, "Heat map", &text);
	return output_write(ctx, &a->output, &page);
}

/* --- the command ---------------------------------------------------------------------------- */

/* In the terminal as many rows as it has lines, of equal parts of the second. */
static u32 rows_of(const struct context *ctx, const struct heatmap_args *a)
{
	int lines = screen_rows(ctx);

	if (a->rows || a->output.path || a->kind != HEAT_SUBSECOND || cli_is_machine(ctx))
		return (u32)a->rows;
	return lines >= 50 ? 50 : lines >= 25 ? 25 : lines >= 20 ? 20 : 10;
}

static struct heatmap_opts shape_of(const struct context *ctx, const struct heatmap_args *a)
{
	return (struct heatmap_opts){
		.rows = rows_of(ctx, a),
		.step = a->step,
		.idle = a->idle,
		.linear = a->linear,
		.min = a->min,
		.max = a->max,
	};
}

static int map_points(struct context *ctx, const struct heatmap_args *a,
		      const struct load_opts *load, const char *path, latency_points *points)
{
	struct heatmap_opts opts = shape_of(ctx, a);
	struct heatmap h;
	u64 unmatched = 0;
	int r = a->pair ? points_of_pair(ctx, a, path, points, &unmatched)
			: points_of_text(ctx, a, path, points);

	if (r)
		return r;
	cut_points(points, load);
	r = heatmap_latency(&h, points, &opts, &ctx->err);
	if (r < 0)
		return r;
	h.unmatched = unmatched;
	r = show(ctx, a, &h, NULL, NULL, a->pair ? path : NULL);
	heatmap_release(&h);
	return r;
}

static int write_viewer(struct context *ctx, const struct heatmap_args *a, const struct profile *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct html_opts opts = { .title = a->title };
	int r = html_write(p, &opts, &text, &ctx->err);

	return r < 0 ? r : output_write(ctx, &a->output, &text);
}

static int map_profile(struct context *ctx, const void *args, struct profile *p)
{
	const struct heatmap_args *a = args;
	struct heatmap_opts opts = shape_of(ctx, a);
	latency_points points = { 0 };
	struct flame_opts chosen;
	struct heatmap h = { 0 };
	int r = 0;

	profile_args_warn(p);
	flame_choose_event(p, &chosen);
	opts.event = chosen.event;
	/* the viewer has this map as its navigator */
	if (a->kind == HEAT_SUBSECOND && output_is(&a->output, "html"))
		return write_viewer(ctx, a, p);
	profile_args_warn_event(p, opts.event);
	if (a->kind == HEAT_SUBSECOND) {
		r = heatmap_subsecond(&h, p, &opts, &ctx->err);
	} else if (a->kind == HEAT_UTILIZATION) {
		r = heatmap_utilization(&h, p, &opts, &ctx->err);
	} else {
		r = heat_points_of_weights(p, opts.event, &points, &ctx->err);
		if (r >= 0)
			r = heatmap_latency(&h, &points, &opts, &ctx->err);
	}
	if (r >= 0)
		r = show(ctx, a, &h, p, profile_str(p, p->events.items[opts.event].name),
			 profile_str(p, p->source));
	heatmap_release(&h);
	vec_release(&points);
	return r;
}

static int heatmap_run(struct context *ctx, void *args)
{
	struct heatmap_args *a = args;
	latency_points points = { 0 };
	struct load_opts load;
	int r = output_check(ctx, &a->output, "svg html");

	if (!r)
		r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	if (a->pair && !a->kind_given)
		a->kind = HEAT_LATENCY;
	if (!a->profile.input && profile_default_input(&a->profile.input, &ctx->err) < 0)
		return EXIT_FAILED;
	if (a->kind == HEAT_LATENCY && (a->pair || is_plain_text(a->profile.input)))
		r = map_points(ctx, a, &load, a->profile.input, &points);
	else
		r = profile_args_look(ctx, &a->profile, &load, map_profile, a);
	vec_release(&points);
	return r == -EINVAL ? EXIT_USAGE : r;
}

static const struct example heatmap_examples[] = {
	{ "fathom heatmap", "when in each second fathom.data was busy, here" },
	{ "fathom heatmap -o offsets.svg",
	  "as a picture: two clicks give the command for a range" },
	{ "fathom heatmap --pair block -i io.data -o io.svg",
	  "disk latency, from block:block_rq_issue and block_rq_complete" },
	{ "fathom heatmap -t latency latencies.txt -o lat.svg", "lines of time and latency" },
	{ "fathom heatmap -t utilization", "how many CPUs were how busy" },
	{ 0 },
};

const struct command cmd_heatmap = {
	.name = "heatmap",
	.summary = "heat maps: offset in the second, latency, CPU utilization",
	.description =
		"Draws time from left to right and a value upwards, darker where there is more. "
		"'subsecond' (the map of FlameScope) has a column for each second and rows for "
		"its parts: what is periodic, bursty or stalls shows as a pattern. 'latency' has "
		"rows of durations, logarithmic, with lines for the 50th, 90th and 99th "
		"percentile. 'utilization' counts CPUs by how busy they were.\n\n"
		"Durations come from two tracepoints of a recording that agree in some fields "
		"(--pair), from an event whose weight is a time (off-CPU time), or from text: "
		"lines of time and latency, in units of --unitstime and --unitslat.\n\n"
		"In the SVG two clicks choose a range and show the command that draws it as a "
		"flame graph; in the HTML file the map is the navigator of the viewer.",
	.question = Q_LOOK,
	.options = heatmap_options,
	.args_size = sizeof(struct heatmap_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.instead_of = "flamescope trace2heatmap.pl subsecond-trace2heatmap.pl",
	.examples = heatmap_examples,
	.see_also = "fathom-flame fathom-record fathom-diff",
	.run = heatmap_run,
};
