/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows about perf_event_open(2). */
#include "host/probes.h"

#include "host/machine.h"

#include <sys/mman.h>

static int open_simple(u32 type, u64 config, int pid, int cpu, bool user_only)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.exclude_kernel = user_only;
	attr.exclude_hv = user_only;
	return perfsys_open(&attr, pid, cpu, -1, 0);
}

static int first_cpu(void)
{
	range_list online = { 0 };
	int cpu = 0;

	if (machine_online(&online, NULL) == 0 && online.len > 0)
		cpu = (int)online.items[0].first;
	vec_release(&online);
	return cpu;
}

static int try_software(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_close_ int wide = -1, own = -1;

	(void)ctx;
	(void)p;
	wide = open_simple(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, -1, first_cpu(), false);
	if (wide >= 0)
		return probe_works(res, "every CPU, user and kernel");
	own = open_simple(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, -1, true);
	if (own < 0)
		return own;
	probe_partly(res, "own processes only, not the whole machine");
	probe_fix(res, "sysctl kernel.perf_event_paranoid=0, or setcap cap_perfmon+ep fathom");
	return 0;
}

static int try_hardware(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_close_ int fd = -1;
	u64 cycles = 0;

	(void)p;
	fd = open_simple(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, -1,
			 !caps_allow(ctx->caps, NEEDS_PERF));
	if (fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV)
		return probe_missing(res, "no PMU here (%s), as in many guests",
				     strerrorname_np(-fd));
	if (fd < 0)
		return fd;
	for (u32 i = 0; i < 10000; i++)
		__asm__ volatile("" ::: "memory");
	if (read(fd, &cycles, sizeof(cycles)) != (ssize_t)sizeof(cycles))
		return -errno;
	if (cycles == 0)
		return probe_partly(res, "cycles open but do not count");
	return probe_works(res, "cycles are counted");
}

/* -1 allows all, 0 no raw tracepoints, 1 no whole CPUs, 2 no kernel, 3 (Debian) nothing. */
static int try_paranoid(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	static const char *const limits[] = { "no raw tracepoint data", "own processes only",
					      "own processes, user side only" };
	s64 level;
	int r = machine_sysctl("kernel/perf_event_paranoid", &level);

	(void)p;
	if (r < 0)
		return probe_missing(res, "no perf events in this kernel");
	if (caps_allow(ctx->caps, NEEDS_PERF))
		return probe_works(res, "%lld, which CAP_PERFMON overrides", (long long)level);
	if (level < 0)
		return probe_works(res, "%lld: everything is allowed", (long long)level);
	if (level < (s64)ARRAY_SIZE(limits))
		return probe_partly(res, "%lld: %s", (long long)level, limits[level]);
	return probe_missing(res, "%lld: nothing without CAP_PERFMON", (long long)level);
}

/* Rings are mapped memory that cannot be swapped, so there is a limit for users. */
static int try_buffers(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	enum { RING_PAGES = 513 };
	size_t size = (size_t)RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	_cleanup_close_ int fd = -1;
	void *ring;

	(void)p;
	fd = open_simple(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, -1,
			 !caps_allow(ctx->caps, NEEDS_PERF));
	if (fd < 0)
		return fd;
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED && errno == EPERM)
		return probe_partly(res, "2 MB refused: limit of locked memory");
	if (ring == MAP_FAILED)
		return -errno;
	munmap(ring, size);
	return probe_works(res, "2 MB per CPU");
}

static int try_breakpoint(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	static volatile u32 watched;
	struct perf_event_attr attr;
	_cleanup_close_ int fd = -1;
	u64 hits = 0;

	(void)ctx;
	(void)p;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = 2; /* HW_BREAKPOINT_W */
	attr.bp_addr = (u64)(uintptr_t)&watched;
	attr.bp_len = 4;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = perfsys_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	watched = 1;
	if (read(fd, &hits, sizeof(hits)) != (ssize_t)sizeof(hits))
		return -errno;
	if (hits == 0)
		return probe_partly(res, "opens, but a write was not seen");
	return probe_works(res, "a write was seen");
}

const struct probe probes_perf[] = {
	{ .name = "perf software events",
	  .group = GROUP_PERF,
	  .lost = "CPU profiles by sampling",
	  .fix = "a kernel with CONFIG_PERF_EVENTS",
	  .needs = NEEDS_PERF,
	  .try = try_software },
	{ .name = "hardware PMU",
	  .group = GROUP_PERF,
	  .lost = "cycles, instructions, cache misses; cpu-clock is used for profiles",
	  .fix = "run on bare metal, or give the guest a virtual PMU",
	  .needs = NEEDS_PERF,
	  .try = try_hardware },
	{ .name = "perf_event_paranoid",
	  .group = GROUP_PERF,
	  .lost = "profiles of other users, the kernel, the whole machine",
	  .fix = "sysctl kernel.perf_event_paranoid=-1, or setcap cap_perfmon+ep fathom",
	  .try = try_paranoid },
	{ .name = "perf buffers",
	  .group = GROUP_PERF,
	  .lost = "large rings: samples may be lost at high rates",
	  .fix = "setcap cap_ipc_lock+ep fathom, or raise kernel.perf_event_mlock_kb",
	  .needs = NEEDS_PERF,
	  .try = try_buffers },
	{ .name = "hardware breakpoints",
	  .group = GROUP_PERF,
	  .lost = "watchpoints on memory",
	  .fix = "a CPU and hypervisor with debug registers",
	  .needs = NEEDS_PERF,
	  .try = try_breakpoint },
	{ 0 },
};
