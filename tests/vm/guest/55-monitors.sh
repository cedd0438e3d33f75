# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154
#
# Monitors and counters on this kernel: rows that add up to an exact meter, and a CPU that goes.
. /tests/lib.sh
need_workload burn

for command in 'vmstat' 'counters tcp' 'iostat -x' 'mpstat -P ALL' 'free' 'uptime' 'netstat -s' \
	'iotop 1 1' 'use' 'slabtop' 'irqtop' 'sar -n DEV 1 1'; do
	# shellcheck disable=SC2086 # words
	run fathom $command
	expect_status 0
done
run fathom stat -a -e task-clock,context-switches -x, --timeout 500
expect_status 0

"$workloads/burn" --seconds 30 a=100 >/dev/null &
burn=$!
sleep 1
run fathom pidstat --account 3 1
expect_status 0
expect_out 'from switch to switch'
# "CPU meter 3.01 s (from switch to switch): rows 2.99 s ..."
diag "$(grep -A2 'CPU meter' "$out_file")"
ok 'rows add up to the meter' awk '
	{ text = text " " $0 }
	END {
		if (!match(text, /CPU meter +[0-9.]+/)) exit 1
		meter = substr(text, RSTART + 9, RLENGTH - 9) + 0
		if (!match(text, /rows +[0-9.]+/)) exit 1
		rows = substr(text, RSTART + 4, RLENGTH - 4) + 0
		print "# rows", rows, "meter", meter
		exit !(rows > 0.97 * meter && rows < 1.03 * meter)
	}' "$out_file"
kill "$burn"

if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	(
		sleep 1
		echo 0 >/sys/devices/system/cpu/cpu1/online
	) &
	run fathom mpstat -P ALL 1 3
	expect_status 0
	run fathom pidstat 1 2
	expect_status 0
	run fathom vmstat 1 2
	expect_status 0
	echo 1 >/sys/devices/system/cpu/cpu1/online
fi
done_testing
