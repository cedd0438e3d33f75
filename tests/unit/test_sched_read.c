/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of the scheduler, written here field by field: order, names, cuts. */
#include "analysis/sched.h"
#include "waits/sched_group.h"
#include "waits/sched_order.h"
#include "analysis/threads.h"
#include "base/hash.h"
#include "recording/format.h"
#include "recording/recording.h"
#include "recording/writer.h"
#include "unit/harness.h"
#include "unit/test_recording_kit.h"

enum {
	ID_SWITCH = 11, /* and on: waking, run times */
	EVENTS = 3,
	PLAIN = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW,
};

static const char switch_format[] =
	"name: sched_switch\nID: 321\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n";
static const char runtime_format[] =
	"name: sched_stat_runtime\nID: 323\nformat:\n"
	"\tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 runtime;\toffset:16;\tsize:8;\tsigned:0;\n";
static const char waking_format[] = "name: sched_waking\nID: 322\nformat:\n"
				    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";

static void add_format(struct buf *b, const char *text)
{
	u64 n = strlen(text);

	buf_add(b, &n, 8);
	buf_addstr(b, text);
}

static void add_tracing(struct buf *b)
{
	const u8 machine[] = { 0, 8, 0, 16, 0, 0 };
	const u32 none = 0, one = 1, formats = EVENTS;
	const u64 nothing = 0;

	buf_add(b, FORMAT_TRACING_MAGIC, FORMAT_TRACING_MAGIC_SIZE);
	buf_add(b, "0.6", 4);
	buf_add(b, machine, sizeof(machine));
	buf_add(b, "header_page", 12);
	buf_add(b, &nothing, 8);
	buf_add(b, "header_event", 13);
	buf_add(b, &nothing, 8);
	buf_add(b, &none, 4);
	buf_add(b, &one, 4);
	buf_add(b, "sched", 6);
	buf_add(b, &formats, 4);
	add_format(b, switch_format);
	add_format(b, waking_format);
	add_format(b, runtime_format);
	buf_fill(b, 0, 16);
}

struct file {
	char *path;
	struct recording_writer *w;
	struct perf_event_attr attr[EVENTS];
	struct buf records;
};

static void file_open(struct file *f, u64 sample_type)
{
	static const char *const names[EVENTS] = { "sched:sched_switch", "sched:sched_waking",
						   "sched:sched_stat_runtime" };
	_cleanup_buf_ struct buf tracing = BUF_INIT;

	*f = (struct file){ .path = xasprintf("%s/sched.data", test_tmpdir()) };
	struct writer_options o = { .path = f->path, .no_machine = true };

	CHECK_EQ(recording_writer_new(&o, &f->w, NULL), 0);
	for (u32 i = 0; i < EVENTS; i++) {
		const u64 id = ID_SWITCH + i;

		f->attr[i] = (struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT,
						       .config = 321 + i,
						       .sample_period = 1,
						       .sample_type = sample_type,
						       .sample_id_all = 1 };
		CHECK_EQ(recording_writer_event(f->w,
						&(struct writer_event){ .attr = f->attr[i],
									.ids = &id,
									.n_ids = 1,
									.name = names[i] },
						NULL),
			 0);
	}
	add_tracing(&tracing);
	CHECK_EQ(recording_writer_feature(f->w, FEATURE_TRACING_DATA, tracing.data, tracing.len,
					  NULL),
		 0);
	CHECK_EQ(recording_writer_start(f->w, NULL), 0);
}

static void flush(struct file *f)
{
	CHECK_EQ(recording_writer_add(f->w, f->records.data, f->records.len, NULL), 0);
	buf_reset(&f->records);
}

