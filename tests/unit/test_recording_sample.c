/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and records: what is built is what is parsed, and what is too short is refused. */
#include "harness.h"
#include "test_recording_kit.h"

#include "recording/format.h"
#include "recording/reader.h"
#include "recording/recording.h"

#include <sys/mman.h>

/* Every field that a sample can have. */
static struct perf_event_attr full_attr(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = (PERF_SAMPLE_MAX - 1) & ~(u64)PERF_SAMPLE_WEIGHT,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 0x3c1, /* 5 registers */
		.sample_regs_intr = 0x3,
		.sample_stack_user = 64,
		.sample_id_all = 1,
	};
}

static const u64 chain[] = { PERF_CONTEXT_USER, 0x401000, 0x402000 };
static const u64 user_regs[] = { 10, 16, 17, 18, 19 };
static const u64 intr_regs[] = { 7, 8 };
static const struct sample_branch branches[] = { { 1, 2, 3 }, { 4, 5, 6 } };
static const char stack[64] = "the stack";

static struct sample full_sample(void)
{
	return (struct sample){
		.id = 42,
		.ip = 0x401000,
		.pid = 100,
		.tid = 101,
		.time = 123456789,
		.addr = 0xdeadbeef,
		.stream_id = 43,
		.cpu = 3,
		.period = 999,
		.read = { .value = 5, .time_enabled = 6, .time_running = 7, .id = 42, .lost = 8 },
		.ips = chain,
		.n_ips = ARRAY_SIZE(chain),
		.raw = "raw data",
		.raw_size = 8,
		.branches = branches,
		.n_branches = ARRAY_SIZE(branches),
		.branch_hw_index = 9,
		.regs_user = { .abi = PERF_SAMPLE_REGS_ABI_64, .mask = 0x3c1, .values = user_regs },
		.stack = stack,
		.stack_size = sizeof(stack),
		.stack_dyn = 48,
		.weight = 11,
		.data_src = 12,
		.transaction = 13,
		.regs_intr = { .abi = PERF_SAMPLE_REGS_ABI_64, .mask = 0x3, .values = intr_regs },
		.phys_addr = 14,
		.cgroup = 15,
		.data_page_size = 4096,
		.code_page_size = 8192,
		.aux = "aux data",
		.aux_size = 8,
	};
}

static void check_heads(const struct sample *s)
{
	CHECK_EQ(s->id, 42);
	CHECK_EQ(s->ip, 0x401000);
	CHECK_EQ(s->pid, 100);
	CHECK_EQ(s->tid, 101);
	CHECK_EQ(s->time, 123456789);
	CHECK_EQ(s->addr, 0xdeadbeef);
	CHECK_EQ(s->stream_id, 43);
	CHECK_EQ(s->cpu, 3);
	CHECK_EQ(s->period, 999);
	CHECK_EQ(s->read.value, 5);
	CHECK_EQ(s->read.time_enabled, 6);
	CHECK_EQ(s->read.time_running, 7);
	CHECK_EQ(s->read.id, 42);
	CHECK_EQ(s->read.lost, 8);
	CHECK_EQ(s->weight, 11);
	CHECK_EQ(s->data_src, 12);
	CHECK_EQ(s->transaction, 13);
	CHECK_EQ(s->phys_addr, 14);
	CHECK_EQ(s->cgroup, 15);
	CHECK_EQ(s->data_page_size, 4096);
	CHECK_EQ(s->code_page_size, 8192);
}

/* Values are in the order of the mask's bits. */
static u64 sample_register(const struct sample_regs *regs, u32 number)
{
	return regs->values[__builtin_popcountll(regs->mask & ((1ull << number) - 1))];
}

static void check_arrays(const struct sample *s)
{
	CHECK_EQ(s->n_ips, 3);
	CHECK_MEM(s->ips, chain, sizeof(chain));
	CHECK_EQ(s->raw_size, 12); /* with its padding */
	CHECK_MEM(s->raw, "raw data\0\0\0", 12);
	CHECK_EQ(s->n_branches, 2);
	CHECK_MEM(s->branches, branches, sizeof(branches));
	CHECK_EQ(s->branch_hw_index, 9);
	CHECK_EQ(s->regs_user.nr, 5);
	CHECK(s->regs_user.mask & 1ull << 6 && s->regs_user.mask & 1ull << 8);
	CHECK(!(s->regs_user.mask & 1ull << 1));
	CHECK_EQ(sample_register(&s->regs_user, 6), 16);
	CHECK_EQ(sample_register(&s->regs_user, 8), 18);
	CHECK_EQ(s->stack_size, 64);
	CHECK_EQ(s->stack_dyn, 48);
	CHECK_MEM(s->stack, stack, sizeof(stack));
	CHECK_EQ(s->regs_intr.nr, 2);
	CHECK_EQ(s->aux_size, 8);
	CHECK_MEM(s->aux, "aux data", 8);
}

