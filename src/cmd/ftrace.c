/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"
#include "analysis/ftrace_graph.h"
#include "base/io.h"
#include "base/log.h"
#include "capture/target.h"
#include "cli/output.h"
#include "cli/program.h"
#include "recorder/ftrace_run.h"
#include "view/ftrace_text.h"
#include "view/html.h"
#include "view/svg.h"

#include <fnmatch.h>

struct ftrace_args {
	const char *input;
	range_list pids, tids, cpus;
	bool all;
	u64 duration;
	const char *tracer;
	str_list funcs, notrace, graph_funcs, graph_notrace, graph_opts, func_opts;
	str_list events, triggers;
	const char *filter, *clock;
	u64 depth, ring, threshold;
	bool snapshot, no_inherit, tail, time, task, nanoseconds, raw;
	const char *list; /* --funcs */
	const char *sort;
	u64 lines;
	struct output_args output;
};

#define AT(field) .offset = offsetof(struct ftrace_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct ftrace_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)
#define WHAT  .group = "Traced"
#define SHOWN .group = "Output"

static const struct opt ftrace_options[] = {
	{ 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]", .help = "only these processes" },
	OPTION(0, "tid", OPT_PIDS, tids, "TID[,TID]", "only these threads"),
	{ 'a', "all-cpus", OPT_FLAG, AT(all), .help = "the whole machine, also with a program" },
	{ 'C', "cpu", OPT_RANGES, AT(cpus), .arg = "CPUS", .max = 8191,
	  .help = "only on these CPUs" },
	{ 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME",
	  .help = "stop after this time; else at the program's end or Ctrl-C" },
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "a trace.dat file of this command or of trace-cmd, in place of the machine" },
	{ 't', "tracer", OPT_STRING, AT(tracer), .arg = "NAME", WHAT,
	  .help = "function_graph (default), function, irqsoff, hwlat, osnoise, ...; nop with -e" },
	{ 'T', "trace-funcs", OPT_STRINGS, AT(funcs), .arg = "GLOB", WHAT,
	  .help = "only functions of this name; *glob*, :mod:ext4, NAME:traceon:3" },
	{ 'N', "notrace-funcs", OPT_STRINGS, AT(notrace), .arg = "GLOB", WHAT, .alias = "notrace",
	  .help = "not these functions" },
	{ 'G', "graph-funcs", OPT_STRINGS, AT(graph_funcs), .arg = "GLOB", WHAT,
	  .help = "graph: these functions and all that they call" },
	{ 'g', "nograph-funcs", OPT_STRINGS, AT(graph_notrace), .arg = "GLOB", WHAT,
	  .help = "graph: not these functions, nor what they call" },
	{ 'D', "graph-depth", OPT_U64, AT(depth), .arg = "N", WHAT, .max = 512, .alias = "depth",
	  .help = "graph: maximum depth of calls" },
	OPTION(0, "graph-opts", OPT_STRINGS, graph_opts, "OPTS",
	       "graph: noirqs, nosleep-time, tail, verbose, depth=N, thresh=US", WHAT),
	OPTION(0, "func-opts", OPT_STRINGS, func_opts, "OPTS", "perf's call-graph and irq-info",
	       WHAT, .flags = OPT_HIDDEN),
	OPTION(0, "thresh", OPT_DURATION, threshold, "TIME", "graph: only calls that take longer",
	       WHAT),
	{ 'e', "event", OPT_STRINGS, AT(events), .arg = "SYS:NAME", WHAT,
	  .help = "tracepoints, too; globs" },
	OPTION(0, "filter", OPT_STRING, filter, "EXPR", "of the events: 'prev_prio < 100'", WHAT),
	OPTION(0, "trigger", OPT_STRINGS, triggers, "SYS:NAME:WHAT",
	       "such as block:block_unplug:snapshot or sched:sched_switch:traceoff:1", WHAT),
	OPTION(0, "snapshot", OPT_FLAG, snapshot, NULL, "show the snapshot that a trigger took",
	       WHAT),
	OPTION(0, "clock", OPT_STRING, clock, "NAME",
	       "local (default), global, mono, boot, x86-tsc, counter", WHAT),
	{ 'm', "buffer-size", OPT_SIZE, AT(ring), .arg = "SIZE", WHAT, .def = "8M",
	  .help = "ring for each CPU" },
	OPTION(0, "no-inherit", OPT_FLAG, no_inherit, NULL,
	       "not the children of the traced processes", WHAT),
	OPTION(0, "tail", OPT_FLAG, tail, NULL, "graph: the function's name at its closing brace",
	       SHOWN),
	OPTION(0, "time", OPT_FLAG, time, NULL, "graph: a column with the time", SHOWN),
	OPTION(0, "task", OPT_FLAG, task, NULL, "graph: a column with the task", SHOWN),
	{ 'n', "use-nsec", OPT_FLAG, AT(nanoseconds), SHOWN, .help = "latency: in nanoseconds" },
	{ 's', "sort", OPT_STRING, AT(sort), .arg = "KEY", SHOWN,
	  .help = "profile: total (default), self, avg, max, count" },
	OPTION(0, "lines", OPT_U64, lines, "N", "profile: maximum number of functions", SHOWN,
	       .max = 1 << 30),
	{ 'F', "funcs", OPT_STRING, AT(list), .arg = "GLOB", SHOWN, .flags = OPT_OPTIONAL,
	  .implied = "*", .help = "list the functions that can be traced" },
	OPTION(0, "raw", OPT_FLAG, raw, NULL, CLI_RAW_HELP, SHOWN),
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPT_END,
};

