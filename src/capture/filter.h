/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's event filters: 'nr_sector > 200 && rwbs ~ "*W*"'. Checked here because the kernel's
 * own answer is a bare EINVAL.
 */
#ifndef CAPTURE_FILTER_H
#define CAPTURE_FILTER_H

#include "base/err.h"
#include "capture/tracepoint.h"

enum { FILTER_TEXT_MOST = 4000, FILTER_DEPTH_MOST = 64 };

/* 0, or -EINVAL with the bad token, its column and, for a field, the nearest name. */
int filter_check(const char *text, const struct tracepoint_format *format, struct err *e);

#endif
