/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a memory access met (PERF_SAMPLE_DATA_SRC), in perf's words. */
#ifndef RECORDING_DATA_SRC_H
#define RECORDING_DATA_SRC_H

#include "base/buf.h"

/* "LOAD", "STORE" */
void data_src_op(u64 value, struct buf *out);
/* "L3 hit", "Remote RAM (1 hop) hit" */
void data_src_level(u64 value, struct buf *out);
/* "None", "HitM" */
void data_src_snoop(u64 value, struct buf *out);
/* "L1 or L2 hit" */
void data_src_tlb(u64 value, struct buf *out);
/* "Yes", "No", "N/A" */
void data_src_lock(u64 value, struct buf *out);

#endif