static void add_raw(struct file *f, u32 event, u64 time, u32 cpu, u32 tid, const void *raw, u32 n)
{
	static const u64 ips[] = { 0xffffffff81000000ull, 0xffffffff81000010ull };
	struct sample s = { .id = ID_SWITCH + event,
			    .pid = tid,
			    .tid = tid,
			    .time = time,
			    .cpu = cpu,
			    .period = 1,
			    .ips = ips,
			    .n_ips = 2,
			    .raw = raw,
			    .raw_size = n };

	CHECK_EQ(build_sample(&f->records, &f->attr[event], PERF_RECORD_MISC_KERNEL, &s), 0);
	flush(f);
}

static void add_switch(struct file *f, u64 time, u32 cpu, u32 prev, const char *prev_comm,
		       u64 state, u32 next, const char *next_comm)
{
	u8 raw[60] = { 0 };

	memcpy(raw + 8, prev_comm, strlen(prev_comm));
	memcpy(raw + 24, &prev, 4);
	memcpy(raw + 32, &state, 8);
	memcpy(raw + 40, next_comm, strlen(next_comm));
	memcpy(raw + 56, &next, 4);
	add_raw(f, 0, time, cpu, prev, raw, sizeof(raw));
}

static void add_fork(struct file *f, u64 time, u32 parent, u32 child)
{
	struct record_ids ids = { .time = time, .id = ID_SWITCH };
	const u32 fork[] = { child, parent, child, parent, 0, 0 };

	kit_record(&f->records, PERF_RECORD_FORK, fork, sizeof(fork), &f->attr[0], &ids);
	flush(f);
}

static void add_name(struct file *f, u64 time, u32 tid, const char *comm)
{
	struct record_ids ids = { .time = time, .id = ID_SWITCH };
	struct {
		u32 pid, tid;
		char comm[16];
	} c = { .pid = 500, .tid = tid };

	snprintf(c.comm, sizeof(c.comm), "%s", comm);
	kit_record(&f->records, PERF_RECORD_COMM, &c, sizeof(c), &f->attr[0], &ids);
	flush(f);
}

static void add_round(struct file *f)
{
	CHECK_EQ(recording_writer_round(f->w, NULL), 0);
}

struct told {
	struct sched_names names;
	const struct sched_filter *filter;
	struct sched_event events[32];
	char comm[32][SCHED_COMM]; /* of prev at that moment */
	size_t n;
};

static int on_events(void *ctx, const struct sched_event *ev, size_t n)
{
	struct told *t = ctx;

	for (; n; n--, ev++) {
		if (t->n >= ARRAY_SIZE(t->events))
			return -E2BIG;
		snprintf(t->comm[t->n], SCHED_COMM, "%s", sched_comm(&t->names, ev->prev));
		t->events[t->n++] = *ev;
		if (ev->type == SCHED_SWITCH)
			sched_follow(&t->names, t->filter, ev);
	}
	return 0;
}

static void file_read(struct file *f, const struct sched_filter *filter, struct told *ret)
{
	_cleanup_err_ struct err e = ERR_INIT;

	*ret = (struct told){ .filter = filter };
	CHECK_EQ(recording_writer_finish(f->w, NULL), 0);
	recording_writer_free(f->w);
	CHECK_EQ(sched_read(f->path, -1, filter, &ret->names, on_events, ret, &e), 0);
	buf_release(&f->records);
	free(f->path);
}

TEST("two CPUs' events are merged by time, over the end of a round")
{
	struct file f;
	struct told t;

	file_open(&f, PLAIN);
	add_switch(&f, 100, 0, 10, "a", 1, 20, "b");
	add_switch(&f, 300, 0, 20, "b", 0, 10, "a");
	add_switch(&f, 150, 1, 30, "c", 2, 40, "d");
	add_switch(&f, 300, 1, 40, "d", 1, 0, "swapper/1"); /* the same time: after CPU 0's */
	add_round(&f);
	add_switch(&f, 500, 0, 10, "a", 1, 0, "swapper/0");
	add_switch(&f, 350, 1, 0, "swapper/1", 0, 30, "c");
	add_round(&f);
	file_read(&f, NULL, &t);
	static const u64 times[] = { 100, 150, 300, 300, 350, 500 };
	static const u32 prevs[] = { 10, 30, 20, 40, 0, 10 };

	CHECK_EQ(t.n, 6);
	for (size_t i = 0; i < t.n; i++) {
		CHECK_EQ(t.events[i].time, times[i]);
		CHECK_EQ(t.events[i].prev, prevs[i]);
	}
	CHECK_EQ(t.events[1].state, 2);
	CHECK_EQ(t.events[1].next, 40);
	CHECK_EQ(t.events[1].cpu, 1);
	CHECK_EQ(t.names.first, 100);
	CHECK_EQ(t.names.last, 500);
	CHECK_EQ(t.names.cpus, 2);
	CHECK_EQ(t.names.events, 6);
	sched_names_release(&t.names);
}

