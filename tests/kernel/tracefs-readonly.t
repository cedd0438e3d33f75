#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Containers mount tracefs for reading only. What changes it says so with a remedy; what only reads
# it works. The test runs itself in a mount namespace where tracefs is read-only.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/tracing/events

if [ -z "${READ_ONLY_TRACEFS:-}" ]; then
	unshare -m true 2> /dev/null || plan_skip 'no mount namespaces'
	READ_ONLY_TRACEFS=1 exec unshare -m "$0"
fi
mount -o remount,bind,ro /sys/kernel/tracing 2> /dev/null
umount -l /sys/kernel/debug 2> /dev/null
mkdir /sys/kernel/tracing/instances/fathom-test 2> /dev/null && {
	rmdir /sys/kernel/tracing/instances/fathom-test
	plan_skip 'tracefs cannot be made read-only'
}
cd "$TMP" || exit 1

run "$FATHOM" ftrace -e sched:sched_switch -d 100ms
expect_status 1
expect_err 'read-only file system'
expect_err 'hint: run as root; tracefs must not be read-only'
if [ -e /sys/kernel/tracing/uprobe_events ]; then
	run "$FATHOM" probe -x "$WORKLOADS/burn" --add main
	expect_status 1
	expect_err 'read-only file system'
	expect_err 'hint: run as root; tracefs must not be read-only'
else
	skip 'this kernel has no uprobes'
fi
run "$FATHOM" probe --list
expect_status 0
run "$FATHOM" strace -e openat -o calls.txt -- cat /no/such/place
like 'strace reads the formats' "$(cat calls.txt)" 'openat\(AT_FDCWD, "/no/such/place", O_RDONLY'
run "$FATHOM" record -q -e sched:sched_process_exec -o exec.data -- sh -c 'ls; ls'
expect_status 0 'record samples a tracepoint'
run "$FATHOM" script -i exec.data
expect_out_like 'sched:sched_process_exec: filename='

done_testing
