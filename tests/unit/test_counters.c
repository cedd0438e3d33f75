/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"
#include "counters/counters.h"
#include "counters/ring.h"
#include "counters/track.h"
#include "unit/harness.h"

#include <sys/stat.h>

/* A machine of files: proc and sys below the test's folder. */
static void put_file(const char *path, const char *text)
{
	_cleanup_buf_ struct buf full = BUF_INIT, dir = BUF_INIT;
	_cleanup_fclose_ FILE *f = NULL;

	buf_addf(&full, "%s/%s", test_tmpdir(), path);
	buf_addstr(&dir, buf_str(&full));
	*strrchr(dir.data, '/') = '\0';
	CHECK_EQ(test_make_dirs(dir.data), 0);
	/* in its place: the reader keeps files open, as those of the kernel allow */
	f = fopen(buf_str(&full), "w");
	CHECK(f != NULL);
	CHECK(fputs(text, f) >= 0);
}

struct machine {
	struct counters *c;
	struct snapshot before, after;
	struct delta d;
};

static void look(struct machine *m)
{
	struct snapshot old = m->before;

	m->before = m->after;
	m->after = old;
	counters_sweep(m->c, &m->after);
	/* a second, whatever the machine did meanwhile */
	m->after.mono = m->before.mono + NSEC_PER_SEC;
	delta_init(&m->d, counters_set(m->c), &m->before, &m->after);
}

static void machine_open(struct machine *m, const char *want)
{
	*m = (struct machine){ 0 };
	CHECK_EQ(counters_new(&m->c, test_tmpdir(), NULL), 0);
	if (want)
		CHECK_EQ(counters_want(m->c, want, NULL), 0);
	else
		counters_want_all(m->c, true);
}

static void machine_close(struct machine *m)
{
	snapshot_release(&m->before);
	snapshot_release(&m->after);
	counters_free(m->c);
}

/* -1: not known. */
static double eval(struct machine *m, const char *formula, const char *instance)
{
	struct counter_set *set = counters_set(m->c);
	struct formula f;
	double v;

	CHECK_EQ(formula_parse(&f, set, formula, NULL), 0);
	return formula_eval(&f, &m->d, *instance ? intern_str(&set->instances, instance) : 0, &v)
		       ? v
		       : -1;
}

TEST("every formula of every table can be computed")
{
	struct counters *c = NULL;
	struct err e = ERR_INIT;

	if (counters_new(&c, "/", &e) < 0)
		FAIL("%s", e.what);
	vec_each(row, &counters_set(c)->counters) {
		CHECK(row->row->name && row->row->meaning && row->row->unit);
		CHECK_EQ(row->row->kind == RATIO, row->row->formula != NULL);
		CHECK_EQ(row->row->kind == RATIO, row->formula != NULL);
	}
	counters_free(c);
}

TEST("names of counters are unique")
{
	size_t n, rows = 0;
	const struct counter_source *const *sources = counter_sources(&n);
	struct counter_set set;

	counter_set_init(&set);
	counter_set_add_tables(&set);
	for (size_t i = 0; i < n; i++)
		rows += sources[i]->n_rows;
	CHECK_EQ(set.counters.len, rows);
	counter_set_release(&set);
}

TEST("rates of cpu time")
{
	struct machine m;

	put_file("proc/stat", "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\n"
			      "intr 1000 1 2 3\nctxt 500\nprocs_running 3\nprocs_blocked 1\n");
	machine_open(&m, "cpu.user + system.interrupts");
	look(&m);
	put_file("proc/stat", "cpu  150 0 70 820 60 0 0 0 0 0\ncpu0 150 0 70 820 60 0 0 0 0 0\n"
			      "intr 1500 1 2 3\nctxt 900\nprocs_running 4\nprocs_blocked 0\n");
	look(&m);
	CHECK_NEAR(eval(&m, "cpu.user_percent", "all"), 50, 0.001);
	CHECK_NEAR(eval(&m, "cpu.busy_percent", "0"), 70, 0.001);
	CHECK_NEAR(eval(&m, "rate(system.switches)", ""), 400, 0.001);
	CHECK_NEAR(eval(&m, "system.running", ""), 4, 0.001);
	/* as a whole: since the files began to count */
	delta_init(&m.d, counters_set(m.c), NULL, &m.after);
	CHECK_NEAR(eval(&m, "system.interrupts", ""), 1500, 0.001);
	machine_close(&m);
}

