/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom bpftrace: programs of the tracing language, with bpftrace's own command line. */
#include "cmd/trace.h"

#ifndef FATHOM_VERSION
#define FATHOM_VERSION "unknown"
#endif

/* The version whose behaviour is reproduced. */
#define PEER_VERSION "v0.27.1"

enum { PEER_FAILED = 255 };

#define WHAT(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, field, arg_, "Program", help_, __VA_ARGS__)
#define OUTPUT(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, field, arg_, "Output", help_, __VA_ARGS__)

static const char *const formats[] = { "text", "json", "folded", NULL };
static const char *const bufferings[] = { "line", "full", "none", NULL };

static const struct opt bpftrace_options[] = {
	WHAT('e', NULL, OPT_STRING, program, "PROGRAM", "run this program"),
	WHAT('l', "list", OPT_FLAG, list, NULL, "list probes (-lv: with their arguments)"),
	WHAT('p', "pid", OPT_U64, pid, "PID", "only this process, for user probes",
	     .max = UINT32_MAX),
	WHAT('c', "cmd", OPT_STRING, command, "COMMAND", "run this program, end when it ends"),
	WHAT(0, "unsafe", OPT_FLAG, unsafe, NULL, "allow functions that change things"),
	WHAT('I', NULL, OPT_STRINGS, include_dirs, "DIR", "search included files here"),
	WHAT(0, "include", OPT_STRINGS, includes, "FILE", "read this file before the program"),
	WHAT(0, "info", OPT_FLAG, info, NULL, "show the features of the kernel"),
	WHAT(0, "dry-run", OPT_FLAG, dry_run, NULL, "load and attach, then exit"),
	WHAT(0, "test", OPT_FLAG, test, NULL, "run the test probes"),
	WHAT(0, "bench", OPT_FLAG, bench, NULL, "run the bench probes"),
	WHAT(0, "mode", OPT_STRING, mode, "MODE", "test, bench or format"),
	WHAT(0, "probe-filter", OPT_STRING, probe_filter, "REGEX",
	     "only probes whose name matches"),
	WHAT(0, "fmt", OPT_FLAG, fmt, NULL, "print the program in one form"),
	WHAT('d', "debug", OPT_STRINGS, stage, "STAGE", "print the generated code, run nothing"),
	WHAT('V', "version", OPT_FLAG, version, NULL, "show the version"),
	OUTPUT('f', NULL, OPT_CHOICE, format, "FORMAT", "text or json", .def = "text",
	       .choices = formats),
	OUTPUT('o', "output", OPT_FILE, output, "FILE", "write there"),
	OUTPUT('B', NULL, OPT_CHOICE, buffering, "MODE", "line, full or none", .def = "line",
	       .choices = bufferings),
	OUTPUT(0, "no-warnings", OPT_FLAG, no_warnings, NULL, "do not show warnings"),
	TRACE_ACCEPTED('k', "warnings"),
	TRACE_ACCEPTED('b', NULL),
	TRACE_ACCEPTED(0, "btf"),
	TRACE_ACCEPTED(0, "usdt-file-activation"),
	TRACE_ACCEPTED_VALUE(0, "debuginfo"),
	TRACE_ACCEPTED(0, "verify-llvm-ir"),
	TRACE_ACCEPTED_VALUE(0, "no-feature"),
	WHAT(0, "emit-elf", OPT_STRING, no_way, "FILE", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "emit-llvm", OPT_STRING, no_way, "FILE", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "aot", OPT_STRING, no_way, "FILE", NULL, .flags = OPT_HIDDEN),
	TRACE_ACCEPTED_VALUE(0, "traceable-functions"),
	TRACE_ACCEPTED_VALUE(0, "dwarf-pid"),
	OPT_END,
};

/* What has another meaning here, or none. */
static int set_mode(struct context *ctx, struct trace_args *a)
{
	if (a->no_way) {
		err_set(&ctx->err, ENOTSUP,
			"programs are compiled without LLVM: there is no object file to write");
		err_hint(&ctx->err, "a program starts in milliseconds: run it as it is");
		return EXIT_FAILED;
	}
	if (!a->mode)
		return 0;
	a->test = a->test || streq(a->mode, "test");
	a->bench = a->bench || streq(a->mode, "bench");
	a->fmt = a->fmt || streq(a->mode, "format");
	a->dry_run = a->dry_run || streq(a->mode, "codegen") || streq(a->mode, "compiler-bench");
	if (a->test || a->bench || a->fmt || a->dry_run)
		return 0;
	err_set(&ctx->err, EINVAL,
		"USAGE: --mode can only be 'codegen', 'compiler-bench', 'bench', 'test' or "
		"'format'.");
	return EXIT_FAILED;
}

static int bpftrace_run(struct context *ctx, void *args)
{
	struct trace_args *a = args;
	int rc;

	if (a->version) {
		fprintf(ctx->out, "bpftrace %s (fathom %s)\n", PEER_VERSION, FATHOM_VERSION);
		return 0;
	}
	a->compat = true;
	rc = set_mode(ctx, a);
	if (rc)
		return rc;
	if (!a->list && !a->info && (!a->program || !*a->program) && !ctx->operands.len) {
		err_set(&ctx->err, EINVAL, "USAGE: filename or -e 'program' required.");
		return EXIT_FAILED;
	}
	rc = trace_execute(ctx, a);
	if (rc == -ESRCH)
		return EXIT_FAILED;
	/* What failed later than the command line and the program's text. */
	/* a script that does not exist */
	if (rc == -ENOENT)
		return EXIT_FAILED;
	return rc < 0 || rc == EXIT_MISSING ? PEER_FAILED : rc;
}

static const struct example examples[] = {
	{ "fathom bpftrace -e 'BEGIN { printf(\"hello\\n\"); exit(); }'",
	  "the smallest program, as bpftrace prints it" },
	{ "fathom bpftrace -l 'tracepoint:sched:*'", "tracepoints of the scheduler" },
	{ 0 },
};

const struct command cmd_bpftrace = {
	.name = "bpftrace",
	.summary = "run small programs with bpftrace's command line and output",
	.description =
		"Takes bpftrace's command line as it is and behaves as bpftrace " PEER_VERSION
		" does: form of the output and of diagnostics, environment variables, exit status. "
		"Options that have no meaning here are accepted.\n\n"
		"A link of the name 'bpftrace' to this program does the same, so that scripts "
		"which call bpftrace run unchanged: ln -s $(command -v fathom) "
		"/usr/local/bin/bpftrace",
	.question = Q_TRACE,
	.options = bpftrace_options,
	.args_size = sizeof(struct trace_args),
	.operands = "[FILE] [PARAMETER]...",
	.max_operands = SIZE_MAX,
	.peer = "bpftrace",
	.examples = examples,
	.see_also = "fathom-trace bpftrace",
	.run = bpftrace_run,
};
