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
run "$FATHOM" probe -x walk2 "$group:deref=work +0(\$stack):u64 +8(\$stack):u64"
expect_status 0 'places in memory get names that the kernel takes'
run "$FATHOM" probe --list
expect_out 'arg_0_stack_'
expect_out 'arg_8_stack_'
run "$FATHOM" probe -d "$group:deref"
expect_status 0
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
run "$FATHOM" probe -x walk2 --line walk.c
expect_status 0 'all of a file'
is 'each of its lines' "$(($(wc -l <<<"$out") - 1))" "$(wc -l <walk.c)"
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
wrok|did you mean 'work'
work x=$vars|neither a name nor a type
work:200|nearest line with code is 8
work nothing|no variable 'nothing'
work sum|optimised out
work n->nothing|does not exist
work times->id|not a pointer
work;sum*|patterns of source lines are missing
work%exit|only '%return'
a-b=work|names of events
=|names of events
work times=|neither a variable
END
strip -o bare walk2
run "$FATHOM" probe -n -x bare 'work times'
expect_err 'no debug information'
run "$FATHOM" probe -n -x walk2 'work $params'
is '$params are the parameters' "${out#* * }" 'n=%di:x64 times=%si:s32 text=%dx:x64'
run "$FATHOM" probe -n -x walk0 'work $vars'
expect_out_like ' sum=[^ ]+:s64'
expect_out_like ' text=[^ ]+:x64'

# a place in the source with several places in the code
cat >copies.c <<'END'
#include <stdio.h>
static volatile int sink;
static inline int twist(int a, int b)
{
	int r = a * 7;
	r ^= b + sink;
	sink = r;
	return r;
}
__attribute__((noinline)) int one(int x) { return twist(x, 1) + 3; }
__attribute__((noinline)) int two(int y)
{
	for (int i = 0; i < 3; i++)
		y += twist(y, i);
	return y;
}
int main(void) { printf("%d\n", one(5) + two(7)); return 0; }
END
gcc -O2 -g -o copies copies.c
for place in twist copies.c:6 twist:3; do
	run "$FATHOM" probe -n -x copies "$place"
	is "$place: each place where it was inlined" "$(wc -l <<<"$out")" 2
	if command -v gdb >/dev/null && [ "$place" != twist:3 ]; then
		is "$place: the places of gdb's" "$(sed 's/.*:0x//' <<<"$out" | sort)" \
			"$(gdb -q -batch -ex "break $place" -ex 'info breakpoints' ./copies 2>/dev/null |
				sed -nE 's/^1\.[0-9].* 0x0*([0-9a-f]+) in.*/\1/p' | sort)"
	fi
done
run "$FATHOM" probe -n -x copies 'twist%return'
expect_err 'inlined everywhere'
run "$FATHOM" probe -x copies "$group:tw=twist a b"
expect_status 0
expect_err '1 of 2 places are left out'
run "$FATHOM" probe -x copies "$group:both=copies.c:6 a"
expect_out_like "$group:both_1 .*on copies.c:6 in "
run "$FATHOM" record -q -e "$group:both*" -e "$group:tw" -o copies.data -- ./copies
is 'all of them are hit' "$("$FATHOM" script -i copies.data -F event | sed 's/ //g' | sort | uniq -c | xargs)" \
	"1 $group:both: 3 $group:both_1: 3 $group:tw:"
run "$FATHOM" probe --list --csv
expect_out_like "^$group:tw,uprobe,two\\+0x[0-9a-f]+,"

# a file of a container: there is another of the same name here
mkdir -p box/bin && cp walk2 box/bin/prog && ln -s /bin/prog box/bin/link
printf 'int main(void) { return 0; }' >other.c && gcc -o prog other.c
unshare -m bash -c "mount -t tmpfs none '$TMP/box' && mkdir '$TMP/box/bin' && cp walk2 '$TMP/box/bin/prog' &&
	ln -s /bin/prog '$TMP/box/bin/link' && mkdir '$TMP/box/lib64' '$TMP/box/lib' &&
	cp --parents \$(ldd walk2 | grep -o '/[^ ]*') '$TMP/box' && cp --parents \$(command -v sleep) '$TMP/box' &&
	exec chroot '$TMP/box' /usr/bin/sleep 60" 2>/dev/null &
box=$!
for _ in {1..50}; do
	[ "$(cat /proc/$box/comm 2>/dev/null)" = sleep ] && break
	sleep 0.1
done
if [ "$(cat /proc/$box/comm)" = sleep ]; then
	run "$FATHOM" probe -x /bin/link --target-ns $box "$group:boxed=work times"
	expect_status 0
	expect_out "/proc/$box/root/bin/prog"
	run "$FATHOM" probe -n -x /proc/$box/root/bin/link work
	expect_out "/proc/$box/root/bin/prog:0x"
	"$FATHOM" record -q -e "$group:boxed" -a -o boxed.data -- \
		nsenter -t $box -m -r /bin/prog >/dev/null
	is 'its calls are seen, those of the same file elsewhere are not' \
		"$(./walk2 >/dev/null; "$FATHOM" script -i boxed.data -F event | grep -c boxed)" 3
	run "$FATHOM" probe -n -x /bin/nothing --target-ns $box work
	expect_status 1
	expect_err "below '/proc/$box/root'"
else
	skip 'no container can be made here' 5
fi
kill $box 2>/dev/null
run "$FATHOM" probe -n -x /bin/ls --target-ns 2147483647 main
expect_err 'may have ended'
run "$FATHOM" probe -n -x libc.so.6 malloc
expect_out_like '/libc\.so\.6:0x'
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
