#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# User stacks in the tracing language: complete without frame pointers, named when their process is
# gone, whatever kind of probe takes them.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux
export XDG_CACHE_HOME="$TMP/cache"

cat >"$TMP/deep.c" <<-'END'
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static volatile int sink;
	__attribute__((noinline)) int inner(int n) { sink += n; return (int)syscall(SYS_getppid) > 0; }
	__attribute__((noinline)) int middle(int n) { return inner(n + 1) + sink; }
	__attribute__((noinline)) int outer(int n) { return middle(n * 2) - sink; }
	int main(int argc, char **argv)
	{
		char c;

		if (argc > 1 && read(0, &c, 1) < 0)
			return 1;
		for (int i = 0; i < 50; i++)
			outer(i);
		return argc > 5;
	}
END
gcc -O2 -fomit-frame-pointer -o "$TMP/deep" "$TMP/deep.c"
gcc -O2 -fomit-frame-pointer -static -no-pie -o "$TMP/static" "$TMP/deep.c"
gcc -O2 -fomit-frame-pointer -static-pie -o "$TMP/pie" "$TMP/deep.c" 2>/dev/null || cp "$TMP/static" "$TMP/pie"
mkfifo "$TMP/go"

# Runs PROGRAM under SCRIPT once everything is attached, and lets it end before anything is printed.
traced() {
	local script=$1 program=$2 it tool
	: >"$out_file"
	"$program" wait <"$TMP/go" &
	it=$!
	exec 7>"$TMP/go"
	"$FATHOM" trace -e "$script begin { printf(\"ready\n\"); }" >"$out_file" 2>"$err_file" 7>&- &
	tool=$!
	for _ in $(seq 300); do
		grep -q ready "$out_file" && break
		kill -0 "$tool" 2>/dev/null || break
		sleep 0.1
	done
	exec 7>&-
	wait "$it"
	kill -INT "$tool" 2>/dev/null
	wait "$tool"
	status=$?
	out=$(cat "$out_file") err=$(cat "$err_file") test_last="trace '$script' on ${program##*/}"
}

whole='inner\+[0-9]+
    middle\+[0-9]+
    outer\+[0-9]+
    main\+[0-9]+
    __libc_start_call_main\+[0-9]+
    __libc_start_main[^+]*\+[0-9]+
    _start\+[0-9]+'
for program in deep static pie; do
	traced "uprobe:$TMP/$program:inner { @[ustack] = count(); }" "$TMP/$program"
	expect_status 0
	expect_out_like "$whole
\]: 50" "$program: from a uprobe to _start"
done
unlike 'nothing was cut' "$err" 'cut'
traced 't:syscalls:sys_enter_getppid /comm == "deep"/ { @[ustack] = count(); }' "$TMP/deep"
expect_out_like "syscall\+[0-9]+
    $whole
\]: 50" 'from a system call'
traced "uretprobe:$TMP/deep:middle { @[ustack(2)] = count(); }" "$TMP/deep"
expect_out_like 'outer\+[0-9]+
    main\+[0-9]+
\]: 50' 'from a return, two frames'
traced "uprobe:$TMP/deep:inner { @ = count(); if (arg0 == 11) { printf(\"%s\n\", ustack); } }" "$TMP/deep"
expect_out_like 'inner\+0
 +middle' 'in printf'
traced "uprobe:$TMP/deep:inner { for (\$i : 0..100) { @[\$i, ustack(3)] = count(); } }" "$TMP/deep"
is 'in a loop' "$(grep -c ']: 50' <<<"$out")" 100
traced "uprobe:$TMP/deep:inner { @[usym(reg(\"ip\"))] = count(); }" "$TMP/deep"
expect_out '@[inner]: 50' 'a name after the end of the process'
traced "config = { cfi_stacks = false; } uprobe:$TMP/deep:inner { @[ustack] = count(); }" "$TMP/deep"
expect_status 0
unlike 'by frame pointers there is no way to main' "$out" 'main'

# With few descriptors there is no room for the unwinder's maps.
run bash -c "ulimit -n $((22 + $(getconf _NPROCESSORS_CONF))); \"\$0\" trace -c '$TMP/deep' -e 'uprobe:$TMP/deep:inner { @[ustack(1)] = count(); }'" "$FATHOM"
expect_status 0
expect_out_like 'inner\+0' 'without the unwinder there are stacks all the same'
expect_err 'user stacks were taken by frame pointers'

run "$FATHOM" trace -f folded -c "$TMP/deep" -e "uprobe:$TMP/deep:inner { @[ustack] = count(); }"
expect_out_like '_start;__libc_start_main[^;]*;(__libc_start_call_main|0x[0-9a-f]+);main;outer;middle;inner [0-9]+' folded

