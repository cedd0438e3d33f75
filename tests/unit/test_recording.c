/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading: byte orders, attr sizes, order of time, pipes. */
#include "harness.h"
#include "test_recording_kit.h"

#include "recording/format.h"

#include <fcntl.h>

/* Two rings of one sweep, so that the file is not in order; then another sweep. */
static void two_rounds(struct emit *e)
{
	kit_comm(e, 5, "worker");
	kit_mmap2(e, 6, "/bin/worker");
	kit_sample(e, 71, 10, 0x400100, 3);
	kit_sample(e, 71, 30, 0x400200, 2);
	kit_sample(e, 72, 20, 0x400300, 1);
	kit_sample(e, 71, 40, 0x400400, 0);
	kit_round(e);
	kit_sample(e, 72, 35, 0x400500, 1);
	kit_sample(e, 71, 50, 0x400600, 1);
	kit_round(e);
}

static void check_two_rounds(struct recording *r)
{
	static const u64 wanted[] = { 5, 6, 10, 20, 30, 35, 40, 50 };
	struct seen seen = { 0 };

	CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
	CHECK_EQ(seen.times.len, ARRAY_SIZE(wanted));
	CHECK_MEM(seen.times.items, wanted, sizeof(wanted));
	CHECK_EQ(seen.samples, 6);
	CHECK_EQ(seen.event_samples[0], 4);
	CHECK_EQ(seen.event_samples[1], 2);
	CHECK_EQ(seen.ips_sum,
		 0x400100 * 3 + 3 + 0x400200 * 2 + 1 + 0x400300 + 0x400500 + 0x400600);
	CHECK_STR(seen.comm, "worker");
	CHECK_STR(seen.path, "/bin/worker");
	CHECK_EQ(seen.mmap.addr, 0x400000);
	CHECK_EQ(seen.mmap.ino, 4711);
	CHECK_EQ(seen.mmap.maj, 8);
	CHECK_EQ(seen.mmap.prot, 5);
	CHECK(recording_fault(r)->reason == NULL);
	CHECK_EQ(recording_counts(r)->rounds, 2);
	CHECK_EQ(recording_counts(r)->out_of_order, 0);
	CHECK_EQ(recording_counts(r)->bad_records, 0);
	seen_release(&seen);
}

static void check_file(bool swap, u32 attr_size)
{
	struct emit e = { .swap = swap };
	const struct recording_event *ev;
	struct recording *r;

	kit_header(&e, attr_size);
	two_rounds(&e);
	kit_close(&e);
	r = kit_open(&e.b);
	CHECK_EQ(recording_info(r)->swapped, swap);
	CHECK_EQ(recording_n_events(r), 2);
	ev = recording_event(r, 1);
	CHECK_STR(ev->name, "page-faults");
	CHECK_EQ(ev->attr.size, attr_size);
	CHECK_EQ(ev->attr.sample_period, 4000);
	CHECK_EQ(ev->attr.sample_id_all, 1);
	CHECK_EQ(ev->attr.precise_ip, 2);
	CHECK_EQ(ev->attr.inherit, 1);
	CHECK_EQ(ev->attr.disabled, 0);
	CHECK_EQ(ev->n_ids, 1);
	CHECK_EQ(ev->ids[0], 72);
	CHECK(recording_event(r, 2) == NULL);
	check_two_rounds(r);
	check_two_rounds(r); /* a file can be read again */
	recording_free(r);
	buf_release(&e.b);
}

TEST(file_in_our_byte_order)
{
	check_file(false, 128);
}

TEST(file_in_the_other_byte_order)
{
	check_file(true, 128);
}

TEST(attr_sizes_of_all_kernels)
{
	static const u32 sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 512 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_file(false, sizes[i]);
		check_file(true, sizes[i]);
	}
}

TEST(scan_keeps_file_order)
{
	static const u64 wanted[] = { 5, 6, 10, 30, 20, 40, 35, 50 };
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	two_rounds(&e);
	kit_close(&e);
	r = kit_open(&e.b);
	CHECK_EQ(recording_scan(r, seen_record, &seen, NULL), 0);
	CHECK_EQ(seen.times.len, ARRAY_SIZE(wanted));
	CHECK_MEM(seen.times.items, wanted, sizeof(wanted));
	kit_end(r, &seen, &e);
}

