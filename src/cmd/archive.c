/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom archive: a recording with the files that it needs, in one tar. */
#include "base/buf.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/tar.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "recorder/needed.h"
#include "symbol/keep.h"

struct archive_args {
	const char *input;
	struct output_args output;
	bool hits;
};

#define AT(field) .offset = offsetof(struct archive_args, field)

static const struct opt options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "the recording (default fathom.data, else perf.data)" },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ 'H', "with-hits", OPT_FLAG, AT(hits), .help = "only files in which samples were taken" },
	OPT_END,
};

struct counts {
	u64 kept, debug, gone, other;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What the file was stripped of, where it is on this machine. */
static int add_debug(int fd, const struct needed_file *f, const char *id, struct counts *c,
		     struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	_cleanup_free_ char *name = xasprintf("%s/%s/debug", f->path + 1, id);
	int r;

	if (keep_find_debug(f->path, &path) < 0)
		return 0;
	r = tar_copy(fd, name, buf_str(&path), e);
	c->debug += r >= 0;
	return r;
}

/* The file as it is now must be the recorded one. */
static int add_file(int fd, const struct needed_file *f, struct counts *c, struct err *e)
{
	_cleanup_buf_ struct buf id = BUF_INIT, now = BUF_INIT;
	_cleanup_free_ char *name = NULL, *link = NULL, *to = NULL;
	int r;

	if (f->path[0] != '/' || f->path[1] == '/' || strstr(f->path, "/../"))
		return 0;
	fmt_hex(&id, f->id, f->id_size);
	if (keep_build_id(f->path, &now, NULL) < 0 || now.len < 4) {
		c->gone++;
		return 0;
	}
	if (f->id_size && !streq(buf_str(&id), buf_str(&now))) {
		c->other++;
		return 0;
	}
	name = xasprintf("%s/%s/elf", f->path + 1, buf_str(&now));
	/* not by buf_str(): gcc takes its "" of an empty buffer for what is read here */
	link = xasprintf(".build-id/%.2s/%s", now.data, now.data + 2);
	to = xasprintf("../..%s/%s", f->path, buf_str(&now));
	r = tar_copy(fd, name, f->path, e);
	if (r >= 0)
		r = tar_link(fd, link, to, 0);
	c->kept += r >= 0;
	return r < 0 ? r : add_debug(fd, f, buf_str(&now), c, e);
}

static int write_all(struct context *ctx, const struct archive_args *a, int fd, struct counts *c)
{
	struct needed_files files = { 0 };
	int r = needed_load(&files, a->input, a->hits, &ctx->err);

	if (r >= 0)
		r = tar_copy(fd, last_part(a->input), a->input, &ctx->err);
	for (size_t i = 0; r >= 0 && i < files.list.len; i++)
		r = add_file(fd, &files.list.items[i], c, &ctx->err);
	if (r >= 0)
		r = tar_end(fd);
	needed_release(&files);
	return r;
}

static int archive_run(struct context *ctx, void *args)
{
	struct archive_args *a = args;
	_cleanup_free_ char *usual = NULL;
	struct outfile o = OUTFILE_INIT;
	struct counts c = { 0 };
	int r = profile_args_input(ctx, &a->input);

	if (r)
		return r;
	if (!a->input)
		r = profile_default_input(&a->input, &ctx->err);
	if (r < 0)
		return r;
	usual = a->output.path ? NULL : xasprintf("%s.tar", a->input);
	if (usual)
		a->output.path = usual;
	a->output.force |= ctx->as_perf;
	r = output_check(ctx, &a->output, NULL);
	if (r)
		return r;
	r = outfile_open(&o, a->output.path, &ctx->err);
	if (r >= 0)
		r = write_all(ctx, a, o.fd, &c);
	if (r >= 0)
		r = outfile_commit(&o);
	if (r < 0 && !ctx->err.what)
		err_sys(&ctx->err, -r, "cannot write '%s'", a->output.path);
	outfile_release(&o);
	if (r < 0)
		return r;
	log_warn("%s: the recording, %llu files, %llu debug files; %llu are gone, %llu are another "
		 "build",
		 a->output.path, (unsigned long long)c.kept, (unsigned long long)c.debug,
		 (unsigned long long)c.gone, (unsigned long long)c.other);
	log_warn(
		"elsewhere: mkdir -p ~/.debug; tar xf %s -C ~/.debug; fathom report -i ~/.debug/%s",
		a->output.path, last_part(a->input));
	return 0;
}

static const struct example examples[] = {
	{ "fathom archive", "fathom.data with its files, as fathom.data.tar" },
	{ "fathom archive -i perf.data -o case.tar", "under another name" },
	{ 0 },
};

const struct command cmd_archive = {
	.name = "archive",
	.summary = "a recording with the files that it needs, in one tar",
	.description = "Puts a recording and the programs and libraries that it names into one "
		       "file, with the debug files of those that are stripped, in the form in "
		       "which perf archive has it: unpacked into ~/.debug, all views find names, "
		       "lines and code there, on any machine. Files that have been rebuilt since "
		       "are left out and counted.",
	.question = Q_LOOK,
	.options = options,
	.args_size = sizeof(struct archive_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.only_form = "a tar file",
	.examples = examples,
	.see_also = "fathom-buildid-list fathom-buildid-cache fathom-annotate",
	.run = archive_run,
};
