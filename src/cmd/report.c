/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/report.h"
#include "analysis/report_key.h"
#include "base/buf.h"
#include "base/parse.h"
#include "cli/perf_args.h"
#include "cli/profile_args.h"
#include "top/top.h"
#include "view/perf_form.h"
#include "view/script.h"

#include <sys/stat.h>

struct graph_option {
	enum report_tree tree;
	double limit; /* < 0: not given */
};

struct report_args {
	struct profile_args profile;
	const char *sort;
	bool no_children;
	bool children;
	struct graph_option graph;
	bool inverted;
	u64 max_stack;
	double percent_limit;
	u64 lines;
	bool lines_given;
	bool header, group, hierarchy;
	bool all;
	bool header_only;
	bool info;
	bool percent_given;
	struct perf_args perf;
	const char *fields;
};

/* Ours, and what perf's form of it may begin with. */
static const char *const graph_words[] = { "caller", "callee",  "none",   "graph",
					   "flat",   "fractal", "folded", NULL };

/* How perf draws and counts: there is one way here, and every number is shown. */
static bool is_perf_word(const char *word)
{
	static const char *const words[] = { "graph",  "flat",    "fractal", "function", "address",
					     "branch", "percent", "period",  "count" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (streq(word, words[i]))
			return true;
	return false;
}

/* "callee", or as for perf: "graph,0.5,caller,function,percent". */
static int parse_graph(void *field, const char *text, struct err *e)
{
	struct graph_option g = { .tree = TREE_CALLER, .limit = -1 };
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		bool number = *w >= '0' && *w <= '9';

		if (streq(w, "caller")) {
			g.tree = TREE_CALLER;
		} else if (streq(w, "callee")) {
			g.tree = TREE_CALLEE;
		} else if (streq(w, "none")) {
			g.tree = TREE_NONE;
		} else if (number && g.limit < 0) {
			if (parse_double(w, &g.limit, e) < 0)
				return -EINVAL;
		} else if (streq(w, "folded")) {
			err_set(e, EINVAL, "folded stacks are not a form of the report");
			err_hint(e, "'fathom fold' writes them");
			return -EINVAL;
		} else if (!number && !is_perf_word(w)) {
			err_set(e, EINVAL, "'%s' is not one of caller, callee, none", w);
			return -EINVAL;
		}
	}
	*(struct graph_option *)field = g;
	return 0;
}

#define AT(field) .offset = offsetof(struct report_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct report_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

static const struct opt report_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ 's', "sort", OPT_STRING, AT(sort), .arg = "KEYS",
	  .help = "sort keys, see KEYS (default comm,dso,symbol)" },
	{ 'g', "call-graph", OPT_CUSTOM, AT(graph), .arg = "HOW", .def = "caller",
	  .implied = "caller", .choices = graph_words, .parse = parse_graph, .flags = OPT_OPTIONAL,
	  .alias = "graph",
	  .help = "the tree of hottest paths: from the root (caller), from the leaf (callee), or "
		  "none" },
	{ 'G', "inverted", OPT_FLAG, AT(inverted), .flags = OPT_HIDDEN,
	  .help = "perf's name for -g caller" },
	OPTION(0, "no-children", OPT_FLAG, no_children, NULL, "no column for the callers' part",
	       .alias = "self"),
	OPTION(0, "children", OPT_FLAG, children, NULL,
	       "sort by CHILDREN, as perf does, instead of SELF", .conflicts = "no-children"),
	OPTION(0, "max-stack", OPT_U64, max_stack, "N", "frames of each path shown (default all)"),
	OPTION(0, "percent-limit", OPT_PERCENT, percent_limit, "P", "hide entries below this share",
	       .def = "0.5", .given_offset = offsetof(struct report_args, percent_given)),
	OPTION(0, "lines", OPT_U64, lines, "N",
	       "maximum number of lines of the tree and of the table", .def = "40",
	       .given_offset = offsetof(struct report_args, lines_given)),
	OPTION(0, "all", OPT_FLAG, all, NULL, "show everything"),
	OPTION(0, "group", OPT_FLAG, group, NULL,
	       "several events: one table, with the shares of all side by side"),
	OPTION(0, "hierarchy", OPT_FLAG, hierarchy, NULL,
	       "an outline instead of the table: a level for each of the sort keys",
	       .conflicts = "group children"),
	OPTION(0, "header", OPT_FLAG, header, NULL, "what the recording holds about its machine"),
	OPTION(0, "header-only", OPT_FLAG, header_only, NULL, "only that"),
	{ 'I', "show-info", OPT_FLAG, AT(info), .flags = OPT_HIDDEN,
	  .help = "perf's: the header with topology and caches" },
	{ 'F', "fields", OPT_STRING, AT(fields), .arg = "KEYS", .flags = OPT_HIDDEN,
	  .help = "perf's name for --sort; what is counted is always shown" },
	{ 'd', "only-dsos", OPT_STRING, AT(profile.dsos), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's letter for --dsos" },
	{ .type = OPT_INCLUDE, .include = profile_perf_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = perf_report_options, AT(perf) },
	OPT_END,
};

