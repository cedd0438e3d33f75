# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Both halves of time in one recording, on a stock kernel.
. /tests/lib.sh
need_cmd fathom
# within VALUE LOW HIGH
within() { [ "$1" -gt "$2" ] && [ "$1" -lt "$3" ]; }
need_workload block
cd /tmp || exit 1

run fathom record --chains -o both.data -- "$workloads/block" pipe --count 10
expect_status 0
run fathom offcpu -i both.data --folded
expect_status 0
like "offcpu -i: the read path up to the thread's start" "$out" \
	'^reader;[^;]+;[^;]+;blocker_main;wait_for_data;.*pipe_read;.*schedule'
us=$(printf '%s\n' "$out" | grep '^reader;.*wait_for_data' | awk '{ n += $NF } END { print n + 0 }')
ok "offcpu -i: 10 x 50 ms are blocked, within a third ($us us)" \
	within "$us" 330000 700000
run fathom offwake -i both.data --folded
like "offwake -i: the writer ended it" "$out" '^reader;.*wait_for_data;.*;--;.*write_late;.*;writer '
run fathom chain -i both.data --folded
like "chain -i: the writer had waited for a timer" "$out" \
	'^reader;.*;writer;--;.*;write_late;.*;--;.*;\[timer\] '
run fathom flame --hotcold -i both.data
expect_status 0
expect_out 'of wall-clock time of 3 threads'
run fathom threads -i both.data
expect_status 0
like "threads -i: the reader waits for its pipe" "$out" ' reader +[0-9.]+ms +pipe +[a-z_]*pipe_read < '
like "threads -i: the writer sleeps" "$out" ' writer +[0-9.]+ms +sleep '
run fathom explain -i both.data
expect_status 0
expect_out '(block): 3 threads'
expect_out 'Page faults: '
run fathom record --off-cpu -d 1s -o all.data
expect_status 0
run fathom report -i all.data --event offcpu-time
expect_status 0
done_testing
