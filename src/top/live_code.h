/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of one function with its samples, as fathom annotate shows it. */
#ifndef TOP_LIVE_CODE_H
#define TOP_LIVE_CODE_H

#include "code/hits.h"
#include "top/live.h"

/* Fills @f->code, or says why not. */
void live_code_fill(struct profile_frame *f, struct hits *h, const struct live_request *r);

/* Percent at the beginning of a line of code; 0: none. */
double live_code_share(const char *line);

#endif
