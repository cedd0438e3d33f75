/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

/* A plug-in is a group of columns under one heading. */
struct plugin {
	const struct monitor_column *columns;
	size_t n_columns;
};

#define WHOLE(group_, key, title, formula, ...) \
	MONITOR_COLUMN(key, title, formula, 3, 0, .group = group_, __VA_ARGS__)
#define SIZE(group_, key, title, formula) \
	MONITOR_COLUMN(key, title, formula, 6, 0, .group = group_, .type = VALUE_BYTES)
#define COUNT(group_, key, title, formula) \
	MONITOR_COLUMN(key, title, formula, 5, 0, .group = group_)

#define CPU(key, title, formula, ...) WHOLE("total-usage", key, title, formula, __VA_ARGS__)
static const struct monitor_column cpu_columns[] = {
	CPU("cpu_user_percent", "usr", "100 * (cpu.user{all} + cpu.nice{all}) / cpu.total{all}"),
	CPU("cpu_system_percent", "sys",
	    "100 * (cpu.system{all} + cpu.irq{all} + cpu.softirq{all}) / cpu.total{all}",
	    .warn = 30, .bad = 60),
	CPU("cpu_idle_percent", "idl", "cpu.idle_percent{all}", .warn = 10, .bad = 3),
	CPU("cpu_wait_percent", "wai", "cpu.iowait_percent{all}", .warn = 10, .bad = 30),
	CPU("cpu_steal_percent", "stl", "cpu.steal_percent{all}", .warn = 5, .bad = 20),
};
/* The kernel's own sum: partitions, and devices on devices, would be counted twice. */
static const struct monitor_column disk_columns[] = {
	SIZE("dsk/total", "disk_read_bytes", "read", "rate(vm.pgpgin)"),
	SIZE("dsk/total", "disk_write_bytes", "writ", "rate(vm.pgpgout)"),
};
static const struct monitor_column net_columns[] = {
	SIZE("net/total", "net_receive_bytes", "recv",
	     "rate(sum(net.rx_bytes) - opt(net.rx_bytes{lo}))"),
	SIZE("net/total", "net_send_bytes", "send",
	     "rate(sum(net.tx_bytes) - opt(net.tx_bytes{lo}))"),
};
static const struct monitor_column page_columns[] = {
	SIZE("paging", "page_in_bytes", "in", "rate(vm.pswpin)"),
	SIZE("paging", "page_out_bytes", "out", "rate(vm.pswpout)"),
};
static const struct monitor_column system_columns[] = {
	COUNT("system", "interrupts", "int", "rate(system.interrupts)"),
	COUNT("system", "switches", "csw", "rate(system.switches)"),
};
static const struct monitor_column load_columns[] = {
	MONITOR_COLUMN("load_1", "1m", "load.1", 4, 2, .group = "load-avg"),
	MONITOR_COLUMN("load_5", "5m", "load.5", 4, 2, .group = "load-avg"),
	MONITOR_COLUMN("load_15", "15m", "load.15", 4, 2, .group = "load-avg"),
};
static const struct monitor_column memory_columns[] = {
	SIZE("memory-usage", "memory_used_bytes", "used", "mem.used"),
	SIZE("memory-usage", "memory_free_bytes", "free", "mem.free"),
	SIZE("memory-usage", "memory_buffers_bytes", "buff", "mem.buffers"),
	SIZE("memory-usage", "memory_cache_bytes", "cach", "mem.cache"),
};
static const struct monitor_column proc_columns[] = {
	MONITOR_COLUMN("running", "run", "system.running", 4, 0, .group = "procs"),
	MONITOR_COLUMN("blocked", "blk", "system.blocked", 4, 0, .group = "procs", .warn = 1,
		       .bad = 8),
	MONITOR_COLUMN("forks", "new", "rate(system.forks)", 4, 0, .group = "procs"),
};
static const struct monitor_column io_columns[] = {
	COUNT("io/total", "io_reads", "read", "rate(sum(disk.reads))"),
	COUNT("io/total", "io_writes", "writ", "rate(sum(disk.writes))"),
};
static const struct monitor_column swap_columns[] = {
	SIZE("swap", "swap_used_bytes", "used", "mem.swap_used"),
	SIZE("swap", "swap_free_bytes", "free", "mem.swap_free"),
};
static const struct monitor_column aio_columns[] = { COUNT("async", "aio", "#aio", "fs.aio") };
static const struct monitor_column fs_columns[] = {
	COUNT("filesystem", "files", "files", "fs.files"),
	COUNT("filesystem", "inodes", "inodes", "fs.inodes"),
};
static const struct monitor_column socket_columns[] = {
	COUNT("sockets", "sockets", "tot", "sock.used"),
	COUNT("sockets", "sockets_tcp", "tcp", "sock.tcp_inuse"),
	COUNT("sockets", "sockets_udp", "udp", "sock.udp_inuse"),
	COUNT("sockets", "sockets_raw", "raw", "sock.raw_inuse"),
	COUNT("sockets", "sockets_frag", "frg", "sock.frag_inuse"),
};
static const struct monitor_column tcp_columns[] = {
	COUNT("tcp-sockets", "tcp_listen", "lis", "tcpstate.listen"),
	COUNT("tcp-sockets", "tcp_active", "act", "tcpstate.established"),
	COUNT("tcp-sockets", "tcp_syn", "syn",
	      "tcpstate.syn_sent + tcpstate.syn_recv + tcpstate.last_ack"),
	COUNT("tcp-sockets", "tcp_time_wait", "tim", "tcpstate.time_wait"),
	COUNT("tcp-sockets", "tcp_close", "clo",
	      "tcpstate.fin_wait1 + tcpstate.fin_wait2 + tcpstate.close + tcpstate.close_wait + "
	      "tcpstate.closing"),
};
static const struct monitor_column udp_columns[] = {
	COUNT("udp-sockets", "udp_in", "in/s", "rate(udp.InDatagrams)"),
	COUNT("udp-sockets", "udp_sockets", "act", "sock.udp_inuse"),
};
static const struct monitor_column vm_columns[] = {
	COUNT("virtual-memory", "major_faults", "majpf", "rate(vm.pgmajfault)"),
	COUNT("virtual-memory", "minor_faults", "minpf", "rate(vm.minor_faults)"),
	MONITOR_COLUMN("allocated", "alloc", "rate(vm.allocated)", 6, 0, .group = "virtual-memory",
		       .unit = 4096),
	MONITOR_COLUMN("freed", "free", "rate(vm.pgfree)", 6, 0, .group = "virtual-memory",
		       .unit = 4096),
};
static const struct monitor_column pressure_columns[] = {
	MONITOR_COLUMN("pressure_cpu_percent", "cpu", "rate(pressure.cpu.some.total) / 10000000", 4,
		       0, .group = "pressure", .warn = 20, .bad = 60),
	MONITOR_COLUMN("pressure_io_percent", "io", "rate(pressure.io.some.total) / 10000000", 4, 0,
		       .group = "pressure", .warn = 10, .bad = 40),
	MONITOR_COLUMN("pressure_memory_percent", "mem",
		       "rate(pressure.memory.some.total) / 10000000", 4, 0, .group = "pressure",
		       .warn = 5, .bad = 20),
};

