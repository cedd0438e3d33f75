/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a profile of pprof; what is read is written and read again. */
#include "fuzz/fuzz_profile.h"

#include "view/export.h"

static void again(struct profile *p)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct profile q;

	if (!p->events.len)
		return;
	export_pprof(p, &(struct export_opts){ 0 }, &out);
	profile_init(&q);
	if (profile_load_pprof(&q, out.data, out.len, NULL) < 0)
		abort();
	if (q.samples.len > p->samples.len || q.bad_records)
		abort();
	profile_release(&q);
}

static int load(struct profile *p, const uint8_t *data, size_t size, struct err *e)
{
	return profile_load_pprof(p, data, size, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(data, size, load, again);
}
