#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Our program by the name perf: command lines from perf's manual pages run unchanged, and what
# scripts read of the output is what perf prints for the same file.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3
need_file "$FATHOM"
cd "$TMP" || exit 1
peer=$(command -v perf)
mkdir bin
ln -s "$FATHOM" bin/perf
PATH=$TMP/bin:$PATH

# rows: of a table in perf's form, without names of functions that the two find by other means, and
# without BPF programs, which perf shows as modules of their own
rows() { grep -v '^#' | grep '%' | grep -v 'bpf' | sed -e 's/  *$//' -e 's/   */  /g'; }
# named: rows that name a function, not an address
named() { rows | grep -Ev '0x[0-9a-f]{6,}|\+0x'; }
# shares: without the function, of whose names for one address the two take different ones
shares() { named | sed 's/\[[k.]\] .*//' | sort; }
# agree NAME OPTIONS...: the same shares in report, and the same function first
agree() {
	local name=$1 ours theirs
	shift
	perf report -i cpu.data "$@" 2>/dev/null </dev/null >ours
	"$peer" report --stdio -i cpu.data "$@" 2>/dev/null </dev/null >theirs
	ours=$(rows <ours | head -n 1; shares <ours)
	theirs=$(rows <theirs | head -n 1; shares <theirs)
	is "$name" "$ours" "$theirs"
}

# --- record ----------------------------------------------------------------------------------

run perf record -F 999 -o cpu.data perf test -w noploop 1
expect_status 0 "a workload"
expect_err_like '^\[ perf record: Captured and wrote [0-9.]+ MB cpu.data \([0-9]+ samples\) \]$'
touch empty.data
run perf record -q -o empty.data -- true
expect_status 0 "an empty file makes room"
ok "and is kept" test -e empty.data.old
run perf record -q -o cpu.data -F 999 perf test -w thloop 1
expect_status 0 "a recording makes room"
ok "and is kept" test -s cpu.data.old
echo text >notes
run perf record -q -o notes -- true
expect_status 1 "another file stays"
is "as it was" "$(cat notes)" text
run perf record -q -g -B -N --no-bpf-event --synth=no --threads=cpu -C 0 -o stacks.data -- perf test -w leafloop 1
expect_status 0 "options about how the work is done"
run perf record -- true
ok "the file is perf.data" test -s perf.data
run perf record -e cpu-clock -a -o wide.data sleep 0.1
expect_status 0 "the whole machine while a program runs"

# --- report ----------------------------------------------------------------------------------

agree "rows" --no-children
agree "with the number of samples" --no-children -n
agree "by process, function" -s comm,sym
agree "parts in the kernel and outside" --showcpuutilization --no-children
run perf report -i cpu.data --stdio
expect_out_like "^# Samples: [0-9]+[ KM] of event 'cpu-clock'"
expect_out_like '^# Overhead  Command +Shared Object +Symbol'
run perf report -i stacks.data --stdio -s sym
expect_out_like '^# Children      Self  Symbol'
# the text of perf 6.1 has blanks around the fields
is "with a separator" "$(perf report -i cpu.data -q -t ';' -n -s comm)" \
	"$("$peer" report --stdio -i cpu.data -q -t ';' -n -s comm 2>/dev/null | sed 's/ *; */;/g; s/^ *//; s/ *$//')"
is "numbers of records" "$(perf report -i cpu.data --stats | grep -E '(SAMPLE|COMM|FORK|MMAP2) events' | sed 's/ *(.*//')" \
	"$("$peer" report -i cpu.data --stats 2>/dev/null | grep -E '(SAMPLE|COMM|FORK|MMAP2) events' | sed 's/ *(.*//')"
is "threads" "$(perf report -i cpu.data --tasks)" "$("$peer" report -i cpu.data --tasks 2>/dev/null)"
is "raw bytes of samples" "$(perf report -D -i cpu.data | grep -A2 'event: 9$' | grep -v '^0x')" \
	"$("$peer" report -D -i cpu.data 2>/dev/null | grep -A2 'event: 9$' | grep -v '^0x')"
run perf report -i cpu.data --symbols=no_such_function
expect_status 0 "no row"
unlike "comments alone" "$out" '^[^#]'
is "the header" "$(perf report -i cpu.data --header-only | grep -E '^# (hostname|os release|arch|nrcpus|cmdline|cpuid)')" \
	"$("$peer" report -i cpu.data --header-only 2>/dev/null | grep -E '^# (hostname|os release|arch|nrcpus|cmdline|cpuid)')"

# --- pipes, script, evlist, diff ---------------------------------------------------------------

like "record to report by a pipe" "$(perf record -q -e task-clock:u -o - perf test -w noploop 1 | perf report -i -)" noploop
is "script" "$(perf script -i cpu.data -F comm,tid,time,event | head -n 50)" \
	"$("$peer" script -i cpu.data -F comm,tid,time,event 2>/dev/null | head -n 50)"
is "events" "$(perf evlist -i cpu.data)" "$("$peer" evlist -i cpu.data 2>/dev/null)"
cp cpu.data third.data
is "three files compared" "$(perf diff cpu.data.old cpu.data third.data | shares)" \
	"$("$peer" diff cpu.data.old cpu.data third.data 2>/dev/null | shares)"
is "two files compared" "$(perf diff cpu.data.old cpu.data | shares)" \
	"$("$peer" diff cpu.data.old cpu.data 2>/dev/null | shares)"

