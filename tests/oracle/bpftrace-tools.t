#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The tools that come with Debian's bpftrace: each compiles, loads and attaches here, unless it needs
# what this kernel does not have; some of them also show
# what happens.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd bpftrace
need_file /sys/kernel/btf/vmlinux

# What a tool of bpftrace 0.17 takes for granted and newer systems do not have.
declare -A outdated=(
	[loads]='Failed to resolve kernel symbol: avenrun'
	[runqlen]="does not contain a field named 'nr_running'"
	[biosnoop]='does not contain a field named'
	[dcsnoop]='no probe matches'
)
n=0
for tool in /usr/sbin/*.bt; do
	name=$(basename "$tool" .bt)
	n=$((n + 1))
	run "$FATHOM" trace --dry-run "$tool"
	if [ "$status" = 3 ] && grep -q 'this kernel has no kprobes' <<<"$err"; then
		skip "$name: this kernel has no kprobes"
	elif [ "$status" != 0 ] && [ -n "${outdated[$name]:-}" ] && grep -qF "${outdated[$name]}" <<<"$err"; then
		skip "$name: ${outdated[$name]}"
	else
		is "$name attaches" "$status" 0
	fi
done
ok 'there are tools' [ "$n" -ge 30 ]

# shows TOOL COMMAND PATTERN: what a tool prints while the command runs.
shows() {
	run "$FATHOM" trace -c "bash -c '$2; sleep 0.3'" "/usr/sbin/$1.bt"
	expect_status 0
	like "$1 shows it" "$out" "$3"
}
# cat copies to a file by copy_file_range(), which moves its place without regard to other writers
shows opensnoop 'cat /etc/hostname >/dev/null' '^[0-9]+ +cat +[0-9]+ +0 /etc/hostname$'
shows execsnoop '/bin/echo one two' '^[0-9]+ +[0-9]+ +/bin/echo one two$'
shows killsnoop 'kill -0 $$' 'bash +0 +[0-9]+ +0$'
shows syncsnoop sync 'sync +tracepoint:syscalls:sys_enter_sync$'
shows gethostlatency 'exec getent hosts localhost' 'getent +[0-9]+ +localhost$'
shows runqlat true '^@usecs: $'
shows cpuwalk 'for ((i = 0; i < 300000; i++)); do :; done' '^@cpu: $'
shows syscount true '^@process\[.*\]: [0-9]+$'
done_testing
