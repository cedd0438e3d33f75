#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# fathom trace against what is known to happen, and what it leaves over.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
trace() { run "$FATHOM" trace "$@"; }

# --- probes --------------------------------------------------------------------------------------
trace -c '/bin/sleep 0.05' -e 't:syscalls:sys_enter_clock_nanosleep /pid == cpid/ { @[comm] = count(); }'
expect_status 0
expect_out '@[sleep]: 1'

trace -c '/bin/true' -e 't:sched:sched_process_exec /pid == cpid/ { printf("%s %s\n", comm, str(args.filename)); }'
expect_out 'true /bin/true'

trace -c '/bin/true' -e 'rt:sched_process_exec /pid == cpid/ { printf("%s\n", str(args.bprm->filename)); }'
expect_out '/bin/true'

trace -c '/bin/true' -e 't:syscalls:sys_enter_* /pid == cpid/ { @[probe] = count(); }'
expect_out '@[tracepoint:syscalls:sys_enter_execve]: 1'

trace -c '/bin/true' -e 't:syscalls:sys_exit_* /pid == cpid/ { @[probe] = count(); }'
expect_out '@[tracepoint:syscalls:sys_exit_openat]:'

# Maps that END clears stay empty: programs that were running are waited for.
left=0
while :; do :; done &
busy=$!
for _ in 1 2 3 4 5; do
	trace -e 'rawtracepoint:sys_enter,profile:hz:999,t:sched:* { @[cpu, nsecs] = count(); }
		interval:ms:100 { exit(); } END { clear(@); }'
	[ -z "$out" ] || left=$((left + 1))
done
kill "$busy"
is 'maps that END clears stay empty' "$left" 0

trace -e 'iter:task { @[ctx->task->pid] = 1; } END { printf("%d\n", len(@) > 1); clear(@); }'
expect_out '1'

trace -c '/bin/true' -e 'software:page-faults:1 /pid == cpid/ { @ = count(); }'
expect_out '@: '

trace -e 'profile:us:1 { @ = count(); } software:task-clock: { @b = count(); } interval:ms:300 { exit(); }'
expect_status 0
expect_err_like "WARNING: 'profile:us:1' is sampled at [1-9][0-9]*,[0-9]{3} Hz and not at 1,000,000 Hz" 'timers leave time for others'
expect_err_like "WARNING: 'software:task-clock' is sampled at" 'each of them'
expect_out_like '^@: [1-9][0-9]+' 'and count'
trace -e 'profile:hz:199 { @[kstack(3)] = count(); } interval:ms:300 { exit(); }'
expect_status 0
expect_out '@['

trace -e 'interval:ms:10 { @n++; if (@n == 5) { exit(); } }'
expect_out '@n: 5'

# --- user probes ---------------------------------------------------------------------------------
if command -v gcc >/dev/null; then
	cat >"$TMP/prog.c" <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		static const char text[] = "some text";
		__attribute__((noinline)) long twice(long n, const char *s) { asm volatile("" ::: "memory"); return n * 2 + !s; }
		__attribute__((noinline)) long thrice(long n) { asm volatile("" ::: "memory"); return n * 3; }
		int main(void) { long sum = 0; for (long i = 1; i <= 10; i++) sum += twice(i, text) + thrice(i); usleep(100000); return sum == 275 ? 0 : 1; }
	END
	gcc -O1 -o "$TMP/prog" "$TMP/prog.c"
	trace -c "$TMP/prog" -e "uprobe:$TMP/prog:twice { @sum = sum(arg0); @text[str(arg1)] = count(); } uretprobe:$TMP/prog:twice { @ret = sum(retval); }"
	expect_status 0
	expect_out '@sum: 55'
	expect_out '@ret: 110'
	expect_out '@text[some text]: 10'
	trace -c "$TMP/prog" -e "uprobe:$TMP/prog:t*ice { @[func] = count(); }"
	expect_out '@[twice]: 10'
	expect_out '@[thrice]: 10'
	trace -c "$TMP/prog" -e "uprobe:$TMP/prog:main { printf(\"%s\n\", ustack(1)); }"
	expect_out 'main+0'
	trace -e "uprobe:$TMP/prog:nothing { }"
	expect_status 1
	expect_err ':nothing.'
