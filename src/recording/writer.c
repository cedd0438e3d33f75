/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/writer_state.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/outfile.h"
#include "recording/format.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>

/*
 * The file has its name from the start, so that a run that is killed leaves what it wrote; but it
 * is always a new one, whatever has that name.
 */
static int create_file(struct recording_writer *w, const char *path, struct err *e)
{
	_cleanup_(outfile_release) struct outfile o = OUTFILE_INIT;
	int r;

	if (io_is_special(path)) {
		w->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return w->fd < 0 ? io_cannot_create(path, errno, e) : 0;
	}
	r = outfile_open(&o, path, e);
	if (r < 0)
		return r;
	r = outfile_commit(&o);
	if (r < 0)
		return io_cannot_create(path, -r, e);
	w->fd = TAKE_FD(o.fd);
	/* as long as it lives: an unfinished file without a lock is that of a dead one */
	(void)flock(w->fd, LOCK_EX | LOCK_NB);
	return 0;
}

static int open_output(struct recording_writer *w, const struct writer_options *o, struct err *e)
{
	struct stat st;

	if (!o->path) {
		w->fd = o->fd;
	} else if (streq(o->path, "-")) {
		w->fd = STDOUT_FILENO;
		w->pipe = true;
	} else {
		int r = create_file(w, o->path, e);

		if (r < 0)
			return r;
		w->own_fd = true;
	}
	if (fstat(w->fd, &st) < 0)
		return err_sys(e, errno, "cannot write '%s'", w->path);
	if (!S_ISREG(st.st_mode))
		w->pipe = true;
	if (w->pipe && isatty(w->fd)) {
		int ret = err_set(e, EINVAL, "cannot write a recording to a terminal");

		err_hint(e, "send it to a file with -o FILE, or into a pipe");
		return ret;
	}
	return 0;
}

int recording_writer_new(const struct writer_options *o, struct recording_writer **ret,
			 struct err *e)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));
	int status;

	w->fd = -1;
	w->path = xstrdup(o->path ? o->path : "recording");
	w->pipe = o->pipe;
	w->no_machine = o->no_machine;
	w->compress = o->compress;
	w->version = xstrdup(o->version ? o->version : "fathom");
	w->first_time = UINT64_MAX;
	for (int i = 0; i < o->argc; i++)
		vec_push(&w->argv, xstrdup(o->argv[i]));
	status = open_output(w, o, e);
	if (status < 0) {
		recording_writer_free(w);
		return status;
	}
	if (w->compress)
		w->packer = zstd_packer_new(w->compress);
	*ret = w;
	return 0;
}

void recording_writer_free(struct recording_writer *w)
{
	if (!w)
		return;
	if (w->own_fd)
		close(w->fd);
	vec_each(ev, &w->events) {
		free(ev->name);
		free(ev->ids);
	}
	vec_release(&w->events);
	vec_each(f, &w->features)
		buf_release(&f->bytes);
	vec_release(&w->features);
	vec_each(arg, &w->argv)
		free((void *)(uintptr_t)*arg);
	vec_release(&w->argv);
	vec_release(&w->early);
	map_release(&w->ids);
	buf_release(&w->pending);
	buf_release(&w->packed);
	zstd_packer_free(w->packer);
	free(w->version);
	free(w->path);
	free(w);
}

int recording_writer_event(struct recording_writer *w, const struct writer_event *ev, struct err *e)
{
	struct written_event *new;
	u32 index = (u32)w->events.len;

	if (w->started || index >= FORMAT_MAX_EVENTS)
		return err_set(e, EINVAL, "cannot add the event '%s' to a running recording",
			       ev->name ? ev->name : "");
	for (size_t i = 0; i < ev->n_ids; i++)
		if (map_find(&w->ids, ev->ids[i]))
			return err_set(e, EEXIST, "two events of the recording have the same id");
	new = vec_new(&w->events);
	new->attr = ev->attr;
	new->attr.size = FORMAT_ATTR_WRITE;
	new->name = xstrdup(ev->name ? ev->name : "event");
	new->n_members = ev->n_members;
	sample_layout(&new->attr, &new->layout);
	if (ev->n_ids)
		new->ids = xmemdup(ev->ids, ev->n_ids * sizeof(*ev->ids));
	new->n_ids = ev->n_ids;
	for (size_t i = 0; i < ev->n_ids; i++)
		map_put(&w->ids, ev->ids[i], index);
	return 0;
}

struct buf *writer_feature_bytes(struct recording_writer *w, u32 feature)
{
	struct written_feature *new;

	vec_each(f, &w->features)
		if (f->feature == feature)
			return &f->bytes;
	new = vec_new(&w->features);
	new->feature = feature;
	return &new->bytes;
}

bool writer_has_feature(const struct recording_writer *w, u32 feature)
{
	vec_each(f, &w->features)
		if (f->feature == feature)
			return true;
	return false;
}

int recording_writer_feature(struct recording_writer *w, u32 feature, const void *data, size_t size,
			     struct err *e)
{
	struct buf *b;

	if (feature == 0 || feature >= FEATURE_BITS || size > FORMAT_MAX_FEATURE)
		return err_set(e, EINVAL, "cannot write %zu bytes of feature %u", size, feature);
	if (w->pipe && w->started && feature < FEATURE_OURS)
		return err_set(e, EBUSY, "feature %u comes too late for a pipe", feature);
	b = writer_feature_bytes(w, feature);
	buf_reset(b);
	buf_add(b, data, size);
	return 0;
}

