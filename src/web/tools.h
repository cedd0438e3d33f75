/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool library as this program itself describes it: `fathom help --json`. */
#ifndef WEB_TOOLS_H
#define WEB_TOOLS_H

#include "web/job.h"

struct web_tools {
	struct buf help; /* empty: not read yet */
};

void web_tools_release(struct web_tools *t);
int web_tools_load(struct web_tools *t, struct jobs *j, struct err *e);
/*
 * Is it a tool, and does it have these options? Those about files and the form of output are not
 * for the network.
 */
int web_tools_check(struct web_tools *t, struct jobs *j, const struct web_request *q,
		    struct err *e);
/* Runs one that was checked; with a flame graph beside its rows, where they have stacks. */
int web_tools_add(const struct web_tools *t, struct jobs *j, const struct web_request *q,
		  struct job **ret, struct err *e);
/* The same check with the text of the description. */
int web_tools_check_in(const struct buf *help, const struct web_request *q, struct err *e);

#endif