else
	skip 'no gcc for the user program' 8
fi

# --- honesty -------------------------------------------------------------------------------------
trace -e 'config = { max_map_keys = 2; } BEGIN { @[1] = 1; @[2] = 1; @[3] = 1; @[4] = 1; }'
expect_err '2 updates lost because a map was full'
# New keys where the kernel may not allocate: memory is set aside for maps of a declared size.
trace -e 'let @ = hash(100); t:sched:sched_[sw]* { @[probe] = count(); } interval:ms:200 { exit(); }'
expect_out '@[tracepoint:sched:sched_switch]: '
unlike 'no key is lost for lack of memory' "$err" 'updates lost'
trace -e 'BEGIN { $p = (uint64 *)8; printf("%d\n", *$p); }'
expect_err '1 reads of user memory failed'
# All keys are there, or those that the kernel had no memory for are counted.
trace -e 'config = { max_map_keys = 200000; } BEGIN { for ($i : 0..20000) { @[$i] = count(); } } END { printf("%d\n", len(@)); clear(@); }'
lost=$(sed -n 's/.*: \([0-9]*\) updates lost because the kernel had no memory.*/\1/p' "$err_file")
is 'keys of a large map, and those that are said to be lost' "$((out + ${lost:-0}))" 20000

# Two CPUs add to one value: nothing is lost.
cat >"$TMP/hammer.c" <<-'END'
	#include <unistd.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	int main(void) { for (int p = 0; p < 2; p++) if (!fork()) { for (int i = 0; i < 50000; i++) syscall(SYS_getpgid, 0); _exit(0); } while (wait(0) > 0); return 0; }
END
if command -v gcc >/dev/null && gcc -o "$TMP/hammer" "$TMP/hammer.c"; then
	trace -c "$TMP/hammer" -e 't:syscalls:sys_enter_getpgid /comm == "hammer"/ { @n++; @c = count(); @k[1]++; }'
	expect_out '@n: 100000'
	expect_out '@c: 100000'
	expect_out '@k[1]: 100000'
else
	skip 'no gcc for the two hammers' 3
fi

# --- bad input -----------------------------------------------------------------------------------
trace -e 'BEGIN { printf("%d\n", "a"); $x = nope; foo(); @x = 1; @x = "s"; }'
expect_status 1
expect_err "expects a value of type integer (string supplied)"
expect_err "Unknown identifier: 'nope'"
expect_err "Unknown function: 'foo'"
expect_err 'Type mismatch for @x'
trace -e 't:sched:sched_swich { }'
expect_err 'No matches for tracepoint sched:sched_swich.'
expect_err "did you mean 'sched:sched_switch'?"
trace -e 't:schd:sched_switch { }'
expect_err "did you mean 'sched:sched_switch'?"
trace -e 'tracpoint:a:b { }'
expect_err "did you mean 'tracepoint'?"
trace -e 'BEGN { }'
expect_err "did you mean 'BEGIN'?"
trace -e 'u:libc:mallok { }'
expect_err "did you mean 'malloc'?"
trace -e 'BEGIN { $abc = 1; print($abcd); @abc = 1; print(@abd); }'
expect_err "did you mean '\$abc'?"
expect_err "did you mean '@abc'?"
trace -e 'BEGIN { $z = 7; printf("%d %d %d\n", $z / 0, 5 % 0, $z << 64); }'
expect_status 0
expect_out '0 5 0'
expect_err 'division by zero: the result is 0'
expect_err 'division by zero: the left side is the result'
expect_err 'numbers have 64 bits'
trace -e 't:sched:sched_switch { @ = args.prev_pidd; @ = args.nothing; }'
expect_err "did you mean 'prev_pid'?"
expect_err 'available fields are'
# Probes that are not there, or of a kind that the kernel does not have.
trace -e 'config = { missing_probes = ignore } uprobe:libc:no_such_function { } uprobe:/no/such/file:f { }
	usdt:libc:no:probe { } t:no:tracepoint { } rt:no_such_tracepoint { } fentry:no_such_function { }
	kprobe:no_such_function { } h:cycles:1000000000 { } BEGIN { printf("begins\n"); exit(); }'