TEST("samples with a callchain before their data are read, too")
{
	struct file f;
	struct told t;

	file_open(&f, PLAIN | PERF_SAMPLE_CALLCHAIN);
	add_switch(&f, 100, 0, 10, "a", 1, 20, "b");
	add_switch(&f, 90, 3, 30, "c", 0x102, 40, "d");
	file_read(&f, NULL, &t);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.events[0].prev, 30);
	CHECK_EQ(t.events[0].state, 2);
	CHECK_EQ(t.events[1].next, 20);
	sched_names_release(&t.names);
}

TEST("names are those of the moment, also where the file tells them late")
{
	struct file f;
	struct told t;

	file_open(&f, PLAIN);
	add_switch(&f, 400, 1, 10, "late", 1, 0, "swapper/1");
	add_switch(&f, 100, 0, 10, "early", 1, 20, "b");
	add_name(&f, 200, 10, "exec");
	add_switch(&f, 300, 0, 10, "exec", 1, 20, "b");
	add_fork(&f, 500, 10, 600);
	add_switch(&f, 600, 0, 600, "exec", 1, 20, "b");
	file_read(&f, NULL, &t);
	CHECK_EQ(t.n, 5);
	CHECK_STR(t.comm[0], "early");
	CHECK_STR(t.comm[1], "exec");
	CHECK_STR(t.comm[2], "exec");
	CHECK_EQ(t.events[3].type, SCHED_BORN);
	CHECK_STR(t.comm[4], "exec");
	CHECK_EQ(sched_pid(&t.names, 10), 500);
	CHECK_EQ(sched_pid(&t.names, 600), 600);
	sched_names_release(&t.names);
}

static void add_runtime(struct file *f, u64 time, u32 cpu, u32 tid, u64 ns)
{
	u8 raw[24] = { 0 };

	memcpy(raw + 12, &tid, 4);
	memcpy(raw + 16, &ns, 8);
	add_raw(f, 2, time, cpu, tid, raw, sizeof(raw));
}

static void add_waking(struct file *f, u64 time, u32 cpu, u32 tid, u8 flags, u32 whom)
{
	u8 raw[28] = { 0 };

	raw[2] = flags;
	memcpy(raw + 8, "woken", 5);
	memcpy(raw + 24, &whom, 4);
	add_raw(f, 1, time, cpu, tid, raw, sizeof(raw));
}

/* Two CPUs; the last run time of CPU 1 is too long for its place in a switch. */
static void add_run_times(struct file *f)
{
	add_runtime(f, 100, 0, 10, 5);
	add_waking(f, 110, 0, 10, 0, 20);
	add_runtime(f, 120, 0, 10, 7);
	add_switch(f, 130, 0, 10, "a", 1, 20, "b");
	add_runtime(f, 140, 0, 20, 9);
	add_switch(f, 145, 0, 20, "b", 1, 10, "a");
	add_runtime(f, 115, 1, 30, 13);
	add_switch(f, 125, 1, 30, "c", 0, 40, "d");
	add_runtime(f, 135, 1, 40, 11);
	add_runtime(f, 150, 1, 30, 1ull << 33);
	add_switch(f, 155, 1, 30, "c", 1, 40, "d");
	add_round(f);
	add_switch(f, 160, 0, 10, "a", 1, 20, "b");
}

