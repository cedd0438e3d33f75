/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making records: what the kernel would have written, from what a program knows. */
#include "recording/record.h"

#include "recording/format.h"

#include <errno.h>

static void add_u32(struct buf *b, u32 v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_u64(struct buf *b, u64 v)
{
	buf_add(b, &v, sizeof(v));
}

static void add_pair(struct buf *b, u32 first, u32 second)
{
	add_u32(b, first);
	add_u32(b, second);
}

/* Begins a record; returns where. */
static size_t begin(struct buf *b, u32 type, u16 misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };
	size_t at = b->len;

	buf_add(b, &h, sizeof(h));
	return at;
}

static void pad(struct buf *b, size_t start)
{
	size_t len = b->len - start;

	buf_fill(b, 0, ALIGN_UP(len, (size_t)8) - len);
}

/* Writes the size; a record that is too long is taken back. */
static int finish(struct buf *b, size_t start)
{
	size_t size;
	u16 field;

	pad(b, start);
	size = b->len - start;
	if (size > RECORD_MAX_SIZE) {
		buf_truncate(b, start);
		return -EMSGSIZE;
	}
	field = (u16)size;
	memcpy(b->data + start + offsetof(struct perf_event_header, size), &field, sizeof(field));
	return 0;
}

static int finish_with_ids(struct buf *b, size_t start, const struct perf_event_attr *attr,
			   const struct record_ids *ids)
{
	u64 type = attr->sample_type;

	pad(b, start);
	if (!attr->sample_id_all)
		return finish(b, start);
	if (type & PERF_SAMPLE_TID)
		add_pair(b, ids->pid, ids->tid);
	if (type & PERF_SAMPLE_TIME)
		add_u64(b, ids->time);
	if (type & PERF_SAMPLE_ID)
		add_u64(b, ids->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		add_u64(b, ids->stream_id);
	if (type & PERF_SAMPLE_CPU)
		add_pair(b, ids->cpu, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		add_u64(b, ids->id);
	return finish(b, start);
}

static void add_read(struct buf *b, u64 format, const struct sample_read *read)
{
	u64 rows = read->rows ? read->nr : 0;

	add_u64(b, format & PERF_FORMAT_GROUP ? rows : read->value);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		add_u64(b, read->time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		add_u64(b, read->time_running);
	if (format & PERF_FORMAT_GROUP) {
		if (rows)
			buf_add(b, read->rows, rows * read->stride * 8);
		return;
	}
	if (format & PERF_FORMAT_ID)
		add_u64(b, read->id);
	if (format & PERF_FORMAT_LOST)
		add_u64(b, read->lost);
}

/* The size of raw data counts its padding, so that a reader need not know of any. */
static void add_raw(struct buf *b, const void *data, u32 size)
{
	u32 padded = (u32)ALIGN_UP((size_t)size + 4, (size_t)8) - 4;

	add_u32(b, padded);
	if (size)
		buf_add(b, data, size);
	buf_fill(b, 0, padded - size);
}

static void add_branches(struct buf *b, u64 branch_type, const struct sample *s)
{
	add_u64(b, s->n_branches);
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		add_u64(b, s->branch_hw_index);
	if (s->n_branches)
		buf_add(b, s->branches, s->n_branches * sizeof(*s->branches));
	if (branch_type & FORMAT_BRANCH_COUNTERS)
		buf_fill(b, 0, s->n_branches * 8);
}

static void add_regs(struct buf *b, u64 mask, const struct sample_regs *regs)
{
	bool have = regs->values && regs->mask == mask;

	add_u64(b, have ? regs->abi : PERF_SAMPLE_REGS_ABI_NONE);
	if (have && regs->abi != PERF_SAMPLE_REGS_ABI_NONE)
		buf_add(b, regs->values, (size_t)__builtin_popcountll(mask) * 8);
}

static void add_stack(struct buf *b, const struct sample *s)
{
	u64 size = s->stack ? ALIGN_UP(s->stack_size, (u64)8) : 0;

	add_u64(b, size);
	if (!size)
		return;
	buf_add(b, s->stack, s->stack_size);
	buf_fill(b, 0, size - s->stack_size);
	add_u64(b, MIN(s->stack_dyn, s->stack_size));
}

static void add_head(struct buf *b, u64 type, const struct sample *s)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		add_u64(b, s->id);
	if (type & PERF_SAMPLE_IP)
		add_u64(b, s->ip);
	if (type & PERF_SAMPLE_TID)
		add_pair(b, s->pid, s->tid);
	if (type & PERF_SAMPLE_TIME)
		add_u64(b, s->time);
	if (type & PERF_SAMPLE_ADDR)
		add_u64(b, s->addr);
	if (type & PERF_SAMPLE_ID)
		add_u64(b, s->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		add_u64(b, s->stream_id);
	if (type & PERF_SAMPLE_CPU)
		add_pair(b, s->cpu, 0);
	if (type & PERF_SAMPLE_PERIOD)
		add_u64(b, s->period);
}

static void add_long(struct buf *b, const struct perf_event_attr *attr, const struct sample *s)
{
	u64 type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		add_read(b, attr->read_format, &s->read);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		add_u64(b, s->n_ips);
		if (s->n_ips)
			buf_add(b, s->ips, s->n_ips * 8);
	}
	if (type & PERF_SAMPLE_RAW)
		add_raw(b, s->raw, s->raw_size);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		add_branches(b, attr->branch_sample_type, s);
	if (type & PERF_SAMPLE_REGS_USER)
		add_regs(b, attr->sample_regs_user, &s->regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		add_stack(b, s);
}

static void add_tail(struct buf *b, const struct perf_event_attr *attr, const struct sample *s)
{
	u64 type = attr->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		add_u64(b, s->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		add_u64(b, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		add_u64(b, s->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		add_regs(b, attr->sample_regs_intr, &s->regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		add_u64(b, s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		add_u64(b, s->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		add_u64(b, s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		add_u64(b, s->code_page_size);
	if (type & PERF_SAMPLE_AUX) {
		add_u64(b, s->aux_size);
		if (s->aux_size)
			buf_add(b, s->aux, s->aux_size);
	}
}

int build_sample(struct buf *b, const struct perf_event_attr *attr, u16 misc,
		 const struct sample *s)
{
	size_t start = begin(b, PERF_RECORD_SAMPLE, misc);

	/* What cannot fit is refused before it is copied. */
	if (s->n_ips > RECORD_MAX_SIZE / 8 || s->raw_size > RECORD_MAX_SIZE ||
	    s->n_branches > RECORD_MAX_SIZE / sizeof(*s->branches) ||
	    s->stack_size > RECORD_MAX_SIZE || s->aux_size > RECORD_MAX_SIZE ||
	    s->read.nr > RECORD_MAX_SIZE / 8) {
		buf_truncate(b, start);
		return -EMSGSIZE;
	}
	add_head(b, attr->sample_type, s);
	add_long(b, attr, s);
	add_tail(b, attr, s);
	return finish(b, start);
}

static void add_place(struct buf *b, const struct record_mmap *m)
{
	add_pair(b, m->pid, m->tid);
	add_u64(b, m->addr);
	add_u64(b, m->len);
	add_u64(b, m->pgoff);
}

int build_mmap2(struct buf *b, const struct perf_event_attr *attr, const struct record_ids *ids,
		u16 misc, const struct record_mmap *m)
{
	u8 id[24] = { m->build_id_size };
	size_t start;

	if (m->build_id_size)
		misc |= FORMAT_MISC_MMAP_BUILD_ID;
	start = begin(b, PERF_RECORD_MMAP2, misc);
	add_place(b, m);
	if (m->build_id_size) {
		memcpy(id + 4, m->build_id, MIN(m->build_id_size, sizeof(m->build_id)));
		buf_add(b, id, sizeof(id));
	} else {
		add_pair(b, m->maj, m->min);
		add_u64(b, m->ino);
		add_u64(b, m->ino_generation);
	}
	add_pair(b, m->prot, m->flags);
	buf_add(b, m->filename, strlen(m->filename) + 1);
	return finish_with_ids(b, start, attr, ids);
}
