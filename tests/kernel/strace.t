#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# System calls: counts and durations that are known, filters, targets, and bad input.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 dd
cd "$TMP" || exit 1

# 1000 reads and writes of a byte: exactly so many, one by one and in sums
run "$FATHOM" strace -c --json -- dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none
expect_status 0
ok 'sums: each call is counted once' python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
calls = {row["call"]: row for row in r["summary"]}
assert calls["write"]["calls"] == 1000, calls["write"]
assert calls["read"]["calls"] >= 1000 and calls["execve"]["calls"] == 1, calls
for row in r["summary"]:
    assert row["min_ns"] <= row["avg_ns"] <= row["max_ns"], row
    assert row["avg_ns"] * row["calls"] <= row["time_ns"] + row["calls"], row
assert abs(sum(row["share_percent"] for row in r["summary"]) - 100) < 0.1
assert sum(row["calls"] for row in r["summary"]) == r["facts"]["calls"]
END
run "$FATHOM" strace -e write -o calls.txt -- dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none
expect_status 0
is 'lines: each call is written once' "$(grep -c '^write(1, "\\0", 1) *= 1$' calls.txt)" 1000
is 'and nothing else' "$(wc -l <calls.txt)" 1000

# how long a call takes
run "$FATHOM" strace -e clock_nanosleep -T -o sleep.txt -- sleep 0.2
expect_status 0
ok 'a sleep of 0.2 s takes that long' awk -F'[<>]' \
	'/tv_sec=0, tv_nsec=200000000/ { found = $2 >= 0.2 && $2 < 2 } END { exit !found }' sleep.txt
run "$FATHOM" strace -c --min 100ms --json -- sleep 0.2
ok 'shorter calls are left out in the kernel' python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["summary"]
assert [row["call"] for row in rows] == ["clock_nanosleep"], rows
END

run "$FATHOM" strace --failed-only -o failed.txt -- cat /no/such/file
expect_status 1
ok 'only calls that failed' awk '!/= -1 E[A-Z]+ \(/ { exit 1 } /no\/such\/file.*ENOENT/ { n++ }
	END { exit n != 1 }' failed.txt

# conditions, which the program in the kernel has as constants
filtered() { "$FATHOM" strace --filter "$1" -o filtered.txt -- cat /no/such/file /etc/passwd >/dev/null 2>&1; }
filtered 'ret == -ENOENT'
ok 'a result' awk '!/= -1 ENOENT/ { exit 1 } /no\/such\/file/ { n++ } END { exit n != 1 }' filtered.txt
filtered '!(ret >= 0) && (call == read || call == openat)'
ok 'not, and, or, a call' awk '!/^openat.*= -1 / { exit 1 } END { exit !NR }' filtered.txt
filtered 'fd == 3 && count > 1k'
ok 'arguments by name' awk '!/^[a-z0-9]+\(3, .*[0-9]{4,}/ { exit 1 } END { exit !NR }' filtered.txt
filtered 'comm == "nothing" || errno == ENOENT && dur < 100s'
ok 'a name, an error, a duration' awk '!/ENOENT/ { exit 1 } END { exit !NR }' filtered.txt
filtered 'comm != "cat" || dur > 1000s'
is 'nothing passes' "$(wc -c <filtered.txt)" 0
run "$FATHOM" strace -c --filter 'call == write && arg2 == 1' --json -- \
	dd if=/dev/zero of=/dev/null bs=1 count=100 status=none
ok 'sums of what passes' python3 - "$out_file" <<'END'
import json, sys
assert [(r["call"], r["calls"]) for r in json.load(open(sys.argv[1]))["summary"]] == [("write", 100)]
END
for bad in 'ret <' 'nothing == 3' 'ret < 5ms' 'call == nope' 'ret < 0 && (dur > 1' 'comm < "x"' \
	'comm == "0123456789abcdefg"' "$(printf '!%.0s' {1..100})ret == 1" '' 'ret ! 3' \
	"$(printf 'ret == 1 || %.0s' {1..20})ret == 2"; do
	run "$FATHOM" strace --filter "$bad" -- true
	expect_status 2
