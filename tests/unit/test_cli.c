/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/suggest.h"
#include "cli/table.h"
#include "cli/target.h"
#include "base/text.h"
#include "harness.h"

/* A command with an option of every kind. */
struct all_args {
	struct target_args target;
	bool flag;
	bool inherit;
	bool no_wait;
	int count;
	const char *string;
	bool string_given;
	const char *file;
	str_list strings;
	u64 number;
	s64 offset;
	double factor;
	double percent;
	u64 time;
	u64 size;
	u64 frequency;
	range_list ranges;
	int mode;
	int graph;
	int custom;
};

static int parse_even(void *field, const char *text, struct err *e)
{
	u64 v;
	int r = parse_u64_range(text, 0, 1000, &v, e);

	if (r < 0)
		return r;
	if (v % 2)
		return err_set(e, EINVAL, "'%s' is not even", text);
	*(int *)field = (int)v;
	return 0;
}

static const char *const modes[] = { "fast", "slow", "colourful", NULL };
static const char *const graphs[] = { "none", "fp", "dwarf", NULL };

#define AT(f) .offset = offsetof(struct all_args, f)

static const struct opt all_options[] = {
	{ .type = OPT_INCLUDE, AT(target), .include = target_options },
	{ .short_name = 'f', .name = "flag", .type = OPT_FLAG, AT(flag), .help = "a flag" },
	{ .name = "inherit",
	  .type = OPT_FLAG,
	  AT(inherit),
	  .help = "can be negated",
	  .def = "yes",
	  .flags = OPT_NEGATABLE },
	{ .name = "no-wait",
	  .type = OPT_FLAG,
	  AT(no_wait),
	  .help = "has a positive form",
	  .flags = OPT_NEGATABLE },
	{ .short_name = 'x', .name = "more", .type = OPT_COUNT, AT(count), .help = "count me" },
	{ .short_name = 's',
	  .name = "string",
	  .type = OPT_STRING,
	  AT(string),
	  .help = "some text",
	  .given_offset = offsetof(struct all_args, string_given) },
	{ .short_name = 'o', .name = "output", .type = OPT_FILE, AT(file), .help = "a [file]: x" },
	{ .short_name = 'e',
	  .name = "event",
	  .type = OPT_STRINGS,
	  AT(strings),
	  .help = "may be repeated",
	  .def = "cycles" },
	{ .short_name = 'n',
	  .name = "number",
	  .type = OPT_U64,
	  AT(number),
	  .help = "at most 100",
	  .max = 100 },
	{ .name = "offset", .type = OPT_S64, AT(offset), .help = "may be negative" },
	{ .name = "factor", .type = OPT_DOUBLE, AT(factor), .help = "a fraction" },
	{ .name = "percent", .type = OPT_PERCENT, AT(percent), .help = "a share" },
	{ .name = "time", .type = OPT_DURATION, AT(time), .help = "a time", .def = "1.5s" },
	{ .short_name = 'm', .name = "size", .type = OPT_SIZE, AT(size), .help = "a size" },
	{ .short_name = 'F',
	  .name = "frequency",
	  .type = OPT_FREQUENCY,
	  AT(frequency),
	  .help = "a frequency",
	  .def = "99" },
	{ .name = "freq", .type = OPT_FREQUENCY, AT(frequency), .flags = OPT_HIDDEN },
	{ .name = "ranges", .type = OPT_RANGES, AT(ranges), .help = "a list", .max = 63 },
	{ .name = "mode",
	  .type = OPT_CHOICE,
	  AT(mode),
	  .arg = "MODE",
	  .help = "one of three",
	  .def = "slow",
	  .choices = modes },
	{ .short_name = 'g',
	  .name = "call-graph",
	  .type = OPT_CHOICE,
	  AT(graph),
	  .arg = "HOW",
	  .help = "its value may be missing",
	  .implied = "fp",
	  .choices = graphs,
	  .flags = OPT_OPTIONAL },
	{ .name = "even", .type = OPT_CUSTOM, AT(custom), .help = "x", .parse = parse_even },
	OPT_END,
};

static int all_run(struct context *ctx, void *args)
{
	(void)ctx;
	(void)args;
	return 0;
}

