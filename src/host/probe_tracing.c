/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows about tracefs and the function tracers in it. Files are opened, never written. */
#include "host/probes.h"

#include <fcntl.h>

static int no_tracefs(int r, struct probe_result *res)
{
	if (r == -EACCES)
		return r;
	if (r == -ENODEV)
		return probe_missing(res, "not compiled into this kernel");
	probe_missing(res, "not mounted");
	probe_fix(res, "mount -t tracefs nodev /sys/kernel/tracing");
	return 0;
}

static int try_mounted(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct tracefs *t;
	int r = probe_tracefs(ctx, &t);

	(void)p;
	if (r < 0)
		return no_tracefs(r, res);
	if (t->mounted)
		return probe_works(res, "%s", t->mounted);
	return probe_partly(res, "not mounted; fathom can use one of its own");
}

/* A word of the line in available_tracers. */
static bool lists_tracer(const char *line, const char *name)
{
	size_t n = strlen(name);

	while (*line) {
		size_t len = strcspn(line, " \n");

		if (len == n && memcmp(line, name, n) == 0)
			return true;
		line += len;
		line += strspn(line, " \n");
	}
	return false;
}

static int can_open(const struct tracefs *t, const char *file)
{
	_cleanup_close_ int fd = openat(t->fd, file, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

static int try_tracer(struct probe_ctx *ctx, const char *name, const char *const *files,
		      struct probe_result *res)
{
	_cleanup_buf_ struct buf list = BUF_INIT;
	const struct tracefs *t;
	int r = probe_tracefs(ctx, &t);

	if (r < 0)
		return no_tracefs(r, res);
	r = tracefs_read(t, "available_tracers", 1 << 16, &list, NULL);
	if (r < 0)
		return r;
	if (!lists_tracer(buf_str(&list), name))
		return probe_missing(res, "not compiled into this kernel");
	for (; *files; files++) {
		r = can_open(t, *files);
		if (r < 0)
			return r;
	}
	return probe_works(res, "its files can be opened");
}

static int try_function(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	static const char *const files[] = { "available_filter_functions", "set_ftrace_filter",
					     NULL };

	(void)p;
	return try_tracer(ctx, "function", files, res);
}

static int try_graph(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	static const char *const files[] = { "available_filter_functions", "set_graph_function",
					     "max_graph_depth", NULL };

	(void)p;
	return try_tracer(ctx, "function_graph", files, res);
}

static int try_hist(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct tracefs *t;
	int r = probe_tracefs(ctx, &t);

	(void)p;
	if (r < 0)
		return no_tracefs(r, res);
	r = can_open(t, "events/sched/sched_switch/hist");
	if (r == -ENOENT)
		return probe_missing(res, "not compiled into this kernel");
	return r < 0 ? r : probe_works(res, "its files can be opened");
}

static int try_user_events(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	const struct tracefs *t;
	int r = probe_tracefs(ctx, &t);

	(void)p;
	if (r < 0)
		return no_tracefs(r, res);
	r = can_open(t, "user_events_status");
	if (r == -ENOENT)
		return probe_missing(res, "not compiled into this kernel");
	return r < 0 ? r : probe_works(res, "its files can be opened");
}

#define NEEDS_TRACEFS CAP_BIT(CAP_DAC_READ_SEARCH)

const struct probe probes_tracing[] = {
	{ .name = "tracefs mounted",
	  .group = GROUP_TRACING,
	  .lost = "names and formats of tracepoints",
	  .fix = "mount -t tracefs nodev /sys/kernel/tracing",
	  .needs = NEEDS_TRACEFS,
	  .try = try_mounted },
	{ .name = "function tracer",
	  .group = GROUP_TRACING,
	  .lost = "traces of all kernel functions",
	  .fix = "a kernel with CONFIG_FUNCTION_TRACER that allows it",
	  .needs = NEEDS_TRACEFS,
	  .try = try_function },
	{ .name = "function_graph tracer",
	  .group = GROUP_TRACING,
	  .lost = "call graphs of kernel functions with their times",
	  .fix = "a kernel with CONFIG_FUNCTION_GRAPH_TRACER",
	  .needs = NEEDS_TRACEFS,
	  .try = try_graph },
	{ .name = "hist triggers",
	  .group = GROUP_TRACING,
	  .lost = "histograms made by ftrace; BPF maps are used",
	  .fix = "a kernel with CONFIG_HIST_TRIGGERS",
	  .needs = NEEDS_TRACEFS,
	  .try = try_hist },
	{ .name = "user_events",
	  .group = GROUP_TRACING,
	  .lost = "events that programs register themselves; markers of fathom.h work",
	  .fix = "a kernel with CONFIG_USER_EVENTS (Linux 6.4)",
	  .needs = NEEDS_TRACEFS,
	  .try = try_user_events },
	{ 0 },
};
