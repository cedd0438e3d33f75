/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/net/snmp: IP, ICMP, TCP and UDP. Counters keep the kernel's names. */
#include "counters/pairs.h"

#define COUNT(name, field, meaning, high_)                                  \
	{                                                                   \
		name, CUMULATIVE, UNIT_COUNT, field, meaning, .high = high_ \
	}
#define NOW(name, field, meaning)                                     \
	{                                                             \
		name, GAUGE, UNIT_COUNT, field, meaning, .high = NULL \
	}

static const struct counter rows[] = {
	NOW("ip.Forwarding", "Forwarding", "1: this machine forwards packets."),
	NOW("ip.DefaultTTL", "DefaultTTL", "Hops that a packet may take."),
	COUNT("ip.InReceives", "InReceives", "Packets received.", NULL),
	COUNT("ip.InHdrErrors", "InHdrErrors", "Packets with a broken header.",
	      "Broken hardware on the way."),
	COUNT("ip.InAddrErrors", "InAddrErrors", "Packets for an address that is not ours.", NULL),
	COUNT("ip.ForwDatagrams", "ForwDatagrams", "Packets forwarded.", NULL),
	COUNT("ip.InUnknownProtos", "InUnknownProtos", "Packets of an unknown protocol.", NULL),
	COUNT("ip.InDiscards", "InDiscards", "Good packets thrown away.", "No memory for buffers."),
	COUNT("ip.InDelivers", "InDelivers", "Packets delivered to TCP, UDP and others.", NULL),
	COUNT("ip.OutRequests", "OutRequests", "Packets to send.", NULL),
	COUNT("ip.OutDiscards", "OutDiscards", "Good packets not sent.", "No memory for buffers."),
	COUNT("ip.OutNoRoutes", "OutNoRoutes", "Packets without a route.", NULL),
	COUNT("ip.ReasmTimeout", "ReasmTimeout", "Fragments whose rest did not come in time.",
	      "Loss on the way."),
	COUNT("ip.ReasmReqds", "ReasmReqds", "Fragments received.", NULL),
	COUNT("ip.ReasmOKs", "ReasmOKs", "Packets put together from fragments.", NULL),
	COUNT("ip.ReasmFails", "ReasmFails", "Packets that could not be put together.",
	      "Loss on the way."),
	COUNT("ip.FragOKs", "FragOKs", "Packets sent in fragments.", NULL),
	COUNT("ip.FragFails", "FragFails", "Packets that needed fragments and must not have them.",
	      NULL),
	COUNT("ip.FragCreates", "FragCreates", "Fragments made.", NULL),
	COUNT("ip.OutTransmits", "OutTransmits", "Packets sent.", NULL),

	COUNT("icmp.InMsgs", "InMsgs", "Messages received.", NULL),
	COUNT("icmp.InErrors", "InErrors", "Messages with a fault.", NULL),
	COUNT("icmp.InDestUnreachs", "InDestUnreachs",
	      "Reports that a destination cannot be reached.", NULL),
	COUNT("icmp.InTimeExcds", "InTimeExcds", "Reports that a packet took too many hops.", NULL),
	COUNT("icmp.InEchos", "InEchos", "Pings received.", NULL),
	COUNT("icmp.InEchoReps", "InEchoReps", "Answers to pings received.", NULL),
	COUNT("icmp.OutMsgs", "OutMsgs", "Messages sent.", NULL),
	COUNT("icmp.OutErrors", "OutErrors", "Messages that could not be sent.", NULL),
	COUNT("icmp.OutDestUnreachs", "OutDestUnreachs",
	      "Reports sent that a destination cannot be reached.", NULL),
	COUNT("icmp.OutEchos", "OutEchos", "Pings sent.", NULL),
	COUNT("icmp.OutEchoReps", "OutEchoReps", "Answers to pings sent.", NULL),

	COUNT("tcp.ActiveOpens", "ActiveOpens", "Connections that this machine opened.",
	      "A client without a connection pool."),
	COUNT("tcp.PassiveOpens", "PassiveOpens", "Connections that this machine accepted.", NULL),
	COUNT("tcp.AttemptFails", "AttemptFails", "Connections that could not be made.",
	      "No listener, or a firewall refuses."),
	COUNT("tcp.EstabResets", "EstabResets", "Connections that were reset.",
	      "Peers or programs break connections off."),
	NOW("tcp.CurrEstab", "CurrEstab", "Connections that exist now."),
	COUNT("tcp.InSegs", "InSegs", "Segments received.", NULL),
	COUNT("tcp.OutSegs", "OutSegs", "Segments sent, retransmitted ones left out.", NULL),
	COUNT("tcp.RetransSegs", "RetransSegs", "Segments sent again.",
	      "Loss on the way, or an overloaded receiver: compare with tcp.OutSegs."),
	COUNT("tcp.InErrs", "InErrs", "Segments received with a fault.",
	      "Broken hardware on the way."),
	COUNT("tcp.OutRsts", "OutRsts", "Resets sent.",
	      "Connections to ports without a listener, or closed with data unread."),
	COUNT("tcp.InCsumErrors", "InCsumErrors", "Segments with a wrong checksum.",
	      "Broken hardware on the way."),
	NOW("tcp.RtoAlgorithm", "RtoAlgorithm", "How the time-out is computed: 1 is the standard."),
	NOW("tcp.RtoMin", "RtoMin", "Least time-out, ms."),
	NOW("tcp.RtoMax", "RtoMax", "Largest time-out, ms."),
	NOW("tcp.MaxConn", "MaxConn", "Limit of connections; none."),

	COUNT("udp.InDatagrams", "InDatagrams", "Datagrams delivered.", NULL),
	COUNT("udp.NoPorts", "NoPorts", "Datagrams to ports without a listener.",
	      "A service is not running, or a scan is under way."),
	COUNT("udp.InErrors", "InErrors", "Datagrams that could not be delivered.",
	      "See udp.RcvbufErrors."),
	COUNT("udp.OutDatagrams", "OutDatagrams", "Datagrams sent.", NULL),
	COUNT("udp.RcvbufErrors", "RcvbufErrors",
	      "Datagrams lost because the socket's buffer was full.",
	      "The program reads too slowly, or its buffer is too small."),
	COUNT("udp.SndbufErrors", "SndbufErrors",
	      "Datagrams not sent because the socket's buffer was full.", NULL),
	COUNT("udp.InCsumErrors", "InCsumErrors", "Datagrams with a wrong checksum.",
	      "Broken hardware on the way."),
	COUNT("udp.IgnoredMulti", "IgnoredMulti", "Multicast datagrams without a receiver.", NULL),
	COUNT("udp.MemErrors", "MemErrors",
	      "Datagrams lost because there was no memory for sockets.",
	      "net.ipv4.udp_mem is too small."),

	{ "tcp.retrans_percent", RATIO, UNIT_PERCENT, NULL,
	  "Share of segments that were sent again.",
	  .high = "Above 1: loss on the way, or an overloaded receiver.",
	  .formula = "100 * tcp.RetransSegs / (tcp.OutSegs + tcp.RetransSegs)" },
};

const struct counter_source source_snmp = {
	.prefix = "snmp",
	.path = "proc/net/snmp",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse_pairs,
};
