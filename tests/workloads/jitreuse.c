/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitreuse [--count N] [--us U] [--burn] [--map | --slow-map]
 *
 * Makes a function at run time, calls it, and makes another one at the same address, by turns:
 * jit_a and jit_b, N times (100) each, named by a jitdump (/tmp/jit-PID.dump, removed at the end
 * only by the caller), or with --map by a perf map (/tmp/perf-PID.map, likewise). With --slow-map
 * all calls of jit_a come first, those of jit_b after two seconds, and 2 seconds later as many
 * again. Each call sleeps for U microseconds (500), or burns them with --burn. Prints how often
 * each was called. x86-64 only.
 */
#include "workload.h"

#include <fcntl.h>
#include <sys/mman.h>

struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

struct dump_load {
	uint32_t id, total_size;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

static long us = 500;
static bool burn, with_map, slowly;

/* push %rbp; mov %rsp,%rbp; movabs $fn,%rax; call *%rax; pop %rbp; ret */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,    0,    0,
				0,    0,    0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static OWN_FRAME void nap(void)
{
	struct timespec ts = { .tv_nsec = us * 1000 };
	uint64_t until = now_ns() + (uint64_t)us * 1000;

	if (burn) {
		while (now_ns() < until)
			spin(1000);
	} else {
		nanosleep(&ts, NULL);
	}
	__asm__ volatile("" ::: "memory");
}

static int open_dump(void)
{
	const struct dump_header h = { .magic = 0x4a695444,
				       .version = 1,
				       .total_size = sizeof(h),
				       .elf_mach = 62,
				       .pid = (uint32_t)getpid(),
				       .timestamp = now_ns() };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, &h, sizeof(h)) != sizeof(h))
		die("cannot write '%s'", path);
	/* by this mapping profilers know of it */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die("cannot map '%s'", path);
	return fd;
}

static FILE *open_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "we");

	if (!f)
		die("cannot write '%s'", path);
	return f;
}

static void tell_map(FILE *map, const char *name, const uint8_t *at)
{
	fprintf(map, "%llx %zx %s\n", (unsigned long long)(uintptr_t)at, sizeof(code), name);
	fflush(map);
}

static void tell(int fd, const char *name, const uint8_t *at, uint64_t index)
{
	struct dump_load l = { .total_size =
				       (uint32_t)(sizeof(l) + strlen(name) + 1 + sizeof(code)),
			       .timestamp = now_ns(),
			       .pid = (uint32_t)getpid(),
			       .tid = (uint32_t)getpid(),
			       .vma = (uint64_t)(uintptr_t)at,
			       .code_addr = (uint64_t)(uintptr_t)at,
			       .code_size = sizeof(code),
			       .code_index = index };

	if (write(fd, &l, sizeof(l)) < 0 || write(fd, name, strlen(name) + 1) < 0 ||
	    write(fd, at, sizeof(code)) < 0)
		die("cannot write the dump");
}

int main(int argc, char **argv)
{
	unsigned int count = 100;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--count") == 0)
			count = (unsigned int)option_value(argv, &i, 1, 1e6);
		else if (strcmp(argv[i], "--us") == 0)
			us = (long)option_value(argv, &i, 1, 1e6);
		else if (strcmp(argv[i], "--burn") == 0)
			burn = true;
		else if (strcmp(argv[i], "--map") == 0)
			with_map = true;
		else if (strcmp(argv[i], "--slow-map") == 0)
			with_map = slowly = true;
		else
			die("usage: jitreuse [--count N] [--us U] [--burn] [--map | --slow-map]");
	}
	int fd = with_map ? -1 : open_dump();
	FILE *map = with_map ? open_map() : NULL;
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("cannot map memory: %s", strerror(errno));
	for (unsigned int i = 0; i < (slowly ? 3 : 2) * count; i++) {
		const char *name = (slowly ? i >= count : i % 2) ? "jit_b" : "jit_a";
		void (*fn)(void) = nap;

		if (slowly && i && i % count == 0)
			sleep(2);
		memcpy(at, code, sizeof(code));
		memcpy(at + 6, &fn, sizeof(fn));
		if (map && (!slowly || i == 0 || i == count))
			tell_map(map, name, at);
		else if (!map)
			tell(fd, name, at, i);
		((void (*)(void))(uintptr_t)at)();
	}
	printf("a=%u\nb=%u\npid=%d\n", count, slowly ? 2 * count : count, getpid());
	return 0;
}
