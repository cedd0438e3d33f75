/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer, read back by the reader; perf's opinion is in tests/oracle/recording.t. */
#include "harness.h"
#include "test_recording_kit.h"

#include "base/io.h"
#include "recording/format.h"
#include "recording/writer.h"
#include "recording/zstd.h"

#include <fcntl.h>

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 0,
	.sample_type = KIT_TYPE,
	.sample_id_all = 1,
};

static struct recording_writer *writer_with_events(const struct writer_options *o)
{
	struct recording_writer *w;
	const u64 ids[] = { 7, 8, WRITER_OWN_ID };
	struct writer_event on = {
		.attr = attr, .name = "on-cpu", .ids = ids, .n_ids = 2, .n_members = 2
	};
	struct writer_event off = { .attr = attr, .name = "off-cpu", .ids = ids + 2, .n_ids = 1 };

	CHECK_EQ(recording_writer_new(o, &w, NULL), 0);
	CHECK_EQ(recording_writer_event(w, &on, NULL), 0);
	CHECK_EQ(recording_writer_event(w, &off, NULL), 0);
	return w;
}

/* 100 rounds of 10 samples, 2 rings each; every second one is off-CPU. */
static void write_samples(struct recording_writer *w)
{
	struct buf b = BUF_INIT;
	u64 ips[] = { 0x1000, 0x2000 };

	for (u64 round = 0; round < 100; round++) {
		buf_reset(&b);
		for (u64 i = 0; i < 10; i++) {
			struct sample s = {
				.id = i % 2 ? 8 : WRITER_OWN_ID,
				.ip = 0x1000,
				.time = 1 + round * 100 + i % 5 * 10 + i / 5,
				.ips = ips,
				.n_ips = 2,
			};

			CHECK_EQ(build_sample(&b, &attr, PERF_RECORD_MISC_USER, &s), 0);
		}
		CHECK_EQ(recording_writer_add(w, b.data, b.len, NULL), 0);
		CHECK_EQ(recording_writer_round(w, NULL), 0);
	}
	CHECK_EQ(recording_writer_samples(w), 1000);
	buf_release(&b);
}

static void check_samples(struct recording *r)
{
	struct seen seen = { 0 };

	CHECK_EQ(recording_n_events(r), 2);
	CHECK_STR(recording_event(r, 0)->name, "on-cpu");
	CHECK_STR(recording_event(r, 1)->name, "off-cpu");
	CHECK_EQ(recording_event(r, 0)->attr.size, 128);
	CHECK_EQ(recording_event(r, 0)->n_ids, 2);
	CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
	CHECK_EQ(seen.samples, 1000);
	CHECK_EQ(seen.event_samples[0], 500);
	CHECK_EQ(seen.event_samples[1], 500);
	CHECK_EQ(seen.ips_sum, 1000 * 0x3000);
	for (size_t i = 1; i < seen.times.len; i++)
		CHECK(seen.times.items[i - 1] <= seen.times.items[i]);
	CHECK(recording_fault(r)->reason == NULL);
	CHECK_EQ(recording_counts(r)->rounds, 100);
	CHECK_EQ(recording_counts(r)->bad_features, 0);
	seen_release(&seen);
}

static struct recording *open_path(const char *path)
{
	struct err e = ERR_INIT;
	struct recording *r;

	if (recording_open(path, &r, &e) < 0)
		FAIL("cannot open: %s", e.what);
	return r;
}

static void check_info(const struct recording *r)
{
	const struct recording_info *info = recording_info(r);
	const struct recording_blob *blob = recording_info_blob(info, FEATURE_NAMES);

	CHECK_STR(info->version, "fathom test");
	CHECK_EQ(info->cmdline.len, 2);
	CHECK_STR(info->cmdline.items[1], "record");
	CHECK(info->hostname && info->osrelease && info->arch);
	CHECK(info->cpus_online >= 1);
	CHECK(info->cpus_available >= info->cpus_online);
	CHECK_EQ(info->cpus.len, info->cpus_available);
	CHECK(info->total_mem_kb > 0);
	CHECK(info->has_clock_data);
	CHECK_EQ(info->clock_id, 1);
	CHECK_EQ(info->build_ids.len, 1);
	CHECK_STR(info->build_ids.items[0].path, "/bin/thing");
	CHECK_EQ(info->build_ids.items[0].id_size, 16);
	CHECK_MEM(info->build_ids.items[0].id, "0123456789abcdef", 16);
	CHECK(blob != NULL);
	CHECK_EQ(blob->size, 5);
	CHECK_MEM(blob->data, "names", 5);
	CHECK_EQ(recording_event(r, 1)->leader, 0);
	CHECK_EQ(recording_event(r, 0)->n_members, 2);
}