static const struct example all_examples[] = {
	{ "fathom all -p 1 --mode=slow a b | head", "an example" },
	{ 0 },
};

static const struct command cmd_all = {
	.name = "all",
	.summary = "has everything",
	.description =
		"First paragraph.\nSecond sentence of it.\n\n    kept as it is\n\n.The third",
	.question = Q_CPU,
	.options = all_options,
	.args_size = sizeof(struct all_args),
	.operands = "[FILE]...",
	.max_operands = 2,
	.examples = all_examples,
	.see_also = "fathom-run perf-record bpf(2)",
	.run = all_run,
};

static const struct opt run_options[] = {
	{ .short_name = 'f', .name = "flag", .type = OPT_FLAG, .offset = 0, .help = "a flag" },
	OPT_END,
};

static const struct example run_examples[] = { { "fathom run -- true", "an example" }, { 0 } };

static const struct command cmd_run = {
	.name = "run",
	.summary = "takes a program",
	.description = "Text.",
	.question = Q_LOOK,
	.options = run_options,
	.args_size = sizeof(bool),
	.takes_program = true,
	.examples = run_examples,
	.run = all_run,
};

static const struct command *const commands[] = { &cmd_all, &cmd_run };

/* One parse of a made-up command line. */
struct parsed {
	struct context ctx;
	struct all_args args;
	struct err err;
	int r;
	char *argv[32];
};

#define PARSE(p, cmd, ...) parse_words(p, cmd, (const char *const[]){ __VA_ARGS__, NULL })

static void parse_words(struct parsed *p, const struct command *cmd, const char *const *words)
{
	int n = 1;

	*p = (struct parsed){ .ctx.out = stdout };
	p->argv[0] = (char *)(uintptr_t)cmd->name;
	for (; *words && n < 31; words++)
		p->argv[n++] = (char *)(uintptr_t)*words;
	p->r = cli_parse(cmd, n, p->argv, &p->ctx, &p->args, &p->err);
}

static void parsed_release(struct parsed *p)
{
	cli_args_release(p->ctx.command, &p->ctx, &p->args);
	err_release(&p->err);
}

#define _cleanup_parsed_ _cleanup_(parsed_release)

/* The command line fails with this message; @hint NULL: whatever the hint is. */
#define REFUSED(what_, hint_, ...)                         \
	do {                                               \
		_cleanup_parsed_ struct parsed p_ = { 0 }; \
		PARSE(&p_, &cmd_all, __VA_ARGS__);         \
		CHECK(p_.r < 0);                           \
		CHECK_STR(p_.err.what, what_);             \
		if (hint_)                                 \
			CHECK_STR(p_.err.hint, hint_);     \
	} while (0)

#define NO_HINT ((const char *)NULL)

TEST("every type is stored")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "--flag", "-xx", "--more", "--string=a b", "-o", "-", "-e", "a",
	      "--event=b", "-n", "0x10", "--offset", "-5", "--factor=-1.5", "--percent", "12.5%",
	      "--time=10ms", "-m64K", "-F", "1khz", "--ranges=0-3,7", "--mode=fast",
	      "--call-graph=dwarf", "--even=4");
	CHECK_EQ(p.r, 0);
	CHECK(p.args.flag);
	CHECK_EQ(p.args.count, 3);
	CHECK_STR(p.args.string, "a b");
	CHECK(p.args.string_given);
	CHECK_STR(p.args.file, "-");
	CHECK_EQ(p.args.strings.len, 2);
	CHECK_STR(p.args.strings.items[1], "b");
	CHECK_EQ(p.args.number, 16);
	CHECK_EQ(p.args.offset, -5);
	CHECK_NEAR(p.args.factor, -1.5, 0);
	CHECK_NEAR(p.args.percent, 12.5, 0);
	CHECK_EQ(p.args.time, 10 * NSEC_PER_MSEC);
	CHECK_EQ(p.args.size, 64 << 10);
	CHECK_EQ(p.args.frequency, 1000);
	CHECK_EQ(ranges_count(&p.args.ranges), 5);
	CHECK_EQ(p.args.mode, 0);
	CHECK_EQ(p.args.graph, 2);
	CHECK_EQ(p.args.custom, 4);
}

