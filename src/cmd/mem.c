/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom mem: samples of memory accesses in a recording. */
#include "analysis/memory.h"
#include "cli/profile_args.h"
#include "recording/recording.h"

struct mem_args {
	const char *input;
	bool lines, all;
};

#define AT(field) .offset = offsetof(struct mem_args, field)

static const struct opt options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "the recording, of 'perf mem record' or 'perf c2c record'" },
	{ 'l', "lines", OPT_FLAG, AT(lines),
	  .help = "cache lines that were modified in another cache, as perf c2c does" },
	{ 0, "all", OPT_FLAG, AT(all), .help = "with --lines: every line" },
	OPT_END,
};

static int on_record(const struct record *record, void *ctx)
{
	if (record->sample)
		memory_add(ctx, record->sample);
	return 0;
}

static int no_samples(struct context *ctx, const struct memory *m, const char *input)
{
	err_set(&ctx->err, ENODATA, "'%s' has no samples of memory accesses%s", input,
		m->without ? ", but others" : "");
	err_hint(&ctx->err, "'perf mem record' makes them on Intel CPUs since Nehalem, AMD CPUs "
			    "with IBS and Arm CPUs with SPE, on the machine itself: virtual "
			    "machines rarely have these counters");
	return -ENODATA;
}

static int show(struct context *ctx, const struct mem_args *a, struct memory *m,
		const struct recording *rec)
{
	const struct recording_counts *counts = recording_counts(rec);
	const struct recording_fault *fault = recording_fault(rec);
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, ctx->command->name);
	if (a->lines)
		memory_lines(m, a->all, &r);
	else
		memory_kinds(m, &r);
	result_loss(&r, "without", "samples that say nothing of memory", m->without);
	result_loss(&r, "bad", "damaged records", counts->bad_records);
	result_loss(&r, "lost", "events lost by the kernel", counts->lost + counts->lost_samples);
	if (fault->reason)
		result_note(&r, NOTE_WARNING, NULL, "the recording ends early, at byte %llu: %s",
			    (unsigned long long)fault->offset, fault->reason);
	return cli_show(ctx, &r);
}

static int mem_run(struct context *ctx, void *args)
{
	struct mem_args *a = args;
	struct memory m = { 0 };
	struct recording *rec = NULL;
	int r = profile_args_input(ctx, &a->input);

	if (!r && !a->input)
		r = profile_default_input(&a->input, &ctx->err);
	if (r)
		return r;
	r = recording_open(a->input, &rec, &ctx->err);
	if (r < 0)
		return r;
	r = recording_scan(rec, on_record, &m, &ctx->err);
	if (r >= 0)
		r = m.samples ? show(ctx, a, &m, rec) : no_samples(ctx, &m, a->input);
	memory_release(&m);
	recording_free(rec);
	return r;
}

static const struct example examples[] = {
	{ "fathom mem -i perf.data", "which level of memory answered, and how fast" },
	{ "fathom mem --lines -i perf.data", "cache lines that CPUs take from each other" },
	{ 0 },
};

const struct command cmd_mem = {
	.name = "mem",
	.summary = "memory accesses of a recording: levels, snoops, contended lines",
	.description =
		"Shows what 'perf mem record' and 'perf c2c record' have written: for each kind of "
		"access how many samples there are, how long they took on average and at most (in "
		"the unit of the CPU, mostly cycles), whether other caches had the line, how the "
		"address was translated, and the level that answered.\n\n"
		"With --lines it shows the cache lines of 64 bytes that a CPU found modified in "
		"another cache (HITM), the most frequent first, with the offsets that were "
		"accessed: two threads at different offsets of one line are false sharing.\n\n"
		"Sampling memory accesses needs hardware: Intel CPUs since Nehalem, AMD CPUs with "
		"IBS, Arm CPUs with SPE. Recordings can be opened anywhere.",
	.question = Q_LOOK,
	.options = options,
	.args_size = sizeof(struct mem_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.examples = examples,
	.instead_of = "c2c",
	.see_also = "fathom-report fathom-script perf-mem(1) perf-c2c(1)",
	.run = mem_run,
};
