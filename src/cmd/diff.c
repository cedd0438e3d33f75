/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/diff.h"
#include "analysis/diff_many.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "view/html.h"
#include "view/perf_form.h"
#include "view/svg.h"

struct diff_args {
	struct profile_args profile;
	struct output_args output;
	const char *time2, *title, *minwidth;
	bool absolute, relative, swap, all, inverted;
	double confidence, width;
	u64 lines;
	int order, group;
	struct perf_args perf;
};

static const char *const orders[] = { "left-heavy", "name", NULL };
static const enum calltree_order order_values[] = { ORDER_WEIGHT, ORDER_NAME };
static const char *const groups[] = { "none", "comm", NULL };

#define AT(field) .offset = offsetof(struct diff_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct diff_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)
#define LOOK .group = "Look"

static const struct opt diff_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	OPTION(0, "time2", OPT_STRING, time2, "FROM,TO",
	       "the later span of the recording; --time is the earlier one; of two recordings, "
	       "the span of the second",
	       .group = "Input"),
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPTION(0, "absolute", OPT_FLAG, absolute, NULL,
	       "compare as they are, without making both equally large"),
	OPTION(0, "relative", OPT_FLAG, relative, NULL,
	       "sort and colour by growth in parts of what there was"),
	OPTION(0, "swap", OPT_FLAG, swap, NULL, "the first is the later one"),
	OPTION(0, "confidence", OPT_PERCENT, confidence, "P",
	       "grey what chance does more often than in 100-P % of all cases; 0: nothing",
	       .def = "99"),
	OPTION(0, "lines", OPT_U64, lines, "N", "maximum number of lines per table", .def = "25"),
	OPTION(0, "all", OPT_FLAG, all, NULL, "show everything"),
	OPTION(0, "group", OPT_CHOICE, group, "BY", "pictures: the boxes on the root",
	       .def = "comm", .choices = groups, LOOK),
	OPTION(0, "order", OPT_CHOICE, order, "HOW", "pictures: order of sibling boxes",
	       .def = "name", .choices = orders, LOOK),
	OPTION(0, "inverted", OPT_FLAG, inverted, NULL, "pictures: the root at the top", LOOK,
	       .alias = "icicle"),
	OPTION(0, "title", OPT_STRING, title, "TEXT", "pictures: heading", LOOK),
	OPTION(0, "width", OPT_DOUBLE, width, "PIXELS",
	       "pictures: width (default: as wide as the window)", LOOK),
	OPTION(0, "minwidth", OPT_STRING, minwidth, "PIXELS|N%", "pictures: hide narrower boxes",
	       .def = "0.1", LOOK),
	{ .type = OPT_INCLUDE, .include = perf_diff_options, AT(perf) },
	OPT_END,
};

/* --- output --------------------------------------------------------------------------------- */

static struct svg_opts drawing_of(const struct diff_args *a)
{
	return (struct svg_opts){
		.title = a->title ? a->title : "Differential Flame Graph",
		.width = a->width,
		SVG_OPTS_DEFAULT,
		.inverted = a->inverted,
	};
}

static void subtitle_of(const struct diff *d, const struct profile *p, struct buf *out)
{
	u64 lost = d->before.lost + d->after.lost;

	buf_addf(out, "after: %s, %llu samples; before: %s, %llu samples",
		 profile_str(p, d->after.name), (unsigned long long)d->after.samples,
		 profile_str(p, d->before.name), (unsigned long long)d->before.samples);
	if (d->factor != 1)
		buf_addf(out, ", times %.4g", d->factor);
	if (lost)
		buf_addf(out, ", %llu lost", (unsigned long long)lost);
	if (diff_mixed(d, p))
		buf_addf(out, "; %s against %s", profile_str(p, d->after.counts),
			 profile_str(p, d->before.counts));
}

