/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places [--rounds N]
 *
 * One thread, "waiter", waits by turns at six places that are hard to tell apart: through the
 * functions near and next, which are alike to the byte, in the same read(), of a pipe, an eventfd
 * and a socket; STAY times in a row at each. Each place has its own time; prints how long each took
 * in all.
 */
#include "workload.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { KINDS = 3, PLACES = 2 * KINDS, STAY = 24 };

struct places {
	unsigned int rounds;
	int in[KINDS], out[KINDS];
	double waited[PLACES];
};

static const char *const kinds[KINDS] = { "pipe", "event", "socket" };

static unsigned int place_of(unsigned int turn)
{
	return turn / STAY % PLACES;
}

/* From 2 ms on. */
static double seconds_at(unsigned int place)
{
	return 0.002 + 0.002 * place;
}

static OWN_FRAME void wait_on(int fd)
{
	uint64_t word;

	if (read(fd, &word, sizeof(word)) != sizeof(word))
		die("cannot read");
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void near(int fd)
{
	wait_on(fd);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void next(int fd)
{
	wait_on(fd);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void *feed(void *data)
{
	const struct places *p = data;
	const uint64_t one = 1;

	for (unsigned int i = 0; i < p->rounds * PLACES * STAY; i++) {
		unsigned int place = place_of(i);

		sleep_s(seconds_at(place));
		if (write(p->out[place % KINDS], &one, sizeof(one)) != sizeof(one))
			die("cannot write");
	}
	return NULL;
}

static void open_all(struct places *p)
{
	int pair[2];

	if (pipe(pair))
		die("cannot make a pipe");
	p->in[0] = pair[0];
	p->out[0] = pair[1];
	p->in[1] = p->out[1] = eventfd(0, EFD_SEMAPHORE);
	if (p->in[1] < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("cannot make a socket");
	p->in[2] = pair[0];
	p->out[2] = pair[1];
}

int main(int argc, char **argv)
{
	struct places p = { .rounds = 3 };
	pthread_t feeder;

	if (argc == 3 && !strcmp(argv[1], "--rounds"))
		p.rounds = (unsigned int)strtoul(argv[2], NULL, 10);
	else if (argc > 1)
		die("usage: places [--rounds N]");
	open_all(&p);
	if (pthread_create(&feeder, NULL, feed, &p))
		die("cannot start a thread");
	prctl(PR_SET_NAME, "waiter");
	for (unsigned int i = 0; i < p.rounds * PLACES * STAY; i++) {
		unsigned int place = place_of(i);
		double begun = wall_s();

		if (place < KINDS)
			near(p.in[place % KINDS]);
		else
			next(p.in[place % KINDS]);
		p.waited[place] += wall_s() - begun;
	}
	pthread_join(feeder, NULL);
	for (unsigned int i = 0; i < PLACES; i++)
		printf("%s.%s=%.4f\n", i < KINDS ? "near" : "next", kinds[i % KINDS], p.waited[i]);
	return 0;
}