TEST(callback_ends_the_pass)
{
	struct emit e = { 0 };
	struct seen seen = { .stop_after = 3 };
	struct recording *r;

	kit_header(&e, 128);
	two_rounds(&e);
	kit_close(&e);
	r = kit_open(&e.b);
	CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 77);
	CHECK_EQ(seen.times.len, 3);
	check_two_rounds(r);
	kit_end(r, &seen, &e);
}

TEST(recorder_was_killed)
{
	struct emit e = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	two_rounds(&e);
	r = kit_open(&e.b);
	CHECK(recording_info(r)->unfinished);
	check_two_rounds(r);
	recording_free(r);
	buf_release(&e.b);
}

static void pipe_header(struct emit *e)
{
	emit_u64(e, 0x32454c4946524550ull);
	emit_u64(e, 16);
	for (u64 i = 0; i < 2; i++) {
		size_t start = emit_begin(e, RECORD_HEADER_ATTR, 0), attr = e->b.len;
		struct emit file = { .swap = e->swap };

		/* the attr is the one of a file: header, two ids, then 144 bytes each */
		kit_header(&file, 128);
		buf_add(&e->b, file.b.data + 104 + 16 + i * 144, 128);
		CHECK_EQ(e->b.len - attr, 128);
		emit_u64(e, 71 + i);
		emit_end(e, start);
		buf_release(&file.b);
	}
}

static void emit_event_name(struct emit *e, u64 id, const char *name)
{
	size_t start = emit_begin(e, RECORD_EVENT_UPDATE, 0);

	emit_u64(e, FORMAT_UPDATE_NAME);
	emit_u64(e, id);
	emit_text(e, name, 16);
	emit_end(e, start);
}

static void emit_hostname(struct emit *e, const char *name)
{
	size_t start = emit_begin(e, RECORD_HEADER_FEATURE, 0);

	emit_u64(e, FEATURE_HOSTNAME);
	emit_string(e, name);
	emit_end(e, start);
}

static void check_pipe(bool swap)
{
	struct emit e = { .swap = swap };
	struct recording *r;

	pipe_header(&e);
	emit_event_name(&e, 72, "faults");
	emit_hostname(&e, "box");
	two_rounds(&e);
	r = kit_open(&e.b);
	CHECK(recording_info(r)->pipe);
	CHECK_EQ(recording_n_events(r), 2);
	CHECK_STR(recording_event(r, 1)->name, "faults");
	CHECK_STR(recording_info(r)->hostname, "box");
	check_two_rounds(r);
	CHECK_EQ(recording_n_events(r), 2);
	check_two_rounds(r);
	recording_free(r);
	buf_release(&e.b);
}

TEST(pipe_mode)
{
	check_pipe(false);
	check_pipe(true);
}

static int nothing(const struct record *rec, void *ctx)
{
	(void)rec;
	(void)ctx;
	return 0;
}

/* Feeds bytes through a real pipe. */
static struct recording *open_through_pipe(const struct buf *b)
{
	struct recording *r = NULL;
	int fds[2];

	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	CHECK(b->len < 60000); /* fits the pipe, so one process is enough */
	CHECK_EQ(write(fds[1], b->data, b->len), (ssize_t)b->len);
	close(fds[1]);
	CHECK_EQ(recording_open_fd(fds[0], "pipe", &r, NULL), 0);
	return r;
}

TEST(pipe_cannot_be_read_twice)
{
	struct err err = ERR_INIT;
	struct emit e = { 0 };
	struct recording *r;

	pipe_header(&e);
	two_rounds(&e);
	r = open_through_pipe(&e.b);
	check_two_rounds(r);
	CHECK_EQ(recording_replay(r, nothing, NULL, &err), -ESPIPE);
	CHECK(strstr(err.what, "a second time"));
	err_release(&err);
	recording_free(r);
	buf_release(&e.b);
}

TEST(file_through_a_pipe)
{
	struct emit e = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	two_rounds(&e);
	kit_close(&e);
	r = open_through_pipe(&e.b);
	check_two_rounds(r);
	check_two_rounds(r); /* it was put aside into a file */
	recording_free(r);
	buf_release(&e.b);
}