static u64 run_time_of(const struct told *t, u32 tid)
{
	u64 sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct sched_event *ev = &t->events[i];

		if (ev->type == SCHED_RUNTIME && ev->next == tid)
			sum += ev->runtime;
		if (ev->type == SCHED_SWITCH && ev->prev == tid)
			sum += ev->ran;
	}
	return sum;
}

TEST("run times come with the switch that ends them, or alone; none is lost")
{
	const struct sched_filter part = { .fold_runtime = true, .from = 1 };
	const struct sched_filter folded = { .fold_runtime = true };
	const struct sched_filter *const filters[] = { NULL, &part, &folded };
	struct file f;
	struct told t;

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		file_open(&f, PLAIN);
		add_run_times(&f);
		file_read(&f, filters[i], &t);
		CHECK_EQ(run_time_of(&t, 10), 12);
		CHECK_EQ(run_time_of(&t, 20), 9);
		CHECK_EQ(run_time_of(&t, 30), (1ull << 33) + 13);
		CHECK_EQ(run_time_of(&t, 40), 11);
		CHECK_EQ(t.names.events, 12);
		/* 20's came with its switch; the first that is heard of 10 and 30 stands alone, as
		 * does what is followed by another task's */
		CHECK_EQ(t.n, filters[i] == &folded ? 11 : 12);
		for (size_t j = 1; j < t.n; j++)
			CHECK(t.events[j].time >= t.events[j - 1].time);
		sched_names_release(&t.names);
	}
}

/* What is the same however samples are read: switches and wake-ups one by one, sums of run times.
 */
struct digest {
	struct sched_names names;
	u64 events;
	u64 runtime[64];
	u64 n, last, wrong;
};

static int digest_events(void *ctx, const struct sched_event *ev, size_t n)
{
	struct digest *d = ctx;

	for (; n; n--, ev++) {
		bool is_switch = ev->type == SCHED_SWITCH;

		d->wrong += ev->time < d->last;
		d->last = ev->time;
		if (is_switch)
			d->runtime[ev->prev % 64] += ev->ran;
		if (ev->type == SCHED_RUNTIME) {
			d->runtime[ev->next % 64] += ev->runtime;
			continue;
		}
		d->n++;
		d->events = hash_mix(d->events, ev->time);
		d->events = hash_mix(d->events, (u64)ev->next << 32 | (u32)ev->cpu << 8 | ev->type);
		d->events =
			hash_mix(d->events, is_switch ? (u64)ev->prev << 8 | ev->state : ev->tid);
		d->events = hash_mix(d->events, hash_str(sched_comm(&d->names, ev->next)));
	}
	return 0;
}

/* Turns of @tasks tasks on two CPUs in @rounds rounds; run times of a task before it was seen, too.
 */
static void add_many(struct file *f, u32 rounds, u32 tasks)
{
	u32 runs[2] = { 1, 2 };
	u64 time = 1000, x = 88172645463325252ull;

	for (u32 round = 0; round < rounds; round++) {
		for (u32 cpu = 0; cpu < 2; cpu++) {
			u64 now = time + cpu * 3;

			for (u32 i = 0; i < 200; i++, now += 7 + x % 5) {
				u32 next = cpu + 1 + 2 * (u32)(x >> 40) % tasks;

				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				if (x % 4)
					add_runtime(f, now, cpu, runs[cpu], x % 1000);
				if (x % 3 == 0)
					add_waking(f, now + 1, cpu, runs[cpu], 0, next);
				if (x % 2 == 0)
					continue;
				add_switch(f, now + 2, cpu, runs[cpu], "t", x % 8, next, "t");
				runs[cpu] = next;
			}
		}
		time += 3000;
		add_round(f);
	}
}

