#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Probes in the form of bcc's trace, on a program that is known.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux

cat >"$TMP/greeter.c" <<-'END'
	#include <stdio.h>
	#include <unistd.h>
	struct box { int a; long b; };
	__attribute__((noinline)) long greet(const char *who, int n, struct box *box)
	{
		usleep(1000);
		return n < 0 ? -1 : box->b + who[0];
	}
	int main(void)
	{
		struct box box = { 1, 1000 };

		greet("anna", 5, &box);
		greet("bert", -7, &box);
		greet("carla", 30000, &box);
		return 0;
	}
END
gcc -O1 -o "$TMP/greeter" "$TMP/greeter.c"
g=$TMP/greeter

run "$FATHOM" trace -c "$g" "p:$g:greet \"%s says %d\", arg1, arg2"
expect_status 0
expect_out_like '^PID     TID     COMM            FUNC             -$'
expect_out_like '^[0-9]+ +[0-9]+ +greeter         greet            anna says 5$'
expect_out_like 'greet            bert says -7$'
run "$FATHOM" trace -c "$g" "$g:greet"
is 'three lines without a message' "$(grep -c '^[0-9]* *[0-9]* *greeter  *greet *$' <<<"$out")" 3
run "$FATHOM" trace -c "$g" "$g:greet(const char *who, int n) (n > 20000) \"%-8s|%5d|%x\", who, n, n"
is 'a predicate lets one pass' "$(grep -c greeter <<<"$out")" 1
expect_out_like 'carla   \|30000\|7530$'
run "$FATHOM" trace -c "$g" "$g:greet (STRCMP(\"bert\", arg1)) \"%d\", arg2"
expect_out_like 'greet            -7$'
is 'texts are compared' "$(grep -c greeter <<<"$out")" 1
run "$FATHOM" trace -c "$g" "r:$g:greet (retval == -1) \"%ld 100%%\", retval"
expect_out_like 'greet            -1 100%$'
run "$FATHOM" trace -c "$g" "$g:gre* \"%U %U\", arg1, arg3"
expect_out_like ' greet            0x[0-9a-f]+ 0x[0-9a-f]+$'
run "$FATHOM" trace -M 2 -c "$g" "$g:greet"
is 'no more than two' "$(grep -c greeter <<<"$out")" 2
run "$FATHOM" trace -t -C -U -c "$g" "$g:greet \"%s\", arg1"
expect_out_like '^TIME     CPU PID     TID     COMM            FUNC             -$'
expect_out_like '^[0-9]+\.[0-9]{6} [0-9]+ +[0-9]+ +[0-9]+ +greeter +greet +anna$'
expect_out_like '^ +greet\+0
 +main\+[0-9]+
 +__libc_start_call_main' 'with the stack of the program'
run "$FATHOM" trace -T -n nobody -c "$g" "$g:greet"
expect_out_like '^TIME     PID'
unlike 'nobody is of that name' "$out" greeter
run "$FATHOM" trace -n reet -c "$g" "$g:greet"
is 'part of a name' "$(grep -c greeter <<<"$out")" 3
run "$FATHOM" trace -p $$ -M 1 't:syscalls:sys_enter_*' --source
expect_out "tracepoint:syscalls:sys_enter_* /pid == $$/ {"
run "$FATHOM" trace --uid 12345 -L 9 --source 'p::do_sys_open "%s %d", arg2@user, $uid'
expect_out 'kprobe:do_sys_open /tid == 9 && uid == 12345/ {'
expect_out 'str(uptr(arg1)), (int32)(uid)'
run "$FATHOM" trace --source -Z 12 'u:pthread:libpthread:pthread_create (arg4 != 0)'
expect_out 'usdt:pthread:libpthread:pthread_create'
expect_out '(arg3 != 0)/'
expect_out 'max_strlen = 12'
run "$FATHOM" trace -K -M 1 't:sched:sched_switch "%s %d", args->prev_comm, args->prev_pid'
expect_status 0
expect_out_like 'sched_switch     .+ [0-9]+$'
expect_out_like '^ +__?schedule\+'

for bad in 'c:malloc "%d"' 'c:malloc "%y", arg1' 'c:malloc "%d", arg1, arg2' 'c:malloc (arg1' 'c:malloc "abc' \
	'c:malloc abc' 'xx::malloc' 'c:malloc(size_t' 'c:malloc "%'; do
	run "$FATHOM" trace "$bad"
	expect_status 2
done
run "$FATHOM" trace "$TMP/no-such-file.bt"
expect_err 'no such file'
done_testing
