/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows about where programs can be attached. Each attaches one, makes it run, and closes it. */
#include "host/probes.h"

#include "base/io.h"
#include "host/procfs.h"

#define RENAME_TRACEPOINT "task_rename"
#define EVENT_SOURCES     "/sys/bus/event_source/devices/"

/* What the trials of user probes aim at: a function and a semaphore of this very program. */
static unsigned short trial_semaphore __attribute__((section(".probes"), used));

static __attribute__((noinline, used)) void trial_function(void)
{
	__asm__ volatile("nop" ::: "memory");
}

/* The kernel keeps one semaphore per address, so the trial without one has its own function. */
static __attribute__((noinline, used)) void trial_static_probe(void)
{
	__asm__ volatile("nop; nop" ::: "memory");
}

/* A kernel function that probe_rename_self() calls, by the name that this kernel has for it. */
static const char *rename_function(struct probe_ctx *ctx)
{
	static const char *const names[] = { "__set_task_comm", "__x64_sys_prctl",
					     "__arm64_sys_prctl" };
	struct kbtf *btf;

	if (probe_btf(ctx, &btf) < 0)
		return names[0];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (kbtf_find(btf, BTF_KIND_FUNC, names[i]))
			return names[i];
	}
	return names[0];
}

/* After the trigger: did the attached program count? */
static int judge(const struct probe_ctx *ctx, u32 counter, const char *where,
		 struct probe_result *res)
{
	if (probe_counted(ctx, counter) == 0)
		return probe_partly(res, "attached to %s, but no hit was counted", where);
	return probe_works(res, "attached to %s, hit counted", where);
}

/* The same for an event that counts by itself; closes it. */
static int judge_event(struct probe_ctx *ctx, int fd, const char *where, struct probe_result *res)
{
	u64 hits = 0;
	ssize_t n = read(fd, &hits, sizeof(hits));

	probe_close(ctx, fd);
	if (n != (ssize_t)sizeof(hits))
		return -EIO;
	if (hits == 0)
		return probe_partly(res, "attached to %s, but no hit was counted", where);
	return probe_works(res, "attached to %s, hit counted", where);
}

static int try_raw_tracepoint(struct probe_ctx *ctx, const struct probe *p,
			      struct probe_result *res)
{
	const struct bpfsys_prog prog = { .type = BPF_PROG_TYPE_RAW_TRACEPOINT };
	u32 counter = 0;
	_cleanup_close_ int fd = probe_load_counting(ctx, &prog, 0, &counter);
	int link;

	(void)p;
	if (fd < 0)
		return fd;
	link = bpfsys_raw_tracepoint_open(fd, RENAME_TRACEPOINT);
	if (link < 0)
		return link;
	probe_rename_self();
	probe_close(ctx, link);
	return judge(ctx, counter, RENAME_TRACEPOINT, res);
}

/* Programs of type TRACING on a BTF id, which a raw tracepoint call without a name attaches. */
static int attach_traced(struct probe_ctx *ctx, u32 attach_type, u32 id, const char *where,
			 struct probe_result *res)
{
	const struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = attach_type,
		.attach_btf_id = id,
	};
	u32 counter = 0;
	_cleanup_close_ int fd = probe_load_counting(ctx, &prog, 0, &counter);
	int link;

	if (fd < 0)
		return fd;
	link = bpfsys_raw_tracepoint_open(fd, NULL);
	if (link < 0)
		return link;
	probe_rename_self();
	probe_close(ctx, link);
	return judge(ctx, counter, where, res);
}

static int try_typed(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	struct kbtf *btf;
	u32 id;

	(void)p;
	if (probe_btf(ctx, &btf) < 0)
		return probe_missing(res, "needs BTF");
	id = kbtf_find_tracepoint(btf, RENAME_TRACEPOINT);
	if (!id)
		return probe_missing(res, "BTF does not describe " RENAME_TRACEPOINT);
	return attach_traced(ctx, BPF_TRACE_RAW_TP, id, RENAME_TRACEPOINT, res);
}

static int try_trampoline(struct probe_ctx *ctx, u32 attach_type, struct probe_result *res)
{
	const char *function = rename_function(ctx);
	struct kbtf *btf;
	u32 id;

	if (probe_btf(ctx, &btf) < 0)
		return probe_missing(res, "needs BTF");
	id = kbtf_find(btf, BTF_KIND_FUNC, function);
	if (!id)
		return probe_missing(res, "BTF does not describe %s()", function);
	return attach_traced(ctx, attach_type, id, function, res);
}

