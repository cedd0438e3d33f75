/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom buildid-cache: copies of programs and libraries by their build ids. */
#include "base/buf.h"
#include "base/log.h"
#include "cli/cli.h"
#include "symbol/keep.h"

struct cache_args {
	str_list add, remove;
	bool list, purge, flag;
	const char *folder, *value;
};

#define AT(field) .offset = offsetof(struct cache_args, field)

static const struct opt options[] = {
	{ 'a', "add", OPT_STRINGS, AT(add), .arg = "FILE", .help = "keep a copy of this file" },
	{ 'r', "remove", OPT_STRINGS, AT(remove), .arg = "FILE",
	  .help = "remove what is kept of this file, or of this build id" },
	{ 'l', "list", OPT_FLAG, AT(list), .help = "list what is kept; the default" },
	{ 'P', "purge-all", OPT_FLAG, AT(purge), .help = "remove all that is kept" },
	{ .name = "dir",
	  .type = OPT_FILE,
	  AT(folder),
	  .arg = "DIR",
	  .alias = "buildid-dir",
	  .help = "the folder (default ~/.debug, as perf has it)" },
	{ 'f', "force", OPT_FLAG, AT(flag), .flags = OPT_HIDDEN,
	  .help = "accepted for compatibility with perf" },
	OPT_END,
};

static int add_all(struct context *ctx, const struct cache_args *a, const char *folder)
{
	vec_each(path, &a->add) {
		_cleanup_buf_ struct buf id = BUF_INIT;
		int r = keep_add(folder, *path, &id, &ctx->err);

		if (r < 0)
			return r;
		log_info("%s %s: %s", buf_str(&id), *path, r ? "was there" : "kept");
	}
	return 0;
}

static int remove_all(struct context *ctx, const struct cache_args *a, const char *folder)
{
	kept_files all = { 0 };
	int r = 0;

	vec_each(name, &a->remove) {
		_cleanup_buf_ struct buf id = BUF_INIT;

		if (keep_build_id(*name, &id, NULL) < 0)
			buf_addstr(&id, *name);
		r = keep_remove(folder, buf_str(&id), &ctx->err);
		if (r < 0)
			return r;
	}
	if (a->purge)
		r = keep_list(folder, &all, &ctx->err);
	for (size_t i = 0; r >= 0 && i < all.len; i++)
		r = keep_remove(folder, all.items[i].id, &ctx->err);
	keep_list_release(&all);
	return r;
}

static int show(struct context *ctx, const char *folder)
{
	static const struct column columns[] = {
		{ "build_id", "BUILD ID", VALUE_TEXT, COLUMN_UNCUT },
		{ "path", "FILE", VALUE_TEXT, COLUMN_FILL },
	};
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_result_ struct result r = { 0 };
	kept_files all = { 0 };
	struct table *t;
	int code;

	result_init(&r, "buildid-cache");
	t = result_table(&r, "rows", NULL, columns, ARRAY_SIZE(columns));
	code = keep_list(folder, &all, &ctx->err);
	vec_each(f, &all) {
		struct row *row = table_row(&r, t);

		row->cells[0] = value_text(&r, f->id);
		row->cells[1] = value_text(&r, f->path);
		buf_addf(&text, "%s %s\n", f->id, f->path);
	}
	table_sort(t, "path", false);
	if (!all.len)
		result_note(&r, NOTE_INFO, "'fathom buildid-cache -a FILE' keeps a copy",
			    "nothing is kept in '%s'", folder);
	keep_list_release(&all);
	if (code < 0)
		return code;
	return ctx->as_perf && !cli_is_machine(ctx) ? cli_print_foreign(ctx, false, &text)
						    : cli_show(ctx, &r);
}

static int cache_run(struct context *ctx, void *args)
{
	const struct cache_args *a = args;
	_cleanup_free_ char *usual = keep_folder();
	const char *folder = a->folder ? a->folder : ctx->cache ? ctx->cache : usual;
	int r = add_all(ctx, a, folder);

	if (r >= 0)
		r = remove_all(ctx, a, folder);
	if (r >= 0 && (a->list || (!a->add.len && !a->remove.len && !a->purge)))
		r = show(ctx, folder);
	return r;
}

static const struct example examples[] = {
	{ "fathom buildid-cache", "what is kept" },
	{ "fathom buildid-cache -a ./program", "keep this build of it" },
	{ 0 },
};

const struct command cmd_buildid_cache = {
	.name = "buildid-cache",
	.summary = "keep copies of programs by their build ids",
	.description = "A recording names code by build ids; when the program is rebuilt, its "
		       "old code is gone. A copy in ~/.debug, where perf has it, too, is found "
		       "by every command that looks for names, lines and code.",
	.question = Q_LOOK,
	.options = options,
	.args_size = sizeof(struct cache_args),
	.examples = examples,
	.see_also = "fathom-buildid-list fathom-archive fathom-annotate",
	.run = cache_run,
};