void recording_writer_clock(struct recording_writer *w, u32 clockid)
{
	struct timespec ts;

	if (clock_getres((clockid_t)clockid, &ts) < 0)
		return;
	w->has_clock = true;
	w->clock_id = clockid;
	w->clock_ns = clock_ns((clockid_t)clockid);
	w->clock_wall_ns = clock_wall_ns();
}

static int write_vectors(struct recording_writer *w, struct iovec *v, int n, struct err *e)
{
	while (n) {
		ssize_t done =
			w->pipe ? writev(w->fd, v, n) : pwritev(w->fd, v, n, (off_t)w->file_bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			int ret = err_sys(e, errno, "cannot write '%s'", w->path);

			if (ret != -ENOSPC && ret != -EDQUOT && ret != -EFBIG)
				return ret;
			writer_cut(w);
			err_hint(e, "what was written until now can be read");
			return ret;
		}
		w->file_bytes += (u64)done;
		while (n && (size_t)done >= v->iov_len) {
			done -= (ssize_t)v->iov_len;
			v++;
			n--;
		}
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
	return 0;
}

int writer_write(struct recording_writer *w, const void *data, size_t size, struct err *e)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)data, .iov_len = size };

	return size ? write_vectors(w, &v, 1, e) : 0;
}

int recording_writer_flush(struct recording_writer *w, struct err *e)
{
	int ret;

	if (!w->pending.len)
		return 0;
	if (!w->packer) {
		ret = writer_write(w, w->pending.data, w->pending.len, e);
	} else {
		buf_reset(&w->packed);
		if (zstd_pack(w->packer, w->pending.data, w->pending.len, &w->packed) < 0)
			return err_set(e, EIO, "cannot compress '%s'", w->path);
		ret = writer_write(w, w->packed.data, w->packed.len, e);
	}
	buf_reset_most(&w->pending, WRITER_KEPT);
	buf_reset_most(&w->packed, WRITER_KEPT);
	return ret < 0 || w->pipe ? ret : writer_checkpoint(w, e);
}

/* As with a reader: one event needs no id. */
static const struct event_layout *find_layout(const struct recording_writer *w,
					      const struct perf_event_header *h)
{
	const struct written_event *first = w->events.items;
	const u64 *words = (const u64 *)(const void *)h;
	s8 at = sample_id_position(first->attr.sample_type);
	u64 event = 0;

	if (w->events.len > 1 && at >= 0 && (size_t)(at + 2) * 8 <= h->size)
		event = map_get(&w->ids, words[at + 1], 0);
	return &first[event].layout;
}

/* Samples, losses, first and last time pass by here. */
static void note_record(struct recording_writer *w, const struct perf_event_header *h)
{
	const u64 *words = (const u64 *)(const void *)h;
	const struct event_layout *l;
	u64 time;

	if (h->type == PERF_RECORD_LOST && h->size >= 24)
		w->lost += words[2];
	else if (h->type == PERF_RECORD_LOST_SAMPLES && h->size >= 16)
		w->lost += words[1];
	if (h->type != PERF_RECORD_SAMPLE)
		return;
	w->samples++;
	l = find_layout(w, h);
	if (l->sample_time < 0 || (size_t)(l->sample_time + 2) * 8 > h->size)
		return;
	time = words[l->sample_time + 1];
	w->first_time = MIN(w->first_time, time);
	w->last_time = MAX(w->last_time, time);
}

/* -EINVAL: not whole records; those before the one that is cut are noted. */
static int note_records(struct recording_writer *w, const void *data, size_t size)
{
	const u8 *p = data;

	while (size >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *h = (const void *)p;

		if (h->size < sizeof(*h) || h->size % 8 || h->size > size)
			return -EINVAL;
		note_record(w, h);
		p += h->size;
		size -= h->size;
	}
	return size ? -EINVAL : 0;
}

static int bad_records(const struct recording_writer *w, struct err *e)
{
	return err_set(e, EINVAL, "cannot write '%s': the bytes are not whole records", w->path);
}

int recording_writer_add(struct recording_writer *w, const void *records, size_t size,
			 struct err *e)
{
	struct iovec v[2] = {
		{ .iov_base = w->pending.data, .iov_len = w->pending.len },
		{ .iov_base = (void *)(uintptr_t)records, .iov_len = size },
	};
	int ret;

	if (!w->started || note_records(w, records, size) < 0)
		return bad_records(w, e);
	w->bytes += size;
	if (!w->packer && w->pending.len + size >= WRITER_BUFFER) {
		ret = write_vectors(w, v, 2, e);
		buf_reset(&w->pending);
		return ret < 0 || w->pipe ? ret : writer_checkpoint(w, e);
	}
	if (size)
		buf_add(&w->pending, records, size);
	return w->pending.len >= WRITER_BUFFER ? recording_writer_flush(w, e) : 0;
}

/* A recorder that is killed loses what is not written yet: no more than this. */
#define FLUSH_NS (500 * NSEC_PER_MSEC)

int recording_writer_round(struct recording_writer *w, struct err *e)
{
	struct perf_event_header h = { .type = RECORD_FINISHED_ROUND, .size = sizeof(h) };
	u64 now = clock_mono_ns();
	int rc = recording_writer_add(w, &h, sizeof(h), e);

	if (rc < 0 || now - w->flushed < FLUSH_NS)
		return rc;
	w->flushed = now;
	return recording_writer_flush(w, e);
}

u64 recording_writer_bytes(const struct recording_writer *w)
{
	return w->bytes;
}

u64 recording_writer_file_bytes(const struct recording_writer *w)
{
	return w->file_bytes;
}

u64 recording_writer_samples(const struct recording_writer *w)
{
	return w->samples;
}