static void digest_file(u64 sample_type, const struct sched_filter *filter, struct digest *ret)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct file f;

	*ret = (struct digest){ 0 };
	file_open(&f, sample_type);
	add_many(&f, 5, 20);
	CHECK_EQ(recording_writer_finish(f.w, NULL), 0);
	recording_writer_free(f.w);
	CHECK_EQ(sched_read(f.path, -1, filter, &ret->names, digest_events, ret, &e), 0);
	buf_release(&f.records);
	free(f.path);
	sched_names_release(&ret->names);
}

TEST("samples are read alike wherever their parts lie, run times folded or not")
{
	static const u64 types[] = { PLAIN, PLAIN | PERF_SAMPLE_STREAM_ID,
				     PLAIN & ~(u64)PERF_SAMPLE_PERIOD,
				     PLAIN | PERF_SAMPLE_CALLCHAIN };
	const struct sched_filter folded = { .fold_runtime = true };
	struct digest want, d;

	digest_file(PLAIN | PERF_SAMPLE_CALLCHAIN, NULL, &want);
	CHECK(want.n > 1000 && want.wrong == 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(types); i++) {
		digest_file(types[i / 2], i % 2 ? &folded : NULL, &d);
		CHECK_EQ(d.n, want.n);
		CHECK_EQ(d.events, want.events);
		CHECK(memcmp(d.runtime, want.runtime, sizeof(d.runtime)) == 0);
		CHECK_EQ(d.wrong, 0);
	}
}

TEST("events that were lost are reported, records that nobody wants are passed over")
{
	const struct record_ids ids = { .time = 105, .id = ID_SWITCH };
	const struct record_mmap map = { .pid = 10, .tid = 10, .len = 4096, .filename = "/a" };
	struct file f;
	struct told t;

	file_open(&f, PLAIN);
	add_switch(&f, 100, 0, 10, "a", 1, 20, "b");
	CHECK_EQ(build_mmap2(&f.records, &f.attr[0], &ids, 0, &map), 0);
	kit_record(&f.records, PERF_RECORD_LOST, (const u64[]){ 7, 99 }, 16, &f.attr[0], &ids);
	flush(&f);
	add_switch(&f, 110, 0, 20, "b", 1, 10, "a");
	file_read(&f, NULL, &t);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.names.lost, 99);
	sched_names_release(&t.names);
}

TEST("data that is cut is counted, not read")
{
	const u8 raw[40] = { 0 };
	struct file f;
	struct told t;

	file_open(&f, PLAIN);
	add_switch(&f, 100, 0, 10, "a", 1, 20, "b");
	add_raw(&f, 0, 200, 0, 10, raw, sizeof(raw));
	add_raw(&f, 0, 210, SCHED_CPUS_MOST, 10, raw, sizeof(raw));
	file_read(&f, NULL, &t);
	CHECK_EQ(t.n, 1);
	CHECK_EQ(t.names.bad, 2);
	sched_names_release(&t.names);
}

TEST("types that nobody wants are counted only")
{
	const struct sched_filter filter = { .types = ~(1u << SCHED_WAKING) };
	const u8 raw[28] = { 0 };
	struct file f;
	struct told t;

	file_open(&f, PLAIN);
	add_switch(&f, 100, 0, 10, "a", 1, 20, "b");
	add_raw(&f, 1, 200, 0, 10, raw, sizeof(raw));
	file_read(&f, &filter, &t);
	CHECK_EQ(t.n, 1);
	CHECK_EQ(t.names.events, 2);
	CHECK(t.names.has[SCHED_WAKING] && !t.names.has[SCHED_WAKEUP]);
	sched_names_release(&t.names);
}

