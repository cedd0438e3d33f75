/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * early [--seconds S] [--naps N]
 *
 * Wakers that come too early. Thread "sleeper" goes to sleep over and over for S seconds (1), and
 * "waker", on another CPU if there is one, wakes it as soon as it says that it will: often it has
 * not left its CPU yet. After every N turns (8) the sleeper takes a nap, which a timer ends and
 * never the waker; that one rests after as many, so that it leaves its CPU, too. Prints how often
 * the sleeper went to sleep, was woken, left its CPU (by the kernel's account, with the naps) and
 * napped.
 */
#include "workload.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

struct early {
	double seconds;
	unsigned int naps;
	_Atomic unsigned int word;
	atomic_bool stop;
	unsigned long turns, napped, woken;
	long left;
};

static long futex(_Atomic unsigned int *word, int op, unsigned int value)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* The @which-th of the CPUs that we may use, if there are this many. */
static void pin(int which)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) <= which)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || which-- > 0)
			continue;
		CPU_SET(cpu, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static OWN_FRAME void sleeps(struct early *early)
{
	futex(&early->word, FUTEX_WAIT, 0);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void naps(struct early *early)
{
	sleep_s(30e-6);
	early->napped++;
}

static OWN_FRAME bool wakes(struct early *early)
{
	long n = futex(&early->word, FUTEX_WAKE, 1);

	__asm__ volatile("" ::: "memory");
	return n > 0;
}

static OWN_FRAME void *sleeper_main(void *data)
{
	struct early *early = data;
	double end = wall_s() + early->seconds;
	struct rusage ru;

	pin(0);
	while (wall_s() < end) {
		sleeps(early);
		if (++early->turns % early->naps == 0)
			naps(early);
	}
	atomic_store(&early->stop, true);
	getrusage(RUSAGE_THREAD, &ru);
	early->left = ru.ru_nvcsw;
	return NULL;
}

static OWN_FRAME void *waker_main(void *data)
{
	struct early *early = data;

	pin(1);
	while (!atomic_load(&early->stop)) {
		if (wakes(early) && ++early->woken % early->naps == 0)
			sleep_s(10e-6);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct early early = { .seconds = 1, .naps = 8 };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			early.seconds = option_value(argv, &i, 0, 3600);
		else if (!strcmp(argv[i], "--naps"))
			early.naps = (unsigned int)option_value(argv, &i, 1, 1e9);
		else
			die("usage: early [--seconds S] [--naps N]");
	}
	pthread_t threads[] = {
		start_thread("sleeper", sleeper_main, &early),
		start_thread("waker", waker_main, &early),
	};

	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("pid=%d\nturns=%lu\nwoken=%lu\nleft=%ld\nnapped=%lu\n", (int)getpid(), early.turns,
	       early.woken, early.left, early.napped);
	return 0;
}