static int try_fentry(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	(void)p;
	return try_trampoline(ctx, BPF_TRACE_FENTRY, res);
}

static int try_fexit(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	(void)p;
	return try_trampoline(ctx, BPF_TRACE_FEXIT, res);
}

/* A program on a counting event of this thread; with 1 as its value the event counts too. */
static int attach_to_event(struct probe_ctx *ctx, u32 prog_type, const struct perf_event_attr *attr,
			   int *ret_event)
{
	const struct bpfsys_prog prog = { .type = prog_type };
	u32 counter;
	_cleanup_close_ int fd = probe_load_counting(ctx, &prog, 1, &counter), event = -1;
	int r;

	if (fd < 0)
		return fd;
	event = perfsys_open(attr, 0, -1, -1, 0);
	if (event < 0)
		return event;
	r = perfsys_set_bpf(event, fd);
	if (r < 0)
		return r;
	*ret_event = TAKE_FD(event);
	return 0;
}

static int try_tracepoint(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	struct perf_event_attr attr;
	const struct tracefs *tracefs;
	u64 id;
	int event, r;

	(void)p;
	r = probe_tracefs(ctx, &tracefs);
	if (r == -EACCES)
		return r;
	if (r < 0) {
		probe_missing(res, "needs tracefs, which is not mounted");
		probe_fix(res, "mount -t tracefs nodev /sys/kernel/tracing");
		return 0;
	}
	r = tracefs_event_id(tracefs, "task", RENAME_TRACEPOINT, &id, NULL);
	if (r < 0)
		return r;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	r = attach_to_event(ctx, BPF_PROG_TYPE_TRACEPOINT, &attr, &event);
	if (r < 0)
		return r;
	probe_rename_self();
	return judge_event(ctx, event, "task:" RENAME_TRACEPOINT, res);
}

static int try_perf_program(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NSEC_PER_SEC,
	};
	_cleanup_close_ int event = -1;
	int r = attach_to_event(ctx, BPF_PROG_TYPE_PERF_EVENT, &attr, &event);

	(void)p;
	return r < 0 ? r : probe_works(res, "attached to cpu-clock");
}

/* Number of a dynamic event source; -ENOENT when the kernel was built without it. */
static int source_type(const char *name, u32 *ret)
{
	char path[128];
	u64 type;
	int r;

	snprintf(path, sizeof(path), EVENT_SOURCES "%s/type", name);
	r = io_read_u64(path, &type, NULL);
	if (r < 0)
		return r;
	*ret = (u32)type;
	return 0;
}

static int try_kprobe(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const char *function = rename_function(ctx);
	struct perf_event_attr attr;
	int event, r;

	(void)p;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.config1 = (u64)(uintptr_t)function;
	r = source_type("kprobe", &attr.type);
	if (r < 0)
		return probe_missing(res, "not compiled into this kernel");
	r = attach_to_event(ctx, BPF_PROG_TYPE_KPROBE, &attr, &event);
	if (r < 0)
		return r;
	probe_rename_self();
	return judge_event(ctx, event, function, res);
}

static int try_kprobe_multi(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = BPF_TRACE_KPROBE_MULTI,
	};
	const char *const symbols[] = { rename_function(ctx) };
	const struct bpfsys_kprobes probes = { .symbols = symbols, .count = 1 };
	u32 counter = 0;
	_cleanup_close_ int fd = probe_load_counting(ctx, &prog, 0, &counter);
	int link;

	(void)p;
	if (fd < 0)
		return fd;
	link = bpfsys_link_kprobes(fd, BPF_TRACE_KPROBE_MULTI, &probes);
	if (link == -EOPNOTSUPP)
		return probe_missing(res, "not compiled into this kernel (EOPNOTSUPP)");
	if (link < 0)
		return link;
	probe_rename_self();
	probe_close(ctx, link);
	return judge(ctx, counter, symbols[0], res);
}

/* Where in the file of this program an address comes from. */
static int file_offset(const volatile void *address, u64 *ret)
{
	u64 a = (u64)(uintptr_t)address;
	struct proc_map map;
	int r = procfs_own_map(a, &map);

	if (r < 0)
		return r;
	if (map.inode == 0)
		return -ENOENT;
	*ret = a - map.start + map.offset;
	return 0;
}

