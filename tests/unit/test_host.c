/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers of /proc and friends, fed with text: what processes can do to their names, cut files. */
#include "harness.h"

#include "host/caps.h"
#include "host/cgroup.h"
#include "host/features.h"
#include "host/machine.h"
#include "host/numa_maps.h"
#include "host/pace.h"
#include "host/procfs.h"
#include "host/users.h"

static int parse_stat(const char *text, struct proc_stat *st)
{
	return procfs_parse_stat(text, strlen(text), st);
}

TEST("stat: a name with blanks and parentheses ends at the last one")
{
	struct proc_stat st;

	CHECK_EQ(parse_stat("42 (a) b (c)) S 1 2 3 0 -1 4194560 10 0 11 0 100 200 0 0 20 -5 3 0 "
			    "777 1048576 99 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 50 2 "
			    "7 0 0\n",
			    &st),
		 0);
	CHECK_EQ(st.pid, 42);
	CHECK_STR(st.comm, "a) b (c)");
	CHECK_EQ(st.state, 'S');
	CHECK_EQ(st.ppid, 1);
	CHECK_EQ(st.minflt, 10);
	CHECK_EQ(st.majflt, 11);
	CHECK_EQ(st.utime, 100);
	CHECK_EQ(st.stime, 200);
	CHECK_EQ(st.nice, -5);
	CHECK_EQ(st.threads, 3);
	CHECK_EQ(st.start, 777);
	CHECK_EQ(st.rss, 99);
	CHECK_EQ(st.cpu, 1);
	CHECK_EQ(st.rt_priority, 50);
	CHECK_EQ(st.policy, 2);
	CHECK_EQ(st.block_delay, 7);
}

TEST("stat: every cut of a line is refused or read, never more than is there")
{
	static const char line[] =
		"7 (x) R 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20";
	struct proc_stat st = { .pid = 99 };
	size_t full = sizeof(line) - 1;

	for (size_t n = 0; n < full; n++) {
		_cleanup_free_ char *copy = xmemdup(line, n ? n : 1);
		int r = procfs_parse_stat(copy, n, &st);

		CHECK(r == 0 || r == -EBADMSG);
		if (r < 0 && n < 40)
			CHECK_EQ(st.pid, 99);
	}
	CHECK_EQ(procfs_parse_stat(line, full, &st), 0);
	CHECK_EQ(parse_stat(")(", &st), -EBADMSG);
	CHECK_EQ(parse_stat("x (y) S 1", &st), -EBADMSG);
}