TEST(aux_data_is_skipped_and_counted)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	size_t start;

	kit_header(&e, 128);
	kit_sample(&e, 71, 10, 1, 1);
	start = emit_begin(&e, RECORD_AUXTRACE, 0);
	emit_u64(&e, 3000);
	for (int i = 0; i < 4; i++)
		emit_u64(&e, 0);
	emit_end(&e, start);
	buf_fill(&e.b, 'x', 3000);
	kit_sample(&e, 71, 20, 1, 1);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, 2);
	CHECK_EQ(recording_counts(r)->aux_bytes, 3000);
	CHECK(recording_fault(r)->reason == NULL);
	kit_end(r, &seen, &e);
}

TEST(unknown_things_are_counted)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	emit_end(&e, emit_begin(&e, 63, 0));
	emit_end(&e, emit_begin(&e, 4000000, 0));
	kit_sample(&e, 99, 10, 1, 1);
	kit_sample(&e, 71, 20, 1, 1);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, 1);
	CHECK_EQ(recording_counts(r)->unknown_records, 2);
	CHECK_EQ(recording_counts(r)->unknown_ids, 1);
	kit_end(r, &seen, &e);
}

/* Records whose size is not a multiple of 8 put all that follow at odd addresses. */
TEST(odd_addresses)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	size_t start;

	kit_header(&e, 128);
	start = emit_begin(&e, 63, 0);
	buf_fill(&e.b, 0, 3);
	emit_end(&e, start);
	two_rounds(&e);
	kit_close(&e);
	r = kit_open(&e.b);
	check_two_rounds(r);
	kit_end(r, &seen, &e);
}

/* Without rounds nothing may be delivered early, until the queue is full. */
TEST(order_without_rounds)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	for (u64 t = 5000; t > 0; t--)
		kit_sample(&e, 71, t, 1, 0);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, 5000);
	for (size_t i = 0; i < seen.times.len; i++)
		CHECK_EQ(seen.times.items[i], i + 1);
	kit_end(r, &seen, &e);
}

TEST_TIMEOUT(queue_is_bounded, 60)
{
	enum { N = 1100000 };
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	for (u64 t = N; t > 0; t--)
		kit_sample(&e, 71, t, 1, 0);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, N);
	CHECK(recording_counts(r)->out_of_order > 0);
	kit_end(r, &seen, &e);
}

TEST(large_records_across_windows)
{
	enum { N = 200 };
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;

	kit_header(&e, 128);
	for (u64 t = 1; t <= N; t++)
		kit_sample(&e, 71, t, 1, 8000); /* 64 KB each, 12 MB in all */
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, N);
	CHECK_EQ(seen.ips_sum, (u64)N * (8000 + 8000ull * 7999 / 2));
	kit_end(r, &seen, &e);
}

/* Offsets that do not fit 32 bits, in a file that is mostly a hole. */
TEST(beyond_4_gigabytes)
{
	const u64 hole = 5ull << 30;
	char *path = xasprintf("%s/large.data", test_tmpdir());
	struct emit e = { 0 }, tail = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	size_t start;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	kit_header(&e, 128);
	kit_sample(&e, 71, 10, 1, 1);
	start = emit_begin(&e, RECORD_AUXTRACE, 0);
	emit_u64(&e, hole);
	emit_end(&e, start);
	kit_sample(&tail, 72, 20, 1, 1);
	kit_close(&e);
	emit_patch_u64(&e, KIT_DATA_SIZE_AT, e.b.len - (104 + 16 + 2 * 144) + hole + tail.b.len);
	CHECK(fd >= 0);
	CHECK_EQ(pwrite(fd, e.b.data, e.b.len, 0), (ssize_t)e.b.len);
	if (pwrite(fd, tail.b.data, tail.b.len, (off_t)(e.b.len + hole)) != (ssize_t)tail.b.len)
		SKIP("the file system takes no large files");
	close(fd);
	CHECK_EQ(recording_open(path, &r, NULL), 0);
	CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
	CHECK_EQ(seen.samples, 2);
	CHECK_EQ(seen.event_samples[1], 1);
	CHECK_EQ(recording_counts(r)->aux_bytes, hole);
	CHECK(recording_fault(r)->reason == NULL);
	kit_end(r, &seen, &e);
	buf_release(&tail.b);
	free(path);
}
