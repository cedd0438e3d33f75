/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report says about the recording itself: where, how long, how much was lost. */
#include "analysis/report.h"

#include "analysis/skid.h"

#include "analysis/nameless.h"
#include "base/buf.h"
#include "base/fmt.h"
#include "profile/load.h"

enum { REASONS_MOST = 3 };

static void fact_string(const struct profile *p, struct result *ret, const char *key,
			const char *title, u32 string)
{
	if (string)
		result_fact(ret, key, title, value_text(ret, profile_str(p, string)));
}

static void fact_events(const struct profile *p, struct result *ret)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	vec_each(ev, &p->events) {
		if (!ev->samples)
			continue;
		buf_addf(&b, "%s%s", b.len ? ", " : "", profile_str(p, ev->name));
		if (ev->frequency)
			buf_addf(&b, " at %llu Hz", (unsigned long long)ev->frequency);
	}
	result_fact(ret, "events", "events", value_text(ret, buf_str(&b)));
}

void report_facts(const struct profile *p, bool all, struct result *ret)
{
	u64 samples = 0;

	vec_each(ev, &p->events)
		samples += ev->samples;
	fact_string(p, ret, "source", "file", p->source);
	fact_events(p, ret);
	result_fact(ret, "samples", "samples", value_u(VALUE_COUNT, samples));
	if (p->last_time > p->first_time)
		result_fact(ret, "duration_ns", "over",
			    value_u(VALUE_DURATION, p->last_time - p->first_time));
	fact_string(p, ret, "hostname", "host", p->hostname);
	if (p->wall_start)
		result_fact(ret, "started", all ? "started" : NULL,
			    value_u(VALUE_TIME, p->wall_start));
	fact_string(p, ret, "kernel", all ? "kernel" : NULL, p->kernel);
	fact_string(p, ret, "arch", all ? "arch" : NULL, p->arch);
	fact_string(p, ret, "cpu_model", all ? "cpu" : NULL, p->cpu_model);
	if (p->cpus)
		result_fact(ret, "cpus", all ? "cpus" : NULL, value_u(VALUE_COUNT, p->cpus));
	fact_string(p, ret, "unwinder", "stacks", p->unwinder);
	fact_string(p, ret, "command", all ? "command" : NULL, p->command);
	fact_string(p, ret, "notes", "notes", p->notes);
}

/* Broken stacks are the commonest way in which a profile misleads: say so, and the remedy. */
static void stack_health(const struct profile *p, struct result *ret)
{
	u64 with_user = p->stack_ends[STACK_ROOT] + p->stack_ends[STACK_CUT];
	double broken;

	if (!with_user)
		return;
	broken = 100.0 * (double)p->stack_ends[STACK_CUT] / (double)with_user;
	result_fact(ret, "stacks_reaching_root_percent", NULL,
		    value_d(VALUE_PERCENT, 100 - broken));
	if (broken <= 5)
		return;
	/* a recording of ours says itself what went wrong */
	result_note(ret, NOTE_WARNING,
		    p->unwinder ? "fathom stacks shows where, in which process, and what would help"
				: "record with --call-graph auto: it needs no frame pointers",
		    "%.1f%% of user stacks do not reach a thread's start: %s", broken,
		    p->cuts ? profile_str(p, p->cuts) : "callers are missing");
}

/* Advice on complete stacks is useless where none were recorded. */
static void chain_health(const struct profile *p, struct result *ret)
{
	bool any = false;

	vec_each(ev, &p->events) {
		if (ev->samples && !ev->no_chains)
			return;
		any |= ev->samples > 0;
	}
	if (any)
		result_note(ret, NOTE_INFO, "record with -g to see who called",
			    "the recording has no call chains: only where samples were taken");
}

static void reasons(const struct profile *p, struct result *ret)
{
	for (size_t i = 0; i < MIN(p->unnamed.len, (size_t)REASONS_MOST); i++) {
		const struct profile_unnamed *u = &p->unnamed.items[i];
		const char *hint = profile_str(p, u->hint);

		result_note(ret, NOTE_WARNING, *hint ? hint : NULL, "no names in '%s': %s",
			    profile_str(p, u->module), profile_str(p, u->why));
	}
}