TEST("stat: a name longer than the array is cut")
{
	struct proc_stat st;
	char text[400];
	int n = snprintf(text, sizeof(text), "1 (%0100d) S", 0);

	for (int i = 0; i < 40; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %d", i);
	CHECK_EQ(parse_stat(text, &st), 0);
	CHECK_EQ(strlen(st.comm), PROCFS_COMM - 1);
}

TEST("status: ids, namespaces, capabilities and memory")
{
	static const char text[] = "Name:\tUid:\nTgid:\t10\nUid:\t1000\t1001\t1002\t1003\n"
				   "Gid:\t5\t6\t7\t8\nNSpid:\t10\t3\t1\nVmRSS:\t     12 kB\n"
				   "CapEff:\t000001fffeffffff\nvoluntary_ctxt_switches:\t8\n"
				   "nonvoluntary_ctxt_switches:\t9";
	struct proc_status st;

	procfs_parse_status(text, sizeof(text) - 1, &st);
	CHECK_EQ(st.tgid, 10);
	CHECK_EQ(st.uid, 1000);
	CHECK_EQ(st.euid, 1001);
	CHECK_EQ(st.gid, 5);
	CHECK_EQ(st.ns_pid, 1);
	CHECK_EQ(st.rss_bytes, 12 * 1024);
	CHECK_EQ(st.cap_effective, 0x1fffeffffffull);
	CHECK_EQ(st.switches_voluntary, 8);
	CHECK_EQ(st.switches_forced, 9);
	procfs_parse_status("garbage", 7, &st);
	CHECK_EQ(st.uid, 0);
}

TEST("maps: lines with and without a path, bad ones in between")
{
	static const char text[] =
		"55d0a000-55d0b000 r-xp 00001000 fd:01 1234      /usr/bin/with space (deleted)\n"
		"not a mapping\n"
		"7ffe0000-7ffe2000 rw-s 00000000 00:00 0\n"
		"2000-1000 r--p 0 00:00 0\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  "
		"[vsyscall]";
	const char *s = text, *end = text + sizeof(text) - 1;
	struct proc_map m;

	CHECK_EQ(procfs_next_map(&s, end, &m), 0);
	CHECK_EQ(m.start, 0x55d0a000);
	CHECK_EQ(m.end, 0x55d0b000);
	CHECK_EQ(m.offset, 0x1000);
	CHECK_EQ(m.inode, 1234);
	CHECK_EQ(m.dev_major, 0xfd);
	CHECK_EQ(m.dev_minor, 1);
	CHECK_EQ(m.flags, PROC_MAP_READ | PROC_MAP_EXEC);
	CHECK_EQ(m.path_len, strlen("/usr/bin/with space (deleted)"));
	CHECK_EQ(procfs_next_map(&s, end, &m), -EBADMSG);
	CHECK_EQ(procfs_next_map(&s, end, &m), 0);
	CHECK_EQ(m.flags, PROC_MAP_READ | PROC_MAP_WRITE | PROC_MAP_SHARED);
	CHECK_EQ(m.path_len, 0);
	CHECK_EQ(procfs_next_map(&s, end, &m), -EBADMSG);
	CHECK_EQ(procfs_next_map(&s, end, &m), 0);
	CHECK_EQ(m.end, 0xffffffffff601000ull);
	CHECK_MEM(m.path, "[vsyscall]", 10);
	CHECK_EQ(procfs_next_map(&s, end, &m), -ENODATA);
}

TEST("maps: the mapping of a function of this program comes from its file")
{
	struct proc_map m;

	CHECK_EQ(procfs_own_map((u64)(uintptr_t)parse_stat, &m), 0);
	CHECK(m.flags & PROC_MAP_EXEC);
	CHECK(m.inode != 0);
	CHECK_EQ(procfs_own_map(0, &m), -ENOENT);
}

TEST("this process is in the lists and has its own name")
{
	pid_list list = { 0 };
	struct proc_status st;
	struct proc_stat stat;
	char comm[PROCFS_COMM];
	bool found = false;

	CHECK_EQ(procfs_pids(&list, NULL), 0);
	vec_each(pid, &list)
		found |= *pid == (u32)getpid();
	CHECK(found);
	CHECK_EQ(procfs_tids((u32)getpid(), &list, NULL), 0);
	CHECK_EQ(list.len, 1);
	vec_release(&list);
	CHECK_EQ(procfs_status((u32)getpid(), &st), 0);
	CHECK_EQ(st.tgid, getpid());
	CHECK_EQ(st.cap_effective, caps_effective());
	CHECK_EQ(procfs_stat((u32)getpid(), 0, &stat), 0);
	CHECK_EQ(procfs_comm((u32)getpid(), 0, comm), 0);
	CHECK_STR(stat.comm, comm);
	CHECK_EQ(procfs_comm(UINT32_MAX, 0, comm), -ESRCH);
}

TEST("caps: names, and what contains what")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	caps_list(&b, CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_BPF), ",", true);
	CHECK_STR(buf_str(&b), "cap_perfmon,cap_bpf");
	buf_reset(&b);
	caps_list(&b, CAP_BIT(63), ",", false);
	CHECK_STR(buf_str(&b), "CAP_63");
	CHECK(caps_allow(CAP_BIT(CAP_SYS_ADMIN), CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON)));
	CHECK(!caps_allow(CAP_BIT(CAP_SYS_ADMIN), CAP_BIT(CAP_SYSLOG)));
	CHECK(!caps_allow(CAP_BIT(CAP_BPF), CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON)));
	CHECK(caps_allow(0, 0));
}

