/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the event parser: what its files share. Only these files include it. */
#ifndef CAPTURE_EVENT_TEXT_H
#define CAPTURE_EVENT_TEXT_H

#include "capture/event.h"
#include "capture/pmu.h"

struct event_text {
	const char *text; /* the whole argument */
	const char *s;    /* where we are */
	const struct event_source *source;
	struct event_list *out; /* events of this argument only */
	struct err *err;
};

/* "event 'TEXT': WHAT (column N)"; returns -EINVAL. */
int event_fault(struct event_text *t, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* One "name" or "name=value" between the slashes. */
struct event_term {
	const char *name;
	size_t n;
	const char *value; /* NULL: none given */
	size_t value_n;
};

enum { EVENT_TERMS_MOST = 64 };

struct event_terms {
	struct event_term items[EVENT_TERMS_MOST];
	size_t len;
};

/* At a '/': reads up to and over the closing one. */
int event_terms_read(struct event_text *t, struct event_terms *ret);
/* Applies them. @pmu is NULL for events that are not a PMU's own. */
int event_terms_apply(struct event_text *t, const struct event_terms *terms, const struct pmu *pmu,
		      struct event *ev);

/* Modifiers at t->s ("uk", not the colon) for all events from index @first; -EINVAL otherwise. */
int event_modifiers(struct event_text *t, size_t first);

/*
 * libpfm4's names, if it was compiled in: 0, -ENOENT, or -EINVAL when the event is known but its
 * unit mask or modifiers are not.
 */
int event_pfm_encode(const char *name, struct perf_event_attr *ret);

#endif
