/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel itself, asked for the function at an address: a program of a few instructions prints
 * one with %pS. A microsecond each, where reading /proc/kallsyms takes 60 ms for all of them.
 */
#ifndef SYMBOL_ASK_H
#define SYMBOL_ASK_H

#include "base/err.h"

enum {
	ASK_TEXT = 1024, /* KSYM_NAME_LEN is 512, offset, size and module follow */
	ASK_NAME = 64,   /* of a function requested, with its NUL */
};

struct ask_answer {
	u64 start;
	u64 size;
	char name[ASK_TEXT];
	char module[64]; /* "" in the kernel itself, else "ext4", "bpf" */
};

struct ask;

/* Needs CAP_BPF and CAP_PERFMON, and Linux 5.14. */
int ask_new(struct ask **ret);
void ask_free(struct ask *a);
/* False when the kernel knows no function there. */
bool ask_address(struct ask *a, u64 address, struct ask_answer *ret);
/* Where a function of this name (shorter than ASK_NAME) is; 0: not known. */
u64 ask_name(struct ask *a, const char *name);

/* From where to where functions are, in one go; 0: not known. */
struct ask_range {
	u64 begin;
	u64 end;
};
void ask_ranges(const char *const *names, size_t n, struct ask_range *ret);
/* "name+0x12/0x340 [module]", as %pS prints it; false when it is not such text. */
bool ask_parse(const char *text, u64 address, struct ask_answer *ret);

#endif
