/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom bpftrace: programs of the tracing language, with bpftrace's own command line. */
#include "cmd/trace.h"

#include "base/parse.h"

#include <signal.h>
#include <sys/prctl.h>

#ifndef FATHOM_VERSION
#define FATHOM_VERSION "unknown"
#endif

/* The version whose behaviour is reproduced. */
#define PEER_VERSION "v0.27.1"

enum { PEER_FAILED = 255, PID_MOST = 4194304 };

#define WHAT(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, field, arg_, "Program", help_, __VA_ARGS__)
#define OUTPUT(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, field, arg_, "Output", help_, __VA_ARGS__)

static const struct opt bpftrace_options[] = {
	WHAT('e', NULL, OPT_STRING, program, "PROGRAM", "run this program"),
	WHAT('l', "list", OPT_FLAG, list, NULL, "list probes (-lv: with their arguments)"),
	WHAT('p', "pid", OPT_STRING, pid_text, "PID", "only this process, for user probes"),
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
	WHAT(0, "duration", OPT_DURATION, duration, "TIME", "end after this time"),
	WHAT('V', "version", OPT_FLAG, version, NULL, "show the version"),
	OUTPUT('f', NULL, OPT_STRING, format_text, "FORMAT", "text, json or folded", .def = "text"),
	OUTPUT('o', "output", OPT_FILE, output, "FILE", "write there"),
	OUTPUT('B', NULL, OPT_STRING, buffering_text, "MODE", "line, full or none", .def = "line"),
	OUTPUT(0, "no-warnings", OPT_FLAG, no_warnings, NULL, "do not show warnings"),
	OUTPUT('k', "warnings", OPT_COUNT, warnings, NULL,
	       "warn about look-ups and reads of memory that fail"),
	TRACE_ACCEPTED('b', NULL),
	TRACE_ACCEPTED(0, "btf"),
	TRACE_ACCEPTED(0, "usdt-file-activation"),
	WHAT(0, "debuginfo", OPT_STRINGS, debug_dirs, "DIR",
	     "look for debug information here, too"),
	TRACE_ACCEPTED(0, "verify-llvm-ir"),
	WHAT(0, "no-feature", OPT_STRING, no_feature, "LIST", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "emit-elf", OPT_STRING, no_way, "FILE", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "emit-llvm", OPT_STRING, no_way, "FILE", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "aot", OPT_STRING, no_way, "FILE", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "traceable-functions", OPT_STRING, functions, "FILE", NULL, .flags = OPT_HIDDEN),
	WHAT(0, "dwarf-pid", OPT_STRINGS, dwarf_pids, "PID", NULL, .flags = OPT_HIDDEN),
	OPT_END,
};

/* --- what is checked as the peer checks it ---------------------------------------------------- */

static int usage_error(struct context *ctx, const char *text)
{
	err_set(&ctx->err, EINVAL, "USAGE: %s", text);
	return EXIT_FAILED;
}

/* The number of one of the words, which NULL ends; -1: not one of them. */
static int choice(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (streq(text, words[i]))
			return i;
	return -1;
}

static int set_pid(struct context *ctx, const char *text, u64 *ret)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || text[digits])
		err_set(&ctx->err, EINVAL, "Failed to parse pid: invalid %s: %s",
			digits ? "trailing bytes" : "integer", text);
	else if (parse_u64(text, ret, NULL) < 0 || *ret > PID_MOST)
		err_set(&ctx->err, EINVAL, "Pid out of range: %s", text);
	else if (!*ret || (kill((pid_t)*ret, 0) < 0 && errno == ESRCH))
		err_set(&ctx->err, ESRCH,
			"Failed to attach to pid: Unable to open pidfd (No such process)");
	else
		return 0;
	return EXIT_FAILED;
}

static int check_output(struct context *ctx, struct trace_args *a)
{
	static const char *const formats[] = { "text", "json", "folded", NULL };
	static const char *const bufferings[] = { "line", "full", "none", NULL };

	a->buffering = choice(a->buffering_text, bufferings);
	if (a->buffering < 0)
		return usage_error(ctx, "-B must be either 'line', 'full', or 'none'.");
	a->format = choice(a->format_text, formats);
	if (a->format < 0) {
		err_set(&ctx->err, EINVAL, "Invalid output format \"%s\"", a->format_text);
		err_hint(&ctx->err, "Valid formats: 'text', 'json'");
		return EXIT_FAILED;
	}
	return 0;
}