/* --- the arguments -------------------------------------------------------------------------- */

/* "noirqs,depth=3", as perf has them. */
static int take_graph_opt(struct ftrace_args *a, struct ftrace_setup *s, const char *word,
			  struct err *e)
{
	const char *value = strchr(word, '=');

	value = value ? value + 1 : "";
	if (streq(word, "noirqs"))
		s->no_irqs = true;
	else if (streq(word, "nosleep-time"))
		s->no_sleep = true;
	else if (streq(word, "tail") || streq(word, "retval"))
		a->tail = true;
	else if (streq(word, "verbose"))
		a->time = a->task = true;
	else if (starts_with(word, "depth="))
		return parse_u64_range(value, 1, 512, &s->depth, e);
	else if (starts_with(word, "thresh=")) {
		int r = parse_u64_range(value, 1, 1u << 30, &s->threshold, e);

		s->threshold *= 1000;
		return r;
	} else if (!streq(word, "args")) {
		err_set(e, EINVAL, "unknown graph option '%s'", word);
		err_hint(e, "noirqs, nosleep-time, tail, verbose, depth=N, thresh=US");
		return -EINVAL;
	}
	return 0;
}

static int take_graph_opts(struct ftrace_args *a, struct ftrace_setup *s, struct err *e)
{
	int r = 0;

	vec_each(words, &a->graph_opts) {
		_cleanup_free_ char *copy = xstrdup(*words);
		char *save = NULL;

		for (char *w = strtok_r(copy, ",", &save); w && r >= 0;
		     w = strtok_r(NULL, ",", &save))
			r = take_graph_opt(a, s, w, e);
	}
	return r;
}

static struct ftrace_words words_of(const str_list *l)
{
	return (struct ftrace_words){ (const char *const *)l->items, l->len };
}

static int setup_of(struct context *ctx, struct ftrace_args *a, struct launch *launch,
		    struct ftrace_setup *ret)
{
	bool events_only = a->events.len && !a->funcs.len && !a->graph_funcs.len;

	*ret = (struct ftrace_setup){
		.tracer = a->tracer     ? a->tracer
			  : events_only ? "nop"
					: "function_graph",
		.funcs = words_of(&a->funcs),
		.notrace = words_of(&a->notrace),
		.graph_funcs = words_of(&a->graph_funcs),
		.graph_notrace = words_of(&a->graph_notrace),
		.events = words_of(&a->events),
		.triggers = words_of(&a->triggers),
		.filter = a->filter,
		.clock = a->clock,
		.cpus = &a->cpus,
		.launched = a->all ? 0 : launch->pid,
		.follow = !a->no_inherit,
		.ring = a->ring,
		.depth = a->depth,
		.threshold = a->threshold,
	};
	if (!a->all)
		ret->pids = a->tids.len ? &a->tids : &a->pids;
	if (ret->pids && ret->pids->len && target_expect(ret->pids, &ctx->err) < 0)
		return EXIT_FAILED;
	return take_graph_opts(a, ret, &ctx->err) < 0 ? EXIT_USAGE : 0;
}

/* --- views ---------------------------------------------------------------------------------- */

