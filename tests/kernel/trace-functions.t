#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016
# Functions that need a program, a process or a file to look at; and what the kernel refuses.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
trace() { run "$FATHOM" trace "$@"; }

if command -v gcc >/dev/null; then
	cat >"$TMP/prog.c" <<-'END'
		#include <unistd.h>
		int counter = 77;
		long big = 5000000000;
		__attribute__((noinline)) int work(int n) { asm volatile("" ::: "memory"); return n + counter; }
		int main(void) { int r = work(3); usleep(1000); return r == 80 ? 0 : 1; }
	END
	gcc -O1 -o "$TMP/prog" "$TMP/prog.c"
	trace -c "$TMP/prog" -e "uprobe:$TMP/prog:work { printf(\"%d %d\n\", *uaddr(\"counter\"), *uaddr(\"big\")); }"
	expect_status 0
	expect_out '77 5000000000'
	trace -e "uprobe:$TMP/prog:work { print(uaddr(\"no_such_symbol\")); }"
	expect_status 1
	expect_err 'Could not resolve symbol'
	# Writing to user memory is forbidden where the kernel is locked down: a refusal by the verifier.
	trace --unsafe -c "$TMP/prog" -e "BEGIN { printf(\"one line before\n\"); }
		uprobe:$TMP/prog:work {
			write_user(uaddr(\"counter\"), 5);
		}"
	if [ "$status" = 0 ]; then
		skip 'this kernel lets programs write user memory' 4
	elif grep -q 'verifier refuses' "$err_file"; then
		expect_err 'stdin:3:'
		expect_err 'bpf_probe_write_user'
		expect_err 'write_user(uaddr("counter"), 5)'
		expect_err_like '^	*~+$'
	else
		is 'what was written was seen by the program' "$status" 1
	fi
	trace -e "uprobe:$TMP/prog:work { write_user(uaddr(\"counter\"), 5); }"
	expect_err 'unsafe function'
else
	skip 'no gcc for the program' 9
fi

trace -e 'iter:task_file { @[path(ctx->file->f_path)] = count(); }'
expect_status 0
expect_out '@[/dev/null]: '
trace -e 'BEGIN { print(path(curtask)); }'
expect_status 1
expect_err 'path() can only be used with iter'
trace -e 'BEGIN { override(5); }' --unsafe
expect_err 'override() can only be used with kprobes'

"$WORKLOADS/burn" --seconds 20 a=100 >/dev/null 2>&1 &
burner=$!
trace -e 'profile:hz:199 /pid == '"$burner"'/ { @[usermode] = count(); } interval:ms:700 { exit(); }'
kill "$burner"
wait "$burner" 2>/dev/null
expect_status 0
expect_out '@[1]: '
trace -e 'BEGIN { print(usermode); }'
expect_err 'can not be used'
trace -e 'BEGIN { print(cgroupid("/no/such/place")); }'
expect_err 'Failed to retrieve cgroup id'
trace -e 'BEGIN { print(percpu_kaddr("no_such_variable")); }'
expect_err 'no per-CPU variable'
trace -e 'BEGIN { print(kfunc_exist("no_such_function")); print(default_str_length()); }'
is 'known when compiled' "$out" '0
256'
done_testing
