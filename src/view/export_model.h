/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as the bytes that the viewer in the browser reads. Not a format for others: page and
 * program come from the same build.
 *
 *	"FTHM", u32 version, u32 length of the header, header, columns
 *
 * The header is JSON: facts, events, strings, threads, and for each column its name, the number of
 * items, the bytes an item takes and where it begins (from the end of the header, 8-aligned, which
 * itself is 8-aligned). A column all of whose items are equal is given as that "constant" alone.
 * All is little-endian.
 *
 * Stacks are renumbered depth first, siblings in the order in which they were first seen, so that
 * a depth for each gives the tree; samples are in order of time and refer to the new numbers.
 */
#ifndef VIEW_EXPORT_MODEL_H
#define VIEW_EXPORT_MODEL_H

#include "base/buf.h"
#include "profile/profile.h"

enum { EXPORT_MODEL_VERSION = 1 };

/* Appends to @out. */
void export_model(const struct profile *p, struct buf *out);

#endif
