/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records made from a /proc of our own making. */
#include "unit/harness.h"

#include <linux/perf_event.h>

#include "base/buf.h"
#include "base/io.h"
#include "capture/synth.h"

static void put_file(const char *path, const char *text)
{
	_cleanup_buf_ struct buf full = BUF_INIT, dir = BUF_INIT;

	buf_addf(&full, "%s/%s", test_tmpdir(), path);
	buf_add(&dir, full.data, (size_t)(strrchr(buf_str(&full), '/') - full.data));
	CHECK_EQ(test_make_dirs(buf_str(&dir)), 0);
	CHECK_EQ(io_write_file_atomic(buf_str(&full), text, strlen(text), NULL), 0);
}

static int take(void *ctx, const void *bytes, size_t n)
{
	struct perf_event_header h;

	memcpy(&h, bytes, sizeof(h));
	CHECK_EQ(h.size, n); /* one whole record a call */
	CHECK_EQ(n % 8, 0);
	buf_add(ctx, bytes, n);
	return 0;
}

/* The @index-th record of a type, or NULL. */
static const u8 *record(const struct buf *got, u32 type, u32 index)
{
	for (size_t at = 0; at < got->len;) {
		struct perf_event_header h;

		memcpy(&h, got->data + at, sizeof(h));
		if (h.type == type && index-- == 0)
			return (const u8 *)got->data + at;
		at += h.size;
	}
	return NULL;
}

static u64 u64_at(const u8 *p, size_t offset)
{
	u64 v;

	memcpy(&v, p + offset, sizeof(v));
	return v;
}

static u32 u32_at(const u8 *p, size_t offset)
{
	u32 v;

	memcpy(&v, p + offset, sizeof(v));
	return v;
}

static struct synth synth_to(struct buf *got)
{
	return (struct synth){
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_IP,
		.proc = test_tmpdir(),
		.sink = take,
		.ctx = got,
	};
}

TEST(the kernel and where its code ends)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);

	put_file("kallsyms", "0000000000000000 A fixed_percpu_data\n"
			     "ffffffff81000000 T startup_64\nffffffff81000000 T _text\n"
			     "ffffffff82000000 T _etext\n");
	put_file("iomem", "00001000-0009ffff : System RAM\n00100000-bfffffff : System RAM\n"
			  "  01000000-01ffffff : Kernel code\n  02000000-020fffff : Kernel data\n");
	CHECK_EQ(synth_kernel(&s, NULL), 0);
	const u8 *r = record(&got, PERF_RECORD_MMAP, 0);

	CHECK(r != NULL);
	CHECK_EQ(u32_at(r, 8), UINT32_MAX);
	CHECK_EQ(u64_at(r, 16), 0xffffffff81000000ull);
	CHECK_EQ(u64_at(r, 24), 0x1000000);
	CHECK_EQ(u64_at(r, 32), 0xffffffff81000000ull);
	CHECK_STR((const char *)r + 40, "[kernel.kallsyms]_text");
	buf_release(&got);
}

TEST(the kernel and a module by their builds)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);
	/* name and description of 4 and 8 bytes, kind 3 */
	static const char note[] = "\4\0\0\0\10\0\0\0\3\0\0\0GNU\0abcdefgh";
	_cleanup_buf_ struct buf path = BUF_INIT;

	s.sys = test_tmpdir();
	s.build_ids = true;
	put_file("kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext\n");
	put_file("iomem", "");
	put_file("kernel/notes", "");
	buf_addf(&path, "%s/kernel/notes", s.sys);
	CHECK_EQ(io_write_file_atomic(buf_str(&path), note, sizeof(note) - 1, NULL), 0);
	put_file("modules", "some_mod 4096 0 - Live 0xffffffffc0a00000\n");
	CHECK_EQ(synth_kernel(&s, NULL), 0);
	CHECK_EQ(synth_modules(&s, NULL), 0);
	const u8 *r = record(&got, PERF_RECORD_MMAP2, 0);

	CHECK(r != NULL);
	CHECK_EQ(u32_at(r, 4) & 0xffff, PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_MMAP_BUILD_ID);
	CHECK_EQ(u32_at(r, 8), UINT32_MAX);
	CHECK_EQ(u32_at(r, 12), 0);
	CHECK_EQ(u64_at(r, 16), 0xffffffff81000000ull);
	CHECK_EQ(u64_at(r, 24), 0x1000000);
	CHECK_EQ(u32_at(r, 40), 8);
	CHECK_MEM(r + 44, "abcdefgh\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	CHECK_STR((const char *)r + 72, "[kernel.kallsyms]_text");
	/* the module has no note: it stays an MMAP */
	CHECK(!record(&got, PERF_RECORD_MMAP2, 1));
	CHECK(record(&got, PERF_RECORD_MMAP, 0) != NULL);
	buf_release(&got);
}

TEST(a kernel that hides its addresses)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);
	struct err e = ERR_INIT;

	put_file("kallsyms", "0000000000000000 T _text\n0000000000000000 T _etext\n");
	CHECK_EQ(synth_kernel(&s, &e), -EACCES);
	CHECK(e.hint != NULL);
	CHECK_EQ(got.len, 0);
	err_release(&e);
	buf_release(&got);
}

