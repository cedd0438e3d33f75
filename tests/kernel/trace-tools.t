#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bcc's one-line tools, on a program that calls a known number of times.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux

cat >"$TMP/calls.c" <<-'END'
	#include <unistd.h>
	__attribute__((noinline)) void nap(void) { usleep(2000); }
	int main(void) { usleep(300000); for (int i = 0; i < 100; i++) nap(); return 0; }
END
gcc -O1 -o "$TMP/calls" "$TMP/calls.c"

spawn "$TMP/calls"
run "$FATHOM" funccount -d 1 "$TMP/calls:na*"
expect_status 0
expect_out_like '^FUNC +COUNT$'
expect_out_like '^nap +100$'

spawn "$TMP/calls"
run "$FATHOM" funclatency -u -d 1 "$TMP/calls:nap"
expect_status 0
expect_out_like '^\[2K, 4K\) +[0-9]+ \|@'
expect_out_like 'count 100, average [0-9]+, total [0-9]+ usecs'

run "$FATHOM" stackcount -K -d 1 t:sched:sched_switch
expect_status 0
expect_out_like 'schedule\+'

run "$FATHOM" funccount --source -p 1 c:malloc
expect_out 'uprobe:libc:malloc { @[func] = count(); }'
run "$FATHOM" funccount 't:sched:sched_sw*' 1 2
expect_status 0
is 'two rounds' "$(grep -c FUNC <<<"$out")" 2
run "$FATHOM" funccount x:y:z
expect_status 2
expect_err 'is not a probe'
run "$FATHOM" funccount c:no_such_function
expect_status 1
expect_err "has no function 'no_such_function'"
done_testing
