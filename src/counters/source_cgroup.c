/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control groups, version 2 and version 1: CPU time, throttling, memory, tasks, pressure. An
 * instance is the path of the group; groups deeper than a few levels, or too many, are left out.
 */
#include "counters/reader.h"

#include "host/cgroup.h"

#include <dirent.h>
#include <fcntl.h>

enum { DEPTH_MOST = 6, GROUPS_MOST = 2000 };

enum row {
	CPU_USAGE,
	CPU_USER,
	CPU_SYSTEM,
	PERIODS,
	THROTTLED,
	THROTTLED_TIME,
	MEMORY,
	MEMORY_MAX,
	TASKS,
	TASKS_MAX,
	CPU_QUOTA,
	CPU_PERIOD,
	PRESSURE_CPU,
	PRESSURE_IO,
	PRESSURE_MEMORY,
};

static const struct counter rows[] = {
	{ "cgroup.cpu", CUMULATIVE, UNIT_TIME, "usage_usec", "CPU time of the group.", .high = NULL,
	  SCALE_US },
	{ "cgroup.cpu_user", CUMULATIVE, UNIT_TIME, "user_usec", "Part of that in user mode.",
	  .high = NULL, SCALE_US },
	{ "cgroup.cpu_system", CUMULATIVE, UNIT_TIME, "system_usec", "Part of that in the kernel.",
	  .high = NULL, SCALE_US },
	{ "cgroup.periods", CUMULATIVE, UNIT_COUNT, "nr_periods",
	  "Periods in which the group's quota was in force.", .high = NULL },
	{ "cgroup.throttled", CUMULATIVE, UNIT_COUNT, "nr_throttled",
	  "Periods in which the group used up its quota.",
	  .high = "The group waits for its own limit: raise cpu.max." },
	{ "cgroup.throttled_time", CUMULATIVE, UNIT_TIME, "throttled_usec",
	  "Time that the group's tasks were stopped for that.",
	  .high = "The group waits for its own limit: raise cpu.max.", SCALE_US },
	{ "cgroup.memory", GAUGE, UNIT_BYTES, "memory.current", "Memory of the group, caches too.",
	  .high = "Near cgroup.memory_max the group reclaims, then is killed." },
	{ "cgroup.memory_max", GAUGE, UNIT_BYTES, "memory.max", "Limit of that.", .high = NULL },
	{ "cgroup.tasks", GAUGE, UNIT_COUNT, "pids.current", "Tasks of the group.", .high = NULL },
	{ "cgroup.tasks_max", GAUGE, UNIT_COUNT, "pids.max", "Limit of that.", .high = NULL },
	{ "cgroup.cpu_quota", GAUGE, UNIT_TIME, "cpu.max", "CPU time that it may use in a period.",
	  .high = NULL, SCALE_US },
	{ "cgroup.cpu_period", GAUGE, UNIT_TIME, "cpu.max", "That period.", .high = NULL,
	  SCALE_US },
	{ "cgroup.pressure_cpu", CUMULATIVE, UNIT_TIME, "cpu.pressure",
	  "Time in which a task of the group waited for a CPU.",
	  .high = "Too few CPUs, or the group's quota: look at cgroup.throttled_time.", SCALE_US },
	{ "cgroup.pressure_io", CUMULATIVE, UNIT_TIME, "io.pressure",
	  "Time in which a task of the group waited for I/O.",
	  .high = "Disks hold the group up (fathom offcpu --state D).", SCALE_US },
	{ "cgroup.pressure_memory", CUMULATIVE, UNIT_TIME, "memory.pressure",
	  "Time in which a task of the group waited for memory.",
	  .high = "Its memory is short: reclaim holds it up; raise memory.max.", SCALE_US },
};

/* Files of a group: a number alone, or keyed lines. */
static const struct group_file {
	const char *name;
	const char *key; /* NULL: the number is all; "0", "1": the word of that place */
	enum row row;
	u32 divide; /* nanoseconds, where the row has microseconds */
} v2_files[] = {
	{ "cpu.stat", "usage_usec", CPU_USAGE, 1 },
	{ "cpu.stat", "user_usec", CPU_USER, 1 },
	{ "cpu.stat", "system_usec", CPU_SYSTEM, 1 },
	{ "cpu.stat", "nr_periods", PERIODS, 1 },
	{ "cpu.stat", "nr_throttled", THROTTLED, 1 },
	{ "cpu.stat", "throttled_usec", THROTTLED_TIME, 1 },
	{ "memory.current", NULL, MEMORY, 1 },
	{ "memory.max", NULL, MEMORY_MAX, 1 },
	{ "pids.current", NULL, TASKS, 1 },
	{ "pids.max", NULL, TASKS_MAX, 1 },
	{ "cpu.max", "0", CPU_QUOTA, 1 },
	{ "cpu.max", "1", CPU_PERIOD, 1 },
	{ "cpu.pressure", "some", PRESSURE_CPU, 1 },
	{ "io.pressure", "some", PRESSURE_IO, 1 },
	{ "memory.pressure", "some", PRESSURE_MEMORY, 1 },
}, v1_files[] = {
	{ "cpuacct.usage", NULL, CPU_USAGE, 1000 },
	{ "cpuacct.usage_user", NULL, CPU_USER, 1000 },
	{ "cpuacct.usage_sys", NULL, CPU_SYSTEM, 1000 },
	{ "cpu.stat", "nr_periods", PERIODS, 1 },
	{ "cpu.stat", "nr_throttled", THROTTLED, 1 },
	{ "cpu.stat", "throttled_time", THROTTLED_TIME, 1000 },
	{ "memory.usage_in_bytes", NULL, MEMORY, 1 },
	{ "memory.limit_in_bytes", NULL, MEMORY_MAX, 1 },
	{ "pids.current", NULL, TASKS, 1 },
	{ "pids.max", NULL, TASKS_MAX, 1 },
	{ "cpu.cfs_quota_us", NULL, CPU_QUOTA, 1 },
	{ "cpu.cfs_period_us", NULL, CPU_PERIOD, 1 },
}, pressure_files[] = { /* of version 2 beside version 1 */
	{ "cpu.pressure", "some", PRESSURE_CPU, 1 },
	{ "io.pressure", "some", PRESSURE_IO, 1 },
	{ "memory.pressure", "some", PRESSURE_MEMORY, 1 },
};

