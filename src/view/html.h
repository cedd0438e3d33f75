/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as one HTML file: the viewer of web/viewer* with the data inside, compressed. The file
 * needs no network and no server. Names of the profile are data to it, never markup.
 */
#ifndef VIEW_HTML_H
#define VIEW_HTML_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

/* What the page opens with; all of it can be changed there. */
struct html_opts {
	const char *title; /* NULL: made from the recording's facts */
	bool has_event;    /* otherwise the first that has samples */
	u16 event;         /* index into the profile's events */
	bool has_baseline; /* opens as a comparison of event with baseline */
	u16 baseline;
	bool has_ratio; /* colours by what there is of this event for each unit of the other */
	u16 ratio;
	bool inverted;          /* icicle: the root is at the top */
	bool reverse;           /* callers below callees */
	bool left_heavy;        /* heaviest sibling first, otherwise by name */
	bool time_order;        /* opens the time-ordered view */
	bool by_count;          /* each sample weighs 1 */
	const char *view;       /* NULL, or flame, time, sandwich, tree, functions, graph */
	const char *group;      /* NULL: the page's choice; none, comm, pid, tid, cpu, cgroup */
	const char *color;      /* NULL, or kind, module, name, self, state, waits, wakers */
	const char *search;     /* NULL, or a regular expression to highlight */
	const struct buf *code; /* NULL, or what annotate_json() wrote: the panel of instructions */
};

/* Appends the page to @out. @opts may be NULL. */
int html_write(const struct profile *p, const struct html_opts *opts, struct buf *out,
	       struct err *e);

#endif
