/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contexts [--count N] [--us U]
 *
 * Waits N times (100) in each of several places that are reached in uncommon ways: in two contexts
 * of swapcontext() that share one stack in turn (context_a, context_b), in a handler on a stack of
 * its own (signal_nap), in functions that are left by longjmp (jump_a, jump_b), in code that is
 * patched in place so that the same address calls another function (patch_a, patch_b), and in
 * vfork() with the same address in other registers (vfork_a, vfork_b). Prints how often each.
 */
#include "workload.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

static long us = 500;
static unsigned int count = 100;

static OWN_FRAME void nap(void)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
	__asm__ volatile("" ::: "memory");
}

#define NAPPER(name)                               \
	static OWN_FRAME void name(void)           \
	{                                          \
		nap();                             \
		__asm__ volatile("" ::: "memory"); \
	}

NAPPER(context_a)
NAPPER(context_b)
NAPPER(signal_nap)
NAPPER(jump_a_naps)
NAPPER(jump_b_naps)
NAPPER(patch_a)
NAPPER(patch_b)

/* --- two contexts on one stack, by turns -------------------------------------------------------
 */

static ucontext_t home, other;

static void take_contexts(void)
{
	static char stack[64 << 10];

	for (unsigned int i = 0; i < 2 * count; i++) {
		getcontext(&other);
		other.uc_stack.ss_sp = stack;
		other.uc_stack.ss_size = sizeof(stack);
		other.uc_link = &home;
		makecontext(&other, i % 2 ? context_b : context_a, 0);
		swapcontext(&home, &other);
	}
}

/* --- a signal handler on its own stack ----------------------------------------------------------
 */

static void on_signal(int sig)
{
	(void)sig;
	signal_nap();
	__asm__ volatile("" ::: "memory");
}

static void take_signals(void)
{
	static char stack[64 << 10];
	const stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	if (sigaltstack(&alt, NULL) || sigaction(SIGUSR1, &act, NULL))
		die("cannot handle signals: %s", strerror(errno));
	for (unsigned int i = 0; i < count; i++)
		raise(SIGUSR1);
}

/* --- functions that never return ----------------------------------------------------------------
 */

static jmp_buf back;

static OWN_FRAME void jump_a(void)
{
	jump_a_naps();
	longjmp(back, 1);
}

static OWN_FRAME void jump_b(void)
{
	jump_b_naps();
	longjmp(back, 1);
}

static void take_jumps(void)
{
	for (volatile unsigned int i = 0; i < 2 * count; i++) {
		if (setjmp(back))
			continue;
		if (i % 2)
			jump_b();
		else
			jump_a();
	}
}

/* --- code that changes under its address --------------------------------------------------------
 */

/* push %rbp; mov %rsp,%rbp; movabs $fn,%rax; call *%rax; pop %rbp; ret */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,    0,    0,
				0,    0,    0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3 };

static void take_patches(void)
{
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("cannot map memory: %s", strerror(errno));
	memcpy(at, code, sizeof(code));
	for (unsigned int i = 0; i < 2 * count; i++) {
		void (*fn)(void) = i % 2 ? patch_b : patch_a;

		memcpy(at + 6, &fn, sizeof(fn));
		((void (*)(void))(uintptr_t)at)();
	}
}

/* --- vfork: the return address is in a register -------------------------------------------------
 */

/*
 * r15 holds what vfork_a returns to, in both: vfork() itself keeps its return address in rdi alone
 * while the child runs, and it is not to be guessed from another register.
 */
#define VFORK(name, address)                                                       \
	__asm__(".text\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n"  \
		"push %r15\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r15, 0\n"   \
		"lea " address "(%rip), %r15\n"                                    \
		"call vfork@PLT\n" #name "_returns:\n"                             \
		"test %eax, %eax\njnz 1f\n"                                        \
		"call vfork_child\n"                                               \
		"1: pop %r15\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r15\nret\n" \
		".cfi_endproc\n.size " #name ", . - " #name "\n")

__attribute__((used, noreturn)) void vfork_child(void);
void vfork_child(void)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
	_exit(0);
}

void vfork_a(void);
void vfork_b(void);
VFORK(vfork_a, "vfork_a_returns");
VFORK(vfork_b, "vfork_a_returns");

/* In processes that are new each time. */
static void take_vforks(void)
{
	for (unsigned int i = 0; i < 2 * count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork: %s", strerror(errno));
		if (!pid) {
			if (i % 2)
				vfork_b();
			else
				vfork_a();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static const char *const places[] = { "context_a",   "context_b",   "signal_nap",
					      "jump_a_naps", "jump_b_naps", "patch_a",
					      "patch_b",     "vfork_a",     "vfork_b" };

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--count") == 0)
			count = (unsigned int)option_value(argv, &i, 1, 1e6);
		else if (strcmp(argv[i], "--us") == 0)
			us = (long)option_value(argv, &i, 1, 1e6);
		else
			die("usage: contexts [--count N] [--us U]");
	}
	run_on(first_cpu());
	take_contexts();
	take_signals();
	take_jumps();
	take_patches();
	take_vforks();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		printf("%s=%u\n", places[i], count);
	return 0;
}
