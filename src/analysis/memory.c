/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/memory.h"

#include "base/buf.h"
#include "recording/data_src.h"

#include <linux/perf_event.h>

void memory_release(struct memory *m)
{
	vec_release(&m->kinds);
	vec_release(&m->lines);
	map_release(&m->kind_index);
	map_release(&m->line_index);
	map_release(&m->seen);
}

/* In the newer form it is the first of three values. */
static u64 weight_of(const struct sample *s)
{
	return s->type & PERF_SAMPLE_WEIGHT_STRUCT ? (u32)s->weight : s->weight;
}

static void add_kind(struct memory *m, const struct sample *s)
{
	const union perf_mem_data_src d = { .val = s->data_src };
	union perf_mem_data_src shown = {
		.mem_op = d.mem_op,
		.mem_lvl = d.mem_lvl,
		.mem_lvl_num = d.mem_lvl_num,
		.mem_remote = d.mem_remote,
		.mem_snoop = d.mem_snoop,
		.mem_snoopx = d.mem_snoopx,
		.mem_dtlb = d.mem_dtlb,
		.mem_lock = d.mem_lock,
	};
	u64 at = map_get(&m->kind_index, shown.val, 0), weight = weight_of(s);
	struct memory_kind *k;

	if (!at) {
		(void)vec_new(&m->kinds);
		at = m->kinds.len;
		map_put(&m->kind_index, shown.val, at);
		m->kinds.items[at - 1].source = shown.val;
	}
	k = &m->kinds.items[at - 1];
	k->samples++;
	k->weighed += weight != 0;
	k->weight += weight;
	k->max = MAX(k->max, weight);
}

/* True the first time. */
static bool is_new(struct memory *m, u64 line, u64 who)
{
	u64 key = (line * 0x9e3779b97f4a7c15ull) ^ who;

	if (map_get(&m->seen, key, 0))
		return false;
	map_put(&m->seen, key, 1);
	return true;
}

static void add_line(struct memory *m, const struct sample *s)
{
	const union perf_mem_data_src d = { .val = s->data_src };
	u64 address = s->addr >> MEMORY_LINE_BITS, at = map_get(&m->line_index, address, 0);
	bool hitm = d.mem_snoop & PERF_MEM_SNOOP_HITM;
	bool remote = d.mem_remote || d.mem_lvl & (PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2);
	struct memory_line *l;

	if (!at) {
		(void)vec_new(&m->lines);
		at = m->lines.len;
		map_put(&m->line_index, address, at);
		m->lines.items[at - 1].address = address << MEMORY_LINE_BITS;
		m->lines.items[at - 1].pid = s->pid;
	}
	l = &m->lines.items[at - 1];
	l->samples++;
	l->loads += (d.mem_op & PERF_MEM_OP_LOAD) != 0;
	l->stores += (d.mem_op & PERF_MEM_OP_STORE) != 0;
	l->hitm_remote += hitm && remote;
	l->hitm_local += hitm && !remote;
	l->weight += weight_of(s);
	l->places |= 1ull << (s->addr & ((1u << MEMORY_LINE_BITS) - 1));
	l->threads += is_new(m, address, (u64)s->tid << 1);
	if (s->type & PERF_SAMPLE_CPU)
		l->cpus += is_new(m, address, (u64)s->cpu << 33 | 1);
}

void memory_add(struct memory *m, const struct sample *s)
{
	if (!(s->type & PERF_SAMPLE_DATA_SRC)) {
		m->without++;
		return;
	}
	m->samples++;
	add_kind(m, s);
	if (s->type & PERF_SAMPLE_ADDR && s->addr)
		add_line(m, s);
}

/* --- tables ----------------------------------------------------------------------------------- */

