/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom annotate: which instructions and source lines of a function the samples hit. */
#include "analysis/annotate.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/suggest.h"
#include "cli/profile_args.h"
#include "profile/load.h"
#include "view/annotate_text.h"
#include "view/term.h"

struct annotate_args {
	struct profile_args profile;
	const char *symbol;
	u64 top;
	bool top_given;
	bool stdio, group, no_source, counts, lines, paths, raw;
	const char *syntax, *prefix, *vmlinux, *other;
	u64 strip;
	struct perf_args perf;
};

#define AT(field) .offset = offsetof(struct annotate_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct annotate_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

static const struct opt annotate_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ 's', "symbol", OPT_STRING, AT(symbol), .arg = "NAME", .help = "this function" },
	OPTION(0, "top", OPT_U64, top, "N",
	       "without a name: how many of the heaviest functions, of each event", .def = "3",
	       .given_offset = offsetof(struct annotate_args, top_given)),
	OPTION(0, "stdio", OPT_FLAG, stdio, NULL, "the text that perf annotate --stdio prints",
	       .alias = "stdio2 tui gtk"),
	OPTION(0, "group", OPT_FLAG, group, NULL, "several events: a column for each"),
	OPTION(0, "diff", OPT_FILE, other, "FILE",
	       "compare with the same function in an earlier recording"),
	OPTION(0, "no-source", OPT_FLAG, no_source, NULL,
	       "no source lines between the instructions"),
	OPTION('A', "asm-raw", OPT_FLAG, raw, NULL, "the bytes of instructions, too"),
	{ 'n', "show-nr-samples", OPT_FLAG, AT(counts),
	  .help = "numbers of samples instead of shares" },
	{ 'M', "disassembler-style", OPT_STRING, AT(syntax), .arg = "STYLE",
	  .help = "att (default) or intel" },
	OPTION(0, "prefix", OPT_STRING, prefix, "DIR", "look for source files below this folder"),
	OPTION(0, "prefix-strip", OPT_U64, strip, "N",
	       "and leave out the first N parts of their paths"),
	{ 'k', "vmlinux", OPT_FILE, AT(vmlinux), .arg = "FILE",
	  .help = "the kernel's code: a core file instead of /proc/kcore" },
	{ 'l', "print-line", OPT_FLAG, AT(lines), .flags = OPT_HIDDEN,
	  .help = "perf's: the heaviest lines first, and places after instructions" },
	{ 'P', "full-paths", OPT_FLAG, AT(paths), .flags = OPT_HIDDEN,
	  .help = "perf's: whole paths in these", .alias = "full-source-path" },
	{ 'd', "only-dsos", OPT_STRING, AT(profile.dsos), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's letter for --dsos" },
	{ .type = OPT_INCLUDE, .include = profile_perf_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = perf_annotate_options, AT(perf) },
	OPT_END,
};

/* Functions without code: this many are named in notes, the others counted. */
enum { FAILURES_NAMED = 3 };
enum { SHOW_NOT_YET, SHOW_SHOWN, SHOW_FAILED };

struct job {
	struct context *ctx;
	const struct annotate_args *args;
	struct hits hits;
	struct source_files files;
	struct listing_opts listing;
	struct result result; /* notes, and for machines all of it */
	struct buf text;
	size_t shown, failed;
	bool as_perf;
};

/* Lines of sources that were edited since may be others than those that ran. */
static void compare_times(struct job *j, const struct listing *l)
{
	const struct hits_function *f = l->function;
	u64 built = f->module ? symbols_bytes_time(j->hits.symbols, f->module) : 0;

	for (size_t i = 0; built && i < l->lines.len; i++) {
		const char *file = l->lines.items[i].file;

		if (file && source_files_newer(&j->files, file, built))
			result_note(&j->result, NOTE_WARNING,
				    "build and record again, or look at instructions only",
				    "source file '%s' is newer than '%s': its lines may be others",
				    file, f->dso ? f->dso : "the program");
	}
}

static struct annotate_text look_of(const struct job *j, size_t event)
{
	return (struct annotate_text){
		.color = cli_color(j->ctx),
		.unicode = term_unicode(),
		.no_source = j->args->no_source,
		.group = j->args->group,
		.counts = j->args->counts,
		.lines = j->args->lines,
		.paths = j->args->paths,
		.raw = j->args->raw,
		.event = event,
	};
}

static size_t main_event(const struct job *j, const struct hits_function *f)
{
	size_t best = 0;

	for (size_t i = 1; i < j->hits.n_events; i++)
		if (f->samples[i] > f->samples[best])
			best = i;
	return best;
}

static int show(struct job *j, const struct hits_function *f, size_t event)
{
	struct annotate_text look = look_of(j, event);
	struct listing l;
	int r = listing_make(&l, &j->hits, f, &j->listing, &j->ctx->err);

	if (r < 0) {
		listing_release(&l);
		return r;
	}
	if (cli_is_machine(j->ctx)) {
		annotate_result(&l, &j->hits, &j->files, &j->result);
	} else if (j->as_perf) {
		annotate_text_perf(&l, &j->hits, &j->files, &look, &j->text);
	} else {
		if (j->shown)
			buf_addch(&j->text, '\n');
		annotate_text(&l, &j->hits, &j->files, &look, &j->text);
	}
	if (!j->shown)
		annotate_notes(&l, &j->hits, &j->result);
	if (!j->args->no_source)
		compare_times(j, &l);
	j->shown++;
	listing_release(&l);
	return 0;
}

