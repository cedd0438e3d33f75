/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the kernel's tracers, in the form of tracefs: scripts parse that. */
#ifndef VIEW_FTRACE_TEXT_H
#define VIEW_FTRACE_TEXT_H

#include "profile/ftrace.h"

struct ftrace_text_opts {
	bool json; /* an object each line */
	bool tail; /* the name of the function at its closing brace */
	bool time; /* graph: a column with the time */
	bool task; /* graph: a column with the task */
};

struct ftrace_text;
struct ftrace_text *ftrace_text_new(struct ftrace_reader *reader,
				    const struct ftrace_text_opts *opts, struct buf *out);
void ftrace_text_free(struct ftrace_text *t);
/* "# tracer: function_graph" and the names of the columns. */
void ftrace_text_head(struct ftrace_text *t, const char *tracer);
/* An ftrace_event_fn: appends lines to the buffer. */
int ftrace_text_event(void *text, const struct ftrace_event *ev);
/* Calls that wait for their end to be a line of their own: after the last event. */
void ftrace_text_end(struct ftrace_text *t);
u64 ftrace_text_lines(const struct ftrace_text *t);

#endif
