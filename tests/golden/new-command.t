#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 600
#
# Adding a command is adding one file: help, man page and completion follow.
. "$(dirname "$0")/../lib/test.sh"

# the objects that are there already serve; only the list and the new file are made
cp -a "$TOP/Makefile" "$TOP/src" "$TOP/scripts" "$TOP/web" "$TOP/tools" "$TMP/" 2> /dev/null
mkdir -p "$TMP/build" && cp -a "$TOP/build/obj" "$TOP/build/gen" "$TOP/build/.flags" "$TMP/build/"
cat > "$TMP/src/cmd/hello.c" << 'END'
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

struct hello_args {
	const char *name;
};

static const struct opt hello_options[] = {
	{ .name = "name", .type = OPT_STRING, .offset = offsetof(struct hello_args, name),
	  .arg = "NAME", .def = "world", .help = "whom to greet" },
	OPT_END,
};

static int hello_run(struct context *ctx, void *args)
{
	struct hello_args *a = args;
	_cleanup_result_ struct result r;

	result_init(&r, "hello");
	result_title(&r, "hello %s", a->name);
	return cli_show(ctx, &r);
}

static const struct example hello_examples[] = {
	{ "fathom hello", "say hello" },
	{ 0 },
};

const struct command cmd_hello = {
	.name = "hello",
	.summary = "greet somebody",
	.description = "Greets.",
	.question = Q_SELF,
	.options = hello_options,
	.args_size = sizeof(struct hello_args),
	.examples = hello_examples,
	.run = hello_run,
};
END
cat > "$TMP/tools/hello2.bt" << 'END'
/* tool
summary: greet somebody again
group: processes
option: -n --name string=world NAME | whom to greet, again
column: greeting string 20
column: length bytes
example: fathom hello2 | say hello
*/
begin { row(getopt("name", ""), strlen(getopt("name", ""))); exit(); }
END
RUN_TIMEOUT=500 run make -C "$TMP" --no-print-directory -j2 all build/man/fathom-hello.1 build/man/fathom-hello2.1
expect_status 0
run "$TMP/build/fathom" hello --name you
expect_out 'hello you'
run "$TMP/build/fathom"
expect_out 'greet somebody'
run "$TMP/build/fathom" help hello
expect_out 'whom to greet'
run "$TMP/build/fathom" completion bash
expect_out 'hello'
like "man page" "$(cat "$TMP/build/man/fathom-hello.1")" '[Ww]hom to greet'
run "$TMP/build/fathom" help --check
expect_status 0

# and adding a tool is adding one script
run "$TMP/build/fathom" help hello2
expect_out 'whom to greet, again'
run "$TMP/build/fathom" completion bash
expect_out 'hello2'
run cat "$TMP/build/man/fathom-hello2.1"
expect_out 'greet somebody again'
run "$TMP/build/fathom" hello2 --nme x
expect_status 2
expect_err "did you mean '--name'?"
if [ "$(id -u)" -eq 0 ] && [ -e /sys/kernel/btf/vmlinux ]; then
	run "$TMP/build/fathom" hello2 --json -n you
	expect_out '{"key":"length","type":"bytes","unit":"bytes"}'
	expect_out '{"greeting":"you","length":3}'
	run "$TMP/build/fathom" hello2 --csv
	is 'CSV of a tool' "$out" "$(printf 'greeting,length\nworld,5')"
	run "$TMP/build/fathom" hello2
	expect_out_like '^GREETING +LENGTH$'
else
	skip 'needs root' 5
fi
done_testing
