#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Who makes system calls: stacks that are known by construction, in a program without frame pointers.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 gcc
cd "$TMP" || exit 1
cat >known.c <<'END'
#include <stdlib.h>
#include <unistd.h>

#define AFTER __asm__ volatile("") /* the call is not the function's last instruction */

__attribute__((noinline)) void emit_line(void)
{
	if (write(1, "x", 1) != 1)
		abort();
	AFTER;
}

__attribute__((noinline)) void from_loop(int n)
{
	for (int i = 0; i < n; i++)
		emit_line();
	AFTER;
}

__attribute__((noinline)) void from_end(void)
{
	emit_line();
	AFTER;
}

int main(void)
{
	from_loop(20);
	from_end();
	_exit(0);
}
END
gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o known known.c || exit 1

run "$FATHOM" strace --stack -e write,exit_group -o calls.txt ./known
expect_status 0
is 'every call is written' "$(grep -c '^write(1, .* = 1$' calls.txt)" 21
ok 'and below each its whole stack, innermost first' awk '
	/^[a-z_]+\(/ { check(); call = $1; n = 0; text = ""; next }
	/^    / { sub(/\+0x[0-9a-f]+ .*/, ""); sub(/^ +/, ""); text = text ";" $0; next }
	{ bad = 1 }
	function check() {
		if (call ~ /^write/) {
			if (text ~ /write;emit_line;from_loop;main;.*;_start$/) loop++
			else if (text ~ /write;emit_line;from_end;main;.*;_start$/) end++
			else bad = 1
		} else if (call ~ /^exit_group/ && text !~ /;main;.*;_start$/)
			bad = 1
	}
	END { check(); exit bad || loop != 20 || end != 1 }' calls.txt
ok 'a call that never returns has one, too' grep -A3 '^exit_group' calls.txt

run "$FATHOM" strace --stack -e write --json ./known
ok 'as rows' python3 - "$out_file" <<'END'
import json, sys
rows = []
for line in open(sys.argv[1]):
    if "{" in line:  # after what the program itself has written
        r = json.loads(line[line.index("{"):])
        rows += r.get("calls", [r] if "call" in r else [])
stacks = [row["stack"] for row in rows if row["call"] == "write"]
assert len(stacks) == 21, rows
assert sum("main;from_loop;emit_line;" in s for s in stacks) == 20, stacks
assert all(s.startswith("_start;") for s in stacks), stacks
END

run "$FATHOM" strace -c --stack -e write --json ./known
ok 'sums for each stack' python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{"):])
rows = {row["stack"].split(";main;")[1].split(";")[0]: row for row in r["stacks"]}
assert rows["from_loop"]["calls"] == 20 and rows["from_end"]["calls"] == 1, rows
assert sum(row["calls"] for row in r["summary"]) == 21, r
assert sum(row["time_ns"] for row in r["summary"]) == sum(row["time_ns"] for row in r["stacks"]), r
END
run "$FATHOM" strace -c --stack -e write ./known
expect_err 'from_loop;emit_line'

run "$FATHOM" strace --stack --filter 'ret < 0' -o failed.txt -- cat /no/such/file
expect_status 1
ok 'only calls that pass have stacks' awk '
	/^[a-z]/ { calls++; bad = bad || !/= -1 E/ } /^    / { frames++ }
	END { exit bad || !calls || frames < 2 * calls }' failed.txt
run "$FATHOM" strace -e write -o plain.txt ./known
is 'no stacks unless asked for' "$(grep -c '^ ' plain.txt)" 0
done_testing
