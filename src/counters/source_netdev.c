/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/net/dev: bytes, packets and faults of each network interface. */
#include "counters/reader.h"

#define COUNT(name, field, meaning, high_)                                         \
	{                                                                          \
		"net." name, CUMULATIVE, UNIT_COUNT, field, meaning, .high = high_ \
	}
#define BYTES(name, field, meaning)                                               \
	{                                                                         \
		"net." name, CUMULATIVE, UNIT_BYTES, field, meaning, .high = NULL \
	}

enum { NET_FIELDS = 16 };

static const struct counter rows[] = {
	BYTES("rx_bytes", "receive bytes", "Bytes received."),
	COUNT("rx_packets", "receive packets", "Packets received.", NULL),
	COUNT("rx_errors", "receive errs", "Packets received with any fault.",
	      "Cable, connector, duplex or driver."),
	COUNT("rx_dropped", "receive drop", "Packets received and thrown away by the kernel.",
	      "No buffers, no room in the backlog, or protocols without a handler."),
	COUNT("rx_fifo", "receive fifo", "Packets lost because the card's buffer was full.",
	      "The CPU does not empty the ring in time: larger rings, more queues."),
	COUNT("rx_frame", "receive frame", "Packets with a broken frame.", "Cable or connector."),
	COUNT("rx_compressed", "receive compressed", "Compressed packets received.", NULL),
	COUNT("rx_multicast", "receive multicast", "Multicast packets received.", NULL),
	BYTES("tx_bytes", "transmit bytes", "Bytes sent."),
	COUNT("tx_packets", "transmit packets", "Packets sent.", NULL),
	COUNT("tx_errors", "transmit errs", "Packets that could not be sent.", "Cable or driver."),
	COUNT("tx_dropped", "transmit drop", "Packets thrown away instead of being sent.",
	      "The queue in front of the card is full."),
	COUNT("tx_fifo", "transmit fifo", "Faults of the card's send buffer.", NULL),
	COUNT("tx_collisions", "transmit colls", "Collisions.", "Half duplex."),
	COUNT("tx_carrier", "transmit carrier", "Packets lost because the line was down.",
	      "Cable or connector."),
	COUNT("tx_compressed", "transmit compressed", "Compressed packets sent.", NULL),
};

static void parse(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len, *colon;
	struct span line, name, rest;

	while (text_line(&text, end, &line)) {
		colon = memchr(line.s, ':', line.n);
		if (!colon)
			continue;
		rest.s = colon + 1;
		rest.n = line.n - (size_t)(rest.s - line.s);
		line.n = (size_t)(colon - line.s);
		if (line_word(&line, &name))
			put_columns(r, rest, name, 0, NET_FIELDS);
	}
}

const struct counter_source source_netdev = {
	.prefix = "net",
	.path = "proc/net/dev",
	.also = "sys/class/net/*/statistics/*",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
