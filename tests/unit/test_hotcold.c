/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "profile/accounts.h"

/* --- accounts --------------------------------------------------------------------------------- */

static const struct profile_account one = {
	.pid = 10,
	.tid = 11,
	.flags = 4,
	.begin = 1000,
	.end = 5000,
	.oncpu = 1500,
	.blocked = 2000,
	.runq = 400,
	.unknown = 100,
};

TEST("accounts: what is written is read")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile_account two = one;
	struct profile p;

	two.tid = 12;
	two.oncpu = 1ull << 60;
	accounts_add(&b, &one, "worker");
	accounts_add(&b, &two, "");
	profile_init(&p);
	CHECK_EQ(accounts_read(&p, b.data, b.len, NULL), 0);
	CHECK_EQ(p.accounts.len, 2);
	CHECK_STR(profile_str(&p, p.accounts.items[0].comm), "worker");
	CHECK_EQ(p.accounts.items[0].begin, 1000);
	CHECK_EQ(p.accounts.items[0].end, 5000);
	CHECK_EQ(p.accounts.items[0].unknown, 100);
	CHECK_EQ(p.accounts.items[1].tid, 12);
	CHECK_EQ(p.accounts.items[1].oncpu, 1ull << 60);
	profile_release(&p);
}

TEST("accounts: any cut is refused, and nothing is taken")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile p;
	size_t whole;

	accounts_add(&b, &one, "worker");
	whole = b.len;
	accounts_add(&b, &one, "worker");
	profile_init(&p);
	for (size_t n = 0; n < b.len; n++) {
		bool is_boundary = n == 5 || n == whole;

		CHECK_EQ(accounts_read(&p, b.data, n, NULL), is_boundary ? 0 : -EBADMSG);
		CHECK_EQ(p.accounts.len, n == whole);
		vec_clear(&p.accounts);
	}
	profile_release(&p);
}

TEST("accounts: filters keep whole threads, or none")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	range_list pids = { 0 };
	struct profile_account two = one;
	struct load_opts by_comm = { .comms = "wor*" }, by_time = { .time_from = 2000 };
	struct load_opts by_pid = { .pids = &pids };
	struct profile p;

	two.pid = 20;
	accounts_add(&b, &one, "worker");
	accounts_add(&b, &two, "other");
	profile_init(&p);
	CHECK_EQ(accounts_read(&p, b.data, b.len, NULL), 0);
	accounts_filter(&p, &by_comm);
	CHECK_EQ(p.accounts.len, 1);
	CHECK_EQ(p.accounts.items[0].pid, 10);
	CHECK_EQ(accounts_read(&p, b.data, b.len, NULL), 0);
	CHECK_EQ(parse_ranges("20", 100, &pids, NULL), 0);
	accounts_filter(&p, &by_pid);
	CHECK_EQ(p.accounts.len, 1);
	CHECK_EQ(p.accounts.items[0].pid, 20);
	accounts_filter(&p, &by_time);
	CHECK_EQ(p.accounts.len, 0);
	vec_release(&pids);
	profile_release(&p);
}