struct job {
	struct context *ctx;
	struct ftrace_args *args;
	struct ftrace_reader *reader; /* NULL until it is known */
	const char *tracer;
	struct buf out;
	struct ftrace_text *text;
	struct ftrace_graph *graph;
	struct profile profile;
	u64 events;
};

struct view {
	const char *name;
	void (*begin)(struct job *j);
	int (*event)(struct job *j, const struct ftrace_event *ev);
	int (*round)(struct job *j);
	int (*end)(struct job *j, u64 lost);
};

static void begin_text(struct job *j)
{
	const struct ftrace_args *a = j->args;
	struct ftrace_text_opts opts = {
		.json = cli_is(j->ctx, "json"), .tail = a->tail, .time = a->time, .task = a->task
	};

	j->text = ftrace_text_new(j->reader, &opts, &j->out);
	ftrace_text_head(j->text, j->tracer);
}

static int text_event(struct job *j, const struct ftrace_event *ev)
{
	return ftrace_text_event(j->text, ev);
}

static int text_round(struct job *j)
{
	int r = cli_write_foreign(j->ctx, j->args->raw, buf_str(&j->out), j->out.len);

	fflush(j->ctx->out);
	buf_reset(&j->out);
	return r;
}

static void add_losses(const struct job *j, u64 lost, struct result *r)
{
	const struct ftrace_losses *l = ftrace_reader_losses(j->reader);

	result_fact(r, "events", "events", value_u(VALUE_COUNT, j->events));
	result_loss(r, "lost", "events lost or overwritten in the rings: -m enlarges them",
		    MAX(lost, l->missed));
	result_loss(r, "damaged", "damaged pages", l->damaged);
	result_loss(r, "unknown", "events of unknown type", l->unknown);
	if (j->graph)
		result_loss(r, "unmatched", "calls whose start was not seen: without callers",
			    ftrace_graph_unmatched(j->graph));
}

static int text_end(struct job *j, u64 lost)
{
	int r;

	ftrace_text_end(j->text);
	r = text_round(j);
	lost = MAX(lost, ftrace_reader_losses(j->reader)->missed);
	if (lost)
		log_warn("%llu events were lost: a larger -m loses fewer",
			 (unsigned long long)lost);
	return r < 0 ? r : j->events ? 0 : EXIT_NOTHING;
}

static void begin_graph(struct job *j)
{
	j->graph = ftrace_graph_new(j->reader, j->args->output.path ? &j->profile : NULL);
}

static int graph_event(struct job *j, const struct ftrace_event *ev)
{
	return ftrace_graph_event(j->graph, ev);
}

static int no_calls(struct job *j)
{
	if (ftrace_graph_calls(j->graph))
		return 0;
	err_set(&j->ctx->err, ENODATA, "no call was traced");
	err_hint(&j->ctx->err, "the functions did not run in this time, or the trace is not of "
			       "the tracer function_graph");
	return EXIT_NOTHING;
}

static int profile_end(struct job *j, u64 lost)
{
	_cleanup_result_ struct result r = { 0 };
	int rc = no_calls(j);

	result_init(&r, "ftrace");
	if (rc)
		return rc;
	result_title(&r, "time in traced kernel functions, with all that they call");
	rc = ftrace_graph_result(j->graph, j->args->sort, (u32)j->args->lines, &r, &j->ctx->err);
	add_losses(j, lost, &r);
	return rc < 0 ? EXIT_USAGE : cli_show(j->ctx, &r);
}

static int latency_end(struct job *j, u64 lost)
{
	_cleanup_result_ struct result r = { 0 };
	int rc = no_calls(j);

	result_init(&r, "ftrace");
	if (rc)
		return rc;
	result_title(&r, "how long calls of the traced functions took");
	ftrace_graph_latency(j->graph, j->args->nanoseconds, &r);
	add_losses(j, lost, &r);
	return cli_show(j->ctx, &r);
}

/* -o x.svg, x.html: the calls as a flame graph. */
static int picture_end(struct job *j, u64 lost)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct profile *p = &j->profile;
	struct flame_opts fopts = { .group = GROUP_COMM };
	struct svg_opts sopts = { SVG_OPTS_DEFAULT, .title = "Kernel function calls" };
	struct html_opts hopts = { .title = "Kernel function calls" };
	struct flame flame;
	int rc = no_calls(j);

	if (rc)
		return rc;
	p->lost_records = MAX(lost, ftrace_reader_losses(j->reader)->missed);
	flame_choose_event(p, &fopts);
	if (output_is(&j->args->output, "html")) {
		rc = html_write(p, &hopts, &text, &j->ctx->err);
	} else {
		rc = flame_init(&flame, p, &fopts, &j->ctx->err);
		if (rc >= 0) {
			svg_flame(&flame, &sopts, &text);
			flame_release(&flame);
		}
	}
	return rc < 0 ? rc : output_write(j->ctx, &j->args->output, &text);
}

