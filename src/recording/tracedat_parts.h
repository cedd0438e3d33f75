/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers of both versions of trace.dat share. */
#ifndef RECORDING_TRACEDAT_PARTS_H
#define RECORDING_TRACEDAT_PARTS_H

#include "recording/bytes.h"
#include "recording/tracedat.h"

/* -EBADMSG: "... is damaged at byte N". */
int tracedat_damaged(struct err *e, const struct bytes *b, const u8 *start, const char *what);
struct tracedat_text tracedat_take_text(struct tracedat *t, struct bytes *b, u64 n);
/* "header_page", "header_event" */
void tracedat_take_header(struct tracedat *t, struct bytes *b);
void tracedat_take_formats(struct tracedat *t, struct bytes *b, const char *system);
void tracedat_take_systems(struct tracedat *t, struct bytes *b);

/* Version 7 from after the size of pages. */
int tracedat_parse7(struct tracedat *t, struct bytes *b, const u8 *start, struct err *e);

#endif
