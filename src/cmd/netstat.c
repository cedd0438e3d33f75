/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/monitor.h"

struct netstat_args {
	struct monitor_args monitor;
	bool statistics;
	bool tcp, udp, raw;
	bool all;
};

#define AT(field) .offset = offsetof(struct netstat_args, field)

static const struct opt netstat_options[] = {
	{ 's', "statistics", OPT_FLAG, AT(statistics), .help = "counts by protocol: the default" },
	{ 't', "tcp", OPT_FLAG, AT(tcp), .help = "only TCP" },
	{ 'u', "udp", OPT_FLAG, AT(udp), .help = "only UDP" },
	{ 'w', "raw", OPT_FLAG, AT(raw), .flags = OPT_INSTEAD, .help = "only IP and ICMP" },
	{ .name = "all", .type = OPT_FLAG, AT(all), .help = "counters that are 0, too" },
	{ .type = OPT_INCLUDE, .include = monitor_options, AT(monitor) },
	OPT_END,
};

enum { RAW = 1, TCP = 2, UDP = 4 };

/* In the order of netstat(8). */
static const struct group {
	const char *prefix, *title;
	u32 of;
} groups[] = {
	{ "ip.", "Ip:", RAW },
	{ "icmp.", "Icmp:", RAW },
	{ "icmpmsg.", "IcmpMsg:", RAW },
	{ "tcp.", "Tcp:", TCP },
	{ "udp.", "Udp:", UDP },
	{ "udplite.", "UdpLite:", UDP },
	{ "tcpext.", "TcpExt:", TCP },
	{ "ipext.", "IpExt:", RAW },
	{ "mptcpext.", "MPTcpExt:", TCP },
};

static const char *const wants[] = { "ip.InReceives", "tcpext.TCPTimeouts", NULL };

/* Settings, not counts: netstat leaves them out, too. */
static bool is_setting(const char *name)
{
	static const char *const settings[] = { "ip.DefaultTTL", "tcp.RtoAlgorithm", "tcp.RtoMin",
						"tcp.RtoMax", "tcp.MaxConn" };

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (streq(name, settings[i]))
			return true;
	return false;
}

/* Names as the kernel gives them; rates only where there is an interval. */
static struct table *add_table(struct result *r, const struct group *g, bool rates)
{
	char name[32];
	const struct column columns[] = {
		{ "value", "VALUE", VALUE_NUMBER, 0 },
		{ "rate", "PER SECOND", VALUE_NUMBER, rates ? 0 : COLUMN_HIDDEN },
		{ "name", "NAME", VALUE_TEXT, 0 },
		{ "meaning", "MEANING", VALUE_TEXT, COLUMN_FILL },
	};
	const struct column_look looks[] = {
		{ .width = 12, .decimals = 1 },
		{ .width = 10, .decimals = 2 },
		{ .width = 25 },
		{ 0 },
	};
	struct table *t;

	snprintf(name, sizeof(name), "%.*s", (int)strlen(g->prefix) - 1, g->prefix);
	t = result_table(r, name, g->title, columns, ARRAY_SIZE(columns));
	table_looks(r, t, looks);
	return t;
}

static void add_counter(struct result *r, struct table *t, const struct delta *d, u32 counter,
			size_t prefix)
{
	const struct counter *row = d->set->counters.items[counter].row;
	struct row *out;
	double value;

	if (!delta_value(d, counter, 0, &value))
		return;
	out = table_row(r, t);
	out->cells[0] = value_d(VALUE_NUMBER, value);
	if (row->kind == CUMULATIVE)
		out->cells[1] = value_d(VALUE_NUMBER, value / d->seconds);
	out->cells[2] = value_text(r, row->name + prefix);
	if (row->meaning)
		out->cells[3] = value_text(r, row->meaning);
}

static bool add_group(struct result *r, const struct delta *d, const struct group *g, bool all)
{
	struct table *t = NULL;
	size_t n = strlen(g->prefix);

	for (u32 i = 0; i < d->set->counters.len; i++) {
		const struct counter *row = d->set->counters.items[i].row;
		double value = 0;

		if (strncmp(row->name, g->prefix, n) != 0 || row->kind == RATIO ||
		    is_setting(row->name))
			continue;
		if (!delta_value(d, i, 0, &value) || !(all || value > 0))
			continue;
		if (!t)
			t = add_table(r, g, d->before != NULL);
		add_counter(r, t, d, i, n);
	}
	return t;
}

static void add_tables(struct result *r, const struct delta *d, const void *args)
{
	const struct netstat_args *a = args;
	u32 of = (a->tcp ? TCP : 0u) | (a->udp ? UDP : 0u) | (a->raw ? RAW : 0u);
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (!of || (groups[i].of & of))
			any |= add_group(r, d, &groups[i], a->all);
	if (!any)
		result_note(r, NOTE_INFO, NULL, "nothing was counted in this interval");
}

static int netstat_run(struct context *ctx, void *args)
{
	struct netstat_args *a = args;
	const struct monitor m = { .extra = add_tables, .wants = wants };
	int r = monitor_operands(ctx, &a->monitor);

	a->monitor.skip_first |= a->monitor.interval != 0;
	return r ? r : monitor_run(ctx, &m, &a->monitor, a);
}

static const struct example netstat_examples[] = {
	{ "fathom netstat -s", "what each protocol has counted since boot" },
	{ "fathom netstat -t 1 5", "what TCP counts in each of the next seconds" },
	{ "fathom netstat --json", "for programs" },
	{ 0 },
};

const struct command cmd_netstat = {
	.name = "netstat",
	.summary = "what the network protocols have counted",
	.description =
		"Prints the figures of 'netstat -s' for each protocol: since boot, or with an "
		"interval what was added in it. Counters have the kernel's names, and each has a "
		"sentence that says what it means; those that are 0 are left out.\n\n"
		"'fathom counters tcp' says more of each counter: its file, its formula and what "
		"a high value suggests.",
	.question = Q_MACHINE,
	.options = netstat_options,
	.args_size = sizeof(struct netstat_args),
	.instead_of = "nstat",
	MONITOR_OPERANDS,
	.examples = netstat_examples,
	.see_also = "fathom-counters fathom-sar fathom-ifstat netstat(8)",
	.run = netstat_run,
};