static const struct view views[] = {
	{ "trace", begin_text, text_event, text_round, text_end },
	{ "profile", begin_graph, graph_event, NULL, profile_end },
	{ "latency", begin_graph, graph_event, NULL, latency_end },
};
static const struct view picture = { "picture", begin_graph, graph_event, NULL, picture_end };

/* --- running -------------------------------------------------------------------------------- */

struct running {
	struct job *job;
	const struct view *view;
};

static int on_event(void *ctx, const struct ftrace_event *ev)
{
	struct running *r = ctx;

	r->job->events++;
	return r->view ? r->view->event(r->job, ev) : 0;
}

static int on_round(void *ctx)
{
	struct running *r = ctx;

	return r->view && r->view->round ? r->view->round(r->job) : 0;
}

static int write_dat(struct job *j, const struct tracedat *t)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	if (!j->events) {
		err_set(&j->ctx->err, ENODATA, "nothing was traced");
		return EXIT_NOTHING;
	}
	tracedat_write(t, &bytes);
	return output_write(j->ctx, &j->args->output, &bytes);
}

static int trace_live(struct job *j, struct running *run, struct launch *launch)
{
	struct context *ctx = j->ctx;
	struct ftrace_run_opts opts = { .launch = launch->pid ? launch : NULL,
					.duration = j->args->duration,
					.snapshot = j->args->snapshot,
					.keep = !run->view,
					.on_event = on_event,
					.on_round = on_round,
					.ctx = run };
	struct ftrace_run *r = NULL;
	int rc = setup_of(ctx, j->args, launch, &opts.setup);

	if (rc)
		return rc;
	j->tracer = opts.setup.tracer;
	rc = ftrace_run_new(&r, &opts, &ctx->err);
	if (rc >= 0) {
		j->reader = ftrace_run_reader(r);
		if (run->view)
			run->view->begin(j);
		rc = ftrace_run_go(r, &ctx->err);
	}
	if (rc >= 0 && !ctx->output_error)
		rc = run->view ? run->view->end(j, ftrace_run_lost(r))
			       : write_dat(j, ftrace_run_trace(r));
	if (rc == -EPERM || rc == -EACCES || rc == -EOPNOTSUPP)
		rc = EXIT_MISSING;
	ftrace_text_free(j->text);
	ftrace_graph_free(j->graph);
	ftrace_run_free(r);
	return rc;
}

static int trace_file(struct job *j, struct running *run)
{
	struct tracedat t = TRACEDAT_INIT;
	int rc = tracedat_read(&t, j->args->input, &j->ctx->err);

	if (rc >= 0 && t.others)
		log_warn("%u further buffers of '%s' are not shown: only the main one is", t.others,
			 j->args->input);
	if (rc >= 0) {
		j->tracer = "file";
		j->reader = ftrace_reader_new(&t);
		run->view->begin(j);
		rc = ftrace_reader_all(j->reader, on_event, run);
		if (rc >= 0)
			rc = run->view->end(j, 0);
		ftrace_text_free(j->text);
		ftrace_graph_free(j->graph);
		ftrace_reader_free(j->reader);
	}
	tracedat_release(&t);
	return rc;
}

/* --- other verbs ---------------------------------------------------------------------------- */

static int list_functions(struct context *ctx, const char *glob)
{
	_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;
	struct tracefs fs = TRACEFS_INIT;
	int r = tracefs_open(&fs, &ctx->err);
	const char *end;

	if (r >= 0)
		r = tracefs_read(&fs, "available_filter_functions", 64 << 20, &text, &ctx->err);
	tracefs_release(&fs);
	if (r < 0)
		return r == -EPERM || r == -EACCES || r == -ENOENT ? EXIT_MISSING : r;
	end = buf_str(&text) + text.len;
	for (const char *line = buf_str(&text); line < end; line += strcspn(line, "\n") + 1) {
		char name[512];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, " \t\n"), line);
		if (fnmatch(glob, name, 0) == 0)
			buf_addf(&out, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
	return out.len ? cli_print(ctx, &out) : EXIT_NOTHING;
}

