/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/wait_args.h"

#include <pwd.h>

#include "host/cgroup.h"

/* --- options ---------------------------------------------------------------------------------- */

/* bcc takes the kernel's own number: 0 would run, else the sum of bits. */
static u32 states_by_number(u64 n)
{
	u32 states = n ? 0 : WAIT_IN_RUNNABLE | WAIT_IN_PREEMPTED;

	states |= n & 1 ? WAIT_IN_SLEEP : 0;
	states |= n & 2 ? WAIT_IN_DISK : 0;
	return states | (n & ~3ull ? WAIT_IN_OTHER : 0);
}

static int parse_states(void *field, const char *text, struct err *e)
{
	static const struct {
		char letter;
		u32 bit;
	} known[] = {
		{ 'S', WAIT_IN_SLEEP },    { 'D', WAIT_IN_DISK },      { 'I', WAIT_IN_IDLE },
		{ 'R', WAIT_IN_RUNNABLE }, { '+', WAIT_IN_PREEMPTED }, { 'T', WAIT_IN_OTHER }
	};
	u32 *states = field;
	u64 number;

	if (parse_u64_range(text, 0, 255, &number, NULL) == 0) {
		*states |= states_by_number(number);
		return 0;
	}
	for (; *text; text++) {
		u32 bit = 0;

		if (*text == ',')
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			bit |= known[i].letter == *text ? known[i].bit : 0;
		if (!bit) {
			err_set(e, EINVAL, "'%c' is not a thread state", *text);
			err_hint(e, "S sleeping, D uninterruptible (disk), I idle kernel thread, R "
				    "gave way, + preempted, T stopped");
			return -EINVAL;
		}
		*states |= bit;
	}
	return 0;
}

#define AT(field) .offset = offsetof(struct wait_args, field)
#define WHICH     .group = "Which waits"
#define SHOWN     .group = "Output"

const struct opt wait_options[] = {
	{ .type = OPT_INCLUDE, .include = target_options, AT(target) },
	{ .name = "comm",
	  .type = OPT_STRINGS,
	  AT(comms),
	  .arg = "NAME",
	  WHICH,
	  .help = "only threads of this name" },
	{ .name = "min",
	  .type = OPT_DURATION,
	  AT(min),
	  .arg = "TIME",
	  WHICH,
	  .help = "only waits that took at least this long, like 10us" },
	{ .name = "max",
	  .type = OPT_DURATION,
	  AT(max),
	  .arg = "TIME",
	  WHICH,
	  .help = "only waits that took at most this long" },
	{ .short_name = 'm',
	  .name = "min-block-time",
	  .type = OPT_U64,
	  AT(min_us),
	  .arg = "US",
	  WHICH,
	  .flags = OPT_HIDDEN,
	  .help = "bcc's name for --min, in microseconds" },
	{ .short_name = 'M',
	  .name = "max-block-time",
	  .type = OPT_U64,
	  AT(max_us),
	  .arg = "US",
	  WHICH,
	  .flags = OPT_HIDDEN,
	  .help = "bcc's name for --max, in microseconds" },
	{ .name = "state",
	  .type = OPT_CUSTOM,
	  AT(states),
	  .arg = "SDIR+T",
	  WHICH,
	  .parse = parse_states,
	  .help = "only waits in these states, with the letters of ps, + is preempted; default all "
		  "but I (idle kernel threads)" },
	{ .name = "user-threads",
	  .type = OPT_FLAG,
	  AT(user_threads),
	  WHICH,
	  .alias = "user-threads-only",
	  .conflicts = "kernel-threads",
	  .help = "no kernel threads" },
	{ .short_name = 'k',
	  .name = "kernel-threads",
	  .type = OPT_FLAG,
	  AT(kernel_threads),
	  WHICH,
	  .alias = "kernel-threads-only",
	  .help = "only kernel threads" },
	{ .name = "period",
	  .type = OPT_DURATION,
	  AT(period),
	  .arg = "TIME",
	  WHICH,
	  .help = "one sample for this much time off CPU instead of every wait" },
	{ .short_name = 'i',
	  .name = "input",
	  .type = OPT_FILE,
	  AT(input),
	  .arg = "FILE",
	  .help = "a recording of 'fathom record --off-cpu' instead of the running machine" },
	{ .name = "interval",
	  .type = OPT_DURATION,
	  AT(interval),
	  .arg = "TIME",
	  .help = "show each interval of this length; with -i, of recorded time" },
	{ .name = "rows",
	  .type = OPT_U64,
	  AT(rows),
	  .arg = "N",
	  .max = WAITS_ROWS_MOST,
	  .alias = "stack-storage-size",
	  .help = "number of different waits kept in the kernel (default 16384)" },
	{ .name = "walk-always",
	  .type = OPT_FLAG,
	  AT(walk_always),
	  .help = "walk each stack instead of recognising those seen before: slower" },
	{ .name = "threads",
	  .type = OPT_FLAG,
	  AT(by_thread),
	  .alias = "per-thread",
	  .help = "separate the threads of a process" },
	{ .name = "open",
	  .type = OPT_FLAG,
	  AT(open),
	  WHICH,
	  .help = "also waits that began earlier or are not over, as far as observed" },
	{ .name = "idle",
	  .type = OPT_FLAG,
	  AT(idle),
	  WHICH,
	  .help = "also threads that wait for work: idle workers, event loops, kernel threads" },
	{ .name = "runqueue",
	  .type = OPT_FLAG,
	  AT(runqueue),
	  SHOWN,
	  .help = "weigh by the time threads were runnable without a CPU" },
	{ .short_name = 'U',
	  .name = "no-kernel",
	  .type = OPT_FLAG,
	  AT(no_kernel),
	  SHOWN,
	  .alias = "user-stacks-only",
	  .conflicts = "no-user",
	  .help = "only user frames: none of the kernel" },
	{ .short_name = 'K',
	  .name = "no-user",
	  .type = OPT_FLAG,
	  AT(no_user),
	  SHOWN,
	  .alias = "kernel-stacks-only",
	  .help = "only kernel frames: none of programs" },
	{ .short_name = 'n',
	  .name = "lines",
	  .type = OPT_U64,
	  AT(lines),
	  .arg = "N",
	  SHOWN,
	  .def = "20",
	  .max = 1 << 20,
	  .help = "maximum number of waits shown, 0: all" },
	{ .short_name = 'f',
	  .name = "folded",
	  .type = OPT_FLAG,
	  AT(folded),
	  SHOWN,
	  .help = "lines 'thread;root;...;leaf microseconds' for flame graphs" },
	{ .name = "raw", .type = OPT_FLAG, AT(raw), SHOWN, .help = CLI_RAW_HELP },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ .name = "title",
	  .type = OPT_STRING,
	  AT(title),
	  .arg = "TEXT",
	  SHOWN,
	  .help = "heading of the picture" },
	OPT_END,
};

