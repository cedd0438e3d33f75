/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "analysis/flame.h"
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
	.utime = 30,
	.stime = 40,
	.switches = 9,
	.preemptions = 3,
	.minor = 70,
	.major = 2,
};

TEST("accounts: what is written is read")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile_account two = one;
	struct profile p;

	two.tid = 12;
	two.oncpu = 1ull << 60;
	accounts_begin(&b, 1000000, 20);
	accounts_add_cgroup(&b, 7, "/user.slice");
	accounts_add(&b, &one, "worker", 7);
	accounts_add(&b, &two, "", 8);
	profile_init(&p);
	CHECK_EQ(accounts_read(&p, b.data, b.len, NULL), 0);
	CHECK_EQ(p.accounts.len, 2);
	CHECK_STR(profile_str(&p, p.accounts.items[0].comm), "worker");
	CHECK_EQ(p.accounts.items[0].begin, 1000);
	CHECK_EQ(p.accounts.items[0].end, 5000);
	CHECK_EQ(p.accounts.items[0].unknown, 100);
	CHECK_EQ(p.accounts.items[1].tid, 12);
	CHECK_EQ(p.accounts.items[1].oncpu, 1ull << 60);
	CHECK(p.accounts.items[0].counted);
	CHECK_EQ(p.accounts.items[0].utime, 30);
	CHECK_EQ(p.accounts.items[0].stime, 40);
	CHECK_EQ(p.accounts.items[0].switches, 9);
	CHECK_EQ(p.accounts.items[0].preemptions, 3);
	CHECK_EQ(p.accounts.items[0].minor, 70);
	CHECK_EQ(p.accounts.items[0].major, 2);
	CHECK_STR(profile_str(&p, p.accounts.items[0].cgroup), "/user.slice");
	CHECK_STR(profile_str(&p, p.accounts.items[1].cgroup), "[8]");
	CHECK_EQ(p.wait_period, 1000000);
	CHECK_EQ(p.wait_min, 20);
	profile_release(&p);
}

TEST("accounts: those of older recordings are read, as far as they go")
{
	static const u8 old[] = { 'F', 'A', 'C', 'C', 1,  10, 11,  8,   100, 0x80,
				  2,   50,  60,  70,  20, 4,  'w', 'o', 'r', 'k' };
	struct profile p;

	profile_init(&p);
	CHECK_EQ(accounts_read(&p, old, sizeof(old), NULL), 0);
	CHECK_EQ(p.accounts.len, 1);
	CHECK_EQ(p.accounts.items[0].tid, 11);
	CHECK_EQ(p.accounts.items[0].begin, 100);
	CHECK_EQ(p.accounts.items[0].end, 356);
	CHECK_EQ(p.accounts.items[0].unknown, 20);
	CHECK_STR(profile_str(&p, p.accounts.items[0].comm), "work");
	CHECK(!p.accounts.items[0].counted);
	CHECK_EQ(accounts_read(&p, old, sizeof(old) - 1, NULL), -EBADMSG);
	CHECK_EQ(p.accounts.len, 1);
	profile_release(&p);
}

TEST("accounts: any cut is refused, and nothing is taken")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct profile p;
	size_t whole;

	accounts_begin(&b, 0, 0);
	accounts_add(&b, &one, "worker", 7);
	whole = b.len;
	accounts_add(&b, &one, "worker", 7);
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
	accounts_begin(&b, 0, 0);
	accounts_add(&b, &one, "worker", 7);
	accounts_add(&b, &two, "other", 7);
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

/* --- both halves ------------------------------------------------------------------------------ */

#define MS 1000000ull

static void sample(struct profile *p, const char *event, const char *unit, s32 tid,
		   const char *function, u64 weight, u32 count)
{
	struct frame f = { .name = profile_string(p, function) };
	struct profile_sample s = {
		.weight = weight,
		.count = count,
		.cpu = 0,
		.event = profile_get_event(p, event),
		.thread = profile_get_thread(p, 1, tid, profile_string(p, "job"), 0),
	};

	p->events.items[s.event].unit = profile_string(p, unit);
	s.stack = profile_get_stack(p, 0, profile_get_frame(p, &f));
	profile_add_sample(p, &s);
}

