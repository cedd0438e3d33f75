# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# A CPU that goes offline and online again while something is recorded: the kernel takes its events
# away and does not say so.
. /tests/lib.sh
need_cmd fathom burn taskset
online=/sys/devices/system/cpu/cpu1/online
[ -w "$online" ] || plan_skip 'CPU 1 cannot be taken offline'
need_workload naps
cd /tmp || exit 1

# recording FILE OPTION...: in the background, ready when its file holds something
recording() {
	file=$1
	shift
	fathom record -a -F 99 -o "$file" "$@" 2>"$file.err" &
	pid=$!
	tries=300
	until [ -s "$file" ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	sleep 3
}
away_and_back() {
	echo 0 >"$online"
	sleep 1
	echo 1 >"$online"
	sleep 2
}
finish() {
	kill -INT "$pid"
	wait "$pid"
}
# samples FILE COMM: those on CPU 1
samples() {
	fathom script -i "$1" -F comm,cpu,event 2>/dev/null | grep -c "^ *$2 .*\[001\].*${3:-cpu-clock}"
}

recording off.data
away_and_back
away_and_back
taskset 2 burn --seconds 3 a=100 >/dev/null
finish
like "record: says that a CPU came back" "$(cat off.data.err)" 'CPU 1 came online while recording'
n=$(samples off.data burn)
ok "record: samples on CPU 1, away twice ($n)" [ "$n" -gt 30 ]
run fathom fold off.data
like "record: with names" "$out" ';a [0-9]'
run fathom script -i off.data -F comm,cpu,ip,sym
like "record: unwound up to the start" "$(grep -A 30 '^burn' "$out_file" | head -n 400)" '__libc_start|_start|main'

recording copies.data --call-graph dwarf
away_and_back
taskset 2 burn --seconds 2 a=100 >/dev/null
finish
n=$(samples copies.data burn)
ok "record --call-graph dwarf: samples on CPU 1 ($n)" [ "$n" -gt 25 ]

# waited FOLDED: ms that naps has waited
waited() { awk '/^naps;/ { n += $NF } END { print int(n / 1000) }' "$1"; }
recording waits.data --off-cpu
away_and_back
taskset 2 "$workloads/naps" --us 20000 --count 50 >/dev/null 2>&1
taskset 2 burn --seconds 1 a=100 >/dev/null
finish
fathom offcpu -i waits.data --folded >waits.folded 2>/dev/null
ms=$(waited waits.folded)
ok "record --off-cpu: waits of a program on CPU 1 ($ms ms)" [ "$ms" -ge 900 ]
n=$(samples waits.data burn)
ok "record --off-cpu: samples on CPU 1 ($n)" [ "$n" -gt 25 ]

fathom offcpu -a -d 18 --folded >waits.folded 2>waits.err &
pid=$!
sleep 5
away_and_back
taskset 2 "$workloads/naps" --us 20000 --count 50 >/dev/null 2>&1
wait "$pid"
ms=$(waited waits.folded)
ok "offcpu: waits of a program on CPU 1 ($ms ms)" [ "$ms" -ge 900 ]
done_testing