TEST("defaults fill what was not given")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "a");
	CHECK_EQ(p.r, 0);
	CHECK(p.args.inherit);
	CHECK(!p.args.string_given);
	CHECK_EQ(p.args.strings.len, 1);
	CHECK_STR(p.args.strings.items[0], "cycles");
	CHECK_EQ(p.args.time, 1500 * NSEC_PER_MSEC);
	CHECK_EQ(p.args.frequency, 99);
	CHECK_EQ(p.args.mode, 1);
	CHECK_EQ(p.ctx.common.color, COLOR_AUTO);
}

TEST("a hidden name for the same field keeps the default away")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "--freq", "7");
	CHECK_EQ(p.r, 0);
	CHECK_EQ(p.args.frequency, 7);
}

TEST("short flags are grouped and values attached")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "-fxxF99", "-n=5", "-g", "-o", "file");
	CHECK_EQ(p.r, 0);
	CHECK(p.args.flag);
	CHECK_EQ(p.args.count, 2);
	CHECK_EQ(p.args.frequency, 99);
	CHECK_EQ(p.args.number, 5);
	CHECK_EQ(p.args.graph, 1);
	CHECK_STR(p.args.file, "file");
}

TEST("an optional value comes attached, or as the next word if that is one of the choices")
{
	_cleanup_parsed_ struct parsed p = { 0 }, q = { 0 };

	PARSE(&p, &cmd_all, "--call-graph", "dwarf", "-g", "other");
	CHECK_EQ(p.r, 0);
	CHECK_EQ(p.args.graph, 1);
	CHECK_EQ(p.ctx.operands.len, 1);
	CHECK_STR(p.ctx.operands.items[0], "other");
	PARSE(&q, &cmd_all, "-gdwarf");
	CHECK_EQ(q.r, 0);
	CHECK_EQ(q.args.graph, 2);
}

TEST("a letter may stand for something else after an operand")
{
	static const struct opt options[] = {
		{ .short_name = 's',
		  .name = "string",
		  .type = OPT_STRING,
		  AT(string),
		  .help = "some text" },
		{ .short_name = 's',
		  .name = "flag",
		  .type = OPT_FLAG,
		  AT(flag),
		  .help = "a flag",
		  .after = "history" },
		OPT_END,
	};
	struct command cmd = cmd_all;
	_cleanup_buf_ struct buf faults = BUF_INIT;
	const struct command *const list[] = { &cmd };
	_cleanup_parsed_ struct parsed p = { 0 }, q = { 0 }, r = { 0 };

	cmd.options = options;
	PARSE(&p, &cmd, "history", "-s", "more");
	CHECK_EQ(p.r, 0);
	CHECK(p.args.flag && !p.args.string);
	CHECK_EQ(p.ctx.operands.len, 2);
	PARSE(&q, &cmd, "hist", "-s");
	CHECK(q.r == 0 && q.args.flag);
	PARSE(&r, &cmd, "other", "-s", "text");
	CHECK(r.r == 0 && !r.args.flag);
	CHECK_STR(r.args.string, "text");
	CHECK(!cli_is_operand("hi", "history") && !cli_is_operand("histories", "history"));
	cli_check(list, 1, &faults);
	CHECK(!strstr(buf_str(&faults), "twice"));
}

TEST("flags are negated, also those that are called no-")
{
	_cleanup_parsed_ struct parsed p = { 0 }, q = { 0 };

	PARSE(&p, &cmd_all, "--no-inherit", "--no-wait");
	CHECK_EQ(p.r, 0);
	CHECK(!p.args.inherit);
	CHECK(p.args.no_wait);
	PARSE(&q, &cmd_all, "--no-inherit", "--inherit", "--no-wait", "--wait");
	CHECK_EQ(q.r, 0);
	CHECK(q.args.inherit);
	CHECK(!q.args.no_wait);
	REFUSED("unknown option '--no-flag'", NO_HINT, "--no-flag");
}

TEST("a unique beginning is enough")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "--fl", "--colo=never", "--fre=5", "--no-inh");
	CHECK_EQ(p.r, 0);
	CHECK(p.args.flag);
	CHECK_EQ(p.ctx.common.color, COLOR_NEVER);
	CHECK_EQ(p.args.frequency, 5);
	CHECK(!p.args.inherit);
	REFUSED("option '--f' could be --flag, --factor, --frequency", "write more of its name",
		"--f");
}

