/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wakers, as it is read from a recording: also with filters. */
#include "harness.h"

#include "analysis/waits.h"
#include "profile/load.h"
#include "recording/writer.h"
#include "waits/session.h"

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_BPF_OUTPUT,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
	.sample_id_all = 1,
};

static const char *const names[WAIT_EVENTS] = { "offcpu-time", "runqueue-time", "wakeup-time",
						"chain-time" };

static struct recording_writer *open_writer(const char *path)
{
	const struct writer_options o = { .path = path, .version = "test", .no_machine = true };
	struct recording_writer *w;

	CHECK_EQ(recording_writer_new(&o, &w, NULL), 0);
	for (u64 i = 0; i < WAIT_EVENTS; i++) {
		const u64 id = WRITER_OWN_ID + i;
		const struct writer_event ev = {
			.attr = attr, .name = names[i], .ids = &id, .n_ids = 1
		};

		CHECK_EQ(recording_writer_event(w, &ev, NULL), 0);
	}
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	return w;
}

struct part {
	u32 event, pid;
	u64 seq, time;
	u32 link, is_sleep, kind;
	const char *comm;
};

/* Each stack is one address that says whose it is. */
static void add(struct recording_writer *w, const struct part *in)
{
	struct buf b = BUF_INIT;
	u64 ips[] = { PERF_CONTEXT_USER, 0x1000 * in->pid + 0x10 * in->is_sleep };
	struct wait_record raw = {
		.magic = WAIT_RECORD_MAGIC,
		.event = in->event,
		.seq = in->seq,
		.blocked = 5000,
		.state = 1,
		.link = in->link,
		.is_sleep = in->is_sleep,
		.kind = in->kind,
		.pid = in->pid,
		.tid = in->pid,
	};
	const struct sample s = {
		.id = WRITER_OWN_ID + in->event,
		.ip = ips[1],
		.pid = in->pid,
		.tid = in->pid,
		.time = in->time,
		.period = 5000,
		.ips = ips,
		.n_ips = 2,
		.raw = &raw,
		.raw_size = sizeof(raw),
	};

	memcpy(raw.comm, in->comm, MIN(strlen(in->comm), sizeof(raw.comm)));
	CHECK_EQ(build_sample(&b, &attr, PERF_RECORD_MISC_USER, &s), 0);
	CHECK_EQ(recording_writer_add(w, b.data, b.len, NULL), 0);
	buf_release(&b);
}

