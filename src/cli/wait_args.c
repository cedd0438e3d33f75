/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/wait_args.h"

#include <pwd.h>

#include "host/cgroup.h"

/* --- options ---------------------------------------------------------------------------------- */

/* bcc takes the kernel's own number: 0 would run, otherwise the sum of bits. */
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
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct wait_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)
#define WHICH .group = "Which waits"
#define SHOWN .group = "Output"

const struct opt wait_options[] = {
	{ .type = OPT_INCLUDE, .include = target_options, AT(target) },
	OPTION(0, "children", OPT_FLAG, children, NULL,
	       "with -p: and the processes that these have started", .group = "Target",
	       .conflicts = "input"),
	OPTION(0, "comm", OPT_STRINGS, comms, "NAME", "only threads of this name", WHICH),
	OPTION(0, "min", OPT_DURATION, min, "TIME",
	       "only waits that took at least this long, like 10us", WHICH),
	OPTION(0, "max", OPT_DURATION, max, "TIME", "only waits that took at most this long",
	       WHICH),
	OPTION('m', "min-block-time", OPT_U64, min_us, "US",
	       "bcc's name for --min, in microseconds", WHICH, .flags = OPT_HIDDEN),
	OPTION('M', "max-block-time", OPT_U64, max_us, "US",
	       "bcc's name for --max, in microseconds", WHICH, .flags = OPT_HIDDEN),
	OPTION(0, "state", OPT_CUSTOM, states, "SDIR+T",
	       "only waits in these states, with the letters of ps, + is preempted; default all "
	       "but I (idle kernel threads)",
	       WHICH, .parse = parse_states),
	OPTION(0, "user-threads", OPT_FLAG, user_threads, NULL, "no kernel threads", WHICH,
	       .alias = "user-threads-only", .conflicts = "kernel-threads"),
	OPTION('k', "kernel-threads", OPT_FLAG, kernel_threads, NULL, "only kernel threads", WHICH,
	       .alias = "kernel-threads-only"),
	OPTION(0, "period", OPT_DURATION, period, "TIME",
	       "one sample for this much time off CPU instead of every wait", WHICH),
	OPTION('i', "input", OPT_FILE, input, "FILE",
	       "a recording of 'fathom record --off-cpu' instead of the running machine"),
	OPTION(0, "interval", OPT_DURATION, interval, "TIME",
	       "show each interval of this length; with -i, of recorded time"),
	OPTION(0, "rows", OPT_U64, rows, "N",
	       "number of different waits kept in the kernel (default 16384)",
	       .max = WAITS_ROWS_MOST, .alias = "stack-storage-size"),
	OPTION(0, "walk-always", OPT_FLAG, walk_always, NULL,
	       "walk each stack instead of recognising those seen before: slower"),
	OPTION(0, "threads", OPT_FLAG, by_thread, NULL, "separate the threads of a process",
	       .alias = "per-thread"),
	OPTION(0, "open", OPT_FLAG, open, NULL,
	       "also waits that began earlier or are not over, as far as observed", WHICH),
	OPTION(0, "idle", OPT_FLAG, idle, NULL,
	       "also threads that wait for work: idle workers, event loops, kernel threads", WHICH),
	OPTION(0, "runqueue", OPT_FLAG, runqueue, NULL,
	       "weigh by the time threads were runnable without a CPU", SHOWN),
	OPTION('U', "no-kernel", OPT_FLAG, no_kernel, NULL,
	       "only user frames, without the kernel's", SHOWN, .alias = "user-stacks-only",
	       .conflicts = "no-user"),
	OPTION('K', "no-user", OPT_FLAG, no_user, NULL,
	       "only kernel frames, without those of programs", SHOWN,
	       .alias = "kernel-stacks-only"),
	OPTION('n', "lines", OPT_U64, lines, "N", "maximum number of waits shown, 0: all", SHOWN,
	       .def = "20", .max = 1 << 20),
	OPTION('f', "folded", OPT_FLAG, folded, NULL,
	       "lines 'thread;root;...;leaf microseconds' for flame graphs", SHOWN),
	OPTION(0, "raw", OPT_FLAG, raw, NULL, CLI_RAW_HELP, SHOWN),
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPTION(0, "title", OPT_STRING, title, "TEXT", "heading of the picture", SHOWN),
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
		.follow = a->children && t->pids.len,
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