static int reset(struct context *ctx)
{
	u32 removed, busy;
	int r = ftrace_clean(&removed, &busy, &ctx->err);

	if (r < 0)
		return r;
	fprintf(ctx->out, "removed %u left-over instances, %u are in use\n", removed, busy);
	return 0;
}

static const struct view *find_view(struct context *ctx, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (streq(views[i].name, name))
			return &views[i];
	err_set(&ctx->err, EINVAL, "unknown view 'ftrace %s'", name);
	err_hint(&ctx->err, "trace, profile, latency or reset; a program goes after '--'");
	return NULL;
}

static int run_view(struct context *ctx, struct ftrace_args *a, const struct view *view)
{
	struct job j = { .ctx = ctx, .args = a };
	struct running run = { .job = &j, .view = view };
	struct launch launch = LAUNCH_INIT;
	int rc = 0, status;

	if (output_is(&a->output, "dat"))
		run.view = NULL;
	else if (a->output.path)
		run.view = &picture;
	ctx->stream = true;
	profile_init(&j.profile);
	if (a->input && !run.view) {
		err_set(&ctx->err, EINVAL, "'%s' is a trace.dat file already", a->input);
		rc = EXIT_USAGE;
	} else if (a->input) {
		rc = trace_file(&j, &run);
	} else {
		rc = ctx->program ? program_prepare(&launch, ctx->program, &ctx->err) : 0;
		if (!rc)
			rc = trace_live(&j, &run, &launch);
	}
	status = program_end(&launch);
	launch_release(&launch);
	profile_release(&j.profile);
	buf_release(&j.out);
	return rc ? rc : status;
}

static int ftrace_command(struct context *ctx, void *args)
{
	struct ftrace_args *a = args;
	const char *name = ctx->operands.len ? ctx->operands.items[0] : "trace";
	const struct view *view;
	int rc = output_check(ctx, &a->output, "dat svg html");

	if (rc)
		return rc;
	if (a->list)
		return list_functions(ctx, a->list);
	if (streq(name, "reset"))
		return reset(ctx);
	view = find_view(ctx, name);
	return view ? run_view(ctx, a, view) : EXIT_USAGE;
}

static const struct example ftrace_examples[] = {
	{ "fathom ftrace -G vfs_read -D 3 -- cat /etc/hostname",
	  "what vfs_read calls, three levels deep, with durations" },
	{ "fathom ftrace profile -T 'ext4_*' -d 5s", "time in functions of ext4" },
	{ "fathom ftrace latency -T vfs_read -d 5s", "how long vfs_read takes, as a histogram" },
	{ "fathom ftrace -e sched:sched_switch -d 1s", "tracepoints through tracefs" },
	{ "fathom ftrace -G __x64_sys_openat -o open.svg -- ls", "calls as a flame graph" },
	{ "fathom ftrace -e 'sched:*' -o trace.dat -d 1s", "a file for trace-cmd and KernelShark" },
	{ 0 },
};

const struct command cmd_ftrace = {
	.name = "ftrace",
	.summary = "the kernel's own tracers: function graphs, functions, events",
	.description =
		"trace (the default): lines as they come, in the form of tracefs. profile: for "
		"each "
		"function the number of calls and their time. latency: times of calls as a "
		"histogram. reset: removes what a killed run has left.\n\n"
		"Each run has a tracing instance of its own; other users of tracefs are not "
		"disturbed. The graph filters (-G, -g, -D, --thresh) and, on kernels before 6.12, "
		"the function graph itself exist only at the top level: then the run refuses to "
		"start if another program uses it, and a guard process puts everything back "
		"however the run ends.\n\n"
		"-o FILE.dat writes a file for trace-cmd, which -i reads again; -o FILE.svg and "
		"FILE.html draw the function graph as a flame graph, in the viewer also in order "
		"of time.",
	.question = Q_TRACE,
	.options = ftrace_options,
	.args_size = sizeof(struct ftrace_args),
	.operands = "[trace|profile|latency|reset]",
	.max_operands = 1,
	.takes_program = true,
	.instead_of = "trace-cmd funcgraph functrace tpoint perf-tools",
	.examples = ftrace_examples,
	.notes = "Every traced function costs time at each call: filter with -T or -G on machines "
		 "that do work. Where the kernel refuses the function tracer, events still work.",
	.see_also = "fathom-trace fathom-funclatency fathom-funccount perf-ftrace trace-cmd",
	.run = ftrace_command,
};
