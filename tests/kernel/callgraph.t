#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks without frame pointers, by fathom record's default: complete for workloads whose stacks are
# known, on every kind of target; files that perf reads; names that travel with the file.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 perf
need_file "$WORKLOADS/burn" "$WORKLOADS/deep" "$WORKLOADS/sigframe" "$WORKLOADS/jitlike"
cd "$TMP" || exit 1
burn=$WORKLOADS/burn

run "$FATHOM" record -e cpu-clock -F 499 -p "$$" -d 50ms -o probe.data
case $err in
*'by frame pointers'* | *'copied'*) plan_skip "the kernel does not take the unwinder: $err" ;;
esac

# of FILE PROGRAM FIELD: of the row of "fathom stacks" for that process, by name or pid
of() {
	"$FATHOM" stacks -i "$1" --json | python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["processes"] if sys.argv[1] in (r["comm"], str(r["pid"]))]
n = sum(r["user_stacks"] for r in rows)
if sys.argv[2] == "complete_percent":
    print("%.2f" % (100.0 * sum(r["complete"] for r in rows) / n if n else 0))
elif sys.argv[2] == "mean_depth":
    print("%.2f" % (sum(r["mean_depth"] * r["user_stacks"] for r in rows if r["user_stacks"]) / n))
else:
    print(sum(r[sys.argv[2]] for r in rows))' "$2" "$3"
}

# at_least NAME VALUE LEAST
at_least() {
	if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a + 0 >= b + 0) }'; then
		pass "$1 ($2)"
	else
		fail "$1" "got $2, wanted at least $3"
	fi
}

quiet_perf() {
	perf script -i "$1" >script.out 2>script.err
	is "$2: perf script has nothing to complain about" "$(grep -v '^$' script.err)" ''
	perf report --stdio -i "$1" >report.out 2>report.err
	is "$2: nor has perf report" "$(grep -v '^$' report.err)" ''
}

# --- a program: copies first, the kernel's unwinder as soon as it is loaded -------------------------

# 461 Hz: burn goes round in 10 ms, with which 499 Hz would keep step.
for work in "burn --seconds 1 a=70 b=30" "deep 900 --seconds 1" "sigframe --seconds 1 --same-stack" \
	"jitlike --seconds 1"; do
	name=${work%% *}
	# shellcheck disable=SC2086
	run "$FATHOM" record -e cpu-clock -F 461 -o "$name.data" -- "$WORKLOADS"/$work
	expect_status 0 "$name: recorded"
	expect_err_like 'stacks: unwound in the kernel by CFI tables \([0-9]+ files, [0-9.]+ MB\)' \
		"$name: says how stacks were unwound"
	at_least "$name: stacks are complete" "$(of "$name.data" "$name" complete_percent)" 99
	quiet_perf "$name.data" "$name"
done
at_least "deep: all of 900 frames" "$(of deep.data deep mean_depth)" 900
like "burn: main, work, a, spin" "$("$FATHOM" fold -i burn.data)" \
	'burn;_start;__libc_start_main[^;]*;(__libc_start_call_main|libc[^;]*[+]0x[0-9a-f]*);main;work;a'
like "sigframe: through the signal frame" "$("$FATHOM" fold -i sigframe.data)" \
	'main;work;interrupted;.*handler;burn_in_handler'
python3 - "$FATHOM" >share.out 2>&1 <<'END'
import json, subprocess, sys
out = subprocess.run([sys.argv[1], "fold", "-i", "burn.data"], capture_output=True, text=True).stdout
n = {"a": 0, "b": 0}
for line in out.splitlines():
    stack, count = line.rsplit(" ", 1)
    for f in n:
        n[f] += int(count) if ";work;" + f in stack else 0
share = n["a"] / (n["a"] + n["b"])
print("share of a: %.3f" % share)
assert 0.63 < share < 0.77
END
is "burn: 70 and 30 percent" "$?" 0
diag "$(cat share.out)"

# --- targets -------------------------------------------------------------------------------------

spawn "$burn" --seconds 0 --threads 2 a=100
pid=$spawned
wait_until has_threads "$pid" 3
tid=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
# on a busy machine both threads may be elsewhere, and get little
taskset -pc 0 "$tid" >/dev/null 2>&1
for target in "-a" "-p $pid" "-t $tid" "-u root" "-C 0"; do
	# shellcheck disable=SC2086
	run "$FATHOM" record -e cpu-clock -F 499 $target -d 700ms -o t.data -f
	expect_err 'unwound in the kernel' "record $target: by the kernel"
	at_least "record $target: complete" "$(of t.data "$pid" complete_percent)" 99
	at_least "record $target: enough samples" "$(of t.data "$pid" samples)" 20
done
"$FATHOM" record -q -e cpu-clock -F 499 -p "$pid" -d 700ms -o - >pipe.data
at_least "through a pipe" "$(of pipe.data "$pid" complete_percent)" 99
run "$FATHOM" record -z -e cpu-clock,faults,cs -F 499 -p "$pid" -d 700ms -o z.data
at_least "compressed, several events" "$(of z.data "$pid" complete_percent)" 99
quiet_perf z.data "compressed"
is "every sample belongs to an event" \
	"$(perf script -i z.data -F event 2>/dev/null | grep -v '^$' | grep -vcE 'cpu-clock:|faults:|cs:')" 0
kill "$pid"
wait "$pid" 2>/dev/null

# Children made before and after the unwinder was loaded.
run "$FATHOM" record -e cpu-clock -F 499 -o i.data -- sh -c \
	"$burn --seconds 0.8 a=100 & sleep 0.5; $burn --seconds 0.8 b=100; wait"