static int not_found(struct job *j, const char *name)
{
	struct suggestion s;

	suggest_init(&s, name);
	vec_each(f, &j->hits.functions)
		suggest_try(&s, f->name);
	err_set(&j->ctx->err, ENODATA, "no sample is in a function with the name '%s'", name);
	if (*s.best)
		err_hint(&j->ctx->err, "did you mean '%s'?", s.best);
	else
		err_hint(&j->ctx->err,
			 "'fathom report -g none' lists the functions that have some");
	return -ENODATA;
}

/* Functions without code on this machine are passed over; the first ones are named. */
static void pass_over(struct job *j)
{
	if (j->failed++ < FAILURES_NAMED)
		result_note(&j->result, NOTE_WARNING, j->ctx->err.hint, "%s", j->ctx->err.what);
	err_release(&j->ctx->err);
}

static void count_passed_over(struct job *j)
{
	if (j->failed > FAILURES_NAMED)
		result_note(&j->result, NOTE_WARNING, NULL,
			    "the code of %zu more functions cannot be read",
			    j->failed - FAILURES_NAMED);
}

/* One look at all events: in columns side by side, or in a table's. */
static bool is_together(const struct job *j)
{
	return j->args->group || cli_is_machine(j->ctx);
}

struct ranked {
	const struct hits_function *function;
	u64 weight;
	size_t rank; /* in the order of all events together */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The heaviest of an event whose code can be read; @state has what was shown or failed before. */
static void show_top_of(struct job *j, size_t event, u8 *state)
{
	size_t most = j->as_perf && !j->args->top_given ? SIZE_MAX : (size_t)j->args->top;
	size_t n = j->hits.functions.len, found = 0;
	_cleanup_free_ struct ranked *order = xcalloc(n, sizeof(*order));

	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ &j->hits.functions.items[i],
					    j->hits.functions.items[i].weight[event], i };
	qsort(order, n, sizeof(*order), compare_ranked);
	for (size_t i = 0; i < n && found < most; i++) {
		u8 *is = &state[order[i].rank];

		if (!order[i].function->samples[event])
			continue;
		if (*is == SHOW_SHOWN && is_together(j)) {
			found++;
		} else if (*is != SHOW_FAILED && show(j, order[i].function, event) >= 0) {
			*is = SHOW_SHOWN;
			found++;
		} else if (*is != SHOW_FAILED) {
			*is = SHOW_FAILED;
			pass_over(j);
		}
	}
}

static int show_top(struct job *j)
{
	_cleanup_free_ u8 *state = xcalloc(j->hits.functions.len, sizeof(*state));
	const struct hits_function *first = &j->hits.functions.items[0];

	for (size_t i = 0; i < j->hits.n_events; i++)
		show_top_of(j, i, state);
	count_passed_over(j);
	if (j->shown)
		return 0;
	/* the reason of the heaviest one */
	(void)show(j, first, main_event(j, first));
	return -ENOENT;
}

static int find_and_show(struct job *j, const char *name)
{
	const struct hits_function *f = hits_find(&j->hits, name);
	int r = 0;

	if (!f)
		return not_found(j, name);
	if (is_together(j))
		return show(j, f, main_event(j, f));
	for (size_t i = 0; r >= 0 && i < j->hits.n_events; i++)
		if (f->samples[i])
			r = show(j, f, i);
	return r;
}

static int print(struct job *j)
{
	if (cli_is_machine(j->ctx))
		return cli_show(j->ctx, &j->result);
	if (!j->ctx->common.quiet)
		vec_each(note, &j->result.notes) {
			if (j->as_perf && note->level == NOTE_INFO)
				continue;
			/* programs that parse perf's text do not expect it */
			if (j->as_perf) {
				log_warn("%s", note->text);
				continue;
			}
			buf_addf(&j->text, "\nnote: %s\n", note->text);
			if (note->hint)
				buf_addf(&j->text, "hint: %s\n", note->hint);
		}
	return cli_print(j->ctx, &j->text);
}

static int list_both(struct job *j, struct hits *old, const struct hits_function *f,
		     struct listing *before, struct listing *after)
{
	const struct hits_function *g = hits_find(old, f->name);
	struct err *e = &j->ctx->err;
	int r;

	if (!g)
		return err_set(e, ENODATA, "'%s' has no sample in '%s'", f->name, j->args->other);
	r = listing_make(before, old, g, &j->listing, e);
	if (r >= 0)
		r = listing_make(after, &j->hits, f, &j->listing, e);
	return r;
}

