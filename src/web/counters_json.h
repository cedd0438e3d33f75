/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer of /api/v1/counters. */
#ifndef WEB_COUNTERS_JSON_H
#define WEB_COUNTERS_JSON_H

#include "base/buf.h"
#include "counters/counters.h"

/* Every counter that has a value, with its unit and meaning. */
void web_counters_json(const struct counter_set *set, const struct snapshot *s, struct buf *out);

#endif
