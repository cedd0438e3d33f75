#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# Static tracepoints of programs: arguments of every kind, lists, processes that run already, and
# those with a semaphore, which the kernel raises while someone listens.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux
gcc -x c -E - -o /dev/null <<<'#include <sys/sdt.h>' 2>/dev/null || plan_skip 'needs sys/sdt.h (systemtap-sdt-dev)'

trace() { run "$FATHOM" trace "$@"; }

cat >"$TMP/sdt.c" <<'END'
#include <sys/sdt.h>
struct box { short pad; signed char small; unsigned short middle; };
int main(int argc, char **argv)
{
	struct box box = { 1, -5, 65000 };
	long table[4] = { 10, 20, 30, 40 };
	for (int i = 0; i < 5; i++) {
		volatile long at = i % 4;
		DTRACE_PROBE2(fathom, tick, i, argv[0]);
		DTRACE_PROBE4(fathom, kinds, box.small, box.middle, table[at], -7);
		DTRACE_PROBE(fathom, nothing);
	}
	return argc - 1;
}
END
gcc -O1 -o "$TMP/sdt" "$TMP/sdt.c"
trace -c "$TMP/sdt" -e "usdt:$TMP/sdt:fathom:tick { @ = sum(arg0); @n[str(arg1)] = count(); }"
expect_status 0
expect_out '@: 10'
expect_out "@n[$TMP/sdt]: 5"
trace -c "$TMP/sdt" -e "usdt:$TMP/sdt:kinds { @[arg0, arg1, arg2, arg3] = count(); }"
expect_status 0
expect_out '@[-5, 65000, 10, -7]: 2'
expect_out '@[-5, 65000, 40, -7]: 1'
trace -c "$TMP/sdt" -e "usdt:$TMP/sdt:fathom:* { @[probe] = count(); }"
expect_status 0
for name in tick kinds nothing; do
	expect_out "@[usdt:$TMP/sdt:fathom:$name]: 5"
done
# arguments that are not there: bpftrace makes 0 of them
trace -c "$TMP/sdt" -e "usdt:$TMP/sdt:fathom:nothing { @ = arg0; }"
expect_status 1
run "$FATHOM" bpftrace -c "$TMP/sdt" -e "usdt:$TMP/sdt:fathom:nothing { @[arg0, arg11] = count(); }"
expect_out '@[0, 0]: 5'
trace -l "usdt:$TMP/sdt:*"
is 'the list of probes' "$(sort -u <<<"$out")" "$(printf "usdt:$TMP/sdt:fathom:%s\n" kinds nothing tick)"
trace -e "usdt:$TMP/sdt:fathom:absent { }"
expect_status 1
not_ok 'a probe that is not there is named' test -z "$err"

# One probe in several places, each with its argument elsewhere.
cat >"$TMP/places.c" <<'END'
#include <sys/sdt.h>
__attribute__((noinline)) long f(long x, long y) { DTRACE_PROBE1(fathom, hit, x); return x + y; }
__attribute__((noinline)) long g(long x, long y) { DTRACE_PROBE1(fathom, hit, y); return x + y; }
__attribute__((noinline)) long h(void) { DTRACE_PROBE1(fathom, hit, (short)-3); return 0; }
int main(int argc, char **argv)
{
	long sum = 0;
	for (int i = 0; i < 2; i++)
		sum += f(100 + i, 1) + g(1, 200 + i) + h();
	return sum == 5;
}
END
gcc -O1 -o "$TMP/places" "$TMP/places.c"
trace -c "$TMP/places" -e "usdt:$TMP/places:fathom:hit { @[arg0] = count(); }"
is 'arguments of each place' "$(grep '^@' <<<"$out" | sort | tr '\n' ' ')" '@[-3]: 2 @[100]: 1 @[101]: 1 @[200]: 1 @[201]: 1 '

# --- semaphores ----------------------------------------------------------------------------------
cat >"$TMP/guarded.c" <<'END'
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <sys/sdt.h>
#include <unistd.h>
__extension__ unsigned short fathom_guarded_semaphore __attribute__((unused)) __attribute__((section(".probes")));
int main(int argc, char **argv)
{
	unsigned long n = 0, last = ~0ul;
	for (;;) {
		volatile unsigned short *semaphore = &fathom_guarded_semaphore;
		if (*semaphore != last) {
			last = *semaphore;
			printf("semaphore %lu\n", last);
			fflush(stdout);
		}
		if (last)
			DTRACE_PROBE1(fathom, guarded, ++n);
		if (argc > 1 && n == 3)
			return 0;
		usleep(2000);
	}
}
END
gcc -O1 -o "$TMP/guarded" "$TMP/guarded.c"
trace -c "$TMP/guarded once" -e "usdt:$TMP/guarded:fathom:guarded { @ = max(arg0); }"
expect_status 0
expect_out 'semaphore 1' 'a program is started with its semaphore raised'
expect_out '@: 3' 'and so gets to the probe'

spawn "$TMP/guarded" >"$TMP/said"
pid=$spawned
# said TEXT: waits until the last line of the program is that.
said() {
	local i
	for ((i = 0; i < 500; i++)); do
		[ "$(tail -n 1 "$TMP/said")" = "$1" ] && return 0
		sleep 0.02
	done
	return 1
}
ok 'nobody listens yet' said 'semaphore 0'
trace -p "$pid" -e "usdt:$TMP/guarded:fathom:guarded { @n++; if (@n == 3) { exit(); } }"
expect_status 0
expect_out '@n: ' 'a running process: its semaphore is raised'
ok 'and lowered at the end' said 'semaphore 0'
trace -e "usdt:$TMP/guarded:fathom:guarded /pid == $pid/ { @n++; if (@n == 3) { exit(); } }"
expect_status 0
expect_out '@n: ' 'without -p it is raised as well'
ok 'and lowered again' said 'semaphore 0'
trace -p "$pid" -e 'usdt:*:fathom:guarded { @n++; if (@n == 3) { exit(); } }'
expect_status 0
expect_out '@n: ' 'the file may be found by the process'
trace -p "$pid" -e 'usdt:guarded { @n++; if (@n == 3) { exit(); } }'
expect_status 0
expect_out '@n: ' 'a name alone is enough with a process'

# A note of nobody's making: sizes that no argument has.
cat >"$TMP/odd.c" <<'END'
int main(void)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"
			 ".balign 4\n.4byte 8, 992f-991f, 3\n.asciz \"stapsdt\"\n"
			 "991: .8byte 990b, 0, 0\n.asciz \"fathom\"\n.asciz \"odd\"\n"
			 ".asciz \"-9223372036854775808@%rax 4294967304@%rax 8@$7\"\n"
			 "992: .balign 4\n.popsection");
	return 0;
}
END
gcc -o "$TMP/odd" "$TMP/odd.c"
trace -c "$TMP/odd" -e "usdt:$TMP/odd:fathom:odd { @ = arg2; }"
expect_status 0
expect_out '@: 7' 'an argument after those that make no sense'
for n in 0 1; do
	trace -c "$TMP/odd" -e "usdt:$TMP/odd:fathom:odd { @ = arg$n; }"
	expect_status 1
	expect_err "arg$n"
done
done_testing
