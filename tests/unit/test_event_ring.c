/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings in ordinary memory: what the kernel would have written, and what it never should. */
#include "unit/harness.h"

#include "base/buf.h"
#include "capture/ring.h"

enum { SIZE = 4096 };

struct fake {
	struct ring ring;
	struct perf_event_mmap_page page;
	u8 data[SIZE];
	struct buf got;
	u32 calls;
};

static void fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->ring.page = &f->page;
	f->ring.data = f->data;
	f->ring.size = SIZE;
}

static void fake_release(struct fake *f)
{
	free(f->ring.scratch);
	buf_release(&f->got);
}

static int take(void *ctx, const void *bytes, size_t n)
{
	struct fake *f = ctx;

	buf_add(&f->got, bytes, n);
	f->calls++;
	return 0;
}

static void put_at(struct fake *f, u64 at, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->data[(at + i) % SIZE] = ((const u8 *)p)[i];
}

/* A record of @size bytes whose body counts up from @seed. */
static void put_record(struct fake *f, u64 at, u32 type, u16 size, u8 seed)
{
	u8 bytes[SIZE];
	struct perf_event_header h = { .type = type, .size = size };

	memcpy(bytes, &h, sizeof(h));
	for (u16 i = sizeof(h); i < size; i++)
		bytes[i] = (u8)(seed + i);
	put_at(f, at, bytes, size);
}

TEST(records come whole across the end)
{
	struct ring_stats stats = { 0 };
	struct perf_event_header h;
	struct fake f;

	fake_init(&f);
	f.page.data_tail = SIZE - 40;
	put_record(&f, SIZE - 40, PERF_RECORD_COMM, 24, 1);
	put_record(&f, SIZE - 16, PERF_RECORD_SAMPLE, 48, 2); /* 16 before the end, 32 after */
	put_record(&f, SIZE + 32, PERF_RECORD_SAMPLE, 16, 3);
	f.page.data_head = SIZE + 48;
	CHECK_EQ(ring_read(&f.ring, &stats, take, &f, NULL), 0);
	CHECK_EQ(f.calls, 3);
	CHECK_EQ(f.got.len, 24 + 48 + 16);
	memcpy(&h, f.got.data + 24, sizeof(h));
	CHECK_EQ(h.size, 48);
	CHECK_EQ((u8)f.got.data[24 + 47], 2 + 47);
	CHECK_EQ(stats.samples, 2);
	CHECK_EQ(stats.records, 3);
	CHECK_EQ(stats.bytes, 88);
	CHECK_EQ(f.page.data_tail, f.page.data_head);
	CHECK_EQ(ring_read(&f.ring, &stats, take, &f, NULL), 0);
	CHECK_EQ(f.calls, 3);
	fake_release(&f);
}

TEST(losses are counted)
{
	const u64 lost[2] = { 7, 1234 }, lost_samples[1] = { 5 };
	struct ring_stats stats = { 0 };
	struct fake f;

	fake_init(&f);
	put_record(&f, 0, PERF_RECORD_LOST, 24, 0);
	put_at(&f, 8, lost, sizeof(lost));
	put_record(&f, 24, PERF_RECORD_LOST_SAMPLES, 16, 0);
	put_at(&f, 32, lost_samples, sizeof(lost_samples));
	put_record(&f, 40, PERF_RECORD_LOST, 8, 0); /* too short for a number */
	put_record(&f, 48, PERF_RECORD_THROTTLE, 32, 0);
	f.page.data_head = 80;
	CHECK_EQ(ring_read(&f.ring, &stats, take, &f, NULL), 0);
	CHECK_EQ(stats.lost, 1234);
	CHECK_EQ(stats.lost_samples, 5);
	CHECK_EQ(stats.throttled, 1);
	fake_release(&f);
}

TEST(damaged records end the reading)
{
	static const u16 sizes[] = { 0, 4, 12, 65528 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct perf_event_header h = { .type = 9, .size = sizes[i] };
		struct ring_stats stats = { 0 };
		struct err e = ERR_INIT;
		struct fake f;

		fake_init(&f);
		put_at(&f, 0, &h, sizeof(h));
		f.page.data_head = 64;
		CHECK_EQ(ring_read(&f.ring, &stats, take, &f, &e), -EBADMSG);
		CHECK(strstr(e.what, "damaged record") != NULL);
		CHECK_EQ(f.calls, 0);
		err_release(&e);
		fake_release(&f);
	}
}

static int refuse(void *ctx, const void *bytes UNUSED, size_t n UNUSED)
{
	(*(u32 *)ctx)++;
	return -ENOSPC;
}

TEST(an error of the sink is passed on)
{
	struct ring_stats stats = { 0 };
	struct fake f;
	u32 calls = 0;

	fake_init(&f);
	put_record(&f, 0, PERF_RECORD_SAMPLE, 16, 0);
	f.page.data_head = 16;
	CHECK_EQ(ring_read(&f.ring, &stats, refuse, &calls, NULL), -ENOSPC);
	CHECK_EQ(calls, 1);
	fake_release(&f);
}

TEST(the past is read from a ring that is overwritten)
{
	struct ring_stats stats = { 0 };
	struct fake f;
	u64 head = 0;

	fake_init(&f);
	f.ring.overwrite = true;
	/* The kernel goes downwards from 0; three times around. */
	for (u32 i = 0; i < 3 * SIZE / 48; i++) {
		head -= 48;
		put_record(&f, head, PERF_RECORD_SAMPLE, 48, (u8)i);
	}
	f.page.data_head = head;
	CHECK_EQ(ring_read_backward(&f.ring, &stats, take, &f, NULL), 0);
	/* 85 whole records of 48 bytes fit into 4096; the oldest is partly overwritten. */
	CHECK_EQ(stats.samples, SIZE / 48);
	CHECK_EQ((u8)f.got.data[8], (u8)(3 * SIZE / 48 - 1 + 8));
	CHECK_EQ(ring_read_backward(&f.ring, &stats, take, &f, NULL), 0);
	CHECK_EQ(stats.samples, SIZE / 48);
	put_record(&f, head - 16, PERF_RECORD_SAMPLE, 16, 0);
	f.page.data_head = head - 16;
	CHECK_EQ(ring_read_backward(&f.ring, &stats, take, &f, NULL), 0);
	CHECK_EQ(stats.samples, SIZE / 48 + 1);
	fake_release(&f);
}