TEST("both spellings of colour")
{
	_cleanup_parsed_ struct parsed p = { 0 }, q = { 0 };

	PARSE(&p, &cmd_all, "--colour=always");
	CHECK_EQ(p.r, 0);
	CHECK_EQ(p.ctx.common.color, COLOR_ALWAYS);
	PARSE(&q, &cmd_all, "--no-colour");
	CHECK_EQ(q.r, 0);
	CHECK_EQ(q.ctx.common.color, COLOR_NEVER);
	CHECK_EQ(suggest_distance("colour-by", "color-by"), 0);
	REFUSED("unknown option '--colur'", "did you mean '--color'?", "--colur");
	REFUSED("option '--mode': 'colorfull' is not one of fast, slow, colourful",
		"did you mean 'colourful'?", "--mode=colorfull");
}

TEST("operands and options mix, -- ends the options")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "one", "-f", "--", "--flag");
	CHECK_EQ(p.r, 0);
	CHECK(p.args.flag);
	CHECK_EQ(p.ctx.operands.len, 2);
	CHECK_STR(p.ctx.operands.items[1], "--flag");
	CHECK(!p.ctx.program);
}

TEST("the first operand begins the program")
{
	_cleanup_parsed_ struct parsed p = { 0 }, q = { 0 }, none = { 0 };

	PARSE(&p, &cmd_run, "-f", "ls", "-l", "--help");
	CHECK_EQ(p.r, 0);
	CHECK(!p.ctx.common.help);
	CHECK_STR(p.ctx.program[0], "ls");
	CHECK_STR(p.ctx.program[2], "--help");
	CHECK(!p.ctx.program[3]);
	PARSE(&q, &cmd_run, "--", "-f");
	CHECK_EQ(q.r, 0);
	CHECK_STR(q.ctx.program[0], "-f");
	PARSE(&none, &cmd_run, "--");
	CHECK(none.r < 0);
	CHECK_STR(none.err.what, "no program follows '--'");
}

TEST("the target options are everywhere the same")
{
	_cleanup_parsed_ struct parsed p = { 0 };
	const struct target_args *t = &p.args.target;

	PARSE(&p, &cmd_all, "-p", "12,7", "-p8", "--tid=3", "--uid", "root", "-u", "1", "-G", "/x",
	      "-C", "2", "-C0-1,2", "-d", "500ms");
	CHECK_EQ(p.r, 0);
	CHECK_EQ(t->pids.len, 2);
	CHECK_EQ(t->pids.items[0].first, 7);
	CHECK_EQ(t->pids.items[0].last, 8);
	CHECK_EQ(t->pids.items[1].first, 12);
	CHECK(ranges_contain(&t->tids, 3));
	CHECK_EQ(t->users.len, 2);
	CHECK_STR(t->cgroups.items[0], "/x");
	CHECK_EQ(t->cpus.len, 1);
	CHECK_EQ(ranges_count(&t->cpus), 3);
	CHECK_EQ(t->duration, 500 * NSEC_PER_MSEC);
	REFUSED("--pid and --all cannot be used together", "give only one of them", "-a", "-p1");
}

TEST("wrong values say what is wrong and what is right")
{
	REFUSED("option '--duration': '10x' has the unknown unit 'x'",
		"a duration is written like 10s, 500ms or 2m", "--duration", "10x");
	REFUSED("option '-n': '101' is not between 0 and 100", NO_HINT, "-n101");
	REFUSED("option '--offset': '9223372036854775808' is too large", NO_HINT,
		"--offset=9223372036854775808");
	REFUSED("option '--size': '99999999999G' is too large", NO_HINT, "--size=99999999999G");
	REFUSED("option '--pid': 'me' is not an id or a list of ids",
		"write it like 1234 or 1234,1250", "--pid=me");
	REFUSED("option '--pid': '0': ids begin at 1", NO_HINT, "--pid=0");
	REFUSED("option '--ranges': '64' goes past 63", NO_HINT, "--ranges=64");
	REFUSED("option '--frequency': a frequency of 0 never happens", NO_HINT, "--frequency=0");
	REFUSED("option '--even': '3' is not even", NO_HINT, "--even", "3");
	REFUSED("option '-o': the name of a file cannot be empty", NO_HINT, "-o", "");
	REFUSED("option '--factor': 'nan' is not a number", NO_HINT, "--factor=nan");
}

