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
	bool stdio, group, no_source, counts, lines;
	const char *syntax, *prefix, *vmlinux, *other;
	u64 strip;
	struct perf_args perf;
};

#define AT(field) .offset = offsetof(struct annotate_args, field)

static const struct opt annotate_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ 's', "symbol", OPT_STRING, AT(symbol), .arg = "NAME", .help = "this function" },
	{ .name = "top",
	  .type = OPT_U64,
	  AT(top),
	  .arg = "N",
	  .def = "3",
	  .given_offset = offsetof(struct annotate_args, top_given),
	  .help = "without a name: how many of the heaviest functions" },
	{ .name = "stdio",
	  .type = OPT_FLAG,
	  AT(stdio),
	  .alias = "stdio2 tui gtk",
	  .help = "the text that perf annotate --stdio prints" },
	{ .name = "group",
	  .type = OPT_FLAG,
	  AT(group),
	  .help = "several events: a column for each" },
	{ .name = "diff",
	  .type = OPT_FILE,
	  AT(other),
	  .arg = "FILE",
	  .help = "compare with the same function in an earlier recording" },
	{ .name = "no-source",
	  .type = OPT_FLAG,
	  AT(no_source),
	  .help = "no source lines between the instructions" },
	{ 'n', "show-nr-samples", OPT_FLAG, AT(counts),
	  .help = "numbers of samples instead of shares" },
	{ 'M', "disassembler-style", OPT_STRING, AT(syntax), .arg = "STYLE",
	  .help = "att (default) or intel" },
	{ .name = "prefix",
	  .type = OPT_STRING,
	  AT(prefix),
	  .arg = "DIR",
	  .help = "look for source files below this folder" },
	{ .name = "prefix-strip",
	  .type = OPT_U64,
	  AT(strip),
	  .arg = "N",
	  .help = "and leave out the first N parts of their paths" },
	{ 'k', "vmlinux", OPT_FILE, AT(vmlinux), .arg = "FILE",
	  .help = "the kernel's code: a core file instead of /proc/kcore" },
	{ 'l', "print-line", OPT_FLAG, AT(lines), .flags = OPT_HIDDEN,
	  .help = "perf's: places as FILE:LINE" },
	{ 'd', "only-dsos", OPT_STRING, AT(profile.dsos), .arg = "LIST", .flags = OPT_HIDDEN,
	  .help = "perf's letter for --dsos" },
	{ .type = OPT_INCLUDE, .include = profile_perf_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = perf_annotate_options, AT(perf) },
	OPT_END,
};

/* Functions without code: this many are named in notes, the others counted. */
enum { FAILURES_NAMED = 3 };

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

static struct annotate_text look_of(const struct job *j, const struct hits_function *f)
{
	struct annotate_text o = {
		.color = cli_color(j->ctx),
		.unicode = term_unicode(),
		.no_source = j->args->no_source,
		.group = j->args->group,
		.counts = j->args->counts,
		.lines = j->args->lines,
	};

	for (size_t i = 1; i < j->hits.n_events; i++)
		if (f->samples[i] > f->samples[o.event])
			o.event = i;
	return o;
}

static int show(struct job *j, const struct hits_function *f)
{
	struct annotate_text look = look_of(j, f);
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

/* The heaviest ones whose code can be read. */
static int show_top(struct job *j)
{
	size_t most = j->as_perf && !j->args->top_given ? SIZE_MAX : (size_t)j->args->top;

	vec_each(f, &j->hits.functions) {
		if (j->shown >= most)
			break;
		if (show(j, f) < 0)
			pass_over(j);
	}
	count_passed_over(j);
	if (j->shown)
		return 0;
	/* the reason of the heaviest one */
	(void)show(j, &j->hits.functions.items[0]);
	return -ENOENT;
}

static int find_and_show(struct job *j, const char *name)
{
	const struct hits_function *f = hits_find(&j->hits, name);

	return f ? show(j, f) : not_found(j, name);
}

static int print(struct job *j)
{
	if (cli_is_machine(j->ctx))
		return cli_show(j->ctx, &j->result);
	if (!j->ctx->common.quiet)
		vec_each(note, &j->result.notes) {
			if (j->as_perf && note->level == NOTE_INFO)
				continue;
			/* perf's readers have no place for it in the text */
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
		"not guessed. Code made at run time is read from a jitdump, the kernel's from "
		"/proc/kcore. Source files are looked for where they were compiled; --prefix names "
		"another place.\n\n"
		"--diff lines two recordings up by source line, so that a rebuilt program can be "
		"compared with the one before; without lines the code must be the same.",
	.question = Q_LOOK,
	.options = annotate_options,
	.args_size = sizeof(struct annotate_args),
	.operands = "[FUNCTION]",
	.max_operands = 1,
	.examples = annotate_examples,
	.notes = "Without an event that samples precisely the share stands mostly at the "
		 "instruction after the slow one.",
	.see_also = "fathom-record fathom-report fathom-diff",
	.run = annotate_run,
};
