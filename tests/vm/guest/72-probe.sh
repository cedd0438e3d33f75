# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2016,SC2154
#
# Named probes on functions of the kernel: values that are known, recordings, and what stays behind.
. /tests/lib.sh
need_cmd fathom
tracing=/sys/kernel/tracing
[ -e $tracing/available_tracers ] || mount -t tracefs nodev $tracing
[ -e $tracing/kprobe_events ] || plan_skip 'no kprobes'

run fathom probe 'vfs_read count=%dx'
expect_status 0 'a function with a register'
expect_out 'probe:vfs_read'
run fathom probe 'vfs_read%return $retval:s64'
expect_status 0 'its return with the value'
run fathom probe 'entry=vfs_read+0 %di'
expect_status 0 'an event with a name of its own'
run fathom probe --list
expect_out 'probe:vfs_read__return'
expect_out 'probe:entry'

run fathom record -q -e probe:vfs_read -e probe:vfs_read__return -o p.data -- \
	dd if=/dev/zero of=/dev/null bs=1234 count=40
expect_status 0 'they can be recorded'
run fathom script -i p.data
n=$(grep -c 'probe:vfs_read: .*count=0x4d2' "$out_file")
is '40 reads of 1,234 bytes' "$n" 40
n=$(grep -c 'probe:vfs_read__return: .*retval=1234' "$out_file")
is '... and 40 of them return that' "$n" 40
run fathom record -q -e probe:vfs_read --filter 'count == 1234' -o f.data -- \
	dd if=/dev/zero of=/dev/null bs=1234 count=40
run fathom script -i f.data
is 'a filter on a value' "$(grep -c probe:vfs_read: "$out_file")" 40

run fathom probe no_such_function_here
ok 'a function that does not exist is refused' [ "$status" -ne 0 ]
run fathom probe vfs_reed
ok 'and so is one that is mistyped' [ "$status" -ne 0 ]
run fathom probe 'vfs_read nothing'
ok 'a variable without debug information, too' [ "$status" -ne 0 ]
like '... with the reason' "$(cat "$err_file")" 'debug information'

# probes outlive who made them, also one that is killed
fathom record -q -e probe:vfs_read -a -o k.data >/dev/null 2>&1 &
pid=$!
sleep 2
kill -9 $pid
wait $pid 2>/dev/null
run fathom probe --list
expect_out 'probe:vfs_read'
run fathom probe --del '*'
expect_status 0 'all are deleted'
is 'nothing stays in tracefs' "$(cat $tracing/kprobe_events)" ''
run fathom probe --list
like 'and that is what --list says' "$out" 'no probes|nothing'
done_testing
