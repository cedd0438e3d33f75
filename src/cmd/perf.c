/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom perf: perf's command line. A link of the name perf to this program is the same. */
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/table.h"

struct perf_cmd_args {
	const char *cache;
	const char *ignored;
	bool flag;
	bool list;
	bool options;
	bool version;
};

#define AT(field) .offset = offsetof(struct perf_cmd_args, field)

static const struct opt perf_options[] = {
	{ .name = "buildid-dir",
	  .type = OPT_FILE,
	  AT(cache),
	  .arg = "DIR",
	  .help = "the folder of kept binaries, for buildid-cache and record" },
	{ .name = "list-cmds",
	  .type = OPT_FLAG,
	  AT(list),
	  .help = "the names of perf's commands that run here" },
	{ .name = "version",
	  .type = OPT_FLAG,
	  AT(version),
	  .help = "the version, as 'perf version' says it" },
	{ .name = "build-options",
	  .type = OPT_FLAG,
	  AT(options),
	  .help = "what was compiled in, as 'perf version' says it" },
	{ .name = "paginate",
	  .type = OPT_FLAG,
	  AT(flag),
	  .flags = OPT_HIDDEN,
	  .help = "accepted for compatibility with perf" },
	{ .name = "debug",
	  .type = OPT_STRING,
	  AT(ignored),
	  .arg = "VALUE",
	  .flags = OPT_HIDDEN,
	  .alias = "debug-file exec-path html-path",
	  .help = "accepted for compatibility with perf" },
	OPT_END,
};

/* Commands with another name here, and words with another meaning there. */
static const struct {
	const char *perf, *ours;
} other_names[] = {
	{ "trace", "strace" },
	{ "test", "workload" },
	{ "c2c", "mem" },
};

static const struct {
	const char *command, *perf, *ours;
} other_words[] = {
	{ "record", "-d", "--data" },
	{ "report", "-w", "--column-widths" },
	{ "test", "-w", NULL },
	{ "test", "-F", NULL },
	{ "test", "Symbols", "--symbols" },
	{ "sched latency", "-p", "--pids" },
	{ "trace", "-s", "--summary" },
	{ "trace", "-S", "--summary-too" },
	{ "trace", "--with-summary", "--summary-too" },
	{ "trace", "--failure", "--failed-only" },
	{ "trace", "--no-syscalls", "--expr=none" },
	{ "trace", "--duration", "--min" },
	{ "trace", "--all-cpus", "--all" },
	{ "trace", "-t", "--tid" },
	{ "trace", "-T", "--time" },
	{ "lock", "-a", NULL },
	{ "lock", "-b", NULL },
	{ "lock", "--use-bpf", NULL },
	{ "lock", "-t", "--threads" },
	{ "lock", "-E", "--top" },
	{ "lock", "--entries", "--top" },
	{ "kwork", "-b", NULL },
	{ "kwork", "--use-bpf", NULL },
	{ "kmem", "--caller", NULL },
	{ "kmem", "--slab", NULL },
	{ "kmem", "-l", "--top" },
	{ "kmem", "--line", "--top" },
};

/* What a command of perf needs that is not here. */
static const struct {
	const char *name, *what, *instead;
} missing[] = {
	{ "bench", "the benchmarks", "'fathom workload' has programs of known behaviour" },
	{ "c2c record", "samples of memory accesses",
	  "it needs a CPU that samples memory accesses: Intel since Nehalem, AMD with IBS, "
	  "Arm with SPE; 'fathom mem -i FILE' opens recordings" },
	{ "config", "the file ~/.perfconfig", "options on the command line do all that it does" },
	{ "daemon", "sessions in the background", "'fathom record --overwrite' and systemd do" },
	{ "iostat", "counters of I/O stacks", "they need a PMU; 'fathom iostat' shows the disks" },
	{ "kvm", "records of guests", "'fathom record -e kvm:*' records the exits" },
	{ "lock info", "tables of threads and locks", "'fathom lock -i FILE' shows contention" },
	{ "kwork timehist", "files of kernel work", "'fathom sched timehist' shows switches" },
	{ "stat record", "files of counts", "'fathom stat --json -o FILE' keeps them" },
	{ "stat report", "files of counts", "'fathom stat --json -o FILE' keeps them" },
	{ "mem record", "samples of memory accesses",
	  "it needs a CPU that samples memory accesses: Intel since Nehalem, AMD with IBS, "
	  "Arm with SPE; 'fathom mem -i FILE' opens recordings" },
};

/* Options whose table would be another one without them. */
static const struct {
	const char *command, *word, *instead;
} refused_words[] = {
	{ "kmem", "--page", "'fathom kmem --page' counts those of the running kernel" },
	{ "lock", "-Y", "--filter 'type == \"mutex\"' chooses a type" },
	{ "kwork", "-k", "--filter 'class == \"irq\"' chooses a class" },
};

