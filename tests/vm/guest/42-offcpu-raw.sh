# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Waiting by raw tracepoints: as on a kernel without BTF, or on one. FATHOM_BTF may name a file.
. /tests/lib.sh
need_cmd fathom
# within VALUE LOW HIGH
within() { [ "$1" -gt "$2" ] && [ "$1" -lt "$3" ]; }
need_workload block
types=/sys/kernel/btf/vmlinux
[ -e "$types" ] || types=/tests/data/vmlinux.btf
[ -e "$types" ] || plan_skip "no description of the kernel's types"
export FATHOM_NO_BTF=1 FATHOM_BTF="$types"

run fathom offcpu --folded -- "$workloads/block" pipe --count 10
expect_status 0 "offcpu"
like "offcpu: the read path up to the thread's start" "$out" \
	'^reader;[^;]+;[^;]+;blocker_main;wait_for_data;.*pipe_read;.*schedule'
us=$(printf '%s\n' "$out" | grep '^reader;.*wait_for_data' | awk '{ n += $NF } END { print n + 0 }')
waited=$(printf '%s\n' "$out" | awk -F= '$1 == "waited" { print int($2 * 1000000) }')
ok "offcpu: it was blocked as long as it says, within a third ($us of $waited us)" \
	within "$us" $((waited * 2 / 3)) $((waited * 4 / 3))
run fathom offwake --folded -- "$workloads/block" pipe --count 10
expect_status 0 "offwake"
like "offwake: the writer ended it" "$out" '^reader;.*wait_for_data;.*;--;.*write_late;.*;writer '
like "offwake: a timer is named as such" "$out" '^writer;.*nanosleep.*;--;.*;\[timer\] '
run fathom chain --folded -- "$workloads/chain" --count 10
expect_status 0 "chain"
like "chain: a - b - c - timer" "$out" \
	'^chain-a;.*;b_wakes_a;.*;chain-b;--;.*;c_wakes_b;.*;chain-c;--;.*\[timer\] '
run fathom explain -- "$workloads/hog" --seconds 2
expect_status 0 "explain"
expect_out 'Who had the CPU in that time'
run fathom threads -d 1s
expect_status 0 "threads"
expect_out 'kthreadd' "threads: who sleeps since the start is reported"
run fathom wakeup --folded -- "$workloads/block" pipe --count 5
expect_status 0 "wakeup"
like "wakeup: the waker's stack with the woken on top" "$out" '^writer;.*;write_late;.*;reader [0-9]'
run fathom record --off-cpu --wakers -o /tmp/raw.data -- "$workloads/block" pipe --count 5
expect_status 0 "record --off-cpu"
run fathom offwake -i /tmp/raw.data --folded
like "recorded: the writer ended it" "$out" '^reader;.*wait_for_data;.*;--;.*write_late;.*;writer '
run fathom record -F 199 -o /tmp/cpu.data -- "$workloads/burn" --seconds 1 a=70 b=30
expect_status 0 "record"
like "stacks are unwound in the kernel" "$(cat "$err_file")" 'unwound in the kernel'
for what in runqlat cpudist runqlen; do
	run fathom $what -d 1s
	expect_status 0 "$what"
done
done_testing