static int by_samples(const void *a, const void *b)
{
	const struct memory_kind *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

static int by_hitm(const void *a, const void *b)
{
	const struct memory_line *x = a, *y = b;
	u64 p = x->hitm_local + x->hitm_remote, q = y->hitm_local + y->hitm_remote;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static struct value text_of(struct result *r, u64 source, void (*write)(u64, struct buf *))
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	write(source, &b);
	return value_text(r, buf_str(&b));
}

void memory_kinds(struct memory *m, struct result *r)
{
	static const struct column columns[] = {
		{ "share_percent", "%", VALUE_PERCENT, 0 },
		{ "samples", "SAMPLES", VALUE_COUNT, 0 },
		{ "mean_weight", "AVG", VALUE_COUNT, 0 },
		{ "max_weight", "MAX", VALUE_COUNT, COLUMN_SPARE },
		{ "op", "OP", VALUE_TEXT, 0 },
		{ "locked", "LOCKED", VALUE_TEXT, 0 },
		{ "snoop", "SNOOP", VALUE_TEXT, 0 },
		{ "tlb", "TLB", VALUE_TEXT, 0 },
		{ "memory", "MEMORY", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = result_table(r, "accesses", "Accesses", columns, ARRAY_SIZE(columns));

	vec_sort(&m->kinds, by_samples);
	vec_each(k, &m->kinds) {
		struct row *row = table_row(r, t);

		row->cells[0] = value_d(VALUE_PERCENT,
					100 * (double)k->samples / (double)MAX(m->samples, 1ull));
		row->cells[1] = value_u(VALUE_COUNT, k->samples);
		if (k->weighed) {
			row->cells[2] = value_u(VALUE_COUNT, k->weight / k->weighed);
			row->cells[3] = value_u(VALUE_COUNT, k->max);
		}
		row->cells[4] = text_of(r, k->source, data_src_op);
		row->cells[5] = text_of(r, k->source, data_src_lock);
		row->cells[6] = text_of(r, k->source, data_src_snoop);
		row->cells[7] = text_of(r, k->source, data_src_tlb);
		row->cells[8] = text_of(r, k->source, data_src_level);
	}
	result_fact(r, "samples", "samples", value_u(VALUE_COUNT, m->samples));
}

static struct value places_of(struct result *r, u64 places)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	for (u32 i = 0; i < 64; i++)
		if (places >> i & 1)
			buf_addf(&b, b.len ? " %u" : "%u", i);
	return value_text(r, buf_str(&b));
}

void memory_lines(struct memory *m, bool all, struct result *r)
{
	static const struct column columns[] = {
		{ "line", "LINE", VALUE_ADDRESS, 0 },
		{ "hitm", "HITM", VALUE_COUNT, 0 },
		{ "hitm_local", "LOCAL", VALUE_COUNT, 0 },
		{ "hitm_remote", "REMOTE", VALUE_COUNT, 0 },
		{ "samples", "SAMPLES", VALUE_COUNT, 0 },
		{ "loads", "LOADS", VALUE_COUNT, 0 },
		{ "stores", "STORES", VALUE_COUNT, 0 },
		{ "threads", "THREADS", VALUE_COUNT, 0 },
		{ "cpus", "CPUS", VALUE_COUNT, COLUMN_SPARE },
		{ "pid", "PID", VALUE_PID, 0 },
		{ "offsets", "OFFSETS", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *t = result_table(r, "lines", "Cache lines", columns, ARRAY_SIZE(columns));
	u64 hitm = 0;

	vec_sort(&m->lines, by_hitm);
	vec_each(l, &m->lines) {
		const u64 cells[] = { l->hitm_local + l->hitm_remote,
				      l->hitm_local,
				      l->hitm_remote,
				      l->samples,
				      l->loads,
				      l->stores,
				      l->threads,
				      l->cpus };
		struct row *row;

		hitm += cells[0];
		if (!all && !cells[0])
			continue;
		row = table_row(r, t);
		row->cells[0] = value_u(VALUE_ADDRESS, l->address);
		for (u32 i = 0; i < ARRAY_SIZE(cells); i++)
			row->cells[1 + i] = value_u(VALUE_COUNT, cells[i]);
		row->cells[9] = value_u(VALUE_PID, l->pid);
		row->cells[10] = places_of(r, l->places);
	}
	result_fact(r, "lines", "lines", value_u(VALUE_COUNT, m->lines.len));
	result_fact(r, "hitm", "modified elsewhere", value_u(VALUE_COUNT, hitm));
}
