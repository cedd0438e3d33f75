/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain [--count N] [--ms M]
 *
 * Thread "chain-a" waits for "chain-b", which waits for "chain-c", which sleeps M milliseconds (50)
 * on a timer; N times (20). So the timer wakes c, c wakes b in the function c_wakes_b, and b wakes
 * a in b_wakes_a. Before all that they go around once without the timer, for their pages: who has
 * just waited for a page comes out of that, and not out of the wait for the next one. Prints how
 * long each was blocked.
 */
#include "workload.h"

#include <semaphore.h>

struct chain {
	unsigned int count;
	double seconds;
	sem_t from_b, from_c, round;
	double blocked_a, blocked_b, slept_c;
};

static OWN_FRAME void a_waits_for_b(struct chain *chain)
{
	sem_wait(&chain->from_b);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void b_waits_for_c(struct chain *chain)
{
	sem_wait(&chain->from_c);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void b_wakes_a(struct chain *chain)
{
	sem_post(&chain->from_b);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void c_wakes_b(struct chain *chain)
{
	sem_post(&chain->from_c);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void c_sleeps(double seconds)
{
	sleep_s(seconds);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void *a_main(void *data)
{
	struct chain *chain = data;

	for (unsigned int i = 0; i <= chain->count; i++) {
		double begun = wall_s();

		a_waits_for_b(chain);
		chain->blocked_a += wall_s() - begun;
		sem_post(&chain->round);
	}
	return NULL;
}

static OWN_FRAME void *b_main(void *data)
{
	struct chain *chain = data;

	for (unsigned int i = 0; i <= chain->count; i++) {
		double begun = wall_s();

		b_waits_for_c(chain);
		chain->blocked_b += wall_s() - begun;
		b_wakes_a(chain);
	}
	return NULL;
}

/* A new round begins only when a has had the last one: no wake-up is ever saved up. */
static OWN_FRAME void *c_main(void *data)
{
	struct chain *chain = data;

	for (unsigned int i = 0; i <= chain->count; i++) {
		double begun = wall_s();

		c_sleeps(i ? chain->seconds : 0);
		chain->slept_c += wall_s() - begun;
		c_wakes_b(chain);
		sem_wait(&chain->round);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct chain chain = { .count = 20, .seconds = 0.05 };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--count"))
			chain.count = (unsigned int)option_value(argv, &i, 1, 1e6);
		else if (!strcmp(argv[i], "--ms"))
			chain.seconds = option_value(argv, &i, 0, 1e6) / 1000;
		else
			die("usage: chain [--count N] [--ms M]");
	}
	sem_init(&chain.from_b, 0, 0);
	sem_init(&chain.from_c, 0, 0);
	sem_init(&chain.round, 0, 0);
	pthread_t threads[] = {
		start_thread("chain-a", a_main, &chain),
		start_thread("chain-b", b_main, &chain),
		start_thread("chain-c", c_main, &chain),
	};

	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("pid=%d\ncount=%u\nblocked.a=%.4f\nblocked.b=%.4f\nslept.c=%.4f\n", (int)getpid(),
	       chain.count, chain.blocked_a, chain.blocked_b, chain.slept_c);
	return 0;
}
