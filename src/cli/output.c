/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include "base/io.h"
#include "base/log.h"

#define AT(field) .offset = offsetof(struct output_args, field)

const struct opt output_options[] = {
	{ 'o', "output", OPT_FILE, AT(path), .arg = "FILE", .group = "Output",
	  .help = "write to this file, - is stdout; its suffix chooses among formats" },
	{ .name = "force",
	  .type = OPT_FLAG,
	  AT(force),
	  .group = "Output",
	  .help = "overwrite the file" },
	OPT_END,
};

bool output_is(const struct output_args *o, const char *extension)
{
	const char *dot = o->path ? strrchr(o->path, '.') : NULL;

	return dot && streq(dot + 1, extension);
}

static bool is_known(const struct output_args *o, const char *extensions)
{
	_cleanup_free_ char *copy = xstrdup(extensions);
	char *save = NULL;

	for (char *x = strtok_r(copy, " ", &save); x; x = strtok_r(NULL, " ", &save))
		if (output_is(o, x))
			return true;
	return false;
}

static int refuse_existing(struct context *ctx, const struct output_args *o)
{
	if (o->force || !io_exists(o->path) || io_is_special(o->path))
		return 0;
	err_set(&ctx->err, EEXIST, "'%s' exists", o->path);
	err_hint(&ctx->err, "--force overwrites it");
	return EXIT_FAILED;
}

int output_check(struct context *ctx, const struct output_args *o, const char *extensions)
{
	if (!o->path || streq(o->path, "-"))
		return 0;
	if (extensions && !is_known(o, extensions)) {
		err_set(&ctx->err, EINVAL, "cannot tell the format of '%s' by its name", o->path);
		err_hint(&ctx->err, "the name ends in one of these, after a dot: %s", extensions);
		return EXIT_USAGE;
	}
	return refuse_existing(ctx, o);
}

int output_write(struct context *ctx, const struct output_args *o, const struct buf *text)
{
	bool page = output_is(o, "svg") || output_is(o, "html");
	int r;

	if (!o->path || streq(o->path, "-"))
		return cli_print(ctx, text);
	r = refuse_existing(ctx, o);
	if (!r)
		r = io_write_file_atomic(o->path, buf_str(text), text->len, &ctx->err);
	if (!r && !io_is_special(o->path))
		log_warn("wrote '%s', %zu KiB%s", o->path, DIV_ROUND_UP(text->len, (size_t)1024),
			 page ? ": open it in a browser" : "");
	return r;
}