/* As perf writes it: a record of a feature, or among the others of a pipe. */
static void write_build_id(struct recording_writer *w, bool pipe)
{
	struct {
		struct perf_event_header h;
		u32 pid;
		u8 id[24];
		char path[20];
	} record = {
		.h = { .type = RECORD_HEADER_BUILD_ID,
		       .misc = PERF_RECORD_MISC_USER | FORMAT_MISC_BUILD_ID_SIZE,
		       .size = sizeof(record) },
		.pid = RECORD_NO_PID,
		.id = "0123456789abcdef",
		.path = "/bin/thing",
	};

	record.id[20] = 16;
	if (pipe)
		CHECK_EQ(recording_writer_add(w, &record, sizeof(record), NULL), 0);
	else
		CHECK_EQ(recording_writer_feature(w, FEATURE_BUILD_ID, &record, sizeof(record),
						  NULL),
			 0);
}

static void write_and_check(bool pipe, int compress)
{
	const char *const argv[] = { "fathom", "record" };
	char *path = xasprintf("%s/out.data", test_tmpdir());
	struct writer_options o = { .path = path,
				    .pipe = pipe,
				    .compress = compress,
				    .version = "fathom test",
				    .argc = 2,
				    .argv = argv };
	struct recording_writer *w = writer_with_events(&o);
	struct recording *r;

	recording_writer_clock(w, 1);
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	write_samples(w);
	write_build_id(w, pipe);
	CHECK_EQ(recording_writer_feature(w, FEATURE_NAMES, "names", 5, NULL), 0);
	CHECK_EQ(recording_writer_finish(w, NULL), 0);
	recording_writer_free(w);
	r = open_path(path);
	CHECK_EQ(recording_info(r)->pipe, pipe);
	CHECK(!recording_info(r)->unfinished);
	check_samples(r);
	check_info(r);
	CHECK_EQ(recording_counts(r)->compressed_bytes > 0, compress > 0);
	if (!pipe) {
		CHECK_EQ(recording_info(r)->first_time, 1);
		CHECK_EQ(recording_info(r)->last_time, 1 + 99 * 100 + 41);
	}
	recording_free(r);
	free(path);
}

TEST(write_file)
{
	write_and_check(false, 0);
}

TEST(write_pipe)
{
	write_and_check(true, 0);
}

TEST(write_compressed_file)
{
	write_and_check(false, 3);
}

TEST(write_compressed_pipe)
{
	write_and_check(true, 1);
}

/* Never finished: names, our features and the samples up to the last flush are there. */
static void check_killed(int compress)
{
	char *path = xasprintf("%s/killed.data", test_tmpdir());
	struct writer_options o = { .path = path, .compress = compress };
	struct recording_writer *w = writer_with_events(&o);
	struct recording *r;

	CHECK_EQ(recording_writer_feature(w, FEATURE_USER_DATA, "early", 5, NULL), 0);
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	r = open_path(path); /* before the first record */
	CHECK_STR(recording_event(r, 1)->name, "off-cpu");
	recording_free(r);
	write_samples(w);
	CHECK_EQ(recording_writer_flush(w, NULL), 0);
	recording_writer_free(w);
	r = open_path(path);
	CHECK(recording_info(r)->unfinished);
	CHECK(recording_info_blob(recording_info(r), FEATURE_USER_DATA) != NULL);
	check_samples(r);
	recording_free(r);
	free(path);
}

TEST(write_and_be_killed)
{
	check_killed(0);
	check_killed(1);
}

TEST(writer_takes_whole_records_only)
{
	char *path = xasprintf("%s/cut.data", test_tmpdir());
	struct writer_options o = { .path = path, .no_machine = true };
	struct recording_writer *w = writer_with_events(&o);
	struct sample s = { .id = 7, .ip = 5, .time = 10 };
	struct buf b = BUF_INIT;

	CHECK_EQ(recording_writer_start(w, NULL), 0);
	CHECK_EQ(build_sample(&b, &attr, 0, &s), 0);
	CHECK(b.len > 8);
	for (size_t cut = 1; cut < b.len; cut++)
		CHECK_EQ(recording_writer_add(w, b.data, cut, NULL), -EINVAL);
	CHECK_EQ(recording_writer_bytes(w), 0);
	CHECK_EQ(recording_writer_add(w, b.data, b.len, NULL), 0);
	CHECK_EQ(recording_writer_samples(w), 1);
	recording_writer_free(w);
	buf_release(&b);
	free(path);
}

