/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNTIME_HOTSPOT_SCOPES_H
#define RUNTIME_HOTSPOT_SCOPES_H

#include "runtime/hotspot.h"

/* Compiled code of a method, and where its debug positions are. */
struct hotspot_code {
	u64 start;
	u64 end;
	u64 complete; /* offset at which the frame is complete */
	u64 method;
	u64 metadata, metadata_end; /* what the code refers to */
	u64 data, data_end;         /* of scopes */
	u64 positions, positions_end;
};

/*
 * Names the code by ranges, "outer->inner" where a method was inlined. False: nothing was added,
 * because this version of java is unknown or its data makes no sense.
 */
bool hotspot_name_scopes(struct hotspot *h, const struct hotspot_code *c);

/* One number of a scope at bytes[*at]; false at the end, and for malformed bytes. */
bool hotspot_read_number(const u8 *bytes, size_t n, size_t *at, bool no_zero, u32 *ret);

#endif