TEST("a counter that goes back is clamped, one of 32 bits wraps")
{
	struct machine m;

	put_file("proc/diskstats", "8 0 sda 100 0 800 4294967290 10 0 80 5 0 9 9\n");
	machine_open(&m, "disk.reads");
	look(&m);
	put_file("proc/diskstats", "8 0 sda 90 0 900 4 20 0 80 5 0 9 9\n");
	look(&m);
	CHECK_NEAR(eval(&m, "disk.reads", "sda"), 0, 0.001);
	CHECK_NEAR(eval(&m, "disk.read_bytes", "sda"), 51200, 0.001);
	CHECK_NEAR(eval(&m, "disk.read_time", "sda"), 10e6, 0.001);
	CHECK_NEAR(eval(&m, "disk.writes", "sda"), 10, 0.001);
	/* this kernel has no discards, and that is not zero */
	CHECK_NEAR(eval(&m, "disk.discards", "sda"), -1, 0.001);
	CHECK_NEAR(eval(&m, "opt(disk.discards)", "sda"), 0, 0.001);
	machine_close(&m);
}

TEST("disks, CPUs and fields that come and go")
{
	struct machine m;

	put_file("proc/diskstats",
		 "8 0 sda 1 0 8 4 1 0 8 5 0 9 9\n8 16 sdb 1 0 8 4 1 0 8 5 0 9 9\n");
	put_file("proc/stat", "cpu  1 1 1 1 1 1 1 1 1 1 77\ncpu0 1 1 1 1\nctxt x\nnews 5\n");
	machine_open(&m, NULL);
	look(&m);
	put_file("proc/diskstats",
		 "8 16 sdb 3 0 8 4 1 0 8 5 0 9 9\n8 32 sdc 9 0 8 4 1 0 8 5 0 9 9\n");
	put_file("proc/stat", "cpu  2 1 1 1 1 1 1 1 1 1 78\ncpu7 1 1 1 1\nnews 8\n");
	look(&m);
	CHECK_NEAR(eval(&m, "disk.reads", "sda"), -1, 0.001);
	CHECK_NEAR(eval(&m, "disk.reads", "sdb"), 2, 0.001);
	CHECK_NEAR(eval(&m, "disk.reads", "sdc"), -1, 0.001);
	CHECK_NEAR(eval(&m, "sum(disk.reads)", ""), 2, 0.001);
	CHECK_NEAR(eval(&m, "cpu.user", "7"), -1, 0.001);
	CHECK_NEAR(eval(&m, "cpu.total", "0"), -1, 0.001);
	CHECK_NEAR(eval(&m, "system.switches", ""), -1, 0.001);
	/* the kernel counts something that no table has */
	CHECK_NEAR(eval(&m, "system.news", ""), 3, 0.001);
	CHECK_NEAR(eval(&m, "system.column11", "all"), 1, 0.001);
	machine_close(&m);
}

