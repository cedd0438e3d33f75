# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154,SC2016
#
# Kernel functions, in a guest whose kernel has them.
. /tests/lib.sh
need_cmd fathom

# prints TEXT OPTIONS...
prints() {
	wanted=$1
	shift
	run fathom trace "$@"
	expect_status 0
	expect_out "$wanted"
}

prints '@[true, do_exit]: 1' -c '/bin/true' -e 'kprobe:do_exit /pid == cpid/ { @[comm, func] = count(); }'
prints '@: ' -c "/bin/md5sum /proc/version" -e 'kretprobe:vfs_read /pid == cpid && retval > 0/ { @ = count(); }'
prints 'code 0' -c '/bin/true' -e 'fentry:do_exit /pid == cpid/ { printf("code %d\n", args.code); }'
prints '@[true, ' -c "/bin/md5sum /proc/version" -e 'fexit:vfs_read /pid == cpid/ { @[args.count > 0, retval > 0] = count(); }'
prints '@[vfs_read]: ' -c '/bin/true' -e 'kprobe:vfs_* { @[func] = count(); }'
prints 'do_exit+' -c '/bin/true' -e 'kprobe:do_exit /pid == cpid/ { printf("%s", kstack(3)); }'

run fathom trace -c '/bin/true' -e 'fentry:do_exit /pid == cpid/ { @[kstack(1)] = count(); }'
expect_status 0
like "fentry: the stack begins with the function" "$out" 'do_exit\+'
run fathom trace --dry-run -e 'kprobe:tcp_recvmsg { printf("%s %d\n", comm, pid); print(kstack); }'
expect_status 0

prints '/bin/true' -c '/bin/true' -e 't:syscalls:sys_enter_execve /pid == cpid/ { printf("%s\n", str(args.filename)); }'

run fathom trace -c '/bin/true' -e 'profile:hz:99 { @[kstack] = count(); @u[ustack] = count(); }'
expect_status 0

prints '2' -e 'BEGIN { @x[1] = 2; for ($kv : @x) { printf("%d\n", $kv.1); } @c = count(); printf("%d\n", @c); exit(); }'

# Each served by the other, as on kernels that have only one of them.
prints 'kprobe:do_exit code 0' -c '/bin/true' -e 'config = { kernel_probes = fentry } kprobe:do_exit /pid == cpid/ { printf("%s code %d\n", probe, arg0); }'
prints '@: ' -c "/bin/md5sum /proc/version" -e 'config = { kernel_probes = fentry } kretprobe:vfs_read /pid == cpid && retval > 0/ { @ = count(); }'
prints 'code 0' -c '/bin/true' -e 'config = { kernel_probes = kprobe } fentry:do_exit /pid == cpid/ { printf("code %d\n", args.code); }'
prints '@: ' -c "/bin/md5sum /proc/version" -e 'config = { kernel_probes = kprobe } fexit:vfs_read /pid == cpid && retval > 0/ { @ = count(); }'
prints '100000 1' -e 'BEGIN { $i = 0; while ($i < 100000) { $i++; } printf("%d %d\n", $i, strcontains(str_concat(comm, " and a text of some length to search in"), "search")); }'

# Functions of BPF programs: those of a recording that runs meanwhile.
# Each probe ends with its first hit; the times are for guests on busy machines.
fathom record -q -a -F 99 -o /tmp/bpf.data -- sleep 600 &
recording=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	fathom trace -l 'fentry:bpf:*' 2>/dev/null | grep -q profile_sample_0 && break
	sleep 1
done
prints '@entered: ' -c 'sleep 60' -e 'fentry:bpf:profile_sample_0 { @entered = count(); exit(); }'
prints '@event[0, 0]: ' -c 'sleep 60' -e 'fexit:bpf:take /args.event == 0 && retval == 0/ { @event[args.event, retval] = count(); exit(); }'
prints 'profile_sample_0+' -c 'sleep 60' -e 'fentry:bpf:profile_sample_0 { @[kstack(2)] = count(); exit(); }'
kill -INT "$recording"
wait "$recording"

run fathom trace --test -e 'test:one { return 0; } test:two { return 1; }'
expect_status 1
expect_out 'not ok 2 - two'

run fathom trace -e 'kprobe:no_such_function_here { }'
expect_status 1

# Of a list those that exist, whether one program serves them all or each has its own.
run fathom trace -c '/bin/true' -e 'kprobe:no_such_function_here, kprobe:do_exit /pid == cpid/ { @[arg0] = count(); }'
expect_status 0
expect_out '@[0]: 1'
expect_err "WARNING: cannot attach to 'kprobe:no_such_function_here'"

run fathom trace -c '/bin/true' -e 'kprobe:no_such_function_here, kprobe:do_exit /pid == cpid/ { @ = count(); }'
expect_status 0
expect_out '@: 1'
expect_err '1 probes could not be attached and were left out'

run fathom trace -c '/bin/true' -e 'config = { missing_probes = ignore } kprobe:no_such_function_here { } kprobe:do_exit /pid == cpid/ { @ = count(); }'
expect_status 0
expect_out '@: 1'

run fathom trace -c '/bin/true' -e 'kprobe:do_exit /pid == cpid/ { @t[tid] = nsecs; @u = hist(nsecs - @t[tid]); print((code=arg0, busy=true)); if comptime (probetype == "kprobe") { printf("a %s of %s\n", probetype, pcomm(curtask)); } clear(@t); }'
expect_status 0
expect_out '{ .code = 0, .busy = true }'
expect_out 'a kprobe of fathom'
done_testing