static void account(struct profile *p, s32 tid, u64 oncpu, u64 wall)
{
	vec_push(&p->accounts, (struct profile_account){
				       .pid = 1,
				       .tid = tid,
				       .comm = profile_string(p, "job"),
				       .begin = 100,
				       .end = 100 + wall,
				       .oncpu = oncpu,
			       });
}

/* Weight of the samples of the wall-clock event whose stack is "function;mark". */
static u64 weight_at(const struct profile *p, const struct hotcold *h, const char *function,
		     const char *mark)
{
	u64 sum = 0;

	vec_each(s, &p->samples) {
		u32 parent = p->stacks.items[s->stack].parent;
		const char *name = parent ? profile_str(p, profile_frame_of(p, parent)->name) : "";

		if (s->event == h->event && streq(name, function) &&
		    streq(profile_str(p, profile_frame_of(p, s->stack)->name), mark))
			sum += s->weight;
	}
	return sum;
}

TEST("hot and cold: samples are scaled to what the scheduler counted, the whole is wall time")
{
	struct hotcold h;
	struct profile p;

	profile_init(&p);
	/* 40 samples of 10 ms say 400 ms; the truth is 410 ms of two threads */
	sample(&p, "cpu-clock", "ns", 1, "hot", 300 * MS, 30);
	sample(&p, "cpu-clock", "ns", 2, "warm", 100 * MS, 10);
	sample(&p, "offcpu-time", "ns", 1, "cold", 600 * MS, 3);
	sample(&p, "runqueue-time", "ns", 2, "queue", 50 * MS, 3);
	account(&p, 1, 310 * MS, 1000 * MS);
	account(&p, 2, 100 * MS, 200 * MS);
	CHECK_EQ(hotcold_build(&p, true, &h, NULL), 0);
	CHECK_EQ(h.threads, 2);
	CHECK_EQ(h.ns[HOT_ON_CPU], 410 * MS);
	CHECK_EQ(h.ns[HOT_BLOCKED], 600 * MS);
	CHECK_EQ(h.ns[HOT_RUNQ], 50 * MS);
	CHECK_EQ(h.ns[HOT_UNKNOWN], (1000 - 310 - 600) * MS + (200 - 100 - 50) * MS);
	CHECK_EQ(p.events.items[h.event].weight, 1200 * MS);
	CHECK_NEAR((double)weight_at(&p, &h, "hot", "[on CPU]"), 307.5e6, 2);
	CHECK_EQ(weight_at(&p, &h, "cold", "[blocked]"), 600 * MS);
	CHECK_EQ(weight_at(&p, &h, "queue", "[waiting for a CPU]"), 50 * MS);
	CHECK_EQ(weight_at(&p, &h, "", "[not known]"), 140 * MS);
	profile_release(&p);
}

TEST("hot and cold: what chance does not explain was not sampled, and says so")
{
	struct hotcold h;
	struct profile p;

	profile_init(&p);
	sample(&p, "cpu-clock", "ns", 1, "hot", 100 * MS, 100);
	sample(&p, "offcpu-time", "ns", 1, "cold", 500 * MS, 1);
	account(&p, 1, 500 * MS, 1000 * MS);
	CHECK_EQ(hotcold_build(&p, true, &h, NULL), 0);
	/* 100 samples may stand for 133 at most */
	CHECK_NEAR((double)weight_at(&p, &h, "hot", "[on CPU]"), 133e6, 2);
	CHECK_NEAR((double)weight_at(&p, &h, "[not sampled]", "[on CPU]"), 367e6, 2);
	CHECK_NEAR((double)p.events.items[h.event].weight, 1000e6, 4);
	profile_release(&p);
}

