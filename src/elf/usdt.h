/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static tracepoints of a program (USDT): notes of the section .note.stapsdt. */
#ifndef ELF_USDT_H
#define ELF_USDT_H

#include "base/arena.h"
#include "base/vec.h"
#include "elf/elf.h"

struct usdt_site {
	const char *provider;
	const char *name;
	const char *args;
	u64 offset;    /* in the file */
	u64 semaphore; /* in the file; 0: none */
};

typedef VEC(struct usdt_site) usdt_sites;

/* Strings live in @arena. */
int elf_list_usdt(const struct elf *elf, struct arena *arena, usdt_sites *ret, struct err *e);

#endif
