#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Many machines and containers do not mount tracefs. Every command that needs it uses a mount that
# is attached to no directory. The test runs itself in a mount namespace without tracefs.
. "$(dirname "$0")/../lib/test.sh"
need_root

if [ -z "${WITHOUT_TRACEFS:-}" ]; then
	unshare -m true 2> /dev/null || plan_skip 'no mount namespaces'
	WITHOUT_TRACEFS=1 exec unshare -m "$0"
fi
umount -l /sys/kernel/debug/tracing /sys/kernel/debug 2> /dev/null
umount -l /sys/kernel/tracing 2> /dev/null
[ ! -e /sys/kernel/tracing/events ] || plan_skip 'tracefs cannot be unmounted'
"$FATHOM" doctor --json 2> /dev/null | grep -q 'fathom can use one of its own' ||
	plan_skip 'this kernel has no detached mounts (Linux 5.2)'
cd "$TMP" || exit 1

run "$FATHOM" list 'sched:*'
expect_status 0
expect_out_like '^sched:sched_switch +tracepoint'
run "$FATHOM" list -v sched_switch
expect_out 'sched:sched_switch.prev_comm' 'list -v shows the fields of a tracepoint'
run "$FATHOM" perf list 'sched:*'
expect_out_like '^  sched:sched_switch +\[Tracepoint event\]$'
run "$FATHOM" stat -e sched:sched_process_exec -- sh -c true
expect_status 0
expect_err_like '[1-9] +sched:sched_process_exec' 'stat counts a tracepoint'
run "$FATHOM" record -q -e sched:sched_process_exec -o exec.data -- sh -c 'ls; ls'
expect_status 0 'record samples a tracepoint'
run "$FATHOM" script -i exec.data
expect_out_like 'sched:sched_process_exec: filename=' 'script has the formats'
run "$FATHOM" ftrace -e sched:sched_process_exec -- sh -c 'ls; ls'
expect_status 0
expect_out_like 'sched_process_exec: filename=.*ls' 'ftrace shows events'
run "$FATHOM" trace -q -e 'tracepoint:sched:sched_process_exec { print(str(args.filename)); exit() }' -c /bin/true
expect_status 0
expect_out_like '/.*true' 'a program reads the fields of a tracepoint'
run "$FATHOM" funccount -d 300ms t:sched:sched_switch
expect_out 'sched:sched_switch' 'funccount counts a tracepoint'
run "$FATHOM" strace -o calls.txt -- cat /no/such/place
like 'strace names the arguments' "$(cat calls.txt)" 'openat\(AT_FDCWD, "/no/such/place", O_RDONLY'
run "$FATHOM" probe --list
expect_status 0

done_testing