TEST(modules)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);

	put_file("modules", "nosuch_mod 16384 0 - Live 0xffffffffc0a00000\n"
			    "hidden 4096 0 - Live 0x0000000000000000\nbroken\nbroken x\n");
	CHECK_EQ(synth_modules(&s, NULL), 0);
	const u8 *r = record(&got, PERF_RECORD_MMAP, 0);

	CHECK(r && !record(&got, PERF_RECORD_MMAP, 1));
	CHECK_EQ(u64_at(r, 16), 0xffffffffc0a00000ull);
	CHECK_EQ(u64_at(r, 24), 16384);
	CHECK_STR((const char *)r + 40, "[nosuch_mod]");
	buf_release(&got);
}

TEST(a process with its threads and mappings)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);

	put_file("77/stat", "77 (my (odd) name) S 5 77 77 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 2 0 "
			    "100 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 "
			    "0 0 0 0 0 0 0 0 0\n");
	put_file("77/maps", "00400000-00401000 r--p 00000000 08:01 42 /bin/x\n"
			    "00401000-00403000 r-xp 00001000 08:01 42 /bin/x\n"
			    "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
			    "7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0 [vdso]\n");
	put_file("77/task/77/comm", "my (odd) name\n");
	put_file("77/task/78/comm", "worker\n");
	CHECK_EQ(synth_process(&s, 77, NULL), 0);
	CHECK_EQ(s.threads, 2);
	CHECK_EQ(s.maps, 3);
	const u8 *r = record(&got, PERF_RECORD_FORK, 0);

	CHECK_EQ(u32_at(r, 8), 77);
	CHECK_EQ(u32_at(r, 12), 5);
	r = record(&got, PERF_RECORD_COMM, 0);
	CHECK_STR((const char *)r + 16, "my (odd) name");
	r = record(&got, PERF_RECORD_COMM, 1);
	CHECK_EQ(u32_at(r, 8), 77);
	CHECK_EQ(u32_at(r, 12), 78);
	CHECK_STR((const char *)r + 16, "worker");
	r = record(&got, PERF_RECORD_MMAP2, 0);
	CHECK_EQ(u64_at(r, 16), 0x401000);
	CHECK_EQ(u64_at(r, 24), 0x2000);
	CHECK_EQ(u64_at(r, 32), 0x1000);
	CHECK_EQ(u32_at(r, 40), 8);
	CHECK_EQ(u64_at(r, 48), 42);
	CHECK_STR((const char *)r + 72, "/bin/x");
	CHECK_STR((const char *)record(&got, PERF_RECORD_MMAP2, 1) + 72, "//anon");
	CHECK_STR((const char *)record(&got, PERF_RECORD_MMAP2, 2) + 72, "[vdso]");
	buf_release(&got);
}

TEST(a process that is gone)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);

	CHECK_EQ(synth_process(&s, 4711, NULL), -ESRCH);
	CHECK_EQ(got.len, 0);
	put_file("12/stat", "12 (");
	CHECK_EQ(synth_processes(&s, NULL), 0);
	CHECK_EQ(s.failed, 1);
	buf_release(&got);
}

TEST(this process has a build id)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);

	s.proc = NULL;
	s.build_ids = true;
	CHECK_EQ(synth_process(&s, getpid(), NULL), 0);
	CHECK(s.maps > 0);
	CHECK(record(&got, PERF_RECORD_MMAP2, 0) != NULL);
	buf_release(&got);
}

TEST(bpf programs of one function and of two)
{
	struct buf got = BUF_INIT;
	struct synth s = synth_to(&got);
	struct bpf_programs p = { 0 };
	char one[] = "bpf_prog_0102030405060708_one", two[] = "bpf_prog_1112131415161718_two";

	vec_push(&p.programs, (struct bpf_program){ .id = 7, .tag = { 1, 2, 3, 4, 5, 6, 7, 8 } });
	vec_push(&p.programs, (struct bpf_program){ .id = 9 });
	vec_push(&p.functions,
		 (struct bpf_function){ .address = 0xffffffffc0001000, .size = 64, .name = one });
	for (u32 i = 0; i < 2; i++)
		vec_push(&p.functions, (struct bpf_function){ .address = 0xffffffffc0002000 + i,
							      .size = 32,
							      .program = 1,
							      .name = two });
	CHECK_EQ(synth_bpf(&s, &p), 0);
	const u8 *r = record(&got, PERF_RECORD_KSYMBOL, 0);

	CHECK(r != NULL);
	CHECK_EQ(u64_at(r, 8), 0xffffffffc0001000ull);
	CHECK_EQ(u32_at(r, 16), 64);
	CHECK_EQ(u32_at(r, 20), PERF_RECORD_KSYMBOL_TYPE_BPF); /* and no flags above it */
	CHECK_STR((const char *)r + 24, one);
	r = record(&got, PERF_RECORD_BPF_EVENT, 0);
	CHECK(r != NULL);
	CHECK_EQ(u32_at(r, 8), PERF_BPF_EVENT_PROG_LOAD);
	CHECK_EQ(u32_at(r, 12), 7);
	CHECK_EQ(u64_at(r, 16), 0x0807060504030201ull);
	r = record(&got, PERF_RECORD_KSYMBOL, 2);
	CHECK(r != NULL && u64_at(r, 8) == 0xffffffffc0002001ull);
	CHECK(record(&got, PERF_RECORD_KSYMBOL, 3) == NULL);
	CHECK(record(&got, PERF_RECORD_BPF_EVENT, 1) > r); /* after its functions */
	vec_release(&p.programs);
	vec_release(&p.functions);
	buf_release(&got);
}