TEST("the forms of files")
{
	struct machine m;

	put_file("proc/net/snmp", "Tcp: A RetransSegs\nTcp: 1 7\nUdp: A\nTcp: 3\nodd\n");
	put_file("proc/net/dev", "Inter-|\n face |bytes\n  lo: 10 2 0 0 0 0 0 0 20 3 0 0 0 0 0 0\n"
				 "eth0:5 1\n");
	put_file("proc/interrupts",
		 "           CPU0       CPU2       \n 24:  1   2  IO-APIC   5-edge   ACPI:Ged\n"
		 "LOC:  7 8   Local timer interrupts\nERR:   9\n");
	put_file("proc/pressure/io", "some avg10=3.60 avg60=1.62 avg300=1.04 total=913325824000\n"
				     "full avg10=0.08 avg60=0.18 avg300=0.49 total=10387609\n");
	put_file("proc/loadavg", "5.26 2.32 1.02 11/136 7066\n");
	put_file("proc/meminfo",
		 "MemTotal: 1000 kB\nHugePages_Total: 3\nNew: 4 kB\nBad: x kB\n:\n");
	put_file("proc/net/sockstat", "sockets: used 16\nTCP: inuse 1 orphan 2\n");
	machine_open(&m, NULL);
	look(&m);
	look(&m);
	delta_init(&m.d, counters_set(m.c), NULL, &m.after);
	CHECK_NEAR(eval(&m, "tcp.RetransSegs", ""), 7, 0.001);
	CHECK_NEAR(eval(&m, "tcp.A", ""), 1, 0.001);
	CHECK_NEAR(eval(&m, "net.tx_bytes", "lo"), 20, 0.001);
	CHECK_NEAR(eval(&m, "net.rx_bytes", "eth0"), 5, 0.001);
	CHECK_NEAR(eval(&m, "net.tx_bytes", "eth0"), -1, 0.001);
	CHECK_NEAR(eval(&m, "irq.count", "24 ACPI:Ged/2"), 2, 0.001);
	CHECK_NEAR(eval(&m, "irq.count", "LOC Local timer interrupts/0"), 7, 0.001);
	CHECK_NEAR(eval(&m, "irq.count", "ERR/all"), 9, 0.001);
	CHECK_NEAR(eval(&m, "pressure.io.some.avg10", ""), 3.6, 0.001);
	CHECK_NEAR(eval(&m, "pressure.io.full.total", ""), 10387609e3, 1);
	CHECK_NEAR(eval(&m, "pressure.io.some.total", ""), 913325824000e3, 1);
	CHECK_NEAR(eval(&m, "pressure.cpu.some.avg10", ""), -1, 0.001);
	CHECK_NEAR(eval(&m, "load.5", ""), 2.32, 0.001);
	CHECK_NEAR(eval(&m, "load.tasks", ""), 136, 0.001);
	CHECK_NEAR(eval(&m, "mem.total", ""), 1024000, 0.001);
	CHECK_NEAR(eval(&m, "mem.huge_total", ""), 3, 0.001);
	CHECK_NEAR(eval(&m, "sock.tcp_orphan", ""), 2, 0.001);
	machine_close(&m);
}

TEST("a masked /proc gives reasons, not figures")
{
	struct machine m;
	size_t n, missing = 0;

	(void)counter_sources(&n);
	machine_open(&m, NULL);
	look(&m);
	for (u32 i = 0; i < n; i++)
		missing += counters_why(m.c, i) == -ENOENT;
	CHECK(missing > 5);
	CHECK_NEAR(eval(&m, "mem.free", ""), -1, 0.001);
	machine_close(&m);
}

TEST("formulas")
{
	struct machine m;

	put_file("proc/loadavg", "6.00 2.00 1.00 1/2 3\n");
	machine_open(&m, NULL);
	look(&m);
	look(&m);
	CHECK_NEAR(eval(&m, "load.1 + load.5 * 2 - 1", ""), 9, 1e-9);
	CHECK_NEAR(eval(&m, "(load.1 + load.5) * 2 / 4", ""), 4, 1e-9);
	CHECK_NEAR(eval(&m, "load.1 / 0", ""), 0, 1e-9);
	CHECK_NEAR(eval(&m, "max(load.1, min(load.5, 1))", ""), 6, 1e-9);
	CHECK_NEAR(eval(&m, "rate(load.1) * seconds", ""), 6, 1e-9);
	machine_close(&m);
}