# Stacks that differ in depth, or in nothing but who called, of a program that is over in no time:
# each is whole and counted as often as it was.
cat >"$TMP/many.c" <<'END'
#include <sys/syscall.h>
#include <unistd.h>
#define OWN __attribute__((noipa))
OWN long leaf(long n) { return syscall(SYS_getppid) + n; }
OWN long down(long n) { return n ? down(n - 1) + 1 : leaf(n) + 2; }
OWN long even(long n) { return leaf(n) + 3; }
OWN long odd(long n) { return leaf(n) + 5; }
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 2000; i++)
		sum += down(i % 100) + (i % 2 ? odd(i) : even(i));
	return sum == 1;
}
END
gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$TMP/many" "$TMP/many.c"
run "$FATHOM" trace -f folded -c "$TMP/many" \
	-e 't:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); @short[ustack(3)] = count(); }'
expect_status 0
expect_no_err 'none was cut'
whole=$(grep '^_start;' <<<"$out")
is 'all stacks, whole' "$(wc -l <<<"$whole")" 102
is 'by depth' "$(grep -c ';main;down.*;down;leaf;syscall 20$' <<<"$whole")" 99
is 'the shallowest' "$(grep -c ';main;down;leaf;syscall 20$' <<<"$whole")" 1
is 'by caller' "$(grep -cE ';main;(odd|even);leaf;syscall 1000$' <<<"$whole")" 2
is 'cut short by will' "$(grep -E '^(down|odd|even);leaf;syscall ' <<<"$out" | sort | tr '\n' ' ')" \
	'down;leaf;syscall 2000 even;leaf;syscall 1000 odd;leaf;syscall 1000 '

# One in so many recognised stacks is walked again: what is counted is the same, and each was right.
for every in 1 2 7 1024; do
	run env FATHOM_CHECK_STACKS=$every "$FATHOM" trace -f folded -c "$TMP/many" \
		-e 't:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }'
	is "one in $every checked: by caller" \
		"$(grep -oE ';(odd|even);leaf;syscall [0-9]+$' <<<"$out" | sort | tr '\n' ' ')" \
		';even;leaf;syscall 1000 ;odd;leaf;syscall 1000 '
	is "one in $every checked: by depth" "$(grep -c 'down;leaf;syscall 20$' <<<"$out")" 100
	run env FATHOM_CHECK_STACKS=$every "$FATHOM" trace -f json -c "$TMP/many" \
		-e 't:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }'
	like "one in $every checked: none was another" "$(grep '"type": "stacks"' <<<"$out")" \
		'"recognised": [1-9][0-9]{2,}, "checked": [1-9][0-9]*, "misrecognised": 0'
done
run "$FATHOM" trace -f json -c "$TMP/many" \
	-e 'config = { walk_always = true } t:syscalls:sys_enter_getppid /pid == cpid/ { @[ustack] = count(); }'
expect_status 0
unlike 'walk_always recognises none' "$out" '"type": "stacks"'

# Equal code of processes at different addresses is one stack; where addresses are requested, it is not.
run "$FATHOM" trace -f json -c "sh -c '$TMP/many; $TMP/many; $TMP/many'" \
	-e 't:syscalls:sys_enter_getppid /comm == "many"/ { @[ustack(3)] = count(); @at[ustack(raw, 3)] = count(); }'
# the first stacks may be cut: the table of the file is made meanwhile
is 'one stack for all processes' "$(grep '"@"' <<<"$out" | grep -oE 'even\+[0-9]+\\n": [0-9]+' | wc -l)" 1
ok 'addresses are those of each process' [ "$(grep '"@at"' <<<"$out" | grep -oE ': 1000' | wc -l)" -ge 2 ]

# Each writes, waits, and writes again: by then the tables of files that were never seen are there.
echo text >"$TMP/file"
for program in perl python3 git; do
	command -v "$program" >/dev/null || { skip "no $program" && continue; }
	case $program in
	perl) command='perl -e "$| = 1; print qq(1\n); sleep 2; print qq(2\n)"' ;;
	python3) command='python3 -c "import time; print(1, flush=True); time.sleep(2); print(2, flush=True)"' ;;
	git)
		command="sh -c 'exec git hash-object --stdin-paths <$TMP/paths'"
		mkfifo "$TMP/paths"
		(echo "$TMP/file" && sleep 2 && echo "$TMP/file") >"$TMP/paths" &
		;;
	esac
	run "$FATHOM" trace -f folded -c "$command" \
		-e 'uprobe:libc:write { printf("\n"); @[comm, ustack] = count(); }'
	like "$program: from write to the beginning" "$(grep "^$program" <<<"$out")" \
		"^$program;[^;]+;__libc_start_main[^;]*;(__libc_start_call_main|0x[0-9a-f]+);[^;]+;"
done
done_testing
