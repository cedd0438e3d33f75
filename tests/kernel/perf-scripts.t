#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Scripts written for perf, run through a link called perf: command lines of perf's manual pages and of
# tutorials with shorter sleeps, and the forms of output that scripts parse. Debian's perf is not needed.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3
need_file "$FATHOM"
cd "$TMP" || exit 1
mkdir bin
ln -s "$FATHOM" bin/perf
PATH=$TMP/bin:$PATH
export HOME=$TMP
tracing=/sys/kernel/tracing/events

# --- record, report, script ------------------------------------------------------------------

run perf record -e task-clock -F 999 -g -o cpu.data -- perf test -w noploop 1
expect_status 0
expect_err_like '^\[ perf record: Captured and wrote [0-9.]+ MB cpu.data \([0-9]+ samples\) \]$'
run perf report -i cpu.data --stdio --no-children -s comm,dso,sym
expect_out_like "^# Samples: [0-9]+[KM]? +of event 'task-clock'"
expect_out_like '^# Overhead +Command +Shared Object +Symbol'
expect_out_like '^ +[0-9]+\.[0-9]{2}% +[^ ]+ +[^ ]+ +\[\.\] noploop'
run perf report -i cpu.data -q --stdio --no-children -t ';' -n -s sym
expect_out_like '^[0-9]+\.[0-9]+%;[0-9]+;\[\.\] noploop'
run perf report -i cpu.data --stdio --header-only
expect_out_like '^# cmdline : '
perf script -i cpu.data >script.txt
ok 'each sample is a head, frames and an empty line' python3 -c '
import re
deep = 0
for block in open("script.txt").read().strip("\n").split("\n\n"):
    head, *frames = block.split("\n")
    assert re.match(r"\S.* +\d+ +(\[\d{3}\] +)?\d+\.\d{6}: +\d+ task-clock: *$", head), head
    assert all(re.match(r"\s+[0-9a-f]+ .+ \(.+\)$", f) for f in frames), block
    deep += any("noploop" in f for f in frames)
assert deep'
perf script -i cpu.data -F comm,pid,tid,cpu,time,event,ip,sym,dso >fields.txt
like 'fields that are chosen' "$(head -n 1 fields.txt)" '^\S.* +[0-9]+/[0-9]+ +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: +task-clock:'
run perf script -i cpu.data -F no_such_field
ok 'an unknown field is an error' [ "$status" -ne 0 ]
run perf record -o waits.data --off-cpu -e task-clock -- sleep 0.05
expect_status 0
like 'the wait is an event' "$(perf script -i waits.data 2>&1)" 'offcpu-time'

# --- stat --------------------------------------------------------------------------------------

run perf stat -x, -e task-clock,page-faults,context-switches -o stat.csv -- true
expect_status 0
ok 'each line of stat -x, has its columns' python3 -c '
rows = [l.rstrip("\n").split(",") for l in open("stat.csv") if l.strip() and l[0] != "#"]
assert [r[2] for r in rows] == ["task-clock", "page-faults", "context-switches"], rows
assert all(len(r) >= 5 and float(r[0]) >= 0 and int(r[3]) > 0 and float(r[4]) > 0 for r in rows), rows'
run perf stat -j -e task-clock,page-faults -o stat.json -- true
expect_status 0
ok 'each line of stat -j is an object' python3 -c '
import json
rows = [json.loads(l) for l in open("stat.json") if l.strip() and l[0] != "#"]
assert [r["event"] for r in rows] == ["task-clock", "page-faults"], rows
assert all(float(r["counter-value"]) >= 0 and r["event-runtime"] > 0 for r in rows), rows'

# --- files ---------------------------------------------------------------------------------------