TEST("broken formulas are refused")
{
	static const char *const broken[] = { "",        "load.1 +",    "(load.1", "load.1 2",
					      "no.such", "rate(load.1", "max(1)",  "load.1{all",
					      "sum(1)",  "load.1 % 2" };
	struct counters *c = NULL;
	struct formula f;

	CHECK_EQ(counters_new(&c, "/", NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct err e = ERR_INIT;

		CHECK_EQ(formula_parse(&f, counters_set(c), broken[i], &e), -EINVAL);
		CHECK(e.what);
		err_release(&e);
	}
	counters_free(c);
}

TEST("a clock that is set and a machine that sleeps")
{
	struct snapshot a = { .mono = 1000, .boot = 1000, .wall = NSEC_PER_SEC * 100 };
	struct snapshot b = { .mono = 1000 + NSEC_PER_SEC,
			      .boot = 1000 + 61 * NSEC_PER_SEC,
			      .wall = NSEC_PER_SEC * 50 };
	struct counter_set set;
	struct delta d;

	counter_set_init(&set);
	delta_init(&d, &set, &a, &b);
	CHECK_NEAR(d.seconds, 1, 1e-9);
	CHECK_EQ(delta_suspended(&d), 60 * NSEC_PER_SEC);
	CHECK_EQ(delta_clock_step(&d), -(s64)(111 * NSEC_PER_SEC));
	counter_set_release(&set);
}

TEST("tables of the kernel")
{
	struct machine m;

	put_file("proc/slabinfo", "slabinfo - version: 2.1\n# name\n"
				  "dentry 10 20 192 21 1 : tunables 0 0 0 : slabdata 3 4 0\nx 1\n");
	put_file("proc/sys/fs/file-nr", "1080\t0\t2465780\n");
	put_file("proc/net/tcp",
		 "  sl  local_address rem_address   st\n"
		 "   0: 0100007F:1F90 00000000:0000 0A 0\n   1: a b 01 c\n   2: a\n");
	put_file("proc/net/softnet_stat", "0000000e 00000001 zz\n00002806 00000000 00000002 7\n");
	put_file("proc/schedstat", "version 15\ncpu0 1 0 3 4 5 6 700 800 9\ndomain0 x\n");
	put_file("sys/devices/system/node/node1/numastat", "numa_hit 7\nnuma_miss 2\n");
	put_file("sys/devices/system/node/node1/meminfo", "Node 1 MemFree:  5 kB\nNode 1 x\n");
	put_file("sys/devices/system/cpu/cpu3/cpuidle/state1/name", "C1\n");
	put_file("sys/devices/system/cpu/cpu3/cpuidle/state1/time", "42\n");
	put_file("sys/class/thermal/thermal_zone0/type", "x86_pkg\n");
	put_file("sys/class/thermal/thermal_zone0/temp", "45500\n");
	put_file("proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put_file("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\nnr_throttled 3\n");
	put_file("sys/fs/cgroup/a/b/memory.current", "4096\n");
	put_file("sys/fs/cgroup/a/b/memory.max", "max\n");
	put_file("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
	put_file("sys/fs/cgroup/a/b/io.pressure",
		 "some avg10=1.00 avg60=0.00 avg300=0.00 total=7\n"
		 "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
	put_file("sys/fs/cgroup/a/b/cpu.pressure", "some avg10=1.00 total=\nsome\n");
	machine_open(&m, NULL);
	look(&m);
	delta_init(&m.d, counters_set(m.c), NULL, &m.after);
	CHECK_NEAR(eval(&m, "slab.objects", "dentry"), 20, 0.001);
	CHECK_NEAR(eval(&m, "slab.slabs", "dentry"), 4, 0.001);
	CHECK_NEAR(eval(&m, "fs.files_max", ""), 2465780, 0.001);
	CHECK_NEAR(eval(&m, "tcpstate.listen + tcpstate.established * 10", ""), 11, 0.001);
	CHECK_NEAR(eval(&m, "softnet.dropped", "0"), 1, 0.001);
	CHECK_NEAR(eval(&m, "softnet.squeezed", "1"), 2, 0.001);
	CHECK_NEAR(eval(&m, "softnet.squeezed", "0"), -1, 0.001);
	CHECK_NEAR(eval(&m, "sched.wait_time", "0"), 800, 0.001);
	CHECK_NEAR(eval(&m, "numa.numa_miss", "node1"), 2, 0.001);
	CHECK_NEAR(eval(&m, "numa.mem_free", "node1"), 5120, 0.001);
	CHECK_NEAR(eval(&m, "cstate.time", "3/C1"), 42000, 0.001);
	CHECK_NEAR(eval(&m, "thermal.temperature", "x86_pkg 0"), 45.5, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.cpu", "/a/b"), 9000, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.throttled", "/a/b"), 3, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.memory", "/a/b"), 4096, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.memory_max", "/a/b"), -1, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.cpu_quota / cgroup.cpu_period", "/a/b"), 0.5, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.pressure_io", "/a/b"), 7000, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.pressure_cpu", "/a/b"), -1, 0.001);
	machine_close(&m);
}

TEST("control groups of version 1")
{
	struct machine m;

	put_file("proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
	put_file("sys/fs/cgroup/cpuacct/g/cpuacct.usage", "5000\n");
	put_file("sys/fs/cgroup/cpu/g/cpu.stat", "nr_throttled 3\nthrottled_time 7000\n");
	put_file("sys/fs/cgroup/memory/g/memory.usage_in_bytes", "4096\n");
	put_file("sys/fs/cgroup/memory/g/memory.limit_in_bytes", "9223372036854771712\n");
	put_file("sys/fs/cgroup/cpu/g/cpu.cfs_quota_us", "20000\n");
	put_file("sys/fs/cgroup/cpu/g/cpu.cfs_period_us", "100000\n");
	put_file("sys/fs/cgroup/cpu/h/cpu.cfs_quota_us", "-1\n");
	machine_open(&m, "cgroup.cpu");
	look(&m);
	delta_init(&m.d, counters_set(m.c), NULL, &m.after);
	CHECK_NEAR(eval(&m, "cgroup.cpu", "/g"), 5000, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.throttled_time", "/g"), 7000, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.memory", "/g"), 4096, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.memory_max", "/g"), -1, 0.001);
	CHECK_NEAR(eval(&m, "100 * cgroup.cpu_quota / cgroup.cpu_period", "/g"), 20, 0.001);
	CHECK_NEAR(eval(&m, "cgroup.cpu_quota", "/h"), -1, 0.001);
	machine_close(&m);
}

/* Three snapshots in which things come, go back and vanish. */
static void three(struct machine *m, struct snapshot *all)
{
	static const char *const disks[] = {
		"8 0 sda 100 0 800 4 10 0 80 5 0 9 9\n",
		"8 0 sda 90 0 900 4 20 0 80 5 0 9 9\n8 16 sdb 1 0 0 0 0 0 0 0 0 0 0\n",
		"8 16 sdb 18446744073709551615 0 0 0 0 0 0 0 0 0 0\n",
	};

	put_file("proc/diskstats", disks[0]);
	machine_open(m, "disk.reads");
	for (int i = 0; i < 3; i++) {
		struct task_row row = { .pid = 7,
					.tid = 7,
					.nice = -5,
					.state = 'R',
					.comm = "worker",
					.figures = { 5, 6 } };

		put_file("proc/diskstats", disks[i]);
		look(m);
		row.folded = (u32)i;
		vec_push(&m->after.tasks.rows, row);
		m->after.tasks.n_tasks = 3;
		snapshot_copy(&all[i], &m->after);
	}
}

static void check_same(const struct counter_set *a_set, const struct snapshot *a,
		       const struct counter_set *b_set, const struct snapshot *b)
{
	CHECK_EQ(a->mono, b->mono);
	CHECK_EQ(a->wall, b->wall);
	CHECK_EQ(a->tasks.rows.len, b->tasks.rows.len);
	CHECK_EQ(a->tasks.rows.items[0].folded, b->tasks.rows.items[0].folded);
	CHECK_EQ(a->tasks.rows.items[0].nice, b->tasks.rows.items[0].nice);
	CHECK_STR(a->tasks.rows.items[0].comm, b->tasks.rows.items[0].comm);
	for (u32 i = 0; i < a_set->series.len; i++) {
		u32 counter = counter_set_find(b_set, series_row(a_set, i)->name);
		const char *name = series_instance(a_set, i);
		u32 k = counter_set_lookup(b_set, counter,
					   intern_find(&b_set->instances, name, strlen(name)));

		CHECK_EQ(snapshot_has(a, i), k != SET_NONE && snapshot_has(b, k));
		if (snapshot_has(a, i))
			CHECK_EQ(a->values[i], b->values[k]);
	}
}

TEST("snapshots are the same when read back")
{
	struct snapshot all[3] = { SNAPSHOT_INIT }, got = SNAPSHOT_INIT;
	struct track_writer w = TRACK_WRITER_INIT;
	struct track_reader r;
	struct machine m;

	three(&m, all);
	for (int i = 0; i < 3; i++)
		track_writer_add(&w, counters_set(m.c), &all[i]);
	CHECK_EQ(track_reader_init(&r, w.bytes.data, w.bytes.len, NULL), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(track_reader_next(&r, &got, NULL), 1);
		check_same(counters_set(m.c), &all[i], &r.set, &got);
	}
	CHECK_EQ(track_reader_next(&r, &got, NULL), 0);
	track_reader_release(&r);
	/* any cut, and any byte changed: an error or other figures, never a crash */
	for (size_t i = 0; i < w.bytes.len; i++) {
		u8 kept = (u8)w.bytes.data[i];

		w.bytes.data[i] = (char)(kept ^ 0x81);
		if (track_reader_init(&r, w.bytes.data, i % 2 ? w.bytes.len : i, NULL) == 0)
			while (track_reader_next(&r, &got, NULL) > 0)
				continue;
		track_reader_release(&r);
		w.bytes.data[i] = (char)kept;
	}
	for (int i = 0; i < 3; i++)
		snapshot_release(&all[i]);
	snapshot_release(&got);
	track_writer_release(&w);
	machine_close(&m);
}

TEST("the ring forgets the oldest")
{
	struct snapshot all[3] = { SNAPSHOT_INIT }, got = SNAPSHOT_INIT;
	struct counters_ring *ring;
	struct machine m;
	size_t at, most;

	three(&m, all);
	ring = counters_ring_new(counters_set(m.c), 1 << 20);
	CHECK_EQ(counters_ring_len(ring), 0);
	for (int i = 0; i < 3; i++)
		counters_ring_add(ring, &all[i]);
	CHECK_EQ(counters_ring_len(ring), 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(counters_ring_get(ring, i, &got), 0);
		check_same(counters_set(m.c), &all[i], counters_set(m.c), &got);
		CHECK_EQ(counters_ring_find(ring, all[i].mono + 5, &at), 0);
		CHECK_EQ(at, i);
	}
	CHECK_EQ(counters_ring_find(ring, all[0].mono - 1, &at), -ENOENT);
	CHECK_EQ(counters_ring_get(ring, 3, &got), -ENOENT);
	most = counters_ring_bytes(ring);
	counters_ring_free(ring);
	ring = counters_ring_new(counters_set(m.c), most);
	for (int i = 0; i < 300; i++)
		counters_ring_add(ring, &all[i % 3]);
	CHECK(counters_ring_bytes(ring) <= most);
	CHECK(counters_ring_len(ring) >= 2);
	CHECK_EQ(counters_ring_get(ring, counters_ring_len(ring) - 1, &got), 0);
	check_same(counters_set(m.c), &all[299 % 3], counters_set(m.c), &got);
	counters_ring_free(ring);
	for (int i = 0; i < 3; i++)
		snapshot_release(&all[i]);
	snapshot_release(&got);
	machine_close(&m);
}
