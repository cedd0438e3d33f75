# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Waiting, on a stock kernel: the engine loads, and says what the workloads know.
. /tests/lib.sh
need_cmd fathom
# within VALUE LOW HIGH
within() { [ "$1" -gt "$2" ] && [ "$1" -lt "$3" ]; }
need_workload block

run fathom offcpu --folded -- "$workloads/block" pipe --count 10
expect_status 0
like "offcpu: the read path up to the thread's start" "$out" \
	'^reader;[^;]+;[^;]+;blocker_main;wait_for_data;.*pipe_read;.*schedule'
us=$(printf '%s\n' "$out" | grep '^reader;.*wait_for_data' | awk '{ n += $NF } END { print n + 0 }')
ok "offcpu: 10 x 50 ms are blocked, within a third ($us us)" \
	within "$us" 330000 700000

# of all that runs: waits are measured by the clocks of the run queues, where these agree
"$workloads/block" pipe --count 400 >/dev/null &
block=$!
run fathom offcpu -d 2s --folded
kill "$block"
expect_status 0
us=$(printf '%s\n' "$out" | grep '^reader;.*wait_for_data' | awk '{ n += $NF } END { print n + 0 }')
ok "offcpu -d: most of the time it is waited for ($us us)" within "$us" 700000 2500000

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
run fathom offwake --json -- "$workloads/early"
expect_status 0
fact() { printf '%s\n' "$out" | awk -v key="\"$1\":" '$1 == key { print $2 + 0; exit }'; }
ok "offwake: wakers that come early are seen (all but $(fact waker_not_seen) of $(fact waits))" \
	[ "$(fact waker_not_seen)" -le $(($(fact waits) / 50 + 2)) ]
run fathom offcpu --runqueue --folded -- "$workloads/hog" --seconds 2
expect_status 0
like "offcpu --runqueue: the victim waits for the CPU, not for a lock" "$out" '^victim;.*victim_main;'
run fathom explain -- "$workloads/hog" --seconds 2
expect_status 0
expect_out 'hog'
expect_out 'Who had the CPU in that time'

run fathom threads -d 1s
expect_status 0
run fathom explain -- "$workloads/chain" --count 5
expect_status 0
expect_out 'chain-b'
# Each kind of wait is recognised; TCG is slow, so that it is asked about blocked time alone, and
# only most of that has to be of the kind.
kind_share() { printf '%s\n' "$out" | awk -v pid="$1" -v key="\"$2_percent\":" '
	/"pid":/ { mine = $2 + 0 == pid }
	!mine || !/_percent":/ || /"(user|kernel|runnable)_/ { next }
	{ all += $2 }
	$1 == key { kind = $2 }
	END { print all ? int(100 * kind / all) : 0 }'; }
for kind in network lock pipe sleep poll epoll child vfork; do
	name=$kind
	[ $kind = epoll ] && name=poll
	[ $kind = lock ] && name=futex
	[ $kind = vfork ] && name=child
	run fathom threads --json -- "$workloads/kinds" $kind
	pid=$(printf '%s\n' "$out" | sed -n 's/^pid=//p')
	share=$(kind_share "$pid" $name)
	ok "threads: $kind is a wait for $name ($share %)" [ "${share:-0}" -gt 60 ]
done
run fathom offcpu --period 5ms --folded -- "$workloads/block" sleep --count 20
us=$(printf '%s\n' "$out" | grep 'take_a_nap' | awk '{ n += $NF } END { print n + 0 }')
waited=$(printf '%s\n' "$out" | awk -F= '$1 == "waited" { print int($2 * 1000000) }')
ok "offcpu --period: its time is what was waited, within a third ($us of $waited us)" \
	within "$us" $((waited * 2 / 3)) $((waited * 4 / 3))
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