TEST("missing values and words too many")
{
	REFUSED("option '--string' needs a value", "write --string=TEXT", "--string");
	REFUSED("option '-s' needs a value", "write -s TEXT", "-s");
	REFUSED("option '-s' needs a value", "write -s TEXT", "-s", "--json");
	REFUSED("option '-s' needs a value", "write -s TEXT", "-s", "--");
	REFUSED("option '-s' needs a value", "write -s TEXT", "-s", "-f");
	REFUSED("option '--string' needs a value", "write --string=TEXT", "--string", "-o", "x");
	REFUSED("option '--flag' takes no value", "write --flag alone", "--flag=1");
	REFUSED("unexpected operand 'c'", "usage: fathom all [options] [FILE]...", "a", "b", "c");
	REFUSED("unknown option '-Z' in '-fZ'", "'fathom all --help' lists the options", "-fZ");
	REFUSED("unknown option '-j' in '-json'", "did you mean '--json'?", "-json");
	REFUSED("unknown option '--flga'", "did you mean '--flag'?", "--flga");
	REFUSED("unknown option '--'", NO_HINT, "--=x");
	REFUSED("--csv and --json cannot be used together", NO_HINT, "--csv", "--json");
}

TEST("--help ends parsing")
{
	_cleanup_parsed_ struct parsed p = { 0 };

	PARSE(&p, &cmd_all, "-h", "--bogus");
	CHECK_EQ(p.r, 0);
	CHECK(p.ctx.common.help);
}

TEST("missing operand")
{
	struct command cmd = cmd_all;
	_cleanup_parsed_ struct parsed p = { 0 };

	cmd.min_operands = 1;
	cmd.operands = "FILE";
	PARSE(&p, &cmd, "-f");
	CHECK(p.r < 0);
	CHECK_STR(p.err.what, "'all' needs FILE");
	CHECK_STR(p.err.hint, "for example: fathom all -p 1 --mode=slow a b | head");
}

TEST("edit distance")
{
	CHECK_EQ(suggest_distance("docter", "doctor"), 1);
	CHECK_EQ(suggest_distance("dcotor", "doctor"), 1);
	CHECK_EQ(suggest_distance("", "abc"), 3);
	CHECK_EQ(suggest_distance("kitten", "sitting"), 3);
	CHECK_EQ(suggest_distance("Max_Size", "max-size"), 0);
	CHECK(suggest_distance("x", "0123456789012345678901234567890123456789012345678901234567890"
				    "123456789") == SIZE_MAX);
}

TEST("suggestions are near or none")
{
	struct suggestion s;

	suggest_init(&s, "zz");
	suggest_try(&s, "ab");
	CHECK_STR(s.best, "");
	suggest_init(&s, "rec");
	suggest_try(&s, "report");
	suggest_try(&s, "record");
	CHECK_STR(s.best, "record");
	/* only the first bytes are the word */
	suggest_init_n(&s, "cylces/period=1/", 6);
	suggest_try(&s, "instructions");
	CHECK_STR(s.best, "");
	suggest_try(&s, "cycles");
	suggest_try(&s, "bus-cycles");
	CHECK_STR(s.best, "cycles");
	suggest_init_n(&s, "a word of more than sixty-three bytes, which is compared with nothing",
		       69);
	suggest_try(&s, "a word");
	CHECK_STR(s.best, "");
}

TEST("unknown commands")
{
	_cleanup_err_ struct err e = ERR_INIT;

	CHECK(cli_find(commands, ARRAY_SIZE(commands), "run") == &cmd_run);
	CHECK(!cli_find(commands, ARRAY_SIZE(commands), "ru"));
	CHECK_EQ(cli_unknown_command(commands, ARRAY_SIZE(commands), "rnu", &e), -EINVAL);
	CHECK_STR(e.what, "unknown command 'rnu'");
	CHECK_STR(e.hint, "did you mean 'run'?");
}

static size_t widest_line(const char *s)
{
	size_t most = 0;

	while (*s) {
		size_t n = strcspn(s, "\n");

		most = MAX(most, n);
		s += n + (s[n] == '\n');
	}
	return most;
}

