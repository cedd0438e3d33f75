/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps: read, summed over CPUs, sorted, shown. */
#include "base/folded.h"
#include "base/json.h"
#include "host/bpf_sys.h"
#include "lang/run/run.h"

enum { BATCH = 4096 };

void map_dump_release(struct map_dump *d)
{
	free(d->keys);
	free(d->values);
	*d = (struct map_dump){ 0 };
}

static u64 word_at(const u8 *p, size_t i)
{
	u64 v;

	memcpy(&v, p + i * 8, 8);
	return v;
}

/* Is the value of a map without a key set? On any CPU will do. */
static bool is_set(const struct map_def *m, const struct map_dump *d, const u8 *value)
{
	size_t flag = type_stored(m->value);

	for (size_t cpu = 0; cpu < d->cpus; cpu++) {
		if (word_at(value + cpu * d->value_size + flag, 0))
			return true;
	}
	return false;
}

static int add_entry(struct run *r, const struct map_def *m, struct map_dump *d, const u8 *key,
		     size_t *cap)
{
	size_t row = d->value_size * d->cpus;

	if (d->n == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		d->keys = xreallocarray(d->keys, *cap, d->key_size);
		d->values = xreallocarray(d->values, *cap, row);
	}
	memcpy(d->keys + d->n * d->key_size, key, d->key_size);
	if (bpfsys_map_lookup(r->map_fds.items[m->index], key, d->values + d->n * row) < 0)
		return 0; /* deleted in between */
	if (!m->key && !is_set(m, d, d->values + d->n * row))
		return 0;
	d->n++;
	return 0;
}

int run_dump_map(struct run *r, const struct map_def *m, struct map_dump *ret)
{
	const struct bpf_map *b = &r->c->bpf_maps.items[m->index];
	struct map_dump d = { .key_size = b->key_size,
			      .value_size = b->value_size,
			      .cpus = type_is_agg(m->value) ? run_cpus() : 1 };
	int fd = r->map_fds.items[m->index];
	u8 *key = xcalloc(1, MAX(b->key_size, 8u));
	size_t cap = 0, most = (size_t)b->max_entries + BATCH;
	bool first = true;

	if (!m->key) {
		add_entry(r, m, &d, key, &cap);
	} else {
		while (bpfsys_map_next_key(fd, first ? NULL : key, key) == 0 && d.n < most) {
			add_entry(r, m, &d, key, &cap);
			first = false;
		}
	}
	free(key);
	*ret = d;
	return 0;
}

/* --- one value -------------------------------------------------------------------------------- */

/* A row of the printed map: what the CPUs have, put together. */
struct entry {
	const u8 *key;
	const u8 *value; /* of plain maps */
	u64 *sum;        /* of aggregations: as many words as one CPU has */
	s64 order;
	size_t index;
};

static void combine(const struct map_def *m, const struct map_dump *d, const u8 *values,
		    struct entry *e)
{
	size_t words = type_stored(m->value) / 8;
	bool is_max = m->value->kind == T_MAX;

	e->sum = xcalloc(words, 8);
	for (size_t cpu = 0; cpu < d->cpus; cpu++) {
		const u8 *p = values + cpu * d->value_size;

		if (m->value->kind == T_MIN || m->value->kind == T_MAX) {
			s64 v = (s64)word_at(p, 0);

			if (word_at(p, 1) &&
			    (!e->sum[1] || (is_max ? v > (s64)e->sum[0] : v < (s64)e->sum[0])))
				e->sum[0] = (u64)v;
			e->sum[1] |= word_at(p, 1);
			continue;
		}
		for (size_t i = 0; i < words; i++)
			e->sum[i] += word_at(p, i);
	}
}

static s64 average(const u64 *sum)
{
	return sum[0] ? (s64)sum[1] / (s64)sum[0] : 0;
}

static s64 order_of(const struct map_def *m, const struct entry *e)
{
	u64 total = 0;

	switch (m->value->kind) {
	case T_COUNT:
	case T_SUM:
	case T_MIN:
	case T_MAX: return (s64)e->sum[0];
	case T_AVG:
	case T_STATS: return average(e->sum);
	case T_HIST:
	case T_LHIST:
		for (size_t i = 0; i < type_stored(m->value) / 8; i++)
			total += e->sum[i];
		return (s64)total;
	case T_INT: return (s64)word_at(e->value, 0);
	default: return 0;
	}
}

static int by_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

struct key_order {
	const struct type *key;
	const struct map_dump *d;
};

