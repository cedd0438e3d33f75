/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads did, out of recordings of waits that are written here: with accounts and without. */
#include "harness.h"

#include "analysis/threads.h"
#include "profile/accounts.h"
#include "recording/writer.h"
#include "waits/session.h"

/* --- who had the CPU -------------------------------------------------------------------------- */

static const struct ran_instead *ran_of(const ran_list *list, u32 tid)
{
	static const struct ran_instead nobody;

	vec_each(r, list) {
		if (r->tid == tid)
			return r;
	}
	return &nobody;
}

TEST("turns: each has what it ran in the time, and no more than there was")
{
	turn_list turns = { 0 };
	need_list needs = { 0 };
	ran_list ran = { 0 };

	/* out of order, one with an end that was worked out too late, one on another CPU */
	vec_push(&turns, (struct cpu_turn){ 200, 300, 1, 7 });
	vec_push(&turns, (struct cpu_turn){ 100, 250, 1, 5 });
	vec_push(&turns, (struct cpu_turn){ 300, 340, 1, 5 });
	vec_push(&turns, (struct cpu_turn){ 0, 1000, 0, 9 });
	vec_push(&turns, (struct cpu_turn){ 500, 600, 1, 7 });
	vec_push(&needs, (struct cpu_need){ 150, 350, 1, 0 });
	/* nobody is known to have run: it was the last one */
	vec_push(&needs, (struct cpu_need){ 380, 400, 1, 8 });
	turns_share(&turns, &needs, &ran);
	CHECK_EQ(ran_of(&ran, 5)->ns, 50 + 40);
	CHECK_EQ(ran_of(&ran, 5)->turns, 2);
	CHECK_EQ(ran_of(&ran, 7)->ns, 100);
	CHECK_EQ(ran_of(&ran, 8)->ns, 20);
	CHECK_EQ(ran_of(&ran, 9)->ns, 0);
	CHECK_EQ(ran.len, 3);
	vec_release(&turns);
	vec_release(&needs);
	vec_release(&ran);
}

/* --- recordings of waits ---------------------------------------------------------------------- */

static const struct perf_event_attr wait_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_BPF_OUTPUT,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
	.sample_id_all = 1,
};
static const struct perf_event_attr clock_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	.sample_id_all = 1,
};

enum { EVENT_CLOCK = 2, EVENTS };

static struct recording_writer *open_writer(const char *path)
{
	static const char *const names[EVENTS] = { OFFCPU_EVENT, RUNQ_EVENT, "cpu-clock" };
	const struct writer_options o = { .path = path, .version = "test", .no_machine = true };
	struct recording_writer *w;

	CHECK_EQ(recording_writer_new(&o, &w, NULL), 0);
	for (u64 i = 0; i < EVENTS; i++) {
		const u64 id = WRITER_OWN_ID + i;
		const struct writer_event ev = { .attr = i == EVENT_CLOCK ? clock_attr : wait_attr,
						 .name = names[i],
						 .ids = &id,
						 .n_ids = 1 };

		CHECK_EQ(recording_writer_event(w, &ev, NULL), 0);
	}
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	return w;
}

struct wait_of {
	u32 tid, cpu;
	u64 end, blocked, runq;
	u32 flags;
	u32 last; /* who ran there before */
};

static void add_sample(struct recording_writer *w, const struct wait_of *in, u32 event, u64 seq)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct wait_record raw = { .magic = WAIT_RECORD_MAGIC,
				   .event = event,
				   .seq = seq,
				   .blocked = in->blocked,
				   .runq = in->runq,
				   .state = in->blocked ? 1 : 0,
				   .syscall = 35,
				   .flags = in->flags,
				   .pid = event ? in->last : in->tid,
				   .tid = event ? in->last : in->tid };
	const struct sample s = { .id = WRITER_OWN_ID + event,
				  .pid = in->tid,
				  .tid = in->tid,
				  .cpu = in->cpu,
				  .time = in->end,
				  .period = event ? in->runq : in->blocked,
				  .raw = &raw,
				  .raw_size = sizeof(raw) };

	snprintf(raw.comm, sizeof(raw.comm), "t%u", raw.tid);
	CHECK_EQ(build_sample(&b, &wait_attr, PERF_RECORD_MISC_USER, &s), 0);
	CHECK_EQ(recording_writer_add(w, b.data, b.len, NULL), 0);
}

static void add_wait(struct recording_writer *w, const struct wait_of *in, u64 seq)
{
	if (in->blocked)
		add_sample(w, in, WAIT_EVENT_BLOCKED, seq);
	if (in->runq)
		add_sample(w, in, WAIT_EVENT_RUNQ, seq);
}

