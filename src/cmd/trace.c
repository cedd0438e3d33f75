/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom trace: programs in the tracing language. */
#include "cmd/trace.h"

#include <fcntl.h>
#include <signal.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/stop.h"
#include "cli/program.h"
#include "host/procfs.h"
#include "host/caps.h"
#include "lang/lang.h"

enum {
	SOURCE_MOST = 16 << 20,
	OUTPUT_BUFFER = 64 << 10,
	LATENCY_BITS = 2, /* a quarter of a power of two: percentiles are right to 12 % */
};
enum { BUFFER_LINE, BUFFER_FULL, BUFFER_NONE };

#define WHAT(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, field, arg_, "Program", help_, __VA_ARGS__)
#define OUTPUT(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, field, arg_, "Output", help_, __VA_ARGS__)

#define BCC(letter, name_, type_, field, arg_, help_, ...) \
	TRACE_OPTION(letter, name_, type_, bcc.field, arg_, "bcc's probes", help_, __VA_ARGS__)

static const char *const formats[] = { "text", "json", "folded", NULL };
static const char *const bufferings[] = { "line", "full", "none", NULL };

static const struct opt trace_options[] = {
	WHAT('e', "program", OPT_STRING, program, "PROGRAM", "the program itself"),
	WHAT('d', "duration", OPT_DURATION, duration, "TIME", "end after this time"),
	WHAT('l', "list", OPT_FLAG, list, NULL, "list probes that match the operand"),
	WHAT(0, "list-verbose", OPT_FLAG, list_verbose, NULL,
	     "list probes with their arguments (-lv works, too)"),
	WHAT('p', "pid", OPT_U64, pid, "PID", "only this process, for user probes",
	     .max = UINT32_MAX),
	WHAT('c', "cmd", OPT_STRING, command, "COMMAND", "run this program, end when it ends"),
	WHAT(0, "unsafe", OPT_FLAG, unsafe, NULL,
	     "allow system(), signal(), override() and write_user()"),
	WHAT(0, "raw", OPT_FLAG, raw, NULL, CLI_RAW_HELP),
	WHAT(0, "dry-run", OPT_FLAG, dry_run, NULL, "load and attach, then exit"),
	WHAT(0, "fmt", OPT_FLAG, fmt, NULL, "print the program in one form"),
	WHAT(0, "test", OPT_FLAG, test, NULL, "run the test probes of the program",
	     .conflicts = "bench"),
	WHAT(0, "bench", OPT_FLAG, bench, NULL, "run the bench probes and show their times"),
	WHAT(0, "info", OPT_FLAG, info, NULL, "show the features of the kernel and exit"),
	WHAT('I', "include-dir", OPT_STRINGS, include_dirs, "DIR",
	     "look for imported and included files here, too"),
	WHAT(0, "include", OPT_STRINGS, includes, "FILE", "import this before the program"),
	WHAT(0, "dump", OPT_STRINGS, stage, "STAGE", "print the generated code (codegen)"),
	WHAT(0, "source", OPT_FLAG, source, NULL, "print the program and exit"),
	BCC('L', "tid", OPT_U64, tid, "TID", "only this thread", .max = UINT32_MAX),
	BCC(0, "uid", OPT_U64, uid, "UID", "only this user", .max = UINT32_MAX,
	    .given_offset = offsetof(struct trace_args, bcc.uid_given)),
	BCC('n', "name", OPT_STRING, name, "TEXT", "only commands whose name contains this"),
	BCC(0, "cgroup-path", OPT_STRING, cgroup_path, "PATH", "only this control group"),
	BCC('S', "include-self", OPT_FLAG, include_self, NULL, "also events of fathom itself"),
	BCC('M', "max-events", OPT_U64, max_events, "COUNT", "end after this many lines"),
	BCC('t', "timestamp", OPT_FLAG, timestamp, NULL, "seconds since the start"),
	BCC('u', "unix-timestamp", OPT_FLAG, unix_timestamp, NULL,
	    "with -t: seconds since 1970 instead"),
	BCC('T', "time", OPT_FLAG, time, NULL, "time of the day"),
	BCC('C', "print-cpu", OPT_FLAG, cpu, NULL, "number of the CPU"),
	BCC('K', "kernel-stack", OPT_FLAG, kernel_stack, NULL, "the kernel's stack"),
	BCC('U', "user-stack", OPT_FLAG, user_stack, NULL, "the program's stack"),
	BCC('a', "address", OPT_FLAG, address, NULL, "addresses in stacks"),
	BCC('Z', "string-size", OPT_U64, string_size, "BYTES",
	    "maximum number of bytes read of a string", .max = 8192),
	OUTPUT('f', "format", OPT_CHOICE, format, "FORMAT", "text, json or folded (stacks)",
	       .def = "text", .choices = formats),
	OUTPUT('o', "output", OPT_FILE, output, "FILE", "write there"),
	OUTPUT('B', "buffering", OPT_CHOICE, buffering, "MODE", "line, full or none", .def = "line",
	       .choices = bufferings),
	OUTPUT(0, "no-warnings", OPT_FLAG, no_warnings, NULL, "do not show warnings"),
	TRACE_OPTION(0, "compat", OPT_FLAG, compat, NULL, NULL,
		     "behave as bpftrace does where that differs", .flags = OPT_HIDDEN),
	TRACE_ACCEPTED('k', "helper-errors"),
	TRACE_ACCEPTED(0, "no-feature"),
	TRACE_ACCEPTED(0, "usdt-file-activation"),
	TRACE_ACCEPTED(0, "debuginfo"),
	OPT_END,
};

