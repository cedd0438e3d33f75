/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Components as stacked bars, one for each recording. */
#ifndef VIEW_SVG_BARS_H
#define VIEW_SVG_BARS_H

#include "analysis/components.h"
#include "base/buf.h"

void svg_bars(const struct taxonomy *t, const struct breakdown *sides, size_t n, const char *title,
	      struct buf *out);

#endif
