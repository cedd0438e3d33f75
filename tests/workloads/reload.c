/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reload turns|fork [--count N] [--us U] A.so B.so
 *
 * Waits in code that other code takes the place of. "turns": loads a plug-in, calls its plug(us),
 * which waits once, unloads it and does the same with the other one, N times (100) each. "fork":
 * two children load one plug-in each, at the same time, and wait N times each. Prints how often
 * each was called, and how many turns found the plug-in at another address than the first one.
 */
#include "workload.h"

#include <dlfcn.h>
#include <sys/wait.h>

typedef void (*plug_fn)(long us);

static long us = 500;
static unsigned int count = 100;

static plug_fn open_plug(const char *path, void **ret)
{
	*ret = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*ret)
		die("%s", dlerror());
	void *at = dlsym(*ret, "plug");

	if (!at)
		die("%s", dlerror());
	return (plug_fn)(uintptr_t)at;
}

static OWN_FRAME void call(plug_fn fn)
{
	fn(us);
	__asm__ volatile("" ::: "memory");
}

static void take_turns(char *const *paths)
{
	plug_fn first = NULL;
	unsigned int moved = 0;

	for (unsigned int i = 0; i < 2 * count; i++) {
		void *handle;
		plug_fn fn = open_plug(paths[i % 2], &handle);

		if (!first)
			first = fn;
		moved += fn != first;
		call(fn);
		dlclose(handle);
	}
	printf("a=%u\nb=%u\nmoved=%u\n", count, count, moved);
}

static void wait_often(const char *path)
{
	void *handle;
	plug_fn fn = open_plug(path, &handle);

	for (unsigned int i = 0; i < count; i++)
		call(fn);
	_exit(0);
}

static void fork_siblings(char *const *paths)
{
	pid_t pids[2];

	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("cannot fork: %s", strerror(errno));
		if (!pids[i])
			wait_often(paths[i]);
	}
	for (int i = 0; i < 2; i++)
		waitpid(pids[i], NULL, 0);
	printf("a=%u\nb=%u\nmoved=0\n", count, count);
}

int main(int argc, char **argv)
{
	int at = 2;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (strcmp(argv[at], "--count") == 0)
			count = (unsigned int)option_value(argv, &at, 1, 1e6);
		else if (strcmp(argv[at], "--us") == 0)
			us = (long)option_value(argv, &at, 1, 1e6);
		else
			die("unknown option '%s'", argv[at]);
	}
	if (argc - at != 2)
		die("usage: reload turns|fork [--count N] [--us U] A.so B.so");
	run_on(first_cpu());
	if (strcmp(argv[1], "turns") == 0)
		take_turns(argv + at);
	else if (strcmp(argv[1], "fork") == 0)
		fork_siblings(argv + at);
	else
		die("unknown mode '%s'", argv[1]);
	return 0;
}
