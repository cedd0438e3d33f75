/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats. A format is one file src/view/NAME_view.c that defines
 *
 *	const struct view view_NAME = { .name = "NAME", .render = ..., ... };
 *
 * The build makes the list from the file names; nothing else has to know: each is an option of
 * every command, --NAME.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "base/buf.h"
#include "base/err.h"
#include "result/result.h"

struct view_opts {
	int width;         /* columns to stay within; 0: no limit */
	bool color;        /* ANSI escapes are welcome */
	bool unicode;      /* box characters and the one-column ellipsis are welcome */
	bool header;       /* tables begin with their headings */
	bool stream;       /* JSON: one line per result, for results that follow one another */
	const char *table; /* CSV: only the table of this name; NULL: all */
	bool average;      /* a line with average, total and count below each histogram */
};

#define VIEW_OPTS_INIT                       \
	{                                    \
		.width = 80, .header = true, \
	}

struct view {
	const char *name;
	/* Appends to @out; it ends with a newline unless nothing was written. */
	int (*render)(const struct result *r, const struct view_opts *opts, struct buf *out,
		      struct err *e);
};

/* For people: what is shown when no format is requested. */
extern const struct view view_text;

/* NULL: no such format. */
const struct view *view_find(const char *name);
/* All of them; for help texts. */
const struct view *const *view_all(size_t *ret_n);

#endif
