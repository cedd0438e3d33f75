/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mixed [--seconds S]
 *
 * Threads that for S seconds (2) each do something else: "burner" runs its own code, "copier" the
 * kernel's, "sleeper" sleeps 10 ms after 1 ms of running, "reader" reads what "writer" writes every
 * 5 ms, "yielder" gives its CPU away again and again. "rival" burns on the burner's CPU. Prints
 * what the kernel has counted for each: NAME.wall, ran, delay (schedstat), user, system, voluntary
 * and involuntary switches (getrusage).
 */
#include "workload.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>

enum { COPY_BYTES = 1 << 16, YIELDS = 200 };

struct mixed {
	double seconds;
	int pipe[2];
	int cpu; /* of the two that burn */
};

struct part {
	struct mixed *mixed;
	const char *name;
	void (*run)(struct mixed *m, double end);
	double wall, ran, delay, user, system;
	long voluntary, involuntary;
};

static OWN_FRAME void burn(struct mixed *m, double end)
{
	run_on(m->cpu);
	while (wall_s() < end)
		spin(20000);
}

static OWN_FRAME void copy(struct mixed *m UNUSED, double end)
{
	static char bytes[COPY_BYTES];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (wall_s() < end) {
		if (read(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
			die("cannot read zeroes");
	}
	close(fd);
}

static OWN_FRAME void nap(struct mixed *m UNUSED, double end)
{
	while (wall_s() < end) {
		double begun = thread_cpu_s();

		while (thread_cpu_s() - begun < 0.001)
			spin(1000);
		sleep_s(0.01);
	}
}

static OWN_FRAME void read_all(struct mixed *m, double end UNUSED)
{
	char byte;

	while (read(m->pipe[0], &byte, 1) == 1)
		;
}

static OWN_FRAME void write_slowly(struct mixed *m, double end)
{
	while (wall_s() < end) {
		sleep_s(0.005);
		if (write(m->pipe[1], "", 1) != 1)
			die("cannot write to the pipe");
	}
	close(m->pipe[1]);
}

static OWN_FRAME void yield(struct mixed *m, double end)
{
	while (wall_s() < end) {
		for (int i = 0; i < YIELDS; i++)
			sched_yield();
		sleep_s(0.02);
	}
	(void)m;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void *part_main(void *data)
{
	struct part *part = data;
	double begun = wall_s();
	struct rusage ru;

	part->run(part->mixed, begun + part->mixed->seconds);
	getrusage(RUSAGE_THREAD, &ru);
	part->wall = wall_s() - begun;
	part->ran = thread_cpu_s();
	part->delay = thread_delay_s();
	part->user = seconds_of(ru.ru_utime);
	part->system = seconds_of(ru.ru_stime);
	part->voluntary = ru.ru_nvcsw;
	part->involuntary = ru.ru_nivcsw;
	return NULL;
}

int main(int argc, char **argv)
{
	struct mixed m = { .seconds = 2, .cpu = first_cpu() };
	struct part parts[] = {
		{ .name = "burner", .run = burn },     { .name = "rival", .run = burn },
		{ .name = "copier", .run = copy },     { .name = "sleeper", .run = nap },
		{ .name = "reader", .run = read_all }, { .name = "writer", .run = write_slowly },
		{ .name = "yielder", .run = yield },
	};
	enum { N = sizeof(parts) / sizeof(parts[0]) };
	pthread_t threads[N];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			m.seconds = option_value(argv, &i, 0, 1e6);
		else
			die("usage: mixed [--seconds S]");
	}
	if (pipe2(m.pipe, O_CLOEXEC))
		die("cannot make a pipe");
	for (int i = 0; i < N; i++) {
		parts[i].mixed = &m;
		threads[i] = start_thread(parts[i].name, part_main, &parts[i]);
	}
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < N; i++) {
		const struct part *p = &parts[i];

		printf("%s.wall=%.4f\n%s.ran=%.4f\n%s.delay=%.4f\n%s.user=%.4f\n%s.system=%.4f\n",
		       p->name, p->wall, p->name, p->ran, p->name, p->delay, p->name, p->user,
		       p->name, p->system);
		printf("%s.voluntary=%ld\n%s.involuntary=%ld\n", p->name, p->voluntary, p->name,
		       p->involuntary);
	}
	return 0;
}
