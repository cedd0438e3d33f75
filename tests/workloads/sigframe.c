/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sigframe [--seconds S] [--same-stack]
 *
 * Burns S seconds (1) of CPU time inside a signal handler, on an alternate stack by default
 * otherwise: main -> work -> interrupted -> (signal) -> handler -> burn_in_handler. The signal is a
 * trap at an instruction of interrupted itself, so no libc frame is between.
 */
#include "workload.h"

#include <signal.h>
#include <sys/mman.h>

#define STACK_BYTES (256 * 1024)

static double wanted_s = 1, burnt_s;
static volatile sig_atomic_t on_alternate;
static char *stack;

static OWN_FRAME double burn_in_handler(double seconds)
{
	double begun = thread_cpu_s(), spent = 0;

	while (spent < seconds) {
		spin(100000);
		spent = thread_cpu_s() - begun;
	}
	return spent;
}

static OWN_FRAME void handler(int sig, siginfo_t *info, void *context)
{
	char here;

	(void)sig;
	(void)info;
	(void)context;
	on_alternate = &here >= stack && &here < stack + STACK_BYTES;
	burnt_s += burn_in_handler(wanted_s);
}

static OWN_FRAME void interrupted(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("int3" ::: "memory");
#else
	raise(SIGTRAP);
#endif
}

static OWN_FRAME void work(void)
{
	interrupted();
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds"))
			wanted_s = option_value(argv, &i, 0, 1e6);
		else if (!strcmp(argv[i], "--same-stack"))
			action.sa_flags &= ~SA_ONSTACK;
		else
			die("usage: sigframe [--seconds S] [--same-stack]");
	}
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		die("cannot map a stack");
	const stack_t alternate = { .ss_sp = stack, .ss_size = STACK_BYTES };

	if (sigaltstack(&alternate, NULL) || sigaction(SIGTRAP, &action, NULL))
		die("cannot set the handler: %s", strerror(errno));
	work();
	printf("pid=%d\nhandler_cpu=%.4f\nalternate_stack=%d\nprocess_cpu=%.4f\n", (int)getpid(),
	       burnt_s, (int)on_alternate, process_cpu_s());
	return 0;
}
