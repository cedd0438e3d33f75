#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Command lines as perf's users have them in their fingers: what means the same gives the same.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
cd "$TMP" || exit 1

# sample COMM PID PERIOD LEAF CALLER...: as perf script prints it
sample() {
	local name at=0
	printf '%s %d [000] 1.%06d: %d cpu-clock:\n' "$1" "$2" "$((++count))" "$3"
	for name in "${@:4}"; do printf '\t%16x %s+0x0 (/usr/bin/%s)\n' $((4096 + 16 * at++)) "$name" "$1"; done
	echo
}
count=0
{
	sample web 10 60 read serve main
	sample web 10 25 copy parse serve main
	sample web 11 10 idle main
	sample db 20 100 scan query main
	sample db 20 4 sort query main
} >in.txt

# same NAME "OPTIONS" "OPTIONS": of report, on the same input
same() {
	local a b
	# shellcheck disable=SC2086
	a=$("$FATHOM" report -i in.txt $2 2>&1)
	# shellcheck disable=SC2086
	b=$("$FATHOM" report -i in.txt $3 2>&1)
	is "report $1" "$a" "$b"
}
same '-g with everything' '-g graph,0.5,caller,function,percent' '-g caller --percent-limit 0.5'
same '-g with an order and a limit' '-g callee,5' '-g callee --percent-limit 5'
same '-g alone' '-g' ''
same '--call-graph=fractal' '--call-graph=fractal,10,callee' '-g callee --percent-limit 10'
same '--percent-limit before that of -g' '-g graph,50 --percent-limit 3' '--percent-limit 3'
same '-G' '-G' '-g caller'
same '--stdio and friends' '--stdio --no-children -n -f --inline --column-widths 5,5' '--no-children'
same '-s with counted columns' '-s overhead,sym' '-s symbol'
same '-F' '-F overhead,sample,comm' '--sort comm'
same '-s +KEY' '-s +pid' '-s comm,dso,symbol,pid'
same '-c' '-c web' '--comms web'
same '-S' '-S scan,sort' '--symbols scan,sort'
run "$FATHOM" report -i in.txt --call-graph=sideways
expect_status 2
expect_err "'sideways' is not one of caller, callee, none"
run "$FATHOM" report -i in.txt -c nobody
expect_status 4
expect_err "no sample in 'in.txt' passes the filters"
run "$FATHOM" report -i in.txt --header-only
expect_status 0
expect_out_like '^file: in.txt'
unlike "the header alone" "$out" 'SELF'

run "$FATHOM" report -i in.txt --hierarchy -g none
is "an outline of commands, their modules and functions" "$(tail -n +3 <<<"$out")" \
	'COMMAND / MODULE / SYMBOL
 52.26%  104ns  db
 52.26%  104ns  `--db
 50.25%  100ns     |--[.] scan
  2.01%    4ns     `--[.] sort
 47.74%   95ns  web
 47.74%   95ns  `--web
 30.15%   60ns     |--[.] read
 12.56%   25ns     |--[.] copy
  5.03%   10ns     `--[.] idle'
run "$FATHOM" report -i in.txt --hierarchy -g none -s pid,sym --percent-limit 6
is "what is below the limit is left out, and counted" "$(tail -n +4 <<<"$out")" \
	' 52.26%  104ns  20
 50.25%  100ns  `--[.] scan
 42.71%   85ns  10
 30.15%   60ns  |--[.] read
 12.56%   25ns  `--[.] copy

note: 3 more entries are not shown; --all shows them'
run "$FATHOM" report -i in.txt --hierarchy --group
expect_status 2 "--hierarchy and --group"
run "$FATHOM" report -i in.txt -k vmlinux
expect_status 2
expect_err "'vmlinux' is not read"
run "$FATHOM" report -i in.txt -g folded
expect_status 2
expect_err "hint: 'fathom fold' writes them"

# --- text of perf script in older forms ---------------------------------------------------------

frames=$'\t    1000 leaf+0x1 (/bin/sh)\n\t    2000 main+0x1 (/bin/sh)\n'
printf '# ========\n# captured on: x\n# ========\n#\nsh 12 cpu-clock: \n%s\n' "$frames" >header.txt
printf 'my prog 12/13 sched:sched_switch:\n%s\n' "$frames" >timeless.txt
printf 'sh 12 17.123456: cpu-clock: \n%s\n' "$frames" >nocpu.txt
is "a header in front, no time" "$("$FATHOM" fold -i header.txt 2>&1)" 'sh;main;leaf 1'
is "a name of two words, no time" "$("$FATHOM" fold -i timeless.txt 2>&1)" 'my_prog;main;leaf 1'
is "no CPU" "$("$FATHOM" fold -i nocpu.txt 2>&1)" 'sh;main;leaf 1'
is "script passes it on" "$("$FATHOM" script -i timeless.txt)" "$(cat timeless.txt)"
printf 'to whom it may concern 12 notes:\nthe end\n' >letter.txt
run "$FATHOM" fold -i letter.txt
expect_status 1 "a letter is not a recording"
# each command by perf's name, with a wrong option and an operand
crashed=
for command in $("$FATHOM" completion bash | sed -n "s/^_fathom_commands='\(.*\)'/\1/p"); do
	timeout 20 "$FATHOM" perf "$command" --no-such-option x </dev/null >/dev/null 2>&1
	[ $? -le 128 ] || crashed+=" $command"
done
is "no command crashes by its name in perf" "$crashed" ''
done_testing
