/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks of programs in a recording that is written here: texts, spans by name, and nested ones. */
#include "base/base.h"
#include "recording/format.h"
#include "recording/recording.h"
#include "recording/writer.h"
#include "unit/harness.h"
#include "unit/test_recording_kit.h"
#include "waits/marks.h"

enum { FIRST_ID = 31, FIRST_CONFIG = 700 };

#define COMMON "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
#define NAMED(name_, config_)                                             \
	"name: " name_ "\nID: " config_ "\nformat:\n" COMMON              \
	"\tfield:__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:u64 id;\toffset:16;\tsize:8;\tsigned:0;\n"
#define BARE(name_, config_) "name: " name_ "\nID: " config_ "\nformat:\n" COMMON

enum { BEGIN, END, REQUEST_BEGIN, REQUEST_END, LONELY_BEGIN, CONSOLE, EVENTS };

static const struct {
	const char *name, *format;
} events[EVENTS] = {
	[BEGIN] = { "user_events:begin", NAMED("begin", "700") },
	[END] = { "user_events:end", NAMED("end", "701") },
	[REQUEST_BEGIN] = { "user_events:request_begin", BARE("request_begin", "702") },
	[REQUEST_END] = { "user_events:request_end", BARE("request_end", "703") },
	[LONELY_BEGIN] = { "user_events:lonely_begin", BARE("lonely_begin", "704") },
	[CONSOLE] = { "printk:console",
		      "name: console\nID: 705\nformat:\n" COMMON
		      "\tfield:__data_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;\n" },
};

struct file {
	char *path;
	struct recording_writer *w;
	struct perf_event_attr attr[EVENTS];
	u64 time;
};

static void add_tracing(struct buf *b)
{
	const u8 machine[] = { 0, 8, 0, 16, 0, 0 };
	const u32 none = 0, one = 1, n = EVENTS;
	const u64 nothing = 0;

	buf_add(b, FORMAT_TRACING_MAGIC, FORMAT_TRACING_MAGIC_SIZE);
	buf_add(b, "0.6", 4);
	buf_add(b, machine, sizeof(machine));
	buf_add(b, "header_page", 12);
	buf_add(b, &nothing, 8);
	buf_add(b, "header_event", 13);
	buf_add(b, &nothing, 8);
	buf_add(b, &none, 4);
	buf_add(b, &one, 4);
	buf_add(b, "user_events", 12);
	buf_add(b, &n, 4);
	for (u32 i = 0; i < EVENTS; i++) {
		const u64 len = strlen(events[i].format);

		buf_add(b, &len, 8);
		buf_addstr(b, events[i].format);
	}
	buf_fill(b, 0, 16);
}

static void file_open(struct file *f)
{
	_cleanup_buf_ struct buf tracing = BUF_INIT;

	*f = (struct file){ .path = xasprintf("%s/marks.data", test_tmpdir()), .time = 1000 };
	struct writer_options o = { .path = f->path, .no_machine = true };

	CHECK_EQ(recording_writer_new(&o, &f->w, NULL), 0);
	for (u32 i = 0; i < EVENTS; i++) {
		const u64 id = FIRST_ID + i;

		f->attr[i] = (struct perf_event_attr){
			.type = PERF_TYPE_TRACEPOINT,
			.config = FIRST_CONFIG + i,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
				       PERF_SAMPLE_RAW,
			.sample_id_all = 1,
		};
		CHECK_EQ(recording_writer_event(f->w,
						&(struct writer_event){ .attr = f->attr[i],
									.ids = &id,
									.n_ids = 1,
									.name = events[i].name },
						NULL),
			 0);
	}
	add_tracing(&tracing);
	CHECK_EQ(recording_writer_feature(f->w, FEATURE_TRACING_DATA, tracing.data, tracing.len,
					  NULL),
		 0);
	CHECK_EQ(recording_writer_start(f->w, NULL), 0);
}

/* One more sample, 1,000 ns after the one before. */
static void add(struct file *f, u32 event, u32 tid, const char *text, u64 number)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	u8 raw[64] = { 0 };
	/* a distance from the end of the field, and from the start of all */
	u32 from = event == CONSOLE ? 12 : 24, n = (u32)strlen(text) + 1,
	    where = n << 16 | (event == CONSOLE ? from : from - 12);
	struct sample s = { .id = FIRST_ID + event,
			    .pid = 500,
			    .tid = tid,
			    .time = f->time,
			    .period = 1,
			    .raw = raw,
			    .raw_size = sizeof(raw) };

	f->time += 1000;
	memcpy(raw + 8, &where, 4);
	if (event != CONSOLE)
		memcpy(raw + 16, &number, 8);
	memcpy(raw + from, text, n);
	CHECK_EQ(build_sample(&out, &f->attr[event], PERF_RECORD_MISC_USER, &s), 0);
	CHECK_EQ(recording_writer_add(f->w, out.data, out.len, NULL), 0);
}

static void file_read(struct file *f, struct marks *ret)
{
	struct err e = ERR_INIT;

	CHECK_EQ(recording_writer_round(f->w, NULL), 0);
	CHECK_EQ(recording_writer_finish(f->w, NULL), 0);
	recording_writer_free(f->w);
	CHECK_EQ(marks_read(f->path, ret, &e), 0);
	err_release(&e);
	free(f->path);
}

static void check(const struct marks *m, size_t i, const char *name, u64 begin, u64 end)
{
	CHECK(i < m->items.len);
	if (i >= m->items.len)
		return;
	CHECK_STR(intern_get(&m->names, m->items.items[i].name), name);
	CHECK_EQ(m->items.items[i].begin, begin);
	CHECK_EQ(m->items.items[i].end, end);
}

TEST("events with a name and an id are spans, texts of the kernel are moments")
{
	struct marks m = { 0 };
	struct file f;

	file_open(&f);
	add(&f, BEGIN, 1, "query", 7); /* 1000 */
	add(&f, BEGIN, 1, "query", 8);
	add(&f, CONSOLE, 1, "out of paper\nreally", 0);
	add(&f, END, 2, "query", 7); /* another thread ends it */
	add(&f, END, 1, "query", 8);
	add(&f, END, 1, "query", 9);
	file_read(&f, &m);
	CHECK_EQ(m.items.len, 3);
	check(&m, 0, "query", 1000, 4000);
	check(&m, 1, "query", 2000, 5000);
	check(&m, 2, "out of paper", 3000, 3000);
	CHECK_EQ(m.unbegun, 1);
	marks_release(&m);
}

TEST("events of a program are spans by their names, also one inside another")
{
	struct marks m = { 0 };
	struct file f;

	file_open(&f);
	add(&f, REQUEST_BEGIN, 1, "", 0); /* 1000 */
	add(&f, REQUEST_BEGIN, 2, "", 0);
	add(&f, LONELY_BEGIN, 1, "", 0);
	add(&f, REQUEST_BEGIN, 1, "", 0); /* inside the first */
	add(&f, REQUEST_END, 1, "", 0);   /* 5000 */
	add(&f, REQUEST_END, 1, "", 0);
	file_read(&f, &m);
	CHECK_EQ(m.items.len, 4);
	check(&m, 0, "request", 1000, 6000);
	check(&m, 1, "request", 2000, 0);
	check(&m, 2, "lonely_begin", 3000, 3000);
	check(&m, 3, "request", 4000, 5000);
	CHECK(!m.items.items[2].span);
	CHECK_EQ(m.unbegun, 0);
	marks_release(&m);
}
