/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event names that perf builds in: hardware, software and cache events. */
#ifndef CAPTURE_NAMES_H
#define CAPTURE_NAMES_H

#include "base/base.h"

struct event_name {
	const char *name;
	const char *alias; /* or NULL */
	u32 type;          /* PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE */
	u64 config;
	const char *help;
};

/* Ends with a name of NULL. */
const struct event_name *event_names(void);
const struct event_name *event_name_find(const char *s, size_t n);

/* "L1-dcache-load-misses" and its aliases to a PERF_TYPE_HW_CACHE config; false: not one. */
bool cache_name_find(const char *s, size_t n, u64 *ret_config);

enum { CACHE_COUNT = 7, CACHE_OP_COUNT = 3, CACHE_RESULT_COUNT = 2, CACHE_NAME_MOST = 64 };
/* perf's spelling of a combination that means something; false: no such event exists. */
bool cache_name_make(u32 cache, u32 op, u32 result, char ret[static CACHE_NAME_MOST]);

#endif