#define PLUGIN(columns)                      \
	{                                    \
		columns, ARRAY_SIZE(columns) \
	}
enum { CPU_PLUGIN, DISK_PLUGIN, NET_PLUGIN, PAGE_PLUGIN, SYSTEM_PLUGIN };

/* In the order in which they are shown, and in which the options are below. */
static const struct plugin plugins[] = {
	PLUGIN(cpu_columns),    PLUGIN(disk_columns),     PLUGIN(net_columns),
	PLUGIN(page_columns),   PLUGIN(system_columns),   PLUGIN(load_columns),
	PLUGIN(memory_columns), PLUGIN(proc_columns),     PLUGIN(io_columns),
	PLUGIN(swap_columns),   PLUGIN(aio_columns),      PLUGIN(fs_columns),
	PLUGIN(socket_columns), PLUGIN(tcp_columns),      PLUGIN(udp_columns),
	PLUGIN(vm_columns),     PLUGIN(pressure_columns),
};

struct dstat_args {
	struct monitor_args monitor;
	bool on[ARRAY_SIZE(plugins)];
	bool all;
	str_list counters;
};

#define AT(field) .offset = offsetof(struct dstat_args, field)
#define ON(i, letter_, name_, help_)                                                             \
	{                                                                                        \
		.short_name = letter_, .name = name_, .type = OPT_FLAG, AT(on[i]), .help = help_ \
	}

