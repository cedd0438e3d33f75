/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows about what BPF programs can use: types, maps, helpers. */
#include "host/probes.h"

#include "base/clock.h"
#include "host/kernel_types.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { HELPER_LOOP = 181, MEMLOCK_ENOUGH = 32 << 20 };

/* The smallest BTF that maps and callbacks ask for: int, int (void), and a static function. */
enum { TYPE_INT = 1, TYPE_PROTO, TYPE_FUNC };

struct small_btf {
	struct btf_header header;
	struct btf_type integer;
	u32 integer_bits;
	struct btf_type proto;
	struct btf_type func;
	char strings[8];
};

static int load_small_btf(void)
{
	const struct small_btf btf = {
		.header = { .magic = BTF_MAGIC,
			    .version = BTF_VERSION,
			    .hdr_len = sizeof(struct btf_header),
			    .type_len =
				    offsetof(struct small_btf, strings) - sizeof(struct btf_header),
			    .str_off =
				    offsetof(struct small_btf, strings) - sizeof(struct btf_header),
			    .str_len = sizeof(btf.strings) },
		.integer = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
		.integer_bits = BTF_INT_SIGNED << 24 | 32,
		.proto = { .info = BTF_KIND_FUNC_PROTO << 24, .type = TYPE_INT },
		.func = { .name_off = 5, .info = BTF_KIND_FUNC << 24, .type = TYPE_PROTO },
		.strings = "\0int\0fn",
	};

	return bpfsys_btf_load(&btf, sizeof(btf), NULL, 0);
}

/* Fields of structs can be found then, but nothing can be attached by type. */
static int types_from_file(struct probe_result *res)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct kbtf *btf;

	if (kernel_types_path(&path, NULL) < 0)
		return probe_missing(res, "no " KERNEL_TYPES);
	if (kbtf_open_kernel(&btf, NULL) < 0)
		return probe_missing(res, "no " KERNEL_TYPES ", and no BTF in '%s'",
				     buf_str(&path));
	kbtf_free(btf);
	return probe_partly(res, "by '%s', as the kernel has none: raw tracepoints serve for waits",
			    buf_str(&path));
}

static int try_btf(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	u64 start = clock_mono_ns();
	struct kbtf *btf;
	int r = probe_btf(ctx, &btf);

	(void)p;
	if (r == -EOPNOTSUPP)
		return types_from_file(res);
	if (r < 0)
		return r;
	if (!kbtf_find(btf, BTF_KIND_STRUCT, "task_struct"))
		return probe_partly(res, "does not describe task_struct");
	return probe_works(res, "%u types, read in %.1f ms", kbtf_count(btf),
			   (double)(clock_mono_ns() - start) / 1e6);
}

static int try_ring_buffer(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct bpfsys_map map = { .type = BPF_MAP_TYPE_RINGBUF, .max_entries = (u32)page };
	_cleanup_close_ int fd = bpfsys_map_create(&map);
	void *mem;

	(void)ctx;
	(void)p;
	if (fd < 0)
		return fd;
	mem = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED)
		return -errno;
	munmap(mem, page);
	return probe_works(res, "created and mapped");
}

static int try_task_storage(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_close_ int btf = load_small_btf(), fd = -1;
	struct bpfsys_map map = {
		.type = BPF_MAP_TYPE_TASK_STORAGE,
		.key_size = sizeof(int),
		.value_size = sizeof(int),
		.flags = BPF_F_NO_PREALLOC,
		.btf_key_type_id = TYPE_INT,
		.btf_value_type_id = TYPE_INT,
	};

	(void)ctx;
	(void)p;
	if (btf < 0)
		return btf;
	map.btf_fd = (u32)btf;
	fd = bpfsys_map_create(&map);
	return fd < 0 ? fd : probe_works(res, "map created");
}

