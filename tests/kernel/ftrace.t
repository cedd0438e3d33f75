#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# The kernel's tracers through tracefs: events in an instance, trace.dat files that trace-cmd reads
# as we do, damaged files, and nothing left behind. Function graphs are tested in the guests.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
tracing=/sys/kernel/tracing
need_file $tracing/instances
cd "$TMP" || exit 1

instances() { find $tracing/instances -maxdepth 1 -name "fathom-$1" | wc -l; }

run "$FATHOM" ftrace -e sched:sched_process_exec -- /bin/echo word
expect_status 0
expect_out_like 'word'
expect_out_like 'sched:sched_process_exec: filename=/bin/echo '
like 'the task has its name' "$out" ' +[^ ]+-[0-9]+ \[[0-9]+\] +[0-9]+\.[0-9]{6}: sched'

run "$FATHOM" ftrace -e sched:sched_process_exec --json -- /bin/true
expect_status 0
ok 'each line is JSON with the event' python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert any(r["event"] == "sched:sched_process_exec" and "/bin/true" in r["text"] for r in rows)
assert all(r["time_ns"] > 0 and r["kind"] == "event" for r in rows)' "$out_file"

run "$FATHOM" ftrace -e sched:sched_switch --filter 'prev_prio > 5000' -d 200ms
expect_status 4
run "$FATHOM" ftrace -e sched:sched_switch --filter 'no_such_field > 5' -d 200ms
expect_status 1
expect_err "does not take the filter"
run "$FATHOM" ftrace -e sched:no_such_event -d 200ms
expect_status 1
expect_err "no event 'sched:no_such_event'"
run "$FATHOM" ftrace --clock no_such_clock -e sched:sched_switch -d 200ms
expect_status 1
expect_err "no trace clock 'no_such_clock'"
run "$FATHOM" ftrace nonsense
expect_status 2
run "$FATHOM" ftrace --graph-opts nonsense -d 100ms
expect_status 2
expect_err "unknown graph option 'nonsense'"

if ! grep -qw function_graph $tracing/available_tracers; then
	run "$FATHOM" ftrace -d 200ms
	expect_status 3
	expect_err "no tracer 'function_graph'"
	expect_err_like "hint: it has: .*nop"
	# the kernel leaves this event on when a BPF program that prints was loaded
	printk=$tracing/events/bpf_trace/bpf_trace_printk/enable
	was=$(cat $printk)
	echo 1 > $printk
	run "$FATHOM" ftrace -G vfs_read -- true
	expect_status 3 "the kernel's own event is nobody's use of the tracer"
	echo "$was" > $printk
fi

# --- files ----------------------------------------------------------------------------------------

run "$FATHOM" ftrace -e 'sched:sched_*' -o trace.dat -d 300ms
expect_status 0
run "$FATHOM" ftrace -i trace.dat
expect_status 0
if command -v trace-cmd >/dev/null; then
	trace-cmd report -i trace.dat >theirs 2>/dev/null
	for event in sched_switch sched_waking sched_stat_runtime; do
		is "trace-cmd reads as many $event" "$(grep -c ": $event:" theirs)" \
			"$(grep -c ": sched:$event:" "$out_file")"
	done
	# task, CPU, event in order; time stamps are rounded in one way only
	sed -nE 's/^ *(.*-[0-9]+) +\[([0-9]+)\] +[0-9.]+: ([a-z_]+): .*/\1 \2 \3/p' theirs >a
	sed -nE 's/^ *(.*-[0-9]+) +\[([0-9]+)\] +[0-9.]+: [a-z]+:([a-z_]+): .*/\1 \2 \3/p' \
		"$out_file" >b
	ok 'the same tasks and events in the same order' cmp a b
	ok 'there are some' [ "$(wc -l <a)" -gt 20 ]
else
	skip 'needs trace-cmd' 5
fi
for bytes in 0 5 100 5000 20000; do
	head -c $bytes trace.dat >cut.dat
	run "$FATHOM" ftrace -i cut.dat
	ok "a file cut after $bytes bytes is refused" [ "$status" = 1 ]
done
run "$FATHOM" ftrace profile -i trace.dat
expect_status 4
run "$FATHOM" ftrace -e sched:sched_switch -o trace.dat -d 100ms
expect_status 1
expect_err 'exists'

# --- nothing stays --------------------------------------------------------------------------------

spawn "$FATHOM" ftrace -e sched:sched_switch >/dev/null
pid=$spawned
ok 'it has an instance' wait_until [ -d "$tracing/instances/fathom-$pid" ]
kill -KILL "$pid"
gone() { [ "$(instances "$pid")" = 0 ]; }
ok 'kill -9: the instance is gone' wait_until gone
mkdir $tracing/instances/fathom-4194399 && {
	run "$FATHOM" ftrace reset
	expect_status 0
	not_ok 'a left-over instance is removed' [ -e $tracing/instances/fathom-4194399 ]
}
run setpriv --reuid 65534 --clear-groups "$FATHOM" ftrace -e sched:sched_switch -d 100ms
ok 'without privileges: a clear status' [ "$status" -eq 3 ]
expect_err 'hint:'
done_testing