/* A uprobe on a function of ours, as a perf event with a program; @semaphore 0: none. */
static int attach_uprobe(struct probe_ctx *ctx, void (*function)(void), u64 semaphore,
			 int *ret_event)
{
	struct perf_event_attr attr;
	u64 offset;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.config = semaphore << 32;
	attr.config1 = (u64)(uintptr_t) "/proc/self/exe";
	r = file_offset((const void *)(uintptr_t)function, &offset);
	if (r < 0)
		return r;
	attr.config2 = offset;
	r = source_type("uprobe", &attr.type);
	if (r < 0)
		return r;
	return attach_to_event(ctx, BPF_PROG_TYPE_KPROBE, &attr, ret_event);
}

/* The kernel raises the semaphore in this process while a probe that names it is attached. */
static int attach_static_probe(struct probe_ctx *ctx, int *ret_event)
{
	u64 offset;
	int r;

	if (!io_exists(EVENT_SOURCES "uprobe/format/ref_ctr_offset"))
		return -EOPNOTSUPP;
	r = file_offset(&trial_semaphore, &offset);
	return r < 0 ? r : attach_uprobe(ctx, trial_static_probe, offset, ret_event);
}

/* Detaching takes long and cannot overlap, so one probe answers for two rows. */
static int share_uprobe(struct probe_ctx *ctx)
{
	const volatile unsigned short *semaphore = &trial_semaphore;
	u64 hits = 0;
	int event;

	if (ctx->uprobe.tried)
		return ctx->uprobe.code;
	ctx->uprobe.tried = true;
	ctx->uprobe.code = attach_static_probe(ctx, &event);
	if (ctx->uprobe.code < 0)
		ctx->uprobe.code = attach_uprobe(ctx, trial_function, 0, &event);
	if (ctx->uprobe.code < 0)
		return ctx->uprobe.code;
	ctx->uprobe.raised = *semaphore != 0;
	trial_static_probe();
	trial_function();
	ctx->uprobe.hit = read(event, &hits, sizeof(hits)) == (ssize_t)sizeof(hits) && hits > 0;
	probe_close(ctx, event);
	return 0;
}

static int try_uprobe(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	int r = share_uprobe(ctx);

	(void)p;
	if (r == -ENOENT)
		return probe_missing(res, "not compiled into this kernel");
	if (r < 0)
		return r;
	if (!ctx->uprobe.hit)
		return probe_partly(res, "attached, but no hit was counted");
	return probe_works(res, "attached to a function of fathom, hit counted");
}

static int try_usdt(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	int r = share_uprobe(ctx);

	(void)p;
	if (r == -ENOENT)
		return probe_missing(res, "needs uprobes");
	if (r < 0)
		return r;
	if (!ctx->uprobe.raised)
		return probe_missing(res, "the semaphore of a probe was not raised");
	return probe_works(res, "attached, semaphore raised");
}

static int try_uprobe_multi(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_KPROBE,
		.expected_attach_type = BPFSYS_ATTACH_UPROBE_MULTI,
	};
	u32 counter = 0;
	_cleanup_close_ int fd = probe_load_counting(ctx, &prog, 0, &counter);
	struct bpfsys_uprobes probes = {
		.path = "/proc/self/exe",
		.count = 1,
		.pid = (u32)getpid(),
	};
	u64 offset;
	int link, r;

	(void)p;
	if (fd < 0)
		return fd;
	r = file_offset((const void *)(uintptr_t)trial_function, &offset);
	if (r < 0)
		return r;
	probes.offsets = &offset;
	link = bpfsys_link_uprobes(fd, BPFSYS_ATTACH_UPROBE_MULTI, &probes);
	if (link < 0)
		return link;
	trial_function();
	probe_close(ctx, link);
	return judge(ctx, counter, "a function of fathom", res);
}