static int write_svg(struct context *ctx, const struct diff_args *a, const struct diff *d,
		     struct profile *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT, subtitle = BUF_INIT;
	struct svg_opts opts = drawing_of(a);
	struct flame_opts layout = {
		.event = d->after.event,
		.has_baseline = true,
		.baseline = d->before.event,
		.group = a->group ? GROUP_COMM : GROUP_NONE,
		.order = order_values[a->order],
		.elided = true,
		.relative = a->relative,
		.confidence = a->confidence / 100,
		.exposure = d->exposure,
	};
	struct flame flame;
	int r = svg_min_share(a->minwidth, a->width, &layout.min_share, &ctx->err);

	if (r >= 0)
		r = flame_init(&flame, p, &layout, &ctx->err);
	if (r < 0)
		return r;
	subtitle_of(d, p, &subtitle);
	opts.subtitle = buf_str(&subtitle);
	svg_flame(&flame, &opts, &text);
	flame_release(&flame);
	return output_write(ctx, &a->output, &text);
}

static int write_html(struct context *ctx, const struct diff_args *a, const struct diff *d,
		      const struct profile *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct html_opts opts = {
		.title = a->title,
		.has_event = true,
		.event = d->after.event,
		.has_baseline = true,
		.baseline = d->before.event,
		.inverted = a->inverted,
		.left_heavy = order_values[a->order] == ORDER_WEIGHT,
		.group = groups[a->group],
	};
	int r = html_write(p, &opts, &text, &ctx->err);

	return r < 0 ? r : output_write(ctx, &a->output, &text);
}

static int show_tables(struct context *ctx, const struct diff *d, struct profile *p,
		       const struct diff_opts *opts)
{
	_cleanup_result_ struct result result = { 0 };

	result_init(&result, "diff");
	diff_report(d, p, opts, &result);
	return cli_show(ctx, &result);
}

/* --- input ---------------------------------------------------------------------------------- */

static int load(struct context *ctx, struct diff_args *a, const char *input, const char *time,
		struct profile *p)
{
	struct profile_args one = a->profile;
	struct load_opts opts;
	int r;

	one.input = input;
	one.time = time;
	r = profile_args_opts(&one, &opts, &ctx->err);
	if (r < 0)
		return r;
	/* the viewer follows time, tables do not */
	opts.merge = !output_is(&a->output, "html");
	r = profile_args_load(ctx, &one, &opts, p);
	/* the tables say so themselves */
	if (r >= 0 && a->output.path)
		profile_args_warn(p);
	return r;
}

struct inputs {
	const char *before, *after; /* after NULL: both are in one */
};

static int choose_inputs(struct context *ctx, const struct diff_args *a, struct inputs *ret)
{
	size_t n = ctx->operands.len;
	const char *first = n ? ctx->operands.items[0] : a->profile.input;

	*ret = (struct inputs){ .before = first };
	if (n == 2)
		ret->after = ctx->operands.items[1];
	else if (a->time2)
		ret->after = first;
	else if (!first)
		*ret = (struct inputs){ "fathom.data.old", "fathom.data" };
	if (!first && ret->before && !io_exists(ret->before)) {
		err_set(&ctx->err, ENOENT, "no '%s' here to compare with", ret->before);
		err_hint(&ctx->err, "fathom diff BEFORE AFTER; 'fathom record' keeps the recording "
				    "before the last under that name");
		return EXIT_FAILED;
	}
	if (a->profile.input && n) {
		err_set(&ctx->err, EINVAL, "-i and names of files are both given");
		return EXIT_USAGE;
	}
	if (a->time2 && !a->profile.time) {
		err_set(&ctx->err, EINVAL, "--time2 needs --time");
		return EXIT_USAGE;
	}
	return 0;
}

static int load_both(struct context *ctx, struct diff_args *a, const struct inputs *in,
		     const struct diff_opts *opts, struct diff *d, struct profile *p)
{
	const char *time2 = a->time2 ? a->time2 : a->profile.time;
	int r = load(ctx, a, in->before, a->profile.time, p);

	if (r >= 0 && !in->after)
		return diff_columns(d, p, opts, &ctx->err);
	if (r >= 0)
		r = diff_end_before(d, p, &ctx->err);
	if (r >= 0)
		r = load(ctx, a, in->after, time2, p);
	if (r >= 0)
		r = diff_join(d, p, opts, &ctx->err);
	return r;
}

