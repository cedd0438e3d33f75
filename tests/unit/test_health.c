/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/health.h"
#include "unit/harness.h"

static void add(struct health *h, s32 pid, const char *comm, u32 end, u64 ip)
{
	health_add(h, &(struct health_sample){ .pid = pid,
					       .comm = comm,
					       .end = end,
					       .frames = 7,
					       .fp_steps = 1,
					       .last_ip = ip,
					       .rescued = ip != 0 });
}

static void fill(struct health *h)
{
	h->how = HEALTH_KERNEL;
	h->tables = 12;
	h->table_bytes = 3400000;
	h->lost = 5;
	h->why = xstrdup("because");
	add(h, 10, "burn", UNWIND_END_ROOT, 0);
	add(h, 10, "burn", UNWIND_END_ROOT, 0);
	add(h, 10, "burn", UNWIND_END_BAD_FP, 0x1234);
	add(h, 10, "burn", UNWIND_END_BAD_FP, 0x1234);
	add(h, 11, "kworker", UNWIND_END_NO_REGS, 0);
}

TEST(health_counts)
{
	struct health h = { 0 };

	fill(&h);
	CHECK(h.processes.len == 2);
	CHECK(h.processes.items[0].samples == 4 && h.processes.items[0].frames == 28);
	CHECK(h.processes.items[0].rescued == 2);
	CHECK(h.cuts.len == 1 && h.cuts.items[0].count == 2 && h.cuts.items[0].ip == 0x1234);
	CHECK(health_user_stacks(&h) == 4);
	CHECK(health_complete(&h) == 2);
	health_release(&h);
}

TEST(health_travels)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT, text = BUF_INIT;
	struct health h = { 0 }, back = { 0 };

	fill(&h);
	health_pack(&h, &bytes);
	CHECK(health_unpack(&back, bytes.data, bytes.len) == 0);
	CHECK(back.how == HEALTH_KERNEL && back.lost == 5);
	CHECK(back.processes.len == 2 && strcmp(back.processes.items[0].comm, "burn") == 0);
	CHECK(memcmp(back.ends, h.ends, sizeof(h.ends)) == 0);
	CHECK(back.cuts.len == 1 && back.cuts.items[0].end == UNWIND_END_BAD_FP);
	CHECK(back.why && strcmp(back.why, "because") == 0);
	health_text(&back, &text);
	CHECK(strcmp(buf_str(&text), "unwound in the kernel by CFI tables (12 files, 3.4 MB)") ==
	      0);
	health_release(&h);
	health_release(&back);
}

TEST(health_refuses_damage)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct health h = { 0 }, back = { 0 };
	u32 huge = 0xffffffff;

	fill(&h);
	health_pack(&h, &bytes);
	for (size_t n = 0; n < bytes.len; n++)
		CHECK(health_unpack(&back, bytes.data, n) == -EBADMSG);
	/* each number of the head: version, ends, processes, cuts, length of the text */
	for (size_t at = 0; at < 24; at += 4) {
		u32 old;

		if (at == 4)
			continue; /* how: any number will do */
		memcpy(&old, bytes.data + at, sizeof(old));
		memcpy(bytes.data + at, &huge, sizeof(huge));
		CHECK(health_unpack(&back, bytes.data, bytes.len) == -EBADMSG);
		memcpy(bytes.data + at, &old, sizeof(old));
	}
	CHECK(health_unpack(&back, bytes.data, bytes.len) == 0);
	health_release(&back);
	health_release(&h);
}

TEST(health_knows_its_limits)
{
	struct health h = { 0 };

	for (s32 pid = 1; pid < HEALTH_PROCESSES_MOST + 100; pid++)
		add(&h, pid, "x", UNWIND_END_READ, (u64)pid);
	CHECK(h.processes.len == HEALTH_PROCESSES_MOST + 1);
	CHECK(h.processes.items[HEALTH_PROCESSES_MOST].pid == 0);
	CHECK(h.processes.items[HEALTH_PROCESSES_MOST].samples == 99);
	CHECK(h.cuts.len == HEALTH_CUTS_MOST);
	health_release(&h);
}

TEST(health_says_why_stacks_are_cut)
{
	struct health h = { 0 };
	struct profile p;

	profile_init(&p);
	add(&h, 1, "x", UNWIND_END_ROOT, 0);
	add(&h, 1, "x", UNWIND_END_READ, 1);
	add(&h, 1, "x", UNWIND_END_BAD_FP, 2);
	add(&h, 1, "x", UNWIND_END_BAD_FP, 2);
	add(&h, 1, "x", UNWIND_END_EXEC, 0);
	h.how = HEALTH_KERNEL;
	health_facts(&h, false, &p);
	CHECK_STR(profile_str(&p, p.cuts), "code without frame information or frame pointer (2), "
					   "stack memory could not be read (1)");
	h.how = HEALTH_FP;
	h.why = xstrdup("the kernel is too old");
	health_facts(&h, false, &p);
	CHECK_STR(profile_str(&p, p.cuts),
		  "frame pointers were followed because the kernel is too old");
	profile_release(&p);
	health_release(&h);
}
