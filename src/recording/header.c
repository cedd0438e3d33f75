/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a recording: which mode, which byte order, where everything lies. */
#include "recording/reader.h"

#include "recording/format.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/file.h>

enum {
	HEADER_WITHOUT_FEATURES = 72, /* what the first versions wrote */
	MAX_ATTRS = 16 << 20,         /* bytes */
};

static int no_recording(const struct recording *r, struct err *e, const char *why)
{
	int ret = err_set(e, EBADMSG, "'%s' is not a recording: %s", r->name, why);

	err_hint(e, "recordings are made by 'fathom record' or 'perf record'");
	return ret;
}

static void swap_words(void *p, size_t n)
{
	u64 *words = p;

	for (size_t i = 0; i < n; i++)
		words[i] = __builtin_bswap64(words[i]);
}

/* All @size bytes at @offset of the file, which must be there. */
static int read_at(struct recording *r, u64 offset, void *to, size_t size)
{
	ssize_t got;

	if (source_seek(&r->source, offset) < 0)
		return -EBADMSG;
	got = source_read(&r->source, to, size, size);
	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EBADMSG;
}

static bool inside(const struct recording *r, const struct format_section *s)
{
	return s->offset <= r->source.size && s->size <= r->source.size - s->offset;
}

static void read_ids(struct recording *r, u32 event, const struct format_section *ids)
{
	_cleanup_free_ u8 *bytes = NULL;

	if (!ids->size)
		return;
	if (!inside(r, ids) || ids->size / 8 > (u64)FORMAT_MAX_IDS - r->n_ids) {
		recording_bad_feature(r, ids->offset,
				      "the ids of an event lie outside of the file");
		return;
	}
	bytes = xmalloc(ids->size);
	if (read_at(r, ids->offset, bytes, ids->size) == 0)
		recording_add_ids(r, event, bytes, ids->size / 8);
}

static int read_attrs(struct recording *r, const struct format_header *h, struct err *e)
{
	u64 entry = h->attr_size, n = entry ? h->attrs.size / entry : 0;
	_cleanup_free_ u8 *bytes = NULL;

	if (entry < FORMAT_ATTR_MIN + sizeof(struct format_section) ||
	    entry > FORMAT_ATTR_MAX + sizeof(struct format_section))
		return no_recording(r, e, "its event table has entries of an impossible size");
	if (!inside(r, &h->attrs) || h->attrs.size > MAX_ATTRS)
		return err_set(e, EBADMSG, "'%s' is cut inside its event table at offset %" PRIu64,
			       r->name, h->attrs.offset);
	bytes = xmalloc(h->attrs.size + 1);
	if (read_at(r, h->attrs.offset, bytes, h->attrs.size) < 0)
		return err_set(e, EBADMSG, "cannot read the event table of '%s'", r->name);
	for (u64 i = 0; i < n; i++) {
		const u8 *at = bytes + i * entry;
		struct format_section ids;

		if (recording_add_event(r, at, entry - sizeof(ids)) < 0)
			return err_set(e, EBADMSG,
				       "'%s': event %" PRIu64 " at offset %" PRIu64 " is damaged",
				       r->name, i, h->attrs.offset + i * entry);
		memcpy(&ids, at + entry - sizeof(ids), sizeof(ids));
		if (r->info.swapped)
			swap_words(&ids, 2);
		read_ids(r, (u32)i, &ids);
	}
	return n ? 0 : no_recording(r, e, "it describes no events");
}

static void read_section(struct recording *r, u32 feature, const struct format_section *s)
{
	_cleanup_free_ u8 *bytes = NULL;

	if (!inside(r, s) || s->size > FORMAT_MAX_FEATURE) {
		recording_bad_feature(r, s->offset, "a section is outside the file");
		return;
	}
	bytes = xmalloc(s->size + 1);
	if (read_at(r, s->offset, bytes, s->size) < 0) {
		recording_bad_feature(r, s->offset, "a section cannot be read");
		return;
	}
	r->sections[feature / 64] |= 1ull << feature % 64;
	recording_read_feature(r, feature, bytes, s->size, s->offset);
}

/* After the data: one entry for each feature bit that is set, in order. */
static void read_sections(struct recording *r, const struct format_header *h)
{
	u64 offset = h->data.offset + h->data.size;

	for (u32 feature = 0; feature < FEATURE_BITS; feature++) {
		struct format_section s;

		if (!(h->features[feature / 64] >> feature % 64 & 1))
			continue;
		if (read_at(r, offset, &s, sizeof(s)) < 0) {
			recording_bad_feature(r, offset, "the table of sections is cut");
			return;
		}
		if (r->info.swapped)
			swap_words(&s, 2);
		read_section(r, feature, &s);
		offset += sizeof(s);
	}
}

