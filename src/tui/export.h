/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A grid as text, as ANSI escapes, as a picture. */
#ifndef TUI_EXPORT_H
#define TUI_EXPORT_H

#include "base/buf.h"
#include "tui/grid.h"

/* Lines without blanks at their ends. */
void grid_export_text(const struct grid *g, struct buf *out);
void grid_export_ansi(const struct grid *g, struct buf *out);
void grid_export_svg(const struct grid *g, const char *title, struct buf *out);

#endif
