/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alloc [--count N] [--leak L] [--mb M] [--pause S]
 *
 * Allocates and frees N blocks (10000) of 64 bytes in make_small, keeps L blocks (100) of 1000
 * bytes from make_leak forever, and touches M MB (16) of fresh pages in touch_pages. With a pause
 * it waits S seconds before it begins. Prints the calls and the page faults that the kernel
 * counted.
 */
#include "workload.h"

#include <sys/mman.h>

#define SMALL_BYTES 64
#define LEAK_BYTES  1000

static void *volatile kept;

static OWN_FRAME void *make_small(void)
{
	void *p = malloc(SMALL_BYTES);

	__asm__ volatile("" : "+r"(p)::"memory");
	return p;
}

static OWN_FRAME void *make_leak(void)
{
	void **p = malloc(LEAK_BYTES);

	if (p)
		*p = kept; /* a chain, so that no leak checker calls it lost */
	kept = p;
	return p;
}

static OWN_FRAME long touch_pages(size_t bytes)
{
	struct rusage before, after;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("cannot map memory");
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_THREAD, &before);
	for (size_t i = 0; i < bytes; i += page)
		((volatile char *)memory)[i] = 1;
	getrusage(RUSAGE_THREAD, &after);
	munmap(memory, bytes);
	return after.ru_minflt - before.ru_minflt;
}

int main(int argc, char **argv)
{
	unsigned int count = 10000, leak = 100, mb = 16;
	double pause_s = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--count"))
			count = (unsigned int)option_value(argv, &i, 0, 1e8);
		else if (!strcmp(argv[i], "--leak"))
			leak = (unsigned int)option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--mb"))
			mb = (unsigned int)option_value(argv, &i, 1, 1024);
		else if (!strcmp(argv[i], "--pause"))
			pause_s = option_value(argv, &i, 0, 3600);
		else
			die("usage: alloc [--count N] [--leak L] [--mb M] [--pause S]");
	}
	if (pause_s > 0)
		sleep_s(pause_s);
	for (unsigned int i = 0; i < count; i++)
		free(make_small());
	for (unsigned int i = 0; i < leak; i++)
		make_leak();
	long faults = touch_pages((size_t)mb << 20);

	printf("pid=%d\nsmall=%u\nsmall_bytes=%u\nleaked=%u\nleaked_bytes=%u\n", (int)getpid(),
	       count, SMALL_BYTES, leak, leak * LEAK_BYTES);
	printf("pages=%lu\nfaults=%ld\n", ((unsigned long)mb << 20) / (size_t)sysconf(_SC_PAGESIZE),
	       faults);
	return 0;
}
