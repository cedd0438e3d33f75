/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/waits.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "view/annotate_json.h"
#include "view/html.h"
#include "view/svg.h"
#include "view/term.h"
#include "view/term_flame.h"

#include <sys/ioctl.h>

enum { CODE_FUNCTIONS = 40 };

struct flame_args {
	struct profile_args profile;
	struct output_args output;
	bool inverted, reverse, chart, hotcold, idle;
	int order, group, by, palette;
	bool palette_given, group_given, by_given;
	u64 max_depth;
	bool by_count;
	const char *title, *subtitle, *notes, *countname, *nametype, *nameattr, *encoding;
	const char *bgcolors, *minwidth, *fonttype;
	double width, height, fontsize, fontwidth, total, factor;
	bool hash, random, negate, consistent;
	const char *ratio;
	u64 ratio_samples;
	bool code;
};

static const char *const orders[] = { "left-heavy", "name", "time", NULL };
static const enum calltree_order order_values[] = { ORDER_WEIGHT, ORDER_NAME, ORDER_TIME };
static const char *const groups[] = { "none", "comm", "pid", "tid", NULL };
static const char *const color_modes[] = { "auto", "kind", "module", "self", "name", NULL };

#define PALETTE_FILE "palette.map"

#define AT(field)    .offset = offsetof(struct flame_args, field)
#define GIVEN(field) .given_offset = offsetof(struct flame_args, field)
#define OPTION(name_, type_, field, arg_, group_, help_, ...)                              \
	OPT_ENTRY(struct flame_args, 0, name_, type_, field, arg_, help_, .group = group_, \
		  __VA_ARGS__)
#define SHAPE(name_, type_, field, arg_, help_, ...) \
	OPTION(name_, type_, field, arg_, "Shape", help_, __VA_ARGS__)
#define LOOK(name_, type_, field, arg_, help_, ...) \
	OPTION(name_, type_, field, arg_, "Look", help_, __VA_ARGS__)

static const struct opt flame_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	SHAPE("inverted", OPT_FLAG, inverted, NULL, "the root at the top: an icicle graph",
	      .alias = "icicle"),
	SHAPE("reverse", OPT_FLAG, reverse, NULL,
	      "merge from the leaves: the hottest functions at the root, callers on them"),
	SHAPE("flamechart", OPT_FLAG, chart, NULL, "in order of time: only neighbours are merged",
	      .alias = "chart", .conflicts = "reverse"),
	LOOK("code", OPT_FLAG, code, NULL,
	     "HTML: with the instructions of the heaviest functions in a panel"),
	SHAPE("hotcold", OPT_FLAG, hotcold, NULL,
	      "time on and off the CPU in one graph: the whole is the threads' wall-clock "
	      "time",
	      .alias = "hot-cold", .conflicts = "event ratio count"),
	SHAPE("idle", OPT_FLAG, idle, NULL, "--hotcold: waiting for work is drawn, too"),
	SHAPE("order", OPT_CHOICE, order, "HOW", "order of sibling boxes", .def = "name",
	      .choices = orders),
	SHAPE("group", OPT_CHOICE, group, "BY",
	      "the boxes on the root: commands, processes, threads", .def = "comm",
	      .choices = groups, GIVEN(group_given)),
	SHAPE("max-depth", OPT_U64, max_depth, "N", "maximum number of rows", .max = 1 << 20),
	SHAPE("minwidth", OPT_STRING, minwidth, "PIXELS|N%", "hide narrower boxes", .def = "0.1"),
	SHAPE("count", OPT_FLAG, by_count, NULL, "weigh each sample 1, whatever its period"),
	SHAPE("total", OPT_DOUBLE, total, "WEIGHT", "the total that the full width represents"),
	SHAPE("factor", OPT_DOUBLE, factor, "N", "multiply the counts shown", .def = "1"),
	LOOK("color-by", OPT_CHOICE, by, "WHAT",
	     "meaning of the colours: kind of code, module, self time, or name", .def = "auto",
	     .choices = color_modes, .alias = "colour-by", GIVEN(by_given)),
	LOOK("colors", OPT_CHOICE, palette, "PALETTE", "flamegraph.pl's palettes, by name",
	     .def = "hot", .choices = svg_palette_names, .alias = "colours", GIVEN(palette_given)),
	LOOK("bgcolors", OPT_STRING, bgcolors, "COLOR",
	     "background: yellow, blue, green, grey or #rrggbb"),
	LOOK("hash", OPT_FLAG, hash, NULL, "shades from the first letters of names",
	     .conflicts = "random"),
	LOOK("random", OPT_FLAG, random, NULL, "shades by chance"),
	LOOK("cp", OPT_FLAG, consistent, NULL,
	     "colours from " PALETTE_FILE ", to which new names are added"),
	LOOK("ratio", OPT_STRING, ratio, "A,B",
	     "width by event A, colour by B/A around its mean: cycles,instructions is IPC"),
	LOOK("ratio-samples", OPT_U64, ratio_samples, "N",
	     "--ratio: boxes of fewer samples are grey", .def = "10", .max = UINT32_MAX),
	LOOK("negate", OPT_FLAG, negate, NULL, "comparisons: blue for more, red for less"),
	LOOK("title", OPT_STRING, title, "TEXT", "heading (default Flame Graph)"),
	LOOK("subtitle", OPT_STRING, subtitle, "TEXT",
	     "below the heading (default: what was sampled)"),
	LOOK("width", OPT_DOUBLE, width, "PIXELS",
	     "of the picture (default: as wide as the window)"),
	LOOK("height", OPT_DOUBLE, height, "PIXELS", "of each box", .def = "16"),
	LOOK("fonttype", OPT_STRING, fonttype, "FONT", "font", .def = SVG_FONT),
	LOOK("fontsize", OPT_DOUBLE, fontsize, "PIXELS", "size of the font", .def = "12"),
	LOOK("fontwidth", OPT_DOUBLE, fontwidth, "N",
	     "average width of a character, in parts of the size", .def = "0.59"),
	LOOK("countname", OPT_STRING, countname, "TEXT", "what is counted (default samples)"),
	LOOK("nametype", OPT_STRING, nametype, "TEXT", "what names are", .def = "Function:"),
	LOOK("nameattr", OPT_FILE, nameattr, "FILE",
	     "links, titles and styles for names, as lines of name<TAB>href=URL"),
	LOOK("notes", OPT_STRING, notes, "TEXT", "kept in the description of the picture"),
	LOOK("encoding", OPT_STRING, encoding, "NAME", "of the names (default UTF-8)"),
	OPT_END,
};

