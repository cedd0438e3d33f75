/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits of the past: what is kept comes back, for as long and as much as is allowed. */
#include "harness.h"

#include "top/waits_past.h"

#define SECOND 1000000000ull

static struct waits_past_row row_of(struct waits_past *p, u32 tid, u64 blocked)
{
	return (struct waits_past_row){ .pid = 10,
					.tid = tid,
					.comm = intern_str(&p->words, "worker"),
					.place = intern_str(&p->words, "read < main"),
					.waker = intern_str(&p->words, "[timer]"),
					.waker_pid = 7,
					.waker_tid = 8,
					.thread = 3,
					.stack = 4,
					.kind = STATE_LOCK,
					.blocked = blocked,
					.runq = 5,
					.count = 6,
					.longest = blocked / 2 };
}

/* Second @number: a thread that worked, one that slept, and a wait of @number ms. */
static void keep_second(struct waits_past *p, u64 number, u64 keep_ns)
{
	struct share_row busy = { .pid = 10, .tid = 11, .wall = SECOND, .waker = "[timer]" };
	struct share_row idle = { .pid = 10, .tid = 12, .wall = SECOND };
	struct waits_past_row row = row_of(p, 11, number * 1000000);

	busy.ns[SHARE_RUN] = SECOND / 4;
	busy.ns[SHARE_LOCK] = SECOND - busy.ns[SHARE_RUN];
	idle.ns[SHARE_SLEEP] = SECOND;
	waits_past_share(p, &busy);
	waits_past_share(p, &idle);
	waits_past_row(p, &row);
	waits_past_end(p, number * SECOND, (number + 1) * SECOND, number, keep_ns);
}

struct seen {
	u32 shares, rows;
	struct share_row share;
	struct waits_past_row row;
};

static void on_share(void *ctx, const struct share_row *row)
{
	struct seen *s = ctx;

	s->shares++;
	s->share = *row;
}

static void on_row(void *ctx, const struct waits_past_row *row)
{
	struct seen *s = ctx;

	s->rows++;
	s->row = *row;
}

TEST("waits of the past come back as they were")
{
	struct waits_past p = { 0 };
	const struct waits_look *look;
	struct seen s = { 0 };

	for (u64 i = 100; i < 110; i++)
		keep_second(&p, i, 60 * SECOND);
	look = waits_past_at(&p, 105 * SECOND + SECOND / 2);
	CHECK(look && look->begin == 105 * SECOND && look->lost == 105);
	waits_past_read(&p, look, on_share, on_row, &s);
	CHECK(s.shares == 1 && s.rows == 1);
	CHECK(s.share.tid == 11 && s.share.wall == SECOND);
	CHECK(s.share.ns[SHARE_RUN] == SECOND / 4 && !s.share.ns[SHARE_SLEEP]);
	CHECK(s.share.ns[SHARE_LOCK] == SECOND - SECOND / 4);
	CHECK_STR(s.share.waker, "[timer]");
	CHECK(s.row.blocked == 105 * 1000000 && s.row.longest == s.row.blocked / 2);
	CHECK(s.row.pid == 10 && s.row.waker_pid == 7 && s.row.waker_tid == 8);
	CHECK(s.row.thread == 3 && s.row.stack == 4 && s.row.kind == STATE_LOCK);
	CHECK(s.row.runq == 5 && s.row.count == 6);
	CHECK_STR(intern_get(&p.words, s.row.place), "read < main");
	CHECK(!waits_past_at(&p, 100 * SECOND));
	CHECK(!waits_past_at(&p, 115 * SECOND));
	CHECK(waits_past_at(&p, 111 * SECOND) == &p.looks.items[9]);
	waits_past_release(&p);
}

TEST("waits of the past have an age and a size")
{
	struct waits_past p = { 0 };

	for (u64 i = 100; i < 200; i++)
		keep_second(&p, i, 10 * SECOND);
	CHECK(p.looks.len == 11 && p.looks.items[0].begin == 189 * SECOND);
	/* many rows: the oldest looks go */
	for (u64 i = 200; i < 600; i++) {
		for (u32 tid = 0; tid < 5000; tid++) {
			struct waits_past_row row = row_of(&p, tid, SECOND);

			waits_past_row(&p, &row);
		}
		CHECK(p.now.n_waits <= 2000);
		waits_past_end(&p, i * SECOND, (i + 1) * SECOND, 0, 10000 * SECOND);
	}
	CHECK(p.bytes <= 8 << 20 && p.looks.len < 400 && p.looks.len > 10);
	waits_past_release(&p);
}
