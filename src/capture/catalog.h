/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every event that can be named here, one after the other. */
#ifndef CAPTURE_CATALOG_H
#define CAPTURE_CATALOG_H

#include "base/err.h"

enum catalog_kind {
	CATALOG_HARDWARE,
	CATALOG_SOFTWARE,
	CATALOG_CACHE,
	CATALOG_PMU,
	CATALOG_TRACEPOINT,
	CATALOG_VENDOR, /* libpfm4's names for this CPU */
	CATALOG_OTHER,  /* forms: rNNN, mem:ADDR */
	CATALOG_FIELD,  /* of the tracepoint before it: "sched:sched_switch.prev_pid" */
};

struct catalog_entry {
	enum catalog_kind kind;
	const char *name;
	const char *alias;       /* or NULL */
	const char *encoding;    /* "type=1 config=0x2", or NULL */
	const char *description; /* or NULL */
};

struct catalog_query {
	bool all;     /* also what the kernel refuses to open */
	bool details; /* fields of tracepoints, unit masks of vendor events as entries */
	/* Decides by name before anything costly is read; NULL: all. */
	bool (*wanted)(void *ctx, enum catalog_kind kind, const char *name, const char *alias);
	void (*entry)(void *ctx, const struct catalog_entry *entry);
	void *ctx;
};

/* "hardware", "software" ... */
const char *catalog_kind_name(enum catalog_kind kind);
/* Kinds in the order of the enum, names in order within. A part that cannot be read (no tracefs)
 * is skipped and its reason is left in @e while the return stays 0. */
int catalog_walk(const struct catalog_query *q, struct err *e);

#endif