/* --- what was requested -------------------------------------------------------------------- */

static const char *title_of(const struct flame_args *a, const struct flame *f)
{
	if (a->title)
		return a->title;
	if (f->states)
		return "Hot/Cold Flame Graph";
	if (f->ratio)
		return "Ratio Flame Graph";
	if (f->tree.base)
		return "Differential Flame Graph";
	if (a->chart)
		return "Flame Chart";
	return a->inverted ? "Icicle Graph" : "Flame Graph";
}

static struct svg_colors_opts colors_of(const struct flame_args *a, struct svg_palette_map *map)
{
	return (struct svg_colors_opts){
		.by = a->palette_given && !a->by_given ? COLOR_BY_NAME : (enum svg_color_by)a->by,
		.palette = (enum svg_palette)a->palette,
		.shade = a->hash     ? SHADE_HASH
			 : a->random ? SHADE_RANDOM
				     : SHADE_NAME,
		.negate = a->negate,
		.map = a->consistent ? map : NULL,
	};
}

static struct svg_opts drawing_of(const struct flame_args *a)
{
	return (struct svg_opts){
		.subtitle = a->subtitle,
		.width = a->width,
		.height = a->height,
		.fonttype = a->fonttype,
		.fontsize = a->fontsize,
		.fontwidth = a->fontwidth,
		.countname = a->countname,
		.nametype = a->nametype,
		.notes = a->notes,
		.encoding = a->encoding,
		.bgcolors = a->bgcolors,
		.factor = a->factor,
		.inverted = a->inverted,
	};
}