static int refuse_word(struct context *ctx, const char *command, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused_words); i++) {
		if (!streq(refused_words[i].command, command) ||
		    !streq(refused_words[i].word, word))
			continue;
		err_set(&ctx->err, EINVAL, "option '%s' of perf's %s is missing here", word,
			command);
		err_hint(&ctx->err, "%s", refused_words[i].instead);
		return EXIT_USAGE;
	}
	return 0;
}

/* "lock record": a part of a command that is missing; NULL: it is not. */
static const char *find_missing(const char *command, const char *word)
{
	_cleanup_free_ char *name = xasprintf("%s %s", command, word);

	for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
		if (streq(missing[i].name, name))
			return missing[i].name;
	return NULL;
}

static const struct command *find(const struct context *ctx, const char *name)
{
	/* of two names the one that perf means */
	for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
		if (streq(other_names[i].perf, name))
			return cli_find(ctx->commands, ctx->n_commands, other_names[i].ours);
	return streq(name, "perf") ? NULL : cli_find(ctx->commands, ctx->n_commands, name);
}

static int refuse(struct context *ctx, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		if (!streq(missing[i].name, name))
			continue;
		err_set(&ctx->err, EOPNOTSUPP, "perf's %s is missing here: %s", name,
			missing[i].what);
		err_hint(&ctx->err, "%s", missing[i].instead);
		return -EOPNOTSUPP;
	}
	return cli_unknown_command(ctx->commands, ctx->n_commands, name, &ctx->err);
}

/* perf wants -a beside -G; the group says it here. */
static bool is_beside_group(char **words, const char *word)
{
	if (!streq(word, "-a") && !streq(word, "--all-cpus"))
		return false;
	for (char **w = words; *w && !streq(*w, "--"); w++)
		if (starts_with(*w, "-G") || starts_with(*w, "--cgroup"))
			return true;
	return false;
}

/* "sched latency": -p has no pid after it there. */
static const char *command_of(char **words)
{
	if (streq(words[0], "sched"))
		for (char **w = words + 1; *w; w++)
			if (cli_is_operand(*w, "latency"))
				return "sched latency";
	return words[0];
}

/* The words of the command line as ours; false: it is left out. */
static bool translate(const char *command, char **word)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_words); i++) {
		if (!streq(other_words[i].command, command) || !streq(other_words[i].perf, *word))
			continue;
		if (!other_words[i].ours)
			return false;
		*word = (char *)(uintptr_t)other_words[i].ours;
		return true;
	}
	return true;
}

/* An option whose value is the next word. Commands without options have no table. */
static bool needs_word(const struct opt *o, const char *word)
{
	const char *name = starts_with(word, "--");

	for (; o && o->type; o++) {
		if (o->type == OPT_INCLUDE && needs_word(o->include, word))
			return true;
		if (!opt_takes_value(o) || (o->flags & OPT_OPTIONAL))
			continue;
		if (name ? o->name && streq(o->name, name)
			 : o->short_name && word[1] == o->short_name && !word[2])
			return true;
	}
	return false;
}

/* "--duration 5" of perf trace: calls of at least 5 ms. In @arena. */
static char *with_unit(const char *command, char **words, char **w, struct arena *arena)
{
	const char *value = starts_with(*w, "--duration=");
	bool is_next = w > words && streq(w[-1], "--duration");

	if (!streq(command, "trace") || (!value && !is_next))
		return NULL;
	return value ? arena_printf(arena, "--min=%sms", value) : arena_printf(arena, "%sms", *w);
}

static int run_words(struct context *ctx, const struct command *cmd, char **words)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	const char *command = command_of(words);
	VEC(char *) argv = { 0 };
	bool program = false, value = false;
	int status;

	for (char **w = words + 1; *w && !streq(*w, "--"); w++)
		if (refuse_word(ctx, command, *w))
			return EXIT_USAGE;
	vec_push(&argv, (char *)(uintptr_t)cmd->name);
	for (char **w = words + 1; *w; w++) {
		char *timed = program ? NULL : with_unit(command, words, w, &arena), *word = *w;

		/* words of a program that is to run are its own */
		program |= cmd->takes_program && !value && (streq(word, "--") || word[0] != '-');
		if (timed)
			vec_push(&argv, timed);
		else if (program || value ||
			 (!is_beside_group(words, word) && translate(command, &word)))
			vec_push(&argv, word);
		value = !program && !value && needs_word(cmd->options, word);
	}
	vec_push(&argv, NULL);
	status = cli_run_as_perf(ctx, cmd, argv.items);
	vec_release(&argv);
	return status;
}

