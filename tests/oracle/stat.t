#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 'fathom stat' -x and -j against perf's: the same lines in the same order, each field in the same
# form; and where the program decides the count, the same count.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3 perl
cd "$TMP" || exit 1
SHAPE=$TOP/tests/oracle/stat_shape.py
EVENTS=task-clock,context-switches,page-faults,minor-faults:u,sched:sched_process_exec

# both FORM OPTIONS...: the shapes of both are equal, and not empty.
both() {
	local form=$1 kind=csv name
	shift
	[ "$form" = -j ] && kind=json
	name="$form $*"
	perf stat "$form" -o perf.out "$@" >/dev/null 2>&1
	"$FATHOM" stat "$form" -o ours.out "$@" >/dev/null 2>&1
	python3 "$SHAPE" $kind perf.out >perf.shape
	python3 "$SHAPE" $kind ours.out >ours.shape
	ok "$name: there are lines" [ -s perf.shape ]
	is "$name" "$(cat ours.shape)" "$(cat perf.shape)"
}

for form in '-x,' -j; do
	both $form -e $EVENTS true
	both $form -e "{task-clock,page-faults}" true
	both $form true
	both $form -d true
	both $form -e $EVENTS -r 3 true
	both $form -e $EVENTS -a sleep 0.05
	both $form -e $EVENTS -a -A sleep 0.05
	for by in socket die core node; do
		both $form -e $EVENTS -a --per-$by sleep 0.05
	done
	both $form -e $EVENTS -C 0 sleep 0.05
	both $form -e $EVENTS -a -I 100 --interval-count 2 sleep 1
	both $form -e task-clock -a -A -I 100 --interval-count 1 sleep 1
	both $form -e cycles,instructions,LLC-loads true
done
both -x, -e $EVENTS -a -I 100 --interval-count 2 --summary sleep 1

run "$FATHOM" stat -x, -n true
expect_status 0
is '-n counts nothing' "$err" ''

# counts that the program decides
calls() {
	"$@" -e syscalls:sys_enter_getppid -x, -o calls.out perl -e 'getppid for 1..12345' 2>/dev/null
	cut -d, -f1,3 calls.out | tail -1
}
if [ -e /sys/kernel/tracing/events/syscalls/sys_enter_getppid ]; then
	is 'a tracepoint counts every hit' "$(calls "$FATHOM" stat)" \
		'12345,syscalls:sys_enter_getppid'
	is 'and perf counts the same' "$(calls perf stat)" '12345,syscalls:sys_enter_getppid'
	run "$FATHOM" stat -e syscalls:sys_enter_getppid -x, -r 3 perl -e 'getppid for 1..77'
	like 'runs that are alike have no spread' "$err" '^77,,syscalls:sys_enter_getppid,0.00%,'
	run "$FATHOM" stat -e syscalls:sys_enter_getppid -x, perl -e \
		'if (!fork) { getppid for 1..100; exit } getppid for 1..100; wait'
	like 'children are counted' "$err" '^200,'
	run "$FATHOM" stat -i -e syscalls:sys_enter_getppid -x, perl -e \
		'if (!fork) { getppid for 1..100; exit } getppid for 1..100; wait'
	like 'and not with -i' "$err" '^100,'
else
	skip 'this kernel has no tracepoints of system calls' 5
fi
done_testing