/* --- the target ------------------------------------------------------------------------------- */

static int add_user(struct wait_filter *f, const char *user, struct err *e)
{
	const struct passwd *pw = getpwnam(user);
	u64 id;

	if (pw) {
		vec_push(&f->uids, pw->pw_uid);
		return 0;
	}
	if (parse_u64_range(user, 0, UINT32_MAX, &id, NULL) < 0)
		return err_set(e, EINVAL, "unknown user '%s'", user);
	vec_push(&f->uids, (u32)id);
	return 0;
}

static int add_cgroup(struct wait_filter *f, const char *name, struct err *e)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = CGROUP_MOUNTS_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	int rc = cgroup_mounts_read(&mounts, e);

	if (rc >= 0)
		rc = cgroup_find(&mounts, name, &path, e);
	if (rc >= 0)
		vec_push(&f->cgroups, buf_detach(&path));
	return rc;
}

enum { ALL_STATES = 63 };

u32 wait_states(const struct wait_args *a)
{
	return a->states ? a->states : ALL_STATES & ~(u32)WAIT_IN_IDLE;
}

bool wait_shows_open(const struct wait_args *a)
{
	bool picks = a->min || a->max || a->min_us || a->max_us || a->states || a->period;

	return a->open || (!picks && (a->target.pids.len || a->target.tids.len));
}

int wait_filter_make(struct wait_filter *f, const struct wait_args *a, struct err *e)
{
	const struct target_args *t = &a->target;
	int rc = 0;

	*f = (struct wait_filter){ 0 };
	if (t->cpus.len)
		return err_set(e, EINVAL, "--cpu does not apply: blocked threads are on no CPU");
	for (size_t i = 0; rc >= 0 && i < t->users.len; i++)
		rc = add_user(f, t->users.items[i], e);
	for (size_t i = 0; rc >= 0 && i < t->cgroups.len; i++)
		rc = add_cgroup(f, t->cgroups.items[i], e);
	f->opts = (struct waits_opts){
		.pids = &t->pids,
		.tids = &t->tids,
		.uids = f->uids.items,
		.n_uids = f->uids.len,
		.cgroups = (const char *const *)f->cgroups.items,
		.n_cgroups = f->cgroups.len,
		.comms = a->comms.items,
		.n_comms = a->comms.len,
		.states = wait_states(a),
		.threads = wait_shows_open(a),
		.min_ns = a->min ? a->min : a->min_us * NSEC_PER_USEC,
		.max_ns = a->max ? a->max : a->max_us * NSEC_PER_USEC,
		.period = a->period,
		.rows = a->rows,
		.walk_always = a->walk_always,
		.by_thread = a->by_thread,
		.no_kthreads = a->user_threads,
		.no_users = a->kernel_threads,
		.no_kernel_stacks = a->no_kernel,
		.no_user_stacks = a->no_user,
	};
	return rc;
}

void wait_filter_release(struct wait_filter *f)
{
	vec_release(&f->uids);
	vec_each(c, &f->cgroups)
		free(*c);
	vec_release(&f->cgroups);
}

int wait_no_program(struct context *ctx)
{
	if (!ctx->program)
		return 0;
	err_set(&ctx->err, EINVAL, "a program cannot be combined with -i");
	return EXIT_USAGE;
}
