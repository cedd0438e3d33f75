/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who made a system call: user stacks, walked in the kernel when calls begin, without frame
 * pointers. A program of its own does that, which is loaded only where stacks are requested.
 */
#ifndef SYSCALLS_STACKS_H
#define SYSCALLS_STACKS_H

#include "base/buf.h"
#include "base/err.h"
#include "bpf/lang_abi.h"

struct call_stacks;

/* @pending: the map of calls that were begun. Nothing is attached yet. */
int call_stacks_new(struct call_stacks **ret, int pending, struct err *e);
/* Takes NULL, as those below do. */
void call_stacks_free(struct call_stacks *s);
/* After the program at the begin of calls. */
int call_stacks_attach(struct call_stacks *s, struct err *e);
void call_stacks_detach(struct call_stacks *s);

/* Tables beforehand: of a program and its libraries; of a process, of all that run (0). */
void call_stacks_program(struct call_stacks *s, const char *path);
void call_stacks_process(struct call_stacks *s, u32 pid);

enum { CALL_STACKS_FDS = 2 };
/* Readable when call_stacks_serve() has to be called soon; -1: unused. */
void call_stacks_fds(const struct call_stacks *s, int ret[CALL_STACKS_FDS]);
void call_stacks_serve(struct call_stacks *s);

/* The addresses of a stack, innermost first; 0: it has none, or it was not kept. */
size_t call_stacks_get(struct call_stacks *s, u64 id, u64 frames[LANG_STACK_FRAMES]);
/* "write+0x14 (libc.so.6)"; @back: 1 for all frames but the innermost. */
void call_stacks_frame(struct call_stacks *s, u32 pid, u64 address, u32 back, struct buf *out);
/* "main;emit;write", outermost first. */
void call_stacks_folded(struct call_stacks *s, u32 pid, u64 id, struct buf *out);

struct call_stacks_ends {
	u64 complete;
	u64 no_table; /* the table of a file came too late */
	u64 cut;      /* the code does not say how to continue */
	u64 refused;  /* not taken or not kept: no room */
};

void call_stacks_ends(const struct call_stacks *s, struct call_stacks_ends *ret);

#endif