/* --- output ----------------------------------------------------------------------------------- */

/* A program that has not printed anything is reported as running, on a terminal. */
struct voice {
	const struct context *ctx;
	const struct lang *lang;
	FILE *out;
	bool spoke;  /* the program did, */
	bool noted;  /* or we did for it */
	u64 silence; /* when that is due; 0: never */
	u64 end;     /* when the program ends; 0: by itself */
};

enum { SILENT_NS = 300 * 1000 * 1000, TICK_NS = 20 * 1000 * 1000 };

static bool tick(void *ctx)
{
	struct voice *v = ctx;
	u64 now = clock_mono_ns();
	u32 n = lang_probe_count(v->lang);

	if (v->silence && now >= v->silence && !v->spoke && !v->noted) {
		cli_progress(v->ctx, "watching %u probe%s... Ctrl-C ends it and shows the result",
			     n, n == 1 ? "" : "s");
		v->noted = true;
	}
	return v->end && now >= v->end;
}

static void end_silence(struct voice *v)
{
	if (v->noted && !v->spoke)
		cli_progress(v->ctx, "%s", "");
	v->spoke = true;
}

static int write_text(void *ctx, bool to_err, const char *text, size_t n)
{
	struct voice *v = ctx;
	FILE *out = to_err ? stderr : v->out;

	end_silence(v);
	/* in the order in which things happened */
	if (to_err && v->out != stderr)
		fflush(v->out);
	return fwrite(text, 1, n, out) == n ? 0 : -errno;
}

static int flush_text(void *ctx)
{
	const struct voice *v = ctx;

	return fflush(v->out) == 0 ? 0 : -errno;
}

/* Lines that come together are written together: a line at a time costs a system call each. */
static int open_output(struct context *ctx, const struct trace_args *a, FILE **ret)
{
	*ret = ctx->out;
	if (a->output) {
		*ret = fopen(a->output, "we");
		if (!*ret && a->compat)
			return err_set(&ctx->err, errno, "Failed to open output file: \"%s\": %s",
				       a->output, strerror(errno));
		if (!*ret)
			return err_sys(&ctx->err, errno, "cannot write '%s'", a->output);
	}
	setvbuf(*ret, NULL, a->buffering == BUFFER_NONE ? _IONBF : _IOFBF, OUTPUT_BUFFER);
	return 0;
}

/* The last write is the one that a full disk fails. */
static int close_output(FILE *out)
{
	int code = ferror(out) ? -EIO : 0;

	return fclose(out) < 0 ? -errno : code;
}

/* --- the program's text ----------------------------------------------------------------------- */

struct source_text {
	const char *name;
	char *dir;            /* of the file; NULL: this one */
	struct buf made_from; /* the operands that were made into a program */
	struct buf text;
	struct buf header;  /* to be shown before the program's output */
	size_t first_param; /* of the operands */
};

static void release_source(struct source_text *s)
{
	buf_release(&s->text);
	buf_release(&s->header);
	buf_release(&s->made_from);
	free(s->dir);
}