/* --- several -------------------------------------------------------------------------------- */

static int add_file(struct context *ctx, struct diff_args *a, const char *path, struct diff_many *d)
{
	struct profile p;
	int r;

	profile_init(&p);
	r = load(ctx, a, path, a->profile.time, &p);
	if (r >= 0)
		r = diff_many_add(d, &p, path, &ctx->err);
	profile_release(&p);
	return r;
}

static int print_as_perf(struct context *ctx, const struct diff_args *a, const struct diff_many *d,
			 const struct result *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct perf_form form = { .separator = a->perf.separator,
				  .delta = d->opts.how == DIFF_DELTA ? "Delta" : NULL,
				  .quiet = ctx->common.quiet };

	if (!form.quiet)
		buf_addf(&text, "# Event '%s'\n#\n", intern_get(&d->strings, d->event));
	if (!form.quiet && d->n > 2) {
		buf_addstr(&text, "# Data files:\n");
		for (size_t i = 0; i < d->n; i++)
			buf_addf(&text, "#  [%zu] %s %s\n", i, intern_get(&d->strings, d->names[i]),
				 i ? "" : "(Baseline)");
		buf_addstr(&text, "#\n");
	}
	perf_form_table(result->sections.items[0].table, &form, &text);
	return cli_print(ctx, &text);
}

/* -c, -s, -b and -p, by perf's name. */
static int several_opts(const struct diff_args *a, struct diff_many_opts *ret, struct err *e)
{
	*ret = (struct diff_many_opts){ .baseline_only = a->perf.baseline_only,
					.period = a->perf.period };
	for (const char *s = a->perf.keys; s && *s;
	     s += strcspn(s, ",") + (s[strcspn(s, ",")] == ',')) {
		size_t n = strcspn(s, ",");

		if ((n == 4 && memcmp(s, "comm", n) == 0) || (n == 3 && memcmp(s, "dso", n) == 0) ||
		    (n == 3 && memcmp(s, "sym", n) == 0) || (n == 6 && memcmp(s, "symbol", n) == 0))
			continue;
		err_set(e, EINVAL, "recordings cannot be compared by '%.*s'", (int)n, s);
		err_hint(e, "the keys are comm, dso and symbol");
		return -EINVAL;
	}
	ret->sort = a->perf.keys;
	return a->perf.compute ? diff_many_parse(a->perf.compute, ret, e) : 0;
}

static int diff_several(struct context *ctx, struct diff_args *a)
{
	static const char *const usual[] = { PERF_FILE ".old", PERF_FILE };
	bool all = a->all || cli_is_machine(ctx) || ctx->as_perf;
	size_t n = ctx->operands.len;
	_cleanup_result_ struct result result = { 0 };
	struct diff_many_opts opts;
	struct diff_many d;
	int r;

	result_init(&result, "diff");
	if (a->output.path) {
		err_set(&ctx->err, EINVAL, "a picture compares two recordings, not %zu", n);
		return EXIT_USAGE;
	}
	r = several_opts(a, &opts, &ctx->err);
	if (r < 0)
		return EXIT_USAGE;
	diff_many_init(&d, &opts);
	/* as perf: one name is that of the new one */
	if (n < 2)
		r = add_file(ctx, a, usual[0], &d);
	if (r >= 0 && !n)
		r = add_file(ctx, a, usual[1], &d);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_file(ctx, a, ctx->operands.items[i], &d);
	if (r >= 0) {
		diff_many_report(&d, all ? 0 : (u32)a->lines, &result);
		r = ctx->as_perf && !cli_is_machine(ctx) ? print_as_perf(ctx, a, &d, &result)
							 : cli_show(ctx, &result);
	}
	diff_many_release(&d);
	return r;
}

