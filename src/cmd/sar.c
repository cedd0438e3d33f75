/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

/* A report is a table of columns with the letter that asks for it. */
struct report {
	char letter;
	const char *network; /* word of -n, for the letter 'n' */
	struct monitor_table table;
};

#define COLUMN(key, title, formula)  MONITOR_COLUMN(key, title, formula, 9, 2)
#define KIB(key, title, formula)     MONITOR_COLUMN(key, title, formula, 9, 2, .unit = 1024)
#define KIB_NOW(key, title, formula) MONITOR_COLUMN(key, title, formula, 9, 0, .unit = 1024)
#define NOW(key, title, formula)     MONITOR_COLUMN(key, title, formula, 9, 0)
#define BAD(key, title, formula)     MONITOR_COLUMN(key, title, formula, 9, 2, .warn = 0.01, .bad = 1)
#define NAME(key, title)             MONITOR_COLUMN(key, title, NULL, 8, 0)

static const struct monitor_column cpu_columns[] = {
	NAME("cpu", "CPU"),
	COLUMN("user_percent", "%user", "100 * cpu.user / cpu.total"),
	COLUMN("nice_percent", "%nice", "100 * cpu.nice / cpu.total"),
	COLUMN("system_percent", "%system",
	       "100 * (cpu.system + cpu.irq + cpu.softirq) / cpu.total"),
	COLUMN("iowait_percent", "%iowait", "cpu.iowait_percent"),
	COLUMN("steal_percent", "%steal", "cpu.steal_percent"),
	COLUMN("idle_percent", "%idle", "cpu.idle_percent"),
};
static const struct monitor_column memory_columns[] = {
	KIB_NOW("free_kib", "kbmemfree", "mem.free"),
	KIB_NOW("available_kib", "kbavail", "mem.available"),
	KIB_NOW("used_kib", "kbmemused",
		"max(mem.total - mem.free - mem.buffers - mem.cached - mem.slab, 0)"),
	COLUMN("used_percent", "%memused",
	       "100 * max(mem.total - mem.free - mem.buffers - mem.cached - mem.slab, 0) / "
	       "mem.total"),
	KIB_NOW("buffers_kib", "kbbuffers", "mem.buffers"),
	KIB_NOW("cached_kib", "kbcached", "mem.cached"),
	KIB_NOW("commit_kib", "kbcommit", "mem.committed"),
	COLUMN("commit_percent", "%commit", "100 * mem.committed / (mem.total + mem.swap_total)"),
	KIB_NOW("active_kib", "kbactive", "mem.active"),
	KIB_NOW("inactive_kib", "kbinact", "mem.inactive"),
	KIB_NOW("dirty_kib", "kbdirty", "mem.dirty"),
};
static const struct monitor_column queue_columns[] = {
	NOW("runnable", "runq-sz", "load.runnable"), NOW("tasks", "plist-sz", "load.tasks"),
	COLUMN("load_1", "ldavg-1", "load.1"),       COLUMN("load_5", "ldavg-5", "load.5"),
	COLUMN("load_15", "ldavg-15", "load.15"),    NOW("blocked", "blocked", "system.blocked"),
};
static const struct monitor_column paging_columns[] = {
	KIB("in_kib", "pgpgin/s", "rate(vm.pgpgin)"),
	KIB("out_kib", "pgpgout/s", "rate(vm.pgpgout)"),
	COLUMN("faults", "fault/s", "rate(vm.pgfault)"),
	COLUMN("major_faults", "majflt/s", "rate(vm.pgmajfault)"),
	MONITOR_COLUMN("freed", "pgfree/s", "rate(vm.pgfree)", 9, 2, .unit = 4096),
	MONITOR_COLUMN("scanned_kswapd", "pgscank/s", "rate(vm.pgscan_kswapd)", 9, 2, .unit = 4096),
	MONITOR_COLUMN("scanned_direct", "pgscand/s", "rate(vm.pgscan_direct)", 9, 2, .unit = 4096,
		       .warn = 1, .bad = 1000),
	MONITOR_COLUMN("stolen", "pgsteal/s", "rate(vm.pgsteal_kswapd + vm.pgsteal_direct)", 9, 2,
		       .unit = 4096),
};
static const struct monitor_column swap_columns[] = {
	MONITOR_COLUMN("in", "pswpin/s", "rate(vm.pswpin)", 9, 2, .unit = 4096, .warn = 1,
		       .bad = 100),
	MONITOR_COLUMN("out", "pswpout/s", "rate(vm.pswpout)", 9, 2, .unit = 4096, .warn = 1,
		       .bad = 100),
};
static const struct monitor_column task_columns[] = {
	COLUMN("forks", "proc/s", "rate(system.forks)"),
	COLUMN("switches", "cswch/s", "rate(system.switches)"),
};
static const struct monitor_column io_columns[] = {
	COLUMN("transfers", "tps", "rate(sum(disk.reads) + sum(disk.writes))"),
	COLUMN("reads", "rtps", "rate(sum(disk.reads))"),
	COLUMN("writes", "wtps", "rate(sum(disk.writes))"),
	MONITOR_COLUMN("read_blocks", "bread/s", "rate(sum(disk.read_bytes))", 9, 2, .unit = 512),
	MONITOR_COLUMN("write_blocks", "bwrtn/s", "rate(sum(disk.write_bytes))", 9, 2, .unit = 512),
};
static const struct monitor_column disk_columns[] = {
	NAME("device", "DEV"),
	COLUMN("transfers", "tps", "rate(disk.reads + disk.writes + opt(disk.discards))"),
	KIB("read_kib", "rkB/s", "rate(disk.read_bytes)"),
	KIB("write_kib", "wkB/s", "rate(disk.write_bytes)"),
	COLUMN("queue", "aqu-sz", "disk.queue_time / 1000000000 / seconds"),
	MONITOR_COLUMN("await_ms", "await", "disk.await", 9, 2, .unit = 1000000, .warn = 20,
		       .bad = 100),
	MONITOR_COLUMN("busy_percent", "%util", "disk.busy_percent", 9, 2, .warn = 70, .bad = 95),
};
static const struct monitor_column dev_columns[] = {
	NAME("interface", "IFACE"),
	COLUMN("rx_packets", "rxpck/s", "rate(net.rx_packets)"),
	COLUMN("tx_packets", "txpck/s", "rate(net.tx_packets)"),
	KIB("rx_kib", "rxkB/s", "rate(net.rx_bytes)"),
	KIB("tx_kib", "txkB/s", "rate(net.tx_bytes)"),
	COLUMN("rx_compressed", "rxcmp/s", "rate(net.rx_compressed)"),
	COLUMN("tx_compressed", "txcmp/s", "rate(net.tx_compressed)"),
	COLUMN("rx_multicast", "rxmcst/s", "rate(net.rx_multicast)"),
};
static const struct monitor_column edev_columns[] = {
	NAME("interface", "IFACE"),
	BAD("rx_errors", "rxerr/s", "rate(net.rx_errors)"),
	BAD("tx_errors", "txerr/s", "rate(net.tx_errors)"),
	BAD("collisions", "coll/s", "rate(net.tx_collisions)"),
	BAD("rx_dropped", "rxdrop/s", "rate(net.rx_dropped)"),
	BAD("tx_dropped", "txdrop/s", "rate(net.tx_dropped)"),
	BAD("carrier", "txcarr/s", "rate(net.tx_carrier)"),
	BAD("rx_frame", "rxfram/s", "rate(net.rx_frame)"),
	BAD("rx_fifo", "rxfifo/s", "rate(net.rx_fifo)"),
	BAD("tx_fifo", "txfifo/s", "rate(net.tx_fifo)"),
};
static const struct monitor_column sock_columns[] = {
	NOW("sockets", "totsck", "sock.used"),     NOW("tcp", "tcpsck", "sock.tcp_inuse"),
	NOW("udp", "udpsck", "sock.udp_inuse"),    NOW("raw", "rawsck", "sock.raw_inuse"),
	NOW("frag", "ip-frag", "sock.frag_inuse"), NOW("time_wait", "tcp-tw", "sock.tcp_tw"),
};
static const struct monitor_column ip_columns[] = {
	COLUMN("in_receives", "irec/s", "rate(ip.InReceives)"),
	COLUMN("forwarded", "fwddgm/s", "rate(ip.ForwDatagrams)"),
	COLUMN("in_delivers", "idel/s", "rate(ip.InDelivers)"),
	COLUMN("out_requests", "orq/s", "rate(ip.OutRequests)"),
	COLUMN("reassembly", "asmrq/s", "rate(ip.ReasmReqds)"),
	COLUMN("reassembled", "asmok/s", "rate(ip.ReasmOKs)"),
	COLUMN("fragmented", "fragok/s", "rate(ip.FragOKs)"),
	COLUMN("fragments", "fragcrt/s", "rate(ip.FragCreates)"),
};
static const struct monitor_column tcp_columns[] = {
	COLUMN("active", "active/s", "rate(tcp.ActiveOpens)"),
	COLUMN("passive", "passive/s", "rate(tcp.PassiveOpens)"),
	COLUMN("in_segments", "iseg/s", "rate(tcp.InSegs)"),
	COLUMN("out_segments", "oseg/s", "rate(tcp.OutSegs)"),
};
static const struct monitor_column etcp_columns[] = {
	BAD("attempt_fails", "atmptf/s", "rate(tcp.AttemptFails)"),
	BAD("resets", "estres/s", "rate(tcp.EstabResets)"),
	BAD("retransmitted", "retrans/s", "rate(tcp.RetransSegs)"),
	BAD("in_errors", "isegerr/s", "rate(tcp.InErrs)"),
	BAD("out_resets", "orsts/s", "rate(tcp.OutRsts)"),
};
static const struct monitor_column udp_columns[] = {
	COLUMN("in_datagrams", "idgm/s", "rate(udp.InDatagrams)"),
	COLUMN("out_datagrams", "odgm/s", "rate(udp.OutDatagrams)"),
	BAD("no_ports", "noport/s", "rate(udp.NoPorts)"),
	BAD("in_errors", "idgmerr/s", "rate(udp.InErrors)"),
};

