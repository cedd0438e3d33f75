/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom data convert: a recording in another format. */
#include "base/io.h"
#include "base/outfile.h"
#include "base/stop.h"
#include "cli/profile_args.h"
#include "view/data_json.h"

#include <sys/stat.h>

struct data_args {
	const char *input, *json, *ctf, *value;
	bool force, flag;
};

static int refuse_ctf(void *field UNUSED, const char *text UNUSED, struct err *e)
{
	err_set(e, EOPNOTSUPP, "CTF is not written");
	err_hint(e, "--to-json writes all samples; 'fathom export' has Chrome's and Perfetto's "
		    "traces");
	return -EOPNOTSUPP;
}

#define AT(field) .offset = offsetof(struct data_args, field)

static const struct opt data_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "the recording (default fathom.data, else perf.data)" },
	{ .name = "to-json",
	  .type = OPT_FILE,
	  AT(json),
	  .arg = "FILE",
	  .help = "write perf's JSON: every sample with its call chain" },
	{ .name = "to-ctf",
	  .type = OPT_CUSTOM,
	  AT(ctf),
	  .arg = "DIR",
	  .flags = OPT_HIDDEN,
	  .parse = refuse_ctf,
	  .help = "perf's: the Common Trace Format" },
	{ 'f', "force", OPT_FLAG, AT(force), .help = "overwrite an existing file" },
	{ .name = "all",
	  .type = OPT_FLAG,
	  AT(flag),
	  .flags = OPT_HIDDEN,
	  .alias = "tod",
	  .help = "accepted for compatibility with perf" },
	OPT_END,
};

static int write_text(void *ctx, const char *text, size_t n)
{
	return io_write_all(*(const int *)ctx, text, n);
}

static int convert(struct context *ctx, const struct data_args *a, const char *input)
{
	struct outfile o = OUTFILE_INIT;
	struct recording *r = NULL;
	struct stat st;
	u64 samples = 0;
	int code = recording_open(input, &r, &ctx->err);

	if (code == 0)
		code = outfile_open(&o, a->json, &ctx->err);
	if (code == 0)
		code = data_json(r, stat(input, &st) == 0 ? (u64)st.st_mtime : 0, write_text, &o.fd,
				 &samples, &ctx->err);
	if (code == 0)
		code = outfile_commit(&o);
	if (code < 0 && !ctx->err.what)
		err_sys(&ctx->err, -code, "cannot write '%s'", a->json);
	if (code == 0 && !ctx->common.quiet)
		fprintf(stderr,
			"[ %s data convert: Converted '%s' into JSON data '%s' (%llu samples) ]\n",
			ctx->as_perf ? "perf" : "fathom", input, a->json,
			(unsigned long long)samples);
	outfile_release(&o);
	recording_free(r);
	return code;
}

static int data_run(struct context *ctx, void *args)
{
	struct data_args *a = args;
	int r = 0;

	if (!streq(ctx->operands.items[0], "convert")) {
		err_set(&ctx->err, EINVAL, "'%s' is not 'convert'", ctx->operands.items[0]);
		return EXIT_USAGE;
	}
	if (!a->json) {
		err_set(&ctx->err, EINVAL, "no format was given");
		err_hint(&ctx->err, "--to-json FILE");
		return EXIT_USAGE;
	}
	if (io_exists(a->json) && !a->force) {
		err_set(&ctx->err, EEXIST, "'%s' already exists", a->json);
		err_hint(&ctx->err, "--force overwrites it");
		return EXIT_FAILED;
	}
	if (!a->input && ctx->as_perf)
		a->input = PERF_FILE;
	if (!a->input)
		r = profile_default_input(&a->input, &ctx->err);
	stop_at_once();
	return r < 0 ? r : convert(ctx, a, a->input);
}

static const struct example data_examples[] = {
	{ "fathom data convert --to-json samples.json", "every sample of fathom.data" },
	{ 0 },
};

const struct command cmd_data = {
	.name = "data",
	.summary = "convert a recording to perf's JSON",
	.description = "Writes all samples of a recording with their call chains as the JSON that "
		       "'perf data convert --to-json' writes.",
	.question = Q_LOOK,
	.options = data_options,
	.args_size = sizeof(struct data_args),
	.operands = "convert",
	.min_operands = 1,
	.max_operands = 1,
	.only_form = "a file of another format",
	.examples = data_examples,
	.see_also = "fathom-export fathom-script",
	.run = data_run,
};
