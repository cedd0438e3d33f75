/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening files that others name: never blocks on a FIFO, never leaves the given root. */
#ifndef SYMBOL_OPEN_H
#define SYMBOL_OPEN_H

#include "base/base.h"

struct module_key;

/* The ways to a module's file, tried in turn. */
enum module_way {
	WAY_MAPPING, /* /proc/PID/map_files: right even if the file is deleted or not visible */
	WAY_PROCESS, /* its path in the process's root */
	WAY_PATH,    /* its path here */
	WAY_PERF,    /* what perf kept of it, by its build id */
	WAY_COUNT,
};

/*
 * What 'perf record' keeps in ~/.debug of each file that it met: @name is elf, vdso or kallsyms.
 */
int perf_kept_open(const u8 *build_id, size_t len, const char *name);

/* -ENOENT also for ways that do not apply. */
int module_open(const struct module_key *key, enum module_way way);

#endif
