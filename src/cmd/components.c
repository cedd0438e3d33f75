/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/components.h"
#include "analysis/flame.h"
#include "base/asset.h"
#include "base/io.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "view/svg.h"
#include "view/svg_asset.h"
#include "view/svg_bars.h"

enum { TAXONOMY_MOST = 16 << 20, SIDES_MOST = 32 };

struct components_args {
	struct profile_args profile;
	struct output_args output;
	const char *taxonomy, *title;
	bool symbols, all, kernel;
	u64 lines;
};

#define AT(field) .offset = offsetof(struct components_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct components_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)
#define INPUT .group = "Input"

static const struct opt components_options[] = {
	/* profile_options without its filters of names: --symbols means another thing here */
	{ 'i', "input", OPT_FILE, AT(profile.input), .arg = "FILE", INPUT,
	  .help = "the recording to read" },
	OPTION(0, "event", OPT_STRING, profile.event, "GLOB", "only samples of these events",
	       INPUT),
	OPTION(0, "comms", OPT_STRING, profile.comms, "LIST",
	       "only commands of these names (globs, comma separated)", INPUT, .alias = "comm"),
	OPTION(0, "pids", OPT_PIDS, profile.pids, "PID,...", "only these processes", INPUT),
	OPTION(0, "tids", OPT_PIDS, profile.tids, "TID,...", "only these threads", INPUT),
	OPTION(0, "cpus", OPT_RANGES, profile.cpus, "LIST", "only samples of these CPUs", INPUT),
	OPTION(0, "time", OPT_STRING, profile.time, "FROM,TO",
	       "only this span: seconds of the recording's clock, or +1.5,+3 from its start",
	       INPUT),
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	OPTION(0, "taxonomy", OPT_STRING, taxonomy, "NAME|FILE",
	       "the components: host-network, storage, or a file of your own",
	       .def = "host-network"),
	OPTION(0, "symbols", OPT_FLAG, symbols, NULL, "list each symbol with its component",
	       .alias = "by-symbol"),
	OPTION(0, "kernel", OPT_FLAG, kernel, NULL,
	       "only samples that were taken in the kernel: shares of its time"),
	OPTION(0, "lines", OPT_U64, lines, "N", "maximum number of symbols listed", .def = "40"),
	OPTION(0, "all", OPT_FLAG, all, NULL, "show everything"),
	OPTION(0, "title", OPT_STRING, title, "TEXT", "heading of the picture", .group = "Output"),
	OPT_END,
};

/* --- taxonomy ------------------------------------------------------------------------------- */

static void list_names(struct buf *out)
{
	for (const struct asset *a = asset_all(); a->name; a++) {
		const char *rest = starts_with(a->name, "tools/taxonomy-");

		if (rest && ends_with(rest, ".tsv"))
			buf_addf(out, "%s%.*s", out->len ? ", " : "", (int)(strlen(rest) - 4),
				 rest);
	}
}

static int load_taxonomy(const char *name, struct taxonomy *ret, struct err *e)
{
	_cleanup_free_ char *asset = xasprintf("tools/taxonomy-%s.tsv", name);
	_cleanup_buf_ struct buf text = BUF_INIT, names = BUF_INIT;
	int r;

	if (asset_find(asset)) {
		svg_asset(asset, &text);
	} else {
		r = io_read_file(name, TAXONOMY_MOST, &text, e);
		if (r < 0) {
			list_names(&names);
			err_hint(e, "built in: %s; or name a file", buf_str(&names));
			return r;
		}
	}
	return taxonomy_parse(ret, buf_str(&text), text.len, name, e);
}

/* --- recordings ----------------------------------------------------------------------------- */

static int load_side(struct context *ctx, const struct components_args *a, const char *input,
		     const struct taxonomy *t, struct breakdown *ret)
{
	struct profile_args one = a->profile;
	struct flame_opts chosen;
	struct load_opts load;
	struct profile p;
	int r;

	one.input = input;
	r = profile_args_opts(&one, &load, &ctx->err);
	if (r < 0)
		return r;
	load.merge = true;
	/* inlined code ran in the function that the symbol names */
	load.inlines = false;
	profile_init(&p);
	r = profile_args_load(ctx, &one, &load, &p);
	if (r >= 0 && p.samples.len) {
		flame_choose_event(&p, &chosen);
		profile_args_warn(&p);
		profile_args_warn_event(&p, chosen.event);
		r = breakdown_init(ret, t, &p, chosen.event, a->kernel, &ctx->err);
	} else if (r >= 0) {
		r = profile_no_samples(&p, &ctx->err);
	}
	profile_release(&p);
	return r;
}

