/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What depends on the CPU: registers and conventions. One file per CPU implements it. */
#ifndef HOST_CPU_H
#define HOST_CPU_H

#include "base/base.h"

enum { CPU_MAX_SYSCALL = 512 };

/* Offset in pt_regs of a register by name ("ax", "rax"); -1. */
int cpu_register(const char *name);
/* Offset of argument @n of a function, -1 when it is not in a register. */
int cpu_argument(u32 n);
/* Offset of argument @n of a system call at its entry; -1. */
int cpu_syscall_argument(u32 n);
/*
 * The prefix of the functions through which system calls are entered: their only argument points
 * to the registers of the call.
 */
const char *cpu_syscall_wrapper(void);
/* Offset of the result of a function. */
int cpu_result(void);
int cpu_stack_pointer(void);
int cpu_ip(void);
/* Bytes of the instruction there, of at most @n; -1: not known. */
int cpu_instruction(const u8 *code, size_t n);
/*
 * How far into a function a probe can be moved so that the kernel need not single-step what it
 * replaces, which costs 15 us instead of 0.7: past a landing pad and a test of the first argument
 * for zero. The stack and the arguments are still those of the entry; calls with 0 are not seen.
 */
size_t cpu_cheap_entry(const u8 *code, size_t n);
/* Name of a system call without prefix; NULL when there is none. */
const char *cpu_syscall_name(u32 number);
/* Number of the one with that name; -1. */
int cpu_syscall_number(const char *name);

#endif
