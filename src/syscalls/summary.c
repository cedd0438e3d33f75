/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/summary.h"

#include "base/buf.h"
#include "result/hist.h"

#include <math.h>

void summary_release(struct summary *s)
{
	vec_release(&s->rows);
	map_release(&s->index);
}

static struct summary_row *row_of(struct summary *s, u32 pid, u32 tid, u32 nr)
{
	u32 who = s->by == SUMMARY_THREAD ? tid : s->by == SUMMARY_PROCESS ? pid : 0;
	u64 key = (u64)who << 32 | nr, at = map_get(&s->index, key, 0);
	struct summary_row *row;

	if (at)
		return &s->rows.items[at - 1];
	row = vec_new(&s->rows);
	map_put(&s->index, key, s->rows.len);
	row->pid = pid;
	row->tid = tid;
	row->nr = nr;
	row->min = UINT64_MAX;
	return row;
}

void summary_add(struct summary *s, const struct syscalls_key *key, const struct syscalls_sum *sum)
{
	struct summary_row *row = row_of(s, sum->pid, key->tid, key->nr);

	memcpy(row->comm, sum->comm, sizeof(row->comm));
	row->comm[sizeof(row->comm) - 1] = '\0';
	row->count += sum->count;
	row->errors += sum->errors;
	row->ns += sum->ns;
	row->min = MIN(row->min, sum->min);
	row->max = MAX(row->max, sum->max);
	row->squares += ldexp((double)sum->square_high, 64) + (double)sum->square_low;
	for (u32 i = 0; i < SYSCALLS_BUCKETS; i++)
		row->buckets[i] += sum->buckets[i];
}

void summary_add_call(struct summary *s, const struct syscalls_event *e)
{
	struct summary_row *row = row_of(s, e->pid, e->tid, e->nr);
	u32 bucket = e->ns ? 64 - (u32)__builtin_clzll(e->ns) : 0;

	memcpy(row->comm, e->comm, sizeof(row->comm));
	row->comm[sizeof(row->comm) - 1] = '\0';
	row->count++;
	row->errors += e->ret < 0 && e->ret >= -4095;
	row->ns += e->ns;
	row->min = MIN(row->min, e->ns);
	row->max = MAX(row->max, e->ns);
	row->squares += (double)e->ns * (double)e->ns;
	row->buckets[MIN(bucket, SYSCALLS_BUCKETS - 1u)]++;
}

static const char *name_of(const struct syscall_table *t, u32 nr)
{
	return nr < SYSCALLS_MOST && t->calls[nr].name ? t->calls[nr].name : "?";
}

const char *const summary_sorts[] = {
	"time", "calls", "errors", "min", "avg", "max", "name", NULL
};

static u64 key_of(const struct summary_row *row, enum summary_sort sort)
{
	switch (sort) {
	case SUMMARY_CALLS: return row->count;
	case SUMMARY_ERRORS: return row->errors;
	case SUMMARY_MIN: return row->min;
	case SUMMARY_AVG: return row->count ? row->ns / row->count : 0;
	case SUMMARY_MAX: return row->max;
	case SUMMARY_NAME: return 0;
	case SUMMARY_TIME: break;
	}
	return row->ns;
}

struct order {
	const struct syscall_table *table;
	enum summary_sort sort;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct summary_row *x = a, *y = b;
	const struct order *o = ctx;
	u64 m = key_of(x, o->sort), n = key_of(y, o->sort);
	int r = o->sort == SUMMARY_NAME ? strcmp(name_of(o->table, x->nr), name_of(o->table, y->nr))
					: 0;