expect_status 0
expect_out 'begins'
expect_no_err
trace -e 'config = { missing_probes = warn } rt:no_such_tracepoint { } uprobe:libc:no_such_function { } BEGIN { exit(); }'
expect_status 0
expect_err 'WARNING: No matches for rawtracepoint no_such_tracepoint. Skipping.'
expect_err ':no_such_function. Skipping.'
expect_err 'Probe has no valid attach points. It is being removed'
trace -f json -e 'BEGIN { @x = *(uint64 *)8; }'
expect_out '{"type": "loss", "data": {"count": 1, "what": "reads of user memory failed'
trace -c /bin/true -e 'software:page-faults: { @a = count(); } uprobe:libc.so.6:_exit { @b = count(); } name=begin { }'
expect_status 0
expect_out '@b: 1'
trace -e 'BEGIN { while (1) { @x++; } }'
expect_status 1
expect_err 'this loop never ends'
trace -e 'BEGIN { $i = 0; while ($i < 100000000) { $i++; } printf("%d rounds\n", $i); }'
expect_status 0
expect_out '8388608 rounds'
expect_err '1 loops cut at their limit of 8388608 rounds'
trace -e 'BEGIN { $n = 0; for ($i : 0..30) { $j = 0; while ($j < 40) { for ($k : 0..$j) { if ($k == 20) { break; } $n++; } $j++; } } printf("%d\n", $n); }'
expect_out '17700'
trace -e 'BEGIN { for ($a : 0..30) { for ($b : 0..30) { for ($c : 0..30) { for ($d : 0..30) { for ($e : 0..30) { for ($f : 0..30) { for ($g : 0..30) { for ($h : 0..30) { @++; } } } } } } } } }'
expect_status 1
expect_err 'loops are nested too deep'
trace -e 'BEGIN { system("true"); }'
expect_err '--unsafe'
trace "$TMP/no-such-file.bt"
expect_status 1
trace
expect_status 2
printf 'BEGIN { printf("from stdin\\n"); exit(); }' | "$FATHOM" trace - >"$TMP/stdin.out"
is 'a program from standard input' "$(cat "$TMP/stdin.out")" 'from stdin'
head -c 5000000 /dev/zero | tr '\0' '(' >"$TMP/deep.bt"
trace "$TMP/deep.bt"
expect_status 1
head -c 100000 /dev/urandom >"$TMP/noise.bt"
trace "$TMP/noise.bt"
expect_status 1

# --- the end -------------------------------------------------------------------------------------
start=$(date +%s%N)
trace -e 't:syscalls:sys_enter_* { @ = count(); } interval:ms:50 { exit(); }'
took=$((($(date +%s%N) - start) / 1000000))
ok "360 tracepoints are gone in no time ($took ms)" [ "$took" -lt 1000 ]
trace -f json -e 'BEGIN { @x[1] = 2; exit(); }'
is 'JSON lines' "$out" '{"type": "map", "data": {"@x": {"1": 2}}}'
trace -f folded -e 'BEGIN { @[kstack] = count(); exit(); }'
expect_out_like '^entry_SYSCALL_64.*;.*__sys_bpf.* 1$'
trace -l 't:sched:sched_sw*'
expect_out 'tracepoint:sched:sched_switch'
trace -lv 't:sched:sched_switch'
expect_out 'prev_comm'
# Programs that a process of this build still holds; others on the machine may trace, too.
left() {
	local pid n=0
	for pid in $(bpftool prog list 2>/dev/null | grep -A4 ' name fathom ' | grep -o 'pids .*' | grep -o '([0-9]*)' | tr -d '()'); do
		[ "$(readlink "/proc/$pid/exe")" != "$(realpath "$FATHOM")" ] || n=$((n + 1))
	done
	[ "$n" = 0 ]
}
if command -v bpftool >/dev/null; then
	for _ in $(seq 100); do left && break || sleep 0.2; done
	ok 'no program is left' left
else
	skip 'no bpftool'
fi
done_testing
