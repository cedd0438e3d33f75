/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that describe the recording itself; pipe mode has nothing else to do it with. */
#include "recording/reader.h"

#include "recording/format.h"

static struct bytes body(const struct recording *r, const struct raw *raw)
{
	return bytes_of(raw->header + 1, raw->size - sizeof(*raw->header), r->info.swapped);
}

static void bad(struct recording *r, const struct raw *raw, u32 type)
{
	const char *name = record_type_name(type);

	if (r->counts.bad_records++ == 0) {
		r->counts.bad_offset = raw->offset;
		r->counts.bad_reason = arena_printf(&r->arena, "%s record is damaged", name);
	}
}

static void take_attr(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw), at = b;
	const void *attr;
	u32 size;

	if (!r->info.pipe)
		return;
	bytes_take(&at, 4);
	size = bytes_u32(&at);
	attr = bytes_take(&b, size ? size : FORMAT_ATTR_MIN);
	if (!attr || recording_add_event(r, attr, size ? size : FORMAT_ATTR_MIN) < 0) {
		bad(r, raw, RECORD_HEADER_ATTR);
		return;
	}
	recording_add_ids(r, (u32)r->events.len - 1, b.p, bytes_left(&b) / 8);
}

static void take_event_update(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw);
	u64 type = bytes_u64(&b), id = bytes_u64(&b), bits;
	u32 event = r->events.len == 1 ? 0 : recording_find_id(r, id);
	struct recording_event *ev;
	const char *text = (const char *)b.p;
	size_t len;

	if (b.bad) {
		bad(r, raw, RECORD_EVENT_UPDATE);
		return;
	}
	if (event == RECORD_NO_EVENT)
		return;
	ev = &r->events.items[event];
	len = strnlen(text, bytes_left(&b));
	if (type == FORMAT_UPDATE_NAME) {
		recording_name_event(r, event, arena_strndup(&r->arena, text, len));
	} else if (type == FORMAT_UPDATE_UNIT) {
		ev->unit = arena_strndup(&r->arena, text, len);
	} else if (type == FORMAT_UPDATE_SCALE && bytes_left(&b) >= 8) {
		bits = bytes_u64(&b);
		memcpy(&ev->scale, &bits, sizeof(ev->scale));
	}
}

/* The data follows the record, outside of its size. Always taken or skipped, on any pass. */
static void take_tracing(struct recording *r, const struct raw *raw, bool known)
{
	struct bytes b = body(r, raw);
	u32 size = bytes_u32(&b);
	_cleanup_free_ char *data = NULL;
	u64 offset = raw->offset;

	if (b.bad) {
		bad(r, raw, RECORD_HEADER_TRACING_DATA);
		return;
	}
	if (known || size > FORMAT_MAX_FEATURE) {
		if (!known)
			recording_bad_feature(r, offset, "the tracing data is larger than 32 MB");
		(void)stream_skip(&r->stream, size);
		return;
	}
	data = xmalloc(size + 1u);
	if (stream_take(&r->stream, data, size) == 0)
		recording_read_feature(r, FEATURE_TRACING_DATA, data, size, offset);
}

static void take_feature(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw);
	u64 feature = bytes_u64(&b);

	if (b.bad || feature == 0 || feature >= FEATURE_BITS)
		bad(r, raw, RECORD_HEADER_FEATURE);
	else
		recording_read_feature(r, (u32)feature, b.p, bytes_left(&b), raw->offset);
}

static struct piece *find_piece(struct recording *r, u32 feature)
{
	if (feature < FEATURE_PERF_END)
		return &r->pieces[feature];
	if (feature >= FEATURE_OURS && feature <= FEATURE_OURS_LAST)
		return &r->pieces[FEATURE_PERF_END + feature - FEATURE_OURS];
	return NULL;
}

/* See struct format_piece. Records of this type by an ancient perf have no magic. */
static void take_piece(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw);
	u64 magic = bytes_u64(&b);
	u32 feature = bytes_u32(&b), total = bytes_u32(&b), offset = bytes_u32(&b);
	u32 len = bytes_u32(&b);
	const void *data = bytes_take(&b, len);
	struct piece *p = find_piece(r, feature);

	if (b.bad || magic != FORMAT_PIECE_MAGIC || !p || total > FORMAT_MAX_FEATURE)
		return;
	if (r->sections[feature / 64] >> feature % 64 & 1)
		return; /* the file's section is newer */
	if (offset == 0)
		buf_reset(&p->bytes);
	if (offset != p->bytes.len || len > total - offset)
		return;
	p->total = total;
	buf_add(&p->bytes, data, len);
	if (p->bytes.len < total)
		return;
	recording_read_feature(r, feature, p->bytes.data, total, raw->offset);
	buf_release(&p->bytes);
}

