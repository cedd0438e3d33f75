/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tool/recorded.h"

#include "tool/kernel_events.h"
#include "base/io.h"

static const struct {
	const char *tool;
	enum kernel_events_what what;
} readers[] = {
	{ "lock", KERNEL_LOCKS },
	{ "kmem", KERNEL_MEMORY },
	{ "kwork", KERNEL_WORK },
};

static size_t find(const struct tool *t)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(readers) && (t->path || !streq(readers[i].tool, t->name)))
		i++;
	return i;
}

bool recorded_reads(const struct tool *t)
{
	return find(t) < ARRAY_SIZE(readers);
}

/* A flag of the tool's header. */
static bool flag(const struct tool *t, const struct tool_args *a, const char *name)
{
	for (size_t i = 0; i < t->header.options.len; i++)
		if (streq(t->header.options.items[i].name, name)) {
			bool on;

			memcpy(&on, &a->values[i], sizeof(on));
			return on;
		}
	return false;
}

/* Options that need the running kernel, or a table of another kind. */
static const char *live_option(const struct context *ctx, const struct tool *t,
			       const struct tool_args *a)
{
	const struct {
		bool given;
		const char *name;
	} live[] = {
		{ a->pids.len, "--pid" },
		{ a->tids.len, "--tid" },
		{ a->users.len, "--user" },
		{ a->cgroups.len, "--cgroup" },
		{ a->comm, "--comm" },
		{ a->children, "--children" },
		{ a->duration, "--duration" },
		{ a->interval, "--interval" },
		{ a->timestamp, "--timestamp" },
		{ a->sort, "--sort" },
		{ a->filter, "--filter" },
		{ a->flame, "--flame" },
		{ ctx->program, "a program" },
		{ ctx->operands.len, "an interval" },
		{ flag(t, a, "owner"), "--owner" },
		{ flag(t, a, "page"), "--page" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(live); i++)
		if (live[i].given)
			return live[i].name;
	return NULL;
}

static int show(struct context *ctx, const struct tool_args *a, struct result *r)
{
	FILE *file, *out = ctx->out;
	int rc = output_check(ctx, &a->output, NULL);

	if (a->json)
		ctx->common.format = "json";
	if (rc)
		return rc;
	if (!a->output.path || streq(a->output.path, "-"))
		return cli_show(ctx, r);
	file = fopen(a->output.path, "we");
	if (!file)
		return io_cannot_create(a->output.path, errno, &ctx->err);
	ctx->out = file;
	rc = cli_show(ctx, r);
	ctx->out = out;
	if (fclose(file) == EOF && rc == 0)
		rc = err_sys(&ctx->err, errno, "cannot write '%s'", a->output.path);
	return rc;
}

int recorded_run(struct context *ctx, const struct tool *t, const struct tool_args *a)
{
	_cleanup_result_ struct result r = { 0 };
	struct kernel_events_opts opts = { .what = readers[find(t)].what, .top = a->top };
	const char *live = live_option(ctx, t, a);
	int rc;

	result_init(&r, t->name);
	if (live) {
		err_set(&ctx->err, EINVAL, "%s has no meaning for a recording", live);
		err_hint(&ctx->err, "without -i the running kernel is watched");
		return EXIT_USAGE;
	}
	if (flag(t, a, "lock-addr"))
		opts.by = LOCKS_BY_LOCK;
	else if (flag(t, a, "threads"))
		opts.by = LOCKS_BY_THREAD;
	opts.cross = flag(t, a, "cross");
	if (flag(t, a, "latency"))
		opts.what = KERNEL_WORK_LATENCY;
	rc = kernel_events_read(a->input, &opts, &r, &ctx->err);
	return rc ? rc : show(ctx, a, &r);
}
