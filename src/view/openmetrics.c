/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/openmetrics.h"

#include <ctype.h>

/* Letters, digits and underscores; others become underscores. */
static void add_name(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_addch(out, isalnum((u8)*s) ? *s : '_');
}

/* The same as Prometheus wants names: "InErrors" is "in_errors". */
static void add_snake(struct buf *out, const char *s)
{
	for (size_t i = 0; s[i]; i++) {
		if (i && isupper((u8)s[i]) && (islower((u8)s[i - 1]) || isdigit((u8)s[i - 1])))
			buf_addch(out, '_');
		buf_addch(out, isalnum((u8)s[i]) ? (char)tolower((u8)s[i]) : '_');
	}
}

static void add_escaped(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '"')
			buf_addch(out, '\\');
		if (*s == '\n')
			buf_addstr(out, "\\n");
		else
			buf_addch(out, *s);
	}
}

/* UTF-8 or nothing: other bytes would make the whole scrape fail. */
static void add_label_value(struct buf *out, const char *s)
{
	for (size_t i = 0; s[i]; i++) {
		char one[2] = { s[i], '\0' };

		if ((u8)s[i] < ' ' || (u8)s[i] >= 0x7f)
			buf_addch(out, '?');
		else
			add_escaped(out, one);
	}
}

static void add_value(struct buf *out, double v)
{
	buf_addf(out, " %.17g\n", v);
}

/* What the figures of a counter are multiplied by: times are in seconds there. */
static double value_of(const struct counter_set *set, const struct snapshot *s, u32 series)
{
	const struct counter *row = series_row(set, series);
	double v = (double)s->values[series] * counter_factor(set, row);

	return row->unit == UNIT_TIME ? v / 1e9 : v;
}

static const char *unit_of(const struct counter *row)
{
	switch (row->unit) {
	case UNIT_TIME: return "seconds";
	case UNIT_BYTES: return "bytes";
	case UNIT_CELSIUS: return "celsius";
	case UNIT_HERTZ: return "hertz";
	default: return NULL;
	}
}

/* A counter that no table has: where it stands is all that is known. */
static void add_meaning(struct buf *out, const struct set_counter *c)
{
	size_t n;
	const struct counter_source *const *sources = counter_sources(&n);

	if (c->row->meaning && *c->row->meaning)
		buf_addstr(out, c->row->meaning);
	else if (c->row->field && c->source < n)
		buf_addf(out, "%s of /%s.", c->row->field, sources[c->source]->path);
}

static void add_help(struct buf *out, const char *name, const char *type, const char *unit,
		     const char *help)
{
	buf_addf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		buf_addf(out, "# UNIT %s %s\n", name, unit);
	if (help && *help) {
		buf_addf(out, "# HELP %s ", name);
		add_escaped(out, help);
		buf_addch(out, '\n');
	}
}

/* "disk.read_bytes" -> "fathom_disk_read_bytes" */
static void own_name(const struct counter *row, struct buf *out)
{
	const char *unit = unit_of(row);

	buf_reset(out);
	buf_addstr(out, "fathom_");
	add_snake(out, row->name);
	if (unit && !ends_with(buf_str(out), unit)) {
		buf_addch(out, '_');
		buf_addstr(out, unit);
	}
}

static bool has_any(const struct counter_set *set, const struct snapshot *s, u32 counter)
{
	for (u32 i = set->counters.items[counter].first; i != SET_NONE;
	     i = set->series.items[i].next)
		if (snapshot_has(s, i))
			return true;
	return false;
}

/* The sum over all CPUs would be counted twice where they are added up. */
static bool is_sum(const char *instance)
{
	return streq(instance, "all");
}

static void add_family(const struct counter_set *set, const struct snapshot *s, u32 counter,
		       struct buf *name, struct buf *out)
{
	const struct set_counter *c = &set->counters.items[counter];
	bool grows = c->row->kind == CUMULATIVE;
	_cleanup_buf_ struct buf meaning = BUF_INIT;

	own_name(c->row, name);
	add_meaning(&meaning, c);
	add_help(out, buf_str(name), grows ? "counter" : "gauge", unit_of(c->row),
		 buf_str(&meaning));
	for (u32 i = c->first; i != SET_NONE; i = set->series.items[i].next) {
		const char *instance = series_instance(set, i);

		if (!snapshot_has(s, i) || is_sum(instance))
			continue;
		buf_addf(out, "%s%s", buf_str(name), grows ? "_total" : "");
		if (*instance) {
			buf_addch(out, '{');
			buf_add(out, c->row->name, strcspn(c->row->name, "."));
			buf_addstr(out, "=\"");
			add_label_value(out, instance);
			buf_addstr(out, "\"}");
		}
		add_value(out, value_of(set, s, i));
	}
}

