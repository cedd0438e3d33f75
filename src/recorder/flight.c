/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flight recorder: only the newest is kept, and written on request. The kernel
 * can overwrite its own rings, but not the ring of its unwinder; so what comes from all of them is
 * kept here (past.h). Only where the user chose how stacks are taken, the kernel's rings hold the
 * past, at no cost until it is read.
 */
#include "recorder/state.h"

enum { PAST_BYTES = 4 << 20 }; /* for each CPU, by default */

void recorder_flight_plan(struct recorder *r)
{
	struct session_opts *s = &r->o.session;
	u64 each = s->ring_bytes ? s->ring_bytes : PAST_BYTES;

	if (!s->overwrite || !r->o.auto_stacks)
		return;
	s->overwrite = false;
	r->past.most = each * MAX(r->o.target->cpus.len, (size_t)1);
	/* on the way from the kernel to the past */
	s->ring_bytes = MIN(s->ring_bytes, (u64)SESSION_RING_MOST);
}

int recorder_flight_turn(struct recorder *r, struct err *e)
{
	int rc;

	if (!r->past.most || !recorder_past_is_full(&r->past))
		return 0;
	rc = recorder_kernel_collect(r, true, e);
	return rc < 0 ? rc : recorder_file_part(r, e);
}

static int on_past(void *ctx, const void *records, size_t n)
{
	struct recorder *r = ctx;

	return recording_writer_add(r->writer, records, n, r->e);
}

int recorder_flight_write(struct recorder *r, struct err *e)
{
	r->e = e;
	return recorder_past_write(&r->past, recorder_sweep_sample_tid, on_past, r);
}
