/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File mode: header and attrs in front, sections after. */
#include "recording/writer_state.h"

#include "recording/format.h"

#include <errno.h>

/*
 * perf tells events apart by the id in a sample and in the trailing fields of other records, so
 * with more than one event each must have it, at the same place.
 */
static int check_events(const struct recording_writer *w, struct err *e)
{
	const struct written_event *first = w->events.items;

	if (!w->events.len)
		return err_set(e, EINVAL, "cannot write '%s': it has no events", w->path);
	if (w->events.len == 1)
		return 0;
	vec_each(ev, &w->events) {
		u64 type = ev->attr.sample_type, same = first->attr.sample_type;

		if (sample_id_position(type) < 0 ||
		    sample_id_position(type) != sample_id_position(same) ||
		    trailing_id_position(type) != trailing_id_position(same))
			return err_set(e, EINVAL,
				       "cannot write '%s': the samples of '%s' need an identifier",
				       w->path, ev->name);
		if (!ev->n_ids)
			return err_set(e, EINVAL, "cannot write '%s': the event '%s' has no ids",
				       w->path, ev->name);
	}
	return 0;
}

static size_t total_ids(const struct recording_writer *w)
{
	size_t n = 0;

	vec_each(ev, &w->events)
		n += ev->n_ids;
	return n;
}

static void add_attr(struct buf *out, const struct perf_event_attr *attr)
{
	u8 bytes[FORMAT_ATTR_WRITE] = { 0 };

	memcpy(bytes, attr, MIN(sizeof(*attr), sizeof(bytes)));
	buf_add(out, bytes, sizeof(bytes));
}

/* The ids of all events, then the attrs, which point back at them. */
static void build_attrs(struct recording_writer *w, struct buf *out)
{
	u64 at = FORMAT_FILE_HEADER;

	vec_each(ev, &w->events)
		if (ev->n_ids)
			buf_add(out, ev->ids, ev->n_ids * sizeof(*ev->ids));
	vec_each(ev, &w->events) {
		struct format_section ids = { .offset = at, .size = ev->n_ids * sizeof(u64) };

		add_attr(out, &ev->attr);
		buf_add(out, &ids, sizeof(ids));
		at += ids.size;
	}
}

static int write_at(const struct recording_writer *w, const void *data, size_t size, u64 offset,
		    struct err *e)
{
	ssize_t done;

	do {
		done = pwrite(w->fd, data, size, (off_t)offset);
	} while (done < 0 && errno == EINTR);
	if (done < 0 || (size_t)done != size)
		return err_sys(e, done < 0 ? errno : ENOSPC, "cannot write '%s'", w->path);
	return 0;
}

static int write_header(struct recording_writer *w, u64 data_size, const u64 features[4], u64 state,
			struct err *e)
{
	u64 entry = FORMAT_ATTR_WRITE + sizeof(struct format_section);
	struct format_header h = {
		.magic = FORMAT_MAGIC,
		.size = sizeof(h),
		.attr_size = entry,
		.attrs = { .offset = FORMAT_FILE_HEADER + total_ids(w) * sizeof(u64),
			   .size = w->events.len * entry },
		.data = { .offset = w->data_offset, .size = data_size },
		.event_types = { .offset = state },
	};

	memcpy(h.features, features, sizeof(h.features));
	return write_at(w, &h, sizeof(h), 0, e);
}

/*
 * The table of the early sections goes after the data, where readers look for it; the next
 * records overwrite it and the next checkpoint writes it again.
 */
static int write_checkpoint(struct recording_writer *w, u64 state, struct err *e)
{
	_cleanup_buf_ struct buf table = BUF_INIT;
	u64 features[4] = { 0 };
	int ret = 0;

	vec_each(early, &w->early) {
		buf_add(&table, &early->at, sizeof(early->at));
		features[early->feature / 64] |= 1ull << early->feature % 64;
	}
	if (table.len)
		ret = write_at(w, table.data, table.len, w->file_bytes, e);
	if (ret < 0)
		return ret;
	ret = write_header(w, w->file_bytes - w->data_offset, features, state, e);
	if (ret == 0)
		w->checked = w->file_bytes;
	return ret;
}

int writer_checkpoint(struct recording_writer *w, struct err *e)
{
	return write_checkpoint(w, FORMAT_RUNNING, e);
}

/*
 * The room of the last records, which did not fit, is enough for the table of sections: it was
 * there before they were written over it.
 */
void writer_cut(struct recording_writer *w)
{
	if (w->pipe || !w->checked)
		return;
	w->file_bytes = w->checked;
	(void)write_checkpoint(w, FORMAT_NO_ROOM, NULL);
	if (ftruncate(w->fd, (off_t)(w->checked + w->early.len * sizeof(struct format_section))))
		return;
}

static int compare_features(const void *a, const void *b)
{
	const struct written_feature *x = a, *y = b;

	return x->feature < y->feature ? -1 : x->feature > y->feature;
}

static int write_sections(struct recording_writer *w, struct err *e)
{
	_cleanup_buf_ struct buf table = BUF_INIT;
	u64 at = w->file_bytes + w->features.len * sizeof(struct format_section);
	int ret;

	vec_sort(&w->features, compare_features);
	vec_each(f, &w->features) {
		struct format_section s = { .offset = at, .size = f->bytes.len };

		buf_add(&table, &s, sizeof(s));
		at += s.size;
	}
	ret = writer_write(w, table.data, table.len, e);
	vec_each(f, &w->features)
		if (ret == 0)
			ret = writer_write(w, f->bytes.data, f->bytes.len, e);
	return ret;
}

