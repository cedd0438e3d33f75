/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queued [--turns N] [--cpu C]
 *
 * Short sleeps that become long waits. N times (12) thread "sleeper" sleeps in sleeps_long, for
 * 20 ms, until "patient" wakes it; then it sleeps in naps, for 1 ms, until a timer wakes it. But
 * thread "hog", on the same CPU (the first allowed one, or C), has begun to burn for 15 ms by
 * then, and goes first. Prints how many naps were over within 5 ms and took longer with the wait
 * for the CPU, as the kernel counts that.
 */
#include "workload.h"

#include <sched.h>
#include <semaphore.h>

#define LONG_S  20e-3
#define NAP_S   1e-3
#define ASIDE_S 500e-6
#define BURN_S  15e-3
#define SHOWN_S 5e-3

struct queued {
	unsigned int turns, queued;
	int cpu;
	bool stop;
	sem_t ask, answer, burn;
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static OWN_FRAME void sleeps_long(struct queued *q)
{
	sem_post(&q->ask);
	wait_for(&q->answer);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void patient_wakes(struct queued *q)
{
	sem_post(&q->answer);
	__asm__ volatile("" ::: "memory");
}

/* The wait for the CPU is known only where the kernel counts it: else it is what was too long. */
static OWN_FRAME void naps(struct queued *q)
{
	double delay = thread_delay_s(), begun = wall_s(), took;

	sem_post(&q->burn);
	sleep_s(NAP_S);
	took = wall_s() - begun;
	delay = delay > 0 ? thread_delay_s() - delay : took - NAP_S;
	q->queued += took >= SHOWN_S && took - delay < SHOWN_S;
}

static OWN_FRAME void *sleeper_main(void *data)
{
	struct queued *q = data;

	run_on(q->cpu);
	for (unsigned int i = 0; i < q->turns; i++) {
		sleeps_long(q);
		naps(q);
	}
	q->stop = true;
	sem_post(&q->ask);
	sem_post(&q->burn);
	return NULL;
}

static OWN_FRAME void *patient_main(void *data)
{
	struct queued *q = data;

	for (wait_for(&q->ask); !q->stop; wait_for(&q->ask)) {
		sleep_s(LONG_S);
		patient_wakes(q);
	}
	return NULL;
}

static OWN_FRAME void *hog_main(void *data)
{
	struct sched_param first = { .sched_priority = 1 };
	struct queued *q = data;

	run_on(q->cpu);
	/* where that is not allowed it only goes first now and then */
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	for (wait_for(&q->burn); !q->stop; wait_for(&q->burn)) {
		/* so that the sleeper can go to sleep */
		sleep_s(ASIDE_S);
		for (double end = wall_s() + BURN_S; wall_s() < end;)
			spin(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct queued q = { .turns = 12, .cpu = first_cpu() };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--turns"))
			q.turns = (unsigned int)option_value(argv, &i, 1, 1e6);
		else if (!strcmp(argv[i], "--cpu"))
			q.cpu = (int)option_value(argv, &i, 0, CPU_SETSIZE - 1);
		else
			die("usage: queued [--turns N] [--cpu C]");
	}
	if (sem_init(&q.ask, 0, 0) || sem_init(&q.answer, 0, 0) || sem_init(&q.burn, 0, 0))
		die("cannot make semaphores: %s", strerror(errno));
	pthread_t threads[] = {
		start_thread("hog", hog_main, &q),
		start_thread("patient", patient_main, &q),
		start_thread("sleeper", sleeper_main, &q),
	};

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		pthread_join(threads[i], NULL);
	printf("pid=%d\ncpu=%d\nturns=%u\nqueued=%u\n", (int)getpid(), q.cpu, q.turns, q.queued);
	return 0;
}