TEST("cgroup: mounts of both versions, escaped blanks, cut lines")
{
	static const char text[] =
		"20 1 8:1 / / rw - ext4 /dev/sda rw\n"
		"30 20 0:26 / /sys/fs/my\\040cgroup rw,nosuid shared:4 - cgroup2 none rw\n"
		"31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n"
		"32 20 0:28 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu,cpuacct\n"
		"33 20 0:29 / /second rw - cgroup2 none rw\n"
		"34 20 0:30 / /x rw - cgroup2\n";
	struct cgroup_mounts m;

	cgroup_mounts_parse(text, sizeof(text) - 1, &m);
	CHECK_STR(m.v2, "/sys/fs/my cgroup");
	CHECK_STR(m.v1_memory, "/sys/fs/cgroup/memory");
	CHECK_STR(m.v1_cpu, "/sys/fs/cgroup/cpu");
	CHECK_EQ(m.v1_count, 2);
	cgroup_mounts_release(&m);
	for (size_t n = 0; n < sizeof(text); n++) {
		_cleanup_free_ char *copy = xmemdup(text, n ? n : 1);

		cgroup_mounts_parse(copy, n, &m);
		cgroup_mounts_release(&m);
	}
}

TEST("cgroup: the line of version 2 is the one that counts")
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	static const char both[] = "4:memory:/a\n0::/user.slice/b\n";

	CHECK_EQ(cgroup_parse(both, sizeof(both) - 1, &path), 0);
	CHECK_STR(buf_str(&path), "/user.slice/b");
	CHECK_EQ(cgroup_parse("4:memory:/a\n", 12, &path), -ENOENT);
	CHECK_EQ(cgroup_parse("0::", 3, &path), -ENOENT);
}

TEST("machine: values of os-release and of lines with colons")
{
	_cleanup_buf_ struct buf v = BUF_INIT;
	static const char os[] = "NAME=x\nPRETTY_NAME=\"Debian 12\"\nPRETTY=no";
	static const char cpu[] = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Some CPU\n";

	CHECK_EQ(machine_os_release(os, sizeof(os) - 1, "PRETTY_NAME", &v), 0);
	CHECK_STR(buf_str(&v), "Debian 12");
	CHECK_EQ(machine_os_release(os, sizeof(os) - 1, "NAME", &v), 0);
	CHECK_STR(buf_str(&v), "x");
	CHECK_EQ(machine_os_release(os, sizeof(os) - 1, "ID", &v), -ENOENT);
	CHECK_EQ(machine_colon_line(cpu, sizeof(cpu) - 1, "model name", &v), 0);
	CHECK_STR(buf_str(&v), "Some CPU");
	CHECK_EQ(machine_colon_line(cpu, sizeof(cpu) - 1, "model", &v), 0);
	CHECK_STR(buf_str(&v), "1");
	CHECK_EQ(machine_colon_line(cpu, sizeof(cpu) - 1, "mod", &v), -ENOENT);
}

TEST("machine: this one has a kernel, a CPU and memory")
{
	struct host_machine m;

	host_machine_init(&m);
	CHECK_EQ(host_machine_read(&m, NULL), 0);
	CHECK(m.release[0] >= '1' && m.release[0] <= '9');
	CHECK(ranges_count(&m.online) >= 1);
	CHECK(m.memory > 1 << 20);
	host_machine_release(&m);
}

TEST("features: names are unique, every row says what is lost")
{
	const struct probe *p;
	size_t n = 0;

	for (; (p = features_at(n)); n++) {
		CHECK(features_find(p->name) == p);
		CHECK(p->lost && *p->lost);
		CHECK(p->group && *p->group);
		CHECK(p->try);
	}
	CHECK(n > 40);
	CHECK(features_find("no such thing") == NULL);
}

TEST("features: every trial ends with a status and a reason, and leaves no descriptor")
{
	struct probe_ctx ctx;
	const struct probe *p;
	int before = dup(0), after;

	CHECK(before >= 0);
	close(before);
	probe_ctx_init(&ctx);
	for (size_t i = 0; (p = features_at(i)); i++) {
		struct probe_result res;

		features_try(&ctx, p, &res);
		if (res.status != FEATURE_WORKS && !res.detail[0])
			FAIL("'%s' gives no reason", p->name);
		if (res.status == FEATURE_MISSING && !res.fix[0])
			FAIL("'%s' gives no remedy", p->name);
	}
	probe_ctx_release(&ctx);
	after = dup(0);
	CHECK_EQ(after, before);
	close(after);
}

