/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom inject: a recording written again, with what was missing. */
#include "base/log.h"
#include "base/stop.h"
#include "cli/profile_args.h"
#include "recorder/rewrite.h"
#include "recorder/room.h"

struct inject_args {
	const char *input, *output;
	bool build_ids, force, flag, jit, sched_stat;
	u64 compress;
	bool compress_given;
	const char *value;
};

#define AT(field) .offset = offsetof(struct inject_args, field)

static const struct opt inject_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "the recording; - is standard input, the default" },
	{ 'o', "output", OPT_FILE, AT(output), .arg = "FILE",
	  .help = "the new one; - is standard output, the default" },
	{ 'b', "build-ids", OPT_FLAG, AT(build_ids),
	  .alias = "buildid-all mmap2-buildids mmap2-buildid-all",
	  .help = "give mappings without a build id that of the file that is there now" },
	{ 'B', "mmap2-buildid", OPT_FLAG, AT(build_ids), .flags = OPT_HIDDEN,
	  .help = "perf's letter for -b" },
	{ 'z', "compress", OPT_U64, AT(compress), .arg = "LEVEL", .implied = "1",
	  .flags = OPT_OPTIONAL, .given_offset = offsetof(struct inject_args, compress_given),
	  .max = 22, .help = "compress with zstd at this level; without it nothing is compressed" },
	{ 'j', "jit", OPT_FLAG, AT(jit),
	  .help = "make ELF files of the jitdumps that are mapped, and map their functions" },
	{ 's', "sched-stat", OPT_FLAG, AT(sched_stat),
	  .help = "give each sched_switch the time of the sched_stat event of its thread" },
	{ 'f', "force", OPT_FLAG, AT(force), .help = "overwrite an existing file" },
	{ .name = "strip",
	  .type = OPT_FLAG,
	  AT(flag),
	  .flags = OPT_HIDDEN,
	  .help = "accepted for compatibility with perf" },
	{ 'k', "vmlinux", OPT_STRING, AT(value), .arg = "FILE", .flags = OPT_HIDDEN,
	  .alias = "kallsyms", .help = "accepted for compatibility with perf" },
	OPT_END,
};

static void say_counts(const struct inject_args *a, const struct rewrite_counts *c)
{
	log_warn("%llu records, %llu samples; mappings: %llu with a build id, %llu got one, %llu "
		 "without",
		 (unsigned long long)c->records, (unsigned long long)c->samples,
		 (unsigned long long)c->with_id, (unsigned long long)c->given_id,
		 (unsigned long long)c->no_id);
	if (a->jit)
		log_warn("jitdumps: %llu with %llu functions, %llu not there",
			 (unsigned long long)c->dumps, (unsigned long long)c->functions,
			 (unsigned long long)c->gone);
	if (a->sched_stat)
		log_warn("%llu sched_stat events with their switch, %llu without",
			 (unsigned long long)c->merged, (unsigned long long)c->alone);
}

static int inject_run(struct context *ctx, void *args)
{
	struct inject_args *a = args;
	const char *in = a->input ? a->input : "-", *out = a->output ? a->output : "-";
	struct rewrite_opts opts = { .build_ids = a->build_ids,
				     .jit = a->jit,
				     .sched_stat = a->sched_stat,
				     .force = a->force || ctx->as_perf,
				     .compress = (int)a->compress,
				     .pipe = streq(out, "-") };
	struct rewrite_counts c;
	int r = 0;

	if (streq(out, "-") && isatty(STDOUT_FILENO)) {
		err_set(&ctx->err, EINVAL, "refusing to write a recording to a terminal");
		err_hint(&ctx->err, "name a file with -o FILE");
		return EXIT_USAGE;
	}
	/* perf overwrites it */
	if (!streq(out, "-"))
		r = recorder_check_room(out, a->force, &ctx->err);
	if (r == 0 && !streq(out, "-") && !ctx->as_perf)
		r = recorder_move_aside(out, a->force, &ctx->err);
	fflush(ctx->out);
	stop_at_once();
	if (r == 0)
		r = rewrite_recording(in, out, &opts, &c, &ctx->err);
	if (r < 0)
		return r;
	if (!ctx->as_perf)
		say_counts(a, &c);
	return 0;
}

static const struct example inject_examples[] = {
	{ "fathom inject -b -i perf.data -o with-ids.data", "build ids for all mappings" },
	{ "fathom inject -i fathom.data -o plain.data", "decompressed, in order of time" },
	{ "fathom inject -z9 -i perf.data -o small.data", "compressed" },
	{ "fathom inject -j -i perf.data -o named.data", "run-time code as files that perf reads" },
	{ 0 },
};

const struct command cmd_inject = {
	.name = "inject",
	.summary = "rewrite a recording: build ids, compression, order",
	.description = "Copies a recording with all its metadata: its records in "
		       "order of time, decompressed unless -z is given, from a file or a pipe to "
		       "a file or a pipe. With -b mappings that have no build id get that of the "
		       "file that is there now.\n\n"
		       "With -j the functions of each jitdump become one ELF file beside it, "
		       "jitted-PID.so, with names, lines and code: perf and others then name what "
		       "node, java and Python made at run time. The recording's clock must be that "
		       "of the dump, CLOCK_MONOTONIC. (Fathom's own reports need no such step.)",
	.question = Q_LOOK,
	.options = inject_options,
	.args_size = sizeof(struct inject_args),
	.examples = inject_examples,
	.notes = "A build id that was not recorded is a guess: the file may have changed since.",
	.see_also = "fathom-record fathom-buildid-list fathom-archive",
	.run = inject_run,
};