/* Version 1 writes the largest number where there is no limit. */
#define NO_LIMIT (1ull << 62)

struct walk {
	struct reader *r;
	const struct group_file *files;
	size_t n_files;
	size_t mount; /* bytes of the path before the group's own */
	struct buf path;
	u32 groups;
};

static bool is_place(const char *key)
{
	return *key >= '0' && *key <= '9';
}

/* "avg10=0.00 avg60=0.00 avg300=0.00 total=12" */
static bool find_total(struct span line, u64 *ret)
{
	static const char total[] = "total=";
	const size_t n = sizeof(total) - 1;
	struct span word;

	while (line_word(&line, &word))
		if (word.n > n && !memcmp(word.s, total, n))
			return span_number((struct span){ word.s + n, word.n - n }, ret);
	return false;
}

static bool find_value(const struct group_file *f, const char *text, size_t len, u64 *ret)
{
	const char *end = text + len;
	struct span line, key;

	if (!f->key)
		return span_number((struct span){ text, len }, ret);
	if (is_place(f->key)) {
		line = (struct span){ text, len };
		for (int i = *f->key - '0'; i; i--)
			if (!line_word(&line, &key))
				return false;
		return line_number(&line, ret);
	}
	while (text_line(&text, end, &line))
		if (line_word(&line, &key) && span_is(key, f->key))
			return streq(f->key, "some") ? find_total(line, ret)
						     : line_number(&line, ret);
	return false;
}

static void read_group(struct walk *w)
{
	const char *name = buf_str(&w->path) + w->mount;
	struct span instance = *name ? SPAN(name) : SPAN("/");
	char *group = xstrndup(instance.s, instance.n);
	size_t base = w->path.len, len = 0;
	const char *text = NULL, *last = NULL;

	for (size_t i = 0; i < w->n_files; i++) {
		const struct group_file *f = &w->files[i];
		u64 value;

		/* several values of one file lie next to each other */
		if (!last || !streq(last, f->name)) {
			buf_addf(&w->path, "/%s", f->name);
			if (reader_text(w->r, buf_str(&w->path), &text, &len) < 0)
				text = NULL;
			buf_truncate(&w->path, base);
			last = f->name;
		}
		if (text && find_value(f, text, len, &value) && value < NO_LIMIT)
			reader_put_row(w->r, f->row, SPAN(group), value / f->divide);
	}
	free(group);
}

static void walk(struct walk *w, int depth)
{
	int fd = openat(w->r->root, buf_str(&w->path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t base = w->path.len;
	const struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (w->groups++ < GROUPS_MOST)
		read_group(w);
	while (depth < DEPTH_MOST && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		buf_addf(&w->path, "/%s", d->d_name);
		walk(w, depth + 1);
		buf_truncate(&w->path, base);
	}
	closedir(dir);
}

static void walk_mount(struct reader *r, const char *mount, const struct group_file *files,
		       size_t n)
{
	struct walk w = { .r = r, .files = files, .n_files = n };

	/* below the root, whatever that is */
	buf_addstr(&w.path, mount + (*mount == '/'));
	w.mount = w.path.len;
	walk(&w, 0);
	buf_release(&w.path);
}

static int read_all(struct reader *r)
{
	static const char *const v1_controllers[] = { "cpuacct", "cpu", "memory", "pids" };
	_cleanup_cgroup_mounts_ struct cgroup_mounts m = CGROUP_MOUNTS_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	const char *text;
	size_t len;
	int rc = reader_text(r, "proc/self/mountinfo", &text, &len);

	if (rc < 0)
		return rc;
	cgroup_mounts_parse(text, len, &m);
	if (!m.v2 && !m.v1_count)
		return -ENOENT;
	if (!m.v1_count) {
		walk_mount(r, m.v2, v2_files, ARRAY_SIZE(v2_files));
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(v1_controllers); i++) {
		buf_reset(&path);
		buf_addf(&path, "/sys/fs/cgroup/%s", v1_controllers[i]);
		walk_mount(r, buf_str(&path), v1_files, ARRAY_SIZE(v1_files));
	}
	if (m.v2)
		walk_mount(r, m.v2, pressure_files, ARRAY_SIZE(pressure_files));
	return 0;
}

const struct counter_source source_cgroup = {
	.prefix = "cgroup",
	.path = "sys/fs/cgroup/*",
	.flags = SOURCE_COSTLY,
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
	.needs = "control groups have to be mounted",
};