/* All that lack lines for the same reason, in one note; those with most samples are named. */
static void lineless(const struct profile *p, u32 why, u32 hint, struct result *ret)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t n = 0;

	vec_each(u, &p->lineless) {
		if (u->why != why)
			continue;
		if (n++ < REASONS_MOST)
			buf_addf(&b, "%s'%s'", b.len ? ", " : "", profile_str(p, u->module));
	}
	if (n > REASONS_MOST)
		buf_addf(&b, " and %zu more", n - REASONS_MOST);
	result_note(ret, NOTE_INFO, hint ? profile_str(p, hint) : NULL, "no source lines of %s: %s",
		    buf_str(&b), profile_str(p, why));
}

static void line_health(const struct profile *p, struct result *ret)
{
	for (size_t i = 0; i < p->lineless.len; i++) {
		const struct profile_unnamed *u = &p->lineless.items[i];
		size_t before = 0;

		while (before < i && p->lineless.items[before].why != u->why)
			before++;
		if (before == i)
			lineless(p, u->why, u->hint, ret);
	}
}

static void name_health(const struct profile *p, struct result *ret)
{
	double unnamed =
		p->total_frames ? 100.0 * (double)p->unnamed_frames / (double)p->total_frames : 0;

	result_fact(ret, "unnamed_frames_percent", NULL, value_d(VALUE_PERCENT, unnamed));
	if (unnamed > 1)
		reasons(p, ret);
	if (unnamed > 20)
		result_note(ret, NOTE_INFO,
			    "install debug symbol packages (-dbgsym) for the modules that matter",
			    "%.1f%% of frames have no function name: grouped by code block as "
			    "module+0xSTART",
			    unnamed);
}

void report_losses(const struct profile *p, struct result *ret)
{
	result_loss(ret, "lost_samples", "samples lost because a buffer was full", p->lost_samples);
	result_loss(ret, "bad_records", "records that could not be read", p->bad_records);
	result_loss(ret, "throttled", "times that the kernel throttled sampling", p->throttled);
	result_loss(ret, "code_reused", HEALTH_CODE_REUSED, p->code_reused);
	if (p->stacks_recognised) {
		result_fact(ret, "stacks_recognised", NULL,
			    value_u(VALUE_COUNT, p->stacks_recognised));
		result_fact(ret, "stacks_checked", NULL, value_u(VALUE_COUNT, p->stacks_checked));
		result_fact(ret, "stacks_misrecognised", NULL,
			    value_u(VALUE_COUNT, p->stacks_misrecognised));
		result_loss(ret, "misrecognised", HEALTH_MISRECOGNISED, p->stacks_misrecognised);
	}
	if (p->aux_bytes)
		result_note(ret, NOTE_WARNING,
			    "'perf inject --itrace -i FILE -o NEW', on a machine whose perf knows "
			    "that trace, makes samples of it",
			    "the recording holds a hardware trace (%s), %llu bytes, which is not "
			    "decoded",
			    profile_aux_name(p->aux_kind), (unsigned long long)p->aux_bytes);
	if (p->fault)
		result_note(ret, NOTE_WARNING, "everything before the damage is shown", "%s",
			    profile_str(p, p->fault));
}

static void skid_health(const struct profile *p, struct result *ret)
{
	for (size_t i = 0; i < p->events.len; i++) {
		double percent = skid_percent(p, (u16)i);

		if (percent < 1)
			continue;
		skid_note(percent, false, ret);
		return;
	}
}

/* The names of this machine are not theirs. */
static void guest_health(const struct profile *p, struct result *ret)
{
	if (!p->guest_samples)
		return;
	result_fact(ret, "guest_samples", NULL, value_u(VALUE_COUNT, p->guest_samples));
	result_fact(ret, "guest_samples_without_name", NULL,
		    value_u(VALUE_COUNT, p->guest_nameless));
	result_note(ret, NOTE_INFO,
		    p->guest_nameless ? "--guestkallsyms FILE, a copy of the guest's "
					"/proc/kallsyms, names the functions of its kernel"
				      : NULL,
		    "%llu samples were taken in virtual machines; %llu of them in functions of "
		    "their kernels that have no name here",
		    (unsigned long long)p->guest_samples, (unsigned long long)p->guest_nameless);
}

void report_health(const struct profile *p, struct result *ret)
{
	report_losses(p, ret);
	chain_health(p, ret);
	stack_health(p, ret);
	name_health(p, ret);
	line_health(p, ret);
	nameless_notes(p, 1, ret);
	skid_health(p, ret);
	guest_health(p, ret);
}