void writer_build_pieces(const struct written_feature *f, struct buf *out)
{
	enum { STEP = 32 << 10 };
	u32 total = (u32)f->bytes.len, at = 0;

	do {
		struct format_piece p = {
			.type = RECORD_HEADER_EVENT_TYPE,
			.magic = FORMAT_PIECE_MAGIC,
			.feature = f->feature,
			.total = total,
			.offset = at,
			.len = MIN(total - at, (u32)STEP),
		};
		u32 padded = ALIGN_UP(p.len, 8u);

		p.size = (u16)(sizeof(p) + padded);
		buf_add(out, &p, sizeof(p));
		if (p.len)
			buf_add(out, f->bytes.data + at, p.len);
		buf_fill(out, 0, padded - p.len);
		at += p.len;
	} while (at < total);
}

int recording_writer_piece(struct buf *out, u32 feature, const void *data, size_t size)
{
	struct format_piece p = {
		.type = RECORD_HEADER_EVENT_TYPE,
		.misc = FORMAT_PIECE_ALONE,
		.magic = FORMAT_PIECE_MAGIC,
		.feature = feature,
		.total = UINT32_MAX, /* nothing waits for more */
		.len = (u32)size,
	};
	size_t padded = ALIGN_UP(size, (size_t)8);

	if (size > FORMAT_PIECE_MOST)
		return -E2BIG;
	p.size = (u16)(sizeof(p) + padded);
	buf_add(out, &p, sizeof(p));
	buf_add(out, data, size);
	buf_fill(out, 0, padded - size);
	return 0;
}

static void build_name(const struct written_event *ev, struct buf *out)
{
	size_t size = ALIGN_UP(strlen(ev->name) + 1, (size_t)8);
	struct perf_event_header h = {
		.type = RECORD_EVENT_UPDATE,
		.size = (u16)(sizeof(h) + 16 + size),
	};

	if (size > RECORD_MAX_SIZE / 2)
		return;
	buf_add(out, &h, sizeof(h));
	feature_add_u64(out, FORMAT_UPDATE_NAME);
	feature_add_u64(out, ev->n_ids ? ev->ids[0] : 0);
	buf_addstr(out, ev->name);
	buf_fill(out, 0, size - strlen(ev->name));
}

/* What a reader needs even if the sections never get written. */
void writer_build_intro(struct recording_writer *w, struct buf *out)
{
	vec_each(ev, &w->events)
		build_name(ev, out);
	if (w->pipe)
		return;
	vec_each(f, &w->features)
		if (f->feature == FEATURE_TRACING_DATA || f->feature >= FEATURE_OURS)
			writer_build_pieces(f, out);
}

/* perf opens no file with tracepoints or compressed records unless it has these. */
static void build_early(struct recording_writer *w, struct buf *head)
{
	if (w->packer)
		writer_fill_compressed(w);
	vec_sort(&w->features, compare_features);
	vec_each(f, &w->features) {
		struct early_section early = { .feature = f->feature };

		if (f->feature != FEATURE_TRACING_DATA && f->feature != FEATURE_COMPRESSED)
			continue;
		early.at = (struct format_section){ .offset = head->len, .size = f->bytes.len };
		vec_push(&w->early, early);
		buf_add(head, f->bytes.data, f->bytes.len);
		buf_fill(head, 0, ALIGN_UP(head->len, (size_t)8) - head->len);
	}
}

static int start_file(struct recording_writer *w, struct err *e)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	int ret;

	buf_fill(&head, 0, FORMAT_FILE_HEADER);
	build_attrs(w, &head);
	build_early(w, &head);
	w->data_offset = head.len;
	writer_build_intro(w, &head);
	ret = writer_write(w, head.data, head.len, e);
	return ret < 0 ? ret : writer_checkpoint(w, e);
}

static int start_pipe(struct recording_writer *w, struct err *e)
{
	_cleanup_buf_ struct buf head = BUF_INIT;

	writer_fill_features(w);
	writer_build_pipe_head(w, &head);
	return writer_write(w, head.data, head.len, e);
}

int recording_writer_start(struct recording_writer *w, struct err *e)
{
	int ret = check_events(w, e);

	if (ret == 0)
		ret = writer_fill_tracing(w, e);
	if (ret < 0)
		return ret;
	w->started = true;
	return w->pipe ? start_pipe(w, e) : start_file(w, e);
}

int recording_writer_finish(struct recording_writer *w, struct err *e)
{
	_cleanup_buf_ struct buf tail = BUF_INIT;
	u64 data_size, features[4] = { 0 };
	int ret = recording_writer_flush(w, e);

	if (ret < 0)
		return ret;
	if (w->pipe) {
		writer_build_pipe_tail(w, &tail);
		return writer_write(w, tail.data, tail.len, e);
	}
	data_size = w->file_bytes - w->data_offset;
	writer_fill_features(w);
	vec_each(f, &w->features)
		features[f->feature / 64] |= 1ull << f->feature % 64;
	ret = write_sections(w, e);
	return ret < 0 ? ret : write_header(w, data_size, features, 0, e);
}