TEST("switches that are missing are counted, of what is asked for")
{
	range_list cpu = { 0 }, pid = { 0 };
	const struct sched_filter filters[] = { { 0 },
						{ .cpus = &cpu },
						{ .pids = &pid },
						{ .from = 260 },
						{ .from = 260, .outside = true },
						{ .to = 240 } };
	/* who ran at 260 is known only from before it */
	static const u64 gaps[] = { 2, 1, 1, 0, 1, 0 };
	struct file f;
	struct told t;

	CHECK_EQ(parse_ranges("1", 10, &cpu, NULL), 0);
	CHECK_EQ(parse_ranges("40", 100, &pid, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		file_open(&f, PLAIN);
		add_switch(&f, 100, 0, 10, "a", 1, 20, "b");
		add_switch(&f, 200, 0, 20, "b", 1, 0, "swapper/0");
		add_switch(&f, 300, 0, 40, "d", 1, 10, "a"); /* nobody saw it come */
		add_switch(&f, 150, 1, 50, "e", 1, 60, "f");
		add_switch(&f, 250, 1, 0, "swapper/1", 1, 50, "e"); /* nor the idle task */
		file_read(&f, &filters[i], &t);
		CHECK_EQ(t.names.gaps, gaps[i]);
		sched_names_release(&t.names);
	}
	vec_release(&cpu);
	vec_release(&pid);
}

/* --- the queue -------------------------------------------------------------------------------- */

struct sum {
	u64 n, last, wrong;
	u32 came; /* of those of one time, the last */
};

static int in_order(void *ctx, const struct sched_event *ev, size_t n)
{
	struct sum *s = ctx;

	s->wrong += n > 1 && ev->type >= SCHED_TYPES;
	for (; n; n--, ev++) {
		s->wrong += ev->time < s->last || (ev->time == s->last && ev->next <= s->came);
		s->last = ev->time;
		s->came = ev->next;
		s->n++;
	}
	return 0;
}

static void order_push(struct sched_order *o, u64 time, u8 type, u32 came)
{
	sched_order_push(o, &(struct sched_event){ .time = time, .type = type, .next = came });
}

TEST("any mixture of runs comes out in order")
{
	struct sched_order o = { 0 };
	struct sum sum = { 0 };
	u64 x = 88172645463325252ull, base = 1;
	u32 came = 0;

	for (u32 round = 0; round < 20; round++) {
		for (u32 i = 0; i < 5000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			order_push(&o, base + x % (i % 700 + 1),
				   x >> 60 ? SCHED_SWITCH : SCHED_BORN, ++came);
		}
		CHECK_EQ(sched_order_round(&o, in_order, &sum), 0);
		base += 700;
	}
	CHECK(sum.n > 18 * 5000);
	CHECK_EQ(sched_order_flush(&o, in_order, &sum), 0);
	CHECK_EQ(sum.n, 20 * 5000);
	CHECK_EQ(sum.wrong, 0);
	sched_order_release(&o);
}

/* A round of each CPU's events one after the other, as rings are read; times are often equal. */
static void push_long_runs(struct sched_order *o, u32 cpus, u32 round, u32 *came, u64 *x)
{
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		u64 time = 1 + (u64)round * 20000 + cpu % 2 * 500;

		for (u32 i = 0; i < 3000; i++) {
			*x ^= *x << 13;
			*x ^= *x >> 7;
			*x ^= *x << 17;
			time += *x % 4;
			order_push(o, time, *x >> 56 ? SCHED_SWITCH : SCHED_BORN, ++*came);
		}
	}
}

TEST("long runs of any number of CPUs come out in order, equal times as they came")
{
	for (u32 cpus = 1; cpus <= 5; cpus++) {
		struct sched_order o = { 0 };
		struct sum sum = { 0 };
		u64 x = 88172645463325252ull;
		u32 came = 0;

		for (u32 round = 0; round < 4; round++) {
			push_long_runs(&o, cpus, round, &came, &x);
			CHECK_EQ(sched_order_round(&o, in_order, &sum), 0);
		}
		CHECK_EQ(sched_order_flush(&o, in_order, &sum), 0);
		CHECK_EQ(sum.n, came);
		CHECK_EQ(sum.wrong, 0);
		sched_order_release(&o);
	}
}