TEST(writer_refuses_what_perf_would)
{
	struct perf_event_attr plain = { .sample_type = PERF_SAMPLE_IP };
	char *path = xasprintf("%s/bad.data", test_tmpdir());
	struct writer_options o = { .path = path };
	struct err e = ERR_INIT;
	struct recording_writer *w;
	const u64 id = 7, other = 9, broken[2] = { 12345, 0 };

	CHECK_EQ(recording_writer_new(&o, &w, NULL), 0);
	CHECK_EQ(recording_writer_start(w, &e), -EINVAL);
	CHECK(strstr(e.what, "it has no events"));
	err_release(&e);
	CHECK_EQ(recording_writer_event(
			 w, &(struct writer_event){ .attr = attr, .ids = &id, .n_ids = 1 }, NULL),
		 0);
	CHECK_EQ(recording_writer_event(
			 w, &(struct writer_event){ .attr = attr, .ids = &id, .n_ids = 1 }, &e),
		 -EEXIST);
	err_release(&e);
	CHECK_EQ(recording_writer_add(w, broken, sizeof(broken), NULL), -EINVAL);
	CHECK_EQ(recording_writer_event(
			 w,
			 &(struct writer_event){
				 .attr = plain, .ids = &other, .n_ids = 1, .name = "plain" },
			 NULL),
		 0);
	CHECK_EQ(recording_writer_start(w, &e), -EINVAL);
	CHECK(strstr(e.what, "the samples of 'plain' need an identifier"));
	err_release(&e);
	recording_writer_free(w);
	w = writer_with_events(&o);
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	CHECK_EQ(recording_writer_add(w, broken, sizeof(broken), NULL), -EINVAL);
	CHECK_EQ(recording_writer_event(w, &(struct writer_event){ .attr = attr }, NULL), -EINVAL);
	recording_writer_free(w);
	o.path = "/nonexistent/dir/x";
	CHECK_EQ(recording_writer_new(&o, &w, &e), -ENOENT);
	err_release(&e);
	free(path);
}

TEST(disk_is_full)
{
	struct writer_options o = { .path = "/dev/full" };
	struct recording_writer *w = writer_with_events(&o);
	struct err e = ERR_INIT;

	CHECK_EQ(recording_writer_start(w, &e), -ENOSPC);
	CHECK_STR(e.what, "cannot write '/dev/full': no space left on device");
	err_release(&e);
	recording_writer_free(w);
}

/* A format file as tracefs gives it, through the section and back. */
static void add_tracing(struct buf *b)
{
	static const char page[] = "page", event[] = "event";
	static const char format[] = "name: thing_done\nID: 321\nformat:\n\tfield:int x;\n";
	const u8 machine[] = { 0, 8, 0, 16, 0, 0 };
	const u32 none = 0, one = 1;
	u64 len;

	buf_add(b, FORMAT_TRACING_MAGIC, FORMAT_TRACING_MAGIC_SIZE);
	buf_add(b, "0.6", 4);
	buf_add(b, machine, sizeof(machine));
	buf_add(b, "header_page", 12);
	len = 4;
	buf_add(b, &len, 8);
	buf_add(b, page, 4);
	buf_add(b, "header_event", 13);
	len = 5;
	buf_add(b, &len, 8);
	buf_add(b, event, 5);
	buf_add(b, &none, 4);
	buf_add(b, &one, 4);
	buf_add(b, "things", 7);
	buf_add(b, &one, 4);
	len = strlen(format);
	buf_add(b, &len, 8);
	buf_addstr(b, format);
	buf_fill(b, 0, 16);
}

