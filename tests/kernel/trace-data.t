#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# Data that programs used to show wrongly.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux
trace() { run "$FATHOM" bpftrace -q "$@"; }

cat >"$TMP/prog.c" <<'END'
#include <unistd.h>
struct box { char name[8]; int n; };
struct box the_box = { "abcdefgh", 5 };
__attribute__((noinline)) int inner(int n, const char *s, struct box *b) { __asm__(""); return n + b->n + s[0]; }
__attribute__((noinline)) int middle(int n) { int r = inner(n, "hello world", &the_box); __asm__(""); return r; }
__attribute__((noinline)) int outer(int n) { int r = middle(n); __asm__(""); return r; }
int main(void) { int s = 0; for (int i = 0; i < 3; i++) s += outer(i); return s == -1; }
END
gcc -O1 -g -fno-omit-frame-pointer -o "$TMP/prog" "$TMP/prog.c" || plan_skip 'gcc does not work'
cd "$TMP" || exit 1

trace -e 'begin { printf("%d %u %x %ld\n", 0x1ffffffff, 0x1ffffffff, 0x1ffffffff, 0x1ffffffff); }'
is 'numbers without a length have 32 bits' "$(head -n 1 <<<"$out")" '-1 4294967295 ffffffff 8589934591'

trace -e 'begin { @p = (uint64 *)4096; @p += 2; $a = @p; print($a); @p++; $b = @p; print($b); clear(@p); }'
is 'pointers in maps count elements' "$(head -n 2 <<<"$out")" '0x1010
0x1018'

trace -e 'begin { $r = (a=1, b=2); $r = (b=5, a=6); print(($r.a, $r.b)); @r = (a=1, b=2); @r = (b=7, a=8); print(@r.a); clear(@r); }'
is 'records are matched by name' "$(head -n 2 <<<"$out")" '(6, 5)
8'

run "$FATHOM" trace -e 'begin { @a = avg(-5); @a = avg(-10); print((int64)@a); @s = stats(-4); @s = stats(-6); print((int64)@s); clear(@a); clear(@s); }'
is 'averages of negative values' "$(head -n 2 <<<"$out")" '-7
-5'

trace -c ./prog -e 'uprobe:./prog:inner { printf("%s|\n", args.b.name); exit(); }'
is 'a full array keeps its last byte' "$(grep '|' <<<"$out")" 'abcdefgh..|'

# From the first event on, also of a program named by a path that is not whole.
whole=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
	trace -c ./prog -e 'uprobe:./prog:inner { @[ustack] = count(); }'
	[ "$(grep -cE '^ +(inner|middle|outer|main)\+' <<<"$out")" -ge 4 ] &&
		! grep -qE '^ +inner\+[0-9]+$' <(sed -n '/inner+/{n;/^\]/p}' <<<"$out") && whole=$((whole + 1))
done
is 'stacks of a program that was just started are whole' "$whole" 10
trace -c ./prog -e 'config = { cfi_stacks = false } uprobe:./prog:middle+4 { @[ustack(3)] = count(); }'
ok 'also by frame pointers' grep -qE '^ +main\+' "$out_file"

trace -c ./prog -e 'uprobe:./prog:inner { printf("1"); } uprobe:./prog:inner { printf("2"); } uprobe:./prog:inn* { printf("3"); } END { printf("\n"); }'
is 'probes on one function run in the order of the script' "$(head -n 1 <<<"$out")" 123123123
"$FATHOM" trace -e 'begin { printf("ready\n"); } self:signal:SIGUSR1 { printf("one\n"); } self:signal:SIGUSR1 { printf("two\n"); exit(); }' >"$TMP/signals" &
pid=$!
wait_until grep -q ready "$TMP/signals"
kill -USR1 "$pid"
wait "$pid"
is 'all handlers of a signal run' "$(cat "$TMP/signals")" 'ready
one
two'

trace -c ./prog -e 'uprobe:./prog:inner { print(args); @a = args; exit(); }'
like 'arguments as a value' "$out" '^\{ \.n = 0, \.s = 0x[0-9a-f]+, \.b = 0x[0-9a-f]+ \}$'
long=$(printf '%012000d' 0)
trace -c "/bin/true $long" -e 'config = { max_strlen = 13000 }
	t:syscalls:sys_enter_execve /pid == cpid/ { $s = str(*(args.argv + 1)); print(strlen($s)); }'
is 'strings of more than 8 KB' "$(head -n 1 <<<"$out")" 12000
run "$FATHOM" bpftrace -c "/bin/true $long$long" -e 'config = { max_strlen = 65536 }
	t:syscalls:sys_enter_execve /pid == cpid/ { $s = str(*(args.argv + 1)); print(strlen($s)); }'
like 'the longest there is room for' "$out" '^1[0-9]{4}'
like 'and that is said' "$err" 'strings are cut to 1[0-9]{4} bytes'
trace -c ./prog -e 'uprobe:./prog:inner { print(args); @a = args; exit(); }'
like 'arguments in a map' "$out" '^@a: \{ \.n = [0-9], \.s = 0x[0-9a-f]+, \.b = 0x[0-9a-f]+ \}$'
done_testing
