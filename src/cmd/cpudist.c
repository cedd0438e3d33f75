/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/runqlat.h"

static int cpudist_run(struct context *ctx, void *args)
{
	struct hist_args *a = args;

	return hist_command(ctx, a, a->off ? SCHED_HIST_OFFCPU : SCHED_HIST_ONCPU);
}

static const struct opt cpudist_options[] = {
	{ .type = OPT_INCLUDE, .include = hist_options },
	HIST_MILLISECONDS,
	{ 'O', "offcpu", OPT_FLAG, .offset = offsetof(struct hist_args, off),
	  .help = "the times off the CPU, not those on it" },
	OPT_END,
};

static const struct example cpudist_examples[] = {
	{ "fathom cpudist -d 5s", "how long each turn on a CPU took" },
	{ "fathom cpudist -O -d 5s", "how long tasks were off the CPU" },
	{ "fathom cpudist --by comm -d 5s", "by the name of the task" },
	{ "fathom cpudist -i perf.data", "from a file of 'perf sched record'" },
	{ 0 },
};

const struct command cmd_cpudist = {
	.name = "cpudist",
	.summary = "how long tasks stay on (or, with -O, off) a CPU, as a histogram",
	.description = "Counts, in the kernel, the length of each turn of a task on a CPU; with "
		       "-O of each time that it was away. With -i the same is computed from a "
		       "recording with sched:sched_switch, such as of 'perf sched record'.",
	.question = Q_CPU,
	.options = cpudist_options,
	.args_size = sizeof(struct hist_args),
	.operands = "[INTERVAL [COUNT]]",
	.max_operands = 2,
	.examples = cpudist_examples,
	.see_also = "fathom-runqlat fathom-runqlen fathom-offcpu",
	.run = cpudist_run,
};
