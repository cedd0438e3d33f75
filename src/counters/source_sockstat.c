/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/net/sockstat: sockets that exist now. */
#include "counters/reader.h"

#define NOW(name, field, meaning, high_)                                       \
	{                                                                      \
		"sock." name, GAUGE, UNIT_COUNT, field, meaning, .high = high_ \
	}
#define PAGES(name, field, meaning, high_)                                                 \
	{                                                                                  \
		"sock." name, GAUGE, UNIT_BYTES, field, meaning, .high = high_, SCALE_PAGE \
	}

static const struct counter rows[] = {
	NOW("used", "sockets used", "Sockets of all kinds.", "A program leaks descriptors."),
	NOW("tcp_inuse", "TCP inuse", "TCP sockets that listen or are connected.", NULL),
	NOW("tcp_orphan", "TCP orphan", "TCP sockets without a process, still closing.",
	    "Programs close while peers do not answer."),
	NOW("tcp_tw", "TCP tw", "TCP sockets in TIME_WAIT.", "Many short connections: reuse them."),
	NOW("tcp_alloc", "TCP alloc", "TCP sockets allocated.", NULL),
	PAGES("tcp_mem", "TCP mem", "Memory of TCP buffers.",
	      "Near the limits of net.ipv4.tcp_mem connections slow down."),
	NOW("udp_inuse", "UDP inuse", "UDP sockets.", NULL),
	PAGES("udp_mem", "UDP mem", "Memory of UDP buffers.", "Programs read too slowly."),
	NOW("udplite_inuse", "UDPLITE inuse", "UDP-Lite sockets.", NULL),
	NOW("raw_inuse", "RAW inuse", "Raw sockets: ping, captures.", NULL),
	NOW("frag_inuse", "FRAG inuse", "Packets that wait for their other fragments.", NULL),
	{ "sock.frag_memory", GAUGE, UNIT_BYTES, "FRAG memory", "Memory of such fragments.",
	  .high = NULL },
	NOW("tcp6_inuse", "TCP6 inuse", "TCP sockets of IPv6.", NULL),
	NOW("udp6_inuse", "UDP6 inuse", "UDP sockets of IPv6.", NULL),
	NOW("udplite6_inuse", "UDPLITE6 inuse", "UDP-Lite sockets of IPv6.", NULL),
	NOW("raw6_inuse", "RAW6 inuse", "Raw sockets of IPv6.", NULL),
	NOW("frag6_inuse", "FRAG6 inuse", "Packets of IPv6 that wait for fragments.", NULL),
	{ "sock.frag6_memory", GAUGE, UNIT_BYTES, "FRAG6 memory", "Memory of such fragments.",
	  .high = NULL },
};

/* "TCP: inuse 1 orphan 0" -> "TCP inuse" 1, "TCP orphan" 0 */
static void parse_line(struct reader *r, struct span line)
{
	struct span group, key;
	char field[64];
	u64 value;

	if (!line_word(&line, &group) || group.s[group.n - 1] != ':')
		return;
	while (line_word(&line, &key) && line_number(&line, &value)) {
		int n = snprintf(field, sizeof(field), "%.*s %.*s", (int)MIN(group.n - 1, 24u),
				 group.s, (int)MIN(key.n, 32u), key.s);

		reader_put(r, (struct span){ field, (size_t)n }, SPAN_NONE, value);
	}
}

static int read_all(struct reader *r)
{
	static const char *const paths[] = { "proc/net/sockstat", "proc/net/sockstat6" };
	int first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *text, *end;
		struct span line;
		size_t len;
		int rc = reader_text(r, paths[i], &text, &len);

		if (rc < 0) {
			first = i ? first : rc;
			continue;
		}
		end = text + len;
		while (text_line(&text, end, &line))
			parse_line(r, line);
	}
	return first;
}

const struct counter_source source_sockstat = {
	.prefix = "sock",
	.path = "proc/net/sockstat",
	.flags = SOURCE_GAUGES,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
};
