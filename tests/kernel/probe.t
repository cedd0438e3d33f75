#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Named probes: values at functions and lines are those that gdb prints there, with and without
# optimisation; perf reads the recordings; mistakes are said, and nothing stays.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc
need_file /sys/kernel/tracing/uprobe_events
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP
# a group of its own: other users of the machine have theirs
group=fathom_test_$$
trap '"$FATHOM" probe --del "$group*:*" >/dev/null 2>&1; test_end' EXIT

cat >walk.c <<'END'
#include <stdio.h>
struct node { int id; long weight; struct node *next; char name[8]; };
static int counter = 5;
__attribute__((noinline)) long work(struct node *n, int times, const char *text)
{
	long sum = 0;
	for (int i = 0; i < times; i++) {
		sum += n->weight * i + n->next->id;
		counter += (int)sum;
	}
	printf("%s %ld\n", text, sum);
	return sum + counter;
}
int main(int argc, char **argv)
{
	struct node b = { 7, 70, NULL, "bee" }, a = { 3, argc * 30, &b, "ay" };
	long r = 0;
	(void)argv;
	for (int i = 1; i < 4; i++)
		r += work(&a, i, "hello");
	return r == 12345;
}
END
gcc -O2 -g -o walk2 walk.c && gcc -O0 -g -o walk0 walk.c || plan_skip 'cannot compile'

# values FILE EVENT: the arguments of each hit, in order
values() { "$FATHOM" script -i "$1" | sed -nE "s/.*$2: \([0-9a-f]+\) //p"; }

# gdb_values PROGRAM PLACE EXPR...: the same by gdb: name=value ...
gdb_values() {
	local program=$1 place=$2 expr commands=()
	shift 2
	for expr in "$@"; do
		commands+=("printf \"${expr//[^a-z]/_}=%ld \", (long)($expr)")
	done
	{
		echo "break $place"
		printf 'commands\nsilent\n'
		printf '%s\n' "${commands[@]}"
		printf 'printf "\\n"\ncontinue\nend\nrun\n'
	} >script.gdb
	gdb -q -batch -x script.gdb "./$program" 2>/dev/null | grep '=' | sed 's/ $//'
}

for program in walk2 walk0; do
	run "$FATHOM" probe -x $program "$group:entry$program=work times n->weight n->next->id counter"
	expect_status 0
	expect_out "Added new event"
	run "$FATHOM" probe -x $program "$group:line$program=work:4 sum i n->next->weight"
	expect_status 0
	run "$FATHOM" record -q -e "$group:entry$program" -e "$group:line$program" -o $program.data -- ./$program
	expect_status 0
	ours=$(values $program.data "$group:entry$program" | sed 's/n_next_id/n__next__id/; s/n_weight/n__weight/')
	is "$program: three calls" "$(wc -l <<<"$ours")" 3
	is "$program: six turns of the loop" \
		"$(values $program.data "$group:line$program" | wc -l)" 6
	if command -v gdb >/dev/null; then
		is "$program: at the function, values are gdb's" "$ours" \
			"$(gdb_values $program work times 'n->weight' 'n->next->id' counter)"
		is "$program: at the line, sums are gdb's" \
			"$(values $program.data "$group:line$program" | sed 's/ .*//')" \
			"$(gdb_values $program walk.c:8 sum)"
	else
		skip 'needs gdb' 2
	fi
	if command -v perf >/dev/null; then
		is "$program: perf reads the recording" \
			"$(perf script -i $program.data 2>/dev/null | grep -c "$group:")" 9
	else
		skip 'needs perf'
	fi
done

run "$FATHOM" probe -x walk2 "$group:back=work%return \$retval:s64" "$group:text=work text:string n->next->name"
expect_status 0
run "$FATHOM" record -q -e "$group:back" -e "$group:text" -o back.data -- ./walk2
run "$FATHOM" script -i back.data
for value in retval=19 retval=107 retval=336 'text="hello"' 'name="bee"'; do
	expect_out "$value"
done
run "$FATHOM" probe --list --json
ok 'the list as JSON' python3 -c '
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["probes"] if r["event"].startswith(sys.argv[2] + ":")]
assert len(rows) == 6, rows
assert {r["kind"] for r in rows} == {"uprobe", "uretprobe"}' "$out_file" "$group"
run "$FATHOM" probe -x walk2 "$group:back=work%return"
expect_status 1
expect_err 'already exists'

run "$FATHOM" probe -x walk2 --line work
expect_status 0
expect_out_like '^      4  .*sum \+= n->weight'
expect_out_like '^         	}'
run "$FATHOM" probe -x walk2 --vars work
expect_out_like 'struct node\*	n$'
expect_out_like 'long int	sum	\(optimised out there\)'
run "$FATHOM" probe -x walk2 --funcs 'w*'
is 'functions by glob' "$out" work

# what is wrong, and what to do
while IFS='|' read -r probe message; do
	run "$FATHOM" probe -n -x walk2 "$probe"
	ok "'$probe' is refused" [ "$status" != 0 ]
	expect_err "$message"
done <<'END'
wrok times|did you mean 'work'
wrok|has no function 'wrok'
work:200|nearest line with code is 8
work nothing|no variable 'nothing'
work sum|optimised out
work n->nothing|does not exist
work times->id|not a pointer
work%exit|only '%return'
a-b=work|names of events
=|names of events
work times=|neither a variable
END
strip -o bare walk2
run "$FATHOM" probe -n -x bare 'work times'
expect_err 'no debug information'
run "$FATHOM" probe --del "$group:no_such"
expect_status 1
run "$FATHOM" probe --del "$group:*"
expect_status 0
run "$FATHOM" probe --list
unlike 'all are gone' "$out" "$group:"
if [ ! -e /sys/kernel/tracing/kprobe_events ]; then
	run "$FATHOM" probe vfs_read
	expect_status 3
	expect_err 'no kprobes'
fi
done_testing