at_least "children of the program" "$(of i.data burn complete_percent)" 99
at_least "all of them" "$(of i.data burn samples)" 700
run "$FATHOM" record -e cpu-clock -F 499 -i -o ni.data -- sh -c "$burn --seconds 0.3 a=100"
is "--no-inherit: not the children" "$(perf script -i ni.data -F comm 2>/dev/null | grep -c burn)" 0

# --- what is used when the kernel's unwinder cannot be ------------------------------------------------

run "$FATHOM" record -e cpu-clock -F 499 -k boottime -o c.data -- "$burn" --seconds 0.5 a=100
expect_err_like 'copied and unwound by CFI tables.*monotonic clock' "copies, and why"
at_least "copies: complete" "$(of c.data burn complete_percent)" 99
ok "the copies are not in the file" test "$(stat -c %s c.data)" -lt 400000
quiet_perf c.data copies
run "$FATHOM" record -e sched:sched_switch -d 200ms -o s.data
expect_err_like 'stacks: copied and unwound by CFI tables, .*tracepoints' "tracepoints have copies"
cp "$FATHOM" "$TMP/fathom"
chmod 755 "$TMP" "$TMP/fathom"
mkdir -m 777 open
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	run setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent "$TMP/fathom" \
		record -e cpu-clock -F 499 -o open/u.data -- "$burn" --seconds 0.5 a=100
	expect_err_like 'copied and unwound by CFI tables' "without privileges: copies"
	at_least "without privileges: complete" "$(of open/u.data burn complete_percent)" 99
else
	skip "perf_event_paranoid lets nobody record" 2
fi

# --- events that the kernel's unwinder does not take: their stacks are copied ------------------------

# reach NAME EVENT PERCENT program...: this many of the stacks lead to the start of the program
reach() {
	local name=$1 event=$2 wanted=$3
	shift 3
	rm -f tp.data
	run "$FATHOM" record -e "$event" -o tp.data -- "$@"
	if [ "$status" -ne 0 ] && grep -q 'tracefs\|no such event' <<<"$err"; then
		skip "no tracepoints here" 3
		return
	fi
	expect_err_like "stacks of '.*' (and [0-9]+ more )?are copied and unwound here" "$name: how is said"
	run "$FATHOM" stacks --json -i tp.data
	share=$(python3 -c 'import json, sys
rows = json.load(sys.stdin)["processes"]
print(int(100 * sum(r["complete"] for r in rows) / max(1, sum(r["user_stacks"] for r in rows))))' <<<"$out")
	ok "$name: $share % of its stacks are complete" test "$share" -ge "$wanted"
	"$FATHOM" script -F ip,sym -i tp.data >tp.txt 2>/dev/null
	ok "$name: they lead to the start" grep -Eq '(__libc_start_main|_start|main)' tp.txt
}
reach python raw_syscalls:sys_enter 85 /usr/bin/python3 -c 'import os
for i in range(300): os.stat("/tmp")'
reach perl raw_syscalls:sys_enter 90 perl -e 'stat "/tmp" for 1 .. 300'
reach "a group that is read" '{cpu-clock,page-faults}:S' 85 "$burn" --seconds 0.3 a=100

# --- names, lines and inlined functions travel with the file ------------------------------------------

# The program's own part of the stacks, of those that have nothing else above it: debug information of
# a large library is read only for recordings that are worth it.
own_part() { sed -n 's/^.*;main/main/p' | grep -E '^main:burn\.c:[0-9]+(;[^;:]+:[a-z]+\.[ch]:[0-9]+)* [0-9]+$'; }

mkdir away bin
cp "$burn" bin/traveller
run "$FATHOM" record -e cpu-clock -F 499 -o away/n.data -- bin/traveller --seconds 0.5 a=70 b=30
"$FATHOM" fold --no-inline -i away/n.data >here.txt
"$FATHOM" fold --inline --srcline -i away/n.data | own_part >lines.txt
rm bin/traveller
# neither program, caches nor debug files are there
mkdir -p root/data root/proc root/tmp
cp away/n.data root/data/
if [ -x "$TOP/build/static/fathom" ] && cp "$TOP/build/static/fathom" root/fathom; then
	chroot root /fathom fold --no-inline -i /data/n.data >there.txt 2>there.err
	is "another root shows the same names" "$(cat there.txt)" "$(cat here.txt)"
	chroot root /fathom fold --inline --srcline -i /data/n.data 2>there.err | own_part >there.txt
	is "another root shows the same lines" "$(cat there.txt)" "$(cat lines.txt)"
	chroot root /fathom script -F ip,sym,dso -i /data/n.data >there.txt 2>there.err
	like "another root prints inlined functions" "$(cat there.txt)" 'spin \(inlined\)'
else
	skip "needs build/static/fathom" 3
fi
env HOME=/proc/none XDG_CACHE_HOME=/proc/none "$FATHOM" fold --no-inline -i away/n.data >there.txt
is "so do we when the program is gone" "$(cat there.txt)" "$(cat here.txt)"
env HOME=/proc/none XDG_CACHE_HOME=/proc/none "$FATHOM" fold --inline --srcline -i away/n.data |
	own_part >there_lines.txt
is "its lines and inlined functions, too" "$(cat there_lines.txt)" "$(cat lines.txt)"
like "and they are some" "$(cat lines.txt)" 'work:burn.c:[0-9]+;a:burn.c:[0-9]+;spin:workload.h:[0-9]+ '
like "and they are names" "$(cat there.txt)" 'main;work;a'
run "$FATHOM" record --no-names -e cpu-clock -F 499 -o nn.data -- "$burn" --seconds 0.3 a=100
expect_status 0
ok "--no-names leaves them out" test "$(stat -c %s nn.data)" -lt "$(stat -c %s away/n.data)"

done_testing
