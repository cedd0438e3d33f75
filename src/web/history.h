/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of the past, as the lines that a page gets: the oldest make room for the newest. */
#ifndef WEB_HISTORY_H
#define WEB_HISTORY_H

#include "base/buf.h"
#include "base/vec.h"

struct frame {
	u64 wall; /* ms */
	u64 mono; /* ns */
	char *text;
	size_t n;
};

struct history {
	VEC(struct frame) frames;
	size_t begin; /* of those that are kept */
	size_t bytes;
	u64 most_ns; /* how far back */
	size_t most_bytes;
};

enum { HISTORY_BYTES_MOST = 8 << 20 };

/* Wall clock of the newest frame, ms; 0: none. */
u64 history_newest(const struct history *h);
void history_release(struct history *h);
void history_add(struct history *h, u64 wall_ms, u64 mono_ns, const struct buf *text);
/* Lines of all frames from @from to @to (ms), those included. */
void history_lines(const struct history *h, u64 from, u64 to, struct buf *out);
/*
 * What CLOCK_MONOTONIC said when the wall clock was @wall: the frame says it during which that
 * was, the newest if the clock was set back and came there twice. A time that the clock skipped is
 * the moment at which it was set. False: that was before all.
 */
bool history_mono(const struct history *h, u64 wall_ms, u64 *ret_ns);

#endif
