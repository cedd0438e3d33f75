# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Power states of CPUs, which machines without them cannot show: these guests are mostly idle.
. /tests/lib.sh
need_cmd fathom
tracing=/sys/kernel/tracing
[ -e $tracing/available_tracers ] || mount -t tracefs nodev $tracing
[ -e $tracing/events/power/cpu_idle ] || plan_skip 'no power:cpu_idle'

run fathom timechart -P -d 2s --csv --table power
expect_status 0 'two seconds of an idle machine'
like 'states of idle CPUs' "$out" '^[0-9]+,idle,[0-9]+,[0-9]+,[0-9]+'
idle=$(awk -F, '$2 == "idle" { n += $4 } END { print int(n / 1e6) }' "$out_file")
diag "$idle ms idle"
ok 'for a part of the time, and no more' [ "$idle" -gt 100 -a "$idle" -le 10000 ]
run fathom timechart -d 1s -o chart.svg
expect_status 0 'a picture of tasks and states'
ok 'it has CPUs' grep -q 'CPU 0' chart.svg
run fathom perf timechart record -o chart.data -- busybox sleep 1
expect_status 0 'a recording'
run fathom timechart -P -i chart.data --csv --table power
like 'states of idle CPUs in a recording' "$out" '^[0-9]+,idle,'
done_testing
