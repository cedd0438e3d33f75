/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of a function with its samples, as text: in perf's form, and for people. */
#ifndef VIEW_ANNOTATE_TEXT_H
#define VIEW_ANNOTATE_TEXT_H

#include "analysis/annotate.h"
#include "base/buf.h"

struct annotate_text {
	bool color;
	bool unicode;
	bool no_source; /* instructions alone */
	bool raw;       /* the bytes of instructions, too */
	bool group;     /* a column for each event */
	bool counts;    /* numbers of samples instead of shares */
	bool lines;     /* perf's -l: the heaviest lines first, and places after instructions */
	bool paths;     /* whole paths in these */
	size_t event;   /* the one that is shown unless @group */
};

/* As perf annotate --stdio prints it. */
void annotate_text_perf(const struct listing *l, const struct hits *h, struct source_files *files,
			const struct annotate_text *o, struct buf *out);
/* Ours: arrows for jumps, source lines between, inlined functions marked. */
void annotate_text(const struct listing *l, const struct hits *h, struct source_files *files,
		   const struct annotate_text *o, struct buf *out);

#endif