static void add_clock(struct recording_writer *w, u32 tid, u64 time, u32 mode)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const struct sample s = {
		.id = WRITER_OWN_ID + EVENT_CLOCK, .pid = tid, .tid = tid, .time = time, .period = 1
	};

	CHECK_EQ(build_sample(&b, &clock_attr, (u16)mode, &s), 0);
	CHECK_EQ(recording_writer_add(w, b.data, b.len, NULL), 0);
}

/*
 * Thread 10 on CPU 0: runs from 1000 on, sleeps 1200 - 1500, wants the CPU until 1600, runs until
 * 1900, sleeps on. Thread 20 sleeps until 1300 and runs from then until 1550. A third, 77, is not
 * recorded, but had the CPU when 10 got it at 1600.
 */
static void write_waits(const char *path, const struct buf *accounts)
{
	static const struct wait_of waits[] = {
		{ 20, 0, 1300, 300, 0, OFFCPU_UNKNOWN_START, 0 },
		{ 10, 0, 1600, 300, 100, 0, 77 },
		{ 10, 0, 2000, 100, 0, OFFCPU_OPEN, 0 },
		{ 20, 0, 2000, 450, 0, OFFCPU_OPEN, 0 },
	};
	struct recording_writer *w = open_writer(path);

	add_clock(w, 10, 1000, PERF_RECORD_MISC_USER);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		if (i == 2)
			add_clock(w, 10, 1700, PERF_RECORD_MISC_KERNEL);
		add_wait(w, &waits[i], i + 1);
	}
	if (accounts)
		CHECK_EQ(recording_writer_feature(w, FEATURE_ACCOUNTS, accounts->data,
						  accounts->len, NULL),
			 0);
	CHECK_EQ(recording_writer_finish(w, NULL), 0);
	recording_writer_free(w);
}

static void load(struct recorded *r, const struct buf *accounts, const char *pids)
{
	char *path = xasprintf("%s/waits.data", test_tmpdir());
	range_list list = { 0 }, none = { 0 };
	const struct recorded_opts o = { .pids = &list, .tids = &none, .ran = true };
	struct err e = ERR_INIT;

	write_waits(path, accounts);
	if (pids)
		CHECK_EQ(parse_ranges(pids, 1000, &list, NULL), 0);
	if (recorded_load(r, path, &o, &e) < 0)
		FAIL("cannot load: %s", e.what);
	unlink(path);
	free(path);
	vec_release(&list);
}

TEST("a recording without accounts: time on CPU is that between waits")
{
	const struct offcpu_thread *t;
	struct recorded r;

	load(&r, NULL, NULL);
	CHECK(r.how & RECORDED_NO_ACCOUNTS);
	CHECK(r.how & RECORDED_SPLIT_SAMPLED);
	CHECK(r.how & RECORDED_NO_WAKERS);
	CHECK_EQ(r.threads.len, 2);
	t = r.threads.items[0].tid == 10 ? &r.threads.items[0] : &r.threads.items[1];
	CHECK_EQ(t->oncpu, 200 + 300);
	CHECK_EQ(t->blocked, 400);
	CHECK_EQ(t->runq, 100);
	CHECK_EQ(t->unknown, 0);
	CHECK_EQ(t->utime, 1);
	CHECK_EQ(t->stime, 1);
	CHECK_EQ(t->switches, 2);
	t = r.threads.items[0].tid == 20 ? &r.threads.items[0] : &r.threads.items[1];
	CHECK_EQ(t->oncpu, 250);
	CHECK_EQ(t->blocked, 750);
	recorded_release(&r);
}

TEST("who had the CPU: turns are those between waits, the rest was the last one's")
{
	struct recorded r;

	load(&r, NULL, "10");
	CHECK_EQ(r.threads.len, 1);
	CHECK_EQ(ran_of(&r.ran, 20)->ns, 50);
	CHECK_EQ(ran_of(&r.ran, 77)->ns, 50);
	CHECK_STR(profile_str(&r.load.profile, ran_of(&r.ran, 77)->comm), "t77");
	CHECK(r.guessed && r.guessed <= r.lacked);
	CHECK_EQ(r.root, 10);
	recorded_release(&r);
}

