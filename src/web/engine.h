/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The capturing side of `fathom serve`: reads the counters while a page is open, keeps the past,
 * runs recordings and tools. It sees no byte of the network but the requests of web/message.h.
 */
#ifndef WEB_ENGINE_H
#define WEB_ENGINE_H

#include "web/guard.h"

enum { ENGINE_LINGER_SECONDS = 60 }; /* keeps reading for clients that come back */

struct web_engine_opts {
	int channel;                /* to the HTTP side */
	u64 history;                /* ns of frames to keep */
	bool always;                /* keep the past even if no page is open */
	bool no_flight;             /* no stacks of the past */
	bool programs;              /* free text may be run */
	double budget;              /* percent of all CPUs that recording may take */
	const char *once;           /* a recording to show, and nothing else; NULL: the machine */
	const char *const *exports; /* tools that are part of /metrics */
	size_t exports_n;
	bool node_names;         /* of /metrics, unless it is asked otherwise */
	enum web_role role_most; /* that any address was given: the HTTP side may claim no more */
};

struct web_engine;

int web_engine_new(struct web_engine **ret, const struct web_engine_opts *o, struct err *e);
void web_engine_free(struct web_engine *en);
/* The HTTP side was started again. */
void web_engine_set_channel(struct web_engine *en, int channel);
/* 0: a stop was requested; 1: the HTTP side is gone, or takes no answers. */
int web_engine_run(struct web_engine *en, struct err *e);

#endif
