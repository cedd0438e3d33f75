/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page of the kernel's trace ring buffer, as trace_pipe_raw gives it and trace.dat keeps it: a
 * time stamp, the bytes in use, and events with times relative to the one before. The bytes may be
 * anything.
 */
#ifndef RECORDING_RINGPAGE_H
#define RECORDING_RINGPAGE_H

#include "base/base.h"

enum { RINGPAGE_HEAD = 16 };

/* Positive or negative ends the walk and is returned. @data is @n bytes, not aligned. */
typedef int (*ringpage_fn)(void *ctx, u64 time, const u8 *data, u32 n);

/*
 * Each event of the page in turn. *@ret_missed counts events that were lost before this page (1
 * where the kernel does not know how many). -EBADMSG: the page is damaged from some event on; those
 * before it were given.
 */
int ringpage_walk(const void *page, size_t n, ringpage_fn fn, void *ctx, u64 *ret_missed);
/* The time of the page's first event. */
u64 ringpage_time(const void *page, size_t n);

#endif
