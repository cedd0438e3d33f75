/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/script.h"
#include "base/io.h"
#include "base/log.h"
#include "base/stop.h"
#include "cli/perf_args.h"
#include "cli/profile_args.h"

#include <sys/stat.h>

struct script_args {
	struct profile_args profile;
	str_list fields;
	bool raw;
	bool header, header_only, info;
	bool task, mmap, lost, switches, namespaces, cgroup, bpf;
	bool ns, hide_chain, reltime, deltatime;
	struct perf_args perf;
	u64 max_stack;
	const char *stop_bt;
};

#define AT(field) .offset = offsetof(struct script_args, field)
#define OPTION(letter, name_, type_, field, arg_, help_, ...) \
	OPT_ENTRY(struct script_args, letter, name_, type_, field, arg_, help_, __VA_ARGS__)

#define SHOW(name_, field, what)                                              \
	{                                                                     \
		.name = "show-" name_ "-events", .type = OPT_FLAG, AT(field), \
		.group = "Other records than samples", .help = what           \
	}

static const struct opt script_options[] = {
	{ .type = OPT_INCLUDE, .include = profile_options, AT(profile) },
	{ 'F', "fields", OPT_STRINGS, AT(fields), .arg = "LIST",
	  .help = "fields of a line, with perf's names; +NAME adds, -NAME removes, TYPE: chooses "
		  "events" },
	{ 'G', "hide-call-graph", OPT_FLAG, AT(hide_chain),
	  .help = "show where the sample was taken, not who called" },
	OPTION(0, "max-stack", OPT_U64, max_stack, "N", "frames of each chain shown (default all)"),
	OPTION(0, "stop-bt", OPT_STRING, stop_bt, "LIST", "end chains at these functions"),
	OPTION(0, "ns", OPT_FLAG, ns, NULL, "show times to the nanosecond"),
	OPTION(0, "reltime", OPT_FLAG, reltime, NULL, "show times since the first line"),
	OPTION(0, "deltatime", OPT_FLAG, deltatime, NULL, "show times since the line before",
	       .conflicts = "reltime"),
	OPTION(0, "header", OPT_FLAG, header, NULL,
	       "begin with what the recording holds about its machine"),
	OPTION(0, "header-only", OPT_FLAG, header_only, NULL, "only that"),
	{ 'I', "show-info", OPT_FLAG, AT(info), .help = "the header with topology and caches" },
	OPTION(0, "raw", OPT_FLAG, raw, NULL, CLI_RAW_HELP),
	SHOW("task", task, "show forks, exits and names of threads"),
	SHOW("mmap", mmap, "show mappings"),
	SHOW("lost", lost, "show where events were lost"),
	SHOW("switch", switches, "show context switches, if recorded"),
	SHOW("namespace", namespaces, "show namespaces, if recorded"),
	SHOW("cgroup", cgroup, "show names of cgroups, if recorded"),
	SHOW("bpf", bpf, "show loads of BPF programs, if recorded"),
	{ .type = OPT_INCLUDE, .include = profile_perf_options, AT(profile) },
	{ .type = OPT_INCLUDE, .include = perf_report_options, AT(perf) },
	OPT_END,
};

static u32 shown_records(const struct script_args *a)
{
	return (a->task ? SCRIPT_SHOW_TASK : 0u) | (a->mmap ? SCRIPT_SHOW_MMAP : 0u) |
	       (a->lost ? SCRIPT_SHOW_LOST : 0u) | (a->switches ? SCRIPT_SHOW_SWITCH : 0u) |
	       (a->namespaces ? SCRIPT_SHOW_NAMESPACE : 0u) |
	       (a->cgroup ? SCRIPT_SHOW_CGROUP : 0u) | (a->bpf ? SCRIPT_SHOW_BPF : 0u);
}

static int make_opts(const struct script_args *a, struct script_opts *o, struct err *e)
{
	struct load_opts load;
	int r = profile_args_opts(&a->profile, &load, e);

	if (r < 0)
		return r;
	*o = (struct script_opts){
		.show = shown_records(a),
		.ns = a->ns,
		.no_chains = a->hide_chain,
		.no_inline = !load.inlines,
		.no_kernel = load.no_kernel,
		.no_user = load.no_user,
		.reltime = a->reltime,
		.deltatime = a->deltatime,
		.max_stack = a->max_stack,
		.comms = load.comms,
		.dsos = load.dsos,
		.symbols = load.symbols,
		.event = load.event,
		.guest_kallsyms = load.guest_kallsyms,
		.guest_modules = load.guest_modules,
		.stop_bt = a->stop_bt,
		.pids = load.pids,
		.tids = load.tids,
		.cpus = load.cpus,
		.time_from = load.time_from,
		.time_to = load.time_to,
		.time_relative = load.time_relative,
	};
	script_fields_init(&o->fields);
	vec_each(text, &a->fields) {
		r = script_fields_parse(&o->fields, *text, e);
		if (r < 0)
			return r;
	}
	return 0;
}