static int check_features(struct context *ctx, const char *list)
{
	static const char *const features[] = { "kprobe_multi", "kprobe_session", "uprobe_multi",
						NULL };

	while (list && *list) {
		_cleanup_free_ char *word = xstrndup(list, strcspn(list, ","));

		if (choice(word, features) < 0)
			return usage_error(ctx, "--no-feature can only have values "
						"'kprobe_multi,kprobe_session,uprobe_multi'.");
		list += strlen(word);
		list += *list == ',';
	}
	return 0;
}

static int check_stages(struct context *ctx, const struct trace_args *a)
{
	static const char *const stages[] = { "all",    "ast",      "types",       "codegen",
					      "libbpf", "verifier", "codegen-opt", "parse",
					      "dis",    NULL };

	for (size_t i = 0; i < a->stage.len; i++) {
		if (choice(a->stage.items[i], stages) >= 0)
			continue;
		err_set(&ctx->err, EINVAL, "USAGE: invalid option for -d: %s", a->stage.items[i]);
		return EXIT_FAILED;
	}
	return 0;
}

static int check_options(struct context *ctx, struct trace_args *a)
{
	int rc = check_output(ctx, a);
	u64 pid;

	if (!rc)
		rc = check_features(ctx, a->no_feature);
	if (!rc)
		rc = check_stages(ctx, a);
	if (!rc && a->warnings > 1)
		rc = usage_error(ctx, "-kk has been deprecated. Use a single -k for runtime "
				      "warnings for errors in map lookups and probe reads.");
	if (!rc && a->command && a->pid_text)
		rc = usage_error(ctx, "Cannot use both -c and -p.");
	if (!rc && a->pid_text)
		rc = set_pid(ctx, a->pid_text, &a->pid);
	for (size_t i = 0; !rc && i < a->dwarf_pids.len; i++)
		rc = set_pid(ctx, a->dwarf_pids.items[i], &pid);
	if (!rc && a->functions && access(a->functions, R_OK) < 0) {
		err_set(&ctx->err, errno,
			"Failed to open kernel function info: Could not read functions from %s. "
			"(%s)",
			a->functions, strerror(errno));
		rc = EXIT_FAILED;
	}
	return rc;
}

/* What has another meaning here, or none. */
static int set_mode(struct context *ctx, struct trace_args *a)
{
	if (a->no_way) {
		err_set(&ctx->err, ENOTSUP,
			"programs are compiled without LLVM: there is no object file to write");
		err_hint(&ctx->err, "a program starts in milliseconds: run it as it is");
		return EXIT_FAILED;
	}
	if (a->test || a->bench)
		a->dry_run = false;
	if (!a->mode)
		return 0;
	a->test = a->test || streq(a->mode, "test");
	a->bench = a->bench || streq(a->mode, "bench");
	a->fmt = a->fmt || streq(a->mode, "format");
	a->dry_run = a->dry_run || streq(a->mode, "codegen") || streq(a->mode, "compiler-bench");
	if (a->test || a->bench || a->fmt || a->dry_run)
		return 0;
	return usage_error(ctx, "--mode can only be 'codegen', 'compiler-bench', 'bench', 'test' "
				"or 'format'.");
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
	if (!a->list && !a->info && (!a->program || !*a->program) && !ctx->operands.len)
		return usage_error(ctx, "filename or -e 'program' required.");
	rc = check_options(ctx, a);
	if (rc)
		return rc;
	/* 'comm' of begin, end and interval */
	prctl(PR_SET_NAME, "bpftrace");
	rc = trace_execute(ctx, a);
	if (rc == -ESRCH)
		return EXIT_FAILED;
	/* a script that does not exist */
	if (rc == -ENOENT)
		return EXIT_FAILED;
	/* What failed later than the command line and the program's text; exit() takes any number.
	 */
	return rc < 0 || (rc == EXIT_MISSING && ctx->err.code) ? PEER_FAILED : rc;
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
	.peer_usage = "USAGE:\n"
		      "    bpftrace [options] FILE [parameters]\n"
		      "    bpftrace [options] -e 'PROGRAM' [parameters]\n"
		      "    bpftrace [options] - (the program comes from standard input)\n"
		      "    named parameters follow after --\n",
	.examples = examples,
	.see_also = "fathom-trace bpftrace",
	.run = bpftrace_run,
};