TEST(all_fields)
{
	struct perf_event_attr attr = full_attr();
	struct sample in = full_sample(), out;
	struct buf b = BUF_INIT;
	const char *reason = NULL;

	CHECK_EQ(build_sample(&b, &attr, PERF_RECORD_MISC_USER, &in), 0);
	CHECK_EQ(b.len % 8, 0);
	CHECK_EQ(sample_parse(&attr, (void *)b.data, &out, &reason), 0);
	check_heads(&out);
	check_arrays(&out);
	buf_release(&b);
}

/* Each record that is cut anywhere says so, and reads nothing after its end. */
TEST(every_cut_is_noticed)
{
	struct perf_event_attr attr = full_attr();
	struct sample in = full_sample(), out;
	struct buf b = BUF_INIT;
	const char *reason;

	CHECK_EQ(build_sample(&b, &attr, 0, &in), 0);
	for (size_t size = 8; size < b.len; size += 8) {
		struct perf_event_header *h = xmemdup(b.data, size);

		h->size = (u16)size;
		reason = NULL;
		CHECK_EQ(sample_parse(&attr, h, &out, &reason), -EBADMSG);
		CHECK(reason != NULL);
		free(h);
	}
	buf_release(&b);
}

/* Every word of a sample turned to the largest number: parsed or refused, never followed. */
TEST(hostile_counts)
{
	struct perf_event_attr attr = full_attr();
	struct sample in = full_sample(), out;
	struct buf b = BUF_INIT;
	unsigned int refused = 0;
	const char *reason;

	CHECK_EQ(build_sample(&b, &attr, 0, &in), 0);
	for (size_t at = 8; at < b.len; at += 8) {
		struct perf_event_header *h = xmemdup(b.data, b.len);

		memset((char *)h + at, 0xff, 8);
		refused += sample_parse(&attr, h, &out, &reason) < 0;
		free(h);
	}
	CHECK_EQ(refused, 6); /* callchain, raw, branches, stack size, stack bytes, AUX */
	buf_release(&b);
}

TEST(group_read)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
	};
	const u64 rows[] = { 100, 1, 200, 2, 300, 3 };
	struct sample in = { .ip = 1, .read = { .nr = 3, .stride = 2, .rows = rows } }, out;
	struct buf b = BUF_INIT;
	const char *reason;

	CHECK_EQ(build_sample(&b, &attr, 0, &in), 0);
	CHECK_EQ(sample_parse(&attr, (void *)b.data, &out, &reason), 0);
	CHECK_EQ(out.read.nr, 3);
	CHECK_EQ(out.read.stride, 2);
	CHECK_MEM(out.read.rows, rows, sizeof(rows));
	CHECK_EQ(out.pid, RECORD_NO_PID);
	CHECK_EQ(out.period, 1);
	buf_release(&b);
}

TEST(sample_without_registers_and_stack)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = 0xff,
		.sample_period = 77,
	};
	struct sample in = { 0 }, out;
	struct buf b = BUF_INIT;
	const char *reason;

	CHECK_EQ(build_sample(&b, &attr, 0, &in), 0);
	CHECK_EQ(b.len, 8 + 8 + 8);
	CHECK_EQ(sample_parse(&attr, (void *)b.data, &out, &reason), 0);
	CHECK_EQ(out.regs_user.nr, 0);
	CHECK_EQ(out.stack_size, 0);
	CHECK_EQ(out.period, 77);
	buf_release(&b);
}

TEST(too_long_for_a_record)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_CALLCHAIN };
	u64 *ips = xcalloc(9000, sizeof(*ips));
	struct sample in = { .ips = ips, .n_ips = 8190 };
	struct buf b = BUF_INIT;

	buf_addstr(&b, "before..");
	CHECK_EQ(build_sample(&b, &attr, 0, &in), -EMSGSIZE);
	CHECK_EQ(b.len, 8);
	in.n_ips = 9000;
	CHECK_EQ(build_sample(&b, &attr, 0, &in), -EMSGSIZE);
	CHECK_EQ(b.len, 8);
	in.n_ips = 8189;
	CHECK_EQ(build_sample(&b, &attr, 0, &in), 0);
	CHECK_EQ(b.len, 8 + 65528);
	free(ips);
	buf_release(&b);
}

