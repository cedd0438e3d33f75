/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callcost [--programs|--few] FILE
 *
 * Makes one short system call over and over and writes into FILE what one takes, in nanoseconds of
 * this thread's CPU time: the median of many runs, after a while of warming up. With --programs,
 * which makes the calls more expensive, also what the BPF programs take that run at each of them,
 * as the kernel measures it. With --few it makes a tenth of the calls, and does not warm up: for
 * those that stop the program at each call.
 */
#include "workload.h"

#include <linux/bpf.h>
#include <sys/syscall.h>

enum { CALLS = 10000, RUNS = 41, FEW_RUNS = 4 };
#define WARM_S 0.25

static void make_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* --- BPF programs ----------------------------------------------------------------------------- */

enum { MAX_PROGRAMS = 4096 };

struct program {
	uint32_t id;
	uint64_t time, runs;
};

static long bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static bool read_program(uint32_t id, struct program *ret)
{
	union bpf_attr attr = { .prog_id = id }, info_attr = { 0 };
	struct bpf_prog_info info = { 0 };
	int fd = (int)bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	bool ok;

	if (fd < 0)
		return false;
	info_attr.info.bpf_fd = (uint32_t)fd;
	info_attr.info.info_len = sizeof(info);
	info_attr.info.info = (uint64_t)(uintptr_t)&info;
	ok = bpf(BPF_OBJ_GET_INFO_BY_FD, &info_attr) == 0;
	close(fd);
	*ret = (struct program){ id, info.run_time_ns, info.run_cnt };
	return ok;
}

static size_t read_programs(struct program *programs)
{
	union bpf_attr attr = { 0 };
	size_t n = 0;

	while (n < MAX_PROGRAMS && bpf(BPF_PROG_GET_NEXT_ID, &attr) == 0) {
		if (read_program(attr.next_id, &programs[n]))
			n++;
		attr.start_id = attr.next_id;
	}
	return n;
}

/* Nanoseconds for each call of the programs that ran at nearly every one. */
static double programs_ns(void)
{
	static struct program before[MAX_PROGRAMS], after[MAX_PROGRAMS];
	union bpf_attr attr = { 0 };
	double ns = 0;
	size_t n, k = 0;
	int fd;

	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	fd = (int)bpf(BPF_ENABLE_STATS, &attr);
	if (fd < 0)
		die("cannot have the times of BPF programs taken: %s", strerror(errno));
	n = read_programs(before);
	for (int i = 0; i < RUNS; i++)
		make_calls();
	for (size_t i = 0, m = read_programs(after); i < m; i++) {
		while (k < n && before[k].id < after[i].id)
			k++;
		if (k == n || before[k].id != after[i].id)
			continue;
		if (after[i].runs - before[k].runs >= CALLS * RUNS * 9ull / 10)
			ns += (double)(after[i].time - before[k].time) /
			      (double)(after[i].runs - before[k].runs);
	}
	close(fd);
	return ns;
}

int main(int argc, char **argv)
{
	bool programs = argc == 3 && strcmp(argv[1], "--programs") == 0;
	bool few = argc == 3 && strcmp(argv[1], "--few") == 0;
	int runs = few ? FEW_RUNS : RUNS;
	double ns[RUNS];
	FILE *f;

	if (argc != 2 + programs + few)
		die("usage: callcost [--programs|--few] FILE");
	for (double end = thread_cpu_s() + WARM_S; !few && thread_cpu_s() < end;)
		make_calls();
	for (int i = 0; i < runs; i++) {
		double begun = thread_cpu_s();

		make_calls();
		ns[i] = (thread_cpu_s() - begun) * 1e9 / CALLS;
	}
	qsort(ns, (size_t)runs, sizeof(*ns), by_size);
	f = fopen(argv[argc - 1], "we");
	if (!f)
		die("cannot write '%s': %s", argv[argc - 1], strerror(errno));
	fprintf(f, "call=%.2f\n", ns[runs / 2]);
	if (programs)
		fprintf(f, "programs=%.2f\n", programs_ns());
	return fclose(f) ? 1 : 0;
}