TEST("without rounds the queue stays bounded")
{
	struct sched_order o = { 0 };
	struct sum sum = { 0 };

	for (u64 i = 1; i <= SCHED_ORDER_MOST + 10; i++) {
		if (sched_order_full(&o, 1))
			CHECK_EQ(sched_order_drain_some(&o, in_order, &sum), 0);
		order_push(&o, i, SCHED_SWITCH, (u32)i);
		CHECK(o.older.events.len + o.fresh.events.len <= SCHED_ORDER_MOST);
	}
	CHECK(sum.n > 0);
	CHECK_EQ(sched_order_flush(&o, in_order, &sum), 0);
	CHECK_EQ(sum.n, SCHED_ORDER_MOST + 10);
	CHECK_EQ(sum.wrong, 0);
	sched_order_release(&o);
}

/* --- what threads did, by switches alone ------------------------------------------------------ */

static const struct offcpu_thread *thread_of(const struct recorded *r, u32 tid)
{
	vec_each(t, &r->threads) {
		if (t->tid == tid)
			return t;
	}
	return NULL;
}

static const struct wait *wait_of(const struct recorded *r, s32 tid)
{
	vec_each(w, &r->load.waits) {
		if (r->load.profile.threads.items[w->thread].tid == tid)
			return w;
	}
	return NULL;
}

/*
 * CPU 0: 10 until 100, then 20 until 300 (preempted), 10 until 350, 20 until 400, 30 (born at 380)
 * until it dies at 500. 10 sleeps from 100 on and is woken at 250, 40 is woken by a timer at 450
 * and never runs.
 */
static void write_threads(struct file *f)
{
	file_open(f, PLAIN);
	add_name(f, 0, 10, "ten");
	add_switch(f, 50, 0, 99, "before", 1, 10, "ten");
	add_switch(f, 100, 0, 10, "ten", 1, 20, "twenty");
	add_waking(f, 250, 0, 20, 0, 10);
	add_switch(f, 300, 0, 20, "twenty", 0, 10, "ten");
	add_switch(f, 350, 0, 10, "ten", 2, 20, "twenty");
	add_fork(f, 380, 20, 30);
	add_switch(f, 400, 0, 20, "twenty", 1, 30, "thirty");
	add_waking(f, 450, 0, 30, 0x08, 40);
	add_switch(f, 500, 0, 30, "thirty", 0x10, 0, "swapper/0");
	add_round(f);
	CHECK_EQ(recording_writer_finish(f->w, NULL), 0);
	recording_writer_free(f->w);
	buf_release(&f->records);
}

TEST("threads by switches: running, runnable and blocked sum to each one's time")
{
	static const range_list none;
	const struct recorded_opts all = { .pids = &none, .tids = &none };
	_cleanup_err_ struct err e = ERR_INIT;
	const struct offcpu_thread *t;
	struct recorded r;
	struct file f;

	write_threads(&f);
	CHECK_EQ(recorded_load(&r, f.path, &all, &e), 0);
	CHECK(r.how & RECORDED_SWITCHES);
	CHECK(r.seen.unsplit);
	CHECK_EQ(r.seen.end - r.seen.begin, 450);
	CHECK_EQ(r.threads.len, 5);
	t = thread_of(&r, 10);
	CHECK_EQ(t->oncpu, 100);
	CHECK_EQ(t->runq, 50);
	/* awake, it wanted a CPU until 300; the first turn began when the recording did */
	CHECK_EQ(t->blocked, 150 + 150);
	CHECK_EQ(t->unknown, 0);
	t = thread_of(&r, 20);
	/* nobody woke it: it wanted a CPU from the begin on */
	CHECK_EQ(t->runq, 50 + 50);
	CHECK_EQ(t->oncpu, 200 + 50);
	CHECK_EQ(t->blocked, 100);
	CHECK_EQ(t->preemptions, 1);
	t = thread_of(&r, 30);
	CHECK_EQ(t->begin, 380);
	CHECK_EQ(t->end, 500);
	CHECK_EQ(t->runq, 20);
	CHECK_EQ(t->oncpu, 100);
	t = thread_of(&r, 40);
	CHECK_EQ(t->blocked, 400);
	CHECK_EQ(t->runq, 50);
	CHECK_EQ(wait_of(&r, 20)->kind, STATE_OTHER);
	recorded_release(&r);
	unlink(f.path);
	free(f.path);
}

