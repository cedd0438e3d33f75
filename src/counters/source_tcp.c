/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/net/tcp and tcp6: sockets by state. A line for each socket: costly where there are many. */
#include "counters/reader.h"

#include "base/parse.h"

#define STATE(name, field, meaning, high_)                                         \
	{                                                                          \
		"tcpstate." name, GAUGE, UNIT_COUNT, field, meaning, .high = high_ \
	}

enum { STATES = 12 };

/* In the order of the kernel's numbers, from 1 on. */
static const struct counter rows[] = {
	STATE("established", "01", "Connections.", NULL),
	STATE("syn_sent", "02", "Connections that wait for an answer.",
	      "Servers do not answer, or a firewall drops."),
	STATE("syn_recv", "03", "Connections that are being accepted.", "A SYN flood."),
	STATE("fin_wait1", "04", "Closed here, not yet acknowledged.", NULL),
	STATE("fin_wait2", "05", "Closed here, not yet by the peer.",
	      "Peers do not close their side."),
	STATE("time_wait", "06", "Closed by both, kept for late packets.",
	      "Many short connections: reuse them."),
	STATE("close", "07", "Not in use.", NULL),
	STATE("close_wait", "08", "Closed by the peer, not yet here.",
	      "A program does not close its sockets."),
	STATE("last_ack", "09", "Closed by both, not yet acknowledged.", NULL),
	STATE("listen", "0A", "Sockets that accept connections.", NULL),
	STATE("closing", "0B", "Closed by both at the same time.", NULL),
	STATE("new_syn_recv", "0C", "Requests for connections.", NULL),
};

static void count_states(const char *text, size_t len, u64 *counts)
{
	const char *end = text + len;
	struct span line, word;

	while (text_line(&text, end, &line)) {
		const char *at;
		u64 state;
		bool good = true;

		for (int i = 0; i < 4 && good; i++)
			good = line_word(&line, &word);
		at = word.s;
		if (good && scan_u64(&at, word.s + word.n, 16, &state) && state >= 1 &&
		    state <= STATES)
			counts[state - 1]++;
	}
}

static int read_all(struct reader *r)
{
	static const char *const paths[] = { "proc/net/tcp", "proc/net/tcp6" };
	u64 counts[STATES] = { 0 };
	const char *text;
	size_t len;
	int first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int rc = reader_text(r, paths[i], &text, &len);

		if (rc == 0)
			count_states(text, len, counts);
		else if (!i)
			first = rc;
	}
	for (size_t i = 0; !first && i < STATES; i++)
		reader_put_row(r, i, SPAN_NONE, counts[i]);
	return first;
}

const struct counter_source source_tcp = {
	.prefix = "tcpstate",
	.path = "proc/net/tcp",
	.flags = SOURCE_COSTLY | SOURCE_GAUGES,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
};
