/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/perf_args.h"

#include "base/buf.h"
#include "profile/load.h"
#include "view/perf_dump.h"

#define SAME  "accepted for compatibility with perf"
#define TAKES "as perf has it"

#define FLAG(letter, name_, ...)                                               \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_FLAG, flag, NULL, SAME, \
		  .flags = OPT_HIDDEN, __VA_ARGS__)
#define TAKEN(letter, name_, field, ...)                                         \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_FLAG, field, NULL, TAKES, \
		  .flags = OPT_HIDDEN, __VA_ARGS__)
#define VALUE(letter, name_, ...)                                                    \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_STRING, value, "VALUE", SAME, \
		  .flags = OPT_HIDDEN, __VA_ARGS__)
#define MAYBE(letter, name_, ...)                                                    \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_STRING, value, "VALUE", SAME, \
		  .flags = OPT_HIDDEN | OPT_OPTIONAL, .implied = "", __VA_ARGS__)

/* What samples hold, build ids, how the work is shared out. */
const struct opt perf_record_options[] = {
	FLAG('R', "raw-samples"),
	FLAG('T', "timestamp"),
	FLAG('s', "stat"),
	FLAG('N', "no-buildid-cache"),
	FLAG('B', "no-buildid", .alias = "buildid-all buildid-mmap no-bpf-event"),
	FLAG(0, "sample-cpu", .alias = "sample-identifier running-time timestamp-boundary"),
	FLAG(0, "namespaces"),
	FLAG('W', "weight", .alias = "strict-freq group"),
	FLAG(0, "per-thread", .alias = "no-buffering tail-synthesize kcore"),
	VALUE('r', "realtime"),
	VALUE(0, "proc-map-timeout", .alias = "num-thread-synthesize mmap-flush affinity synth"),
	VALUE(0, "vmlinux", .alias = "clang-path clang-opt"),
	MAYBE(0, "aio", .alias = "threads debuginfod"),
	OPT_END,
};

/* An option that does nothing would be a wrong answer. */
static int refuse_vmlinux(void *field UNUSED, const char *text, struct err *e)
{
	err_set(e, EOPNOTSUPP, "'%s' is not read: kernel names come with the recording", text);
	err_hint(e, "recordings of perf without them get the names of the running kernel");
	return -EOPNOTSUPP;
}

/* The percents of annotate are parts of the function, by period. */
static int local_period(void *field UNUSED, const char *text, struct err *e)
{
	if (streq(text, "local-period") || streq(text, "period-local"))
		return 0;
	err_set(e, EOPNOTSUPP, "percents of the type '%s' are not shown here", text);
	err_hint(e, "there is local-period: the part of the function's periods");
	return -EOPNOTSUPP;
}

/* Display modes: there is only one here. */
const struct opt perf_report_options[] = {
	FLAG('f', "force"),
	TAKEN('n', "show-nr-samples", samples),
	TAKEN(0, "show-total-period", period),
	TAKEN(0, "showcpuutilization", modes),
	TAKEN('D', "dump-raw-trace", dump),
	TAKEN(0, "stats", stats),
	TAKEN(0, "tasks", tasks, .alias = "task"),
	OPT_ENTRY(struct perf_args, 't', "field-separator", OPT_STRING, separator, "TEXT",
		  "between columns, by perf's name", .flags = OPT_HIDDEN),
	OPT_ENTRY(struct perf_args, 0, "symbol-filter", OPT_STRING, part, "TEXT",
		  "only functions with this in their names", .flags = OPT_HIDDEN),
	FLAG('m', "modules"),
	FLAG(0, "stdio", .alias = "stdio2 gtk"),
	FLAG(0, "inline",
	     .alias = "demangle full-source-path source asm-raw skip-empty raw-trace "
		      "show-ref-call-graph"),
	FLAG('T', "threads-of-samples", .alias = "threads",
	     .instead = "samples of each thread: 'perf report -s tid'"),
	OPT_ENTRY(struct perf_args, 0, "tui", OPT_FLAG, tui, NULL,
		  "browse in the terminal: functions, flame graph, callers"),
	OPT_ENTRY(struct perf_args, 'k', "vmlinux", OPT_CUSTOM, value, "FILE", SAME,
		  .flags = OPT_HIDDEN, .alias = "kallsyms", .parse = refuse_vmlinux),
	VALUE(0, "objdump"),
	VALUE(0, "column-widths", .alias = "percentage percent-type stdio-color pretty samples"),
	OPT_END,
};

