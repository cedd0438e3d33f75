# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# The kernel's tracers on a stock kernel: a known tree of calls comes out as that tree, figures
# agree between the views, and nothing stays behind, also after kill -9.
. /tests/lib.sh
need_cmd fathom
tracing=/sys/kernel/tracing
[ -e $tracing/available_tracers ] || mount -t tracefs nodev $tracing
grep -qw function_graph $tracing/available_tracers || plan_skip 'no function_graph'

# at_rest NAME: the top level is as it was, and there is no instance of ours
at_rest() {
	is "$1: no tracer" "$(cat $tracing/current_tracer)" nop
	is "$1: no graph filter" "$(grep -vc '^#' $tracing/set_graph_function)" 0
	is "$1: no function filter" "$(grep -vc '^#' $tracing/set_ftrace_filter)" 0
	is "$1: no instance" "$(ls $tracing/instances)" ''
	is "$1: tracing is on" "$(cat $tracing/tracing_on)" 1
}

three='-T __x64_sys_read -T ksys_read -T vfs_read'
# shellcheck disable=SC2086
run fathom ftrace $three -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'the graph of three functions'
tree=$(sed -n 's/^ [0-9]*) .*|  //p' "$out_file" | tr -d ' ' | tr '\n' ' ')
want='__x64_sys_read(){ ksys_read(){ vfs_read(); } } '
rest=$(printf '%s' "$tree" | sed "s/__x64_sys_read(){ ksys_read(){ vfs_read(); } } //g")
is 'every read is exactly that tree' "$rest" ''
calls=$(printf '%s' "$tree" | grep -o 'vfs_read();' | wc -l)
ok "40 reads of dd, and few others ($calls, as '$want')" [ "$calls" -ge 40 -a "$calls" -le 50 ]
at_rest 'trace'

run fathom ftrace -G ksys_read -T ksys_read -T vfs_read -D 1 -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'a graph of one level'
ok 'one level: only ksys_read' grep -q 'ksys_read();' "$out_file"
not_ok 'one level: not what it calls' grep -q 'vfs_read' "$out_file"
at_rest 'graph'

# shellcheck disable=SC2086
run fathom ftrace profile $three --csv -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'profile'
ok 'profile: at least 40 calls each' sh -c "
	grep -E ',(4[0-9]|50),vfs_read' $out_file && grep -E ',(4[0-9]|50),ksys_read' $out_file"
run fathom ftrace latency -T vfs_read -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'latency'
like 'latency: a histogram' "$out" '-> '

run fathom ftrace -t function -T vfs_read -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'the tracer function'
n=$(grep -c 'vfs_read <-ksys_read' "$out_file")
ok "function: 40 calls from ksys_read ($n)" [ "$n" -ge 40 ]

# shellcheck disable=SC2086
run fathom ftrace $three -o calls.dat -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'a trace.dat'
run fathom ftrace -i calls.dat
n=$(grep -c 'vfs_read();' "$out_file")
ok "trace.dat: read again, the same calls ($n)" [ "$n" -ge 40 -a "$n" -le 50 ]
run fathom ftrace -i calls.dat -o calls.svg
expect_status 0
ok 'a flame graph of the calls' grep -q ksys_read calls.svg
mkdir -p /out
cp calls.dat /out

run fathom ftrace -T no_such_function_here -d 1s
expect_status 1
like 'a function that does not exist' "$(cat "$err_file")" 'no function .no_such_function_here.'
at_rest 'failure'

run fathom ftrace -T ksys_read -T vfs_read --graph-opts tail,noirqs -- dd if=/dev/zero of=/dev/null bs=1 count=40
expect_status 0 'options of the graph'
ok 'tail: the name at the closing brace' grep -q '} /\* ksys_read \*/' "$out_file"
at_rest 'options'

# a module's functions by their own filter
module=$(sed -n 's/.*\[\(.*\)\]$/\1/p' $tracing/available_filter_functions | grep -v bpf | head -1)
if [ -n "$module" ]; then
	run fathom ftrace --funcs=":mod:$module"
	ok "functions of the module $module" [ -s "$out_file" ]
else
	skip 'no module'
fi

run fathom ftrace -e sched:sched_process_exec --trigger sched:sched_process_exec:traceoff:1 -- \
	sh -c 'busybox true; busybox true; busybox true'
expect_status 0 'a trigger'
is 'traceoff: one event, and no more' "$(grep -c sched_process_exec: "$out_file")" 1
at_rest 'trigger'
if [ -e $tracing/snapshot ]; then
	run fathom ftrace -e sched:sched_process_exec --trigger sched:sched_process_exec:snapshot:2 --snapshot -- \
		sh -c 'busybox true; busybox true'
	expect_status 0 'a snapshot'
	ok 'snapshot: what there was when the trigger fired' grep -q sched_process_exec: "$out_file"
	at_rest 'snapshot'
else
	skip 'no snapshots' 3
fi

for tracer in wakeup wakeup_rt irqsoff preemptoff hwlat osnoise timerlat; do
	if ! grep -qw $tracer $tracing/available_tracers; then
		skip "no tracer $tracer"
		continue
	fi
	run fathom ftrace -t $tracer -d 1s
	ok "the tracer $tracer runs" [ "$status" = 0 -o "$status" = 4 ]
	diag "$tracer: $(head -c 200 "$out_file" "$err_file" | tr '\n' ' ')"
	at_rest $tracer
done

# filtered: every function of the kernel would take the guest's time
echo vfs_read >$tracing/set_ftrace_filter
echo function >$tracing/current_tracer
run fathom ftrace -G vfs_read -d 1s
expect_status 1
like 'a tracer in use is left alone' "$(cat "$err_file")" 'another program uses'
is 'and stays on' "$(cat $tracing/current_tracer)" function
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter

fathom ftrace -G vfs_read >/dev/null 2>&1 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ "$(cat $tracing/current_tracer)" = nop ] || break
	sleep 1
done
is 'it traces' "$(cat $tracing/current_tracer)" function_graph
kill -9 $pid
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ "$(cat $tracing/current_tracer)" = nop ] && [ "$(cat $tracing/tracing_on)" = 1 ] && break
	sleep 1
done
at_rest 'kill -9'
done_testing