static void shape(const struct context *ctx, const struct report_args *a, struct report_opts *o)
{
	bool machine = cli_is_machine(ctx);

	*o = (struct report_opts){
		.sort = a->sort,
		.no_children = a->no_children,
		.by_children = a->children,
		.tree = a->graph.tree,
		.percent_limit =
			a->percent_given || a->graph.limit < 0 ? a->percent_limit : a->graph.limit,
		.max_lines = (u32)MIN(a->lines, (u64)UINT32_MAX),
		.max_depth = (u32)MIN(a->max_stack, (u64)UINT32_MAX),
		.header = a->header,
		.group = a->group,
		.hierarchy = a->hierarchy,
		.marks = !machine && !ctx->as_perf,
	};
	/* programs get everything unless they ask for less */
	if (machine && !a->lines_given)
		o->max_lines = 0;
	if (a->all) {
		o->max_lines = 0;
		o->percent_limit = 0;
	}
}

/* A sort key that does not exist is a mistake on the command line. */
static int build(struct profile *p, const struct report_opts *opts, struct result *ret,
		 struct err *e)
{
	int r = report_build(p, opts, ret, e);

	return r == -EINVAL ? EXIT_USAGE : r;
}

static bool has_stacks(const struct profile *p)
{
	vec_each(ev, &p->events)
		if (ev->samples && !ev->no_chains)
			return true;
	return false;
}

/* As perf prints it: every row, sorted by the callers' part where there are stacks. */
static int show_as_perf(struct context *ctx, const struct report_args *a, struct profile *p,
			struct report_opts *opts)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_result_ struct result result = { 0 };
	struct perf_form form = {
		.separator = a->perf.separator,
		.fields = a->fields,
		.quiet = ctx->common.quiet,
		.samples = a->perf.samples,
		.period = a->perf.period,
		.modes = a->perf.modes,
	};
	int r;

	opts->tree = TREE_NONE;
	opts->no_children |= !has_stacks(p) || (a->fields && !strstr(a->fields, "children"));
	opts->by_children = !opts->no_children;
	opts->max_lines = 0;
	opts->percent_limit = a->percent_given ? opts->percent_limit : 0;
	result_init(&result, "report");
	r = build(p, opts, &result, &ctx->err);
	if (r == -ENODATA)
		err_release(&ctx->err);
	if (r == 0 || r == -ENODATA) {
		perf_form_report(&result, p, &form, &text);
		r = cli_print(ctx, &text);
	}
	return r;
}

static int header_only(const struct profile *p, struct result *ret)
{
	report_facts(p, true, ret);
	report_losses(p, ret);
	return 0;
}

/* What perf says of the recording; 1: the report is to follow. */
static int show_header(struct context *ctx, const struct report_args *a)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct recording *r = NULL;
	struct stat st;
	int code;

	if (!ctx->as_perf || (!a->header && !a->header_only))
		return 1;
	code = recording_open(a->profile.input, &r, &ctx->err);
	if (code < 0)
		return code;
	script_header(r, stat(a->profile.input, &st) == 0 ? (u64)st.st_mtime : 0, a->info, &text);
	recording_free(r);
	code = cli_write_foreign(ctx, false, buf_str(&text), text.len);
	return code < 0 || a->header_only ? code : 1;
}

/* Not the forms that perf does not have. */
static bool is_perf_text(const struct context *ctx, const struct report_args *a)
{
	return !cli_is_machine(ctx) && !a->header_only && !a->hierarchy && !a->group;
}

