/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include "base/buf.h"

#ifndef FATHOM_VERSION
#define FATHOM_VERSION "unknown"
#endif

struct feature {
	const char *name;
	bool on;
};

/* Optional libraries; the build writes down which of them it found. */
static const struct feature features[] = {
#define FEATURE(name, on) { #name, on },
#include "features.inc"
#undef FEATURE
};

/* What the kernel should provide; doctor checks whether it does. */
static const char kernel_interfaces[] = "perf_event_open bpf tracefs procfs sysfs";

static void add_words(struct result *r, const char *key, const char *title, bool on)
{
	_cleanup_buf_ struct buf words = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].on == on)
			buf_addf(&words, "%s%s", words.len ? " " : "", features[i].name);
	result_fact(r, key, words.len ? title : NULL, value_text(r, buf_str(&words)));
}

struct version_args {
	bool options;
	const char *feature;
};

/* Features by perf's names: of ours, or always there, or never. */
static const struct {
	const char *name, *macro;
	const char *library; /* of ours; NULL: see on */
	bool on;
} perf_features[] = {
	{ "aio", "HAVE_AIO_SUPPORT", NULL, false },
	{ "bpf", "HAVE_LIBBPF_SUPPORT", NULL, true },
	{ "bpf_skeletons", "HAVE_BPF_SKEL", NULL, true },
	{ "debuginfod", "HAVE_DEBUGINFOD_SUPPORT", NULL, true },
	{ "dwarf", "HAVE_LIBDW_SUPPORT", "libdw", false },
	{ "dwarf_getlocations", "HAVE_LIBDW_SUPPORT", "libdw", false },
	{ "dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", NULL, true },
	{ "auxtrace", "HAVE_AUXTRACE_SUPPORT", NULL, false },
	{ "libbfd", "HAVE_LIBBFD_SUPPORT", NULL, false },
	{ "libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", "capstone", false },
	{ "libelf", "HAVE_LIBELF_SUPPORT", NULL, true },
	{ "libnuma", "HAVE_LIBNUMA_SUPPORT", NULL, false },
	{ "libperl", "HAVE_LIBPERL_SUPPORT", NULL, false },
	{ "libpfm4", "HAVE_LIBPFM", "libpfm", false },
	{ "libpython", "HAVE_LIBPYTHON_SUPPORT", NULL, false },
	{ "libslang", "HAVE_SLANG_SUPPORT", NULL, false },
	{ "libtraceevent", "HAVE_LIBTRACEEVENT", NULL, true },
	{ "libunwind", "HAVE_LIBUNWIND_SUPPORT", NULL, false },
	{ "lzma", "HAVE_LZMA_SUPPORT", "liblzma", false },
	{ "zlib", "HAVE_ZLIB_SUPPORT", NULL, true },
	{ "zstd", "HAVE_ZSTD_SUPPORT", "libzstd", false },
};

static bool has_library(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (streq(features[i].name, name))
			return features[i].on;
	return false;
}

static int show_as_perf(struct context *ctx, bool options)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	buf_addf(&out, "perf version %s.fathom\n", FATHOM_VERSION);
	for (size_t i = 0; options && i < ARRAY_SIZE(perf_features); i++) {
		bool on = perf_features[i].library ? has_library(perf_features[i].library)
						   : perf_features[i].on;

		buf_addf(&out, "%22s: [ %-3s ]  # %s\n", perf_features[i].name, on ? "on" : "OFF",
			 perf_features[i].macro);
	}
	return cli_print(ctx, &out);
}

/* perf check feature A,B: 0 when all of them are there. perf's macros are names of them, too. */
static int check_features(struct context *ctx, const char *list)
{
	_cleanup_free_ char *copy = xstrdup(list);
	_cleanup_buf_ struct buf out = BUF_INIT;
	bool all = true;
	char *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		bool on = false;

		for (size_t i = 0; i < ARRAY_SIZE(perf_features); i++)
			if (streq(perf_features[i].name, w) || streq(perf_features[i].macro, w))
				on |= perf_features[i].library
					      ? has_library(perf_features[i].library)
					      : perf_features[i].on;
		buf_addf(&out, "%22s: [ %-3s ]\n", w, on ? "on" : "OFF");
		all &= on;
	}
	if (!ctx->common.quiet)
		cli_print(ctx, &out);
	return all ? EXIT_OK : EXIT_FAILED;
}

static int show_facts(struct context *ctx)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "version");
	result_title(&r, "fathom %s", FATHOM_VERSION);
	result_fact(&r, "version", NULL, value_text(&r, FATHOM_VERSION));
	add_words(&r, "libraries", "libraries", true);
	add_words(&r, "without", "without", false);
	result_fact(&r, "kernel", "kernel", value_text(&r, kernel_interfaces));
	return cli_show(ctx, &r);
}

static int version_run(struct context *ctx, void *args)
{
	const struct version_args *a = args;

	if (a->feature)
		return check_features(ctx, a->feature);
	return ctx->as_perf ? show_as_perf(ctx, a->options || ctx->common.verbose)
			    : show_facts(ctx);
}

static const struct opt version_options[] = {
	{ .name = "build-options",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct version_args, options),
	  .flags = OPT_HIDDEN,
	  .help = "by perf's name: what was compiled in" },
	{ .name = "feature",
	  .type = OPT_STRING,
	  .offset = offsetof(struct version_args, feature),
	  .arg = "LIST",
	  .flags = OPT_HIDDEN,
	  .help = "by perf's names: whether these were compiled in" },
	OPT_END,
};

static const struct example version_examples[] = {
	{ "fathom version", "version and optional libraries of this build" },
	{ "fathom --version --json", "the same for programs" },
	{ 0 },
};

const struct command cmd_version = {
	.name = "version",
	.summary = "show the version and what was compiled in",
	.description = "Names the version, the optional libraries that this build has or lacks, "
		       "and the kernel interfaces it knows. 'fathom --version' and 'fathom -V' are "
		       "the same.",
	.question = Q_SELF,
	.options = version_options,
	.args_size = sizeof(struct version_args),
	.examples = version_examples,
	.see_also = "fathom-help",
	.run = version_run,
};
