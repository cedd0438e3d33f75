/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Typed views of records that the kernel writes. */
#include "recording/record.h"

#include "recording/bytes.h"
#include "recording/format.h"

#include <errno.h>
#include <sys/mman.h>

enum { MMAP_FILE_BYTES = 24 }; /* what a mapping says of its file, in either form */

static struct bytes body(const struct record *r)
{
	const u8 *p = (const u8 *)r->header;

	return bytes_of(p + sizeof(*r->header), r->body_end - sizeof(*r->header), false);
}

/* A NUL-terminated name that fills the rest of the record. */
static const char *name(struct bytes *b)
{
	const char *p = (const char *)b->p;

	if (!memchr(p, 0, bytes_left(b))) {
		b->bad = true;
		return NULL;
	}
	return p;
}

static bool is_zero(const u8 *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return !n;
}

/*
 * The kernel may mark a mapping as having a build id because another recorder asked for them. Then
 * device, inode and generation lie there: numbers whose upper bytes are 0. A build id has its size
 * in front, three bytes of 0 and its own, which are not.
 */
static bool has_build_id(const struct bytes *b, u16 misc)
{
	const u8 *p = b->p;

	return (misc & FORMAT_MISC_MMAP_BUILD_ID) && bytes_left(b) >= MMAP_FILE_BYTES && p[0] &&
	       p[0] <= RECORD_BUILD_ID_MOST && is_zero(p + 1, 3) &&
	       !(is_zero(p + 5, 3) && is_zero(p + 13, 3) && is_zero(p + 20, 4));
}

static void mmap_details(struct bytes *b, u16 misc, struct record_mmap *m)
{
	if (has_build_id(b, misc)) {
		const u8 *p = bytes_take(b, MMAP_FILE_BYTES);

		m->build_id_size = p[0];
		memcpy(m->build_id, p + 4, m->build_id_size);
	} else {
		m->maj = bytes_u32(b);
		m->min = bytes_u32(b);
		m->ino = bytes_u64(b);
		m->ino_generation = bytes_u64(b);
	}
	m->prot = bytes_u32(b);
	m->flags = bytes_u32(b);
}

int record_mmap(const struct record *r, struct record_mmap *ret)
{
	struct record_mmap m = { 0 };
	struct bytes b = body(r);

	m.pid = bytes_u32(&b);
	m.tid = bytes_u32(&b);
	m.addr = bytes_u64(&b);
	m.len = bytes_u64(&b);
	m.pgoff = bytes_u64(&b);
	if (r->type == PERF_RECORD_MMAP2)
		mmap_details(&b, r->misc, &m);
	else
		m.prot = r->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC;
	m.filename = name(&b);
	if (b.bad)
		return -EBADMSG;
	*ret = m;
	return 0;
}

int record_comm(const struct record *r, struct record_comm *ret)
{
	struct record_comm c = { .exec = r->misc & PERF_RECORD_MISC_COMM_EXEC };
	struct bytes b = body(r);

	c.pid = bytes_u32(&b);
	c.tid = bytes_u32(&b);
	c.comm = name(&b);
	if (b.bad)
		return -EBADMSG;
	*ret = c;
	return 0;
}

int record_task(const struct record *r, struct record_task *ret)
{
	struct record_task t = { 0 };
	struct bytes b = body(r);

	t.pid = bytes_u32(&b);
	t.ppid = bytes_u32(&b);
	t.tid = bytes_u32(&b);
	t.ptid = bytes_u32(&b);
	t.time = bytes_u64(&b);
	if (b.bad)
		return -EBADMSG;
	*ret = t;
	return 0;
}

int record_lost(const struct record *r, struct record_lost *ret)
{
	struct record_lost l = { 0 };
	struct bytes b = body(r);

	if (r->type == PERF_RECORD_LOST)
		l.id = bytes_u64(&b);
	l.lost = bytes_u64(&b);
	if (b.bad)
		return -EBADMSG;
	*ret = l;
	return 0;
}

