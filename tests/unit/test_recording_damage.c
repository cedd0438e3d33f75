/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cut, empty, flipped and hostile files: a message, counts, and all that came before. */
#include "harness.h"
#include "test_recording_kit.h"

#include "recording/format.h"
#include "recording/writer.h"
#include "base/io.h"
#include "profile/load.h"

static int open_error(const void *data, size_t size, char *text, size_t text_size)
{
	struct err e = ERR_INIT;
	struct recording *r = NULL;
	int ret = recording_open_memory(data, size, &r, &e);

	CHECK(ret < 0);
	CHECK(e.what != NULL);
	snprintf(text, text_size, "%s", e.what);
	err_release(&e);
	return ret;
}

TEST(files_that_are_no_recordings)
{
	char text[200], zeros[200] = { 0 };

	CHECK_EQ(open_error("", 0, text, sizeof(text)), -ENODATA);
	CHECK_STR(text, "'memory' is empty");
	CHECK_EQ(open_error("PERF", 4, text, sizeof(text)), -EBADMSG);
	CHECK_EQ(open_error(zeros, sizeof(zeros), text, sizeof(text)), -EBADMSG);
	CHECK_STR(text, "'memory' is not a recording: it does not begin with PERFILE2");
	CHECK_EQ(open_error("PERFFILE0123456789", 18, text, sizeof(text)), -EBADMSG);
	CHECK(strstr(text, "before Linux 2.6.36"));
	CHECK_EQ(open_error("PERFILE2\x68\0\0\0\0\0\0\0", 16, text, sizeof(text)), -EBADMSG);
	CHECK_STR(text, "'memory' is cut inside its header after 16 bytes");
}

TEST(missing_file)
{
	struct err e = ERR_INIT;
	struct recording *r;

	CHECK_EQ(recording_open("/nonexistent/fathom.data", &r, &e), -ENOENT);
	CHECK_STR(e.what, "cannot open '/nonexistent/fathom.data': no such file or directory");
	err_release(&e);
	CHECK_EQ(recording_open("/tmp", &r, &e), -EISDIR);
	err_release(&e);
}

static void small_file(struct emit *e)
{
	kit_header(e, 128);
	kit_comm(e, 5, "worker");
	for (u64 i = 0; i < 8; i++)
		kit_sample(e, 71 + i % 2, 10 + i, 0x1000, i);
	kit_round(e);
	kit_mmap2(e, 40, "/bin/worker");
	kit_close(e);
}

/* A fault ends the stream at the cut; what lies before is all delivered. */
TEST(cut_at_every_byte)
{
	struct emit e = { 0 };
	size_t data;

	small_file(&e);
	data = 104 + 16 + 2 * 144;
	for (size_t size = 0; size < e.b.len; size++) {
		char *copy = xmemdup(e.b.data, size + !size);
		struct seen seen = { 0 };
		struct recording *r = NULL;
		int ret = recording_open_memory(copy, size, &r, NULL);

		CHECK_EQ(ret == 0, size >= data);
		if (ret == 0) {
			CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
			CHECK(recording_fault(r)->reason != NULL);
			CHECK(recording_fault(r)->offset <= size);
			CHECK(recording_fault(r)->offset >= data);
			CHECK_EQ(recording_counts(r)->bytes, recording_fault(r)->offset - data);
		}
		recording_free(r);
		seen_release(&seen);
		free(copy);
	}
	buf_release(&e.b);
}

TEST(cut_keeps_what_came_before)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;

	small_file(&e);
	e.b.len -= 4; /* inside the last record */
	r = kit_open(&e.b);
	CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
	CHECK_EQ(seen.samples, 8);
	CHECK(strstr(recording_fault(r)->reason, "record of type 10 is cut"));
	kit_end(r, &seen, &e);
}