/* A sample of the other byte order, turned where it is, equals the original. */
TEST(swapped_sample)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
	};
	struct sample in = full_sample(), out;
	struct buf b = BUF_INIT;
	u64 words[32];
	u32 pair[2];
	const char *reason;

	in.raw_size = 4;
	CHECK_EQ(build_sample(&b, &attr, 0, &in), 0);
	CHECK(b.len <= sizeof(words));
	memcpy(words, b.data, b.len);
	for (size_t i = 1; i < b.len / 8; i++) {
		memcpy(pair, &words[i], 8);
		if (i == 2) { /* pid, tid */
			pair[0] = __builtin_bswap32(pair[0]);
			pair[1] = __builtin_bswap32(pair[1]);
		} else if (i == b.len / 8 - 1) { /* size of the raw data, then bytes */
			pair[0] = __builtin_bswap32(pair[0]);
		} else {
			words[i] = __builtin_bswap64(words[i]);
			continue;
		}
		memcpy(&words[i], pair, 8);
	}
	CHECK_EQ(swap_sample(&attr, (void *)words, &reason), 0);
	CHECK_MEM(words, b.data, b.len);
	CHECK_EQ(sample_parse(&attr, (void *)words, &out, &reason), 0);
	CHECK_EQ(out.n_ips, 3);
	CHECK_MEM(out.raw, "raw ", 4);
	buf_release(&b);
}

TEST(swapped_branch_flags)
{
	/* mispredicted, 0x1234 cycles, type 5, as a big-endian machine packs them */
	u64 big = 1ull << 63 | 0x1234ull << 44 | 5ull << 40;

	CHECK_EQ(swap_branch_flags(__builtin_bswap64(big)), 1 | 0x1234 << 4 | 5 << 20);
}

static struct record record_of(const struct buf *b, const struct perf_event_attr *attr)
{
	const struct perf_event_header *h = (const void *)b->data;
	struct record r = { .type = h->type, .misc = h->misc, .size = h->size, .header = h };

	CHECK_EQ(record_parse_ids(attr, h, &r), 0);
	return r;
}

static const struct perf_event_attr id_attr = {
	.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
	.sample_id_all = 1,
};
static const struct record_ids ids = { 1, 2, 3, 4, 5, 6 };

static void check_ids(const struct record *r)
{
	CHECK_EQ(r->pid, 1);
	CHECK_EQ(r->tid, 2);
	CHECK_EQ(r->time, 3);
	CHECK_EQ(r->id, 4);
	CHECK_EQ(r->stream_id, 5);
	CHECK_EQ(r->cpu, 6);
}

TEST(mmap_with_build_id)
{
	struct record_mmap in = {
		.pid = 10,
		.tid = 11,
		.addr = 0x1000,
		.len = 0x2000,
		.pgoff = 0x3000,
		.prot = PROT_EXEC,
		.flags = MAP_PRIVATE,
		.build_id = "12345678901234567890",
		.build_id_size = 20,
		.filename = "/usr/bin/thing",
	};
	struct record_mmap out;
	struct buf b = BUF_INIT;
	struct record r;

	CHECK_EQ(build_mmap2(&b, &id_attr, &ids, PERF_RECORD_MISC_USER, &in), 0);
	r = record_of(&b, &id_attr);
	check_ids(&r);
	CHECK_EQ(record_mmap(&r, &out), 0);
	CHECK_EQ(out.build_id_size, 20);
	CHECK_MEM(out.build_id, in.build_id, 20);
	CHECK_STR(out.filename, "/usr/bin/thing");
	CHECK_EQ(out.pgoff, 0x3000);
	CHECK_EQ(out.ino, 0);
	buf_release(&b);
}

TEST(mmap_marked_for_another_recorder)
{
	struct record_mmap in = {
		.pid = 10,
		.addr = 0x1000,
		.len = 0x2000,
		.prot = PROT_EXEC,
		.maj = 8,
		.min = 1,
		.ino = 0x123456,
		.ino_generation = 0x89abcdef,
		.filename = "/usr/bin/thing",
	};
	const u32 majors[] = { 0, 8, 20, 254, 259 };

	for (size_t i = 0; i < ARRAY_SIZE(majors); i++) {
		struct buf b = BUF_INIT;
		struct record_mmap out;
		struct record r;

		in.maj = majors[i];
		CHECK_EQ(build_mmap2(&b, &id_attr, &ids, PERF_RECORD_MISC_USER, &in), 0);
		((struct perf_event_header *)(void *)b.data)->misc |= FORMAT_MISC_MMAP_BUILD_ID;
		r = record_of(&b, &id_attr);
		CHECK_EQ(record_mmap(&r, &out), 0);
		CHECK_EQ(out.build_id_size, 0);
		CHECK_EQ(out.maj, majors[i]);
		CHECK_EQ(out.ino, 0x123456);
		CHECK_EQ(out.ino_generation, 0x89abcdef);
		CHECK_EQ(out.prot, PROT_EXEC);
		buf_release(&b);
	}
}

