/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VIEW_SVG_ASSET_H
#define VIEW_SVG_ASSET_H

#include "base/buf.h"

/* Appends the file of web/ of that name; false when the binary has none. */
bool svg_asset(const char *name, struct buf *out);

#endif
