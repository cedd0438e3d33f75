# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# System calls on older kernels.
. /tests/lib.sh

run fathom strace -o /tmp/calls.txt -- busybox cat /proc/self/stat
expect_status 0
like 'a call with its arguments' "$(cat /tmp/calls.txt)" 'open(at)?\(.*"/proc/self/stat", O_RDONLY'
like 'the end' "$(cat /tmp/calls.txt)" 'exit_group\(0\) += \?'
run fathom strace -c -e trace=file -- busybox cat /nonexistent
like 'sums' "$(cat "$err_file" "$out_file")" 'CALL'
run fathom strace --filter 'ret < 0 && dur < 10s && fd != 77' -o /tmp/failed.txt -- busybox cat /nonexistent
is 'a condition on results' "$(grep -vc ' = -1 E' /tmp/failed.txt)" 0
run fathom strace -F all -e none -- busybox true
expect_status 0
like 'page faults' "$(cat "$err_file" "$out_file")" 'm[ai][jn]fault \[.* => '
run fathom strace -c -d 1s
expect_status 0
done_testing
