/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * naps [--threads T] [--count N] [--us M] [--new K]
 *
 * T threads (4) nap N times each (1) for M microseconds (50), and end; then as many new ones do the
 * same, K times altogether (1).
 */
#include "workload.h"

enum { THREADS_MOST = 256 };

struct naps {
	unsigned int threads, count, rounds;
	double seconds;
};

static OWN_FRAME void *nap_main(void *data)
{
	const struct naps *naps = data;

	for (unsigned int i = 0; i < naps->count; i++)
		sleep_s(naps->seconds);
	return NULL;
}

int main(int argc, char **argv)
{
	struct naps naps = { .threads = 4, .count = 1, .rounds = 1, .seconds = 50e-6 };
	pthread_t threads[THREADS_MOST];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--threads"))
			naps.threads = (unsigned int)option_value(argv, &i, 1, THREADS_MOST);
		else if (!strcmp(argv[i], "--count"))
			naps.count = (unsigned int)option_value(argv, &i, 1, 1e9);
		else if (!strcmp(argv[i], "--us"))
			naps.seconds = option_value(argv, &i, 0, 1e9) / 1e6;
		else if (!strcmp(argv[i], "--new"))
			naps.rounds = (unsigned int)option_value(argv, &i, 1, 1e9);
		else
			die("usage: naps [--threads T] [--count N] [--us M] [--new K]");
	}
	for (unsigned int round = 0; round < naps.rounds; round++) {
		for (unsigned int i = 0; i < naps.threads; i++)
			threads[i] = start_thread("napper", nap_main, &naps);
		for (unsigned int i = 0; i < naps.threads; i++)
			pthread_join(threads[i], NULL);
	}
	printf("pid=%d\nnaps=%u\n", (int)getpid(), naps.threads * naps.count * naps.rounds);
	return 0;
}
