/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/runqlat.h"

static const struct opt runqlen_options[] = {
	{ .type = OPT_INCLUDE, .include = hist_options },
	{ 'O', "occupancy", OPT_FLAG, .offset = offsetof(struct hist_args, occupancy),
	  .help = "only the share of time with tasks waiting" },
	{ 'F', "freq", OPT_FREQUENCY, .offset = offsetof(struct hist_args, frequency), .arg = "HZ",
	  .def = "99", .help = "samples per second and CPU" },
	OPT_END,
};

static int runqlen_run(struct context *ctx, void *args)
{
	return hist_command(ctx, args, SCHED_HIST_RUNQLEN);
}

static const struct example runqlen_examples[] = {
	{ "fathom runqlen -d 5s", "how many tasks wait for a CPU, 99 times a second" },
	{ "fathom runqlen --by cpu 1 3", "for each CPU" },
	{ "fathom runqlen -O --by cpu -d 5s", "share of time with tasks waiting, by CPU" },
	{ "fathom runqlen -i perf.data", "from a file of 'perf sched record'" },
	{ 0 },
};

const struct command cmd_runqlen = {
	.name = "runqlen",
	.summary = "how many tasks wait for a CPU, as a histogram",
	.description =
		"Looks at the run queue of each CPU 99 times a second and counts its length, the "
		"running task left out. CPUs without work may give no samples.\n\n"
		"With -i the queues are computed from a recording, which must have sched_switch, "
		"sched_waking or sched_wakeup, and sched_migrate_task, as 'perf sched record' "
		"writes them; tasks that waited when it began are known from their first turn "
		"on.",
	.question = Q_CPU,
	.options = runqlen_options,
	.args_size = sizeof(struct hist_args),
	.operands = "[INTERVAL [COUNT]]",
	.max_operands = 2,
	.examples = runqlen_examples,
	.see_also = "fathom-runqlat fathom-cpudist",
	.run = runqlen_run,
};
