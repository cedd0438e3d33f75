/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of system calls in the text of perf trace -s: a table for each thread. */
#include "syscalls/summary.h"

#include "base/buf.h"

#include <math.h>

/* The rows of one thread. */
struct thread_rows {
	const struct summary_row **rows;
	size_t n;
	u64 calls;
};

typedef VEC(struct thread_rows) thread_list;

static int by_thread(const void *a, const void *b)
{
	const struct summary_row *x = *(const struct summary_row *const *)a;
	const struct summary_row *y = *(const struct summary_row *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* perf has the busiest thread at the end. */
static int by_calls(const void *a, const void *b)
{
	const struct thread_rows *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? -1 : 1;
	return x->rows[0]->tid < y->rows[0]->tid ? -1 : 1;
}

/* The error of the mean, as a share of it. */
static double mean_error(const struct summary_row *row)
{
	double n = (double)row->count, mean = (double)row->ns / n;
	double variance = n > 1 ? (row->squares - n * mean * mean) / (n - 1) : 0;

	return mean > 0 && variance > 0 ? 100 * sqrt(variance / n) / mean : 0;
}

static void add_call(const struct syscall_table *t, const struct summary_row *row, struct buf *out)
{
	const char *name = row->nr < SYSCALLS_MOST ? t->calls[row->nr].name : NULL;

	buf_addf(out, "   %-15s %8llu %6llu %9.3f %9.3f %9.3f %9.3f %9.2f%%\n", name ? name : "?",
		 (unsigned long long)row->count, (unsigned long long)row->errors,
		 (double)row->ns / 1e6, (double)row->min / 1e6,
		 (double)row->ns / (double)row->count / 1e6, (double)row->max / 1e6,
		 mean_error(row));
}

/* A call is two events: it begins, and it ends. */
static void add_thread(const struct thread_rows *thread, const struct syscall_table *t, u64 calls,
		       struct buf *out)
{
	static const char head[] =
		"   syscall            calls  errors  total       min       avg       max       "
		"stddev\n"
		"                                     (msec)    (msec)    (msec)    (msec)        "
		"(%)\n"
		"   --------------- --------  ------ -------- --------- --------- ---------     "
		"------\n";
	const struct summary_row *first = thread->rows[0];

	buf_addch(out, ' ');
	/* a name may hold anything */
	for (size_t i = 0; i < SYSCALLS_COMM && first->comm[i]; i++)
		buf_addch(out,
			  first->comm[i] >= ' ' && first->comm[i] < 0x7f ? first->comm[i] : '?');
	buf_addf(out, " (%u), %llu events, %.1f%%\n\n%s", first->tid,
		 (unsigned long long)thread->calls * 2, 100 * (double)thread->calls / (double)calls,
		 head);
	for (size_t i = 0; i < thread->n; i++)
		add_call(t, thread->rows[i], out);
	buf_addstr(out, "\n\n");
}

void summary_perf(const struct summary *s, const struct syscall_table *t, struct buf *out)
{
	const struct summary_row **rows = xcalloc(MAX(s->rows.len, (size_t)1), sizeof(*rows));
	thread_list threads = { 0 };
	size_t n = 0;
	u64 calls = 0;

	vec_each(row, &s->rows)
		if (row->count)
			rows[n++] = row;
	qsort(rows, n, sizeof(*rows), by_thread);
	for (size_t i = 0; i < n; i++) {
		if (!i || rows[i]->tid != rows[i - 1]->tid)
			*vec_new(&threads) = (struct thread_rows){ .rows = rows + i };
		threads.items[threads.len - 1].n++;
		threads.items[threads.len - 1].calls += rows[i]->count;
		calls += rows[i]->count;
	}
	if (threads.len > 1)
		qsort(threads.items, threads.len, sizeof(*threads.items), by_calls);
	buf_addstr(out, "\n Summary of events:\n\n");
	vec_each(thread, &threads)
		add_thread(thread, t, calls, out);
	vec_release(&threads);
	free(rows);
}
