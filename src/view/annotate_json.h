/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of functions as the viewer takes it: see web/viewer/code.js. */
#ifndef VIEW_ANNOTATE_JSON_H
#define VIEW_ANNOTATE_JSON_H

#include "analysis/annotate.h"
#include "base/json.h"

/* Up to @most of the heaviest functions as an array; those whose code is not there are left out. */
void annotate_json(struct hits *h, const struct listing_opts *opts, size_t most, struct buf *out);

#endif