/* Operands are probes as bcc's trace takes them. */
static int generate_source(struct context *ctx, const struct trace_args *a, struct source_text *s)
{
	struct bcc_trace_opts opts = a->bcc;
	int rc;

	opts.pid = a->pid;
	s->name = "trace";
	s->first_param = ctx->operands.len;
	for (size_t i = 0; i < ctx->operands.len; i++)
		buf_addf(&s->made_from, "%s%s", i ? "' '" : "", ctx->operands.items[i]);
	rc = bcc_trace_program(ctx->operands.items, ctx->operands.len, &opts, &s->text, &s->header,
			       &ctx->err);
	if (rc == 0 && ctx->common.verbose && !a->source)
		fputs(buf_str(&s->text), stderr);
	return rc;
}

/* A block in braces, which neither a file name nor a probe of bcc's trace has outside of quotes. */
static bool is_program_text(const char *s)
{
	bool quoted = false;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (*s == '{' && !quoted)
			return true;
	}
	return false;
}

static int read_source(struct context *ctx, const struct trace_args *a, struct source_text *s)
{
	const char *file;

	if (a->program) {
		s->name = "stdin";
		buf_addstr(&s->text, a->program);
		return 0;
	}
	if (!ctx->operands.len) {
		err_set(&ctx->err, EINVAL, "no program: give one, or the name of its file");
		err_hint(&ctx->err, "fathom trace 'profile:hz:99 { @[comm] = count(); }'");
		return -EINVAL;
	}
	file = ctx->operands.items[0];
	if (access(file, F_OK) && !a->compat && is_program_text(file)) {
		s->name = "stdin";
		s->first_param = 1;
		buf_addstr(&s->text, file);
		return 0;
	}
	if (access(file, F_OK) && !a->compat && bcc_trace_is_probe(file))
		return generate_source(ctx, a, s);
	s->first_param = 1;
	if (streq(file, "-")) {
		s->name = "stdin";
		return io_read_fd(0, "standard input", SOURCE_MOST, &s->text, &ctx->err);
	}
	s->name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	if (s->name != file)
		s->dir = xstrndup(file, MAX((size_t)(s->name - file) - 1, (size_t)1));
	if (a->compat && access(file, R_OK) < 0)
		return err_set(&ctx->err, errno, "failed to open file '%s': %s", file,
			       strerror(errno));
	return io_read_file(file, SOURCE_MOST, &s->text, &ctx->err);
}

/* --- processes -------------------------------------------------------------------------------- */

/* The next word of a command line, quotes resolved; the line is cut to pieces. */
static char *next_word(char **line)
{
	char *in = *line + strspn(*line, " \t"), *word = in, *out = in;
	char quote = 0;

	if (!*in)
		return NULL;
	for (; *in && (quote || (*in != ' ' && *in != '\t')); in++) {
		if (quote ? *in == quote : *in == '\'' || *in == '"')
			quote = quote ? 0 : *in;
		else
			*out++ = *in;
	}
	*line = *in ? in + 1 : in;
	*out = 0;
	return word;
}

static int start_command(struct context *ctx, const struct trace_args *a, struct launch *child)
{
	VEC(char *) words = { 0 };
	char *line;
	int rc;

	if (!a->command)
		return 0;
	line = xstrdup(a->command);
	for (char *p = line, *word; (word = next_word(&p));)
		vec_push(&words, word);
	vec_push(&words, NULL);
	if (words.items[0])
		rc = program_prepare(child, words.items, &ctx->err);
	else if (a->compat)
		rc = 0;
	else
		rc = err_set(&ctx->err, EINVAL, "the command of -c is empty");
	if (rc && a->compat) {
		err_set(&ctx->err, ENOENT,
			"Failed to fork child: Path '%s' does not exist or is not executable "
			"(No such file or directory)",
			words.items[0]);
		rc = EXIT_FAILED;
	}
	vec_release(&words);
	free(line);
	return rc;
}

/* The file that probes without one mean. */
static void find_exe(u32 pid, struct buf *exe)
{
	if (pid && procfs_exe(pid, exe) < 0)
		buf_reset(exe);
}

/* --- running ---------------------------------------------------------------------------------- */

static bool is_json(const struct context *ctx, const struct trace_args *a)
{
	return cli_is(ctx, "json") || a->format == LANG_JSON;
}

