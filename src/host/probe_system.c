/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows about the rest of the system, and about what this process may do. */
#include "host/probes.h"

#include "base/io.h"
#include "host/cgroup.h"
#include "host/machine.h"
#include "host/taskstats.h"

#include <fcntl.h>
#include <sys/syscall.h>

enum { MSR_TSC = 0x10 };

static int try_cgroup(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts m = CGROUP_MOUNTS_INIT;
	_cleanup_buf_ struct buf group = BUF_INIT;
	u64 id;
	int r;

	(void)ctx;
	(void)p;
	r = cgroup_mounts_read(&m, NULL);
	if (r < 0)
		return r;
	if (!m.v2)
		return probe_missing(res, m.v1_count ? "only version 1 is mounted" : "not mounted");
	r = cgroup_id(m.v2, &id, NULL);
	if (r < 0)
		return r;
	if (cgroup_of_pid((u32)getpid(), &group) < 0)
		return probe_partly(res, "%s, but processes are in no group of it", m.v2);
	return probe_works(res, "%s%s", m.v2, m.v1_count ? ", version 1 beside it" : "");
}

static int try_psi(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_file("/proc/pressure/cpu", 4096, &text, NULL);

	(void)ctx;
	(void)p;
	if (r == -ENOENT)
		return probe_missing(res, "not compiled into this kernel");
	if (r == -EOPNOTSUPP) {
		probe_missing(res, "switched off");
		probe_fix(res, "boot with psi=1");
		return 0;
	}
	if (r < 0)
		return r;
	if (!starts_with(buf_str(&text), "some "))
		return probe_partly(res, "/proc/pressure/cpu has an unknown form");
	return probe_works(res, "/proc/pressure");
}

static int try_taskstats(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	struct taskstats_socket s;
	struct taskstats stats;
	s64 delays;
	int r = taskstats_open(&s);

	(void)ctx;
	(void)p;
	if (r == -ENOENT)
		return probe_missing(res, "not compiled into this kernel");
	if (r < 0)
		return r;
	r = taskstats_read(&s, (u32)syscall(SYS_gettid), &stats);
	taskstats_close(&s);
	if (r < 0)
		return r;
	if (machine_sysctl("kernel/task_delayacct", &delays) == 0 && delays == 0) {
		probe_partly(res, "answers, but delays are not accounted");
		probe_fix(res, "sysctl kernel.task_delayacct=1");
		return 0;
	}
	return probe_works(res, "version %u", stats.version);
}

static int try_schedstat(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_close_ int fd = open("/proc/schedstat", O_RDONLY | O_CLOEXEC);

	(void)ctx;
	(void)p;
	if (fd < 0)
		return probe_missing(res, "no /proc/schedstat");
	return probe_works(res, "/proc/schedstat");
}

static int try_msr(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_close_ int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	u64 tsc;

	(void)ctx;
	(void)p;
	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		return probe_missing(res, "no /dev/cpu/0/msr");
	if (fd < 0)
		return -errno;
	if (pread(fd, &tsc, sizeof(tsc), MSR_TSC) != (ssize_t)sizeof(tsc))
		return -errno;
	return probe_works(res, "read from CPU 0");
}

static int try_lockdown(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	(void)ctx;
	(void)p;
	switch (machine_lockdown()) {
	case LOCKDOWN_NONE: return probe_works(res, "none");
	case LOCKDOWN_INTEGRITY: return probe_works(res, "integrity: reading is allowed");
	case LOCKDOWN_CONFIDENTIALITY:
		return probe_missing(res, "confidentiality: kernel memory is not shown");
	case LOCKDOWN_UNKNOWN: break;
	}
	return probe_unknown(res, "securityfs cannot be read");
}

const struct probe probes_system[] = {
	{ .name = "cgroup v2",
	  .group = GROUP_SYSTEM,
	  .lost = "-G CGROUP, numbers per container",
	  .fix = "mount -t cgroup2 none /sys/fs/cgroup",
	  .try = try_cgroup },
	{ .name = "PSI",
	  .group = GROUP_SYSTEM,
	  .lost = "share of time in which work waited for CPU, memory or I/O",
	  .fix = "a kernel with CONFIG_PSI",
	  .try = try_psi },
	{ .name = "taskstats",
	  .group = GROUP_SYSTEM,
	  .lost = "delays per thread as the kernel accounts them",
	  .fix = "a kernel with CONFIG_TASKSTATS and CONFIG_TASK_DELAY_ACCT",
	  .needs = CAP_BIT(CAP_NET_ADMIN),
	  .try = try_taskstats },
	{ .name = "schedstat",
	  .group = GROUP_SYSTEM,
	  .lost = "run queue delays from counters; scheduler events are used",
	  .fix = "a kernel with CONFIG_SCHEDSTATS",
	  .try = try_schedstat },
	{ .name = "MSR",
	  .group = GROUP_SYSTEM,
	  .lost = "CPU frequency, temperature and power from the CPU itself",
	  .fix = "modprobe msr",
	  .needs = CAP_BIT(CAP_SYS_RAWIO) | CAP_BIT(CAP_DAC_READ_SEARCH),
	  .try = try_msr },
	{ .name = "lockdown",
	  .group = GROUP_SYSTEM,
	  .lost = "reading kernel memory: most tracing programs",
	  .fix = "boot with lockdown=none, if that is allowed here",
	  .try = try_lockdown },
	{ 0 },
};

/* A capability is held or not; the row's needs name it. */
static int try_capability(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	if (ctx->caps & p->needs)
		return probe_works(res, "held");
	if (caps_allow(ctx->caps, p->needs))
		return probe_works(res, "contained in CAP_SYS_ADMIN");
	probe_missing(res, "not held, needed for %s", p->lost);
	probe_fix_caps(res, p->needs);
	return 0;
}

#define CAPABILITY(cap, what)                                                                 \
	{                                                                                     \
		.name = #cap, .group = GROUP_PRIVILEGES, .lost = what, .needs = CAP_BIT(cap), \
		.try = try_capability                                                         \
	}

const struct probe probes_privileges[] = {
	CAPABILITY(CAP_BPF, "BPF programs and maps"),
	CAPABILITY(CAP_PERFMON, "the whole machine, kernel stacks, tracing programs"),
	CAPABILITY(CAP_SYS_ADMIN, "uprobes one by one, tracefs where it is not mounted"),
	CAPABILITY(CAP_SYS_PTRACE, "mappings and memory of other users' processes"),
	CAPABILITY(CAP_SYSLOG, "kernel addresses, so names of kernel functions"),
	CAPABILITY(CAP_DAC_READ_SEARCH, "tracefs, programs and maps of other users"),
	CAPABILITY(CAP_SYS_RESOURCE, "more locked memory, which matters before 5.11"),
	CAPABILITY(CAP_IPC_LOCK, "large perf buffers"),
	CAPABILITY(CAP_NET_ADMIN, "taskstats"),
	{ 0 },
};
