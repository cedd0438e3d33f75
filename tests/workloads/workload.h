/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the workloads share. A workload does one known thing and prints the truth about it as
 * lines "name=value": times in seconds, measured by the workload itself.
 */
#ifndef FATHOM_TESTS_WORKLOAD_H
#define FATHOM_TESTS_WORKLOAD_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A function that keeps its name and its frame: not inlined, cloned, or merged with a twin. */
#ifdef __clang__
#define OWN_FRAME __attribute__((noinline, used))
#else
#define OWN_FRAME __attribute__((noipa, used))
#endif

#define UNUSED __attribute__((unused))

static UNUSED void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static UNUSED double clock_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static UNUSED double wall_s(void)
{
	return clock_s(CLOCK_MONOTONIC);
}

static UNUSED double thread_cpu_s(void)
{
	return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

/* How long this thread has waited for a CPU, as the kernel counts it; 0: it does not. */
static UNUSED double thread_delay_s(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran, delay;
	bool known = f && fscanf(f, "%llu %llu", &ran, &delay) == 2;

	if (f)
		fclose(f);
	return known ? (double)delay / 1e9 : 0;
}

static UNUSED double process_cpu_s(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

/* From here on this thread runs on that CPU only. */
static UNUSED void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot run on CPU %d: %s", cpu, strerror(errno));
}

/* The first that it may run on. */
static UNUSED int first_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("cannot read the CPU set: %s", strerror(errno));
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

static UNUSED void sleep_s(double seconds)
{
	struct timespec ts = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/* A few nanoseconds a turn, whatever the compiler thinks of it. */
static inline void spin(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" ::: "memory");
}

static UNUSED double parse_number(const char *what, const char *text, double low, double high)
{
	char *end;

	if (!text)
		die("%s needs a value", what);
	errno = 0;
	double value = strtod(text, &end);

	if (errno || end == text || *end || !(value >= low && value <= high))
		die("%s: '%s' is not a number from %g to %g", what, text, low, high);
	return value;
}

/* The number after the option at @argv[*@at], which is moved on to it. */
static UNUSED double option_value(char *const *argv, int *at, double low, double high)
{
	const char *option = argv[*at];

	*at += 1;
	return parse_number(option, argv[*at], low, high);
}

static UNUSED pthread_t start_thread(const char *name, void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg))
		die("cannot start thread '%s'", name);
	pthread_setname_np(thread, name);
	return thread;
}

#endif