/* Rows of the terminal that are left for boxes. */
static u32 screen_rows(const struct context *ctx)
{
	struct winsize size;

	if (ioctl(fileno(ctx->out), TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return 50;
	return size.ws_row > 14 ? size.ws_row - 6u : 8;
}

static bool is_machine(const struct context *ctx)
{
	return cli_is_machine(ctx);
}

/* "cycles" is the event "cycles" or "cycles:u", "cpu/cycles/" or "cpu_core/cycles/". */
static bool find_event(const struct profile *p, const char *name, size_t n, u16 *ret)
{
	for (size_t i = 0; i < p->events.len; i++) {
		const char *event = profile_str(p, p->events.items[i].name);
		const char *slash = strchr(event, '/'), *at = slash ? slash + 1 : event;

		if ((strncmp(event, name, n) == 0 && (!event[n] || event[n] == ':')) ||
		    (strncmp(at, name, n) == 0 && (!at[n] || strchr("/:,", at[n])))) {
			*ret = (u16)i;
			return true;
		}
	}
	return false;
}

static int no_event(const char *name, size_t n, struct err *e)
{
	err_set(e, EINVAL, "the recording has no event '%.*s'", (int)n, name);
	err_hint(e, "'fathom evlist' shows its events; record both: fathom record -e A,B");
	return -EINVAL;
}

static int choose_ratio(const struct flame_args *a, const struct profile *p, struct flame_opts *ret,
			struct err *e)
{
	const char *comma = strchr(a->ratio, ',');
	size_t n = comma ? (size_t)(comma - a->ratio) : 0;

	if (!n || !comma[1]) {
		err_set(e, EINVAL, "--ratio '%s' is not two events", a->ratio);
		err_hint(e, "such as cycles,instructions");
		return -EINVAL;
	}
	if (!find_event(p, a->ratio, n, &ret->event))
		return no_event(a->ratio, n, e);
	if (!find_event(p, comma + 1, strlen(comma + 1), &ret->baseline))
		return no_event(comma + 1, strlen(comma + 1), e);
	ret->has_baseline = ret->ratio = true;
	ret->min_samples = (u32)a->ratio_samples;
	return 0;
}

static int layout_of(const struct context *ctx, const struct flame_args *a, const struct profile *p,
		     const struct hotcold *hotcold, struct flame_opts *ret, struct err *e)
{
	double width = a->width;

	*ret = (struct flame_opts){
		.group = a->chart && !a->group_given ? GROUP_TID : (enum calltree_group)a->group,
		.order = order_values[a->order],
		.chart = a->chart,
		.reverse = a->reverse,
		.by_count = a->by_count,
		.total = a->total,
		.max_depth = (u32)a->max_depth,
	};
	flame_choose_event(p, ret);
	if (hotcold) {
		ret->hotcold = hotcold;
		ret->event = hotcold->event;
	}
	if (a->ratio && choose_ratio(a, p, ret, e) < 0)
		return -EINVAL;
	if (!a->output.path && !is_machine(ctx)) {
		width = cli_width(ctx) + 2 * SVG_PAD;
		if (!ret->max_depth)
			ret->max_depth = screen_rows(ctx);
	}
	if (is_machine(ctx))
		return 0;
	return svg_min_share(a->minwidth, width, &ret->min_share, e);
}

/* --- output -------------------------------------------------------------------------------- */

static int write_svg(struct context *ctx, const struct flame_args *a, const struct flame *f,
		     const struct flame *whole, struct svg_palette_map *map)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct svg_nameattr attrs = { 0 };
	struct svg_opts opts = drawing_of(a);
	int r = 0;

	opts.title = title_of(a, f);
	opts.colors = colors_of(a, map);
	opts.whole = whole;
	if (a->nameattr) {
		r = svg_nameattr_read(&attrs, a->nameattr, &ctx->err);
		opts.nameattr = &attrs;
	}
	if (r >= 0) {
		svg_flame(f, &opts, &text);
		r = output_write(ctx, &a->output, &text);
	}
	svg_nameattr_release(&attrs);
	return r;
}

static int draw_here(struct context *ctx, const struct flame_args *a, const struct flame *f,
		     struct svg_palette_map *map)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct term_flame_opts opts = {
		.width = cli_width(ctx),
		.color = cli_color(ctx),
		.unicode = term_unicode(),
		.inverted = a->inverted,
		.colors = colors_of(a, map),
	};

	term_flame(f, &opts, &text);
	return cli_print(ctx, &text);
}

static int show_outline(struct context *ctx, const struct flame *f)
{
	_cleanup_result_ struct result result = { 0 };

	result_init(&result, "flame");
	flame_result(f, &result);
	return cli_show(ctx, &result);
}