/* The screens of fathom top over the file; elsewhere than on a terminal, the text. */
static int browse(struct context *ctx, const char *input)
{
	struct top_opts o = { .interval = NSEC_PER_SEC, .input = input, .screen = "functions" };
	struct top *t;
	int r = input ? 0 : profile_default_input(&o.input, &ctx->err);

	o.no_color = ctx->common.color == COLOR_NEVER || getenv("NO_COLOR");
	if (!r)
		r = top_new(&t, &o, &ctx->err);
	if (r < 0)
		return r;
	r = top_run(t, &ctx->err);
	top_free(t);
	return r;
}

static int report_run(struct context *ctx, void *args)
{
	struct report_args *a = args;
	struct load_opts load;
	struct report_opts opts;
	struct profile p;
	struct result result;
	_cleanup_free_ UNUSED char *glob = perf_args_symbols(&a->perf, &a->profile.symbols);
	_cleanup_free_ char *traced = NULL;
	int r = profile_args_take(ctx, &a->profile, &load);

	if (r)
		return r;
	if (a->perf.tui && isatty(STDOUT_FILENO) && !cli_is_machine(ctx))
		return browse(ctx, a->profile.input);
	r = show_header(ctx, a);
	if (r == 1)
		r = perf_args_dump(ctx, &a->perf, a->profile.input);
	if (r != 1)
		return r;
	if (!a->sort)
		a->sort = a->fields;
	load.merge = !a->sort || !strstr(a->sort, "time");
	traced = a->sort ? report_keys_traced(a->sort) : NULL;
	load.trace_keys = traced;
	load.lines = a->sort && strstr(a->sort, "line");
	shape(ctx, a, &opts);
	profile_init(&p);
	result_init(&result, "report");
	r = profile_args_load(ctx, &a->profile, &load, &p);
	if ((r >= 0 || r == -ENODATA) && ctx->as_perf && is_perf_text(ctx, a)) {
		err_release(&ctx->err);
		r = show_as_perf(ctx, a, &p, &opts);
		profile_release(&p);
		result_release(&result);
		return r;
	}
	if (r >= 0)
		r = a->header_only ? header_only(&p, &result)
				   : build(&p, &opts, &result, &ctx->err);
	if (r == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !cli_is_machine(ctx))
		result_note(
			&result, NOTE_INFO, NULL,
			"'fathom report --tui' browses it: functions, callers, code, flame graph");
	if (r == 0)
		r = cli_show(ctx, &result);
	result_release(&result);
	profile_release(&p);
	return r;
}

static const struct example report_examples[] = {
	{ "fathom report", "the hottest paths and functions of fathom.data" },
	{ "fathom report --sort dso --no-children", "CPU time by module" },
	{ "fathom report -g callee --lines 20", "the hottest functions and who calls them" },
	{ "fathom report --hierarchy -g none", "by command, its modules, their functions" },
	{ "fathom report --group -g none", "all events of a recording in one table" },
	{ "fathom report -i sched.data --sort next_comm", "a tracepoint's samples by a field" },
	{ "perf script | fathom report -i -", "any perf's output" },
	{ 0 },
};

const struct command cmd_report = {
	.name = "report",
	.summary = "where the time of a recording went: hottest paths and functions",
	.description =
		"Reads a recording (made by 'fathom record' or by perf), the text of 'perf "
		"script', or folded stacks, and shows the hottest call paths as a tree and "
		"a table of functions.\n\n"
		"CHILDREN is the share of samples in which the function or something it "
		"called was running, SELF the share in which it ran itself. Recursion "
		"counts once. The table is sorted by SELF, and entries with no self time, "
		"which never "
		"ran themselves, come "
		"only with --all; waits (offcpu-time and its "
		"like), which all end in the scheduler, by CHILDREN. In the tree, '... N "
		"calls' stands for a straight run of them.\n\n"
		"KEYS are comm, pid, tid, cpu, cgroup, event, time (by second), parent (the "
		"root of the stack), dso, symbol and srcline, separated by commas. Of recorded "
		"tracepoints also trace (perf's \"Trace output\"), FIELD, EVENT.FIELD, "
		"EVENT.* and trace_fields; /raw after a field shows its plain value.\n\n"
		"What was lost, cut or could not be named is reported at the end.",
	.question = Q_LOOK,
	.options = report_options,
	.args_size = sizeof(struct report_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.examples = report_examples,
	.see_also = "fathom-record fathom-script fathom-fold",
	.run = report_run,
};
