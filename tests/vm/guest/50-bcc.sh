# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154,SC2016
#
# bcc's one-line tools on kernel functions, and whole user stacks from the tracing language.
. /tests/lib.sh
need_cmd fathom
need_workload burn

# Something that opens and reads all the time.
while :; do read -r _ </proc/version; done &
busy=$!

run fathom funccount -d 4 'vfs_re*'
expect_status 0
like "funccount: kernel functions" "$out" '^vfs_read +[0-9]+'
run fathom funccount -r -d 4 '^vfs_(read|write)$'
expect_status 0
like "funccount: by a regular expression" "$out" '^vfs_read +[0-9]+'
run fathom funclatency -d 4 vfs_read
expect_status 0
like "funclatency: a histogram" "$out" ' -> [0-9]+ +: [1-9][0-9]* +\|\*'
like "funclatency: the average" "$out" 'avg = [0-9]+ nsecs, total: [0-9]+ nsecs, count: [0-9]+'
run fathom funclatency -u -F -d 4 'vfs_re*'
expect_status 0
like "funclatency: for each function" "$out" 'Function = vfs_read'
run fathom stackcount -K -D 4 vfs_read
expect_status 0
like "stackcount: up to the system call" "$out" 'ksys_read|__x64_sys_read'
run fathom argdist -n 1 -i 4 -H 'p::vfs_read(struct file *file, char *buf, size_t count):size_t:count' \
	-C 'r::vfs_read(struct file *file, char *buf, size_t count):int,size_t:$retval > 0,$entry(count):$latency > 0'
expect_status 0
like "argdist: sizes" "$out" ' -> [0-9]+ +: [1-9][0-9]* +\|\*'
like "argdist: results and arguments" "$out" '\$retval > 0 = 1, \$entry\(count\) = [0-9]+'
run fathom trace -M 2 'p::do_sys_openat2 "%s", arg2@user'
expect_status 0
like "trace: names of files" "$out" 'do_sys_openat2 +/'
run fathom trace -M 2 'r::vfs_read (retval > 0) "%d", retval'
expect_status 0
like "trace: results" "$out" 'vfs_read +[0-9]+$'
kill "$busy"

# Arguments of system calls are in the registers that the wrapper's argument points to.
dd if=/dev/zero of=/dev/null bs=4321 count=100000000 2>/dev/null &
busy=$!
run fathom trace -M 2 '__x64_sys_read (arg3 > 3000) "read %d bytes", arg3'
expect_status 0
like "trace: arguments of a system call" "$out" '__x64_sys_read +read 4321 bytes'
run fathom trace -M 2 'sys_read(int fd, char *buf, size_t count) (count > 3000) "%d bytes", count'
expect_status 0
like "trace: the old spelling, by a signature" "$out" 'sys_read +4321 bytes'
run fathom argdist -n 1 -i 4 -C 'p::sys_read(int fd, char *buf, size_t count):size_t:count'
expect_status 0
like "argdist: arguments of a system call" "$out" 'count = 4321'
kill "$busy"

run fathom trace -f folded -c "$workloads/burn --seconds 2 a=70 b=30" \
	-e 'profile:hz:99 /pid == cpid/ { @[ustack] = count(); }'
expect_status 0
like "ustack: down to the function" "$out" 'main;work;(a|b)'
like "ustack: by the unwinder" "$out$err" '_start'
not_ok "ustack: not by frame pointers" grep -q 'frame pointers' "$err_file"
done_testing
