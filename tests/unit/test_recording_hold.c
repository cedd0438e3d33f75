/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records used in the file itself: it is held still meanwhile, or read where it cannot be. */
#include "base/hash.h"
#include "base/io.h"
#include "recording/format.h"
#include "recording/hold.h"
#include "unit/harness.h"
#include "unit/test_recording_kit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STRETCHES = 16, EACH = 4096 };

static char *file_of(const struct buf *b)
{
	char *path = xasprintf("%s/held", test_tmpdir());

	CHECK_EQ(io_write_file_atomic(path, b->data, b->len, NULL), 0);
	return path;
}

/* Somebody wants to write, and would have to wait. */
static bool is_held(const char *path)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	bool waits = fd < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return waits;
}

static void need_leases(const char *path)
{
	enum { SIZE = 4096 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = fcntl(fd, F_SETLEASE, F_RDLCK);
	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (ret == 0)
		ret = madvise(map, SIZE, MADV_POPULATE_READ);
	munmap(map, SIZE);
	close(fd);
	if (ret < 0)
		SKIP("files cannot be held here");
}

TEST("what is held is the file's, and nobody can open it for writing")
{
	enum { SIZE = 9 << 20, AT = 8200 };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct hold h = { 0 };
	struct source s;
	const u8 *at, *end;

	for (u64 i = 0; i < SIZE / 8; i++)
		buf_add(&b, &i, 8);
	_cleanup_free_ char *path = file_of(&b);

	need_leases(path);
	CHECK_EQ(source_open_path(&s, path, NULL), 0);
	CHECK(hold_take(&h, &s, AT, SIZE, &at, &end));
	CHECK(is_held(path));
	CHECK(end - at < SIZE - AT); /* not all at once */
	CHECK_MEM(at, b.data + AT, (size_t)(end - at));
	hold_drop(&s);
	CHECK(!is_held(path));
	CHECK(hold_take(&h, &s, SIZE - (128 << 10), SIZE, &at, &end));
	CHECK_EQ(end - at, 128 << 10);
	CHECK_MEM(at, b.data + SIZE - (128 << 10), (size_t)(end - at));
	hold_drop(&s);
	hold_release(&h);
	source_release(&s);
}

TEST("what somebody writes to, what was cut, what is not ours and what is short is not held")
{
	enum { SIZE = 1 << 20 };
	_cleanup_buf_ struct buf b = BUF_INIT;
	const u8 *at = NULL, *end = NULL;
	struct source s, given;
	struct hold h = { 0 };
	int writer;

	buf_fill(&b, 7, SIZE);
	_cleanup_free_ char *path = file_of(&b);

	need_leases(path);
	CHECK_EQ(source_open_path(&s, path, NULL), 0);
	CHECK_EQ(source_open_fd(&given, s.fd, path, NULL), 0);
	CHECK(!hold_take(&h, &given, 0, SIZE, &at, &end));
	CHECK(!hold_take(&h, &s, SIZE - 100, SIZE, &at, &end));
	CHECK(!h.refused);
	writer = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(!hold_take(&h, &s, 0, SIZE, &at, &end));
	CHECK_EQ(ftruncate(writer, SIZE / 2), 0);
	close(writer);
	CHECK(!hold_take(&h, &s, 0, SIZE, &at, &end)); /* once is enough */
	hold_release(&h);
	CHECK(!hold_take(&h, &s, 0, SIZE, &at, &end));
	CHECK(!is_held(path));
	hold_release(&h);
	CHECK(hold_take(&h, &s, 0, SIZE / 2, &at, &end));
	hold_drop(&s);
	hold_release(&h);
	source_release(&s);
}

/* What came out of a recording. */
struct taken {
	struct recording *r;
	const char *path;
	u64 digest;  /* of all samples in order */
	u64 samples; /* of spans */
	u64 singles; /* that came the other way */
	u64 held;    /* spans in the file */
	u64 names;   /* records */
	u64 rounds;
	u64 cut_after; /* rounds; then the file becomes this short */
	off_t cut_to;
};

static void take_one(struct taken *t, const u8 *at)
{
	const struct perf_event_header *h = (const void *)at;

	t->digest = hash_mix(t->digest, hash_bytes(at, h->size));
}

/* Leaves some samples to the other way. */
static s64 take_span(void *ctx, const u8 **ret_at, const u8 *end)
{
	struct taken *t = ctx;
	const u8 *at = *ret_at;
	s64 n = 0;

	t->held += is_held(t->path);
	while (end - at >= 1024 && n < 1000) {
		const struct perf_event_header *h = (const void *)at;

		if (h->type != PERF_RECORD_SAMPLE || h->size > end - at || h->size % 400 == 0)
			break;
		take_one(t, at);
		at += h->size;
		n++;
	}
	t->samples += (u64)n;
	*ret_at = at;
	return n;
}

static int take_sample(void *ctx, const struct perf_event_header *h, u32 event)
{
	struct taken *t = ctx;

	CHECK(event < 2);
	take_one(t, (const u8 *)h);
	t->singles++;
	return 0;
}

static int take_name(const struct record *rec, void *ctx)
{
	struct taken *t = ctx;

	CHECK_EQ(rec->type, PERF_RECORD_COMM);
	t->names++;
	return 0;
}

static int take_round(void *ctx)
{
	struct taken *t = ctx;

	CHECK(!is_held(t->path));
	if (++t->rounds == t->cut_after)
		CHECK_EQ(truncate(t->path, t->cut_to), 0);
	return 0;
}

static const struct recording_taps taps = {
	.span = take_span,
	.sample = take_sample,
	.record = take_name,
	.types = 1u << PERF_RECORD_COMM,
	.round = take_round,
};

/* Stretches of samples of all sizes, longer than what is mapped at once; names, rounds. */
static void make_recording(struct emit *e)
{
	u64 x = 88172645463325252ull;

	kit_header(e, PERF_ATTR_SIZE_VER5);
	for (u32 i = 0; i < STRETCHES; i++) {
		for (u32 j = 0; j < (i % 4 ? EACH : 5); j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			kit_sample(e, 71 + (x >> 32) % 2, 1000 + j, x, x % 80);
		}
		kit_comm(e, 5000 + i, "name");
		if (i % 2)
			kit_round(e);
	}
	kit_close(e);
}

static void take_all(const char *path, struct taken *t)
{
	t->path = path;
	CHECK_EQ(recording_open(path, &t->r, NULL), 0);
	CHECK_EQ(recording_tap(t->r, &taps, t, NULL), 0);
	CHECK_EQ(recording_counts(t->r)->samples, t->samples + t->singles);
}

TEST("a file that is held gives what one that is read gives")
{
	struct taken held = { 0 }, read = { 0 };
	struct emit e = { 0 };
	int writer;

	make_recording(&e);
	CHECK(e.b.len > 12 << 20);
	_cleanup_free_ char *path = file_of(&e.b);

	need_leases(path);
	take_all(path, &held);
	writer = open(path, O_WRONLY | O_CLOEXEC);
	take_all(path, &read);
	close(writer);
	CHECK(held.held > 10);
	CHECK_EQ(read.held, 0);
	CHECK_EQ(held.digest, read.digest);
	CHECK_EQ(held.samples + held.singles, (STRETCHES * 3 / 4) * EACH + STRETCHES / 4 * 5);
	CHECK_EQ(read.samples + read.singles, held.samples + held.singles);
	CHECK_EQ(held.names, STRETCHES);
	CHECK_EQ(held.rounds, STRETCHES / 2);
	CHECK_EQ(recording_counts(held.r)->bytes, recording_counts(read.r)->bytes);
	CHECK(!recording_fault(held.r)->reason);
	recording_free(held.r);
	recording_free(read.r);
	buf_release(&e.b);
}

TEST("a file that is cut while it is checked ends there, and that is said")
{
	struct taken t = { .cut_after = 3, .cut_to = 9 << 20 };
	struct emit e = { 0 };

	make_recording(&e);
	_cleanup_free_ char *path = file_of(&e.b);

	take_all(path, &t);
	CHECK(t.samples > EACH);
	CHECK(t.rounds >= 3 && t.rounds < STRETCHES / 2);
	CHECK(recording_fault(t.r)->reason);
	CHECK(recording_fault(t.r)->offset <= (u64)t.cut_to);
	CHECK(recording_fault(t.r)->offset > (u64)t.cut_to - RECORD_MAX_SIZE);
	recording_free(t.r);
	buf_release(&e.b);
}