TEST(other_records)
{
	const u32 fork[] = { 1, 2, 3, 4, 5, 0 }; /* pid, ppid, tid, ptid, time */
	const struct {
		u64 addr;
		u32 len;
		u16 type, flags;
		char name[8];
	} symbol = { .addr = 9, .len = 8, .name = "bpf_x" };
	const struct {
		u64 id;
		char path[8];
	} group = { 5, "/a/b" };
	const struct {
		u16 type, flags;
		u32 id;
		u8 tag[8];
	} program = { .type = 1, .id = 12 };
	struct record_task task;
	struct record_lost lost;
	struct record_ksymbol ksym;
	struct record_cgroup cgroup;
	struct record_bpf bpf;
	struct buf b = BUF_INIT;
	struct record r;

	kit_record(&b, PERF_RECORD_FORK, fork, sizeof(fork), &id_attr, &ids);
	r = record_of(&b, &id_attr);
	CHECK_EQ(record_task(&r, &task), 0);
	CHECK_EQ(task.ppid, 2);
	CHECK_EQ(task.tid, 3);
	CHECK_EQ(task.time, 5);
	buf_reset(&b);
	kit_record(&b, PERF_RECORD_LOST, (const u64[]){ 7, 99 }, 16, &id_attr, &ids);
	r = record_of(&b, &id_attr);
	CHECK_EQ(record_lost(&r, &lost), 0);
	CHECK_EQ(lost.lost, 99);
	CHECK_EQ(lost.id, 7);
	buf_reset(&b);
	kit_record(&b, PERF_RECORD_KSYMBOL, &symbol, sizeof(symbol), &id_attr, &ids);
	r = record_of(&b, &id_attr);
	CHECK_EQ(record_ksymbol(&r, &ksym), 0);
	CHECK_STR(ksym.name, "bpf_x");
	CHECK_EQ(ksym.addr, 9);
	CHECK_EQ(ksym.len, 8);
	CHECK(!ksym.unregister);
	buf_reset(&b);
	kit_record(&b, PERF_RECORD_CGROUP, &group, sizeof(group), &id_attr, &ids);
	r = record_of(&b, &id_attr);
	CHECK_EQ(record_cgroup(&r, &cgroup), 0);
	CHECK_STR(cgroup.path, "/a/b");
	CHECK_EQ(cgroup.id, 5);
	buf_reset(&b);
	kit_record(&b, PERF_RECORD_BPF_EVENT, &program, sizeof(program), &id_attr, &ids);
	r = record_of(&b, &id_attr);
	CHECK_EQ(record_bpf(&r, &bpf), 0);
	CHECK_EQ(bpf.id, 12);
	CHECK_EQ(bpf.type, 1);
	buf_release(&b);
}

TEST(short_records_are_refused)
{
	static const u32 types[] = { PERF_RECORD_MMAP,     PERF_RECORD_MMAP2,
				     PERF_RECORD_COMM,     PERF_RECORD_FORK,
				     PERF_RECORD_LOST,     PERF_RECORD_NAMESPACES,
				     PERF_RECORD_KSYMBOL,  PERF_RECORD_CGROUP,
				     PERF_RECORD_BPF_EVENT };
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_lost lost;
		struct record_namespaces ns;
		struct record_ksymbol ksym;
		struct record_cgroup cgroup;
		struct record_bpf bpf;
	} out;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_event_header *h = xcalloc(1, 8);
		struct record r = { .type = types[i], .header = h, .size = 8, .body_end = 8 };

		h->type = types[i];
		h->size = 8;
		CHECK_EQ(record_mmap(&r, &out.mmap), -EBADMSG);
		CHECK_EQ(record_comm(&r, &out.comm), -EBADMSG);
		CHECK_EQ(record_task(&r, &out.task), -EBADMSG);
		CHECK_EQ(record_lost(&r, &out.lost), -EBADMSG);
		CHECK_EQ(record_namespaces(&r, &out.ns), -EBADMSG);
		CHECK_EQ(record_ksymbol(&r, &out.ksym), -EBADMSG);
		CHECK_EQ(record_cgroup(&r, &out.cgroup), -EBADMSG);
		CHECK_EQ(record_bpf(&r, &out.bpf), -EBADMSG);
		free(h);
	}
}

/* A name that no NUL ends must not be read beyond the record. */
TEST(name_without_an_end)
{
	struct record_comm out;
	struct perf_event_header *h = xmalloc(24);
	struct record r = { .type = PERF_RECORD_COMM, .header = h, .size = 24, .body_end = 24 };

	memset(h, 'x', 24);
	CHECK_EQ(record_comm(&r, &out), -EBADMSG);
	free(h);
}
