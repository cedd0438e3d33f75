/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame.h"
#include "view/fold.h"
#include "base/fmt.h"
#include "cli/output.h"
#include "cli/profile_args.h"
#include "recording/recording.h"
#include "view/export.h"

struct export_args {
	struct profile_args profile;
	struct output_args output;
	int format;
	bool format_given;
	const char *title;
};

/* A format and the names of files in it. */
struct export_format {
	const char *name;
	const char *suffixes;
	bool timed; /* samples are not merged */
	void (*write)(const struct profile *p, const struct export_opts *o, struct buf *out);
};

static const struct export_format formats[] = {
	{ "pprof", ".pb.gz .pprof .pb", false, export_pprof },
	{ "speedscope", ".speedscope.json .speedscope", true, export_speedscope },
	{ "chrome", ".trace.json .chrome.json", true, export_chrome },
	{ "firefox", ".firefox.json .profile.json", true, export_firefox },
	{ "folded", ".folded .collapsed .txt", false, NULL },
	{ "csv", ".csv", false, export_csv },
};

static const char *const format_names[] = {
	"pprof", "speedscope", "chrome", "firefox", "folded", "csv", NULL,
};

#define AT(field) .offset = offsetof(struct export_args, field)

static const struct opt export_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ .name = "format",
	  .type = OPT_CHOICE,
	  AT(format),
	  .arg = "FORMAT",
	  .choices = format_names,
	  .given_offset = offsetof(struct export_args, format_given),
	  .group = "Output",
	  .help = "output format (default: by the file name)" },
	{ .name = "title",
	  .type = OPT_STRING,
	  AT(title),
	  .arg = "TEXT",
	  .group = "Output",
	  .help = "name of the profile (default: the input's name)" },
	OPT_END,
};

/* --- build ids ------------------------------------------------------------------------------ */

struct build_ids {
	struct arena arena;
	struct intern seen; /* paths */
	VEC(struct export_build_id) list;
};

static void add_build_id(struct build_ids *b, const char *path, const u8 *id, size_t n)
{
	_cleanup_buf_ struct buf hex = BUF_INIT;

	if (!n || !path || intern_find(&b->seen, path, strlen(path)))
		return;
	intern_str(&b->seen, path);
	fmt_hex(&hex, id, n);
	vec_push(&b->list, (struct export_build_id){ arena_strdup(&b->arena, path),
						     arena_strdup(&b->arena, buf_str(&hex)) });
}

static int on_record(const struct record *r, void *ctx)
{
	struct record_mmap m;

	if ((r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2) &&
	    record_mmap(r, &m) >= 0)
		add_build_id(ctx, m.filename, m.build_id, m.build_id_size);
	return 0;
}

/* What the recording says about its modules; other inputs say nothing. */
static void read_build_ids(const char *path, struct build_ids *ret)
{
	struct recording *r = NULL;

	if (!path && profile_default_input(&path, NULL) < 0)
		return;
	if (streq(path, "-") || recording_open(path, &r, NULL) < 0)
		return;
	vec_each(b, &recording_info(r)->build_ids)
		add_build_id(ret, b->path, b->id, b->id_size);
	recording_scan(r, on_record, ret, NULL);
	recording_free(r);
}

/* --- output --------------------------------------------------------------------------------- */

static int collect(struct buf *text, void *ctx)
{
	buf_add(ctx, buf_str(text), text->len);
	buf_reset(text);
	return 0;
}

static int write_profile(struct context *ctx, const void *args, struct profile *p)
{
	const struct export_args *a = args;
	const struct export_format *f = &formats[a->format];
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct export_opts opts = { .title = a->title };
	struct build_ids ids = { 0 };
	struct flame_opts chosen;
	int r = 0;

	profile_args_warn(p);
	flame_choose_event(p, &chosen);
	opts.event = chosen.event;
	if (f->write == export_pprof) {
		read_build_ids(a->profile.input, &ids);
		opts.build_ids = ids.list.items;
		opts.n_build_ids = ids.list.len;
	} else if (f->write != export_csv) {
		profile_args_warn_event(p, chosen.event);
	}
	if (f->write)
		f->write(p, &opts, &out);
	else
		r = fold_write(p,
			       &(struct fold_opts){ .kernel = true,
						    .jit = true,
						    .inlined = true,
						    .event = chosen.event },
			       &(struct fold_sink){ collect, &out });
	vec_release(&ids.list);
	intern_release(&ids.seen);
	arena_release(&ids.arena);
	return r < 0 ? r : output_write(ctx, &a->output, &out);
}

/* --- the command ---------------------------------------------------------------------------- */

static bool ends_with_any(const char *path, const char *suffixes)
{
	_cleanup_free_ char *copy = xstrdup(suffixes);
	char *save = NULL;

	for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save))
		if (ends_with(path, s))
			return true;
	return false;
}

static int choose_format(struct context *ctx, struct export_args *a)
{
	if (a->format_given)
		return 0;
	for (size_t i = 0; a->output.path && i < ARRAY_SIZE(formats); i++) {
		if (ends_with_any(a->output.path, formats[i].suffixes)) {
			a->format = (int)i;
			return 0;
		}
	}
	err_set(&ctx->err, EINVAL, "the output format is missing");
	err_hint(&ctx->err, "--format pprof, speedscope, chrome, firefox, folded or csv; or a name "
			    "like x.pb.gz, x.speedscope.json, x.trace.json");
	return EXIT_USAGE;
}

static int export_run_command(struct context *ctx, void *args)
{
	struct export_args *a = args;
	struct load_opts load;
	int r = choose_format(ctx, a);

	if (!r)
		r = output_check(ctx, &a->output, NULL);
	if (!r)
		r = profile_args_take(ctx, &a->profile, &load);
	if (r)
		return r;
	if (!a->output.path && a->format == 0 && isatty(fileno(ctx->out))) {
		err_set(&ctx->err, EINVAL, "refusing to write pprof data to a terminal");
		err_hint(&ctx->err, "-o FILE.pb.gz");
		return EXIT_USAGE;
	}
	load.merge = !formats[a->format].timed;
	return profile_args_look(ctx, &a->profile, &load, write_profile, a);
}

static const struct example export_examples[] = {
	{ "fathom export -o cpu.pb.gz", "fathom.data for 'go tool pprof', Parca, Pyroscope" },
	{ "fathom export -o cpu.speedscope.json", "for speedscope.app" },
	{ "fathom export --format chrome -o cpu.json", "for ui.perfetto.dev and chrome://tracing" },
	{ "fathom export --format firefox -o cpu.json", "for profiler.firefox.com" },
	{ 0 },
};

const struct command cmd_export = {
	.name = "export",
	.summary = "a recording for pprof, speedscope, Perfetto or Firefox",
	.description =
		"Writes a recording in a format that another viewer reads. pprof holds all events, "
		"with threads as labels and build ids where the recording has them. speedscope, "
		"Chrome (also read by Perfetto) and Firefox hold one event in order of time, a "
		"track for each thread. Folded stacks and CSV are for scripts.\n\n"
		"Chrome knows calls, not samples: a call is drawn from the first sample that shows "
		"it to the last one in a row.",
	.question = Q_LOOK,
	.options = export_options,
	.args_size = sizeof(struct export_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.only_form = "the formats of --format",
	.examples = export_examples,
	.see_also = "fathom-import fathom-fold fathom-flame",
	.run = export_run_command,
};