static int show(struct context *ctx, const struct components_args *a, const struct taxonomy *t,
		const struct breakdown *sides, size_t n)
{
	_cleanup_result_ struct result result = { 0 };
	bool machine = cli_is_machine(ctx);
	int width = cli_width(ctx);
	struct components_opts opts = {
		.symbols = a->symbols,
		.max_lines = a->all || machine ? 0 : (u32)a->lines,
		.bar_width = (u32)(width > 30 ? MIN(width - 20, 100) : 10),
	};

	result_init(&result, "components");
	components_report(t, sides, n, &opts, &result);
	return cli_show(ctx, &result);
}

static int draw(struct context *ctx, const struct components_args *a, const struct taxonomy *t,
		const struct breakdown *sides, size_t n)
{
	_cleanup_buf_ struct buf svg = BUF_INIT, page = BUF_INIT;
	const char *title = a->title    ? a->title
			    : a->kernel ? "Kernel CPU time by component"
					: "CPU time by component";

	svg_bars(t, sides, n, title, &svg);
	if (!output_is(&a->output, "html"))
		return output_write(ctx, &a->output, &svg);
	svg_page(&page, "Components", &svg);
	return output_write(ctx, &a->output, &page);
}

static int components_run(struct context *ctx, void *args)
{
	struct components_args *a = args;
	struct breakdown sides[SIDES_MOST];
	size_t n = 0, wanted = MAX(ctx->operands.len, (size_t)1);
	struct taxonomy t = { 0 };
	int r = output_check(ctx, &a->output, "svg html");

	if (r)
		return r;
	r = load_taxonomy(a->taxonomy, &t, &ctx->err);
	while (r >= 0 && n < wanted) {
		const char *input = ctx->operands.len ? ctx->operands.items[n] : a->profile.input;

		memset(&sides[n], 0, sizeof(sides[n]));
		r = load_side(ctx, a, input, &t, &sides[n]);
		n++;
	}
	if (r >= 0)
		r = a->output.path ? draw(ctx, a, &t, sides, n) : show(ctx, a, &t, sides, n);
	for (size_t i = 0; i < n; i++)
		breakdown_release(&sides[i]);
	taxonomy_release(&t);
	return r;
}

static const struct example components_examples[] = {
	{ "fathom components", "fathom.data by the classes of the host network stack" },
	{ "fathom components --taxonomy storage disk.data", "by those of a storage stack" },
	{ "fathom components before.data after.data -o change.svg", "stacked bars, side by side" },
	{ "fathom components --symbols --json", "which symbol was counted where" },
	{ 0 },
};

const struct command cmd_components = {
	.name = "components",
	.summary = "CPU time by component: data copy, TCP/IP, locks, file system",
	.description =
		"Puts each sample into one component, by the function that ran or by its "
		"callers, and adds up. The table of rules is the taxonomy: 'host-network' has "
		"the classes of the study of host network stacks (SIGCOMM'21), 'storage' those "
		"of i10 (NSDI'20). What no rule matches is shown as unmapped, with its "
		"symbols.\n\n"
		"A taxonomy of your own is a text file: lines of PATTERN<TAB>COMPONENT, and a "
		"third column that says where the pattern is looked for: self (the function that "
		"ran; the default), kernel (the same, only of the kernel), stack or kernel-stack "
		"(the nearest caller that matches), comm (the thread's name) or user (any code "
		"of user space). Lines =COMPONENT<TAB>#rrggbb<TAB>TEXT set order and colours. "
		"Suffixes such as .isra.0 are not part of names.\n\n"
		"Several recordings are shown side by side.",
	.question = Q_CPU,
	.options = components_options,
	.args_size = sizeof(struct components_args),
	.operands = "[FILE]...",
	.max_operands = SIDES_MOST,
	.examples = components_examples,
	.notes = "In virtual machines without a PMU interrupts are taken where they are enabled "
		 "again, so that functions such as _raw_spin_unlock_irqrestore are charged for "
		 "what ran before them.",
	.see_also = "fathom-report fathom-record",
	.run = components_run,
};
