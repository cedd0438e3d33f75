/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hog [--seconds S] [--cpu N]
 *
 * On one CPU (the last allowed one, or N) thread "hog" burns for S seconds (2) while thread
 * "victim" wants to burn 1 ms of every 10, and has to wait for its turn. Prints what the kernel
 * says that both ran and waited for the CPU (schedstat).
 */
#include "workload.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

struct hog {
	double seconds;
	atomic_bool stop;
	int cpu;
};

struct part {
	struct hog *hog;
	double cpu_s, delay_s;
	unsigned int turns;
};

/* "run-time delay slices", in nanoseconds; left as it was if the kernel does not tell. */
static void read_schedstat(struct part *part)
{
	unsigned long long ran, delay;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
	FILE *f = fopen(path, "re");

	if (f && fscanf(f, "%llu %llu", &ran, &delay) == 2) {
		part->cpu_s = (double)ran / 1e9;
		part->delay_s = (double)delay / 1e9;
	}
	if (f)
		fclose(f);
}

static OWN_FRAME void hog_burns(struct hog *hog)
{
	double end = wall_s() + hog->seconds;

	while (wall_s() < end)
		spin(20000);
}

static OWN_FRAME void victim_burns(void)
{
	double begun = thread_cpu_s();

	while (thread_cpu_s() - begun < 0.001)
		spin(1000);
}

static OWN_FRAME void *hog_main(void *data)
{
	struct part *part = data;

	run_on(part->hog->cpu);
	hog_burns(part->hog);
	read_schedstat(part);
	atomic_store(&part->hog->stop, true);
	return NULL;
}

static OWN_FRAME void *victim_main(void *data)
{
	struct part *part = data;

	run_on(part->hog->cpu);
	while (!atomic_load(&part->hog->stop)) {
		victim_burns();
		part->turns++;
		sleep_s(0.009);
	}
	read_schedstat(part);
	return NULL;
}

static int last_cpu(void)
{
	cpu_set_t set;
	int last = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("cannot read the CPU set: %s", strerror(errno));
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set))
			last = i;
	}
	return last;
}

int main(int argc, char **argv)
{
	struct hog hog = { .seconds = 2, .cpu = last_cpu() };
	struct part eater = { .hog = &hog }, victim = { .hog = &hog };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			hog.seconds = option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--cpu"))
			hog.cpu = (int)option_value(argv, &i, 0, CPU_SETSIZE - 1);
		else
			die("usage: hog [--seconds S] [--cpu N]");
	}
	pthread_t first = start_thread("hog", hog_main, &eater);
	pthread_t second = start_thread("victim", victim_main, &victim);

	pthread_join(first, NULL);
	pthread_join(second, NULL);
	printf("pid=%d\ncpu=%d\nhog.ran=%.4f\nhog.delay=%.4f\n", (int)getpid(), hog.cpu,
	       eater.cpu_s, eater.delay_s);
	printf("victim.ran=%.4f\nvictim.delay=%.4f\nvictim.turns=%u\n", victim.cpu_s,
	       victim.delay_s, victim.turns);
	return 0;
}
