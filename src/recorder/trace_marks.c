/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that are written to trace_marker in tracefs (ftrace:print). The kernel gives them to its
 * own trace buffers alone, never to perf events: an instance of ours receives copies, and these
 * become samples of the event.
 */
#include "recorder/state.h"

#include "base/log.h"
#include "capture/ftrace.h"
#include "host/procfs.h"
#include "recording/recording.h"
#include "recording/ringpage.h"

enum { PID_AT = 4, IP_AT = 8, PRINT_BYTES = 17 };

struct trace_marks {
	struct ftrace trace;
	size_t source; /* in r->sources */
	u32 cpu;       /* of the page that is read */
	struct buf out;
	struct recorder *recorder;
	u64 lost;
};

static const char *clock_of(const struct perf_event_attr *attr)
{
	if (!attr->use_clockid)
		return "perf";
	switch (attr->clockid) {
	case CLOCK_MONOTONIC: return "mono";
	case CLOCK_MONOTONIC_RAW: return "mono_raw";
	case CLOCK_BOOTTIME: return "boot";
	case CLOCK_TAI: return "tai";
	default: return NULL;
	}
}

/* The event in the session, or SIZE_MAX. */
static size_t find_source(const struct recorder *r, const struct tracefs *fs)
{
	u64 id;

	if (tracefs_event_id(fs, "ftrace", "print", &id, NULL) < 0)
		return SIZE_MAX;
	for (size_t i = 0; i < r->sources.len; i++)
		if (r->sources.items[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    r->sources.items[i].attr.config == id)
			return i;
	return SIZE_MAX;
}

static int prepare(struct trace_marks *m, const char *clock, struct err *e)
{
	int r = ftrace_open(&m->trace, false, e);

	if (r >= 0 && !clock)
		r = err_set(e, EOPNOTSUPP, "the kernel's trace buffers lack the recording's clock");
	if (r >= 0 && !ftrace_has(&m->trace, "options/copy_trace_marker"))
		r = err_set(e, EOPNOTSUPP,
			    "this kernel does not copy what is written there (Linux 6.16)");
	if (r >= 0)
		r = ftrace_write(&m->trace, "trace_clock", FTRACE_SET, clock, e);
	if (r >= 0)
		r = ftrace_write(&m->trace, "buffer_size_kb", FTRACE_SET, "1024", e);
	if (r >= 0)
		r = ftrace_write(&m->trace, "options/copy_trace_marker", FTRACE_SET, "1", e);
	return r < 0 ? r : ftrace_open_rings(&m->trace, false, e);
}

static bool wants(const struct recorder *r, size_t *ret_source)
{
	struct tracefs fs = TRACEFS_INIT;
	bool any = false;

	vec_each(s, &r->sources)
		any |= s->attr.type == PERF_TYPE_TRACEPOINT;
	if (!any)
		return false;
	*ret_source = tracefs_open(&fs, NULL) < 0 ? SIZE_MAX : find_source(r, &fs);
	tracefs_release(&fs);
	return *ret_source != SIZE_MAX;
}

void recorder_marks_open(struct recorder *r)
{
	struct trace_marks *m;
	struct err why = ERR_INIT;
	size_t source;

	if (!wants(r, &source))
		return;
	m = xcalloc(1, sizeof(*m));
	*m = (struct trace_marks){ .trace = FTRACE_INIT, .source = source, .recorder = r };
	r->marks = m;
	if (prepare(m, clock_of(&r->sources.items[source].attr), &why) < 0) {
		log_warn("ftrace:print has no samples: %s", why.what);
		recorder_marks_release(r);
	}
	err_release(&why);
}

void recorder_marks_release(struct recorder *r)
{
	if (!r->marks)
		return;
	ftrace_release(&r->marks->trace);
	buf_release(&r->marks->out);
	free(r->marks);
	r->marks = NULL;
}

int recorder_marks_start(struct recorder *r, struct err *e)
{
	return r->marks ? ftrace_write(&r->marks->trace, "tracing_on", FTRACE_SET, "1", e) : 0;
}

static int on_print(void *ctx, u64 time, const u8 *data, u32 n)
{
	struct trace_marks *m = ctx;
	const struct source *src = &m->recorder->sources.items[m->source];
	struct sample s = {
		.id = src->n_ids ? src->ids[0] : 0, .time = time, .cpu = m->cpu, .period = 1
	};
	struct proc_status status;
	u16 type;

	if (n < PRINT_BYTES)
		return 0;
	memcpy(&type, data, sizeof(type));
	if (type != (u16)src->attr.config)
		return 0;
	memcpy(&s.tid, data + PID_AT, sizeof(s.tid));
	memcpy(&s.ip, data + IP_AT, sizeof(s.ip));
	s.pid = procfs_status(s.tid, &status) >= 0 ? status.tgid : s.tid;
	s.raw = data;
	s.raw_size = n;
	build_sample(&m->out, &src->attr, PERF_RECORD_MISC_KERNEL, &s);
	return 0;
}

static int on_page(void *ctx, u32 cpu, const void *page, size_t n)
{
	struct trace_marks *m = ctx;
	u64 missed = 0;

	m->cpu = cpu;
	(void)ringpage_walk(page, n, on_print, m, &missed);
	m->lost += missed;
	return 0;
}

int recorder_marks_collect(struct recorder *r, struct err *e)
{
	struct trace_marks *m = r->marks;
	int rc;

	if (!m)
		return 0;
	rc = ftrace_drain(&m->trace, on_page, m, e);
	if (rc >= 0 && m->out.len)
		rc = recorder_file_add(r, m->out.data, m->out.len, e);
	buf_reset(&m->out);
	return rc < 0 ? rc : 0;
}

u64 recorder_marks_lost(const struct recorder *r)
{
	return r->marks ? r->marks->lost : 0;
}