run perf buildid-list -i cpu.data
expect_out_like '^[0-9a-f]{16,40} /'
run perf buildid-cache --add "$(readlink -f "$FATHOM")"
expect_status 0
like 'the cache has it' "$(perf buildid-cache --list)" '^[0-9a-f]{16,40} /.*fathom'
run perf annotate -i cpu.data --stdio noploop
expect_out_like 'Percent.*\|'
run perf data convert -i cpu.data --to-json cpu.json
expect_status 0
ok 'the JSON of data convert' python3 -c '
import json
d = json.load(open("cpu.json"))
assert d["linux-perf-json-version"] == 1 and d["samples"], d.keys()
assert all("timestamp" in s and "callchain" in s for s in d["samples"])'
run perf evlist -v -i cpu.data
expect_out_like '^task-clock.*: .*type: 1.*sample_type: '
cp cpu.data cpu2.data
run perf diff cpu.data cpu2.data
expect_out_like '^# Event .task-clock'
expect_out_like 'noploop'
run perf archive cpu.data
expect_status 0
ok 'an archive' test -s cpu.data.tar
run perf list sw
expect_out_like '^ +cpu-clock +\[Software event\]$'
run perf version
expect_out_like '^perf version [0-9]+\.[0-9]+'
run perf --version
expect_out_like '^perf version [0-9]+\.[0-9]+'
run perf check feature -q zlib
expect_status 0
is 'check feature -q is quiet' "$out" ''
run perf list sw
expect_status 0
expect_out_like '^  page-faults OR faults +\[Software event\]$'
unlike 'a word for a kind of events is no part of a name' "$out" 'Tracepoint event'
run perf stat record true
expect_status 3
for line in 'kmem stat --page' 'lock contention -Y mutex' 'kwork report -k irq'; do
	# shellcheck disable=SC2086
	run perf $line
	expect_status 2 "$line"
	expect_err 'is missing here'
done

run perf stat -e task-clock -x, -I50 --interval-count 1 --summary
like 'the sums at the end begin with a word' "$out$err" '^ +summary,'
run perf stat -e task-clock -x, -I50 --interval-count 1 --summary --no-csv-summary
unlike '--no-csv-summary: without' "$out$err" 'summary'
like '--no-csv-summary: the sums' "$out$err" '^[0-9.]+,msec,task-clock,'

# --- the kernel's events ---------------------------------------------------------------------------

if [ -e $tracing/sched/sched_switch ]; then
	run perf sched record -o sched.data -- sleep 0.1
	expect_status 0
	run perf sched latency -i sched.data
	expect_status 0
	expect_out_like '^  sleep:\(?[0-9]+\)? +\| +[0-9.]+ ms \| +[0-9]+ \| avg: +[0-9.]+ ms \| max: +[0-9.]+ ms '
else
	skip 'the kernel has no tracepoints of the scheduler' 3
fi
if [ -e $tracing/raw_syscalls/sys_enter ]; then
	run perf trace -s -- true
	expect_status 0
	like 'a table of system calls' "$out$err" '^   mmap +[0-9]+ +0 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+%$'
else
	skip 'the kernel has no tracepoints of system calls' 2
fi
if [ -e $tracing/lock/contention_begin ]; then
	run perf lock contention -a -b -- sleep 0.1
	expect_status 0
else
	skip 'the kernel has no tracepoints of contended locks'
fi

# --- command lines of manuals -----------------------------------------------------------------------

# Of the manual pages of perf-record, -report, -script, -stat, -list, -evlist and -annotate, and of the
# pages of examples; sleeps are shorter.
rm -f perf.data
while IFS= read -r line; do
	if [[ $line == *sched:* ]] && [ ! -e $tracing/sched/sched_switch ]; then
		skip "$line: the kernel has no tracepoints of the scheduler"
		continue
	fi
	run bash -c "$line" </dev/null
	is "$line" "$status" 0
	[ "$status" = 0 ] || diag "$err"
done <<'LINES'
perf record -F 99 -a -g -- sleep 0.1
perf report -n --stdio
perf report --stdio -g caller
perf report --sort comm,dso
perf script
perf script --header
perf script -F comm,tid,pid,time,cpu,event,ip,sym,dso
perf stat -- true
perf stat -r 3 -e minor-faults -- true
perf stat -e sched:sched_process_exec -a -- sleep 0.1
perf stat -a -A -e context-switches sleep 0.1
perf record -e sched:sched_process_exec -a -- sleep 0.1
perf record -e context-switches -c 1 -a -- sleep 0.1
perf record -g -- ls
perf report --no-children --stdio -G
perf evlist -v
perf list 'sched:*'
LINES
done_testing
