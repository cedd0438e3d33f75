/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User stacks without frame pointers in programs of the language: the unwinder of src/bpf as a
 * function after the program, and its tables. Costs nothing unless a program takes user stacks.
 */
#ifndef LANG_UNWINDER_H
#define LANG_UNWINDER_H

#include "base/err.h"
#include "bpf/unwind_abi.h"
#include "lang/gen/func_btf.h"
#include "lang/gen/ir.h"
#include "symbol/symbol.h"

struct unwinder;

/*
 * Makes the maps and the code, which keeps stacks in the map @stacks (struct lang_stack by hash);
 * -EOPNOTSUPP and others: not here.
 */
int unwinder_new(int stacks, bool walk_always, struct unwinder **ret, struct err *e);
void unwinder_free(struct unwinder *u);

/*
 * Appends the code to a program: @insns are the program's, whose calls of functions all mean the
 * unwinder. Says which functions follow in @funcs.
 */
void unwinder_link(const struct unwinder *u, bpf_insns *insns, func_types *funcs);

/* Tables beforehand: of a file that will run, of a process, of everything that runs (0). */
void unwinder_file(struct unwinder *u, const char *path);
/* A process has mapped a file. */
void unwinder_mapped(struct unwinder *u, const struct module_key *key);
void unwinder_process(struct unwinder *u, u32 pid);
/* Readable when the kernel asks for tables; unwinder_serve() gives them. */
int unwinder_fd(const struct unwinder *u);
void unwinder_serve(struct unwinder *u);
/* The file of a place, see unwind_place(); NULL: none. */
const struct numbered_file *unwinder_place(const struct unwinder *u, u64 place, u64 *ret_offset);
/* How many stacks ended in each way, and how many were recognised. */
void unwinder_counts(const struct unwinder *u, struct unwind_counts *ret);

#endif