/* Tables of the running kernel or of a recording, and need no word that says so. */
static bool is_table(const char *command, const char *word)
{
	static const char *const words[][2] = { { "lock", "contention" },
						{ "lock", "report" },
						{ "kmem", "stat" },
						{ "kwork", "report" },
						{ "kwork", "latency" } };

	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++)
		if (streq(words[i][0], command) && streq(words[i][1], word))
			return true;
	return false;
}

/* As in perf: a recording, if neither a program nor -b asks for the running kernel. */
static bool wants_file(char **words)
{
	for (char **w = words + 2; *w; w++)
		if (**w != '-' || streq(*w, "--") || streq(*w, "-b") || streq(*w, "--use-bpf") ||
		    streq(*w, "-a") || starts_with(*w, "-i") || starts_with(*w, "--input"))
			return false;
	return io_exists("perf.data");
}

static int run_table(struct context *ctx, char **words)
{
	VEC(char *) argv = { 0 };
	int status;

	vec_push(&argv, words[0]);
	if (streq(words[1], "latency"))
		vec_push(&argv, (char *)(uintptr_t) "--latency");
	if (streq(words[1], "report") && streq(words[0], "lock"))
		vec_push(&argv, (char *)(uintptr_t) "--lock-addr");
	if (wants_file(words))
		vec_push(&argv, (char *)(uintptr_t) "--input=perf.data");
	for (char **w = words + 2; *w; w++)
		vec_push(&argv, *w);
	vec_push(&argv, NULL);
	status = run_words(ctx, find(ctx, words[0]), argv.items);
	vec_release(&argv);
	return status;
}

/* What perf timechart takes for I/O. */
#define IO_CALLS(end)                           \
	"syscalls:sys_" end "_read,"            \
	"syscalls:sys_" end "_pread64,"         \
	"syscalls:sys_" end "_readv,"           \
	"syscalls:sys_" end "_preadv,"          \
	"syscalls:sys_" end "_write,"           \
	"syscalls:sys_" end "_pwrite64,"        \
	"syscalls:sys_" end "_writev,"          \
	"syscalls:sys_" end "_pwritev,"         \
	"syscalls:sys_" end "_sync,"            \
	"syscalls:sys_" end "_sync_file_range," \
	"syscalls:sys_" end "_fsync,"           \
	"syscalls:sys_" end "_msync,"           \
	"syscalls:sys_" end "_recvfrom,"        \
	"syscalls:sys_" end "_recvmmsg,"        \
	"syscalls:sys_" end "_recvmsg,"         \
	"syscalls:sys_" end "_sendto,"          \
	"syscalls:sys_" end "_sendmsg,"         \
	"syscalls:sys_" end "_sendmmsg,"        \
	"syscalls:sys_" end "_epoll_pwait,"     \
	"syscalls:sys_" end "_epoll_wait,"      \
	"syscalls:sys_" end "_poll,"            \
	"syscalls:sys_" end "_ppoll,"           \
	"syscalls:sys_" end "_pselect6,"        \
	"syscalls:sys_" end "_select"

static const char sched_events[] =
	"sched:sched_switch,sched:sched_stat_runtime,sched:sched_process_fork,"
	"sched:sched_process_exit,sched:sched_wakeup,sched:sched_wakeup_new,"
	"sched:sched_migrate_task";

/* Commands with a recorder of their own: what it records, and the names of its words. */
static const struct {
	const char *command, *word, *run;
	const char *options[8];
} recorders[] = {
	{ "sched",
	  "record",
	  "record",
	  { "-a", "-c", "1", "-e", sched_events, "--call-graph=none" } },
	{ "sched", "script", "script", { NULL } },
	{ "lock",
	  "record",
	  "record",
	  { "-c", "1", "-g", "-e", "lock:contention_begin,lock:contention_end" } },
	{ "lock", "script", "script", { NULL } },
	{ "kmem",
	  "record",
	  "record",
	  { "-a", "-c", "1", "-e", "kmem:kmalloc*,kmem:kfree,kmem:kmem_cache_*",
	    "--call-graph=none" } },
	{ "kwork",
	  "record",
	  "record",
	  { "-a", "-c", "1", "-e", "irq:irq_handler_*,irq:softirq_*,workqueue:*",
	    "--call-graph=none" } },
	{ "timechart",
	  "record",
	  "record",
	  { "-a", "-c", "1", "-e",
	    "sched:sched_wakeup,sched:sched_switch,power:cpu_frequency,power:cpu_idle",
	    "--call-graph=none" } },
	{ "timechart",
	  "record -I",
	  "record",
	  { "-a", "-c", "1", "-e", IO_CALLS("enter") "," IO_CALLS("exit"), "--call-graph=none" } },
	{ "trace",
	  "record",
	  "record",
	  { "-c", "1", "-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit",
	    "--call-graph=none" } },
	{ "mem", "report", "mem", { NULL } },
	{ "c2c", "report", "mem", { "--lines" } },
};

