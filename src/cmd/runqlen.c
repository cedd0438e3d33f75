/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/runqlat.h"

static int runqlen_run(struct context *ctx, void *args)
{
	return hist_command(ctx, args, SCHED_HIST_RUNQLEN);
}

static const struct example runqlen_examples[] = {
	{ "fathom runqlen -d 5s", "how many tasks wait for a CPU, 99 times a second" },
	{ "fathom runqlen --by cpu 1 3", "for each CPU" },
	{ 0 },
};

const struct command cmd_runqlen = {
	.name = "runqlen",
	.summary = "how many tasks wait for a CPU, as a histogram",
	.description =
		"Looks at the run queue of each CPU 99 times a second and counts its length, "
		"the running task left out. CPUs without work may give no samples.",
	.question = Q_CPU,
	.options = hist_options,
	.args_size = sizeof(struct hist_args),
	.operands = "[INTERVAL [COUNT]]",
	.max_operands = 2,
	.examples = runqlen_examples,
	.see_also = "fathom-runqlat fathom-cpudist",
	.run = runqlen_run,
};
