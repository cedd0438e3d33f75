#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings made by perf, of every kind: our text equals perf's for at least 99.9 % of the lines.
# script_compare.py names the classes of lines that may differ, and why.
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/script.sh
. "$(dirname "$0")/../lib/script.sh"

# reads NAME FIELDS FLAGS RECORD-ARGUMENTS...: perf records, both print, the texts are compared. Fields "":
# the defaults. FLAGS are for the comparison, or -.
reads() {
	local name=$1 fields=$2 flags=$3 text
	shift 3
	[ "$flags" != - ] || flags=
	if ! perf record -q -B -o p.data "$@" >/dev/null 2>record.err; then
		skip "$name: perf cannot record it: $(grep -m 1 . record.err)"
		return
	fi
	"$TOP/tests/oracle/script_unleak.py" p.data
	perf script --no-inline ${fields:+-F "$fields"} -i p.data >perf.txt 2>perf.err </dev/null
	# BPF programs that others loaded and dropped meanwhile: perf 6.1 stops at such a record
	if grep -q 'failed to process type: 17' perf.err; then
		skip "$name: perf cannot read what it recorded: $(head -n 1 perf.err)"
		return
	fi
	"$FATHOM" script --no-inline --max-stack 127 ${fields:+-F "$fields"} -i p.data >ours.txt 2>ours.err
	# shellcheck disable=SC2086
	if text=$(python3 "$COMPARE" $flags perf.txt ours.txt 2>&1); then
		pass "$name: $(tail -n 1 <<<"$text")"
		diag "$text"
	else
		fail "$name" "$text"
		diag "perf: $(head -n 3 perf.err)" "ours: $(head -n 3 ours.err)"
	fi
}

reads 'cpu-clock -g' $FIELDS - -F 999 -a -g -- sleep 1
reads 'defaults' '' - -F 999 -a -g -- sleep 0.5
reads 'without chains' $FIELDS - -F 999 -a -- sleep 0.5
reads 'a tracepoint with a filter' $FIELDS - -a -e sched:sched_switch --filter 'prev_pid != 0' -- sleep 0.5
reads 'a tracepoint with chains' '' - -a -g -e sched:sched_wakeup -- sleep 0.5
reads 'scheduler tracepoints' '' - -a -e 'sched:*' -- sleep 0.5
reads 'two events' $FIELDS - -a -e cpu-clock,page-faults -F 499 -- sleep 0.5
reads 'a group' $FIELDS - -a -e '{cpu-clock,page-faults}' -F 499 -- sleep 0.5
reads 'a command' comm,tid,time,event,ip,sym,dso - -F 999 -g -- ls -lR /usr/share/doc
reads 'per thread' comm,tid,event,ip,sym,dso - -F 999 -g --per-thread -- "$WORKLOADS/burn" --seconds 0.3
reads 'inherited threads' comm,tid,time,event,ip,sym,dso - -F 499 -g -- \
	"$WORKLOADS/burn" --seconds 0.2 --threads 3
reads 'compressed' $FIELDS - -z -F 999 -a -g -- sleep 0.5
reads 'user and kernel apart' $FIELDS - -e cpu-clock:u,cpu-clock:k -F 499 -a -g -- sleep 0.5
reads 'copies of stacks' comm,tid,time,event,ip,sym,dso --unwind -F 499 --call-graph dwarf -- \
	"$WORKLOADS/burn" --seconds 0.3
reads 'copies of stacks of a command' comm,tid,time,event,ip,sym,dso --unwind -F 999 --call-graph dwarf \
	-- ls -lR /usr/share/doc
reads 'page faults' comm,tid,time,event,ip,sym,dso - -d -e page-faults -c 1 -- ls /
reads 'addresses of page faults' comm,tid,time,event,addr,dso - -d -e page-faults -c 1 -- ls /
reads 'what accesses met' comm,tid,time,event,addr,data_src,flags - -d -e page-faults -c 1 -- ls /
reads 'branches' comm,tid,time,brstack - -b -e cycles -- "$WORKLOADS/burn" --seconds 0.1
reads 'wall clock' $FIELDS - -k CLOCK_MONOTONIC -F 499 -a -g -- sleep 0.3

# A cgroup: perf's name for ours is a path below the mount point.
group=
for mount in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ ! -e "$mount/cgroup.controllers" ] || group=$mount/fathom-test-$$
done
if [ -n "$group" ] && mkdir "$group" 2>/dev/null; then
	spawn sh -c "echo \$\$ > '$group/cgroup.procs' && exec '$WORKLOADS/burn' --seconds 0"
	reads 'a cgroup' $FIELDS - -F 499 -a -g -e cpu-clock -G "${group##*/}" -- sleep 0.5
	kill -KILL "$spawned"
	wait "$spawned" 2>/dev/null
	rmdir "$group" || diag "the cgroup '$group' stays"
else
	skip 'a cgroup: no unified hierarchy here'
fi

# Pipe mode.
perf record -q -B -F 499 -a -g -o - -- sleep 0.5 2>/dev/null >pipe.data
"$TOP/tests/oracle/script_unleak.py" pipe.data
perf script --no-inline -F $FIELDS -i - <pipe.data >perf.txt 2>perf.err
"$FATHOM" script --no-inline --max-stack 127 -F $FIELDS -i - <pipe.data >ours.txt 2>ours.err
if text=$(python3 "$COMPARE" perf.txt ours.txt 2>&1); then
	pass "a pipe: $(tail -n 1 <<<"$text")"
else
	fail 'a pipe' "$text"
fi
done_testing
