# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# The guest itself is what the other scripts expect.
. /tests/lib.sh

uname -r >/out/release
like 'the kernel is Debian'\''s own cloud kernel' "$(uname -r)" '^6\.(1|12)\..*cloud-amd64$'
is 'both CPUs are there' "$(grep -c '^processor' /proc/cpuinfo)" 2
for dir in /sys/kernel/tracing/events /sys/kernel/debug/tracing /sys/fs/cgroup/cgroup.procs \
	/proc/kallsyms /sys/kernel/btf/vmlinux; do
	ok "$dir exists" test -e "$dir"
done
like 'bpffs is mounted' "$(cat /proc/mounts)" ' /sys/fs/bpf bpf '
like 'the function_graph tracer is there' "$(cat /sys/kernel/tracing/available_tracers)" function_graph
ok 'kprobes are there' test -e /sys/kernel/tracing/kprobe_events
if [ -x /bin/burn ]; then
	run burn --seconds 0.2 a=70 b=30
	expect_out 'share.a=0.' 'the workloads run'
fi
done_testing