TEST("help fits its width and shows what the table knows")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	cli_help(&cmd_all, false, 80, &b);
	CHECK(widest_line(buf_str(&b)) <= 80);
	CHECK(strstr(buf_str(&b), "Usage: fathom all [options] [FILE]...\n"));
	CHECK(strstr(buf_str(&b), "\nTarget\n  -p, --pid PID[,PID]"));
	CHECK(strstr(buf_str(&b), "one of three: fast, slow, colourful (default: slow)"));
	CHECK(strstr(buf_str(&b), "--[no-]inherit"));
	CHECK(strstr(buf_str(&b), "-g, --call-graph[=HOW]"));
	CHECK(strstr(buf_str(&b), "\n    kept as it is\n"));
	CHECK(strstr(buf_str(&b), "fathom all -p 1"));
	CHECK(!strstr(buf_str(&b), "--freq "));
	CHECK(!strchr(buf_str(&b), '\033'));
	buf_reset(&b);
	cli_help(&cmd_all, true, 20, &b);
	CHECK(strstr(buf_str(&b), "\033[1mTarget\033[0m"));
}

TEST("the overview groups by question and leaves empty ones out")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	cli_overview(commands, ARRAY_SIZE(commands), false, 40, &b);
	CHECK(widest_line(buf_str(&b)) <= 40);
	CHECK(strstr(buf_str(&b), "\nWhere does CPU time go?\n"));
	CHECK(strstr(buf_str(&b), "\nHow can I look at a recording?\n"));
	CHECK(!strstr(buf_str(&b), "What is being waited for?"));
	CHECK(!strstr(buf_str(&b), "First steps"));
}

TEST("manual pages have all sections in order")
{
	static const char *const sections[] = {
		"NAME",  "SYNOPSIS",    "DESCRIPTION", "OPTIONS",  "ENVIRONMENT",
		"FILES", "EXIT STATUS", "EXAMPLES",    "SEE ALSO", "CAVEATS",
	};
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *at;

	cli_man(commands, ARRAY_SIZE(commands), &cmd_all, &b);
	at = buf_str(&b);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		_cleanup_free_ char *line = xasprintf("\n.Sh %s\n", sections[i]);

		at = strstr(at, line);
		CHECK(at);
	}
	CHECK(strstr(buf_str(&b), ".Dt FATHOM-ALL 1\n"));
	CHECK(strstr(buf_str(&b), "\n\\&.The third\n"));
	CHECK(strstr(buf_str(&b), ".Xr fathom 1 ,\n.Xr fathom\\-run 1 ,\n.Xr perf\\-record 1 ,\n"
				  ".Xr bpf 2\n"));
}

TEST("completion scripts know options, values and operands")
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	CHECK_EQ(cli_completion(commands, ARRAY_SIZE(commands), "bash", &b, &e), 0);
	CHECK(strstr(buf_str(&b), "_fathom_commands='all run'"));
	CHECK(strstr(buf_str(&b), "all:--mode= | all:--mode) echo 'fast slow colourful' ;;"));
	CHECK(strstr(buf_str(&b), "all:--call-graph=) echo 'none fp dwarf' ;;"));
	CHECK(strstr(buf_str(&b), "\trun) echo '@program' ;;"));
	buf_reset(&b);
	CHECK_EQ(cli_completion(commands, ARRAY_SIZE(commands), "zsh", &b, &e), 0);
	CHECK(strstr(buf_str(&b), "'-o+[a \\[file\\]\\: x]:FILE:_files'"));
	CHECK(strstr(buf_str(&b), "'*-p+[these processes"));
	CHECK_EQ(cli_completion(commands, ARRAY_SIZE(commands), "fish", &b, &e), -EINVAL);
	CHECK_STR(e.what, "no completion for the shell 'fish'");
}

TEST("the dump holds every option")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	cli_dump(commands, ARRAY_SIZE(commands), NULL, &b);
	CHECK(strstr(buf_str(&b), "\"name\": \"call-graph\""));
	CHECK(strstr(buf_str(&b), "\"name\": \"freq\""));
	CHECK(strstr(buf_str(&b), "\"takes_program\": true"));
	buf_reset(&b);
	cli_dump(commands, ARRAY_SIZE(commands), &cmd_run, &b);
	CHECK(!strstr(buf_str(&b), "call-graph"));
}