void recording_release_pieces(struct recording *r)
{
	for (size_t i = 0; i < N_PIECES; i++)
		buf_release(&r->pieces[i].bytes);
}

static void take_time_conv(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw);

	r->info.time_shift = bytes_u64(&b);
	r->info.time_mult = bytes_u64(&b);
	r->info.time_zero = bytes_u64(&b);
	r->info.has_time_conv = !b.bad;
}

static void take_thread_map(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw);
	u64 n = bytes_u64(&b);

	vec_clear(&r->info.threads);
	for (u64 i = 0; i < n && !b.bad; i++) {
		struct recording_thread t = { .pid = bytes_u64(&b) };
		const char *comm = bytes_take(&b, 16);

		if (!comm)
			break;
		t.comm = arena_strndup(&r->arena, comm, strnlen(comm, 16));
		vec_push(&r->info.threads, t);
	}
	if (b.bad)
		bad(r, raw, RECORD_THREAD_MAP);
}

/* A bit mask of CPUs; the size of its words is that of the writer's long. */
static void take_cpu_mask(struct recording *r, struct bytes *b)
{
	u16 n = bytes_u16(b), word = bytes_u16(b);

	if (word == 8)
		bytes_take(b, 4); /* padding in front of the first long */
	for (u32 i = 0; i < n && !b->bad; i++) {
		u64 bits = word == 8 ? bytes_u64(b) : bytes_u32(b);

		for (u32 bit = 0; bit < word * 8u && bit < 64; bit++)
			if (!b->bad && bits >> bit & 1)
				vec_push(&r->info.cpu_map, i * word * 8u + bit);
	}
}

static void take_cpu_map(struct recording *r, const struct raw *raw)
{
	enum { CPUS_LIST = 0, CPUS_MASK = 1, CPUS_RANGE = 2 };
	struct bytes b = body(r, raw);
	u16 type = bytes_u16(&b);

	vec_clear(&r->info.cpu_map);
	if (type == CPUS_LIST) {
		u16 n = bytes_u16(&b);

		for (u32 i = 0; i < n && bytes_left(&b) >= 2; i++)
			vec_push(&r->info.cpu_map, bytes_u16(&b));
	} else if (type == CPUS_MASK) {
		take_cpu_mask(r, &b);
	} else if (type == CPUS_RANGE) {
		u32 first, last;

		bytes_take(&b, 2); /* any_cpu, padding */
		first = bytes_u16(&b);
		last = bytes_u16(&b);
		for (u32 cpu = first; !b.bad && cpu <= last; cpu++)
			vec_push(&r->info.cpu_map, cpu);
	}
	if (b.bad)
		bad(r, raw, RECORD_CPU_MAP);
}

static void take_build_id(struct recording *r, const struct raw *raw)
{
	struct bytes b = body(r, raw);

	if (recording_add_build_id(r, raw->header->misc, &b) < 0)
		bad(r, raw, RECORD_HEADER_BUILD_ID);
}

bool recording_absorb(struct recording *r, const struct raw *raw)
{
	static void (*const takers[RECORD_TYPE_END])(struct recording *, const struct raw *) = {
		[RECORD_HEADER_ATTR] = take_attr,         [RECORD_HEADER_EVENT_TYPE] = take_piece,
		[RECORD_HEADER_BUILD_ID] = take_build_id, [RECORD_EVENT_UPDATE] = take_event_update,
		[RECORD_TIME_CONV] = take_time_conv,      [RECORD_THREAD_MAP] = take_thread_map,
		[RECORD_CPU_MAP] = take_cpu_map,          [RECORD_HEADER_FEATURE] = take_feature,
	};
	u32 type = raw->header->type;
	bool known = raw->offset < r->absorbed;

	if (type == RECORD_ID_INDEX || type == RECORD_FINISHED_INIT)
		return true;
	if (type == RECORD_HEADER_EVENT_TYPE && (raw->header->misc & FORMAT_PIECE_ALONE))
		return false;
	if (type >= RECORD_TYPE_END || (!takers[type] && type != RECORD_HEADER_TRACING_DATA))
		return false;
	if (!known) {
		r->absorbed = raw->offset + 1;
		r->info_bytes += raw->size;
	}
	if (type == RECORD_HEADER_TRACING_DATA)
		take_tracing(r, raw, known);
	else if (!known && r->info_bytes <= FORMAT_MAX_INFO)
		takers[type](r, raw);
	else if (!known)
		bad(r, raw, type); /* more than anybody has to say about a recording */
	return true;
}
