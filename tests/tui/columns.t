#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Columns of fathom top that are read for drawn lines, from waits and from samples, against /proc.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
export HOME=$TMP
# A process that holds still, with shared memory; its threads wake each other.
cat >"$TMP/still" <<'P'
import mmap, threading, time
m = mmap.mmap(-1, 8 << 20)
m.write(b"x" * (8 << 20))
a, b = threading.Semaphore(1), threading.Semaphore(0)
def ping(mine, other):
    while True:
        mine.acquire()
        time.sleep(0.002)
        other.release()
threading.Thread(target=ping, args=(a, b), daemon=True).start()
threading.Thread(target=ping, args=(b, a), daemon=True).start()
open("/proc/self/comm", "w").write("holdsstill")
time.sleep(300)
P
spawn nice -n 5 python3 "$TMP/still"
pid=$spawned
ready() { grep -q holdsstill "/proc/$pid/comm"; }
wait_until ready || diag 'the process did not start'
sample() { # COLUMNS...: of the process as JSON
	run "$FATHOM" top --once --json --filter "pid = $pid" --columns "$1"
	expect_status 0 "columns $1"
}
sample pid,pri,shr,pss,res,command
ok 'SHR, PRI and PSS are those of /proc' python3 - "$out_file" "$pid" <<'P'
import json, sys
row = [r for r in json.load(open(sys.argv[1]))["processes"] if r["pid"] == int(sys.argv[2])][0]
proc = "/proc/%s/" % sys.argv[2]
statm = open(proc + "statm").read().split()
assert abs(row["shr"] - int(statm[2]) * 4096) <= 1 << 20, (row["shr"], statm)
assert row["shr"] >= 8 << 20, row["shr"]
stat = open(proc + "stat").read().rpartition(")")[2].split()
assert row["pri"] == int(stat[15]) == 20 + int(stat[16]), (row["pri"], stat[15:17])
pss = [int(l.split()[1]) * 1024 for l in open(proc + "smaps_rollup") if l.startswith("Pss:")][0]
assert abs(row["pss"] - pss) <= pss / 4 + (1 << 20), (row["pss"], pss)
P
if "$FATHOM" top --once --json --filter "pid = $pid" --columns pid,run | grep -q '"run": [0-9]'; then
	sample pid,waker,waits_in,sleep
	like 'who woke it' "$out" '"waker": "[^"]+"'
else
	skip 'waits cannot be watched here' 2
fi
spawn "$WORKLOADS/burn" --seconds 120 c=1
pid=$spawned
hot() {
	"$FATHOM" top --once --json --filter "pid = $pid" --columns pid,function,command >"$TMP/hot" 2>&1
	grep -q '"function": "c"' "$TMP/hot"
}
ok 'the function that it is in' wait_until hot
done_testing