static bool is_all(const void *args UNUSED, const char *instance)
{
	return streq(instance, "all");
}

#define TABLE(name_, columns_, ...)                                                                \
	{                                                                                          \
		.name = name_, .columns = columns_, .n_columns = ARRAY_SIZE(columns_), __VA_ARGS__ \
	}

static const struct report reports[] = {
	{ 'u', NULL, TABLE("cpu", cpu_columns, .each = "cpu.user", .shows = is_all) },
	{ 'r', NULL, TABLE("memory", memory_columns) },
	{ 'q', NULL, TABLE("queues", queue_columns) },
	{ 'B', NULL, TABLE("paging", paging_columns) },
	{ 'W', NULL, TABLE("swap", swap_columns) },
	{ 'w', NULL, TABLE("tasks", task_columns) },
	{ 'b', NULL, TABLE("io", io_columns) },
	{ 'd', NULL,
	  TABLE("disks", disk_columns, .each = "disk.reads",
		.used = "disk.whole * (total(disk.reads) + total(disk.writes))") },
	{ 'n', "DEV", TABLE("interfaces", dev_columns, .each = "net.rx_bytes") },
	{ 'n', "EDEV", TABLE("interface_errors", edev_columns, .each = "net.rx_bytes") },
	{ 'n', "SOCK", TABLE("sockets", sock_columns) },
	{ 'n', "IP", TABLE("ip", ip_columns) },
	{ 'n', "TCP", TABLE("tcp", tcp_columns) },
	{ 'n', "ETCP", TABLE("tcp_errors", etcp_columns) },
	{ 'n', "UDP", TABLE("udp", udp_columns) },
};

