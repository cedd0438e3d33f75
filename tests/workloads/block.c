/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block mutex|pipe|disk|sleep [--count N] [--ms M]
 *
 * Blocks N times (20) for M milliseconds (50):
 *   mutex  thread "waiter" in wait_for_lock, on a lock that thread "holder" holds while it sleeps
 *   pipe   thread "reader" in wait_for_data, on a pipe that thread "writer" writes to
 *   disk   thread "syncer" in sync_to_disk, a 1 MB write and fsync (M does not count)
 *   sleep  thread "sleeper" in take_a_nap
 * Prints how long the thread waited, by its own clock.
 */
#include "workload.h"

#include <fcntl.h>
#include <semaphore.h>

#define DISK_BYTES (1 << 20)

struct job {
	unsigned int count;
	double seconds;
	double waited; /* by the thread that blocks */
	double held;   /* by the other one */
	long switches; /* voluntary, of the thread that blocks */
	pthread_mutex_t lock;
	sem_t taken, done;
	int pipe[2];
	int file;
};

struct kind {
	const char *name, *blocker, *waker;
	void (*once)(struct job *job);
	void (*wake)(struct job *job); /* NULL: nobody is waited for */
};

static OWN_FRAME void wait_for_lock(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	pthread_mutex_unlock(&job->lock);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void hold_lock(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	sem_post(&job->taken);
	sleep_s(job->seconds);
	pthread_mutex_unlock(&job->lock);
	sem_wait(&job->done);
}

static OWN_FRAME void wait_for_data(struct job *job)
{
	char byte;

	if (read(job->pipe[0], &byte, 1) != 1)
		die("cannot read from the pipe");
}

static OWN_FRAME void write_late(struct job *job)
{
	sem_post(&job->taken);
	sleep_s(job->seconds);
	if (write(job->pipe[1], "", 1) != 1)
		die("cannot write to the pipe");
	sem_wait(&job->done);
}

static OWN_FRAME void sync_to_disk(struct job *job)
{
	static char block[DISK_BYTES];

	if (pwrite(job->file, block, sizeof(block), 0) != (ssize_t)sizeof(block))
		die("cannot write to the disk: %s", strerror(errno));
	if (fsync(job->file))
		die("cannot sync: %s", strerror(errno));
}

static OWN_FRAME void take_a_nap(struct job *job)
{
	sleep_s(job->seconds);
	__asm__ volatile("" ::: "memory");
}

static const struct kind kinds[] = {
	{ "mutex", "waiter", "holder", wait_for_lock, hold_lock },
	{ "pipe", "reader", "writer", wait_for_data, write_late },
	{ "disk", "syncer", NULL, sync_to_disk, NULL },
	{ "sleep", "sleeper", NULL, take_a_nap, NULL },
};

struct thread_arg {
	struct job *job;
	const struct kind *kind;
};

static OWN_FRAME void *blocker_main(void *data)
{
	const struct thread_arg *arg = data;
	struct job *job = arg->job;
	struct rusage ru;

	for (unsigned int i = 0; i < job->count; i++) {
		if (arg->kind->wake)
			sem_wait(&job->taken);
		double begun = wall_s();

		arg->kind->once(job);
		job->waited += wall_s() - begun;
		sem_post(&job->done);
	}
	getrusage(RUSAGE_THREAD, &ru);
	job->switches = ru.ru_nvcsw;
	return NULL;
}

static OWN_FRAME void *waker_main(void *data)
{
	const struct thread_arg *arg = data;

	for (unsigned int i = 0; i < arg->job->count; i++) {
		double begun = wall_s();

		arg->kind->wake(arg->job);
		arg->job->held += wall_s() - begun;
	}
	return NULL;
}

static void open_file(struct job *job)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/fathom-block-XXXXXX", dir ? dir : "/tmp");
	job->file = mkstemp(path);
	if (job->file < 0)
		die("cannot make a file in '%s': %s", dir ? dir : "/tmp", strerror(errno));
	unlink(path);
}

static const struct kind *parse_args(struct job *job, int argc, char **argv)
{
	const struct kind *kind = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], kinds[i].name))
			kind = &kinds[i];
	}
	if (!kind)
		die("usage: block mutex|pipe|disk|sleep [--count N] [--ms M]");
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--count"))
			job->count = (unsigned int)option_value(argv, &i, 1, 1e6);
		else if (!strcmp(argv[i], "--ms"))
			job->seconds = option_value(argv, &i, 0, 1e6) / 1000;
		else
			die("block: unknown option '%s'", argv[i]);
	}
	return kind;
}

int main(int argc, char **argv)
{
	struct job job = { .count = 20, .seconds = 0.05, .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct kind *kind = parse_args(&job, argc, argv);
	struct thread_arg arg = { &job, kind };
	pthread_t waker = 0;

	sem_init(&job.taken, 0, 0);
	sem_init(&job.done, 0, 0);
	if (pipe2(job.pipe, O_CLOEXEC))
		die("cannot make a pipe");
	open_file(&job);
	pthread_t blocker = start_thread(kind->blocker, blocker_main, &arg);

	if (kind->wake)
		waker = start_thread(kind->waker, waker_main, &arg);
	pthread_join(blocker, NULL);
	if (kind->wake)
		pthread_join(waker, NULL);
	printf("pid=%d\nblocker=%s\nwaker=%s\ncount=%u\n", (int)getpid(), kind->blocker,
	       kind->waker ? kind->waker : "", job.count);
	printf("waited=%.4f\nheld=%.4f\nswitches=%ld\nprocess_cpu=%.4f\n", job.waited, job.held,
	       job.switches, process_cpu_s());
	return 0;
}
