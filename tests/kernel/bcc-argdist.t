#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# argdist, on a program whose arguments and results are known.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux

cat >"$TMP/values.c" <<-'END'
	#include <unistd.h>
	struct box { int a; long b; };
	__attribute__((noinline)) int half(int n, const char *who, struct box *box)
	{
		usleep(1000);
		return n / 2 + (who[0] == 'z') + (int)(box->b & 0);
	}
	int main(void)
	{
		struct box box = { 1, 2 };
		char c;

		if (read(0, &c, 1) < 0)
			return 1;
		for (int i = 0; i < 30; i++)
			half(i % 3 ? 10 : -4, i % 5 ? "anna" : "bert", &box);
		return 0;
	}
END
gcc -O1 -o "$TMP/values" "$TMP/values.c"
mkfifo "$TMP/go"

# Starts the tool, lets the program run once it is attached (the first round has been shown), and
# collects what all rounds together say.
traced() {
	local values tool
	: >"$out_file"
	"$TMP/values" <"$TMP/go" &
	values=$!
	exec 7>"$TMP/go"
	"$FATHOM" argdist -c -i 100ms "$@" >"$out_file" 2>"$err_file" 7>&- &
	tool=$!
	for _ in $(seq 300); do
		[ -s "$out_file" ] && break
		kill -0 "$tool" 2>/dev/null || break
		sleep 0.1
	done
	exec 7>&-
	wait "$values"
	kill -INT "$tool" 2>/dev/null
	wait "$tool"
	status=$?
	out=$(tac "$out_file" | sed '/^\[/q' | tac) err=$(cat "$err_file") test_last="argdist $*"
}

f="$TMP/values:half(int n, const char *who, struct box *box)"
traced -C "p:$f:int:n"
expect_status 0
like 'counts by value' "$out" '	10         n = -4'
like 'counts by value' "$out" '	20         n = 10'
traced -C "p:$f:char*,int:who,n:n > 0#who halves"
like 'the label is the title' "$out" '^who halves$'
like 'two values and a filter' "$out" '	16         who = anna, n = 10'
traced -C "p:$f:int:n:STRCMP(\"bert\", who)" -T 1
like 'texts are compared, and only the top is shown' "$out" '	4          n = 10'
unlike 'the rest is not' "$out" 'n = -4'
traced -C "r:$f"
like 'results by default' "$out" '	20         retval = 5'
like 'results by default' "$out" '	10         retval = -2'
traced -C "p:$TMP/values:half()"
like 'calls by default' "$out" '	30         total calls'
traced -C "r:$f:int,int:\$entry(n),\$retval:\$latency > 500000"
like 'what the entry had' "$out" '	20         \$entry\(n\) = 10, \$retval = 5'
traced -H "p:$f:int:n"
like 'a histogram' "$out" '         8 -> 15         : 20       \|\*{40}\|'
like 'negative numbers are counted' "$out" '^       < 0 +: 10       \|\*{20} {20}\|$'
traced -H "r:$f:u64:\$latency/1000#usecs in half"
like 'a histogram of times' "$out" '^     usecs in half +: count     distribution$'

run "$FATHOM" argdist --source -z 20 -p 7 -C 'p::vfs_read(struct file *f, char *to, size_t n):u64:f->f_pos:n > 5' \
	-C 't:sched:sched_switch():int:args->prev_prio' -C 'u:/bin/x:tick():u64:arg2'
expect_status 0
expect_out 'max_strlen = 20'
expect_out 'kprobe:vfs_read /pid == 7/ {'
expect_out '@d0[(uint64)(((struct file *)(arg0))->f_pos)] = count();'
expect_out 'tracepoint:sched:sched_switch /pid == 7/ {'
expect_out '@d2[(uint64)(arg1)] = count();'
run "$FATHOM" argdist -n 2 -i 300ms -C 't:sched:sched_switch():int:args->prev_prio'
expect_status 0
is 'two rounds' "$(grep -c '^\[' <<<"$out")" 2
expect_out_like '^	[0-9]+ +args->prev_prio = [0-9]+$'
run "$FATHOM" argdist --json -n 1 -i 500ms -H 't:sched:sched_switch():int:args->prev_prio'
expect_out '"histogram":'

for bad in 'x' 'p:c:malloc' 'p:c:malloc(' 'q:c:malloc()' 'p:c:malloc(size_t n):u64' 'p:c:malloc(size_t n):u64:n,n' \
	'r:c:malloc(size_t n):u64:$entry(m)' 'p:c:malloc(size_t n):u64:$latency' 'p:c:malloc(size_t n)x'; do
	run "$FATHOM" argdist -C "$bad"
	expect_status 2
done
run "$FATHOM" argdist -H 'p:c:malloc()'
expect_status 2
expect_err 'a histogram needs an expression'
run "$FATHOM" argdist
expect_status 2
done_testing
