/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/sys: tables of the kernel that can be full. */
#include "counters/reader.h"

static const struct counter rows[] = {
	{ "fs.files", GAUGE, UNIT_COUNT, "file-nr", "Open files of all processes.",
	  .high = "Near fs.files_max every open fails." },
	{ "fs.files_max", GAUGE, UNIT_COUNT, "file-nr, third number", "Limit of that.",
	  .high = NULL },
	{ "fs.inodes", GAUGE, UNIT_COUNT, "inode-nr", "Inodes in memory.", .high = NULL },
	{ "fs.inodes_free", GAUGE, UNIT_COUNT, "inode-nr, second number", "Of these, unused ones.",
	  .high = NULL },
	{ "fs.dentries", GAUGE, UNIT_COUNT, "dentry-state", "Names of files in memory.",
	  .high = NULL },
	{ "fs.aio", GAUGE, UNIT_COUNT, "aio-nr", "Requests that asynchronous I/O has room for.",
	  .high = "Near fs.aio_max io_setup() fails." },
	{ "fs.aio_max", GAUGE, UNIT_COUNT, "aio-max-nr", "Limit of that.", .high = NULL },
	{ "system.pid_max", GAUGE, UNIT_COUNT, "pid_max", "Limit of process numbers.",
	  .high = NULL },
	{ "system.threads_max", GAUGE, UNIT_COUNT, "threads-max", "Limit of threads.",
	  .high = NULL },
};

/* Numbers of a file, in order, to these rows; -1: not of interest. */
static const struct {
	const char *path;
	s8 rows[3];
} files[] = {
	{ "proc/sys/fs/file-nr", { 0, -1, 1 } },
	{ "proc/sys/fs/inode-nr", { 2, 3, -1 } },
	{ "proc/sys/fs/dentry-state", { 4, -1, -1 } },
	{ "proc/sys/fs/aio-nr", { 5, -1, -1 } },
	{ "proc/sys/fs/aio-max-nr", { 6, -1, -1 } },
	{ "proc/sys/kernel/pid_max", { 7, -1, -1 } },
	{ "proc/sys/kernel/threads-max", { 8, -1, -1 } },
};

static int read_all(struct reader *r)
{
	int found = 0, rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct span line;
		const char *text;
		u64 value;
		int one = reader_text(r, files[i].path, &text, &line.n);

		line.s = text;
		if (one < 0) {
			rc = one;
			continue;
		}
		found++;
		while (line.n && line.s[line.n - 1] == '\n')
			line.n--;
		for (size_t k = 0; k < ARRAY_SIZE(files[i].rows) && line_number(&line, &value); k++)
			if (files[i].rows[k] >= 0)
				reader_put_row(r, (size_t)files[i].rows[k], SPAN_NONE, value);
	}
	return found ? 0 : rc;
}

const struct counter_source source_limits = {
	.prefix = "fs",
	.path = "proc/sys/fs/*",
	.flags = SOURCE_GAUGES,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
};
