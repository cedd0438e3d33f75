/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom buildid-list: which files a recording needs. */
#include "base/buf.h"
#include "base/fmt.h"
#include "cli/profile_args.h"
#include "recorder/needed.h"

struct buildid_list_args {
	const char *input;
	bool kernel, hits, flag;
};

#define AT(field) .offset = offsetof(struct buildid_list_args, field)

static const struct opt options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "the recording, or a program or library" },
	{ 'H', "with-hits", OPT_FLAG, AT(hits), .help = "only files in which samples were taken" },
	{ 'k', "kernel", OPT_FLAG, AT(kernel), .help = "that of the running kernel" },
	{ 'f', "force", OPT_FLAG, AT(flag), .flags = OPT_HIDDEN,
	  .help = "accepted for compatibility with perf" },
	OPT_END,
};

static int show(struct context *ctx, const struct needed_files *files)
{
	static const struct column columns[] = {
		{ "build_id", "BUILD ID", VALUE_TEXT, COLUMN_UNCUT },
		{ "samples", "SAMPLES", VALUE_COUNT, 0 },
		{ "path", "FILE", VALUE_TEXT, COLUMN_FILL },
	};
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_result_ struct result r = { 0 };
	struct table *t;

	result_init(&r, "buildid-list");
	t = result_table(&r, "rows", NULL, columns, ARRAY_SIZE(columns));
	vec_each(f, &files->list) {
		struct row *row = table_row(&r, t);
		_cleanup_buf_ struct buf id = BUF_INIT;

		fmt_hex(&id, f->id, f->id_size);
		row->cells[0] = value_text(&r, f->id_size ? buf_str(&id) : NULL);
		row->cells[1] = value_u(VALUE_COUNT, f->samples);
		row->cells[2] = value_text(&r, f->path);
		if (f->id_size)
			buf_addf(&text, "%s %s\n", buf_str(&id), f->path);
	}
	/* what scripts for perf read: one line a file */
	return ctx->as_perf && !cli_is_machine(ctx) ? cli_print_foreign(ctx, false, &text)
						    : cli_show(ctx, &r);
}

static int buildid_list_run(struct context *ctx, void *args)
{
	struct buildid_list_args *a = args;
	struct needed_files files = { 0 };
	int r;

	if (a->kernel)
		r = needed_kernel(&files, &ctx->err);
	else {
		r = profile_args_input(ctx, &a->input);
		if (r)
			return r;
		if (!a->input)
			r = profile_default_input(&a->input, &ctx->err);
		if (r == 0)
			r = needed_load(&files, a->input, a->hits, &ctx->err);
	}
	if (r == 0)
		r = show(ctx, &files);
	needed_release(&files);
	return r;
}

static const struct example examples[] = {
	{ "fathom buildid-list", "the files of fathom.data, with their build ids" },
	{ "fathom buildid-list -H -i perf.data", "only those that were hit" },
	{ 0 },
};

const struct command cmd_buildid_list = {
	.name = "buildid-list",
	.summary = "the files that a recording names, with their build ids",
	.description = "Lists programs, libraries and the kernel that the recording maps, each "
		       "with the build id that was recorded, so that they and their debug files "
		       "can be found elsewhere.",
	.question = Q_LOOK,
	.options = options,
	.args_size = sizeof(struct buildid_list_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.examples = examples,
	.see_also = "fathom-buildid-cache fathom-archive",
	.run = buildid_list_run,
};