done
expect_err 'too many conditions'

# page faults: 10 MB are 2,441 pages
run "$FATHOM" strace -F all -e none -o faults.txt -- python3 -c 'b = bytearray(10000000)'
expect_status 0
ok 'each page is touched once' test "$(grep -c '^m[ai][jn]fault \[.*\] => ' faults.txt)" -gt 2441
ok 'calls are left out' awk '/ = / { exit 1 }' faults.txt
run "$FATHOM" strace -F all -c --json -- python3 -c 'b = bytearray(10000000)'
ok 'they are counted' python3 - "$out_file" <<'END'
import json, sys
facts = json.load(open(sys.argv[1]))["facts"]
assert facts["major_faults"] + facts["minor_faults"] > 2441, facts
END

# order of sums, and times between calls
for key in calls errors name max; do
	run "$FATHOM" strace -c -S $key --json -- cat /no/such/file /dev/null
	ok "sums by $key" python3 - "$out_file" $key <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["summary"]
key = {"calls": "calls", "errors": "errors", "name": "call", "max": "max_ns"}[sys.argv[2]]
values = [row[key] or 0 for row in rows]
assert len(values) > 5 and values == sorted(values, reverse=key != "call"), values
END
done
run "$FATHOM" strace -r -e clock_nanosleep -o relative.txt -- python3 -c 'import time
for i in range(3): time.sleep(0.1)'
ok 'the time since the call before began' awk '
	NR == 1 { if ($1 != "0.000000") exit 1 }
	NR > 1 { if ($1 < 0.1 || $1 > 2) exit 1 }
	END { exit NR != 3 }' relative.txt

# options of strace and perf trace that are missing: what to do instead
for option in -y '-P /etc/passwd' '-u root' --sched '-i perf.data' -z '-E A=b' '-U calls'; do
	# shellcheck disable=SC2086
	run "$FATHOM" strace $option -- true
	expect_status 2
	expect_err 'of other tools is missing here'
	expect_err 'hint: '
done
cd "$TMP" || exit 1
run "$FATHOM" perf trace record -o trace.data -- dd if=/dev/zero of=/dev/null bs=1 count=50 status=none
expect_status 0
is 'perf trace record: a recording of the calls' "$("$FATHOM" script -i trace.data 2>/dev/null |
	grep -c 'sys_enter: NR 1 (1, ')" 50

# children, names in front of lines
run "$FATHOM" strace -f -e execve -o follow.txt -- sh -c 'true; ls >/dev/null; cat /dev/null'
expect_status 0
is 'children are followed' "$(grep -c 'execve(.*= 0$' follow.txt)" 3
run "$FATHOM" strace -e execve -o alone.txt -- sh -c 'ls >/dev/null; :'
is 'unless they are not' "$(wc -l <alone.txt)" 1

# a process that runs; classes; what is left out
spawn python3 -c '
import os, time
while True:
    os.stat("/")
    os.getppid()
    time.sleep(0.01)'
sleep 0.5
run "$FATHOM" strace -p "$spawned" -e trace=file -d 1s -o file.txt
expect_status 0
ok 'a class of calls' awk '!/stat/ { exit 1 } END { exit NR < 1 }' file.txt
run "$FATHOM" strace -p "$spawned" -e '!file' -d 1s -c --json
ok 'all but a class' python3 - "$out_file" <<'END'
import json, sys
names = {row["call"] for row in json.load(open(sys.argv[1]))["summary"]}
assert "getppid" in names and not any("stat" in name for name in names), names
END
run "$FATHOM" strace -p "$spawned" -c --by thread --histogram -d 1s
expect_status 0
expect_out_like 'TID +COMM +CALL'
expect_out 'nsecs'
run "$FATHOM" strace -d 300ms --json
expect_status 0
ok 'the whole machine as JSON' python3 - "$out_file" <<'END'
import json, sys
rows = [row for line in open(sys.argv[1]) for row in json.loads(line).get("calls", [])]
assert rows and all(row["tid"] and row["call"] for row in rows), rows[:3]
END