static const struct opt dstat_options[] = {
	ON(0, 'c', "cpu", "time of CPUs"),
	ON(1, 'd', "disk", "bytes from and to disks"),
	ON(2, 'n', "net", "bytes of all interfaces but the loopback"),
	ON(3, 'g', "page", "bytes swapped in and out"),
	ON(4, 'y', "sys", "interrupts and context switches"),
	ON(5, 'l', "load", "load"),
	ON(6, 'm', "mem", "memory"),
	ON(7, 'p', "proc", "tasks that run, are blocked, are new"),
	ON(8, 'r', "io", "requests of all disks"),
	ON(9, 's', "swap", "swap space"),
	ON(10, 0, "aio", "asynchronous I/O"),
	ON(11, 0, "fs", "open files and inodes"),
	ON(12, 0, "socket", "sockets"),
	ON(13, 0, "tcp", "sockets of TCP by state"),
	ON(14, 0, "udp", "datagrams and sockets of UDP"),
	ON(15, 0, "vm", "page faults, memory allocated and freed"),
	ON(16, 0, "pressure", "share of time that tasks wait for CPUs, disks, memory"),
	{ 'a', "all", OPT_FLAG, AT(all), .help = "the same as -cdngy: the default" },
	{ 't', "time", OPT_FLAG, .offset = offsetof(struct dstat_args, monitor.timestamp),
	  .help = "begin each line with the time" },
	{ 'e', "counter", OPT_STRINGS, AT(counters), .arg = "FORMULA",
	  .help = "a column of your own: a counter ('fathom counters') or a formula over some" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static void choose(struct dstat_args *a)
{
	bool any = a->counters.len > 0;

	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
		any |= a->on[i];
	for (size_t i = CPU_PLUGIN; i <= SYSTEM_PLUGIN; i++)
		a->on[i] |= a->all || !any;
}

static void add_own(struct monitor_column *c, const char *formula)
{
	*c = (struct monitor_column){
		.key = formula,
		.title = formula,
		.formula = formula,
		.group = "own",
		.width = 8,
		.decimals = 1,
	};
}

static int dstat_run(struct context *ctx, void *args)
{
	struct dstat_args *a = args;
	struct monitor_column columns[128];
	struct monitor_table table = { .name = "dstat", .columns = columns };
	const struct monitor m = {
		.tables = &table,
		.n_tables = 1,
		.flags = MONITOR_LINES | MONITOR_ENDLESS,
	};
	int r = monitor_operands(ctx, &a->monitor);

	if (r)
		return r;
	choose(a);
	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++)
		for (size_t k = 0; a->on[i] && k < plugins[i].n_columns; k++)
			columns[table.n_columns++] = plugins[i].columns[k];
	for (size_t i = 0; i < a->counters.len && table.n_columns < ARRAY_SIZE(columns); i++)
		add_own(&columns[table.n_columns++], a->counters.items[i]);
	return monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example dstat_examples[] = {
	{ "fathom dstat", "the classic screen, until Ctrl-C" },
	{ "fathom dstat -tcm --tcp 5 12", "time, CPUs, memory and TCP, for a minute" },
	{ "fathom dstat --vm --aio 1 10", "page faults and asynchronous I/O" },
	{ "fathom dstat -c -e 'rate(tcp.RetransSegs)' -e mem.dirty", "with columns of your own" },
	{ 0 },
};

const struct command cmd_dstat = {
	.name = "dstat",
	.summary = "CPU, disk, network, paging and system, a line each second",
	.description =
		"Prints a line each second with the columns of dstat(1), chosen by plug-ins; "
		"without any those of -cdngy. The first line is the mean since boot.\n\n"
		"-e adds a column that is any counter, or a formula over counters: a name in it is "
		"what the counter grew by in the interval, or its value if it is a gauge; rate(x) "
		"is x for each second, name{vda} that of one disk, sum(name) that of all.",
	.question = Q_MACHINE,
	.options = dstat_options,
	.args_size = sizeof(struct dstat_args),
	MONITOR_OPERANDS,
	.examples = dstat_examples,
	.see_also = "fathom-counters fathom-vmstat dstat(1)",
	.run = dstat_run,
};
