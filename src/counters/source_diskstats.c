/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/diskstats: requests, bytes and times of each block device and partition. */
#include "counters/reader.h"

#include <fcntl.h>

#define COUNT(name, field, meaning, high_)                                          \
	{                                                                           \
		"disk." name, CUMULATIVE, UNIT_COUNT, field, meaning, .high = high_ \
	}
#define BYTES(name, field, meaning)                                                              \
	{                                                                                        \
		"disk." name, CUMULATIVE, UNIT_BYTES, field, meaning, .high = NULL, SCALE_SECTOR \
	}
/* The kernel's times are unsigned ints of milliseconds: they wrap after 49.7 days. */
#define MS(name, field, meaning, high_)                                                       \
	{                                                                                     \
		"disk." name, CUMULATIVE, UNIT_TIME, field, meaning, .high = high_, SCALE_MS, \
								     .bits = 32               \
	}

enum { DISK_FIELDS = 17 };

static const struct counter rows[] = {
	COUNT("reads", "reads", "Read requests completed.", NULL),
	COUNT("reads_merged", "reads merged", "Reads that were joined with a neighbour.", NULL),
	BYTES("read_bytes", "sectors read", "Bytes read."),
	MS("read_time", "ms reading", "Time that read requests took, waiting in queues included.",
	   NULL),
	COUNT("writes", "writes", "Write requests completed.", NULL),
	COUNT("writes_merged", "writes merged", "Writes that were joined with a neighbour.", NULL),
	BYTES("write_bytes", "sectors written", "Bytes written."),
	MS("write_time", "ms writing", "Time that write requests took, waiting included.", NULL),
	{ "disk.in_flight", GAUGE, UNIT_COUNT, "in flight", "Requests that are not finished yet.",
	  .high = "The device cannot keep up, or many requests are issued at once." },
	MS("busy_time", "ms busy", "Time in which at least one request was in flight.", NULL),
	MS("queue_time", "weighted ms", "Time of all requests together, those in flight included.",
	   NULL),
	COUNT("discards", "discards", "Discard (trim) requests completed.", NULL),
	COUNT("discards_merged", "discards merged", "Discards that were joined.", NULL),
	BYTES("discard_bytes", "sectors discarded", "Bytes discarded."),
	MS("discard_time", "ms discarding", "Time that discard requests took.", NULL),
	COUNT("flushes", "flushes", "Flush requests completed.",
	      "Programs force data to disk often: fsync of databases and journals."),
	MS("flush_time", "ms flushing", "Time that flush requests took.", NULL),

	{ "disk.whole", GAUGE, UNIT_COUNT, "1 if it is in /sys/block",
	  "1: a whole device, 0: a partition.", .high = NULL },

	{ "disk.read_await", RATIO, UNIT_TIME, NULL, "Mean time of a read, from issue to end.",
	  .high = "The device is slow or its queue long.",
	  .formula = "disk.read_time / disk.reads" },
	{ "disk.write_await", RATIO, UNIT_TIME, NULL, "Mean time of a write, from issue to end.",
	  .high = "The device is slow or its queue long.",
	  .formula = "disk.write_time / disk.writes" },
	{ "disk.discard_await", RATIO, UNIT_TIME, NULL, "Mean time of a discard.", .high = NULL,
	  .formula = "opt(disk.discard_time) / opt(disk.discards)" },
	{ "disk.flush_await", RATIO, UNIT_TIME, NULL, "Mean time of a flush.",
	  .high = "Every fsync pays this.", .formula = "opt(disk.flush_time) / opt(disk.flushes)" },
	{ "disk.await", RATIO, UNIT_TIME, NULL, "Mean time of a request of any kind.",
	  .high = "The device is slow or its queue long.",
	  .formula = "(disk.read_time + disk.write_time + opt(disk.discard_time)) / "
		     "(disk.reads + disk.writes + opt(disk.discards))" },
	{ "disk.queue", RATIO, UNIT_NUMBER, NULL, "Mean number of requests in flight.",
	  .high = "Above 1: requests wait for each other, unless the device works in parallel.",
	  .formula = "(disk.read_time + disk.write_time + opt(disk.discard_time) + "
		     "opt(disk.flush_time)) / 1000000000 / seconds" },
	{ "disk.busy_percent", RATIO, UNIT_PERCENT, NULL, "Share of time with a request in flight.",
	  .high = "Near 100 a disk is saturated; a device that works in parallel may have room "
		  "left.",
	  .formula = "min(100 * disk.busy_time / 1000000000 / seconds, 100)" },
};

/* Partitions are not listed there; a '/' in a name is a '!'. */
static bool is_whole(struct reader *r, struct span name)
{
	char path[SET_NAME_MOST];
	int n = snprintf(path, sizeof(path), "sys/block/%.*s", (int)MIN(name.n, 200u), name.s);

	for (int i = 10; i < n; i++)
		if (path[i] == '/')
			path[i] = '!';
	return faccessat(r->root, path, F_OK, 0) == 0;
}

static void parse(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span line, name;
	u64 number;

	while (text_line(&text, end, &line)) {
		if (!line_number(&line, &number) || !line_number(&line, &number) ||
		    !line_word(&line, &name))
			continue;
		put_columns(r, line, name, 0, DISK_FIELDS);
		reader_put_row(r, DISK_FIELDS, name, is_whole(r, name));
	}
}

const struct counter_source source_diskstats = {
	.prefix = "disk",
	.path = "proc/diskstats",
	.also = "sys/block/*/stat sys/block/*/*/stat sys/class/block/*/stat",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
