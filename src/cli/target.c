/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/target.h"

#include "capture/target.h"

enum { CPU_MOST = 65535 }; /* more than any kernel can be built for */

#define FIELD(f) .offset = offsetof(struct target_args, f), .group = "Target"

const struct opt target_options[] = {
	{ .short_name = 'p',
	  .name = "pid",
	  .type = OPT_PIDS,
	  FIELD(pids),
	  .arg = "PID[,PID]",
	  .help = "these processes with all their threads",
	  .conflicts = "all" },
	{ .short_name = 't',
	  .name = "tid",
	  .type = OPT_PIDS,
	  FIELD(tids),
	  .arg = "TID[,TID]",
	  .help = "these threads",
	  .conflicts = "all" },
	{ .short_name = 'u',
	  .name = "user",
	  .type = OPT_STRINGS,
	  FIELD(users),
	  .arg = "USER",
	  .help = "the processes of this user, by name or number",
	  .alias = "uid",
	  .conflicts = "all" },
	{ .short_name = 'G',
	  .name = "cgroup",
	  .type = OPT_STRINGS,
	  FIELD(cgroups),
	  .arg = "CGROUP",
	  .help = "the processes of this control group, by path",
	  .conflicts = "all" },
	{ .short_name = 'C',
	  .name = "cpu",
	  .type = OPT_RANGES,
	  FIELD(cpus),
	  .arg = "CPUS",
	  .help = "only these CPUs, like 0-3,7",
	  .max = CPU_MOST },
	{ .short_name = 'a',
	  .name = "all",
	  .type = OPT_FLAG,
	  FIELD(all),
	  .help = "the whole machine, as without any target",
	  .alias = "all-cpus" },
	{ .short_name = 'd',
	  .name = "duration",
	  .type = OPT_DURATION,
	  FIELD(duration),
	  .given_offset = offsetof(struct target_args, duration_given),
	  .arg = "TIME",
	  .help = "stop after this time, like 10s or 500ms; else, or with 0, at Ctrl-C" },
	OPT_END,
};

int target_choose(struct target *t, const struct target_args *a, pid_t launched, struct err *e)
{
	int rc = target_add_pids(t, &a->pids, e);

	if (rc >= 0)
		rc = target_add_tids(t, &a->tids, e);
	for (size_t i = 0; rc >= 0 && i < a->users.len; i++)
		rc = target_add_user(t, a->users.items[i], e);
	for (size_t i = 0; rc >= 0 && i < a->cgroups.len; i++)
		rc = target_add_cgroup(t, a->cgroups.items[i], e);
	if (rc >= 0 && launched && target_is_whole(t) && !a->all && !a->cpus.len)
		rc = target_add_tid(t, launched, e);
	return rc < 0 ? rc : target_add_cpus(t, &a->cpus, e);
}