static int compare_field(const struct type *t, const u8 *a, const u8 *b)
{
	u64 x, y;

	if (t->kind == T_STR)
		return strncmp((const char *)a, (const char *)b, t->size);
	if (t->kind != T_INT)
		return memcmp(a, b, type_stored(t));
	x = word_at(a, 0);
	y = word_at(b, 0);
	if (x == y)
		return 0;
	return (t->is_signed ? (s64)x < (s64)y : x < y) ? -1 : 1;
}

static int by_key(const void *a, const void *b, void *ctx)
{
	const struct key_order *o = ctx;
	const struct entry *x = a, *y = b;

	for (u32 i = 0; i < o->key->n_fields; i++) {
		const struct field *f = &o->key->fields[i];
		int c = compare_field(f->type, x->key + f->offset, y->key + f->offset);

		if (c)
			return c;
	}
	return 0;
}

static struct entry *sorted(const struct map_def *m, const struct map_dump *d)
{
	struct entry *list = xcalloc(d->n + 1, sizeof(*list));
	struct key_order o = { m->key, d };

	for (size_t i = 0; i < d->n; i++) {
		const u8 *values = d->values + i * d->value_size * d->cpus;

		list[i].key = d->keys + i * d->key_size;
		list[i].value = values;
		if (type_is_agg(m->value))
			combine(m, d, values, &list[i]);
		list[i].order = order_of(m, &list[i]);
	}
	if (m->key && d->n > 1)
		qsort_r(list, d->n, sizeof(*list), by_key, &o);
	for (size_t i = 0; i < d->n; i++)
		list[i].index = i;
	qsort(list, d->n, sizeof(*list), by_order);
	return list;
}

/* --- maps ------------------------------------------------------------------------------------- */

/* Names of members without blanks around them, as bpftrace has keys in JSON. */
static void add_tight(struct run *r, const struct type *t, const u8 *bytes, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	run_value(r, t, bytes, &text, false);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] != ' ')
			buf_addch(out, text.data[i]);
	}
}

/* So have tuples, but texts in them keep their blanks. */
static void add_tight_tuple(struct run *r, const struct type *t, const u8 *bytes, struct buf *out)
{
	for (u32 i = 0; i < t->n_fields; i++) {
		const struct type *e = t->fields[i].type;

		buf_addch(out, i ? ',' : '(');
		if (e->kind == T_TUPLE && !type_is_record(e))
			add_tight_tuple(r, e, bytes + t->fields[i].offset, out);
		else
			run_value(r, e, bytes + t->fields[i].offset, out, false);
	}
	buf_addch(out, ')');
}

static void add_key(struct run *r, const struct map_def *m, const u8 *key, struct buf *out,
		    bool json)
{
	for (u32 i = 0; i < m->key->n_fields; i++) {
		const struct type *t = m->key->fields[i].type;
		const u8 *at = key + m->key->fields[i].offset;

		if (i)
			buf_addstr(out, json ? "," : ", ");
		if (t->kind == T_KSTACK || t->kind == T_USTACK)
			run_stack(r, t, at, out, json ? 0 : 8, false);
		else if (json && (t->kind == T_STRUCT || type_is_record(t)))
			add_tight(r, t, at, out);
		else if (json && t->kind == T_TUPLE && t->n_fields)
			add_tight_tuple(r, t, at, out);
		else
			run_value(r, t, at, out, false);
	}
}

static void add_value(struct run *r, const struct map_def *m, const struct map_dump *d,
		      const struct entry *e, s64 div, struct buf *out, bool json)
{
	const struct type *t = m->value;
	s64 n;

	div = div ? div : 1;
	switch (t->kind) {
	case T_COUNT:
	case T_SUM:
	case T_MIN:
	case T_MAX:
		n = (s64)e->sum[0] / div;
		if (t->is_signed || t->kind == T_COUNT || div != 1)
			buf_addf(out, "%lld", (long long)n);
		else
			buf_addu(out, e->sum[0]);
		break;
	case T_AVG: buf_addf(out, "%lld", (long long)(average(e->sum) / div)); break;
	case T_STATS:
		buf_addf(out,
			 json ? "{\"count\": %lld, \"average\": %lld, \"total\": %lld}"
			      : "{ .count = %lld, .average = %lld, .total = %lld }",
			 (long long)e->sum[0], (long long)(average(e->sum) / div),
			 (long long)e->sum[1]);
		break;
	case T_HIST:
	case T_LHIST:
		if (json)
			run_hist_json(t, e->sum, (u64)div, out);
		else
			run_hist(r, t, e->sum, (u64)div, out);
		break;
	case T_TSERIES: run_series(r, t, d, e->value, out, json); break;
	case T_INT:
		if (div != 1) {
			buf_addf(out, "%lld", (long long)((s64)word_at(e->value, 0) / div));
			break;
		}
		run_value(r, t, e->value, out, json);
		break;
	default: run_value(r, t, e->value, out, json); break;
	}
}

