/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/waits_past.h"

#include "base/clock.h"
#include "base/varint.h"

enum {
	BYTES_MOST = 8 << 20,
	WORDS_MOST = 1 << 16, /* then all is begun again */
	ROWS_MOST = 2000,     /* of a look */
	NEAR_NS = 2000000000, /* how long before a moment an interval may have ended */
	SHARE_NUMBERS = 6,
	ROW_NUMBERS = 14,
};

static void drop_first(struct waits_past *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		p->bytes -= p->looks.items[i].size;
		free(p->looks.items[i].bytes);
	}
	memmove(p->looks.items, p->looks.items + n, (p->looks.len - n) * sizeof(*p->looks.items));
	p->looks.len -= n;
}

void waits_past_release(struct waits_past *p)
{
	drop_first(p, p->looks.len);
	vec_release(&p->looks);
	intern_release(&p->words);
	buf_release(&p->packed);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_numbers(struct buf *out, const u64 *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		varint_write(out, numbers[i]);
}

void waits_past_share(struct waits_past *p, const struct share_row *row)
{
	u64 mask = 0;

	if (row->ns[SHARE_SLEEP] == row->wall)
		return;
	for (int i = 0; i < SHARE_COUNT; i++)
		mask |= row->ns[i] ? 1ull << i : 0;
	write_numbers(&p->packed,
		      (const u64[SHARE_NUMBERS]){
			      row->pid, row->tid, row->wall,
			      row->waker ? intern_str(&p->words, row->waker) : 0,
			      row->place ? intern_str(&p->words, row->place) : 0, mask },
		      SHARE_NUMBERS);
	for (int i = 0; i < SHARE_COUNT; i++)
		if (row->ns[i])
			varint_write(&p->packed, row->ns[i]);
	p->now.n_shares++;
}

void waits_past_row(struct waits_past *p, const struct waits_past_row *row)
{
	if (p->now.n_waits >= ROWS_MOST)
		return;
	write_numbers(&p->packed,
		      (const u64[ROW_NUMBERS]){ row->pid, row->tid, row->comm, row->place,
						row->waker, row->waker_pid, row->waker_tid,
						row->thread, row->stack, row->kind, row->blocked,
						row->runq, row->count, row->longest },
		      ROW_NUMBERS);
	p->now.n_waits++;
}

void waits_past_end(struct waits_past *p, u64 begin, u64 end, u64 lost, u64 keep_ns)
{
	size_t old = 0, bytes;

	p->now.begin = begin;
	p->now.end = end;
	p->now.lost = lost;
	p->now.session = p->session;
	p->now.size = p->packed.len;
	p->now.bytes = p->packed.len ? (u8 *)xmemdup(p->packed.data, p->packed.len) : NULL;
	buf_reset(&p->packed);
	vec_push(&p->looks, p->now);
	p->bytes += p->now.size;
	p->now = (struct waits_look){ 0 };
	bytes = p->bytes;
	while (old + 1 < p->looks.len &&
	       (p->looks.items[old].end + keep_ns < end || bytes > BYTES_MOST))
		bytes -= p->looks.items[old++].size;
	drop_first(p, p->words.len > WORDS_MOST ? p->looks.len : old);
	if (p->words.len <= WORDS_MOST)
		return;
	intern_release(&p->words);
	p->words = (struct intern)INTERN_INIT;
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct waits_look *waits_past_at(const struct waits_past *p, u64 time)
{
	for (size_t i = p->looks.len; i-- > 0;) {
		const struct waits_look *look = &p->looks.items[i];

		if (look->begin < time)
			return look->end + NEAR_NS >= time ? look : NULL;
	}
	return NULL;
}

static bool read_numbers(const u8 **at, const u8 *end, u64 *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!varint_read(at, end, &numbers[i]))
			return false;
	return true;
}

static bool read_share(const struct waits_past *p, const u8 **at, const u8 *end,
		       struct share_row *ret)
{
	u64 n[SHARE_NUMBERS];

	if (!read_numbers(at, end, n, SHARE_NUMBERS))
		return false;
	*ret = (struct share_row){ .pid = (u32)n[0],
				   .tid = (u32)n[1],
				   .wall = n[2],
				   .waker = intern_get(&p->words, (u32)n[3]),
				   .place = intern_get(&p->words, (u32)n[4]) };
	for (int i = 0; i < SHARE_COUNT; i++)
		if (n[5] >> i & 1 && !read_numbers(at, end, &ret->ns[i], 1))
			return false;
	return true;
}

void waits_past_read(const struct waits_past *p, const struct waits_look *look,
		     waits_past_share_fn on_share, waits_past_row_fn on_row, void *ctx)
{
	const u8 *at = look->bytes, *end = at + look->size;
	u64 n[ROW_NUMBERS];

	for (u32 i = 0; i < look->n_shares; i++) {
		struct share_row row;

		if (!read_share(p, &at, end, &row))
			return;
		on_share(ctx, &row);
	}
	for (u32 i = 0; i < look->n_waits && read_numbers(&at, end, n, ROW_NUMBERS); i++)
		on_row(ctx, &(struct waits_past_row){ (u32)n[0], (u32)n[1], (u32)n[2], (u32)n[3],
						      (u32)n[4], (u32)n[5], (u32)n[6], (u32)n[7],
						      (u32)n[8], (u32)n[9], n[10], n[11], n[12],
						      n[13] });
}
