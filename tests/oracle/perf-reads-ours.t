#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings made by fathom record: perf script and perf report open them without a word on stderr,
# and perf script's text equals that of fathom script (names of stripped code aside).
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/script.sh
. "$(dirname "$0")/../lib/script.sh"

# opens NAME FIELDS FLAGS FILE
opens() {
	local name=$1 fields=$2 flags=$3 file=$4 text
	[ "$flags" != - ] || flags=
	perf script --no-inline -F "$fields" -i "$file" >perf.txt 2>perf.err </dev/null
	is "$name: perf script has nothing to say" "$(cat perf.err)" ''
	perf report --stdio --no-inline -i "$file" >report.txt 2>report.err </dev/null
	is "$name: perf report has nothing to say" "$(cat report.err)" ''
	like "$name: perf report shows samples" "$(cat report.txt)" '^ +[0-9.]+%'
	"$FATHOM" script --no-inline --max-stack 127 -F "$fields" -i "$file" >ours.txt 2>ours.err
	# shellcheck disable=SC2086
	if text=$(python3 "$COMPARE" $flags perf.txt ours.txt 2>&1); then
		pass "$name: $(tail -n 1 <<<"$text")"
		diag "$text"
	else
		fail "$name" "$text"
		diag "ours: $(head -n 3 ours.err)"
	fi
}

# record NAME FIELDS FLAGS ARGUMENTS...
record() {
	local name=$1 fields=$2 flags=$3
	shift 3
	rm -f f.data
	if ! "$FATHOM" record -q -o f.data "$@" >/dev/null 2>record.err; then
		fail "$name: fathom record" "$(cat record.err)"
		return
	fi
	opens "$name" "$fields" "$flags" f.data
}

record 'cpu-clock -g' $FIELDS - -F 999 -a -g --call-graph fp -d 1s
record 'as it comes' $FIELDS - -a -d 500ms
record 'a tracepoint with a filter' $FIELDS - -a -e sched:sched_switch --filter 'prev_pid != 0' -d 500ms \
	--call-graph none
record 'a tracepoint and its data' trace:comm,tid,cpu,time,event,trace - -a -e sched:sched_switch,sched:sched_wakeup \
	-d 500ms --call-graph none
record 'strings of the kernel' trace:comm,tid,cpu,time,event,trace - -a -e rcu:rcu_utilization -d 200ms \
	--call-graph none
like 'strings of the kernel: perf knows them from the file' "$(cat perf.txt)" 'rcu:rcu_utilization: *[A-Z][a-z]+ '
record 'two events' $FIELDS - -a -e cpu-clock,page-faults -F 499 -d 500ms --call-graph fp
record 'a command' comm,tid,time,event,ip,sym,dso - -F 999 --call-graph fp -- ls -lR /usr/share/doc
record 'threads' comm,tid,time,event,ip,sym,dso - -F 499 --call-graph fp -- \
	"$WORKLOADS/burn" --seconds 0.2 --threads 3
record 'compressed' $FIELDS - -F 999 -a -z --call-graph fp -d 500ms
record 'copies of stacks' comm,tid,time,event,ip,sym,dso --unwind -F 499 --call-graph dwarf -- \
	"$WORKLOADS/burn" --seconds 0.3

"$FATHOM" record -q -F 499 -a --call-graph fp -d 500ms -o - >pipe.data 2>/dev/null
opens 'a pipe' $FIELDS - pipe.data
done_testing
