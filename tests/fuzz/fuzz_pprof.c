/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a profile of pprof; what is read is written and read again. */
#include "profile/load.h"
#include "view/export.h"

enum { INPUT_MAX = 1 << 16 };

static void again(const struct profile *p)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	if (size > INPUT_MAX)
		return 0;
	profile_init(&p);
	if (profile_load_pprof(&p, data, size, &e) >= 0)
		again(&p);
	else if (!e.what)
		abort();
	profile_release(&p);
	return 0;
}
