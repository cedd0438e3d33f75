/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are packed as a whole. */
#ifndef PROFILE_GZIP_H
#define PROFILE_GZIP_H

#include "base/buf.h"
#include "base/err.h"

bool gzip_is(const void *data, size_t len);
/* Appends to @ret; -EFBIG beyond @most bytes, -EBADMSG when it is damaged or cut. */
int gzip_unpack(const void *data, size_t len, size_t most, struct buf *ret, struct err *e);
/* The same bytes for the same input: no time stamp. */
void gzip_pack(const struct buf *in, struct buf *out);

#endif
