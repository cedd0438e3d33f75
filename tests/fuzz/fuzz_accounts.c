/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as accounts of threads; what is read must survive being written and read again. */
#include "profile/accounts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p, again;
	struct buf out = BUF_INIT;

	profile_init(&p);
	profile_init(&again);
	if (accounts_read(&p, data, size, NULL) < 0 && p.accounts.len)
		abort();
	accounts_begin(&out, p.wait_period, p.wait_min);
	vec_each(a, &p.accounts) {
		accounts_add_cgroup(&out, a->cgroup, profile_str(&p, a->cgroup));
		accounts_add(&out, a, profile_str(&p, a->comm), a->cgroup);
	}
	if (p.accounts.len && (accounts_read(&again, out.data, out.len, NULL) < 0 ||
			       again.accounts.len != p.accounts.len))
		abort();
	for (size_t i = 0; i < again.accounts.len; i++) {
		if (again.accounts.items[i].end != p.accounts.items[i].end ||
		    again.accounts.items[i].major != p.accounts.items[i].major ||
		    again.accounts.items[i].oncpu != p.accounts.items[i].oncpu)
			abort();
	}
	buf_release(&out);
	profile_release(&again);
	profile_release(&p);
	return 0;
}
