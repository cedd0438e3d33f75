# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Waiting, on a stock kernel: the engine loads, and says what the workloads know.
. /tests/lib.sh
need_cmd fathom
need_workload block

run fathom offcpu --folded -- "$workloads/block" pipe --count 10
expect_status 0
like "offcpu: the read path up to the thread's start" "$out" \
	'^reader;[^;]+;[^;]+;blocker_main;wait_for_data;.*pipe_read;.*schedule'
us=$(printf '%s\n' "$out" | grep '^reader;.*wait_for_data' | awk '{ n += $NF } END { print n + 0 }')
ok "offcpu: 10 x 50 ms are blocked, within a third ($us us)" \
	[ "$us" -gt 330000 ] && [ "$us" -lt 700000 ]

run fathom offwake --folded -- "$workloads/block" pipe --count 10
expect_status 0
like "offwake: the writer ended it" "$out" '^reader;.*wait_for_data;.*;--;.*write_late;.*;writer '
like "offwake: a timer is named as such" "$out" '^writer;.*nanosleep.*;--;.*;\[timer\] '

run fathom chain --folded -- "$workloads/chain" --count 10
expect_status 0
like "chain: a - b - c - timer" "$out" \
	'^chain-a;.*;b_wakes_a;.*;chain-b;--;.*;c_wakes_b;.*;chain-c;--;.*\[timer\] '

run fathom offwake --folded -- "$workloads/block" mutex --count 5
expect_status 0
like "offwake: the holder of the lock ended it" "$out" \
	'^waiter;.*;wait_for_lock;.*;--;.*hold_lock;.*;holder '
run fathom offcpu --runqueue --folded -- "$workloads/hog" --seconds 2
expect_status 0
like "offcpu --runqueue: the victim waits for the CPU, not for a lock" "$out" '^victim;.*victim_main;'
run fathom explain -- "$workloads/hog" --seconds 2
expect_status 0
expect_out 'hog'

run fathom threads -d 1s
expect_status 0
run fathom explain -- "$workloads/chain" --count 5
expect_status 0
expect_out 'chain-b'
run fathom runqlat -d 1s
expect_status 0
run fathom cpudist -d 1s
expect_status 0
run fathom runqlen -d 1s
expect_status 0
run fathom sched latency -d 1s
expect_status 0
run fathom sched timehist -d 1s
expect_status 0
expect_out 'run time'
done_testing