TEST("hot and cold: a thread without samples, cycles as time, and strangers")
{
	struct hotcold h;
	struct profile p;

	profile_init(&p);
	sample(&p, "cycles", "", 1, "hot", 12345678, 7);
	sample(&p, "offcpu-time", "ns", 1, "cold", 300 * MS, 1);
	account(&p, 1, 700 * MS, 1000 * MS);
	vec_push(&p.accounts,
		 (struct profile_account){
			 .pid = 9, .tid = 9, .begin = 0, .end = 20 * MS, .oncpu = 20 * MS });
	CHECK_EQ(hotcold_build(&p, true, &h, NULL), 0);
	CHECK_NEAR((double)weight_at(&p, &h, "hot", "[on CPU]"), 700e6, 2);
	CHECK_EQ(weight_at(&p, &h, "[not sampled]", "[on CPU]"), 20 * MS);
	CHECK_NEAR((double)p.events.items[h.event].weight, 1020e6, 2);
	profile_release(&p);

	profile_init(&p);
	sample(&p, "cpu-clock", "ns", 1, "hot", 10 * MS, 1);
	sample(&p, "offcpu-time", "ns", 1, "cold", 30 * MS, 1);
	vec_push(&p.accounts, (struct profile_account){ .pid = 9, .tid = 9, .end = 5 });
	CHECK_EQ(hotcold_build(&p, true, &h, NULL), 0);
	CHECK_EQ(h.left_out, 10 * MS);
	CHECK_EQ(h.ns[HOT_ON_CPU], 0);
	profile_release(&p);
}

TEST("hot and cold: without accounts what was seen is shown, without waits nothing")
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct hotcold h;
	struct profile p;

	profile_init(&p);
	sample(&p, "cpu-clock", "ns", 1, "hot", 10 * MS, 1);
	CHECK_EQ(hotcold_build(&p, true, &h, &e), -ENODATA);
	sample(&p, "offcpu-time", "ns", 1, "cold", 30 * MS, 1);
	CHECK_EQ(hotcold_build(&p, true, &h, NULL), 0);
	CHECK_EQ(h.threads, 0);
	CHECK_EQ(p.events.items[h.event].weight, 40 * MS);
	profile_release(&p);

	profile_init(&p);
	sample(&p, "cycles", "", 1, "hot", 10, 1);
	sample(&p, "offcpu-time", "ns", 1, "cold", 30 * MS, 1);
	err_release(&e);
	CHECK_EQ(hotcold_build(&p, true, &h, &e), -ENODATA);
	profile_release(&p);
}

TEST("hot and cold: a mark tells about all below it, and about all on it when reversed")
{
	struct flame_opts opts = { .group = GROUP_NONE };
	struct hotcold h;
	struct profile p;
	struct flame f;

	profile_init(&p);
	sample(&p, "cpu-clock", "ns", 1, "main", 300 * MS, 30);
	sample(&p, "offcpu-time", "ns", 1, "main", 600 * MS, 3);
	CHECK_EQ(hotcold_build(&p, true, &h, NULL), 0);
	opts.event = h.event;
	opts.hotcold = &h;
	for (int reverse = 0; reverse < 2; reverse++) {
		opts.reverse = reverse;
		CHECK_EQ(flame_init(&f, &p, &opts, NULL), 0);
		CHECK_EQ(f.states[0].ns[HOT_ON_CPU], 300 * MS);
		CHECK_EQ(f.states[0].ns[HOT_BLOCKED], 600 * MS);
		CHECK_EQ(f.states[0].ns[HOT_UNKNOWN], 0);
		vec_each(b, &f.boxes) {
			size_t len;
			const char *name = flame_name(&f, b, &len);
			const struct flame_states *s = &f.states[b->node];

			if (streq(name, "main"))
				CHECK_EQ(s->ns[HOT_ON_CPU] + s->ns[HOT_BLOCKED],
					 flame_node(&f, b)->total);
			if (streq(name, "[blocked]"))
				CHECK_EQ(s->ns[HOT_BLOCKED], 600 * MS);
		}
		flame_release(&f);
	}
	profile_release(&p);
}