enum { WRITE_STOPPED = 1 };

struct script_out {
	struct context *ctx;
	bool raw;
};

static int write_out(void *context, const char *text, size_t n)
{
	const struct script_out *o = context;

	return cli_write_foreign(o->ctx, o->raw, text, n) < 0 ? WRITE_STOPPED : 0;
}

static u64 file_time(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (u64)st.st_ctime : 0;
}

/* What the reader encountered, reported once at the end. */
static void report_damage(const struct recording *r)
{
	const struct recording_fault *fault = recording_fault(r);
	const struct recording_counts *c = recording_counts(r);

	if (fault->reason)
		log_warn("'%s' is damaged at offset %llu: %s", recording_name(r),
			 (unsigned long long)fault->offset, fault->reason);
	if (c->bad_records)
		log_warn("%llu broken records were left out, the first at offset %llu: %s",
			 (unsigned long long)c->bad_records, (unsigned long long)c->bad_offset,
			 c->bad_reason);
	if (c->unknown_ids)
		log_warn("%llu samples belong to no event and were left out",
			 (unsigned long long)c->unknown_ids);
	if (c->lost || c->lost_samples)
		log_warn("%llu events were lost while recording",
			 (unsigned long long)MAX(c->lost, c->lost_samples));
}

static int show_recording(struct context *ctx, const struct script_args *a, struct recording *r,
			  const struct script_opts *opts)
{
	_cleanup_buf_ struct buf header = BUF_INIT;
	struct script_out out = { ctx, a->raw };
	int ret = 0;

	if (a->header || a->header_only || a->info) {
		script_header(r, file_time(recording_name(r)), a->info, &header);
		ret = write_out(&out, buf_str(&header), header.len);
	}
	if (ret || a->header_only)
		return ret;
	ret = script_run(r, opts, write_out, &out, &ctx->err);
	if (ret == 0)
		report_damage(r);
	return ret;
}

/* The output of perf script is what we would print ourselves: passed on. */
static int pass_text(struct context *ctx, const char *path, bool raw, int code)
{
	struct script_out out = { ctx, raw };
	_cleanup_close_ int fd = -1;
	char bytes[1 << 16];
	bool first = true;
	ssize_t n;

	if (code != -EBADMSG || streq(path, "-") || io_open_read(path, &fd, NULL) < 0)
		return code;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		if (first && profile_sniff(bytes, (size_t)MIN(n, 8192)) != INPUT_SCRIPT)
			return code;
		if (first)
			err_release(&ctx->err);
		first = false;
		if (write_out(&out, bytes, (size_t)n))
			return 0;
	}
	return first ? code : 0;
}

static int script_run_command(struct context *ctx, void *args)
{
	struct script_args *a = args;
	struct recording *r = NULL;
	struct script_opts opts;
	const char *path;
	_cleanup_free_ UNUSED char *glob = perf_args_symbols(&a->perf, &a->profile.symbols);
	int ret = profile_args_input(ctx, &a->profile.input);

	if (ret || make_opts(a, &opts, &ctx->err) < 0)
		return EXIT_USAGE;
	path = a->profile.input;
	if (!path)
		ret = profile_default_input(&path, &ctx->err);
	if (ret < 0)
		return ret;
	fflush(ctx->out);
	stop_at_once();
	ret = perf_args_dump(ctx, &a->perf, path);
	if (ret != 1)
		return ret;
	ret = recording_open(path, &r, &ctx->err);
	if (ret < 0)
		return pass_text(ctx, path, a->raw, ret);
	ret = show_recording(ctx, a, r, &opts);
	recording_free(r);
	return ret < 0 ? ret : 0;
}

static const struct example script_examples[] = {
	{ "fathom script", "every sample of fathom.data, one after another" },
	{ "fathom script -F comm,pid,time,event,trace", "these fields" },
	{ "fathom script -F +period,-cpu --time +1,+2", "one second of it" },
	{ "fathom script -i perf.data --show-task-events", "with forks, exits and execs" },
	{ 0 },
};

const struct command cmd_script = {
	.name = "script",
	.summary = "a recording line by line, as perf script prints it",
	.description = "Prints every sample in order of time, with its call chain, in the format "
		       "of 'perf script': programs that read that (stackcollapse-perf.pl and "
		       "many others) read this.\n\n"
		       "The data of tracepoints is printed through the format of the tracepoint. "
		       "Code that has no name is shown by the function it belongs to, as far as "
		       "unwind information shows.",
	.question = Q_LOOK,
	.options = script_options,
	.args_size = sizeof(struct script_args),
	.operands = "[FILE]",
	.max_operands = 1,
	.only_form = "the text of perf script",
	.examples = script_examples,
	.see_also = "fathom-record fathom-report fathom-fold fathom-evlist",
	.run = script_run_command,
};