/* Each bit of a small file turned over, one at a time. */
static void flip_all(const struct buf *b)
{
	char *copy = xmemdup(b->data, b->len);
	u64 delivered = 0;

	for (size_t bit = 0; bit < b->len * 8; bit++) {
		struct seen seen = { 0 };
		struct recording *r = NULL;

		copy[bit / 8] ^= (char)(1 << bit % 8);
		if (recording_open_memory(copy, b->len, &r, NULL) == 0) {
			CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
			delivered += seen.samples;
			CHECK(seen.samples <= 8);
		}
		recording_free(r);
		seen_release(&seen);
		copy[bit / 8] ^= (char)(1 << bit % 8);
	}
	CHECK(delivered > b->len); /* most flips do little harm */
	free(copy);
}

TEST_TIMEOUT(every_bit_flipped, 60)
{
	struct emit e = { 0 };

	small_file(&e);
	flip_all(&e.b);
	buf_release(&e.b);
}

TEST_TIMEOUT(every_bit_flipped_in_the_other_byte_order, 60)
{
	struct emit e = { .swap = true };

	small_file(&e);
	flip_all(&e.b);
	buf_release(&e.b);
}

TEST(impossible_record_size)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	u64 at;

	kit_header(&e, 128);
	kit_sample(&e, 71, 10, 1, 1);
	at = e.b.len;
	emit_u64(&e, PERF_RECORD_SAMPLE); /* size 0 */
	kit_sample(&e, 71, 20, 1, 1);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, 1);
	CHECK_EQ(recording_fault(r)->offset, at);
	CHECK_STR(recording_fault(r)->reason, "record of type 9 has the impossible size 0");
	kit_end(r, &seen, &e);
}

TEST(sample_that_contradicts_its_event)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	u64 at;

	kit_header(&e, 128);
	kit_sample(&e, 71, 10, 1, 2);
	at = e.b.len;
	kit_sample(&e, 71, 20, 1, 2);
	emit_patch_u64(&e, at + 8 + 5 * 8, 1000); /* the callchain's length */
	kit_sample(&e, 71, 30, 1, 2);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, 2);
	CHECK_EQ(recording_counts(r)->bad_records, 1);
	CHECK_EQ(recording_counts(r)->bad_offset, at);
	CHECK_STR(recording_counts(r)->bad_reason, "the callchain goes beyond the sample's end");
	CHECK(recording_fault(r)->reason == NULL);
	kit_end(r, &seen, &e);
}

TEST(aux_data_beyond_the_end)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	size_t start;

	kit_header(&e, 128);
	kit_sample(&e, 71, 10, 1, 1);
	start = emit_begin(&e, RECORD_AUXTRACE, 0);
	emit_u64(&e, UINT64_MAX - 5);
	emit_end(&e, start);
	kit_sample(&e, 71, 20, 1, 1);
	r = kit_replay(&e, &seen);
	CHECK_EQ(seen.samples, 1);
	CHECK(recording_fault(r)->reason != NULL);
	kit_end(r, &seen, &e);
}

/* Sections that are outside, are too long or are nonsense inside: counted, the rest is read. */
TEST(damaged_sections)
{
	struct emit e = { 0 };
	struct seen seen = { 0 };
	struct recording *r;
	size_t table;

	kit_header(&e, 128);
	kit_sample(&e, 71, 10, 1, 1);
	kit_close(&e);
	emit_patch_u64(&e, KIT_FEATURES_AT,
		       1ull << FEATURE_HOSTNAME | 1ull << FEATURE_ARCH | 1ull << FEATURE_NRCPUS |
			       1ull << FEATURE_EVENT_DESC);
	table = e.b.len;
	emit_u64(&e, table + 64); /* hostname: claims a longer string than the section */
	emit_u64(&e, 8);
	emit_u64(&e, UINT64_MAX - 10); /* arch: outside */
	emit_u64(&e, 100);
	emit_u64(&e, table + 72); /* cpus: good */
	emit_u64(&e, 8);
	emit_u64(&e, table + 80); /* events: 4 billion of them */
	emit_u64(&e, 8);
	emit_u32(&e, 64);
	emit_u32(&e, 0);
	emit_u32(&e, 8);
	emit_u32(&e, 6);
	emit_u32(&e, UINT32_MAX);
	emit_u32(&e, 128);
	r = kit_open(&e.b);
	CHECK_EQ(recording_counts(r)->bad_features, 3);
	CHECK_EQ(recording_counts(r)->bad_feature_offset, table + 64);
	CHECK_STR(recording_counts(r)->bad_feature_reason, "section 'hostname' is damaged");
	CHECK_EQ(recording_info(r)->cpus_available, 8);
	CHECK_EQ(recording_info(r)->cpus_online, 6);
	CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
	CHECK_EQ(seen.samples, 1);
	kit_end(r, &seen, &e);
}