# durations over time: each call is a point
cat >heat.py <<'END'
import re, sys
text = open(sys.argv[1]).read()
assert text.startswith("<?xml") or text.startswith("<svg"), text[:80]
assert "system calls" in text and "<script" in text
END
run "$FATHOM" strace -e write --heatmap heat.svg -o heat.txt -- \
	dd if=/dev/zero of=/dev/null bs=1 count=1000 status=none
expect_status 0
is 'calls are printed beside the heat map' "$(grep -c '^write(1' heat.txt)" 1000
ok 'a heat map' python3 heat.py heat.svg
run "$FATHOM" strace -e write --heatmap heat.svg -- true
expect_status 1
expect_err "'heat.svg' exists"
run "$FATHOM" strace -c -e write --heatmap heat.svg --force --json -- \
	dd if=/dev/zero of=/dev/null bs=1 count=500 status=none
expect_status 0
ok 'sums beside a heat map count each call once' python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["summary"]
assert [(row["call"], row["calls"]) for row in rows] == [("write", 500)], rows
END
run "$FATHOM" strace -e bpf --heatmap none.svg -- true
expect_status 4
expect_err 'no call to draw'
run "$FATHOM" strace --heatmap heat.png -- true
expect_status 2

# addresses that cannot be read, numbers of calls that do not exist
run "$FATHOM" strace -o bad.txt -- python3 -c '
import ctypes
call = ctypes.CDLL(None).syscall
call(2, ctypes.c_void_p(1), 0, 0)
call(2, None, 0, 0)
call(1, 1, ctypes.c_void_p(1), 5)
call(999, 1, 2, 3, 4, 5, 6)
call(5000, 1, 2)
call(42, 1, ctypes.c_void_p(8), 16)'
expect_status 0
ok 'an address that cannot be read is a number' grep -q '^open(0x1, O_RDONLY) *= -1 EFAULT' bad.txt
ok 'none is NULL' grep -q '^open(NULL, O_RDONLY) *= -1 EFAULT' bad.txt
ok 'a buffer that cannot be read' grep -q '^write(1, 0x1, 5) *= -1 EFAULT' bad.txt
ok 'a call without a name' grep -q '^syscall_0x3e7(0x1, 0x2, 0x3, 0x4, 0x5, 0x6) *= -1 ENOSYS' bad.txt

run "$FATHOM" strace -e no-such-call
expect_status 2
expect_err "unknown system call 'no-such-call'"
run "$FATHOM" strace -e opnat -- true
expect_err "did you mean 'openat'?"
run "$FATHOM" strace -o few.txt --max-events 3 -- ls
is "an end after three calls" "$(wc -l <few.txt)" 3
run "$FATHOM" strace -c --max-events 4 --json -- ls
ok "also of sums" python3 -c '
import json, sys
text = open(sys.argv[1]).read()
rows = json.loads(text[text.index("{\n"):])["summary"]
assert sum(r["calls"] for r in rows) == 4, rows' "$out_file"
run "$FATHOM" strace -- /nonexistent/program
expect_status 127
# calls that come faster than they are written do not keep it from ending
floods=()
for _ in 1 2 3 4 5 6; do
	spawn dd if=/dev/zero of=/dev/null bs=1 status=none
	floods+=("$spawned")
done
run timeout -k 5 60 "$FATHOM" strace -a -d 300ms -o flood.txt
expect_status 0 'a flood of calls: it ends after its time'
kill "${floods[@]}"
run "$FATHOM" strace -G no/such/group -d 1s
expect_status 1
run "$FATHOM" strace -o /no/such/folder/x -d 1s
expect_status 1
run "$FATHOM" strace -p 4194303 -d 1s
expect_status 1
run "$FATHOM" strace -- sh -c 'exit 7'
expect_status 7
if command -v setpriv >/dev/null; then
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$FATHOM" strace -d 1s
	ok 'without rights: a reason' [ "$status" -ne 0 ]
	like 'with words' "$err" '^fathom: '
fi
done_testing