TEST("sound tables have no fault")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	cli_check(commands, ARRAY_SIZE(commands), &b);
	CHECK_STR(buf_str(&b), "");
}

static void check_faulty(const struct opt *options, const char *operands, const char *line,
			 const char *fault)
{
	const struct example examples[] = { { line, "an example" }, { 0 } };
	struct command cmd = cmd_run;
	const struct command *const list[] = { &cmd };
	_cleanup_buf_ struct buf b = BUF_INIT;

	cmd.options = options;
	cmd.operands = operands;
	cmd.examples = examples;
	cli_check(list, 1, &b);
	if (!strstr(buf_str(&b), fault))
		FAIL("'%s' is not in: %s", fault, buf_str(&b));
}

TEST("faults of tables are found")
{
	static const struct opt twice[] = {
		{ .short_name = 'v', .name = "json", .type = OPT_FLAG, .help = "x" },
		OPT_END,
	};
	static const struct opt words[] = {
		{ .name = "flag", .type = OPT_FLAG, .help = "Begins badly." },
		{ .name = "Bad", .type = OPT_FLAG, .help = "x", .conflicts = "none" },
		{ .name = "choice", .type = OPT_CHOICE, .help = "x", .offset = 99 },
		OPT_END,
	};
	static const struct opt values[] = {
		{ .name = "flag", .type = OPT_FLAG, .help = "x", .def = "maybe" },
		OPT_END,
	};
	static const char good[] = "fathom run -- true";

	check_faulty(twice, NULL, good, "run: --json is there twice");
	check_faulty(twice, NULL, good, "run: -v is there twice");
	check_faulty(words, NULL, good, "run: --flag: begins with a capital");
	check_faulty(words, NULL, good, "run: --flag: ends with a full stop");
	check_faulty(words, NULL, good, "run: --Bad: not a good name");
	check_faulty(words, NULL, good, "conflicts with --none, which is not there");
	check_faulty(words, NULL, good, "a choice without choices");
	check_faulty(words, NULL, good, "is outside args_size");
	check_faulty(values, NULL, good, "value 'maybe' of the table");
	check_faulty(run_options, "[X]", good, "operands and max_operands disagree");
	check_faulty(run_options, NULL, "fathom run --gone", "unknown option '--gone'");
	check_faulty(run_options, NULL, "ls", "runs no command");
}

TEST("text is filled and literal paragraphs are kept")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	text_paragraphs(&b, "one two\nthree\n\n  a  b\n  c\n\nfour", 2, 10);
	CHECK_STR(buf_str(&b), "  one two\n  three\n\n    a  b\n    c\n\n  four\n");
	buf_reset(&b);
	text_paragraphs(&b, NULL, 0, 10);
	CHECK_STR(buf_str(&b), "");
}

static int failing_run(struct context *ctx, void *args)
{
	(void)args;
	return err_sys(&ctx->err, EPERM, "cannot look");
}

static int usage_run(struct context *ctx, void *args)
{
	(void)args;
	err_set(&ctx->err, EINVAL, "bad word");
	return EXIT_USAGE;
}

static int child_run(struct context *ctx, void *args)
{
	(void)ctx;
	(void)args;
	return 42;
}

static int silent_run(struct context *ctx, void *args)
{
	(void)ctx;
	(void)args;
	return -EIO;
}

static int status_of(int (*run)(struct context *, void *))
{
	struct command cmd = cmd_run;
	const struct command *const list[] = { &cmd };
	char name[] = "run", program[] = "fathom";
	char *argv[] = { program, name, NULL };

	cmd.run = run;
	return cli_main(list, 1, 2, argv);
}

TEST("exit statuses")
{
	/* the messages are not wanted among the TAP */
	CHECK(freopen("/dev/null", "w", stderr));
	CHECK_EQ(status_of(all_run), EXIT_OK);
	CHECK_EQ(status_of(failing_run), EXIT_MISSING);
	CHECK_EQ(status_of(usage_run), EXIT_USAGE);
	CHECK_EQ(status_of(child_run), 42);
	CHECK_EQ(status_of(silent_run), EXIT_FAILED);
}
