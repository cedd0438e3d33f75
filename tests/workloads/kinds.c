/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds disk|fault|network|lock|pipe|sleep|poll|epoll|child|vfork [--seconds S] [--file F]
 *
 * Waits for S seconds (1) for one kind of thing: reads of the file F past the cache, pages of it
 * that are not in memory, a socket, a futex, a pipe, a timer, poll(2), epoll(7), a child. Prints
 * how much of that it was not on a CPU nor waiting for one, by the kernel's counts.
 */
#include "workload.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { BLOCK = 1 << 16, FILE_MOST = 1 << 28 };

struct job {
	double seconds;
	const char *file;
};

static int open_file(const struct job *job, int flags, off_t *ret_size)
{
	int fd = open(job->file ? job->file : "", O_RDONLY | O_CLOEXEC | flags);

	if (fd < 0)
		die("cannot open '%s': %s", job->file ? job->file : "", strerror(errno));
	*ret_size = lseek(fd, 0, SEEK_END);
	if (*ret_size < BLOCK || *ret_size > FILE_MOST)
		die("'%s' has no fitting size", job->file);
	return fd;
}

static OWN_FRAME void wait_for_disk(const struct job *job)
{
	off_t size, at = 0;
	int fd = open_file(job, O_DIRECT, &size);
	double end = wall_s() + job->seconds;
	void *block;

	if (posix_memalign(&block, 4096, BLOCK))
		die("no memory");
	while (wall_s() < end) {
		if (pread(fd, block, BLOCK, at) < 0)
			die("cannot read: %s", strerror(errno));
		at = at + 2 * BLOCK < size ? at + BLOCK : 0;
	}
}

static OWN_FRAME void wait_for_pages(const struct job *job)
{
	off_t size;
	int fd = open_file(job, 0, &size);
	double end = wall_s() + job->seconds;

	while (wall_s() < end) {
		if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			die("the file stays in memory");
		volatile char *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED)
			die("cannot map: %s", strerror(errno));
		/* no reading ahead */
		madvise((void *)map, (size_t)size, MADV_RANDOM);
		for (off_t i = 0; i < size && wall_s() < end; i += BLOCK)
			(void)map[i];
		munmap((void *)map, (size_t)size);
	}
}

static OWN_FRAME void wait_for_network(const struct job *job)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct timeval t = {
		.tv_sec = (time_t)job->seconds,
		.tv_usec = (suseconds_t)((job->seconds - (double)(time_t)job->seconds) * 1e6),
	};
	char byte;

	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)))
		die("cannot make a socket: %s", strerror(errno));
	(void)!recv(s, &byte, 1, 0);
}

static OWN_FRAME void wait_for_lock(const struct job *job)
{
	struct timespec t = {
		.tv_sec = (time_t)job->seconds,
		.tv_nsec = (long)((job->seconds - (double)(time_t)job->seconds) * 1e9),
	};
	uint32_t word = 0;

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0);
}

static void child_sleeps(const struct job *job)
{
	sleep_s(job->seconds);
	_exit(0);
}

static OWN_FRAME void wait_for_pipe(const struct job *job)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		die("cannot make a pipe");
	if (fork() == 0)
		child_sleeps(job);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		die("there is something in the pipe");
}

static OWN_FRAME void wait_for_timer(const struct job *job)
{
	sleep_s(job->seconds);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME void wait_in_poll(const struct job *job)
{
	struct pollfd fds = { .fd = -1 };

	poll(&fds, 1, (int)(job->seconds * 1000));
}

static OWN_FRAME void wait_in_epoll(const struct job *job)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	epoll_wait(fd, &event, 1, (int)(job->seconds * 1000));
	close(fd);
}

static OWN_FRAME void wait_for_child(const struct job *job)
{
	if (fork() == 0)
		child_sleeps(job);
	wait(NULL);
}

static OWN_FRAME void wait_for_vfork(const struct job *job)
{
	struct timespec t = { .tv_sec = (time_t)job->seconds };

	/* the child has its parent's memory: system calls only */
	if (syscall(SYS_vfork) == 0) {
		syscall(SYS_nanosleep, &t, NULL);
		syscall(SYS_exit, 0);
	}
}

static const struct {
	const char *name;
	void (*run)(const struct job *job);
} kinds[] = {
	{ "disk", wait_for_disk },   { "fault", wait_for_pages }, { "network", wait_for_network },
	{ "lock", wait_for_lock },   { "pipe", wait_for_pipe },   { "sleep", wait_for_timer },
	{ "poll", wait_in_poll },    { "epoll", wait_in_epoll },  { "child", wait_for_child },
	{ "vfork", wait_for_vfork },
};

int main(int argc, char **argv)
{
	struct job job = { .seconds = 1 };
	double begun, ran, wall, delay;
	struct rusage ru;
	size_t kind = sizeof(kinds) / sizeof(kinds[0]);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], kinds[i].name))
			kind = i;
	}
	if (kind == sizeof(kinds) / sizeof(kinds[0]))
		die("usage: kinds KIND [--seconds S] [--file F]");
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			job.seconds = option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--file") && i + 1 < argc)
			job.file = argv[++i];
		else
			die("kinds: unknown option '%s'", argv[i]);
	}
	begun = wall_s();
	ran = thread_cpu_s();
	delay = thread_delay_s();
	kinds[kind].run(&job);
	wall = wall_s() - begun;
	ran = thread_cpu_s() - ran;
	delay = thread_delay_s() - delay;
	getrusage(RUSAGE_SELF, &ru);
	printf("pid=%d\nwall=%.4f\nran=%.4f\ndelay=%.4f\nblocked=%.4f\nmajor=%ld\n", (int)getpid(),
	       wall, ran, delay, wall - ran - delay, ru.ru_majflt);
	return 0;
}
