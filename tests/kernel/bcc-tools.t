#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# bcc's one-line tools, on a program that calls a known number of times.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux

cat >"$TMP/calls.c" <<-'END'
	#include <unistd.h>
	__attribute__((noinline)) void nap(void) { usleep(2000); }
	__attribute__((noinline)) void other(void) { usleep(100); }
	__attribute__((noinline)) int deep(int n)
	{
		volatile int r;

		usleep(20000);
		r = n ? deep(n - 1) : 0;
		return r + 1;
	}
	int main(void)
	{
		char c;

		if (read(0, &c, 1) < 0)
			return 1;
		for (int i = 0; i < 100; i++)
			nap();
		other();
		return deep(4) != 5;
	}
END
gcc -O1 -o "$TMP/calls" "$TMP/calls.c"
mkfifo "$TMP/go"

# The program runs once the tool says that it traces; the tool is stopped when the program has ended.
# Leaves what run leaves.
traced() {
	local calls tool
	: >"$err_file"
	"$TMP/calls" <"$TMP/go" &
	calls=$!
	exec 7>"$TMP/go"
	"$FATHOM" "$@" >"$out_file" 2>"$err_file" 7>&- &
	tool=$!
	for _ in $(seq 300); do
		grep -q '^Tracing' "$err_file" && break
		kill -0 "$tool" 2>/dev/null || break
		sleep 0.1
	done
	exec 7>&-
	wait "$calls"
	kill -INT "$tool" 2>/dev/null
	wait "$tool"
	status=$?
	out=$(cat "$out_file") err=$(cat "$err_file") test_last="fathom $*"
}

traced funccount "$TMP/calls:na*"
expect_status 0
expect_out_like '^FUNC +COUNT$'
expect_out_like '^nap +100$'
expect_err 'Tracing 1 function for'
traced funccount -r "$TMP/calls:nap|oth.r"
expect_out_like '^nap +100$'
expect_out_like '^other +1$'
traced funccount --json -r "$TMP/calls:na"
expect_out_like '"func": "nap",'
expect_out_like '"count": 100'
traced funccount -c 999 "$TMP/calls:nap"
unlike 'no hit on a CPU that does not exist' "$out" 'nap'

traced funclatency -u "$TMP/calls:nap"
expect_status 0
expect_out_like '^     usecs               : count     distribution$'
expect_out_like '^      2048 -> 4095       : [0-9]+ +\|\*'
expect_out_like '^avg = [0-9]+ usecs, total: [0-9]+ usecs, count: 100$'
# Recursion: five calls of which the innermost takes 20 ms and the outermost at least five times
# that: with starts mixed up they would all look alike.
traced funclatency -m "$TMP/calls:deep"
expect_out_like 'count: 5$'
expect_out_like '^        (64 -> 127 |128 -> 255) +: [1-9]'
expect_out_like '^        16 -> 31         : [1-9]'
traced funclatency -F "$TMP/calls:*"
expect_out_like '^Function = nap$'
expect_out_like '^Function = deep$'

traced stackcount -U "$TMP/calls:deep"
expect_status 0
is 'a stack for each depth' "$(grep -c '^    1$' <<<"$out")" 5
expect_out_like '^  deep$'
traced stackcount -f -P -U "$TMP/calls:nap"
expect_out_like '^calls;([^;]+;)*nap 100$'
traced stackcount -U -s -v -P "$TMP/calls:other"
expect_out_like '^  [0-9a-f]+ +other\+0$'
expect_out_like '^    calls \[[0-9]+\]$'

run "$FATHOM" stackcount -K -d 1s t:sched:sched_switch
expect_status 0
expect_out_like '^  schedule$'
unlike 'our own frames are left out' "$(awk '!last { print } { last = $0 }' <<<"$out")" 'bpf_prog_'

"$FATHOM" stackcount -D 1 t:sched:sched_switch 2>"$err_file" | true
is 'a reader that leaves is no error' "${PIPESTATUS[0]}/$(grep -c 'cannot write' "$err_file")" 0/0

run "$FATHOM" funccount --source -p 1 c:malloc
expect_out 'uprobe:libc:malloc { @[func] = count(); }'
run "$FATHOM" funccount --source -p 1 t:sched:sched_switch
expect_out 'tracepoint:sched:sched_switch /pid == 1/ { @[probe] = count(); }'
run "$FATHOM" funccount 't:sched:sched_sw*' 1 2
expect_status 0
is 'two rounds' "$(grep -c FUNC <<<"$out")" 2
run "$FATHOM" funccount -i 200ms -d 1s 't:sched:sched_sw*'
is 'five rounds' "$(grep -c FUNC <<<"$out")" 5
run "$FATHOM" funccount xx:y:z
expect_status 2
expect_err 'is not a probe'
run "$FATHOM" funccount -r 'c:mem('
expect_status 2
expect_err 'is not a regular expression'
run "$FATHOM" funccount c:no_such_function
expect_status 1
expect_err ':no_such_function.'
run "$FATHOM" funclatency t:sched:sched_switch
expect_status 2
expect_err 'is not a function'

# Errors name the pattern, and show nothing of the program that was made from it.
names_pattern() {
	local pattern=$1
	shift
	run timeout 20 "$FATHOM" "$@"
	expect_err "'$pattern'"
	ok "$1 '$pattern': no line of the program" [ "${err/[\{\}~]/}" = "$err" ]
}
names_pattern 'c:nonesuch*' funccount 'c:nonesuch*'
names_pattern 't:nonesuch:*' funccount 't:nonesuch:*'
names_pattern 'c:nonesuch' funccount c:nonesuch
names_pattern 'c:nonesuch' funclatency c:nonesuch
names_pattern 'c:nonesuch*' stackcount 'c:nonesuch*'
names_pattern 'c:nonesuch "%d", arg1' trace 'c:nonesuch "%d", arg1'
names_pattern 'p:c:malloc(size_t n):size_t:nonesuch' argdist -C 'p:c:malloc(size_t n):size_t:nonesuch'
done_testing