static bool is_block(const struct type *t)
{
	return t->kind == T_HIST || t->kind == T_LHIST || t->kind == T_TSERIES;
}

static void text_entry(struct run *r, const struct map_def *m, const struct map_dump *d,
		       const struct entry *e, s64 div, struct buf *out)
{
	buf_addstr(out, m->name);
	if (m->key) {
		buf_addch(out, '[');
		add_key(r, m, e->key, out, false);
		buf_addch(out, ']');
	}
	buf_addstr(out, is_block(m->value) ? ":\n" : ": ");
	add_value(r, m, d, e, div, out, false);
	if (!is_block(m->value))
		buf_addch(out, '\n');
}

static const char *json_type(const struct type *t)
{
	if (t->kind == T_HIST || t->kind == T_LHIST)
		return "hist";
	if (t->kind == T_AVG || t->kind == T_STATS)
		return "stats";
	return t->kind == T_TSERIES ? "tseries" : "map";
}

static void json_map(struct run *r, const struct map_def *m, const struct map_dump *d,
		     const struct entry *list, size_t first, s64 div)
{
	struct buf out = BUF_INIT, key = BUF_INIT;

	buf_addf(&out, "{\"%s\": %s", m->name, m->key ? "{" : "");
	for (size_t i = first; i < d->n; i++) {
		if (i > first)
			buf_addstr(&out, ", ");
		if (m->key) {
			buf_reset(&key);
			add_key(r, m, list[i].key, &key, true);
			json_quote(&out, buf_str(&key), key.len);
			buf_addstr(&out, ": ");
		}
		add_value(r, m, d, &list[i], div, &out, true);
	}
	buf_addstr(&out, m->key ? "}}" : "}");
	run_json(r, json_type(m->value), out.data, out.len);
	buf_release(&out);
	buf_release(&key);
}

/* "a;b;c 12": one line per key, what flame graphs are made of. */
static void folded_entry(struct run *r, const struct map_def *m, const struct map_dump *d,
			 const struct entry *e, struct buf *out)
{
	const size_t line = out->len;

	for (u32 i = 0; i < m->key->n_fields; i++) {
		const struct type *t = m->key->fields[i].type;
		const u8 *at = e->key + m->key->fields[i].offset;
		size_t from;

		folded_next(out, line);
		from = out->len;
		if (t->kind == T_KSTACK || t->kind == T_USTACK) {
			run_stack(r, t, at, out, 0, true);
		} else {
			run_value(r, t, at, out, false);
			folded_clean(out, from);
		}
	}
	buf_addch(out, ' ');
	add_value(r, m, d, e, 1, out, false);
	buf_addch(out, '\n');
}

static void text_map(struct run *r, const struct map_def *m, const struct map_dump *d,
		     const struct entry *list, size_t first, s64 div)
{
	bool folded = r->c->opts->format == LANG_FOLDED && m->key && !is_block(m->value);
	struct buf out = BUF_INIT;

	for (size_t i = first; i < d->n; i++) {
		if (folded)
			folded_entry(r, m, d, &list[i], &out);
		else
			text_entry(r, m, d, &list[i], div, &out);
	}
	run_write(r, false, out.data, out.len);
	buf_release(&out);
}

/* print(@x[key]): the value alone. */
static void print_entry(struct run *r, const struct map_def *m, const struct map_dump *d,
			const struct entry *e)
{
	bool json = r->c->opts->format == LANG_JSON;
	struct buf out = BUF_INIT;

	add_value(r, m, d, e, 1, &out, json);
	if (json) {
		run_json(r, "value", out.data, out.len);
	} else {
		buf_addch(&out, '\n');
		run_write(r, false, out.data, out.len);
	}
	buf_release(&out);
}

/* A map without keys that holds nothing is shown as zero, unless it would be a drawing. */
static void fill_scalar(const struct map_def *m, struct map_dump *d)
{
	enum type_kind kind = m->value->kind;

	if (m->key || d->n || kind == T_HIST || kind == T_LHIST || kind == T_TSERIES)
		return;
	free(d->keys);
	free(d->values);
	d->keys = xcalloc(1, MAX(d->key_size, 8u));
	d->values = xcalloc(d->cpus, d->value_size);
	d->n = 1;
}

