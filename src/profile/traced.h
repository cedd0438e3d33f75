/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of tracepoints in a profile: columns requested, as text. A key is "trace" (all
 * of it in a line), a field of any event, EVENT.FIELD, EVENT.* or "trace_fields" (all of them);
 * "/raw" after a field asks for the plain value.
 */
#ifndef PROFILE_TRACED_H
#define PROFILE_TRACED_H

#include "profile/machine.h"
#include "profile/profile.h"
#include "recording/recording.h"

struct traced;

/* @keys: separated by commas. */
struct traced *traced_new(struct profile *p, struct recording *r, struct machine *m,
			  const char *keys);
void traced_free(struct traced *t);
/* The row of a sample (profile.trace_rows); 0: it has none of the fields. */
u32 traced_row(struct traced *t, const struct record *r);

#endif