void openmetrics_own(const struct counter_set *set, const struct snapshot *s, struct buf *out)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (u32 i = 0; i < set->counters.len; i++)
		if (set->counters.items[i].row->kind != RATIO && has_any(set, s, i))
			add_family(set, s, i, &name, out);
}

/* --- node_exporter's names -------------------------------------------------------------------- */

struct node_row {
	const char *name; /* without _total */
	bool grows;
	const char *counter;
	const char *label; /* of the instance; NULL: none */
	const char *also;  /* another label, whole; NULL: none */
	double factor;     /* 0: 1 */
	const char *help;  /* NULL: as the row before it, of the same name */
};

#define CPU(mode, field)                                                                    \
	{                                                                                   \
		"node_cpu_seconds", true, "cpu." field, "cpu", "mode=\"" mode "\"", 0, NULL \
	}
#define DISK(name, field, help)                                                 \
	{                                                                       \
		"node_disk_" name, true, "disk." field, "device", NULL, 0, help \
	}
#define NET(name, field, help)                                                    \
	{                                                                         \
		"node_network_" name, true, "net." field, "device", NULL, 0, help \
	}
#define PRESSURE(name, field, help)                                                                \
	{                                                                                          \
		"node_pressure_" name "_seconds", true, "pressure." field ".total", NULL, NULL, 0, \
			help                                                                       \
	}

static const struct node_row node_rows[] = {
	{ "node_cpu_seconds", true, "cpu.user", "cpu", "mode=\"user\"", 0,
	  "Seconds the CPUs spent in each mode." },
	CPU("nice", "nice"),
	CPU("system", "system"),
	CPU("idle", "idle"),
	CPU("iowait", "iowait"),
	CPU("irq", "irq"),
	CPU("softirq", "softirq"),
	CPU("steal", "steal"),
	{ "node_load1", false, "load.1", NULL, NULL, 0, "1m load average." },
	{ "node_load5", false, "load.5", NULL, NULL, 0, "5m load average." },
	{ "node_load15", false, "load.15", NULL, NULL, 0, "15m load average." },
	{ "node_context_switches", true, "system.switches", NULL, NULL, 0,
	  "Total number of context switches." },
	{ "node_intr", true, "system.interrupts", NULL, NULL, 0,
	  "Total number of interrupts serviced." },
	{ "node_forks", true, "system.forks", NULL, NULL, 0, "Total number of forks." },
	{ "node_procs_running", false, "system.running", NULL, NULL, 0,
	  "Number of processes in runnable state." },
	{ "node_procs_blocked", false, "system.blocked", NULL, NULL, 0,
	  "Number of processes blocked waiting for I/O to complete." },
	{ "node_boot_time_seconds", false, "system.boot_time", NULL, NULL, 0,
	  "Node boot time, in unixtime." },
	{ "node_filefd_allocated", false, "fs.files", NULL, NULL, 0,
	  "Allocated file descriptors." },
	{ "node_filefd_maximum", false, "fs.files_max", NULL, NULL, 0,
	  "Maximum file descriptors." },
	DISK("reads_completed", "reads", "Reads completed successfully."),
	DISK("reads_merged", "reads_merged", "Reads merged."),
	DISK("read_bytes", "read_bytes", "Bytes read successfully."),
	DISK("read_time_seconds", "read_time", "Seconds spent by all reads."),
	DISK("writes_completed", "writes", "Writes completed successfully."),
	DISK("writes_merged", "writes_merged", "Writes merged."),
	DISK("written_bytes", "write_bytes", "Bytes written successfully."),
	DISK("write_time_seconds", "write_time", "Seconds spent by all writes."),
	{ "node_disk_io_now", false, "disk.in_flight", "device", NULL, 0,
	  "The number of I/Os currently in progress." },
	DISK("io_time_seconds", "busy_time", "Seconds spent doing I/Os."),
	DISK("io_time_weighted_seconds", "queue_time", "Weighted seconds spent doing I/Os."),
	DISK("discards_completed", "discards", "Discards completed successfully."),
	DISK("flush_requests", "flushes", "Flush requests completed successfully."),
	NET("receive_bytes", "rx_bytes", "Bytes received."),
	NET("receive_packets", "rx_packets", "Packets received."),
	NET("receive_errs", "rx_errors", "Receive errors."),
	NET("receive_drop", "rx_dropped", "Received packets dropped."),
	NET("transmit_bytes", "tx_bytes", "Bytes sent."),
	NET("transmit_packets", "tx_packets", "Packets sent."),
	NET("transmit_errs", "tx_errors", "Transmit errors."),
	NET("transmit_drop", "tx_dropped", "Packets to send dropped."),
	PRESSURE("cpu_waiting", "cpu.some", "Seconds processes waited for CPU time."),
	PRESSURE("io_waiting", "io.some", "Seconds processes waited due to I/O congestion."),
	PRESSURE("io_stalled", "io.full", "Seconds no process could make progress due to I/O."),
	PRESSURE("memory_waiting", "memory.some", "Seconds processes waited for memory."),
	PRESSURE("memory_stalled", "memory.full",
		 "Seconds no process could make progress due to memory."),
};