	if (r || m != n)
		return r ? r : m > n ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* The spread around the mean, as a share of it. */
static double deviation(const struct summary_row *row)
{
	double n = (double)row->count, mean = (double)row->ns / n;
	double variance = row->squares / n - mean * mean;

	return mean > 0 && variance > 0 ? 100 * sqrt(variance) / mean : 0;
}

enum {
	C_SHARE,
	C_TIME,
	C_CALLS,
	C_ERRORS,
	C_MIN,
	C_AVG,
	C_MAX,
	C_DEV,
	C_PID,
	C_TID,
	C_COMM,
	C_CALL,
	COLUMNS
};

static void add_row(struct result *r, struct table *out, const struct summary *s,
		    const struct syscall_table *t, const struct summary_row *row, u64 whole)
{
	struct row *to = table_row(r, out);

	to->cells[C_SHARE] =
		value_d(VALUE_PERCENT, whole ? 100 * (double)row->ns / (double)whole : 0);
	to->cells[C_TIME] = value_u(VALUE_DURATION, row->ns);
	to->cells[C_CALLS] = value_u(VALUE_COUNT, row->count);
	if (row->errors)
		to->cells[C_ERRORS] = value_u(VALUE_COUNT, row->errors);
	to->cells[C_MIN] = value_u(VALUE_DURATION, row->min);
	to->cells[C_AVG] = value_u(VALUE_DURATION, row->ns / row->count);
	to->cells[C_MAX] = value_u(VALUE_DURATION, row->max);
	to->cells[C_DEV] = value_d(VALUE_PERCENT, deviation(row));
	if (s->by != SUMMARY_CALL)
		to->cells[C_PID] = value_u(VALUE_PID, row->pid);
	if (s->by == SUMMARY_THREAD)
		to->cells[C_TID] = value_u(VALUE_PID, row->tid);
	if (s->by != SUMMARY_CALL)
		to->cells[C_COMM] = value_text(r, row->comm);
	to->cells[C_CALL] = value_text(r, name_of(t, row->nr));
}

void summary_table(struct summary *s, const struct syscall_table *t, struct result *r)
{
	u32 pid = s->by != SUMMARY_CALL ? 0 : COLUMN_HIDDEN;
	u32 tid = s->by == SUMMARY_THREAD ? 0 : COLUMN_HIDDEN;
	const struct column columns[COLUMNS] = {
		{ "share_percent", "% TIME", VALUE_PERCENT, 0 },
		{ "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "calls", "CALLS", VALUE_COUNT, 0 },
		{ "errors", "ERRORS", VALUE_COUNT, 0 },
		{ "min_ns", "MIN", VALUE_DURATION, COLUMN_SPARE },
		{ "avg_ns", "AVG", VALUE_DURATION, 0 },
		{ "max_ns", "MAX", VALUE_DURATION, 0 },
		{ "deviation_percent", "STDDEV", VALUE_PERCENT, COLUMN_SPARE },
		{ "pid", "PID", VALUE_PID, pid },
		{ "tid", "TID", VALUE_PID, tid },
		{ "comm", "COMM", VALUE_TEXT, pid },
		{ "call", "CALL", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *out = result_table(r, "summary", NULL, columns, COLUMNS);
	struct order order = { t, s->sort };
	u64 whole = 0, calls = 0, errors = 0;

	if (s->rows.len > 1)
		qsort_r(s->rows.items, s->rows.len, sizeof(*s->rows.items), compare_rows, &order);
	vec_each(row, &s->rows) {
		whole += row->ns;
		calls += row->count;
		errors += row->errors;
	}
	vec_each(row, &s->rows)
		if (row->count)
			add_row(r, out, s, t, row, whole);
	result_fact(r, "calls", "calls", value_u(VALUE_COUNT, calls));
	result_fact(r, "errors", "errors", value_u(VALUE_COUNT, errors));
	result_fact(r, "time_ns", "time in calls", value_u(VALUE_DURATION, whole));
}

void summary_histograms(const struct summary *s, const struct syscall_table *t, struct result *r)
{
	vec_each(row, &s->rows) {
		_cleanup_buf_ struct buf label = BUF_INIT;
		struct histogram *h;

		buf_addstr(&label, name_of(t, row->nr));
		if (s->by != SUMMARY_CALL)
			buf_addf(&label, ", %s/%u", row->comm,
				 s->by == SUMMARY_THREAD ? row->tid : row->pid);
		h = result_hist_log2(r, "latency",
				     arena_strndup(&r->arena, buf_str(&label), label.len), "nsecs");
		for (u32 i = 0; i < SYSCALLS_BUCKETS; i++)
			if (row->buckets[i])
				hist_add(h, i ? 1ull << (i - 1) : 0, row->buckets[i]);
	}
}