TEST("pace: the rate of a timer leaves time for others")
{
	CHECK_EQ(pace_hz(10000, 25, 1), 25000);
	CHECK_EQ(pace_hz(10000, 25, 2), 12500);
	CHECK_EQ(pace_hz(10000, 0, 1), 50000); /* the kernel's word for no limit */
	CHECK_EQ(pace_hz(10000, 100, 1), 50000);
	CHECK_EQ(pace_hz(1000000, 25, 1), PACE_FREE_HZ);
	CHECK_EQ(pace_hz(0, 25, 0), 250000000);
	CHECK_EQ(pace_hz(10000, 25, 1 << 20), 1);
}

TEST("pace: only timers that sample fast are slowed down")
{
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000,
	};
	struct perf_event_attr attr = clock;
	struct pace pace;

	CHECK(pace_limit(&attr, 1, &pace));
	CHECK_EQ(pace.asked_hz, 1000000);
	CHECK(pace.hz >= PACE_FREE_HZ && pace.hz <= 50000);
	CHECK_EQ(attr.sample_period, NSEC_PER_SEC / pace.hz);
	attr = clock;
	attr.freq = 1;
	attr.sample_freq = 100000;
	CHECK(pace_limit(&attr, 1, &pace));
	CHECK_EQ(attr.sample_freq, pace.hz);
	attr.sample_freq = PACE_FREE_HZ;
	CHECK(!pace_limit(&attr, 1, &pace));
	CHECK(pace_limit(&attr, 100, &pace) && attr.sample_freq < PACE_FREE_HZ);
	attr = clock;
	attr.sample_period = 0; /* counts only */
	CHECK(!pace_limit(&attr, 1, &pace));
	attr = clock;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	CHECK(!pace_limit(&attr, 1, &pace));
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	CHECK(!pace_limit(&attr, 1, &pace));
}

TEST("users: names and numbers both ways, and lines that are none")
{
	static const char text[] = "root:x:0:0:root:/root:/bin/sh\nbroken\n:x:5:\nx:y\n"
				   "also:x:0:0::/:\nbig:x:99999999999:\nlast:x:1000:1";
	struct users u = USERS_INIT;
	u32 id = 7;

	users_parse(&u, text, strlen(text));
	CHECK_STR(users_name(&u, 0), "root");
	CHECK_STR(users_name(&u, 1000), "last");
	CHECK(!users_name(&u, 5));
	CHECK_EQ(users_id(&u, "also", &id, NULL), 0);
	CHECK_EQ(id, 0);
	CHECK_EQ(users_id(&u, "4242", &id, NULL), 0);
	CHECK_EQ(id, 4242);
	CHECK_EQ(users_id(&u, "big", &id, NULL), -ENOENT);
	users_release(&u);
}

TEST("numa_maps: pages of each node by what they are")
{
	static const char text[] =
		"55 default file=/bin/x mapped=3 N0=3 kernelpagesize_kB=4\n"
		"56 default heap anon=5 dirty=5 N1=5 kernelpagesize_kB=4\n"
		"7f default huge anon=1 N0=1 N9=1 kernelpagesize_kB=2048\n"
		"7f default stack anon=2 N1=2 N=3 Nx=1 N1= kernelpagesize_kB=4\n";
	u64 sums[2 * NUMA_PARTS] = { 0 };

	CHECK_EQ(numa_maps_parse(text, strlen(text), sums, 2), 2 << 20);
	CHECK_EQ(sums[NUMA_PRIVATE], 3 * 4096);
	CHECK_EQ(sums[NUMA_HUGE], 2 << 20);
	CHECK_EQ(sums[NUMA_PARTS + NUMA_HEAP], 5 * 4096);
	CHECK_EQ(sums[NUMA_PARTS + NUMA_STACK], 2 * 4096);
}
