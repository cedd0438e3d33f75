/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * burn [--seconds S] [--threads N] [NAME=SHARE]...
 *
 * Burns S seconds (3) of CPU time in each of N threads (1), in the functions a to h by the shares
 * given (a=70 b=30), under main -> work -> a, or thread_main -> work -> a with more than one
 * thread (named burn-0, burn-1 ...). S may be 0: until killed. Prints the shares that came out.
 */
#include "workload.h"

#define FUNCTIONS 8
#define SLICE_S   0.001

struct job {
	double seconds;
	double share[FUNCTIONS]; /* sums to 1 */
	double spent[FUNCTIONS];
	uint64_t turns; /* of spin(), that take about SLICE_S */
};

/* Each adds another number, so that no two are the same code. */
#define BURNER(name, n)                                \
	static OWN_FRAME uint64_t name(uint64_t turns) \
	{                                              \
		spin(turns);                           \
		return turns + (n);                    \
	}

BURNER(a, 1)
BURNER(b, 2)
BURNER(c, 3)
BURNER(d, 4)
BURNER(e, 5)
BURNER(f, 6)
BURNER(g, 7)
BURNER(h, 8)

static uint64_t (*const burners[FUNCTIONS])(uint64_t) = { a, b, c, d, e, f, g, h };

/* The one that is furthest below its share. */
static int next_burner(const struct job *job, double total)
{
	double most = -1;
	int best = 0;

	for (int i = 0; i < FUNCTIONS; i++) {
		double after = job->share[i] * (total + SLICE_S) - job->spent[i];

		if (job->share[i] > 0 && after > most) {
			most = after;
			best = i;
		}
	}
	return best;
}

static OWN_FRAME double work(struct job *job)
{
	double begun = thread_cpu_s(), last = begun, total = 0;

	while (job->seconds <= 0 || total < job->seconds) {
		int i = next_burner(job, total);

		burners[i](job->turns);
		double now = thread_cpu_s();

		job->spent[i] += now - last;
		total += now - last;
		last = now;
	}
	return total;
}

static OWN_FRAME void *thread_main(void *arg)
{
	work(arg);
	return NULL;
}

static uint64_t turns_per_slice(void)
{
	uint64_t turns = 1 << 12;

	for (;;) {
		double begun = thread_cpu_s();

		spin(turns);
		double took = thread_cpu_s() - begun;

		if (took > SLICE_S)
			return (uint64_t)((double)turns * SLICE_S / took) + 1;
		turns *= 2;
	}
}

static void parse_share(struct job *job, const char *arg)
{
	if (arg[0] < 'a' || arg[0] >= 'a' + FUNCTIONS || arg[1] != '=')
		die("usage: burn [--seconds S] [--threads N] [a..h=SHARE]...");
	job->share[arg[0] - 'a'] = parse_number(arg, arg + 2, 0, 1e6);
}

static int parse_args(struct job *job, int argc, char **argv)
{
	int threads = 1;
	double sum = 0;

	job->seconds = 3;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			job->seconds = option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--threads"))
			threads = (int)option_value(argv, &i, 1, 64);
		else
			parse_share(job, argv[i]);
	}
	for (int i = 0; i < FUNCTIONS; i++)
		sum += job->share[i];
	if (sum <= 0) {
		job->share[0] = 70;
		job->share[1] = 30;
		sum = 100;
	}
	for (int i = 0; i < FUNCTIONS; i++)
		job->share[i] /= sum;
	return threads;
}

static void run_threads(struct job *jobs, int count)
{
	pthread_t threads[64];
	char name[16];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "burn-%d", i);
		threads[i] = start_thread(name, thread_main, &jobs[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void print_truth(const struct job *jobs, int count)
{
	double spent[FUNCTIONS] = { 0 }, total = 0;

	for (int n = 0; n < count; n++) {
		for (int i = 0; i < FUNCTIONS; i++) {
			spent[i] += jobs[n].spent[i];
			total += jobs[n].spent[i];
		}
	}
	printf("pid=%d\nthreads=%d\ncpu=%.4f\nprocess_cpu=%.4f\n", (int)getpid(), count, total,
	       process_cpu_s());
	for (int i = 0; i < FUNCTIONS; i++) {
		if (spent[i] > 0)
			printf("share.%c=%.4f\n", 'a' + i, spent[i] / total);
	}
}

int main(int argc, char **argv)
{
	static struct job jobs[64];
	int threads = parse_args(&jobs[0], argc, argv);

	jobs[0].turns = turns_per_slice();
	for (int i = 1; i < threads; i++)
		jobs[i] = jobs[0];
	if (threads == 1)
		work(&jobs[0]);
	else
		run_threads(jobs, threads);
	print_truth(jobs, threads);
	return 0;
}
