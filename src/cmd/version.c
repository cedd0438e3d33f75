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

/* What the kernel is asked for; whether it answers is the doctor's business. */
static const char kernel_interfaces[] = "perf_event_open bpf tracefs procfs sysfs";

static void add_words(struct result *r, const char *key, const char *title, bool on)
{
	_cleanup_buf_ struct buf words = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].on == on)
			buf_addf(&words, "%s%s", words.len ? " " : "", features[i].name);
	result_fact(r, key, words.len ? title : NULL, value_text(r, buf_str(&words)));
}

static int version_run(struct context *ctx, void *args)
{
	_cleanup_result_ struct result r;

	(void)args;
	result_init(&r, "version");
	result_title(&r, "fathom %s", FATHOM_VERSION);
	result_fact(&r, "version", NULL, value_text(&r, FATHOM_VERSION));
	add_words(&r, "libraries", "libraries", true);
	add_words(&r, "without", "without", false);
	result_fact(&r, "kernel", "kernel", value_text(&r, kernel_interfaces));
	return cli_show(ctx, &r);
}

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
	.examples = version_examples,
	.see_also = "fathom-help",
	.run = version_run,
};