int record_namespaces(const struct record *r, struct record_namespaces *ret)
{
	struct record_namespaces n = { 0 };
	struct bytes b = body(r);

	n.pid = bytes_u32(&b);
	n.tid = bytes_u32(&b);
	n.nr = bytes_u64(&b);
	if (n.nr > RECORD_MAX_SIZE)
		return -EBADMSG;
	n.all = bytes_take(&b, n.nr * sizeof(*n.all));
	if (b.bad)
		return -EBADMSG;
	*ret = n;
	return 0;
}

int record_ksymbol(const struct record *r, struct record_ksymbol *ret)
{
	struct record_ksymbol k = { 0 };
	struct bytes b = body(r);

	k.addr = bytes_u64(&b);
	k.len = bytes_u32(&b);
	k.type = bytes_u16(&b);
	k.unregister = bytes_u16(&b) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	k.name = name(&b);
	if (b.bad)
		return -EBADMSG;
	*ret = k;
	return 0;
}

int record_bpf(const struct record *r, struct record_bpf *ret)
{
	struct record_bpf p = { 0 };
	struct bytes b = body(r);
	const void *tag;

	p.type = bytes_u16(&b);
	p.flags = bytes_u16(&b);
	p.id = bytes_u32(&b);
	tag = bytes_take(&b, sizeof(p.tag));
	if (!tag)
		return -EBADMSG;
	memcpy(p.tag, tag, sizeof(p.tag));
	*ret = p;
	return 0;
}

int record_cgroup(const struct record *r, struct record_cgroup *ret)
{
	struct record_cgroup c = { 0 };
	struct bytes b = body(r);

	c.id = bytes_u64(&b);
	c.path = name(&b);
	if (b.bad)
		return -EBADMSG;
	*ret = c;
	return 0;
}

int record_piece(const struct record *r, struct record_piece *ret)
{
	struct record_piece p = { 0 };
	struct bytes b = body(r);
	u64 magic = bytes_u64(&b);

	p.feature = bytes_u32(&b);
	bytes_take(&b, 2 * sizeof(u32)); /* total, offset */
	p.size = bytes_u32(&b);
	p.data = bytes_take(&b, p.size);
	if (b.bad || magic != FORMAT_PIECE_MAGIC)
		return -EBADMSG;
	*ret = p;
	return 0;
}

int record_switch(const struct record *r, struct record_switch *ret)
{
	struct record_switch s = {
		.out = r->misc & PERF_RECORD_MISC_SWITCH_OUT,
		.preempt = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
		.next_prev_pid = RECORD_NO_PID,
		.next_prev_tid = RECORD_NO_PID,
	};
	struct bytes b = body(r);

	if (r->type == PERF_RECORD_SWITCH_CPU_WIDE) {
		s.next_prev_pid = bytes_u32(&b);
		s.next_prev_tid = bytes_u32(&b);
	}
	if (b.bad)
		return -EBADMSG;
	*ret = s;
	return 0;
}

static const char *const type_names[RECORD_TYPE_END] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[RECORD_HEADER_ATTR] = "HEADER_ATTR",
	[RECORD_HEADER_EVENT_TYPE] = "HEADER_EVENT_TYPE",
	[RECORD_HEADER_TRACING_DATA] = "HEADER_TRACING_DATA",
	[RECORD_HEADER_BUILD_ID] = "HEADER_BUILD_ID",
	[RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[RECORD_ID_INDEX] = "ID_INDEX",
	[RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[RECORD_AUXTRACE] = "AUXTRACE",
	[RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[RECORD_THREAD_MAP] = "THREAD_MAP",
	[RECORD_CPU_MAP] = "CPU_MAP",
	[RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[RECORD_STAT] = "STAT",
	[RECORD_STAT_ROUND] = "STAT_ROUND",
	[RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[RECORD_TIME_CONV] = "TIME_CONV",
	[RECORD_HEADER_FEATURE] = "HEADER_FEATURE",
	[RECORD_COMPRESSED] = "COMPRESSED",
	[RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[RECORD_COMPRESSED2] = "COMPRESSED2",
	[RECORD_BPF_METADATA] = "BPF_METADATA",
	[RECORD_SCHEDSTAT_CPU] = "SCHEDSTAT_CPU",
	[RECORD_SCHEDSTAT_DOMAIN] = "SCHEDSTAT_DOMAIN",
};

const char *record_type_name(u32 type)
{
	return type < RECORD_TYPE_END ? type_names[type] : NULL;
}
