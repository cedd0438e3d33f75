/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording lacks, and how it was compensated. */
#include "analysis/report.h"
#include "analysis/threads.h"

static void note_waits(const struct recorded *r, struct result *ret)
{
	const struct profile *p = &r->load.profile;

	if (p->wait_period)
		result_note(ret, NOTE_INFO, NULL,
			    "waits were sampled, one per %.3g ms off the CPU: shares of blocked "
			    "time are estimates, a single wait has the time it represents",
			    (double)p->wait_period / 1e6);
	if (p->wait_min)
		result_note(ret, NOTE_INFO, NULL,
			    "waits shorter than %.3g ms were not recorded: they count as other",
			    (double)p->wait_min / 1e6);
}

static void note_how(const struct recorded *r, struct result *ret)
{
	if (r->how & RECORDED_NO_ACCOUNTS)
		result_note(
			ret, NOTE_WARNING, NULL,
			"thread accounts are missing, the recording was truncated: CPU time is the "
			"time between waits, the time after a thread's last wait counts as other");
	if (r->how & RECORDED_SPLIT_SAMPLED)
		result_note(ret, NOTE_INFO, NULL,
			    "user and kernel were sampled: their shares of CPU time are estimates");
	if (r->how & RECORDED_SWITCHES)
		result_note(ret, NOTE_INFO, "fathom record --chains records what waits were for",
			    "made from scheduler events alone: no stacks, no system calls, user "
			    "and kernel time not separated; threads that neither ran nor were "
			    "woken are missing; a voluntary yield counts as a preemption");
}

void recorded_notes(const struct recorded *r, struct result *ret)
{
	if (r->how & RECORDED_SWITCHES)
		sched_health(&r->names, ret);
	else
		report_losses(&r->load.profile, ret);
	note_waits(r, ret);
	note_how(r, ret);
}
