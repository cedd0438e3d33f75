/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the machine for a recording. */
#ifndef RECORDER_COUNTERS_H
#define RECORDER_COUNTERS_H

#include "base/buf.h"
#include "base/err.h"

struct recorder_counters;

/* Looks at once, and then each @interval ns, in a thread of its own. */
int recorder_counters_new(struct recorder_counters **ret, u64 interval, struct err *e);
/* Looks for the last time; the bytes of FEATURE_COUNTERS. */
void recorder_counters_finish(struct recorder_counters *c, struct buf *ret);
void recorder_counters_free(struct recorder_counters *c);

#endif
