/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any words for a command that has every type of option. */
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/profile_args.h"
#include "base/suggest.h"
#include "cli/target.h"

enum { WORDS_MAX = 64, INPUT_MAX = 1 << 14 };

struct fuzz_args {
	struct target_args target;
	struct profile_args input;
	bool flag;
	int count;
	const char *string;
	str_list strings;
	u64 number;
	s64 offset;
	double factor, percent;
	u64 time, size, frequency;
	range_list ranges;
	int mode, graph, custom;
	bool given;
};

static int parse_custom(void *field, const char *text, struct err *e)
{
	if (!*text)
		return err_set(e, EINVAL, "empty");
	*(int *)field = *text;
	return 0;
}

static const char *const modes[] = { "fast", "slow", "colour", NULL };

#define AT(f) .offset = offsetof(struct fuzz_args, f), .help = "x"

static const struct opt fuzz_options[] = {
	{ .type = OPT_INCLUDE, AT(target), .include = target_options },
	{ .type = OPT_INCLUDE, AT(input), .include = profile_options },
	{ 'f', "flag", OPT_FLAG, AT(flag), .flags = OPT_NEGATABLE },
	{ 'x', "more", OPT_COUNT, AT(count) },
	{ 's', "string", OPT_STRING, AT(string),
	  .given_offset = offsetof(struct fuzz_args, given) },
	{ 'e', "event", OPT_STRINGS, AT(strings), .def = "cycles", .alias = "events ev" },
	{ 'n', "number", OPT_U64, AT(number), .max = 100 },
	{ 0, "offset", OPT_S64, AT(offset) },
	{ 0, "factor", OPT_DOUBLE, AT(factor) },
	{ 0, "percent", OPT_PERCENT, AT(percent), .conflicts = "factor" },
	{ 0, "time", OPT_DURATION, AT(time), .def = "1s" },
	{ 'm', "size", OPT_SIZE, AT(size) },
	{ 'F', "frequency", OPT_FREQUENCY, AT(frequency), .def = "99" },
	{ 'r', "ranges", OPT_RANGES, AT(ranges) },
	{ 'M', "mode", OPT_CHOICE, AT(mode), .choices = modes },
	{ 'g', "graph", OPT_CHOICE, AT(graph), .choices = modes, .implied = "fast",
	  .flags = OPT_OPTIONAL },
	{ 'c', "custom", OPT_CUSTOM, AT(custom), .parse = parse_custom },
	OPT_END,
};

static int fuzz_run(struct context *ctx, void *args)
{
	(void)ctx;
	(void)args;
	return 0;
}

static const struct command fuzz_command = {
	.name = "fuzz",
	.summary = "takes anything",
	.question = Q_CPU,
	.options = fuzz_options,
	.args_size = sizeof(struct fuzz_args),
	.operands = "[WORD]...",
	.max_operands = 3,
	.takes_program = true,
	.run = fuzz_run,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct command *const commands[] = { &fuzz_command };
	_cleanup_free_ char *text = xmalloc(MIN(size, (size_t)INPUT_MAX) + 1);
	_cleanup_err_ struct err e = ERR_INIT;
	struct context ctx = { .out = stdout };
	struct fuzz_args args;
	char *argv[WORDS_MAX + 2] = { NULL };
	char name[] = "fuzz";
	int argc = 0;

	if (size > INPUT_MAX)
		return 0;
	/* words are separated by NUL bytes, as the kernel keeps them */
	memcpy(text, data, size);
	text[size] = '\0';
	argv[argc++] = name;
	for (size_t at = 0; at < size && argc <= WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	if (cli_parse(&fuzz_command, argc, argv, &ctx, &args, &e) < 0 && !e.what)
		abort();
	cli_args_release(&fuzz_command, &ctx, &args);
	if (argc > 1)
		cli_unknown_command(commands, 1, argv[1], &e);
	return 0;
}