static int check_args(struct context *ctx, const struct diff_args *a)
{
	struct svg_opts drawing = drawing_of(a);
	double share;

	if (a->confidence < 0 || a->confidence >= 100) {
		err_set(&ctx->err, ERANGE, "confidence %g is not from 0 to below 100",
			a->confidence);
		return EXIT_USAGE;
	}
	if (svg_opts_check(&drawing, &ctx->err) < 0 ||
	    svg_min_share(a->minwidth, a->width, &share, &ctx->err) < 0)
		return EXIT_USAGE;
	return output_check(ctx, &a->output, "svg html");
}

static int diff_run(struct context *ctx, void *args)
{
	struct diff_args *a = args;
	struct diff_opts opts = {
		.absolute = a->absolute,
		.relative = a->relative,
		.swap = a->swap,
		.confidence = a->confidence / 100,
		.max_lines = a->all || cli_is_machine(ctx) ? 0 : (u32)a->lines,
	};
	struct inputs in;
	struct profile p;
	struct diff d = { 0 };
	int r = check_args(ctx, a);

	if (!r && (ctx->operands.len > 2 || (ctx->as_perf && !a->output.path)))
		return diff_several(ctx, a);
	if (!r)
		r = choose_inputs(ctx, a, &in);
	if (r)
		return r;
	profile_init(&p);
	r = load_both(ctx, a, &in, &opts, &d, &p);
	if (r >= 0 && diff_mixed(&d, &p))
		log_warn("'%s' counts %s, '%s' %s: shares of different things",
			 profile_str(&p, d.before.name), profile_str(&p, d.before.counts),
			 profile_str(&p, d.after.name), profile_str(&p, d.after.counts));
	if (r >= 0 && output_is(&a->output, "html"))
		r = write_html(ctx, a, &d, &p);
	else if (r >= 0 && a->output.path)
		r = write_svg(ctx, a, &d, &p);
	else if (r >= 0)
		r = show_tables(ctx, &d, &p, &opts);
	diff_release(&d);
	profile_release(&p);
	return r;
}

static const struct example diff_examples[] = {
	{ "fathom diff", "fathom.data.old and fathom.data: what the last change did" },
	{ "fathom diff old.data new.data -o diff.svg", "as a differential flame graph" },
	{ "fathom diff run.data --time +0,+5 --time2 +5,+10", "two spans of one recording" },
	{ "fathom diff old.data new.data run.data", "later ones against the first" },
	{ "fathom diff two-columns.folded", "folded stacks as difffolded.pl writes them" },
	{ 0 },
};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "recordings, or two spans of one, compared",
	.description =
		"Shows which functions and stacks take more and which take less than before: as "
		"tables here, as a differential flame graph with -o FILE.svg, in the viewer with "
		"-o FILE.html.\n\n"
		"Shares are compared: the first profile is made as large as the second, in "
		"fractions of samples, unless --absolute is given. A function counts with all "
		"that it called, once per stack.\n\n"
		"Sampling is random. A difference that two samplings of the same program would "
		"show, too (binomial test on sample counts), is called noise and drawn in grey; "
		"--confidence says how sure to be. In the picture the width is what there is "
		"now; new boxes are amber, stacks that vanished are to the right in purple, as "
		"wide as they were.\n\n"
		"Of three and more recordings the share of each function in the first is shown, "
		"and by how much it differs in the others.",
	.question = Q_LOOK,
	.options = diff_options,
	.args_size = sizeof(struct diff_args),
	.operands = "[BEFORE [AFTER]...]",
	.max_operands = DIFF_MANY_MOST,
	.instead_of = "difffolded.pl",
	.examples = diff_examples,
	.notes = "The test assumes independent samples of equal weight: of off-CPU time, where few "
		 "samples may carry most of the weight, it says little. Among a thousand functions "
		 "some ten differ by chance at 99 %.",
	.see_also = "fathom-flame fathom-report",
	.run = diff_run,
};
