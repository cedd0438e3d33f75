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
sleep 0.3
pid=$(pgrep -P "$pid" -x burn || echo "$pid")
mapfile -t tids < <(ls "/proc/$pid/task")

# ticks PATH: user and system time of a task in nanoseconds, by the scheduler's own clock
ticks() { awk '{ print $1; exit }' "$1/schedstat" 2> /dev/null; }
cpu_ns() {
	local total=0 t
	for t in "/proc/$pid/task"/*; do total=$((total + $(ticks "$t"))); done
	echo "$total"
}

# agree NAME RECORDED TRUE: within 8 % and 60 ms (the ends of a recording are not sharp)
agree() {
	ok "$1" python3 -c '
import sys
got, true = float(sys.argv[1]), float(sys.argv[2])
print(f"# sampled {got / 1e9:.3f} s, accounted {true / 1e9:.3f} s")
sys.exit(abs(got - true) > 0.08 * true + 60e6)' "$2" "$3"
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

measure() { # FILE OPTIONS...: records, leaves the accounted time in $true
	local file=$1 before after
	shift
	before=$(cpu_ns)
	run "$FATHOM" record -q -e cpu-clock -F 999 -d 3s -o "$file" --force "$@"
	after=$(cpu_ns)
	expect_status 0
	true_ns=$((after - before))
}

if [ -z "$(ticks "/proc/$pid")" ]; then
	plan_skip "no /proc/PID/schedstat here"
fi

# start-up and the end of a recording are not part of it: scale by the recorded span
span() {
	"$FATHOM" report -i "$1" --json -g none |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["facts"]["duration_ns"])'
}
scaled() { # FILE: $true_ns over the time that was really recorded
	python3 -c 'import sys; print(float(sys.argv[1]) * min(1, float(sys.argv[2]) / float(sys.argv[3])))' \
		"$true_ns" "$(span "$1")" "$wall"
}
timed() {
	local start end
	start=$(date +%s%N)
	measure "$@"
	end=$(date +%s%N)
	wall=$((end - start))
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
ok "one CPU's samples do not exceed its time" test "$on_one" -le "$((wall + wall / 50))"

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

# shellcheck disable=SC2317  # called through ok
share() { # FILE: percent of burn's own time in function a
	"$FATHOM" report -i "$1" --json --sort symbol --pids "$pid" -g none \
		--percent-limit 0 | python3 -c '
import json, sys
rows = {r["symbol"]: r["children"] for r in json.load(sys.stdin)["rows"]}
a, b = (sum(v for k, v in rows.items() if k.endswith(n)) for n in ("] a", "] b"))
print(f"# a {100 * a / (a + b):.2f} %")
sys.exit(not 68 <= 100 * a / (a + b) <= 72)'
}
for file in machine pid threads; do
	ok "70 and 30 percent: $file" share "$file.data"
done
done_testing