TEST("a recording with accounts: they count, not what can be worked out")
{
	const struct profile_account a = { .pid = 10,
					   .tid = 10,
					   .begin = 900,
					   .end = 2000,
					   .oncpu = 600,
					   .blocked = 400,
					   .runq = 100,
					   .utime = 3,
					   .stime = 1,
					   .minor = 5 };
	_cleanup_buf_ struct buf accounts = BUF_INIT;
	account_list list = { 0 };
	struct recorded r;

	accounts_begin(&accounts, 0, 0);
	accounts_add_cgroup(&accounts, 3, "/here");
	accounts_add(&accounts, &a, "ten", 3);
	load(&r, &accounts, NULL);
	CHECK_EQ(r.how & (RECORDED_NO_ACCOUNTS | RECORDED_SPLIT_SAMPLED | RECORDED_NO_FAULTS), 0);
	CHECK_EQ(r.threads.len, 1);
	CHECK_EQ(r.seen.begin, 900);
	CHECK_EQ(r.threads.items[0].minor, 5);
	accounts_build(&r.seen, &list);
	CHECK_EQ(list.len, 1);
	CHECK_EQ(list.items[0].wall, 1100);
	CHECK_EQ(list.items[0].ns[STATE_USER], 450);
	CHECK_EQ(list.items[0].ns[STATE_SLEEP], 400); /* by the system call */
	CHECK_STR(profile_str(&r.load.profile, list.items[0].cgroup), "/here");
	vec_release(&list);
	recorded_release(&r);
}

static void add_piece(struct recording_writer *w, const struct buf *accounts)
{
	_cleanup_buf_ struct buf record = BUF_INIT;

	CHECK_EQ(recording_writer_piece(&record, FEATURE_ACCOUNTS, accounts->data, accounts->len),
		 0);
	CHECK_EQ(recording_writer_add(w, record.data, record.len, NULL), 0);
}

/* Thread 10 ended while the recording went on, 20 lived to its end and has the group's name. */
static void write_pieces(const char *path, bool whole)
{
	struct recording_writer *w = open_writer(path);

	add_clock(w, 10, 1000, PERF_RECORD_MISC_USER);
	for (u32 tid = 10; tid <= 20; tid += 10) {
		_cleanup_buf_ struct buf accounts = BUF_INIT;
		const struct profile_account a = {
			.pid = (s32)tid, .tid = (s32)tid, .begin = 900, .end = 1000 + tid
		};

		accounts_begin(&accounts, 0, 7);
		if (tid == 20)
			accounts_add_cgroup(&accounts, 3, "/here");
		accounts_add(&accounts, &a, "some", tid == 10 ? 4 : 3);
		accounts_add(&accounts, &a, "some", 3);
		add_piece(w, &accounts);
	}
	if (whole) {
		_cleanup_buf_ struct buf section = BUF_INIT;

		accounts_begin(&section, 0, 7);
		CHECK_EQ(recording_writer_feature(w, FEATURE_ACCOUNTS, section.data, section.len,
						  NULL),
			 0);
	}
	CHECK_EQ(recording_writer_finish(w, NULL), 0);
	recording_writer_free(w);
}

TEST("accounts in pieces: all of them, with names of groups that came later")
{
	char *path = xasprintf("%s/pieces.data", test_tmpdir());
	const struct load_opts opts = { 0 };
	struct profile p;

	write_pieces(path, true);
	profile_init(&p);
	CHECK_EQ(profile_load(&p, path, &opts, NULL), 0);
	CHECK_EQ(p.bad_records, 0);
	CHECK_EQ(p.wait_min, 7);
	CHECK_EQ(p.accounts.len, 4);
	CHECK_EQ(p.accounts.items[0].end, 1010);
	CHECK_STR(profile_str(&p, p.accounts.items[0].cgroup), "[4]");
	CHECK_STR(profile_str(&p, p.accounts.items[1].cgroup), "/here");
	CHECK_STR(profile_str(&p, p.accounts.items[3].cgroup), "/here");
	profile_release(&p);
	write_pieces(path, false);
	profile_init(&p);
	CHECK_EQ(profile_load(&p, path, &opts, NULL), 0);
	CHECK_EQ(p.accounts.len, 0); /* cut: others lived on */
	profile_release(&p);
	unlink(path);
	free(path);
}

TEST("sampled waits: nobody is accused of having had the CPU")
{
	const struct profile_account a = { .pid = 10, .tid = 10, .begin = 900, .end = 2000 };
	_cleanup_buf_ struct buf accounts = BUF_INIT;
	struct recorded r;

	accounts_begin(&accounts, 1000000, 0);
	accounts_add(&accounts, &a, "ten", 3);
	load(&r, &accounts, NULL);
	CHECK(r.seen.waits_sampled);
	CHECK_EQ(r.ran.len, 0);
	recorded_release(&r);
}