/* "record -I" records something else than "record". */
static bool is_io_record(char **words)
{
	return streq(words[0], "timechart") && streq(words[1], "record") && words[2] &&
	       (streq(words[2], "-I") || streq(words[2], "--io-only"));
}

static int run_recorder(struct context *ctx, size_t row, char **words)
{
	VEC(char *) argv = { 0 };
	int status;

	vec_push(&argv, (char *)(uintptr_t)recorders[row].run);
	for (const char *const *o = recorders[row].options; *o; o++)
		vec_push(&argv, (char *)(uintptr_t)*o);
	for (char **w = words + 2 + is_io_record(words); *w; w++)
		vec_push(&argv, *w);
	vec_push(&argv, NULL);
	status = run_words(ctx, find(ctx, recorders[row].run), argv.items);
	vec_release(&argv);
	return status;
}

/* check feature LIST: "version" knows them. */
static int run_check(struct context *ctx, char **words)
{
	VEC(char *) argv = { 0 };
	int status;

	vec_push(&argv, (char *)(uintptr_t) "version");
	/* check feature -q LIST: -q --feature LIST */
	for (char **w = words + 1; *w; w++)
		if (**w == '-')
			vec_push(&argv, *w);
	for (char **w = words + 1; *w; w++)
		if (**w != '-')
			vec_push(&argv,
				 streq(*w, "feature") ? (char *)(uintptr_t) "--feature" : *w);
	vec_push(&argv, NULL);
	status = cli_run_as_perf(ctx, find(ctx, "version"), argv.items);
	vec_release(&argv);
	return status;
}

static int run_perf_command(struct context *ctx, char **words)
{
	const struct command *cmd = find(ctx, words[0]);
	const char *missing_part, *word = words[1];

	if (streq(words[0], "check"))
		return run_check(ctx, words);
	if (words[1] && (missing_part = find_missing(words[0], words[1])))
		return refuse(ctx, missing_part);
	if (cmd && is_table(words[0], words[1]))
		return run_table(ctx, words);
	if (word && is_io_record(words))
		word = "record -I";
	for (size_t i = 0; word && i < ARRAY_SIZE(recorders); i++)
		if (streq(recorders[i].command, words[0]) && streq(recorders[i].word, word))
			return run_recorder(ctx, i, words);
	return cmd ? run_words(ctx, cmd, words) : refuse(ctx, words[0]);
}

static int list_commands(struct context *ctx)
{
	static const char names[] =
		"annotate archive buildid-cache buildid-list c2c data diff evlist ftrace help "
		"inject "
		"kallsyms kmem kwork list lock mem probe record report sched script stat test "
		"timechart "
		"top trace version";
	_cleanup_free_ char *copy = xstrdup(names);
	_cleanup_buf_ struct buf out = BUF_INIT;
	char *save = NULL;

	for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save))
		if (find(ctx, name))
			buf_addf(&out, "%s\n", name);
	return cli_print(ctx, &out);
}

static int run_version(struct context *ctx, bool options)
{
	char *words[] = { (char *)(uintptr_t) "version",
			  options ? (char *)(uintptr_t) "--build-options" : NULL, NULL };

	return run_words(ctx, find(ctx, "version"), words);
}

static int perf_run(struct context *ctx, void *args)
{
	const struct perf_cmd_args *a = args;

	ctx->cache = a->cache;
	if (ctx->program)
		return run_perf_command(ctx, ctx->program);
	if (ctx->common.verbose || a->options || a->version)
		return run_version(ctx, ctx->common.verbose > 1 || a->options);
	return list_commands(ctx);
}

static const struct example perf_examples[] = {
	{ "fathom perf", "the names of perf's commands that run here" },
	{ "fathom perf record -F 99 -ag -- sleep 1", "into perf.data, as perf records" },
	{ "fathom perf report --stdio --no-children", "in perf's form of text, from perf.data" },
	{ 0 },
};

const struct command cmd_perf = {
	.name = "perf",
	.summary = "take perf's command line, with perf's defaults and output",
	.description =
		"Runs perf's commands with perf's options: 'fathom perf record -g ls' is 'perf "
		"record -g ls'. A link with the name perf to this program does the same, so that "
		"scripts which call perf run unchanged: ln -s $(command -v fathom) "
		"/usr/local/bin/perf\n\n"
		"The differences to fathom's commands of the same names are perf's defaults "
		"(perf.data, 4000 samples a second, stacks only with -g) and the text of report, "
		"list, diff and annotate, which is in perf's form. What is missing is reported.",
	.question = Q_SELF,
	.options = perf_options,
	.args_size = sizeof(struct perf_cmd_args),
	.takes_program = true,
	.peer = "perf",
	.examples = perf_examples,
	.see_also = "fathom-record fathom-report fathom-workload",
	.run = perf_run,
};
