# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154,SC2016
#
# Kernel functions, in a guest whose kernel has them.
. /tests/lib.sh
need_cmd fathom

run fathom trace -c '/bin/true' -e 'kprobe:do_exit /pid == cpid/ { @[comm, func] = count(); }'
expect_status 0
expect_out '@[true, do_exit]: 1'

run fathom trace -c "/bin/md5sum /proc/version" -e 'kretprobe:vfs_read /pid == cpid && retval > 0/ { @ = count(); }'
expect_status 0
expect_out '@: '

run fathom trace -c '/bin/true' -e 'fentry:do_exit /pid == cpid/ { printf("code %d\n", args.code); }'
expect_status 0
expect_out 'code 0'

run fathom trace -c "/bin/md5sum /proc/version" -e 'fexit:vfs_read /pid == cpid/ { @[args.count > 0, retval > 0] = count(); }'
expect_status 0
expect_out '@[1, '

run fathom trace -c '/bin/true' -e 'kprobe:vfs_* { @[func] = count(); }'
expect_status 0
expect_out '@[vfs_read]: '

run fathom trace -c '/bin/true' -e 'kprobe:do_exit /pid == cpid/ { printf("%s", kstack(3)); }'
expect_status 0
expect_out 'do_exit+'

run fathom trace --dry-run -e 'kprobe:tcp_recvmsg { printf("%s %d\n", comm, pid); print(kstack); }'
expect_status 0

run fathom trace -c '/bin/true' -e 't:syscalls:sys_enter_execve /pid == cpid/ { printf("%s\n", str(args.filename)); }'
expect_status 0
expect_out '/bin/true'

run fathom trace -c '/bin/true' -e 'profile:hz:99 { @[kstack] = count(); @u[ustack] = count(); }'
expect_status 0

run fathom trace -e 'BEGIN { @x[1] = 2; for ($kv : @x) { printf("%d\n", $kv.1); } @c = count(); printf("%d\n", @c); exit(); }'
expect_status 0
expect_out '2'

# Each served by the other, as on kernels that have only one of them.
run fathom trace -c '/bin/true' -e 'config = { kernel_probes = fentry } kprobe:do_exit /pid == cpid/ { printf("%s code %d\n", probe, arg0); }'
expect_status 0
expect_out 'kprobe:do_exit code 0'

run fathom trace -c "/bin/md5sum /proc/version" -e 'config = { kernel_probes = fentry } kretprobe:vfs_read /pid == cpid && retval > 0/ { @ = count(); }'
expect_status 0
expect_out '@: '

run fathom trace -c '/bin/true' -e 'config = { kernel_probes = kprobe } fentry:do_exit /pid == cpid/ { printf("code %d\n", args.code); }'
expect_status 0
expect_out 'code 0'

run fathom trace -c "/bin/md5sum /proc/version" -e 'config = { kernel_probes = kprobe } fexit:vfs_read /pid == cpid && retval > 0/ { @ = count(); }'
expect_status 0
expect_out '@: '

run fathom trace -e 'BEGIN { $i = 0; while ($i < 100000) { $i++; } printf("%d %d\n", $i, strcontains(str_concat(comm, " and a text of some length to search in"), "search")); }'
expect_status 0
expect_out '100000 1'

run fathom trace --test -e 'test:one { return 0; } test:two { return 1; }'
expect_status 1
expect_out 'not ok 2 - two'

run fathom trace -e 'kprobe:no_such_function_here { }'
expect_status 1
done_testing
