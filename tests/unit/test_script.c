/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test_recording_kit.h"

#include "view/script_state.h"
#include "harness.h"

static int take(void *ctx, const char *text, size_t n)
{
	buf_add(ctx, text, n);
	return 0;
}

static int refuse(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	(void)text;
	(void)n;
	return 7;
}

/* Thread 501 "worker", a mapping of a file that is not there, one sample of each event. */
static void make(struct emit *e)
{
	kit_header(e, 128);
	kit_comm(e, 1000, "worker");
	kit_mmap2(e, 2000, "/nonexistent/program");
	kit_sample(e, 71, 1500000000, 0x400010, 2);
	kit_sample(e, 72, 2000003000, 0x7000, 1);
	kit_round(e);
	kit_close(e);
}

static int run_bytes(struct emit *e, const struct script_opts *opts, struct buf *out,
		     struct err *err)
{
	struct recording *r;
	int ret;

	make(e);
	r = kit_open(&e->b);
	ret = script_run(r, opts, take, out, err);
	recording_free(r);
	return ret;
}

/* With the fields @fields (NULL: the defaults). */
static void run(struct script_opts *opts, const char *fields, struct buf *out)
{
	struct emit e = { 0 };

	script_fields_init(&opts->fields);
	if (fields)
		CHECK_EQ(script_fields_parse(&opts->fields, fields, NULL), 0);
	CHECK_EQ(run_bytes(&e, opts, out, NULL), 0);
	buf_release(&e.b);
}

#define CHECK_RUN(opts_, fields, wanted)                  \
	do {                                              \
		_cleanup_buf_ struct buf out_ = BUF_INIT; \
		struct script_opts o_ = opts_;            \
		run(&o_, fields, &out_);                  \
		CHECK_STR(buf_str(&out_), wanted);        \
	} while (0)

#define OPTS(...) ((struct script_opts){ __VA_ARGS__ })

TEST(chains_as_perf_prints_them)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct script_opts opts = { 0 };

	run(&opts, NULL, &out);
	CHECK(strstr(out.data, "worker   501 [003]     1.500000: "));
	CHECK(strstr(out.data, "\n\t            1010 [unknown] (/nonexistent/program)\n"
			       "\t            1011 [unknown] (/nonexistent/program)\n\n"));
	CHECK(strstr(out.data, "\n\t            7000 [unknown] ([unknown])\n\n"));
}

TEST(fields)
{
	CHECK_RUN(OPTS(0), "time", "    1.500000: \n    2.000003: \n");
	CHECK_RUN(OPTS(.ns = true), "time", "    1.500000000: \n    2.000003000: \n");
	CHECK_RUN(OPTS(0), "comm,pid,tid",
		  "          worker   500/501   \n"
		  "          worker   500/501   \n");
	CHECK_RUN(OPTS(0), "pid", "  500 \n  500 \n");
	CHECK_RUN(OPTS(0), "cpu,misc", "[003] U     \n[003] U     \n");
	CHECK_RUN(OPTS(.reltime = true), "time", "    0.000000: \n    0.500003: \n");
	CHECK_RUN(OPTS(.deltatime = true), "time", "    0.000000: \n    0.500003: \n");
	CHECK_RUN(OPTS(.no_chains = true), "ip", "           400010\n             7000\n");
	CHECK_RUN(OPTS(.no_chains = true), "ip,dso",
		  "           400010 (/nonexistent/program)\n             7000 ([unknown])\n");
	CHECK_RUN(OPTS(.max_stack = 1), "ip", "\n\t            1010\n\n\n\t            7000\n\n");
}

TEST(filters)
{
	static struct range one = { 501, 501 }, other = { 7, 7 };
	const range_list tids = { &one, 1, 1 }, nobody = { &other, 1, 1 };

	CHECK_RUN(OPTS(.tids = &tids), "time", "    1.500000: \n    2.000003: \n");
	CHECK_RUN(OPTS(.tids = &nobody), "time", "");
	CHECK_RUN(OPTS(.comms = "x,work*"), "time", "    1.500000: \n    2.000003: \n");
	CHECK_RUN(OPTS(.comms = "x"), "time", "");
	CHECK_RUN(OPTS(.dsos = "*program"), "time", "    1.500000: \n");
	CHECK_RUN(OPTS(.time_from = 1600000000), "time", "    2.000003: \n");
	CHECK_RUN(OPTS(.time_to = 100000000, .time_relative = true), "time", "    1.500000: \n");
}