const struct opt perf_annotate_options[] = {
	FLAG('f', "force"),
	FLAG('m', "modules"),
	FLAG(0, "source", .alias = "skip-missing"),
	FLAG(0, "show-total-period"),
	VALUE(0, "objdump", .alias = "addr2line stdio-color percent-limit"),
	OPT_ENTRY(struct perf_args, 0, "percent-type", OPT_CUSTOM, value, "TYPE", TAKES,
		  .flags = OPT_HIDDEN, .parse = local_period),
	OPT_END,
};

const struct opt perf_diff_options[] = {
	FLAG('D', "dump-raw-trace"),
	FLAG('f', "force-read", .alias = "modules"),
	TAKEN('b', "baseline-only", baseline_only),
	TAKEN(0, "period", period),
	OPT_ENTRY(struct perf_args, 'c', "compute", OPT_STRING, compute, "HOW", TAKES,
		  .flags = OPT_HIDDEN),
	OPT_ENTRY(struct perf_args, 's', "sort", OPT_STRING, keys, "KEYS", TAKES,
		  .flags = OPT_HIDDEN),
	VALUE(0, "percentage"),
	OPT_ENTRY(struct perf_args, 't', "field-separator", OPT_STRING, separator, "TEXT",
		  "between columns, by perf's name", .flags = OPT_HIDDEN),
	OPT_END,
};

#define PEER(letter, name_, instead_, ...)                                                    \
	{                                                                                     \
		.short_name = letter, .name = name_, .type = OPT_FLAG, .flags = OPT_HIDDEN,   \
		.help = "an option of strace or perf trace", .instead = instead_, __VA_ARGS__ \
	}

const struct opt strace_peer_options[] = {
	PEER('y', "decode-fds",
	     "'-e trace=file' prints paths where files are opened; "
	     "'fathom opensnoop' and 'fathom filetop' show files",
	     .alias = "decode-pids"),
	PEER('P', "trace-path",
	     "'fathom strace -e trace=file ... | grep PATH' has the calls that "
	     "name it"),
	PEER('u', "uid", "'fathom strace -p $(pgrep -d, -u USER)' traces the processes of a user",
	     .alias = "user"),
	PEER(0, "sched", "'fathom sched timehist' shows when threads ran, 'fathom offcpu' why not"),
	PEER('i', "input", "'fathom script -i FILE' shows the calls of a recording",
	     .alias = "instruction-pointer"),
	PEER(0, "tid", "--filter 'tid == TID' chooses a thread"),
	PEER('E', "env", "'fathom strace -- env NAME=VALUE PROGRAM' sets variables"),
	PEER('U', "summary-columns", "--csv and --json have a name for each column"),
	PEER('z', "successful-only", "--filter 'ret >= 0' chooses calls that succeeded"),
	PEER('x', "strings-in-hex", "bytes that are no text are escaped; --json has whole lines"),
	PEER('I', "interruptible", "the target is never stopped, and Ctrl-C ends the trace",
	     .alias = "daemonize detach-on seccomp-bpf"),
	PEER(0, "inject", "nothing is changed in the target here", .alias = "fault kill-on-exit"),
	PEER('X', "const-print-style", "--json has results as numbers", .alias = "raw"),
	OPT_END,
};

char *perf_args_symbols(const struct perf_args *a, const char **symbols)
{
	char *glob = a->part ? xasprintf("*%s*", a->part) : NULL;

	if (glob)
		*symbols = glob;
	return glob;
}

static int write_piece(void *ctx, const char *text, size_t n)
{
	return cli_write_foreign(ctx, false, text, n) < 0 ? 1 : 0;
}

int perf_args_dump(struct context *ctx, const struct perf_args *a, const char *input)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct recording *r = NULL;
	int code = 0;

	if (!a->dump && !a->stats && !a->tasks)
		return 1;
	if (!input)
		code = profile_default_input(&input, &ctx->err);
	if (code == 0)
		code = recording_open(input, &r, &ctx->err);
	if (code == 0)
		code = a->tasks   ? perf_dump_tasks(r, &text, &ctx->err)
		       : a->stats ? perf_dump_stats(r, &text, &ctx->err)
				  : perf_dump(r, write_piece, ctx, &ctx->err);
	if (code >= 0)
		code = cli_print(ctx, &text);
	recording_free(r);
	return code;
}