static void add_node_row(const struct counter_set *set, const struct snapshot *s,
			 const struct node_row *n, struct buf *out)
{
	u32 counter = counter_set_find(set, n->counter);

	if (counter == SET_NONE || !has_any(set, s, counter))
		return;
	if (n->help)
		add_help(out, n->name, n->grows ? "counter" : "gauge", NULL, n->help);
	for (u32 i = set->counters.items[counter].first; i != SET_NONE;
	     i = set->series.items[i].next) {
		const char *instance = series_instance(set, i);

		if (!snapshot_has(s, i) || is_sum(instance))
			continue;
		buf_addf(out, "%s%s", n->name, n->grows ? "_total" : "");
		if (n->label) {
			buf_addf(out, "{%s=\"", n->label);
			add_label_value(out, instance);
			buf_addf(out, "\"%s%s}", n->also ? "," : "", n->also ? n->also : "");
		}
		add_value(out, value_of(set, s, i) * (n->factor > 0 ? n->factor : 1));
	}
}

/* Files whose fields are names as they stand: "node_memory_MemFree_bytes", "node_vmstat_pgfault".
 */
static void add_node_field(const struct counter_set *set, const struct snapshot *s, u32 counter,
			   const char *prefix, const char *suffix, struct buf *out)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const struct set_counter *c = &set->counters.items[counter];

	if (!c->row->field || c->first == SET_NONE || !snapshot_has(s, c->first))
		return;
	buf_addstr(&name, prefix);
	add_name(&name, c->row->field);
	/* "Active(anon)" is "Active_anon" there */
	while (name.len && name.data[name.len - 1] == '_')
		buf_truncate(&name, name.len - 1);
	buf_addstr(&name, suffix);
	add_help(out, buf_str(&name), *suffix ? "gauge" : "unknown", NULL, c->row->meaning);
	buf_addstr(out, buf_str(&name));
	/* pages and kilobytes of vmstat stay as the kernel has them */
	add_value(out, *suffix ? value_of(set, s, c->first) : (double)s->values[c->first]);
}

/* "tcpext.X" is "node_netstat_TcpExt_X". */
static const struct {
	const char *group, *prefix;
} netstat_groups[] = {
	{ "tcp.", "node_netstat_Tcp_" },         { "tcpext.", "node_netstat_TcpExt_" },
	{ "udp.", "node_netstat_Udp_" },         { "ip.", "node_netstat_Ip_" },
	{ "ipext.", "node_netstat_IpExt_" },     { "icmp.", "node_netstat_Icmp_" },
	{ "udplite.", "node_netstat_UdpLite_" },
};

void openmetrics_node(const struct counter_set *set, const struct snapshot *s, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++)
		add_node_row(set, s, &node_rows[i], out);
	for (u32 i = 0; i < set->counters.len; i++) {
		const struct counter *row = set->counters.items[i].row;

		if (row->kind == RATIO)
			continue;
		if (starts_with(row->name, "mem."))
			add_node_field(set, s, i, "node_memory_",
				       row->unit == UNIT_BYTES ? "_bytes" : "", out);
		else if (starts_with(row->name, "vm."))
			add_node_field(set, s, i, "node_vmstat_", "", out);
		for (size_t k = 0; k < ARRAY_SIZE(netstat_groups); k++)
			if (starts_with(row->name, netstat_groups[k].group))
				add_node_field(set, s, i, netstat_groups[k].prefix, "", out);
	}
}

void openmetrics_add(struct buf *out, const char *name, const char *type, const char *help,
		     double value)
{
	add_help(out, name, type, NULL, help);
	buf_addf(out, "%s%s", name, streq(type, "counter") ? "_total" : "");
	add_value(out, value);
}

void openmetrics_end(struct buf *out)
{
	buf_addstr(out, "# EOF\n");
}