/* r0 = bpf_loop(3, callback, NULL, 0), which is the number of rounds. */
static int load_loop(int btf)
{
	const struct bpf_func_info {
		u32 insn_off;
		u32 type_id;
	} funcs[] = { { 0, TYPE_FUNC }, { 7, TYPE_FUNC } };
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 3 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_PSEUDO_FUNC,
		  .imm = 5 },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = HELPER_LOOP },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = insns,
		.n_insns = ARRAY_SIZE(insns),
		.name = "fathom_loop",
		.btf_fd = (u32)btf,
		.func_info = funcs,
		.func_info_rec_size = sizeof(funcs[0]),
		.func_info_cnt = ARRAY_SIZE(funcs),
	};

	return bpfsys_prog_load(&prog);
}

static int try_loop(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_close_ int btf = load_small_btf(), prog = -1;
	u32 rounds = 0;

	(void)ctx;
	(void)p;
	if (btf < 0)
		return btf;
	prog = load_loop(btf);
	if (prog < 0)
		return prog;
	if (bpfsys_prog_run(prog, NULL, 0, &rounds) == 0 && rounds == 3)
		return probe_works(res, "loaded and run");
	return probe_works(res, "loaded");
}

static int try_arena(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct bpfsys_map map = {
		.type = BPFSYS_MAP_ARENA,
		.max_entries = 1,
		.flags = BPF_F_MMAPABLE,
	};
	_cleanup_close_ int fd = bpfsys_map_create(&map);

	(void)ctx;
	(void)p;
	if (fd < 0)
		return fd;
	return probe_works(res, "created");
}

/* Kernels since 5.11 count BPF memory in cgroups; before, this limit stops larger maps. */
static int try_memlock(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	struct bpfsys_map map = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(u32),
		.value_size = 4096,
	};
	_cleanup_close_ int fd = -1;
	struct rlimit limit;

	(void)ctx;
	(void)p;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return -errno;
	if (limit.rlim_cur == RLIM_INFINITY)
		return probe_works(res, "unlimited");
	if (limit.rlim_cur >= MEMLOCK_ENOUGH)
		return probe_works(res, "%llu MB", (unsigned long long)limit.rlim_cur >> 20);
	map.max_entries = (u32)(limit.rlim_cur / map.value_size) + 64;
	fd = bpfsys_map_create(&map);
	if (fd >= 0)
		return probe_works(res, "limit of %llu kB does not bind BPF maps",
				   (unsigned long long)limit.rlim_cur >> 10);
	if (fd == -EPERM && !caps_allow(ctx->caps, p->needs))
		return fd;
	if (fd == -EPERM)
		return probe_partly(res, "maps are limited to %llu kB",
				    (unsigned long long)limit.rlim_cur >> 10);
	return fd;
}

const struct probe probes_bpf[] = {
	{ .name = "BTF",
	  .group = GROUP_BPF,
	  .lost = "typed tracepoints, fentry, fields of kernel structs by name",
	  .fix = "a kernel with CONFIG_DEBUG_INFO_BTF; a file with its types, named by "
		 "FATHOM_BTF, does for waits and fields",
	  .try = try_btf },
	{ .name = "BPF ring buffer",
	  .group = GROUP_BPF,
	  .lost = "events from BPF programs",
	  .fix = "Linux 5.8 or newer",
	  .needs = NEEDS_BPF,
	  .try = try_ring_buffer },
	{ .name = "task storage",
	  .group = GROUP_BPF,
	  .lost = "per-thread state without hash maps: latency tools cost more",
	  .fix = "Linux 5.11 or newer",
	  .needs = NEEDS_BPF,
	  .try = try_task_storage },
	{ .name = "bpf_loop",
	  .group = GROUP_BPF,
	  .lost = "deep stacks by unwind tables (fewer frames are walked)",
	  .fix = "Linux 5.17 or newer",
	  .needs = NEEDS_TRACING,
	  .try = try_loop },
	{ .name = "arena",
	  .group = GROUP_BPF,
	  .lost = "memory shared between programs and user space",
	  .fix = "Linux 6.9 or newer",
	  .needs = NEEDS_BPF,
	  .try = try_arena },
	{ .name = "memlock",
	  .group = GROUP_BPF,
	  .lost = "large BPF maps",
	  .fix = "ulimit -l unlimited, or setcap cap_sys_resource+ep fathom",
	  .needs = NEEDS_BPF,
	  .try = try_memlock },
	{ 0 },
};