static void check_tracepoint(bool pipe)
{
	char *path = xasprintf("%s/tp.data", test_tmpdir());
	struct writer_options o = { .path = path, .pipe = pipe, .no_machine = true };
	struct perf_event_attr tp = { .type = PERF_TYPE_TRACEPOINT,
				      .config = 321,
				      .sample_type = KIT_TYPE | PERF_SAMPLE_RAW,
				      .sample_id_all = 1 };
	const struct recording_format *f;
	struct recording_writer *w;
	struct buf b = BUF_INIT;
	struct recording *r;
	const u64 id = 3;

	add_tracing(&b);
	CHECK_EQ(recording_writer_new(&o, &w, NULL), 0);
	CHECK_EQ(recording_writer_event(
			 w,
			 &(struct writer_event){
				 .attr = tp, .ids = &id, .n_ids = 1, .name = "things:thing_done" },
			 NULL),
		 0);
	CHECK_EQ(recording_writer_feature(w, FEATURE_TRACING_DATA, b.data, b.len, NULL), 0);
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	CHECK_EQ(recording_writer_finish(w, NULL), 0);
	recording_writer_free(w);
	r = open_path(path);
	f = recording_info_format(recording_info(r), 321);
	CHECK(f != NULL);
	CHECK_STR(f->system, "things");
	CHECK_STR(f->name, "thing_done");
	CHECK(strstr(f->text, "field:int x;"));
	CHECK(recording_info_format(recording_info(r), 322) == NULL);
	CHECK_EQ(recording_info(r)->tracing_long_size, 8);
	CHECK_EQ(recording_info(r)->tracing_page_size, 4096);
	CHECK_STR(recording_info(r)->header_page, "page");
	CHECK_STR(recording_event(r, 0)->name, "things:thing_done");
	recording_free(r);
	buf_release(&b);
	free(path);
}

TEST(tracepoint_formats)
{
	check_tracepoint(false);
	check_tracepoint(true);
}

/* The payloads of COMPRESSED records, one after another. */
static void join_payloads(const struct buf *packed, struct buf *ret)
{
	struct perf_event_header h;

	for (size_t at = 0; at < packed->len; at += h.size) {
		memcpy(&h, packed->data + at, sizeof(h));
		CHECK_EQ(h.type, RECORD_COMPRESSED);
		CHECK(h.size > sizeof(h));
		buf_add(ret, packed->data + at + sizeof(h), h.size - sizeof(h));
	}
}

/* COMPRESSED2 as perf 6.16 wrote it: a record of 65536 bytes, whose size field then is 0. */
TEST(compressed2)
{
	enum { STEP = 65520, N = 20000 };
	struct zstd_packer *z = zstd_packer_new(1);
	struct emit e = { 0 }, plain = { 0 };
	struct buf packed = BUF_INIT, payload = BUF_INIT;
	struct seen seen = { 0 };
	struct recording *r;
	u64 seed = 1;

	for (u64 t = 1; t <= N; t++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		kit_sample(&plain, 71, t, seed, 0); /* an address that does not compress */
	}
	CHECK_EQ(zstd_pack(z, plain.b.data, plain.b.len, &packed), 0);
	join_payloads(&packed, &payload);
	CHECK(payload.len > STEP);
	kit_header(&e, 128);
	for (size_t done = 0; done < payload.len; done += MIN(payload.len - done, (size_t)STEP)) {
		size_t n = MIN(payload.len - done, (size_t)STEP);
		size_t start = emit_begin(&e, RECORD_COMPRESSED2, 0);

		emit_u64(&e, n);
		buf_add(&e.b, payload.data + done, n);
		buf_fill(&e.b, 0, ALIGN_UP(n, (size_t)8) - n);
		emit_end(&e, start);
	}
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, N);
	CHECK(recording_fault(r)->reason == NULL);
	CHECK_EQ(recording_counts(r)->decompressed_bytes, plain.b.len);
	kit_end(r, &seen, &e);
	buf_release(&plain.b);
	buf_release(&packed);
	buf_release(&payload);
	zstd_packer_free(z);
}

TEST(zstd_records_fit_and_unpack)
{
	struct zstd_packer *z = zstd_packer_new(3);
	struct unzstd *u = unzstd_new();
	struct buf in = BUF_INIT, packed = BUF_INIT, out = BUF_INIT;
	size_t at = 0;

	for (u64 i = 0; i < 300000; i++)
		buf_add(&in, &(u64){ i * 0x9e3779b97f4a7c15ull }, 8);
	CHECK_EQ(zstd_pack(z, in.data, in.len, &packed), 0);
	while (at < packed.len) {
		struct perf_event_header h;
		const u8 *p;
		size_t left;
		ssize_t got;

		memcpy(&h, packed.data + at, sizeof(h));
		CHECK(h.size > sizeof(h));
		p = (const u8 *)packed.data + at + sizeof(h);
		left = h.size - sizeof(h);
		while (left) {
			got = unzstd_run(u, &p, &left, buf_reserve(&out, ZSTD_STEP), ZSTD_STEP);
			CHECK(got >= 0);
			buf_added(&out, (size_t)got);
		}
		at += h.size;
	}
	CHECK_EQ(out.len, in.len);
	CHECK_MEM(out.data, in.data, in.len);
	zstd_packer_free(z);
	unzstd_free(u);
	buf_release(&in);
	buf_release(&packed);
	buf_release(&out);
}