static void show_report(const struct context *ctx, const struct trace_args *a, struct lang *l)
{
	struct buf text = BUF_INIT;

	lang_report(l, &text);
	if (!ctx->common.quiet) {
		for (char *line = text.data, *end; line && *line; line = end + 1) {
			end = strchr(line, '\n');
			fprintf(stderr, "%s: %.*s\n", a->compat ? "WARNING" : "fathom",
				(int)(end - line), line);
		}
	}
	buf_release(&text);
}

static void announce(const struct context *ctx, const struct trace_args *a, const struct lang *l,
		     FILE *out)
{
	bool wanted = a->compat && !ctx->common.quiet && !a->dry_run && !a->test && !a->bench;
	u32 n = lang_probe_count(l);

	if (wanted && a->format == LANG_JSON)
		fprintf(out,
			"{\"type\": \"attached_probes\", \"count\": %u, \"data\": {\"probes\": "
			"%u}}\n",
			n, n);
	else if (wanted)
		fprintf(stderr, "Attached %u probe%s\n", n, n == 1 ? "" : "s");
	if (getenv("__BPFTRACE_NOTIFY_PROBES_ATTACHED"))
		fprintf(stderr, "__BPFTRACE_NOTIFY_PROBES_ATTACHED\n");
	fflush(out);
}

static int run_program(struct context *ctx, const struct trace_args *a, struct lang *l,
		       const char *header, struct launch *child, FILE *out)
{
	struct voice voice = { .ctx = ctx, .lang = l, .out = out };
	struct lang_sink sink = { .write = write_text,
				  .flush = a->buffering == BUFFER_LINE ? flush_text : NULL,
				  .ctx = &voice };
	_cleanup_buf_ struct buf diagnostics = BUF_INIT;
	int rc, status;

	rc = lang_start(l, &diagnostics, &ctx->err);
	fputs(buf_str(&diagnostics), stderr);
	if (rc < 0)
		return rc && (ctx->err.code == EPERM || ctx->err.code == ENOTSUP) ? EXIT_MISSING
										  : rc;
	if (!lang_probe_count(l) && !(a->compat && a->dry_run)) {
		lang_stop(l, false);
		if (a->compat) {
			fputs("No probes to attach\n", out);
			return EXIT_FAILED;
		}
		err_set(&ctx->err, ENOENT, "no probe matches: there is nothing to trace");
		err_hint(&ctx->err, "fathom trace -l 'PATTERN' lists what matches");
		return EXIT_FAILED;
	}
	announce(ctx, a, l, out);
	if (!cli_is(ctx, "json") && a->format == 0) {
		fputs(header, out);
		fflush(out);
	}
	if (a->dry_run) {
		lang_stop(l, true);
		return 0;
	}
	if (child->pid) {
		rc = launch_go(child, &ctx->err);
		if (rc < 0)
			return rc;
	}
	/* the terminal is the program's while there is one; bpftrace says nothing */
	if (!child->pid && !a->compat && cli_progress_wanted(ctx))
		voice.silence = clock_mono_ns() + SILENT_NS;
	if (a->duration)
		voice.end = clock_mono_ns() + a->duration;
	if (voice.silence || voice.end) {
		sink.tick = tick;
		sink.tick_ns = voice.end ? TICK_NS : SILENT_NS;
	}
	rc = lang_loop(l, &sink, child->pid ? child->pid_fd : -1, &ctx->err);
	end_silence(&voice);
	fflush(out);
	lang_stop(l, true);
	if (is_json(ctx, a)) {
		buf_reset(&diagnostics);
		lang_report_json(l, &diagnostics);
		fwrite(buf_str(&diagnostics), 1, diagnostics.len, out);
		fflush(out);
	}
	show_report(ctx, a, l);
	status = program_end(child);
	return rc || a->compat ? rc : status;
}

/* Probes of a process that is gone have nothing to attach to. */
static int check_pid(struct context *ctx, const struct trace_args *a)
{
	if (!a->pid || kill((pid_t)a->pid, 0) == 0 || errno != ESRCH)
		return 0;
	return err_set(&ctx->err, ESRCH, "no process %llu", (unsigned long long)a->pid);
}

static bool lists(const struct trace_args *a)
{
	return a->list || a->list_verbose;
}

/* Parameters of the program: by position, and --name[=value]. */
struct params {
	VEC(const char *) positional;
	VEC(const char *) named;
};