struct sar_args {
	struct monitor_args monitor;
	const char *network;
	bool cpu, memory, queue, paging, swap, tasks, io, disk;
};

#define AT(field) .offset = offsetof(struct sar_args, field)

static const struct opt sar_options[] = {
	{ 'n', "network", OPT_STRING, AT(network), .arg = "WORD[,WORD]",
	  .help = "network: DEV, EDEV, SOCK, IP, TCP, ETCP, UDP or ALL" },
	{ 'u', "cpu", OPT_FLAG, AT(cpu), .help = "where time of CPUs goes: the default" },
	{ 'r', "memory", OPT_FLAG, AT(memory), .help = "memory" },
	{ .name = "queue", .type = OPT_FLAG, AT(queue), .help = "run queue and load" },
	{ 'B', "paging", OPT_FLAG, AT(paging), .help = "paging, faults and reclaim" },
	{ 'W', "swap", OPT_FLAG, AT(swap), .help = "swapping" },
	{ 'w', "tasks", OPT_FLAG, AT(tasks), .flags = OPT_INSTEAD,
	  .help = "new tasks and context switches" },
	{ 'b', "io", OPT_FLAG, AT(io), .help = "requests of all disks" },
	{ .short_name = 'd', .name = "disk", .type = OPT_FLAG, AT(disk), .help = "each disk" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at && *at;) {
		size_t len = strcspn(at, ",");

		if ((len == n && strncasecmp(at, word, n) == 0) ||
		    (len == 3 && strncasecmp(at, "ALL", 3) == 0))
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

static bool is_asked(const struct sar_args *a, const struct report *r)
{
	switch (r->letter) {
	case 'u': return a->cpu;
	case 'r': return a->memory;
	case 'q': return a->queue;
	case 'B': return a->paging;
	case 'W': return a->swap;
	case 'w': return a->tasks;
	case 'b': return a->io;
	case 'd': return a->disk;
	default: return has_word(a->network, r->network);
	}
}

static int sar_run(struct context *ctx, void *args)
{
	struct sar_args *a = args;
	struct monitor_table tables[ARRAY_SIZE(reports)];
	struct monitor m = {
		.tables = tables,
		.flags = MONITOR_TIMES | MONITOR_AVERAGE | MONITOR_RATES,
	};
	int r = monitor_operands(ctx, &a->monitor);

	if (r)
		return r;
	a->cpu |= !(a->network || a->memory || a->queue || a->paging || a->swap || a->tasks ||
		    a->io || a->disk);
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++)
		if (is_asked(a, &reports[i]))
			tables[m.n_tables++] = reports[i].table;
	if (!m.n_tables) {
		err_set(&ctx->err, EINVAL, "'%s' is not a report of the network", a->network);
		err_hint(&ctx->err, "there are DEV, EDEV, SOCK, IP, TCP, ETCP, UDP and ALL");
		return EXIT_USAGE;
	}
	return monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example sar_examples[] = {
	{ "fathom sar 1 10", "time of CPUs for ten seconds, and the mean" },
	{ "fathom sar -n DEV,EDEV 1", "traffic and errors of interfaces" },
	{ "fathom sar -n TCP,ETCP 1", "connections, segments and retransmissions" },
	{ "fathom sar -B -W 5", "paging and swapping" },
	{ 0 },
};

const struct command cmd_sar = {
	.name = "sar",
	.summary = "reports on CPU, memory, disks and network, as sar prints them",
	.description =
		"Prints the reports of sar(1), live: without an interval those of the next second. "
		"It ends with the mean of all intervals.",
	.question = Q_MACHINE,
	.options = sar_options,
	.args_size = sizeof(struct sar_args),
	MONITOR_OPERANDS,
	.examples = sar_examples,
	.see_also = "fathom-ifstat fathom-vmstat fathom-iostat sar(1)",
	.run = sar_run,
};
