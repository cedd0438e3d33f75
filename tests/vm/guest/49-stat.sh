# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Counting and the topology on older kernels.
. /tests/lib.sh

run fathom stat -x, -e task-clock,context-switches,syscalls:sys_enter_exit_group true
expect_status 0
like 'software events count' "$(cat "$err_file")" ',msec,task-clock,[0-9]+,100.00,'
like 'tracepoints count' "$(cat "$err_file")" '^1,,syscalls:sys_enter_exit_group,'
run fathom stat -e '{task-clock,page-faults}' -r 3 -x, true
expect_status 0
like 'groups count' "$(cat "$err_file")" '^[0-9]+,,page-faults,[0-9.]+%,'
run fathom stat -a -A -e context-switches -x, --timeout 200
like 'each CPU counts' "$out" '^CPU1,[0-9]+,,context-switches,'
mkdir -p /sys/fs/cgroup/stat-test
run fathom stat --for-each-cgroup stat-test -e task-clock -x, --timeout 100
like 'a control group without tasks counts nothing' "$out" 'msec,task-clock,stat-test,'
rmdir /sys/fs/cgroup/stat-test
run fathom stat --why -- sleep 0.3
expect_status 0
like 'the rest of the time is slept' "$(cat "$err_file")" 'sleeping on a timer'
run fathom topology
expect_status 0
like 'both CPUs are in the tree' "$out" '2 CPUs'
run fathom topology --boxes
like 'boxes' "$out" 'CPU 1'
done_testing
