/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's unwinder on a program that this one starts, and on its children:
 *
 *	unwind_sampler [--cold] [--frames] [-F HZ] SECONDS program args...
 *
 * --cold begins without any table. --frames prints each sample as a line "= END", and its user
 * frames, innermost first: "function file:line" for those of Python, otherwise an address in hex.
 * Prints one line
 *
 *	samples user root depth deepest rescued lost micros
 *
 * (all samples; those with a user part; those whose stack is complete; mean and greatest depth of
 * these; finished from a copy; lost; mean time of the BPF program in microseconds, 0 if unknown)
 * and a line "# reason count" for each reason for which stacks ended early.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "unwind/sampler.h"

enum { EVENT = 3, EVENTS = 4 };

struct tally {
	u64 samples, user, root, frames, deepest, rescued, wrong_event;
	u64 python; /* samples with functions of Python */
	u64 ends[UNWIND_END_COUNT];
	const struct sampler *shown; /* to be printed */
};

static void print_frame(const struct python_names *p, u64 address)
{
	const struct python_function *f = python_names_find(p, address);

	if (!f) {
		printf("%llx\n", (unsigned long long)address);
		return;
	}
	printf("%s %s:%llu\n", intern_get(&p->strings, f->name), intern_get(&p->strings, f->file),
	       (unsigned long long)(f->line +
				    (address - PYTHON_MAP_START - f->start) / PYTHON_LINE_UNITS));
}

static int on_sample(void *ctx, const struct sampler_sample *s)
{
	struct tally *t = ctx;

	t->samples++;
	t->wrong_event += s->event != EVENT;
	t->ends[s->end]++;
	if (s->end == UNWIND_END_NO_REGS || s->end == UNWIND_END_EXEC)
		return 0;
	t->user++;
	t->root += s->end == UNWIND_END_ROOT;
	t->frames += s->n_user;
	t->deepest = MAX(t->deepest, s->n_user);
	t->rescued += s->rescued;
	t->python += s->python;
	if (!t->shown)
		return 0;
	printf("= %s %s\n", unwind_end_key(s->end), s->rescued ? "rescued" : "");
	for (u32 i = 0; i < s->n_user; i++)
		print_frame(sampler_python(t->shown), s->user[i]);
	return 0;
}

/* Waits for a byte before it becomes the program, so that the event is there first. */
static pid_t start(char **argv, int gate)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	int null = open("/dev/null", O_RDWR);

	if (read(gate, &c, 1) != 1)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execvp(argv[0], argv);
	_exit(127);
}

static int open_event(pid_t pid, u64 hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = hz,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double mean_micros(void)
{
	struct bpf_prog_info info = { 0 };
	u32 id = 0, n = sizeof(info);
	double micros = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		int fd = bpf_prog_get_fd_by_id(id);

		memset(&info, 0, sizeof(info));
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &n) &&
		    starts_with(info.name, "profile_sample") && info.run_cnt)
			micros = (double)info.run_time_ns / 1e3 / (double)info.run_cnt;
		if (fd >= 0)
			close(fd);
	}
	return micros;
}

static void read_for(struct sampler *s, double seconds, pid_t pid, struct tally *t)
{
	u64 end = clock_mono_ns() + (u64)(seconds * 1e9);

	while (clock_mono_ns() < end && waitpid(pid, NULL, WNOHANG) == 0) {
		struct pollfd p = { .fd = sampler_fd(s), .events = POLLIN };

		poll(&p, 1, 20);
		sampler_read(s, on_sample, t);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sampler_read(s, on_sample, t);
}

static void report(const struct tally *t, const struct sampler_stats *stats)
{
	for (int i = 0; i < UNWIND_END_COUNT; i++) {
		if (t->ends[i] && i != UNWIND_END_ROOT)
			printf("# %s %llu\n", unwind_end_key(i), (unsigned long long)t->ends[i]);
	}
	if (t->python)
		printf("# python %llu frames %llu unplaced %llu unreadable %llu\n",
		       (unsigned long long)t->python, (unsigned long long)stats->python_frames,
		       (unsigned long long)stats->python_unplaced,
		       (unsigned long long)stats->python_unreadable);
	if (t->wrong_event)
		printf("# wrong_event %llu\n", (unsigned long long)t->wrong_event);
	printf("%llu %llu %llu %.1f %llu %llu %llu %.1f\n", (unsigned long long)t->samples,
	       (unsigned long long)t->user, (unsigned long long)t->root,
	       t->user ? (double)t->frames / (double)t->user : 0, (unsigned long long)t->deepest,
	       (unsigned long long)t->rescued, (unsigned long long)stats->lost, mean_micros());
}

static int run(double seconds, bool cold, bool frames, u64 hz, char **argv)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct sampler_stats stats;
	struct sampler *s = NULL;
	struct tally t = { 0 };
	int gate[2];

	if (sampler_new(&s, &(struct sampler_opts){ .events = EVENTS, .python = true }, &e)) {
		fprintf(stderr, "%s\n", e.what);
		return 3;
	}
	if (!cold)
		sampler_running(s);
	t.shown = frames ? s : NULL;
	_cleanup_close_ int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (pipe2(gate, O_CLOEXEC))
		return 1;
	pid_t pid = start(argv, gate[0]);
	_cleanup_close_ int event = open_event(pid, hz);

	if (event < 0 || sampler_attach(s, event, EVENT, &e)) {
		fprintf(stderr, "%s\n", e.what ? e.what : "cannot open the event");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return 3;
	}
	if (write(gate[1], "x", 1) != 1)
		return 1;
	read_for(s, seconds, pid, &t);
	sampler_stats(s, &stats);
	report(&t, &stats);
	sampler_free(s);
	return 0;
}

int main(int argc, char **argv)
{
	bool cold = false, frames = false;
	u64 hz = 499;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (streq(argv[i], "--cold"))
			cold = true;
		else if (streq(argv[i], "--frames"))
			frames = true;
		else if (streq(argv[i], "-F") && i + 1 < argc)
			hz = strtoull(argv[++i], NULL, 10);
	}
	if (argc - i < 2) {
		fprintf(stderr,
			"usage: unwind_sampler [--cold] [--frames] [-F HZ] SECONDS program...\n");
		return 2;
	}
	return run(strtod(argv[i], NULL), cold, frames, hz, argv + i + 1);
}