TEST("one process by switches: its waits, their wakers, and who had the CPU instead")
{
	_cleanup_err_ struct err e = ERR_INIT;
	range_list pids = { 0 }, none = { 0 };
	const struct recorded_opts one = { .pids = &pids, .tids = &none, .ran = true };
	const struct wait *w;
	struct recorded r;
	struct file f;

	write_threads(&f);
	CHECK_EQ(parse_ranges("500", 1000, &pids, NULL), 0); /* the process of 10 */
	CHECK_EQ(recorded_load(&r, f.path, &one, &e), 0);
	CHECK_EQ(r.threads.len, 1);
	CHECK_EQ(r.load.waits.len, 2);
	w = &r.load.waits.items[0];
	CHECK_EQ(w->blocked, 150);
	CHECK_EQ(w->runq, 50);
	CHECK_EQ(w->kind, STATE_INTERRUPTIBLE);
	CHECK_EQ(w->n_links, 1);
	CHECK_EQ(w->links[0].tid, 20);
	CHECK_STR(profile_str(&r.load.profile, w->links[0].comm), "twenty");
	w = &r.load.waits.items[1];
	CHECK_EQ(w->blocked, 150);
	CHECK(w->flags & OFFCPU_OPEN);
	CHECK_EQ(w->kind, STATE_UNINTERRUPTIBLE);
	CHECK_EQ(r.ran.len, 1);
	CHECK_EQ(r.ran.items[0].tid, 20);
	CHECK_EQ(r.ran.items[0].ns, 50);
	recorded_release(&r);
	vec_release(&pids);
	CHECK_EQ(parse_ranges("40", 1000, &pids, NULL), 0);
	CHECK_EQ(recorded_load(&r, f.path, &one, &e), 0);
	w = &r.load.waits.items[0];
	CHECK_EQ(w->links[0].kind, OFFCPU_WAKER_IRQ);
	CHECK_STR(profile_str(&r.load.profile, w->links[0].comm), "[irq]");
	recorded_release(&r);
	vec_release(&pids);
	unlink(f.path);
	free(f.path);
}

TEST(sched_group_path_is_that_of_the_records)
{
	static const struct {
		const char *name, *path;
	} cases[] = {
		{ "a.slice", "/a.slice" },
		{ "/a/b/", "/a/b" },
		{ "/sys/fs/cgroup/a", "/a" },
		{ "/sys/fs/cgroup/unified/a/", "/a" },
		{ "/sys/fs/cgroupa", "/sys/fs/cgroupa" },
		{ "/sys/fs/cgroup", "/" },
		{ "//", "/" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *path = sched_group_path(cases[i].name);

		CHECK_STR(path, cases[i].path);
	}
}

TEST(sched_group_stays_have_two_ends)
{
	struct sched_group g = { 0 };

	vec_push(&g.stays, (struct sched_stay){ 7, 0, 10 });
	vec_push(&g.stays, (struct sched_stay){ 7, 20, 30 });
	vec_push(&g.stays, (struct sched_stay){ 9, 5, UINT64_MAX });
	CHECK(sched_group_has(&g, 7, 0));
	CHECK(sched_group_has(&g, 7, 9));
	CHECK(!sched_group_has(&g, 7, 10));
	CHECK(sched_group_has(&g, 7, 20));
	CHECK(!sched_group_has(&g, 7, 30));
	CHECK(!sched_group_has(&g, 8, 9));
	CHECK(!sched_group_has(&g, 9, 4));
	CHECK(sched_group_has(&g, 9, 1ull << 60));
	CHECK(sched_group_knows(&g, 7) && sched_group_knows(&g, 9) && !sched_group_knows(&g, 8));
	sched_group_release(&g);
}