TEST(other_records)
{
	CHECK_RUN(OPTS(.show = SCRIPT_SHOW_TASK | SCRIPT_SHOW_MMAP), "comm,tid,time",
		  "          worker   501     0.000001: PERF_RECORD_COMM exec: worker:500/501\n"
		  "          worker   501     0.000002: PERF_RECORD_MMAP2 500/501: "
		  "[0x400000(0x2000) @ 0x1000 08:01 4711 5]: r-xp /nonexistent/program\n"
		  "          worker   501     1.500000: \n"
		  "          worker   501     2.000003: \n");
}

TEST(field_lists)
{
	static const char *const bad[] = { "",        "nothing",  "comm,+pid", "+pid,comm",
					   "xx:comm", "hw:trace", "comm,,no" };
	struct script_fields f;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_err_ struct err e = ERR_INIT;

		script_fields_init(&f);
		CHECK(script_fields_parse(&f, bad[i], &e) < 0);
		CHECK(e.what != NULL);
	}
	script_fields_init(&f);
	CHECK_EQ(script_fields_parse(&f, "trace:comm,trace", NULL), 0);
	CHECK_EQ(f.types[SCRIPT_TRACEPOINT].fields, SCRIPT_COMM | SCRIPT_TRACE);
	CHECK(f.types[SCRIPT_SW].fields & SCRIPT_IP);
	CHECK_EQ(script_fields_parse(&f, "-comm", NULL), 0);
	CHECK_EQ(f.types[SCRIPT_TRACEPOINT].fields, SCRIPT_TRACE);
	CHECK(!(f.types[SCRIPT_SW].fields & SCRIPT_COMM));
	CHECK_EQ(script_fields_parse(&f, "+addr", NULL), 0);
	CHECK(f.types[SCRIPT_SW].fields & SCRIPT_ADDR);
}

/* Asked for by name, missing data is an error; as a default it is left out. */
TEST(what_memory_accesses_met)
{
	static const struct {
		u64 value;
		const char *text;
	} cases[] = {
		{ 0x68100142,
		  "        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|"
		  "BLK  N/A" },
		{ 0x1e05080021, "      1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|"
				"BLK  N/A      " },
		{ 2ull << 40 | 1ull << 38 | 13ull << 33 | 2 << 24 | 4,
		  "     25a02000004 |OP STORE|LVL RAM|SNP Fwd|TLB N/A|LCK Yes|BLK  Data         "
		  " " },
	};
	struct script s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&s.out);
		script_data_src(&s, cases[i].value);
		CHECK_STR(buf_str(&s.out), cases[i].text);
	}
	buf_release(&s.out);
}

TEST(missing_data)
{
	struct script_opts opts = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_err_ struct err err = ERR_INIT;
	struct emit e = { 0 };

	script_fields_init(&opts.fields);
	CHECK_EQ(script_fields_parse(&opts.fields, "comm,addr", NULL), 0);
	CHECK_EQ(run_bytes(&e, &opts, &out, &err), -EINVAL);
	CHECK(strstr(err.what, "carry no ADDR"));
	buf_release(&e.b);
}

TEST(a_reader_that_has_enough_ends_the_run)
{
	struct script_opts opts = { 0 };
	struct recording *r;
	struct emit e = { 0 };

	script_fields_init(&opts.fields);
	make(&e);
	r = kit_open(&e.b);
	CHECK_EQ(script_run(r, &opts, refuse, NULL, NULL), 7);
	recording_free(r);
	buf_release(&e.b);
}

TEST(attributes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = 128,
		.config = 0x163,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.precise_ip = 3,
		.clockid = -2,
	};
	_cleanup_buf_ struct buf b = BUF_INIT;

	script_attr(&attr, ": ", ": ", &b);
	CHECK_STR(b.data, ": type: 2, size: 128, config: 0x163, { sample_period, sample_freq }: 1, "
			  "sample_type: IP|RAW, read_format: ID, disabled: 1, precise_ip: 3, "
			  "clockid: -2");
}

TEST(header)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct recording *r;
	struct emit e = { 0 };

	make(&e);
	r = kit_open(&e.b);
	script_header(r, 0, true, &b);
	recording_free(r);
	buf_release(&e.b);
	CHECK(starts_with(b.data, "# ========\n# header version : 1\n# data offset    : 408\n"));
	CHECK(strstr(b.data, ", id = { 71 }, type = 1, size = 128, "));
	CHECK(strstr(b.data, "# missing features: TRACING_DATA BUILD_ID HOSTNAME "));
	CHECK(ends_with(b.data, "# ========\n#\n"));
}
