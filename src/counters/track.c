/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/track.h"

#include "base/varint.h"
#include "counters/formula.h"

enum { ENTRY_COUNTER = 1, ENTRY_SERIES, ENTRY_FRAME };

static const char magic[] = "FCTR\x02";

static u64 zigzag(u64 difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static u64 unzigzag(u64 v)
{
	return v >> 1 ^ (0 - (v & 1));
}

static void add_text(struct buf *out, const char *s, size_t n)
{
	varint_write(out, n);
	buf_add(out, s, n);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Series
 * that changed: how many are skipped, then 0 if it is gone, otherwise the difference + 1. */
static void add_values(struct buf *out, const struct snapshot *before, const struct snapshot *now)
{
	size_t n = MAX(before->n, now->n), last = 0, count = 0;
	_cleanup_buf_ struct buf changes = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		bool had = snapshot_has(before, (u32)i), has = snapshot_has(now, (u32)i);
		u64 old = had ? before->values[i] : 0;

		if (had == has && (!has || old == now->values[i]))
			continue;
		varint_write(&changes, i - last);
		varint_write(&changes, has);
		if (has)
			varint_write(&changes, zigzag(now->values[i] - old));
		last = i;
		count++;
	}
	varint_write(out, count);
	buf_add(out, changes.data ? changes.data : "", changes.len);
}

static bool did_anything(const struct task_row *row)
{
	for (u32 i = 0; i < TASK_FIGURES; i++)
		if (row->figures[i])
			return true;
	return row->ended;
}

static void add_task(struct buf *out, const struct task_row *row)
{
	const u64 numbers[] = {
		row->pid,         row->tid,    row->ppid,
		row->uid,         row->cpu,    row->threads,
		row->policy,      row->folded, (u64)zigzag((u64)(s64)row->nice),
		(u8)row->state,   row->ended,  row->kernel,
		row->start,       row->cgroup, row->vsize,
		row->rss,         row->user,   row->system,
		row->folded_exec,
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		varint_write(out, numbers[i]);
	for (u32 i = 0; i < TASK_FIGURES; i++)
		varint_write(out, row->figures[i]);
	add_text(out, row->comm, strnlen(row->comm, sizeof(row->comm)));
}

static void add_tasks(struct buf *out, const struct task_rows *t)
{
	size_t n = 0;

	vec_each(row, &t->rows)
		n += did_anything(row);
	varint_write(out, n);
	vec_each(row, &t->rows)
		if (did_anything(row))
			add_task(out, row);
	varint_write(out, t->orphans_exec);
	varint_write(out, t->lost_exec);
	varint_write(out, t->lost);
	varint_write(out, t->n_tasks);
	varint_write(out, t->by_bpf);
	varint_write(out, t->meter.known | t->meter.by_clock << 1 | t->meter.irq_apart << 2 |
				  t->meter.steal_apart << 3);
	varint_write(out, t->meter.busy);
	varint_write(out, t->meter.charged);
	varint_write(out, t->meter.leaving);
	varint_write(out, t->no_room);
}

void track_add_frame(struct buf *out, const struct snapshot *before, const struct snapshot *now)
{
	varint_write(out, zigzag(now->mono - before->mono));
	varint_write(out, zigzag(now->boot - before->boot));
	varint_write(out, zigzag(now->wall - before->wall));
	varint_write(out, now->cost);
	add_values(out, before, now);
	add_tasks(out, &now->tasks);
}

static void add_names(struct track_writer *w, const struct counter_set *set)
{
	for (; w->counters < set->counters.len; w->counters++) {
		const struct counter *row = set->counters.items[w->counters].row;

		varint_write(&w->bytes, ENTRY_COUNTER);
		add_text(&w->bytes, row->name, strlen(row->name));
		varint_write(&w->bytes, row->kind);
		varint_write(&w->bytes, row->unit);
		varint_write(&w->bytes, row->scale);
		varint_write(&w->bytes, row->bits);
	}
	for (; w->series < set->series.len; w->series++) {
		const char *name = series_instance(set, (u32)w->series);

		varint_write(&w->bytes, ENTRY_SERIES);
		varint_write(&w->bytes, set->series.items[w->series].counter);
		add_text(&w->bytes, name, strlen(name));
	}
}

void track_writer_add(struct track_writer *w, const struct counter_set *set,
		      const struct snapshot *s)
{
	_cleanup_buf_ struct buf frame = BUF_INIT;

	if (w->full)
		return;
	if (!w->bytes.len) {
		buf_add(&w->bytes, magic, sizeof(magic) - 1);
		varint_write(&w->bytes, set->page_size);
	}
	track_add_frame(&frame, &w->last, s);
	if (w->bytes.len + frame.len + (1 << 20) > TRACK_BYTES_MOST) {
		w->full = true;
		return;
	}
	add_names(w, set);
	varint_write(&w->bytes, ENTRY_FRAME);
	varint_write(&w->bytes, frame.len);
	buf_add(&w->bytes, frame.data, frame.len);
	snapshot_copy(&w->last, s);
	w->frames++;
}

void track_writer_release(struct track_writer *w)
{
	buf_release(&w->bytes);
	snapshot_release(&w->last);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct bytes {
	const u8 *at, *end;
	bool bad;
};

static u64 number(struct bytes *b)
{
	u64 v = 0;

	if (b->bad || !varint_read(&b->at, b->end, &v)) {
		b->bad = true;
		return 0;
	}
	return v;
}

static const char *text(struct bytes *b, size_t most, size_t *ret_len)
{
	u64 n = number(b);
	const u8 *at = b->at;

	if (b->bad || n > most || n > (u64)(b->end - b->at)) {
		b->bad = true;
		*ret_len = 0;
		return "";
	}
	b->at += n;
	*ret_len = (size_t)n;
	return (const char *)at;
}

static void take_values(struct bytes *b, struct snapshot *s, const u32 *series, size_t n_series)
{
	u64 count = number(b), at = 0;

	for (u64 i = 0; i < count && !b->bad; i++) {
		u64 skip = number(b), has = number(b);
		u32 id;

		if (skip >= n_series || at + skip >= n_series) {
			b->bad = true;
			return;
		}
		at += skip;
		id = series ? series[at] : (u32)at;
		if (has) {
			u64 old = snapshot_has(s, id) ? s->values[id] : 0;

			snapshot_put(s, id, old + unzigzag(number(b)));
		} else if (snapshot_has(s, id)) {
			s->has[id] = 0;
		}
	}
}

static void take_task(struct bytes *b, struct task_rows *t)
{
	struct task_row *row = vec_new(&t->rows);
	u64 *figures = row->figures;
	const char *comm;
	size_t n;

	row->pid = (u32)number(b);
	row->tid = (u32)number(b);
	row->ppid = (u32)number(b);
	row->uid = (u32)number(b);
	row->cpu = (u32)number(b);
	row->threads = (u32)number(b);
	row->policy = (u32)number(b);
	row->folded = (u32)number(b);
	row->nice = (s32)unzigzag(number(b));
	row->state = (char)(number(b) & 0x7f);
	row->ended = number(b);
	row->kernel = number(b);
	row->start = number(b);
	row->cgroup = number(b);
	row->vsize = number(b);
	row->rss = number(b);
	row->user = number(b);
	row->system = number(b);
	row->folded_exec = number(b);
	for (u32 i = 0; i < TASK_FIGURES; i++)
		figures[i] = number(b);
	comm = text(b, sizeof(row->comm) - 1, &n);
	memcpy(row->comm, comm, n);
}

static void take_tasks(struct bytes *b, struct task_rows *t)
{
	u64 n = number(b), flags;

	vec_clear(&t->rows);
	/* a row has more bytes than this */
	if (n > TRACK_TASKS_MOST || n > (u64)(b->end - b->at) / 16)
		b->bad = true;
	for (u64 i = 0; i < n && !b->bad; i++)
		take_task(b, t);
	t->orphans_exec = number(b);
	t->lost_exec = number(b);
	t->lost = number(b);
	t->n_tasks = (u32)number(b);
	t->by_bpf = number(b);
	flags = number(b);
	t->meter.known = flags & 1;
	t->meter.by_clock = flags & 2;
	t->meter.irq_apart = flags & 4;
	t->meter.steal_apart = flags & 8;
	t->meter.busy = number(b);
	t->meter.charged = number(b);
	t->meter.leaving = number(b);
	t->no_room = number(b);
}

static int take_frame(struct snapshot *s, const u32 *series, size_t n_series, const u8 *bytes,
		      size_t n)
{
	struct bytes b = { bytes, bytes + n, false };

	s->mono += unzigzag(number(&b));
	s->boot += unzigzag(number(&b));
	s->wall += unzigzag(number(&b));
	s->cost = number(&b);
	take_values(&b, s, series, n_series);
	take_tasks(&b, &s->tasks);
	return b.bad ? -EBADMSG : 0;
}

int track_take_frame(struct snapshot *s, const struct counter_set *set, const u8 *bytes, size_t n)
{
	return take_frame(s, NULL, set->series.len, bytes, n);
}

int track_reader_init(struct track_reader *r, const void *bytes, size_t n, struct err *e)
{
	struct bytes b = { bytes, (const u8 *)bytes + n, false };

	*r = (struct track_reader){ 0 };
	counter_set_init(&r->set);
	counter_set_add_tables(&r->set);
	if (n < sizeof(magic) - 1 || memcmp(bytes, magic, sizeof(magic) - 1) != 0)
		return err_set(e, EBADMSG, "these are not counters, or of a newer version");
	b.at += sizeof(magic) - 1;
	r->set.page_size = number(&b);
	r->begin = bytes;
	r->at = b.at;
	r->end = b.end;
	if (b.bad)
		return err_set(e, EBADMSG, "the section of counters is damaged");
	return formula_prepare(&r->set, e);
}

void track_reader_release(struct track_reader *r)
{
	counter_set_release(&r->set);
	snapshot_release(&r->last);
	vec_release(&r->counters);
	vec_release(&r->series);
}

static void take_counter(struct track_reader *r, struct bytes *b)
{
	char name[SET_NAME_MOST + 64];
	size_t n;
	const char *s = text(b, sizeof(name) - 1, &n);
	struct counter like = { 0 };
	u32 id;

	memcpy(name, s, n);
	name[n] = '\0';
	like.kind = (enum counter_kind)number(b);
	like.unit = (enum counter_unit)number(b);
	like.scale = (enum counter_scale)number(b);
	like.bits = (u8)number(b);
	/* a RATIO that this build does not know cannot be computed */
	if (like.kind < GAUGE || like.kind > RATIO || like.unit < UNIT_COUNT ||
	    like.unit > UNIT_NUMBER || like.scale > SCALE_KHZ || like.bits > 64) {
		b->bad = true;
		return;
	}
	if (like.kind == RATIO)
		like.kind = GAUGE;
	id = counter_set_add(&r->set, name, &like, SET_NONE);
	b->bad |= id == SET_NONE;
	vec_push(&r->counters, id);
}

static void take_series(struct track_reader *r, struct bytes *b)
{
	u64 counter = number(b);
	size_t n;
	const char *s = text(b, SET_NAME_MOST, &n);
	u32 id = SET_NONE;

	if (!b->bad && counter < r->counters.len)
		id = counter_set_series(&r->set, r->counters.items[counter],
					n ? intern_bytes(&r->set.instances, s, n) : 0);
	b->bad |= id == SET_NONE;
	vec_push(&r->series, id);
}

int track_reader_next(struct track_reader *r, struct snapshot *into, struct err *e)
{
	struct bytes b = { r->at, r->end, false };

	while (b.at < b.end && !b.bad) {
		u64 entry = number(&b), n;

		if (entry == ENTRY_COUNTER) {
			take_counter(r, &b);
		} else if (entry == ENTRY_SERIES) {
			take_series(r, &b);
		} else if (entry == ENTRY_FRAME) {
			n = number(&b);
			if (b.bad || n > (u64)(b.end - b.at) ||
			    take_frame(&r->last, r->series.items, r->series.len, b.at, n) < 0)
				break;
			r->at = b.at + n;
			snapshot_copy(into, &r->last);
			return 1;
		} else {
			break;
		}
	}
	if (b.at >= b.end && !b.bad)
		return 0;
	return err_set(e, EBADMSG, "the section of counters is damaged at byte %zu",
		       (size_t)(b.at - r->begin));
}
