#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# perf.data between us and perf: we read what perf records, and perf reads what we write. The
# samples that perf script prints (thread, time, event, address) must be the ones that we see,
# and a copy made by our writer must look the same to perf as the original.
. "$(dirname "$0")/../lib/test.sh"

need_cmd perf
peer=$TOP/build/oracle/recording_peer
need_file "$peer"

load() {
	# short, with forks, page faults and both kernel and user time
	for _ in 1 2 3; do
		head -c 10000000 /dev/zero | md5sum
		ls /
	done >/dev/null
}
export -f load

perf record -q -e cpu-clock -o "$TMP/probe.data" -- true 2>/dev/null ||
	plan_skip "perf record does not work here"

# perf script's line for a sample: tid, time, event, and the address of its first frame
fields=tid,time,event,ip
perf_samples() {
	perf script -i "$1" --ns --no-inline -F "$fields" -G 2>/dev/null |
		sed -E 's/^ +//; s/ +/ /g; s/ $//'
}

our_samples() {
	"$peer" dump "$1" | sed -E 's/ +/ /g'
}

# The file name may be - in the recording's name: perf reads pipe mode from a file as well.
compare() {
	local name=$1 file=$2
	"$peer" count "$file" >"$TMP/count"
	like "$name: no damage seen" "$(tr '\n' ' ' <"$TMP/count")" \
		'bad 0 bad_features 0 unknown 0 out_of_order 0 fault none'
	perf_samples "$file" >"$TMP/perf.txt"
	our_samples "$file" >"$TMP/ours.txt"
	ok "$name: there are samples" test -s "$TMP/perf.txt"
	if cmp -s "$TMP/perf.txt" "$TMP/ours.txt"; then
		pass "$name: the same samples as perf script"
	else
		fail "$name: the same samples as perf script"
		diff "$TMP/perf.txt" "$TMP/ours.txt" | head -10 | sed 's/^/# /'
	fi
}

# What perf shows of our copy, and that it has nothing to say about the file.
copied() {
	local name=$1 file=$2
	shift 2
	"$peer" copy "$@" "$file" "$TMP/copy.data" || fail "$name: copy"
	perf script -i "$TMP/copy.data" --ns --no-inline -F comm,tid,time,event,ip,sym \
		>"$TMP/copy.txt" 2>"$TMP/copy.err"
	perf script -i "$file" --ns --no-inline -F comm,tid,time,event,ip,sym \
		>"$TMP/orig.txt" 2>/dev/null
	ok "$name: perf sees the same in our copy" cmp "$TMP/orig.txt" "$TMP/copy.txt"
	is "$name: perf script has no warning" "$(cat "$TMP/copy.err")" ''
	perf report -i "$TMP/copy.data" --stdio --no-inline -g none >"$TMP/report.txt" \
		2>"$TMP/report.err"
	is "$name: perf report has no warning" "$(cat "$TMP/report.err")" ''
	like "$name: perf report shows something" "$(cat "$TMP/report.txt")" '[0-9]\.[0-9]{2}%'
}

record() {
	local file=$1
	shift
	perf record -q "$@" -o "$file" -- bash -c load 2>/dev/null
}

all_forms() {
	copied "$1, file" "$2"
	copied "$1, compressed" "$2" -z
	copied "$1, pipe mode" "$2" -p
	copied "$1, compressed pipe mode" "$2" -p -z
	copied "$1, killed recorder" "$2" -k
	copied "$1, killed compressing recorder" "$2" -k -z
}

record "$TMP/fp.data" -e cpu-clock -F 999 -g
compare 'callchains' "$TMP/fp.data"
all_forms 'callchains' "$TMP/fp.data"

record "$TMP/dwarf.data" -e cpu-clock -F 499 --call-graph dwarf
compare 'stack copies' "$TMP/dwarf.data"
copied 'stack copies' "$TMP/dwarf.data" -z

record "$TMP/two.data" -e cpu-clock -e page-faults -F 999
compare 'two events' "$TMP/two.data"
all_forms 'two events' "$TMP/two.data"

record "$TMP/group.data" -e '{cpu-clock,page-faults}' -c 100000
compare 'a group' "$TMP/group.data"
copied 'a group' "$TMP/group.data"

perf record -q -e cpu-clock -F 999 -g -o - -- bash -c load >"$TMP/pipe.data" 2>/dev/null
compare 'pipe mode' "$TMP/pipe.data"

"$peer" dump - <"$TMP/pipe.data" >"$TMP/stdin.txt"
"$peer" dump "$TMP/pipe.data" >"$TMP/file.txt"
ok 'a pipe and a file give the same' cmp "$TMP/stdin.txt" "$TMP/file.txt"

if perf record -q -z -e cpu-clock -F 999 -g -o "$TMP/z.data" -- true 2>/dev/null; then
	record "$TMP/z.data" -z -e cpu-clock -F 999 -g
	compare 'compressed by perf' "$TMP/z.data"
	copied 'compressed by perf' "$TMP/z.data" -z
else
	skip 'this perf cannot compress' 7
fi

if [ "$(id -u)" -eq 0 ] && perf record -q -e sched:sched_switch -a -o "$TMP/tp.data" -- true \
	2>/dev/null; then
	record "$TMP/tp.data" -e sched:sched_switch -a
	compare 'tracepoints' "$TMP/tp.data"
	all_forms 'tracepoints' "$TMP/tp.data"
	perf record -q -e sched:sched_switch -a -o - -- bash -c load >"$TMP/tpp.data" 2>/dev/null
	compare 'tracepoints in pipe mode' "$TMP/tpp.data"
	record "$TMP/cg.data" -e cpu-clock -F 999 -a --all-cgroups -k mono
	compare 'whole machine with cgroups' "$TMP/cg.data"
	copied 'whole machine with cgroups' "$TMP/cg.data"
else
	skip 'tracepoints need root' 37
fi

done_testing