/* What a map does not have is 0. */
static void add_nothing(struct map_dump *d, const void *key)
{
	size_t row = d->value_size * d->cpus;

	d->keys = xrealloc(d->keys, d->key_size);
	d->values = xrealloc(d->values, row);
	memcpy(d->keys, key, d->key_size);
	memset(d->values, 0, row);
	d->n = 1;
}

void run_print_map(struct run *r, const struct map_def *m, s64 top, s64 div, const void *only)
{
	struct map_dump d;
	struct entry *list;
	size_t first = 0;

	if (run_dump_map(r, m, &d) < 0)
		return;
	fill_scalar(m, &d);
	if (only) {
		size_t kept = 0, row = d.value_size * d.cpus;

		for (size_t i = 0; i < d.n; i++) {
			if (memcmp(d.keys + i * d.key_size, only, d.key_size) == 0) {
				memmove(d.keys, d.keys + i * d.key_size, d.key_size);
				memmove(d.values, d.values + i * row, row);
				kept = 1;
				break;
			}
		}
		d.n = kept;
		if (!kept && !is_block(m->value))
			add_nothing(&d, only);
	}
	list = sorted(m, &d);
	if (top > 0 && d.n > (size_t)top)
		first = d.n - (size_t)top;
	if (only && d.n && !is_block(m->value))
		print_entry(r, m, &d, &list[0]);
	else if (r->c->opts->format != LANG_JSON)
		text_map(r, m, &d, list, first, div);
	else if (d.n)
		json_map(r, m, &d, list, first, div);
	for (size_t i = 0; i < d.n; i++)
		free(list[i].sum);
	free(list);
	map_dump_release(&d);
}

void run_rows(struct run *r, const struct map_def *m,
	      void (*row)(void *ctx, const struct lang_row *row), void *ctx)
{
	struct buf key = BUF_INIT, text = BUF_INIT;
	struct map_dump d;
	struct entry *list;

	if (run_dump_map(r, m, &d) < 0)
		return;
	list = sorted(m, &d);
	for (size_t i = 0; i < d.n; i++) {
		struct histogram hist;
		struct lang_row out = {
			.value = list[i].order, .run = r, .map = m, .raw = list[i].key
		};

		if (m->value->kind == T_HIST && !m->value->p[0]) {
			hist = run_histogram(m->value, list[i].sum);
			hist.kind = HIST_LOG2;
			out.hist = &hist;
		} else if (m->value->kind == T_STATS || m->value->kind == T_AVG) {
			out.count = list[i].sum[0];
			out.total = (s64)list[i].sum[1];
		}
		buf_reset(&key);
		buf_reset(&text);
		if (m->key)
			add_key(r, m, list[i].key, &key, false);
		add_value(r, m, &d, &list[i], 1, &text, false);
		out.key = buf_str(&key);
		out.text = buf_str(&text);
		row(ctx, &out);
		free(list[i].sum);
	}
	free(list);
	buf_release(&key);
	buf_release(&text);
	map_dump_release(&d);
}

void run_map_entries(struct run *r, const struct map_def *m,
		     void (*each)(void *ctx, const u8 *key, const u8 *value, const u64 *sum),
		     void *ctx)
{
	struct map_dump d;
	struct entry *list;

	if (run_dump_map(r, m, &d) < 0)
		return;
	list = sorted(m, &d);
	for (size_t i = 0; i < d.n; i++) {
		each(ctx, list[i].key, list[i].value, list[i].sum);
		free(list[i].sum);
	}
	free(list);
	map_dump_release(&d);
}

static int by_map_name(const void *a, const void *b)
{
	return strcmp((*(struct map_def *const *)a)->name, (*(struct map_def *const *)b)->name);
}

static bool is_empty(struct run *r, const struct map_def *m)
{
	struct map_dump d;
	bool empty;

	if (run_dump_map(r, m, &d) < 0)
		return true;
	empty = !d.n;
	map_dump_release(&d);
	return empty;
}

void run_print_maps(struct run *r)
{
	size_t n = r->c->maps.len;
	struct map_def **list;
	bool any = false;

	if (!n)
		return;
	list = xmemdup(r->c->maps.items, n * sizeof(*list));
	qsort(list, n, sizeof(*list), by_map_name);
	for (size_t i = 0; i < n; i++) {
		if (is_empty(r, list[i]))
			continue;
		if (!any && !r->c->opts->compat && r->started && r->c->opts->format == LANG_TEXT)
			run_write(r, false, "\n", 1);
		any = true;
		run_print_map(r, list[i], 0, 0, NULL);
	}
	free(list);
}
