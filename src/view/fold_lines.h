/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of folded stacks, in order: the inside of fold.c. */
#ifndef VIEW_FOLD_LINES_H
#define VIEW_FOLD_LINES_H

#include "view/fold.h"

struct fold_names {
	const u32 *frames;  /* frame -> string: what it is shown as */
	const u32 *threads; /* thread -> string: what its stacks begin with; 0: nothing */
};

int fold_lines(const struct profile *p, const struct fold_names *names,
	       const struct fold_opts *opts, const struct fold_sink *sink);

#endif
