/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs and people said while a recording went on: moments and spans with a name.
 *
 * Tracepoints that are called begin, end or mark and have a field "name" (probes on the markers of
 * fathom.h) are spans and moments; so are the texts of printk:console, ftrace:print. Events that a
 * program has registered itself, user_events:NAME_begin and NAME_end, are spans called NAME. Any
 * other tracepoint that is not the scheduler's is a moment with its own name.
 */
#ifndef WAITS_MARKS_H
#define WAITS_MARKS_H

#include "base/err.h"
#include "base/intern.h"
#include "base/vec.h"

enum { MARKS_MOST = 200000 };

struct mark {
	u64 begin, end; /* equal: a moment; end 0: a span that had not ended */
	u32 tid;        /* that began it */
	u32 name;       /* of marks.names */
	u64 id;         /* that distinguishes spans of one name */
	bool span;
};

struct marks {
	VEC(struct mark) items; /* in order of their begin */
	struct intern names;
	u64 dropped; /* beyond MARKS_MOST */
	u64 unbegun; /* ends of spans whose begin is not in the recording */
};

int marks_read(const char *path, struct marks *ret, struct err *e);
void marks_release(struct marks *m);

#endif
