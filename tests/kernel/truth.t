#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 240
#
# CPU time by samples agrees with what the kernel accounts in /proc, however the target is named.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP

spawn "$WORKLOADS/burn" --seconds 0 --threads 2 a=70 b=30
pid=$spawned
wait_until has_threads "$pid" 3
mapfile -t tids < <(ls "/proc/$pid/task")

# The scheduler's account of the process, every 20 ms by the recording's clock.
cat > account.py << 'END'
import os, sys, time
task = f"/proc/{sys.argv[1]}/task"
with open("account.txt", "w", buffering=1) as out:
    while True:
        total = 0
        for tid in os.listdir(task):
            with open(f"{task}/{tid}/schedstat") as f:
                total += int(f.read().split()[0])
        print(time.clock_gettime_ns(time.CLOCK_MONOTONIC), total, file=out)
        time.sleep(0.02)
END

# agree NAME RECORDED TRUE: within 3 % and 30 ms (the ends of a recording are not sharp)
agree() {
	ok "$1" python3 -c '
import sys
got, true = float(sys.argv[1]), float(sys.argv[2])
print(f"# sampled {got / 1e9:.3f} s, accounted {true / 1e9:.3f} s")
sys.exit(abs(got - true) > 0.03 * true + 30e6)' "$2" "$3"
}

# sampled FILE KEY VALUE: sum of the weights of the lines whose KEY is VALUE
sampled() {
	"$FATHOM" report -i "$1" --json --no-children --sort "$2" -g none --percent-limit 0 |
		python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
key, want = sys.argv[1:3]
print(sum(r["period"] for r in rows if str(r[key]) in want.split(",")))' "$2" "$3"
}

if ! [ -r "/proc/$pid/schedstat" ]; then
	plan_skip "no /proc/PID/schedstat here"
fi
spawn python3 account.py "$pid"
wait_until [ -s account.txt ]

# timed FILE OPTIONS...: records; scaled FILE: what was accounted between its first and last sample
timed() {
	local file=$1
	shift
	run "$FATHOM" record -q -e cpu-clock -F 999 -d 2s -o "$file" --force "$@"
	expect_status 0
	sleep 0.1
}
scaled() {
	"$FATHOM" script -i "$1" --ns -G -F time | python3 -c '
import bisect, sys
times = [int(float(l.strip().rstrip(":").split(".")[0])) * 10**9 + int(l.strip().rstrip(":").split(".")[1]) for l in sys.stdin if l.strip()]
rows = [tuple(map(int, l.split())) for l in open("account.txt") if len(l.split()) == 2]
def at(t):
    i = min(max(bisect.bisect(rows, (t, 0)), 1), len(rows) - 1)
    (t0, c0), (t1, c1) = rows[i - 1], rows[i]
    return c0 + (c1 - c0) * (t - t0) / (t1 - t0)
print(at(max(times)) - at(min(times)))'
}

timed machine.data -a
agree "whole machine" "$(sampled machine.data pid "$pid")" "$(scaled machine.data)"
timed pid.data -p "$pid"
agree "one process" "$(sampled pid.data pid "$pid")" "$(scaled pid.data)"
timed threads.data -t "$(
	IFS=,
	echo "${tids[*]}"
)"
agree "its threads" "$(sampled threads.data tid "$(
	IFS=,
	echo "${tids[*]}"
)")" "$(scaled threads.data)"

timed cpus.data -C 0
on_one=$(sampled cpus.data cpu 0)
is "one CPU gives samples of no other" "$(sampled cpus.data cpu 1,2,3)" 0
ok "one CPU's samples do not exceed its time" test "$on_one" -le 2100000000

root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$root/fathom-truth-$$
if [ -n "$root" ] && mkdir "$group" 2> /dev/null && echo "$pid" > "$group/cgroup.procs"; then
	timed cgroup.data -G "${group##*/}"
	agree "its control group" "$(sampled cgroup.data pid "$pid")" "$(scaled cgroup.data)"
	echo "$pid" > "$root/cgroup.procs"
	rmdir "$group"
else
	skip "no cgroup v2 that takes a group"
fi

done_testing
