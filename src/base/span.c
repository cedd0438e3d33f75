/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/span.h"

#include "base/vec.h"

enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS };

/* Also says which bits differ at all: the others need no pass. */
static bool is_sorted(const struct span *spans, size_t n, u64 *ret_differ)
{
	u64 differ = 0;
	bool sorted = true;

	for (size_t i = 1; i < n; i++) {
		differ |= spans[i].start ^ spans[0].start;
		sorted &= spans[i].start >= spans[i - 1].start;
	}
	*ret_differ = differ;
	return sorted;
}

static void radix_pass(const struct span *from, struct span *to, size_t n, unsigned int shift)
{
	size_t at[RADIX_SIZE] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].start >> shift & (RADIX_SIZE - 1)]++;
	for (size_t i = 0; i < RADIX_SIZE; i++) {
		size_t count = at[i];

		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].start >> shift & (RADIX_SIZE - 1)]++] = from[i];
}

void span_sort(struct span *spans, size_t n)
{
	_cleanup_free_ struct span *other = NULL;
	struct span *from = spans, *to;
	u64 differ;

	if (n < 2 || is_sorted(spans, n, &differ))
		return;
	other = xmalloc(n * sizeof(*other));
	to = other;
	for (unsigned int shift = 0; shift < 64; shift += RADIX_BITS) {
		struct span *swap = from;

		if (!(differ >> shift & (RADIX_SIZE - 1)))
			continue;
		radix_pass(from, to, n, shift);
		from = to;
		to = swap;
	}
	if (from != spans)
		memcpy(spans, from, n * sizeof(*spans));
}

/* The open ranges as a heap: the visible one is at the top. */
struct sweep {
	const struct span *spans;
	VEC(u32) heap;
	struct span_table *out;
	size_t cap;
};

static bool shows_over(const struct sweep *w, u32 a, u32 b)
{
	const struct span *x = &w->spans[a], *y = &w->spans[b];

	return x->rank != y->rank ? x->rank > y->rank : a > b;
}

static void heap_add(struct sweep *w, u32 item)
{
	size_t i = w->heap.len;

	vec_push(&w->heap, item);
	while (i && shows_over(w, item, w->heap.items[(i - 1) / 2])) {
		w->heap.items[i] = w->heap.items[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap.items[i] = item;
}

static void heap_drop_top(struct sweep *w)
{
	u32 item = vec_pop(&w->heap);
	size_t i = 0, n = w->heap.len;

	if (!n)
		return;
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && shows_over(w, w->heap.items[child + 1], w->heap.items[child]))
			child++;
		if (!shows_over(w, w->heap.items[child], item))
			break;
		w->heap.items[i] = w->heap.items[child];
		i = child;
	}
	w->heap.items[i] = item;
}

static void emit(struct sweep *w, u64 start, u32 id)
{
	struct span_table *t = w->out;

	if (t->len && t->starts[t->len - 1] == start)
		t->len--;
	if (t->len && t->ids[t->len - 1] == id)
		return;
	if (t->len == w->cap) {
		w->cap *= 2;
		t->starts = xreallocarray(t->starts, w->cap, sizeof(*t->starts));
		t->ids = xreallocarray(t->ids, w->cap, sizeof(*t->ids));
	}
	t->starts[t->len] = start;
	t->ids[t->len++] = id;
}

/* Closes what ends at or before @until, showing what is below each. */
static void close_until(struct sweep *w, u64 until)
{
	while (w->heap.len) {
		const u64 end = w->spans[w->heap.items[0]].end;

		if (end > until)
			return;
		heap_drop_top(w);
		/* Ranges that ended earlier while hidden must not reappear. */
		while (w->heap.len && w->spans[w->heap.items[0]].end <= end)
			heap_drop_top(w);
		emit(w, end, w->heap.len ? w->spans[w->heap.items[0]].id : SPAN_NONE);
	}
}

void span_table_build(struct span_table *t, const struct span *spans, size_t n)
{
	struct sweep w = { .spans = spans, .out = t, .cap = n + n / 4 + 8 };

	*t = (struct span_table)SPAN_TABLE_INIT;
	t->starts = xmalloc(w.cap * sizeof(*t->starts));
	t->ids = xmalloc(w.cap * sizeof(*t->ids));
	for (size_t i = 0; i < n; i++) {
		if (spans[i].end <= spans[i].start)
			continue;
		close_until(&w, spans[i].start);
		heap_add(&w, (u32)i);
		emit(&w, spans[i].start, spans[w.heap.items[0]].id);
	}
	close_until(&w, UINT64_MAX);
	vec_release(&w.heap);
}

void span_table_release(struct span_table *t)
{
	free(t->starts);
	free(t->ids);
	*t = (struct span_table)SPAN_TABLE_INIT;
}

size_t starts_up_to(const u64 *starts, size_t n, u64 address)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (starts[mid] <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Without branches that depend on the data: a wrong guess costs more than the comparison. */
u32 span_find(const struct span_table *t, u64 address)
{
	const u64 *base = t->starts;
	size_t n = t->len;

	if (!n || address < base[0])
		return SPAN_NONE;
	while (n > 1) {
		size_t half = n / 2;

		base = base[half] <= address ? base + half : base;
		n -= half;
	}
	return t->ids[base - t->starts];
}