/* Of all functions the heaviest one that can be compared. */
static int list_heaviest(struct job *j, struct hits *old, struct listing *before,
			 struct listing *after)
{
	vec_each(f, &j->hits.functions) {
		if (list_both(j, old, f, before, after) >= 0) {
			count_passed_over(j);
			return 0;
		}
		listing_release(before);
		listing_release(after);
		pass_over(j);
	}
	return list_both(j, old, &j->hits.functions.items[0], before, after);
}

static int compare(struct job *j, const char *name, const struct hits_opts *opts)
{
	struct listing before = { 0 }, after = { 0 };
	struct err *e = &j->ctx->err;
	struct hits old;
	int r = hits_load(&old, j->args->other, opts, e);

	if (r >= 0 && name) {
		const struct hits_function *f = hits_find(&j->hits, name);

		r = f ? list_both(j, &old, f, &before, &after) : not_found(j, name);
	} else if (r >= 0) {
		r = list_heaviest(j, &old, &before, &after);
	}
	if (r >= 0)
		r = annotate_diff(&before, &old, &after, &j->hits, &j->files, &j->result, e);
	if (r >= 0)
		compare_times(j, &after);
	if (r >= 0)
		r = cli_show(j->ctx, &j->result);
	listing_release(&before);
	listing_release(&after);
	hits_release(&old);
	return r;
}

static int choose_syntax(struct context *ctx, const char *text, enum disasm_syntax *ret)
{
	*ret = text && streq(text, "intel") ? DISASM_INTEL : DISASM_ATT;
	if (!text || streq(text, "intel") || streq(text, "att"))
		return 0;
	err_set(&ctx->err, EINVAL, "'%s' is not one of att, intel", text);
	return EXIT_USAGE;
}

static int choose(struct context *ctx, struct annotate_args *a, struct hits_opts *o)
{
	struct load_opts load;
	int r;

	if (ctx->operands.len && a->symbol) {
		err_set(&ctx->err, EINVAL, "two functions: '%s' and '%s'", a->symbol,
			ctx->operands.items[0]);
		return EXIT_USAGE;
	}
	if (ctx->operands.len)
		a->symbol = ctx->operands.items[0];
	ctx->operands.len = 0;
	r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	*o = (struct hits_opts){ .event = load.event,
				 .dsos = load.dsos,
				 .comms = load.comms,
				 .symbols = load.symbols,
				 .no_kernel = load.no_kernel,
				 .no_user = load.no_user,
				 .pids = load.pids,
				 .tids = load.tids,
				 .cpus = load.cpus,
				 .time_from = load.time_from,
				 .time_to = load.time_to,
				 .time_relative = load.time_relative };
	return a->profile.input ? 0 : profile_default_input(&a->profile.input, &ctx->err);
}

static int annotate_run(struct context *ctx, void *args)
{
	struct annotate_args *a = args;
	struct job j = { .ctx = ctx, .args = a, .as_perf = ctx->as_perf || a->stdio };
	struct hits_opts opts;
	int r = choose(ctx, a, &opts);

	if (!r)
		r = choose_syntax(ctx, a->syntax, &j.listing.syntax);
	if (r)
		return r;
	j.listing.vmlinux = a->vmlinux;
	result_init(&j.result, "annotate");
	source_files_init(&j.files, a->prefix, a->strip);
	stop_at_once();
	r = hits_load(&j.hits, a->profile.input, &opts, &ctx->err);
	if (r >= 0 && a->other) {
		r = compare(&j, a->symbol, &opts);
	} else if (r >= 0) {
		r = a->symbol ? find_and_show(&j, a->symbol) : show_top(&j);
		if (r >= 0)
			r = print(&j);
	}
	hits_release(&j.hits);
	source_files_release(&j.files);
	result_release(&j.result);
	buf_release(&j.text);
	return r;
}

static const struct example annotate_examples[] = {
	{ "fathom annotate", "the code of the three heaviest functions" },
	{ "fathom annotate --top 1 -M intel", "of the heaviest one, in Intel's syntax" },
	{ "fathom annotate --stdio", "in perf's form" },
	{ "fathom annotate --json --top 1", "for programs" },
	{ "fathom annotate --diff old.data", "line by line against another recording" },
	{ 0 },
};

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "the instructions and source lines that samples hit",
	.description =
		"Shows the code of a function with the share of its samples at each instruction, "
		"source lines between (where there is debug information), jumps inside as arrows, "
		"calls by name, and which function was inlined where.\n\n"
		"The code comes from the file that was recorded: another build of it is refused, "
		"not guessed. Code made at run time is read from a jitdump, or from its process "
		"while that runs, if it is java or has a map of its code (/tmp/perf-PID.map); the "
		"kernel's from /proc/kcore. Source files are looked for where they were compiled; "
		"--prefix names another place.\n\n"
		"--diff lines two recordings up by source line, so that a rebuilt program can be "
		"compared with the one before; without lines the code must be the same.",
	.question = Q_LOOK,
	.options = annotate_options,
	.args_size = sizeof(struct annotate_args),
	.operands = "[FUNCTION]",
	.max_operands = 1,
	.examples = annotate_examples,
	.notes = "Without precise sampling, most of a share appears at the instruction after the "
		 "slow one.",
	.see_also = "fathom-record fathom-report fathom-diff",
	.run = annotate_run,
};