static int output(struct context *ctx, const struct flame_args *a, const struct flame *f,
		  const struct flame *whole)
{
	struct svg_palette_map map = { 0 };
	int r = a->consistent ? svg_palette_map_read(&map, PALETTE_FILE, &ctx->err) : 0;

	if (f->total_too_small)
		log_warn("--total %g is less than there is, which is %.0f: not used", a->total,
			 f->total);
	if (r >= 0) {
		if (is_machine(ctx))
			r = show_outline(ctx, f);
		else
			r = a->output.path ? write_svg(ctx, a, f, whole, &map)
					   : draw_here(ctx, a, f, &map);
	}
	if (r >= 0 && a->consistent)
		r = svg_palette_map_write(&map, PALETTE_FILE, &ctx->err);
	svg_palette_map_release(&map);
	return r;
}

/* --- the command --------------------------------------------------------------------------- */

/* Errors are reported before the recording is read. */
static int check_args(struct context *ctx, struct flame_args *a)
{
	struct svg_opts opts = drawing_of(a);
	double share;
	int r;

	r = svg_opts_check(&opts, &ctx->err);
	if (r >= 0)
		r = svg_min_share(a->minwidth, a->width, &share, &ctx->err);
	if (r < 0)
		return EXIT_USAGE;
	return output_check(ctx, &a->output, "svg html");
}

static bool is_page(const struct flame_args *a)
{
	return output_is(&a->output, "html");
}

/* The instructions of the heaviest functions, for the panel beside the picture. */
static int add_code(struct context *ctx, const struct flame_args *a, struct buf *out)
{
	struct hits_opts which = { .event = a->profile.event, .dsos = a->profile.dsos };
	struct listing_opts how = { .syntax = DISASM_ATT };
	const char *input = a->profile.input;
	struct hits h;
	int r = input ? 0 : profile_default_input(&input, &ctx->err);

	if (r < 0)
		return r;
	r = hits_load(&h, input, &which, &ctx->err);
	if (r >= 0)
		annotate_json(&h, &how, CODE_FUNCTIONS, out);
	hits_release(&h);
	return r;
}

/* The viewer does the rest itself; it only opens with what was requested. */
static int write_page(struct context *ctx, const struct flame_args *a, struct profile *p,
		      const struct hotcold *hotcold)
{
	static const char *const colors[] = { NULL, "kind", "module", "self", "name" };
	_cleanup_buf_ struct buf text = BUF_INIT, code = BUF_INIT;
	struct flame_opts chosen;
	struct html_opts opts = {
		.title = a->title,
		.has_event = true,
		.inverted = a->inverted,
		.reverse = a->reverse,
		.left_heavy = order_values[a->order] == ORDER_WEIGHT,
		.time_order = a->chart,
		.by_count = a->by_count,
		.group = a->group_given ? groups[a->group] : NULL,
		.color = colors[a->by],
	};
	int r;

	flame_choose_event(p, &chosen);
	if (a->ratio && choose_ratio(a, p, &chosen, &ctx->err) < 0)
		return EXIT_USAGE;
	wakes_to_profile(p);
	opts.event = chosen.event;
	opts.has_baseline = chosen.has_baseline && !a->ratio;
	opts.has_ratio = a->ratio;
	opts.baseline = opts.ratio = chosen.baseline;
	if (hotcold) {
		opts.event = hotcold->event;
		opts.color = opts.color ? opts.color : "state";
		opts.title = opts.title ? opts.title : "Hot/Cold Flame Graph";
	}
	r = a->code ? add_code(ctx, a, &code) : 0;
	if (r >= 0 && a->code)
		opts.code = &code;
	if (r >= 0)
		r = html_write(p, &opts, &text, &ctx->err);
	if (r >= 0)
		r = output_write(ctx, &a->output, &text);
	return r;
}