/*
 * The feature bits are an array of longs: from a 32-bit machine of the other byte order, halves
 * change places. The host name is always there, so it tells.
 */
static void fix_features(struct format_header *h)
{
	if (h->features[0] >> FEATURE_HOSTNAME & 1)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(h->features); i++)
		h->features[i] = h->features[i] << 32 | h->features[i] >> 32;
	if (h->features[0] >> FEATURE_HOSTNAME & 1)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(h->features); i++)
		h->features[i] = h->features[i] << 32 | h->features[i] >> 32;
}

/* By the recorder that writes it. */
static bool is_locked(int fd)
{
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	(void)flock(fd, LOCK_UN);
	return false;
}

static int read_file_header(struct recording *r, struct format_header *h, struct err *e)
{
	int ret;

	if (r->info.swapped) {
		swap_words(h, sizeof(*h) / 8);
		fix_features(h);
	}
	if (h->size == HEADER_WITHOUT_FEATURES)
		memset(h->features, 0, sizeof(h->features));
	ret = read_attrs(r, h, e);
	if (ret < 0)
		return ret;
	if (h->data.offset > INT64_MAX || h->data.size > INT64_MAX - h->data.offset)
		return no_recording(r, e, "its data is at an impossible offset");
	r->info.data_offset = h->data.offset;
	r->info.data_size = h->data.size;
	r->info.no_room = h->event_types.offset == FORMAT_NO_ROOM;
	r->info.unfinished =
		h->data.size == 0 || r->info.no_room || h->event_types.offset == FORMAT_RUNNING;
	r->info.running = r->info.unfinished && !r->info.no_room && is_locked(r->source.fd);
	r->stream_begin = h->data.offset;
	r->stream_end = h->data.size ? h->data.offset + h->data.size : UINT64_MAX;
	if (!r->info.unfinished)
		read_sections(r, h);
	return source_seek(&r->source, r->stream_begin);
}

static int read_rest(struct recording *r, u8 *head, size_t size, struct err *e)
{
	ssize_t got;
	int ret;

	got = source_read(&r->source, head + FORMAT_PIPE_HEADER, size - FORMAT_PIPE_HEADER,
			  size - FORMAT_PIPE_HEADER);
	if (got < 0)
		return err_sys(e, (int)got, "cannot read '%s'", r->name);
	if ((size_t)got < size - FORMAT_PIPE_HEADER)
		return err_set(e, EBADMSG, "'%s' is cut inside its header after %zd bytes", r->name,
			       got + FORMAT_PIPE_HEADER);
	if (r->source.seekable)
		return 0;
	ret = source_spool(&r->source, head, size, e);
	return ret;
}

static int check_magic(struct recording *r, u64 magic, struct err *e)
{
	if (magic == FORMAT_MAGIC || magic == FORMAT_MAGIC_SWAPPED) {
		r->info.swapped = magic == FORMAT_MAGIC_SWAPPED;
		return 0;
	}
	if (memcmp(&magic, "PERFFILE", 8) == 0)
		return no_recording(r, e, "it has the format used before Linux 2.6.36");
	return no_recording(r, e, "it does not begin with PERFILE2");
}

int recording_read_header(struct recording *r, struct err *e)
{
	struct format_header h = { 0 };
	ssize_t got = source_read(&r->source, &h, FORMAT_PIPE_HEADER, FORMAT_PIPE_HEADER);
	u64 size;
	int ret;

	if (got < 0)
		return err_sys(e, (int)got, "cannot read '%s'", r->name);
	if (got == 0)
		return err_set(e, ENODATA, "'%s' is empty", r->name);
	if (got < FORMAT_PIPE_HEADER)
		return no_recording(r, e, "it is only a few bytes long");
	ret = check_magic(r, h.magic, e);
	if (ret < 0)
		return ret;
	size = r->info.swapped ? __builtin_bswap64(h.size) : h.size;
	if (size == FORMAT_PIPE_HEADER) {
		r->info.pipe = true;
		r->stream_begin = FORMAT_PIPE_HEADER;
		r->stream_end = UINT64_MAX;
		return 0;
	}
	if (size != HEADER_WITHOUT_FEATURES && size < FORMAT_FILE_HEADER)
		return no_recording(r, e, "its header has an impossible size");
	ret = read_rest(r, (u8 *)&h, sizeof(h), e);
	return ret < 0 ? ret : read_file_header(r, &h, e);
}
