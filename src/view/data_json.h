/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording as the JSON that 'perf data convert --to-json' writes. */
#ifndef VIEW_DATA_JSON_H
#define VIEW_DATA_JSON_H

#include "base/buf.h"
#include "base/err.h"
#include "recording/recording.h"

/* Returns other than 0 to end. */
typedef int (*data_json_write)(void *ctx, const char *text, size_t n);

/* *@ret_samples is how many there are in it. */
int data_json(struct recording *r, u64 file_time, data_json_write write, void *ctx,
	      u64 *ret_samples, struct err *e);

#endif