static int draw(struct context *ctx, const struct flame_args *a, struct profile *p,
		const struct hotcold *hotcold)
{
	struct flame_opts opts;
	struct flame flame, whole;
	int r = layout_of(ctx, a, p, hotcold, &opts, &ctx->err);

	if (r == -EINVAL)
		return EXIT_USAGE;
	/* no stack is added from here on: the room is needed for the tree */
	map_release(&p->stack_ids);
	opts.fold = hotcold && a->output.path && !is_machine(ctx);
	if (r >= 0)
		r = flame_init(&flame, p, &opts, &ctx->err);
	if (r < 0)
		return r;
	opts.fold = false;
	if (flame.folded && (r = flame_init(&whole, p, &opts, &ctx->err)) < 0) {
		flame_release(&flame);
		return r;
	}
	if (!hotcold && !opts.has_baseline && !a->ratio)
		profile_args_warn_event(p, opts.event);
	r = output(ctx, a, &flame, flame.folded ? &whole : NULL);
	if (flame.folded)
		flame_release(&whole);
	flame_release(&flame);
	return r;
}

static void note_idle(u64 ns)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	fmt_duration(&text, ns);
	log_warn("note: %s of waiting for work are not drawn: --idle draws them", buf_str(&text));
}

static int show(struct context *ctx, const void *args, struct profile *p)
{
	const struct flame_args *a = args;
	struct hotcold hotcold = { 0 };
	const struct hotcold *h = a->hotcold ? &hotcold : NULL;
	int r;

	profile_args_warn(p);
	r = h ? hotcold_build(p, a->idle, &hotcold, &ctx->err) : 0;
	if (r < 0)
		return r;
	if (h && !h->threads)
		log_warn("note: how long threads lived is not known: only what was seen is shown");
	if (h && h->idle)
		note_idle(h->idle);
	return is_page(a) ? write_page(ctx, a, p, h) : draw(ctx, a, p, h);
}

static int flame_run(struct context *ctx, void *args)
{
	struct flame_args *a = args;
	struct load_opts load;
	int r = check_args(ctx, a);

	if (!r)
		r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	load.wakes = is_page(a);
	load.merge = !a->chart && order_values[a->order] != ORDER_TIME && !is_page(a);
	return profile_args_look(ctx, &a->profile, &load, show, a);
}

static const struct example flame_examples[] = {
	{ "fathom flame", "fathom.data as a flame graph in the terminal" },
	{ "fathom flame -o cpu.svg", "the same as a picture for the browser" },
	{ "fathom flame --inverted --order left-heavy -o cpu.svg", "icicles, the widest first" },
	{ "fathom flame -o cpu.html", "the viewer, with the recording inside: one file" },
	{ "fathom flame --hotcold -o hotcold.svg",
	  "both halves of time, from a recording with --off-cpu" },
	{ "fathom flame --ratio cycles,instructions -o ipc.svg", "coloured by IPC" },
	{ "perf script | fathom flame -i - -o cpu.svg", "from perf's text" },
	{ "fathom flame stacks.folded --colors=io --countname=us -o offcpu.svg",
	  "folded stacks, as flamegraph.pl takes them" },
	{ 0 },
};

const struct command cmd_flame = {
	.name = "flame",
	.summary = "a recording as a flame graph: SVG, HTML, or in the terminal",
	.description =
		"Reads a recording (of 'fathom record' or perf), the text of 'perf script', or "
		"folded stacks, merges the stacks into a tree and draws each function as a box: "
		"its width is its share of the whole, what it called is above it.\n\n"
		"The picture is one SVG file. In a browser a click zooms, / searches by regular "
		"expression, n and N go through the matches, arrow keys walk, Enter zooms, Escape "
		"goes back; the address keeps the state. Without scripts it shows everything.\n\n"
		"All options of flamegraph.pl are taken with its meaning. Folded stacks with two "
		"counts are drawn as a comparison: the width is the second count, the colour the "
		"growth of a box with all that is above it.\n\n"
		"With --hotcold a recording of 'fathom record --off-cpu' is drawn as wall-clock "
		"time: what threads did on the CPU (red), where they wanted a CPU and had none "
		"(yellow), and where they were blocked, by kind of wait, on the same stacks. "
		"Waiting for work is left out unless --idle is given. A box that "
		"is below several has a mixed colour; time without a sample is grey.",
	.question = Q_LOOK,
	.options = flame_options,
	.args_size = sizeof(struct flame_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.instead_of = "flamegraph flamegraph.pl",
	.examples = flame_examples,
	.notes =
		"Siblings are sorted by name, so where a box stands says nothing about time unless "
		"--flamechart is given. Recordings of several events show the first one; --event "
		"chooses another.",
	.see_also = "fathom-record fathom-report fathom-fold",
	.run = flame_run,
};