static int try_iterator(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_ITER,
	};
	_cleanup_close_ int fd = -1, link = -1, iter = -1;
	struct kbtf *btf;
	u32 counter;
	char byte;

	(void)p;
	if (probe_btf(ctx, &btf) < 0)
		return probe_missing(res, "needs BTF");
	prog.attach_btf_id = kbtf_find(btf, BTF_KIND_FUNC, "bpf_iter_task");
	if (!prog.attach_btf_id)
		return probe_missing(res, "BTF does not describe bpf_iter_task()");
	fd = probe_load_counting(ctx, &prog, 0, &counter);
	if (fd < 0)
		return fd;
	link = bpfsys_link_create(fd, 0, BPF_TRACE_ITER, 0);
	if (link < 0)
		return link;
	iter = bpfsys_iter_create(link);
	if (iter < 0)
		return iter;
	if (read(iter, &byte, 1) < 0)
		return -errno;
	return probe_works(res, "saw %llu threads",
			   (unsigned long long)probe_counted(ctx, counter));
}

const struct probe probes_attach[] = {
	{ .name = "typed raw tracepoint",
	  .group = GROUP_ATTACH,
	  .lost = "the cheapest way to kernel events; raw tracepoints are used",
	  .fix = "a kernel with CONFIG_DEBUG_INFO_BTF",
	  .needs = NEEDS_TRACING,
	  .try = try_typed },
	{ .name = "raw tracepoint",
	  .group = GROUP_ATTACH,
	  .lost = "cheap kernel events; tracepoint programs are used",
	  .fix = "a kernel with CONFIG_BPF_EVENTS",
	  .needs = NEEDS_TRACING,
	  .try = try_raw_tracepoint },
	{ .name = "tracepoint program",
	  .group = GROUP_ATTACH,
	  .lost = "tracepoints by name in scripts",
	  .fix = "a kernel with CONFIG_BPF_EVENTS",
	  .needs = NEEDS_TRACING | CAP_BIT(CAP_DAC_READ_SEARCH),
	  .try = try_tracepoint },
	{ .name = "perf-event program",
	  .group = GROUP_ATTACH,
	  .lost = "stacks unwound in the kernel: profiles of code without frame pointers",
	  .fix = "a kernel with CONFIG_BPF_EVENTS",
	  .needs = NEEDS_TRACING,
	  .try = try_perf_program },
	{ .name = "fentry",
	  .group = GROUP_ATTACH,
	  .lost = "cheap probes on kernel functions; kprobes are used where they work",
	  .fix = "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS, and no policy against it",
	  .needs = NEEDS_TRACING,
	  .try = try_fentry },
	{ .name = "fexit",
	  .group = GROUP_ATTACH,
	  .lost = "cheap probes on returns of kernel functions",
	  .fix = "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS, and no policy against it",
	  .needs = NEEDS_TRACING,
	  .try = try_fexit },
	{ .name = "kprobe",
	  .group = GROUP_ATTACH,
	  .lost = "probes on any kernel function or address",
	  .fix = "a kernel with CONFIG_KPROBE_EVENTS",
	  .needs = NEEDS_TRACING,
	  .try = try_kprobe },
	{ .name = "kprobe.multi",
	  .group = GROUP_ATTACH,
	  .lost = "thousands of kernel functions at once",
	  .fix = "a kernel with CONFIG_FPROBE (5.18 or newer)",
	  .needs = NEEDS_TRACING,
	  .try = try_kprobe_multi },
	{ .name = "uprobe",
	  .group = GROUP_ATTACH,
	  .lost = "probes on user functions",
	  .fix = "a kernel with CONFIG_UPROBE_EVENTS",
	  .needs = NEEDS_UPROBE,
	  .try = try_uprobe },
	{ .name = "uprobe_multi",
	  .group = GROUP_ATTACH,
	  .lost = "thousands of user functions at once; they are attached one by one",
	  .fix = "Linux 6.6 or newer with CONFIG_UPROBES",
	  .needs = NEEDS_TRACING,
	  .try = try_uprobe_multi },
	{ .name = "USDT semaphores",
	  .group = GROUP_ATTACH,
	  .lost = "static probes that are switched on by a counter (python, java)",
	  .fix = "Linux 4.20 or newer with CONFIG_UPROBE_EVENTS",
	  .needs = NEEDS_UPROBE,
	  .try = try_usdt },
	{ .name = "iterators",
	  .group = GROUP_ATTACH,
	  .lost = "snapshots of all threads and mappings in one call; /proc is read",
	  .fix = "Linux 5.8 or newer with BTF",
	  .needs = NEEDS_TRACING,
	  .try = try_iterator },
	{ 0 },
};