/* 10 waits for 20, which had slept until 30 woke it; 40 waits for a timer. */
static void write_waits(const char *path)
{
	struct recording_writer *w = open_writer(path);
	static const struct part parts[] = {
		{ WAIT_EVENT_BLOCKED, 10, 1, 100, 0, 0, 0, "sleeper" },
		{ WAIT_EVENT_WAKER, 20, 1, 100, 0, 0, 0, "waker" },
		{ WAIT_EVENT_CHAIN, 20, 1, 100, 0, 1, 0, "waker" },
		{ WAIT_EVENT_CHAIN, 30, 1, 100, 1, 0, 0, "first" },
		{ WAIT_EVENT_BLOCKED, 40, 2, 200, 0, 0, 0, "other" },
		{ WAIT_EVENT_WAKER, 0, 2, 200, 0, 0, OFFCPU_WAKER_IRQ, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		add(w, &parts[i]);
	CHECK_EQ(recording_writer_finish(w, NULL), 0);
	recording_writer_free(w);
}

static void load(struct profile *p, struct load_opts *o)
{
	char path[] = "/tmp/fathom-wakes-XXXXXX";
	struct err e = ERR_INIT;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	write_waits(path);
	o->wakes = true;
	profile_init(p);
	if (profile_load(p, path, o, &e) < 0)
		FAIL("cannot load: %s", e.what);
	unlink(path);
}

static size_t samples_of(const struct profile *p, const char *event)
{
	size_t n = 0;

	for (size_t i = 0; i < p->samples.len; i++)
		n += streq(profile_str(p, p->events.items[p->samples.items[i].event].name), event);
	return n;
}

TEST(wakers_of_all_waits)
{
	struct load_opts o = { 0 };
	struct profile p;

	load(&p, &o);
	CHECK_EQ(p.wakes.len, 2);
	CHECK_EQ(p.wakers.len, 3);
	CHECK_EQ(p.wakes.items[0].n, 2);
	CHECK(p.wakers.items[0].sleep_stack != 0);
	CHECK_STR(profile_str(&p, p.wakers.items[1].comm), "first");
	CHECK_EQ(samples_of(&p, "wakeup-time"), 2);
	CHECK(wakes_to_profile(&p));
	CHECK_EQ(samples_of(&p, OFFWAKE_EVENT), 2);
	profile_release(&p);
}

/* The filter is about who waits: the waker is kept, though it is another process. */
TEST(a_filter_keeps_wakers_of_other_processes)
{
	struct range mine = { 10, 10 };
	range_list pids = { .items = &mine, .len = 1 };
	struct load_opts o = { .pids = &pids };
	struct profile p;

	load(&p, &o);
	CHECK_EQ(p.wakes.len, 1);
	CHECK_EQ(p.wakes.items[0].n, 2);
	CHECK_EQ(p.wakes.items[0].weight, 5000);
	CHECK_STR(profile_str(&p, p.wakers.items[0].comm), "waker");
	CHECK(p.wakers.items[0].stack != 0);
	CHECK(p.wakers.items[0].sleep_stack != 0);
	CHECK_STR(profile_str(&p, p.wakers.items[1].comm), "first");
	/* but their samples are not those of the process requested */
	CHECK_EQ(samples_of(&p, "offcpu-time"), 1);
	CHECK_EQ(samples_of(&p, "wakeup-time"), 0);
	CHECK_EQ(samples_of(&p, "chain-time"), 0);
	profile_release(&p);
}

TEST(a_filter_by_event_keeps_wakers)
{
	struct load_opts o = { .event = "offcpu-time" };
	struct profile p;

	load(&p, &o);
	CHECK_EQ(p.wakes.len, 2);
	CHECK_EQ(p.wakers.len, 3);
	CHECK_EQ(p.samples.len, 2);
	profile_release(&p);
}

/* A waker that passes a filter which its wait does not: it ended nothing that is shown. */
TEST(wakers_of_waits_that_are_filtered_out)
{
	struct range mine = { 20, 20 };
	range_list pids = { .items = &mine, .len = 1 };
	struct load_opts o = { .pids = &pids };
	struct profile p;

	load(&p, &o);
	CHECK_EQ(p.wakes.len, 0);
	CHECK_EQ(samples_of(&p, "offcpu-time"), 0);
	CHECK_EQ(samples_of(&p, "wakeup-time"), 1);
	CHECK_EQ(samples_of(&p, "chain-time"), 1);
	profile_release(&p);
}

TEST("waits that were all for a CPU: the empty table says where they are")
{
	for (u64 blocked = 0; blocked < 2; blocked++) {
		struct wait w = { .blocked = blocked, .runq = 1000, .count = 1 };
		wait_list waits = { 0 };
		struct profile p;
		struct result r;

		profile_init(&p);
		result_init(&r, "offcpu");
		w.thread = profile_get_thread(&p, 7, 7, profile_string(&p, "x"), 0);
		vec_push(&waits, w);
		waits_to_result(&p, &waits, WAIT_VIEW_SLEEPER, false, 0, &r);
		CHECK_EQ(r.notes.len, blocked ? 0 : 1);
		result_release(&r);
		profile_release(&p);
		vec_release(&waits);
	}
}

struct made_frame {
	const char *name;
	u8 kind;
	bool no_name;
	const char *module;
};

static void place_of(const struct made_frame *frames, size_t n, struct buf *out)
{
	struct profile p;
	u32 stack = 0;

	profile_init(&p);
	for (size_t i = 0; i < n; i++) {
		struct frame f = { .name = profile_string(&p, frames[i].name),
				   .module = profile_string(&p, frames[i].module ? frames[i].module
										 : "/bin/x"),
				   .line = (u32)i,
				   .kind = frames[i].kind,
				   .no_name = frames[i].no_name };

		stack = profile_get_stack(&p, stack, profile_get_frame(&p, &f));
	}
	buf_reset(out);
	wait_place(&p, stack, out);
	profile_release(&p);
}

TEST("the place of a wait names code without names once in a row")
{
	static const struct made_frame frames[] = {
		{ "[unknown]", FRAME_USER, true, NULL },    { "prog+0x10", FRAME_USER, true, NULL },
		{ "[unknown]", FRAME_USER, true, NULL },    { "[unknown]", FRAME_USER, true, NULL },
		{ "pipe_read", FRAME_KERNEL, false, NULL },
	};
	_cleanup_buf_ struct buf text = BUF_INIT;

	place_of(frames, ARRAY_SIZE(frames), &text);
	CHECK_STR(buf_str(&text), "pipe_read < [unknown] < prog+0x10 < [unknown]");
}

TEST("the place of a wait has the names that programmers call")
{
	static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	static const struct made_frame frames[] = {
		{ "main", FRAME_USER, false, NULL },
		{ "__mine", FRAME_USER, false, NULL },
		{ "__new_sem_wait", FRAME_USER, false, libc },
		{ "__new_sem_wait_slow64.constprop.0", FRAME_USER, false, libc },
		{ "__futex_abstimed_wait_common", FRAME_USER, false, libc },
		{ "do_futex", FRAME_KERNEL, false, NULL },
		{ "futex_do_wait", FRAME_KERNEL, false, NULL },
		{ "schedule", FRAME_KERNEL, false, NULL },
	};
	static const struct made_frame stripped[] = {
		{ "main", FRAME_USER, false, NULL },
		{ "libc.so.6+0x100", FRAME_USER, true, libc },
		{ "futex_do_wait", FRAME_KERNEL, false, NULL },
	};
	static const struct made_frame writes[] = {
		{ "main", FRAME_USER, false, NULL },
		{ "__libc_write", FRAME_USER, false, libc },
		{ "pipe_write.isra.0", FRAME_KERNEL, false, NULL },
	};
	_cleanup_buf_ struct buf text = BUF_INIT;

	place_of(frames, ARRAY_SIZE(frames), &text);
	CHECK_STR(buf_str(&text), "sem_wait < __mine < main");
	/* without anybody who called, the kernel's name is all there is */
	place_of(frames + 5, 3, &text);
	CHECK_STR(buf_str(&text), "futex_do_wait");
	/* nor is anything left out where libc has no names */
	place_of(stripped, ARRAY_SIZE(stripped), &text);
	CHECK_STR(buf_str(&text), "futex_do_wait < main");
	place_of(writes, ARRAY_SIZE(writes), &text);
	CHECK_STR(buf_str(&text), "pipe_write < write < main");
}

TEST("the place of a waker begins with what it did, not with how it wakes")
{
	static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	static const struct made_frame kills[] = {
		{ "main", FRAME_USER, false, NULL },
		{ "kill", FRAME_USER, false, libc },
		{ "__send_signal_locked", FRAME_KERNEL, false, NULL },
		{ "__wake_up_common", FRAME_KERNEL, false, NULL },
		{ "ep_poll_callback", FRAME_KERNEL, false, NULL },
		{ "ep_autoremove_wake_function", FRAME_KERNEL, false, NULL },
		{ "try_to_wake_up", FRAME_KERNEL, false, NULL },
	};
	static const struct made_frame jit[] = {
		{ "[unknown]", FRAME_JIT, true, NULL },
		{ "[unknown]", FRAME_JIT, true, NULL },
		{ "pipe_read", FRAME_KERNEL, false, NULL },
	};
	_cleanup_buf_ struct buf text = BUF_INIT;

	place_of(kills, ARRAY_SIZE(kills), &text);
	CHECK_STR(buf_str(&text), "kill < main");
	place_of(kills + 2, 5, &text);
	CHECK_STR(buf_str(&text), "__send_signal_locked");
	place_of(jit, ARRAY_SIZE(jit), &text);
	CHECK_STR(buf_str(&text), "pipe_read < [unknown]");
}