static void split_params(const struct context *ctx, size_t first, struct params *ret)
{
	for (size_t i = first; i < ctx->operands.len; i++) {
		const char *text = ctx->operands.items[i];

		if (starts_with(text, "--") && text[2])
			vec_push(&ret->named, text);
		else
			vec_push(&ret->positional, text);
	}
}

static int compile_and_run(struct context *ctx, const struct trace_args *a,
			   const struct source_text *s, struct launch *child, FILE *out)
{
	_cleanup_buf_ struct buf diagnostics = BUF_INIT, exe = BUF_INIT;
	struct lang_opts opts = {
		.pid = a->pid ? (u32)a->pid : (u32)child->pid,
		.cpid = (u32)child->pid,
		.command = child->name,
		.unsafe = a->unsafe,
		.clean = !a->raw && isatty(fileno(out)),
		.dry_run = a->dry_run,
		.compat = a->compat,
		.percentiles = !a->compat,
		.latency_bits = a->compat ? 0 : LATENCY_BITS,
		.no_warnings = a->no_warnings || ctx->common.quiet,
		.quiet = ctx->common.quiet,
		.helper_errors = a->warnings,
		.mode = a->test    ? LANG_TEST
			: a->bench ? LANG_BENCH
				   : LANG_TRACE,
		.dir = s->dir,
		.made_from = s->made_from.len ? s->made_from.data : NULL,
		.include_dirs = a->include_dirs.items,
		.n_include_dirs = a->include_dirs.len,
		.includes = a->includes.items,
		.n_includes = a->includes.len,
		.debug_dirs = a->debug_dirs.items,
		.n_debug_dirs = a->debug_dirs.len,
		.format = cli_is(ctx, "json") ? LANG_JSON : (enum lang_format)a->format,
	};
	struct params params = { 0 };
	struct lang *l = NULL;
	regex_t filter;
	int rc;

	if (a->probe_filter) {
		if (regcomp(&filter, a->probe_filter, REG_EXTENDED | REG_NOSUB))
			return err_set(&ctx->err, EINVAL, "'%s' is not a regular expression",
				       a->probe_filter);
		opts.probe_filter = &filter;
	}
	split_params(ctx, s->first_param, &params);
	opts.params = params.positional.items;
	opts.n_params = params.positional.len;
	opts.named = params.named.items;
	opts.n_named = params.named.len;
	if (!a->unsafe) /* system() runs with what the user has */
		caps_drop_unused();
	find_exe((u32)a->pid, &exe);
	opts.exe = exe.len ? exe.data : NULL;
	rc = lang_compile(s->name, buf_str(&s->text), s->text.len, &opts, &l, &diagnostics,
			  &ctx->err);
	fputs(buf_str(&diagnostics), stderr);
	if (a->probe_filter)
		regfree(&filter);
	opts.probe_filter = NULL;
	if (rc < 0) {
		/* The diagnostics say it all. */
		if (diagnostics.len)
			err_release(&ctx->err);
		rc = EXIT_FAILED;
	} else if (a->stage.len || a->dump || lists(a)) {
		struct buf dump = BUF_INIT;

		if (lists(a))
			lang_probe_names(l, a->list_verbose || ctx->common.verbose, &dump);
		else
			lang_dump(l, &dump);
		fwrite(buf_str(&dump), 1, dump.len, out);
		buf_release(&dump);
	} else {
		rc = run_program(ctx, a, l, buf_str(&s->header), child, out);
	}
	lang_free(l);
	vec_release(&params.positional);
	vec_release(&params.named);
	return rc;
}

static int format_only(struct context *ctx, const struct source_text *s)
{
	_cleanup_buf_ struct buf out = BUF_INIT, diagnostics = BUF_INIT;
	int rc = lang_format_source(s->name, buf_str(&s->text), s->text.len, &out, &diagnostics,
				    &ctx->err);

	fputs(buf_str(&diagnostics), stderr);
	if (rc < 0) {
		err_release(&ctx->err);
		return EXIT_FAILED;
	}
	return cli_print(ctx, &out);
}

static int show_info(struct context *ctx)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	lang_info(&out);
	return cli_print(ctx, &out);
}

