#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The workloads tell the truth about themselves: other tests build on what they print.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_file "$WORKLOADS"/{burn,deep,block,chain,forks,hog,sigframe,jitlike,alloc,early,naps,queued}

# value NAME: what the last run printed for it.
value() { sed -n "s/^$1=//p" "$out_file"; }

# between NAME VALUE LOW HIGH
between() {
	if awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v != "" && v >= low && v <= high) }'; then
		pass "$1"
	else
		fail "$1" "'$2' is not from $3 to $4"
	fi
}

# The CPU time of the last child, from outside: the second opinion on what burn says.
run_timed() {
	local TIMEFORMAT='%U %S'
	{ time run "$@"; } 2>"$TMP/times"
	read -r user system <"$TMP/times"
}

run_timed "$WORKLOADS/burn" --seconds 1 a=70 b=30
expect_status 0
between 'burn: a has its 70 %' "$(value share.a)" 0.69 0.71
between 'burn: b has its 30 %' "$(value share.b)" 0.29 0.31
between 'burn: burns the CPU time asked for' "$(value cpu)" 0.99 1.05
between 'burn: the shell sees the same CPU time' "$(awk "BEGIN { print $user + $system }")" 0.97 1.2

run "$WORKLOADS/burn" --seconds 0.3 --threads 2 a=1 b=1 c=2
between 'burn: two threads burn twice as much' "$(value process_cpu)" 0.58 0.8
between 'burn: shares are taken by weight' "$(value share.c)" 0.48 0.52

run "$WORKLOADS/burn" --seconds nonsense
expect_status 2

run "$WORKLOADS/deep" 500 --seconds 0.2
is 'deep: reaches the depth' "$(value depth)" 500
between 'deep: burns at the bottom' "$(value cpu)" 0.19 0.3

# Waking up late is the machine's doing, so there is room above.
for kind in mutex pipe sleep; do
	run "$WORKLOADS/block" "$kind" --count 10 --ms 20
	expect_status 0 "block $kind: ends well"
	between "block $kind: waits 10 x 20 ms" "$(value waited)" 0.195 0.5
	between "block $kind: blocks at least 10 times" "$(value switches)" 10 60
	between "block $kind: burns next to nothing" "$(value process_cpu)" 0 0.05
done
run "$WORKLOADS/block" disk --count 3
expect_status 0 'block disk: ends well'

run "$WORKLOADS/chain" --count 10 --ms 20
between 'chain: c sleeps' "$(value slept.c)" 0.2 0.5
# c may sleep already when those who wait for it come to do so: a millisecond each time
least=$(awk "BEGIN { print $(value slept.c) - 10 * 0.001 }")
between 'chain: b waits for c' "$(value blocked.b)" "$least" 0.6
between 'chain: a waits for b' "$(value blocked.a)" "$least" 0.6

run "$WORKLOADS/early" --seconds 0.2
expect_status 0 'early: ends well'
is 'early: each time that the sleeper went to sleep it was woken' "$(value woken)" "$(value turns)"
run "$WORKLOADS/naps" --threads 2 --count 10 --new 5
is 'naps: as many as asked for' "$(value naps)" 100
run "$WORKLOADS/queued" --turns 3
is 'queued: as many turns as asked for' "$(value turns)" 3
ok 'queued: naps that the hog made longer' test "$(value queued)" -le 3

run "$WORKLOADS/forks" 100 --parallel 2
is 'forks: every child ends well' "$(value good)" 100

run "$WORKLOADS/hog" --seconds 1
between 'hog: the hog runs' "$(value hog.ran)" 0.1 1.05
if [ "$(value victim.delay)" = 0.0000 ]; then
	skip 'this kernel does not count the time spent waiting for a CPU'
else
	between 'hog: the victim waits for its CPU' "$(value victim.delay)" 0.001 1.2
fi

run "$WORKLOADS/sigframe" --seconds 0.2
is 'sigframe: the handler runs on its own stack' "$(value alternate_stack)" 1
between 'sigframe: the time goes into the handler' "$(value handler_cpu)" 0.19 0.3
run "$WORKLOADS/sigframe" --seconds 0.05 --same-stack
is 'sigframe: or on the same stack' "$(value alternate_stack)" 0

run "$WORKLOADS/jitlike" --seconds 0.5 --keep-map
if [ "$status" -eq 77 ]; then
	skip 'jitlike makes x86-64 code only' 3
else
	map=/tmp/perf-$(value pid).map
	between 'jitlike: jit_hot has its 70 %' "$(value share.jit_hot)" 0.69 0.71
	like 'jitlike: the map names its functions' "$(cat "$map")" '^[0-9a-f]+ b jit_hot$'
	rm -f "$map"
	run "$WORKLOADS/jitlike" --seconds 0.01
	not_ok 'jitlike: no map is left over' test -e "/tmp/perf-$(value pid).map"
fi

run "$WORKLOADS/alloc" --count 1000 --leak 10 --mb 8
is 'alloc: one fault a page' "$(value faults)" "$(value pages)"
is 'alloc: leaks what it says' "$(value leaked_bytes)" 10000

done_testing
