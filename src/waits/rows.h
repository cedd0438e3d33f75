/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sums of the off-CPU engine, as user space finds them. See bpf/offcpu_rows.bpf.h. */
#ifndef WAITS_ROWS_H
#define WAITS_ROWS_H

#include "waits/engine.h"

struct offcpu_bpf;

/* Room for @rows, twice: one half is taken out while the other is filled. Before loading. */
void waits_rows_size(struct offcpu_bpf *skel, u64 rows);

/* Takes out all rows: what was summed up until now, if the programs go on. */
int waits_rows_take(struct offcpu_bpf *skel, waits_row_fn fn, void *ctx, struct err *e);

#endif