static int list_probes(struct context *ctx, const struct trace_args *a)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct lang_opts opts = { .compat = a->compat, .pid = (u32)a->pid };
	bool verbose = a->list_verbose || ctx->common.verbose;
	int rc = lang_list(ctx->operands.len ? ctx->operands.items[0] : "", verbose, &opts, &out,
			   &ctx->err);

	if (rc < 0 && !(rc == -ENOENT && a->compat))
		return rc;
	return cli_print(ctx, &out);
}

/* What -l shows is in a program, or matches a pattern. */
static bool is_program(const struct context *ctx, const struct trace_args *a)
{
	return a->program || (ctx->operands.len && (access(ctx->operands.items[0], F_OK) == 0 ||
						    is_program_text(ctx->operands.items[0])));
}

int trace_execute(struct context *ctx, const struct trace_args *a)
{
	struct source_text s = { 0 };
	struct launch child = LAUNCH_INIT;
	FILE *out = NULL;
	int rc;

	if (a->info)
		return show_info(ctx);
	if (lists(a) && !is_program(ctx, a))
		return list_probes(ctx, a);
	rc = read_source(ctx, a, &s);
	if (rc < 0) {
		release_source(&s);
		return rc == -EINVAL ? EXIT_USAGE : rc;
	}
	if (a->fmt || a->source) {
		rc = a->fmt ? format_only(ctx, &s) : cli_print(ctx, &s.text);
		release_source(&s);
		return rc;
	}
	rc = check_pid(ctx, a);
	if (rc == 0)
		rc = open_output(ctx, a, &out);
	if (rc == 0)
		rc = stop_install(&ctx->err);
	if (rc == 0)
		rc = start_command(ctx, a, &child);
	if (rc == 0)
		rc = compile_and_run(ctx, a, &s, &child, out);
	if (a->output && out) {
		int code = close_output(out);

		if (rc == 0 && code < 0)
			rc = err_sys(&ctx->err, code, "cannot write '%s'", a->output);
	}
	launch_release(&child);
	release_source(&s);
	return rc;
}

static int trace_run(struct context *ctx, void *args)
{
	if (cli_is(ctx, "csv")) {
		err_set(&ctx->err, EINVAL,
			"a program's output has no columns: there is no CSV of it");
		err_hint(&ctx->err, "use --json");
		return EXIT_USAGE;
	}
	return trace_execute(ctx, args);
}

static const struct example examples[] = {
	{ "fathom trace 'begin { printf(\"hello\\n\"); exit(); }'", "the smallest program" },
	{ "fathom trace 't:syscalls:sys_enter_openat { print(str(args.filename)); }'",
	  "files that are opened" },
	{ "fathom trace 'profile:hz:99 { @[kstack] = count(); }'", "where the kernel spends time" },
	{ "fathom trace -l 't:sched:*'", "tracepoints of the scheduler" },
	{ "fathom trace -M 3 't:syscalls:sys_enter_openat \"%s\", args->filename'",
	  "a probe in the form of bcc's trace" },
	{ "fathom trace -U -M 2 'c:malloc (arg1 > 1000) \"size %d\", arg1'",
	  "large allocations with their stacks" },
	{ 0 },
};

const struct command cmd_trace = {
	.name = "trace",
	.summary = "run small programs on probes, in bpftrace's language",
	.description =
		"Compiles a program in the tracing language to BPF and runs it until exit(), "
		"Ctrl-C or the end of the command given with -c. Maps are printed at the end. "
		"What was lost or could not be read is reported on standard error.\n\n"
		"The first operand is the program, or its file ('-' is standard input); the "
		"others are its parameters $1, $2 and so on. -e gives the program, too, as "
		"bpftrace's does.\n\n"
		"Operands that are not files are probes as bcc's trace takes them: "
		"[p|r|t|u]:[library]:function[(signature)] [(predicate)] [\"format\", "
		"expression...], with arguments arg1, arg2 ..., retval, args->field, the names of "
		"a signature, $uid, $gid, $pid, $tgid, $cpu and $task. The formats have %K and %U "
		"for addresses of kernel and program.",
	.question = Q_TRACE,
	.options = trace_options,
	.args_size = sizeof(struct trace_args),
	.operands = "[PROGRAM|FILE [PARAMETER]... | PROBE...]",
	.max_operands = SIZE_MAX,
	.instead_of = "probe ftrace dtrace stap ksnoop inject",
	.examples = examples,
	.see_also = "bpftrace",
	.run = trace_run,
};
