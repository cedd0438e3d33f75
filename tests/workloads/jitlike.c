/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitlike [--seconds S] [--keep-map] [--no-map]
 *
 * Burns S seconds (2) of CPU time in code made at run time: 70 % in jit_hot and 30 % in jit_warm,
 * in an anonymous executable mapping with frame pointers, and names them in /tmp/perf-PID.map. The
 * map is removed at the end unless it shall be kept. x86-64 only (ends with 77 elsewhere).
 */
#include "workload.h"

#include <sys/mman.h>

#define CODE_BYTES 4096
#define SLICE_S    0.001

typedef void (*jit_fn)(uint64_t turns);

struct jit {
	const char *name;
	size_t offset;
	double share, spent;
};

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };

static char *emit(const struct jit *functions, size_t count)
{
	char *memory =
		mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("cannot map memory");
	memset(memory, 0xcc, CODE_BYTES);
	for (size_t i = 0; i < count; i++)
		memcpy(memory + functions[i].offset, code, sizeof(code));
	if (mprotect(memory, CODE_BYTES, PROT_READ | PROT_EXEC))
		die("cannot make memory executable: %s", strerror(errno));
	return memory;
}

static void write_map(const char *path, const char *memory, const struct jit *functions, size_t n)
{
	FILE *f = fopen(path, "we");

	if (!f)
		die("cannot open '%s': %s", path, strerror(errno));
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%zx %zx %s\n", (size_t)(uintptr_t)memory + functions[i].offset,
			sizeof(code), functions[i].name);
	fclose(f);
}

static uint64_t calibrate(jit_fn fn)
{
	uint64_t turns = 1 << 12;

	for (;; turns *= 2) {
		double begun = thread_cpu_s();

		fn(turns);
		double took = thread_cpu_s() - begun;

		if (took > SLICE_S)
			return (uint64_t)((double)turns * SLICE_S / took) + 1;
	}
}

static OWN_FRAME double work(const char *memory, struct jit *functions, double seconds)
{
	uint64_t turns = calibrate((jit_fn)(uintptr_t)(memory + functions[0].offset));
	double last = thread_cpu_s(), total = 0;

	while (total < seconds) {
		double after = functions[0].share * (total + SLICE_S) - functions[0].spent;
		struct jit *fn = &functions[after < 0.5 * SLICE_S];

		((jit_fn)(uintptr_t)(memory + fn->offset))(turns);
		double now = thread_cpu_s();

		fn->spent += now - last;
		total += now - last;
		last = now;
	}
	return total;
}

int main(int argc, char **argv)
{
	struct jit functions[] = { { "jit_hot", 0, 0.7, 0 }, { "jit_warm", 512, 0.3, 0 } };
	bool keep = false, map = true;
	double seconds = 2;
	char path[64];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			seconds = option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--keep-map"))
			keep = true;
		else if (!strcmp(argv[i], "--no-map"))
			map = false;
		else
			die("usage: jitlike [--seconds S] [--keep-map] [--no-map]");
	}
#ifndef __x86_64__
	return 77;
#endif
	const char *memory = emit(functions, 2);

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (map)
		write_map(path, memory, functions, 2);
	double total = work(memory, functions, seconds);

	printf("pid=%d\ncpu=%.4f\nshare.jit_hot=%.4f\nshare.jit_warm=%.4f\n", (int)getpid(), total,
	       functions[0].spent / total, functions[1].spent / total);
	if (map && !keep)
		unlink(path);
	return 0;
}