# --- the rest ----------------------------------------------------------------------------------

run perf version
expect_out_like '^perf version [0-9]+\.[0-9]+'
run perf version --build-options
expect_out_like '^ *libbfd: \[ OFF \]  # HAVE_LIBBFD_SUPPORT$'
run perf list -j -o events.json
ok "the list as JSON" python3 -c 'import json
rows = json.load(open("events.json"))
assert any(r["EventName"] == "cpu-clock" and r["EventType"] == "Software event" for r in rows)'
if [ -e /sys/kernel/tracing/events/lock/contention_begin ]; then
	run perf lock contention -a -b -- sleep 0.2
	expect_status 0
	expect_out_like '^TYPE +CONTENDED +TOTAL' 'tools of the library answer to the names of perf'
else
	skip 'the kernel has no tracepoints of contended locks' 2
fi
run perf lock info
expect_status 3
expect_err "'fathom lock -i FILE' shows contention"
run perf trace -s -- true
expect_status 0
# perf 6.1 may crash here before it has printed anything
calls() { sed -n -E 's/^   ([a-z0-9_]+) +([0-9]+) +([0-9]+) .*%$/\1 \2 \3/p' "$1" | sort; }
for words in -s -S; do
	perf trace $words -o ours.txt -- sleep 0.02
	"$peer" trace $words -o theirs.txt -- sleep 0.02 2>crash.txt
	if [ -s theirs.txt ]; then
		is "perf trace $words: the calls of perf's table" "$(calls ours.txt)" "$(calls theirs.txt)"
	else
		skip "perf trace $words ended early: $(tail -n 1 crash.txt)"
	fi
	is "perf trace $words: its head" "$(grep -c 'syscall            calls  errors  total ' ours.txt)" 1
	like "perf trace $words: the thread" "$(grep ' events, ' ours.txt)" '^ sleep \([0-9]+\), [0-9]+ events, 100\.0%$'
done
perf trace -s -o ours.txt -- sh -c 'ls & ls; wait' >/dev/null
is "perf trace -s: children have tables of their own" "$(grep -c '^ ls ([0-9]*), ' ours.txt)" 2
run perf report -T -i cpu.data
expect_status 2 'what would need counts of threads'
run perf trace -o trace.txt --duration 5 -S -- sleep 0.02
expect_status 0
is "--duration of perf trace: calls of that many milliseconds, not an end" \
	"$(grep -c 'nanosleep(' trace.txt) $(grep -c 'mmap(' trace.txt)" "1 0"
like "-S after a value: sums, too" "$(cat trace.txt)" 'Summary of events'
run perf trace -o trace.txt --max-events 3 -- ls
is "--max-events" "$(grep -c ' = ' trace.txt)" 3
run perf trace -o trace.txt --no-syscalls -F all -- true
ok "page faults alone" test "$(grep -c minfault trace.txt)" -gt 5 -a "$(grep -c mmap trace.txt)" = 0

run perf list 'sched:*'
expect_out_like '^  sched:sched_switch +\[Tracepoint event\]$'
# a full machine may lose the switches of so short a program
for _ in 1 2 3 4 5; do
	latency=$(perf sched record -q -o s.data -- sh -c 'for i in 1 2 3 4; do sleep 0.05; done' &&
		perf sched latency -i s.data)
	case $latency in *sleep*) break ;; esac
done
like "sched record and latency" "$latency" sleep
run perf stat -x, -e task-clock true
expect_err_like '^[0-9.]+,msec,task-clock'
run perf c2c record -- true
expect_err 'is missing here'
run perf check -q feature dwarf,libelf
expect_status 0 "features that are there"
run perf check feature libperl
expect_status 1 "one that is not"
run perf report -i cpu.data --hide-unresolved
expect_err "this part of perf's report is missing here"
run perf kallsyms vfs_read
expect_status 0 'a symbol of the kernel'
expect_out_like '^vfs_read: \[kernel\] '
# the text that perf prints, up to its figures and blanks at the end of lines
shape() { sed -E -e 's/[0-9]+([.,][0-9]+)*/N/g' -e 's/<not counted>|<not supported>/N/' -e 's/ (K|M|G)?\/sec/ \/sec/; s/  */ /g' \
	-e 's/ \( ?\+- ?N% \)$//; s/ *$//' "$1"; } # runs that do not differ have no deviation
for words in '-e task-clock,minor-faults,LLC-loads' '-a' '-d' '-r 2 -e minor-faults' '-a -A -e minor-faults' "-p $$ -e minor-faults"; do
	# shellcheck disable=SC2086
	perf stat $words -- sleep 0.05 2>ours
	# shellcheck disable=SC2086
	"$peer" stat $words -- sleep 0.05 2>theirs
	is "perf stat $words: perf's lines" "$(shape ours)" "$(shape theirs)"
done
perf stat -e minor-faults -- true 2>ours
ok 'figures end where those of perf end' [ "$(grep -bo 'minor-faults' ours | cut -d: -f1)" = \
	"$("$peer" stat -e minor-faults -- true 2>&1 | grep -bo 'minor-faults' | cut -d: -f1)" ]
run perf stat record -- true
expect_err "perf's stat record is missing here"
run perf stat --no-merge -x, -e task-clock -a -- true
expect_status 0 "an option about the form"
run "$FATHOM" perf version
expect_out_like '^perf version'
done_testing
