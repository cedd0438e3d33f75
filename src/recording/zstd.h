/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The continuous zstd stream inside COMPRESSED records. */
#ifndef RECORDING_ZSTD_H
#define RECORDING_ZSTD_H

#include "base/buf.h"

struct unzstd;
struct zstd_packer;

struct unzstd *unzstd_new(void);
void unzstd_free(struct unzstd *z);
/* Forgets the stream so far. */
void unzstd_reset(struct unzstd *z);
/* Takes from *in, writes to @out; returns the bytes written or -EBADMSG. */
ssize_t unzstd_run(struct unzstd *z, const u8 **in, size_t *in_left, void *out, size_t out_size);

struct zstd_packer *zstd_packer_new(int level);
void zstd_packer_free(struct zstd_packer *z);
/* No COMPRESSED record unpacks to more than this: perf sizes its buffer by it. */
enum { ZSTD_STEP = 256 << 10 };

/* Appends COMPRESSED records that hold @data to @out; all of it can be unpacked from them. */
int zstd_pack(struct zstd_packer *z, const void *data, size_t size, struct buf *out);

#endif
