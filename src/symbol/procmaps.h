/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file lies where in which process, also of processes that are gone: the kernel tells of
 * every mapping while we watch, and what ran before is read from /proc.
 */
#ifndef SYMBOL_PROCMAPS_H
#define SYMBOL_PROCMAPS_H

#include "symbol/symbol.h"

struct procmaps;

/* @symbols stays the caller's. */
struct procmaps *procmaps_new(struct symbols *symbols);
void procmaps_free(struct procmaps *m);
/* Gets every new mapping of code, at once. */
struct procmaps_listener {
	void (*mapped)(void *ctx, const struct module_key *key);
	void *ctx;
};

/*
 * Begins to watch. Without privilege only /proc is there, when it is asked. With a @listener, which
 * is copied, procmaps_fd() is readable at once, otherwise when there is much to read.
 */
void procmaps_watch(struct procmaps *m, const struct procmaps_listener *listener);
/* Readable when procmaps_drain() should be called; -1: never. */
int procmaps_fd(const struct procmaps *m);
void procmaps_drain(struct procmaps *m);
/* Addresses that belong to no file that is known, since processes that ended had to be forgotten.
 */
u64 procmaps_unknown(const struct procmaps *m);
/* The file and the offset in it. */
bool procmaps_find(struct procmaps *m, u32 pid, u64 address, u32 *ret_module, u64 *ret_offset);

#endif