/* A real file of the writer, compressed and with all sections, damaged at random. */
TEST_TIMEOUT(random_damage_to_a_compressed_file, 120)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.sample_type = KIT_TYPE,
					.sample_id_all = 1 };
	char *path = xasprintf("%s/z.data", test_tmpdir());
	struct writer_options o = { .path = path, .compress = 1 };
	struct recording_writer *w;
	struct buf b = BUF_INIT, file = BUF_INIT;
	u64 id = 5, seed = 12345, ips[4] = { 1, 2, 3, 4 };

	CHECK_EQ(recording_writer_new(&o, &w, NULL), 0);
	CHECK_EQ(recording_writer_event(
			 w, &(struct writer_event){ .attr = attr, .ids = &id, .n_ids = 1 }, NULL),
		 0);
	CHECK_EQ(recording_writer_start(w, NULL), 0);
	for (u64 i = 1; i < 200; i++) {
		struct sample s = { .id = id, .ip = i, .time = i, .ips = ips, .n_ips = i % 5 };

		CHECK_EQ(build_sample(&b, &attr, 0, &s), 0);
	}
	CHECK_EQ(recording_writer_add(w, b.data, b.len, NULL), 0);
	CHECK_EQ(recording_writer_finish(w, NULL), 0);
	recording_writer_free(w);
	CHECK_EQ(io_read_file(path, 1 << 20, &file, NULL), 0);
	for (int round = 0; round < 3000; round++) {
		char *copy = xmemdup(file.data, file.len);
		struct seen seen = { 0 };
		struct recording *r = NULL;

		for (int k = 0; k < 1 + round % 4; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			copy[(seed >> 33) % file.len] ^= (char)(1 << (seed >> 20) % 8);
		}
		if (recording_open_memory(copy, file.len, &r, NULL) == 0)
			CHECK_EQ(recording_replay(r, seen_record, &seen, NULL), 0);
		recording_free(r);
		seen_release(&seen);
		free(copy);
	}
	buf_release(&b);
	buf_release(&file);
	free(path);
}

TEST("a mapping that goes round the end of memory is reported")
{
	_cleanup_free_ char *path = xasprintf("%s/round.data", test_tmpdir());
	struct emit e = { 0 };
	struct profile p;
	size_t at;

	kit_header(&e, 128);
	at = e.b.len;
	kit_mmap2(&e, 10, "/bin/thing");
	/* after the header, pid and tid; it is 0x2000 long */
	emit_patch_u64(&e, at + 16, UINT64_MAX - 0xfff);
	kit_sample(&e, 71, 20, 0x400100, 1);
	kit_close(&e);
	CHECK_EQ(io_write_file_atomic(path, e.b.data, e.b.len, NULL), 0);
	profile_init(&p);
	CHECK_EQ(profile_load(&p, path, &(struct load_opts){ 0 }, NULL), 0);
	CHECK_EQ(p.samples.len, 1);
	CHECK_EQ(p.bad_records, 1);
	profile_release(&p);
	buf_release(&e.b);
}
