#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# The tools that come with bpftrace 0.27, unmodified: each compiles, loads and attaches here, unless
# it needs what this kernel does not have; some of them also show what happens.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
reference=$("$TOP/scripts/reference" bpftrace 2>"$TMP/why") || plan_skip "no reference: $(cat "$TMP/why")"

# What a tool needs and this system does not have.
declare -A missing=(
	[loads]='Failed to resolve kernel symbol: avenrun'
)
n=0
for tool in "$reference"/usr/sbin/*.bt; do
	name=$(basename "$tool" .bt)
	n=$((n + 1))
	run "$FATHOM" bpftrace --dry-run "$tool"
	if [ "$status" != 0 ] && grep -qE 'this kernel has no kprobes|kernel has no such function|No matches for kprobe' <<<"$err"; then
		skip "$name: this kernel has no such kernel functions to probe"
	elif [ "$status" != 0 ] && [ -n "${missing[$name]:-}" ] && grep -qF "${missing[$name]}" <<<"$err"; then
		skip "$name: ${missing[$name]}"
	else
		is "$name attaches" "$status" 0
		[ "$status" = 0 ] || diag "$err"
	fi
done
ok 'there are tools' [ "$n" -ge 39 ]

# shows TOOL COMMAND PATTERN: what a tool prints while the command runs.
shows() {
	run "$FATHOM" bpftrace -c "bash -c '$2; sleep 0.3'" "$reference/usr/sbin/$1.bt"
	expect_status 0
	like "$1 shows it" "$out" "$3"
}
# cat copies to a file by copy_file_range(), which moves its place without regard to other writers
shows opensnoop 'cat /etc/hostname >/dev/null' '^[0-9]+ +cat +[0-9]+ +0 /etc/hostname$'
shows execsnoop '/bin/echo one two' '/bin/echo one two'
shows killsnoop 'kill -0 $$' 'bash +(N/A|0) +[0-9]+ +0$'
shows syncsnoop sync 'sync +tracepoint:syscalls:sys_enter_sync$'
shows gethostlatency 'exec getent hosts localhost' 'getent +[0-9]+ +localhost$'
shows runqlat true '^@usecs:$'
shows cpuwalk 'for ((i = 0; i < 300000; i++)); do :; done' '^@cpu:$'
shows syscount true '^@process\[.*\]: [0-9]+$'
done_testing
