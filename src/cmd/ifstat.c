/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct ifstat_args {
	struct monitor_args monitor;
	const char *interfaces;
	bool all;
};

#define AT(field) .offset = offsetof(struct ifstat_args, field)

static const struct opt ifstat_options[] = {
	{ .name = "interface",
	  .type = OPT_STRING,
	  AT(interfaces),
	  .arg = "NAME[,NAME]",
	  .help = "only these interfaces" },
	{ 'a', "all", OPT_FLAG, AT(all), .help = "the loopback and idle interfaces, too" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

static const struct monitor_column columns[] = {
	MONITOR_COLUMN("interface", "Interface", NULL, 10, 0),
	MONITOR_COLUMN("rx_kib", "KB/s in", "rate(net.rx_bytes)", 10, 2, .unit = 1024),
	MONITOR_COLUMN("tx_kib", "KB/s out", "rate(net.tx_bytes)", 10, 2, .unit = 1024),
	MONITOR_COLUMN("rx_packets", "pkt/s in", "rate(net.rx_packets)", 9, 1),
	MONITOR_COLUMN("tx_packets", "pkt/s out", "rate(net.tx_packets)", 9, 1),
	MONITOR_COLUMN("errors", "errs/s", "rate(net.rx_errors + net.tx_errors)", 7, 1,
		       .warn = 0.01, .bad = 1),
	MONITOR_COLUMN("dropped", "drop/s", "rate(net.rx_dropped + net.tx_dropped)", 7, 1,
		       .warn = 0.01, .bad = 10),
};

static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; *at;) {
		size_t word = strcspn(at, ",");

		if (word == n && memcmp(at, name, n) == 0)
			return true;
		at += word + (at[word] == ',');
	}
	return false;
}

static bool shows(const void *args, const char *instance)
{
	const struct ifstat_args *a = args;

	if (a->interfaces)
		return is_listed(a->interfaces, instance);
	return a->all || !streq(instance, "lo");
}

static int ifstat_run(struct context *ctx, void *args)
{
	struct ifstat_args *a = args;
	const struct monitor_table table = {
		.name = "interfaces",
		.each = "net.rx_bytes",
		.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.shows = shows,
		.used = a->all || a->interfaces ? NULL
						: "total(net.rx_bytes) + total(net.tx_bytes)",
	};
	const struct monitor m = { .tables = &table, .n_tables = 1, .flags = MONITOR_RATES };
	int r = monitor_operands(ctx, &a->monitor);

	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example ifstat_examples[] = {
	{ "fathom ifstat", "traffic of the next second" },
	{ "fathom ifstat 1", "each second" },
	{ "fathom ifstat --interface eth0,eth1 5", "of some interfaces" },
	{ 0 },
};

const struct command cmd_ifstat = {
	.name = "ifstat",
	.summary = "traffic, errors and drops of network interfaces",
	.description = "Shows bytes and packets in and out of each interface that was ever used, "
		       "with errors and drops.",
	.question = Q_MACHINE,
	.options = ifstat_options,
	.args_size = sizeof(struct ifstat_args),
	MONITOR_OPERANDS,
	.examples = ifstat_examples,
	.see_also = "fathom-sar ifstat(8)",
	.run = ifstat_run,
};
