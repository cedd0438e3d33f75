#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The command line of fathom bpftrace: options, listings, what is said about wrong ones.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
bt() { run "$FATHOM" bpftrace "$@"; }

# --- wrong options -------------------------------------------------------------------------------
bt -i
expect_status 1
expect_err 'USAGE:'
bt --no-such-option
expect_status 1
expect_err 'USAGE:'
bt --help
expect_out 'USAGE:'
bt
expect_status 1
expect_err "USAGE: filename or -e 'program' required."
bt no-such-file.bt
expect_status 1
expect_err "ERROR: failed to open file 'no-such-file.bt': No such file or directory"
bt -p 11a -e 'begin { }'
expect_status 1
expect_err 'Failed to parse pid: invalid trailing bytes: 11a'
bt -p 5000000 -e 'begin { }'
expect_err 'Pid out of range: 5000000'
bt -p 1 -c true -e 'begin { }'
expect_status 1
expect_err 'Cannot use both -c and -p.'
bt -B some -e 'begin { }'
expect_err "-B must be either 'line', 'full', or 'none'."
bt -f yaml -e 'begin { }'
expect_err 'Invalid output format "yaml"'
bt -d nothing -e 'begin { }'
expect_err 'invalid option for -d: nothing'
bt --no-feature nothing -e 'begin { }'
expect_err '--no-feature can only have values'
bt -kk -e 'begin { }'
expect_err '-kk has been deprecated'
bt -c ./no-such-program -e 'begin { }'
expect_status 1
expect_err "Failed to fork child: Path './no-such-program' does not exist or is not executable"
bt -o /no/such/dir/x -e 'begin { }'
expect_err 'Failed to open output file: "/no/such/dir/x": No such file or directory'
bt -c '' -e 'begin { print(7); }'
expect_status 0
expect_out 7

# --- named parameters ----------------------------------------------------------------------------
bt -e 'begin { }' -- --a=2 --b
expect_status 1
expect_err 'unexpected program command line options: --a, --b'
bt -e 'begin { print(getopt("n", 1)); }' -- --n=x
expect_err 'program command line option --n invalid integer (value: x)'
bt -e 'begin { print(getopt("n", true)); }' -- --n=x
expect_err "program command line option --n expects a boolean (e.g. 'true') (value: x)"

# --- listings ------------------------------------------------------------------------------------
bt -l 'interval:*'
is 'units of intervals' "$out" $'interval:hz:\ninterval:ms:\ninterval:s:\ninterval:us:'
bt -l 'p:*'
expect_out 'profile:hz:'
bt -l '*ware:c*'
expect_out 'hardware:cycles:'
expect_out 'software:cs:'
bt -l 't:sched:sched_wak*'
is 'a listing is sorted' "$out" "$(LC_ALL=C sort <<< "$out")"
bt -l -e 'software:cpu:100 { } tracepoint:sched:sched_wakeup { } begin { }'
is 'probes of a program' "$out" $'software:cpu:\ntracepoint:sched:sched_wakeup'
if [ -e /sys/kernel/btf/vmlinux ]; then
	bt -lv 'rawtracepoint:sched_switch'
	expect_out 'rawtracepoint:vmlinux:sched_switch'
	expect_out '    unsigned int prev_state'
	bt -lv 'struct list_head'
	expect_out 'vmlinux: struct list_head {'
else
	skip 'no BTF' 3
fi
if command -v gcc > /dev/null; then
	cat > "$TMP/prog.c" <<'END'
struct box { int n; };
typedef unsigned char small_t;
__attribute__((noinline)) int fill(struct box *b, small_t s, const char *text) { __asm__ volatile(""); return b->n + s + *text; }
int main(void) { struct box b = { 1 }; return fill(&b, 2, "x") == 0; }
END
	gcc -g -O1 -o "$TMP/prog" "$TMP/prog.c"
	cp "$TMP/prog" "$TMP/prog2"
	bt -lv "uprobe:$TMP/prog:fill"
	expect_out '    struct box* b'
	expect_out '    small_t s'
	expect_out '    const char* text'
	bt -l "uretprobe:$TMP/prog:fi*"
	expect_out "uretprobe:$TMP/prog:fill"
	bt -l "uprobe:$TMP/prog*:fill"
	is 'a pattern of files' "$out" "uprobe:$TMP/prog2:fill"$'\n'"uprobe:$TMP/prog:fill"
	bt -e "uprobe:$TMP/prog*:fill { print(probe); exit(); }" -c "$TMP/prog2"
	expect_out "uprobe:$TMP/prog2:fill"
else
	skip 'no gcc' 6
fi
sleep 60 &
pid=$!
bt -l 'uprobe:*:malloc' -p "$pid"
expect_out "uprobe:/proc/$pid/root/"
kill "$pid"

# --- probes that are missing ---------------------------------------------------------------------
bt -e 't:sched:no_such { }'
expect_status 1
expect_err 'No matches for tracepoint sched:no_such.'
bt -e 't:sched:no_such* { }'
expect_err "Probe has no valid attach points. If this is expected, set the 'missing_probes' config variable to 'warn'."
bt -e 'config = { missing_probes = "warn" } t:sched:no_such { }'
expect_status 1
expect_err 'WARNING: No matches for tracepoint sched:no_such. Skipping.'
expect_out 'No probes to attach'
bt -e 'interval:100 { }'
expect_err 'Invalid rate of interval probe. Minimum is 1000 or 1us.'
bt -e 'interval:10ms { print(probe); exit(); }'
expect_out 'interval:us:10000'
bt -e 'software:cpu:1000000 { print(probe); exit(); }'
expect_out 'software:cpu:1000000'

# --- begin ---------------------------------------------------------------------------------------
bt -e 'begin { for ($i : 0..200000) { } @begun = 1; } t:raw_syscalls:sys_enter /@begun == 0/ { @early = count(); } i:ms:50 { exit(); }'
expect_status 0
unlike 'nothing is attached before begin has run' "$out" '@early'
bt -e 'begin { print(comm); print(usermode); }'
expect_out bpftrace

# --- debug information in another place, features ------------------------------------------------
if command -v gcc > /dev/null && command -v objcopy > /dev/null; then
	gcc -g -O1 -Wl,--build-id -o "$TMP/bare" "$TMP/prog.c"
	id=$(readelf -n "$TMP/bare" | awk '/Build ID/ { print $3 }')
	mkdir -p "$TMP/debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug "$TMP/bare" "$TMP/debug/.build-id/${id:0:2}/${id:2}.debug"
	strip -g "$TMP/bare"
	bt -e "uprobe:$TMP/bare:fill { print(args.s); }" -c "$TMP/bare"
	expect_status 1
	bt --debuginfo "/no/such/dir:$TMP/debug" -e "uprobe:$TMP/bare:fill { print(args.s); exit(); }" -c "$TMP/bare"
	expect_status 0
	expect_out 2
	(cd "$TMP" && gcc -g -gsplit-dwarf -O1 -c -o split.o prog.c && gcc -o split split.o)
	bt -e "uprobe:$TMP/split:fill { print(args.s + args.b->n); exit(); }" -c "$TMP/split"
	expect_out 3
else
	skip 'no gcc or no objcopy' 4
fi
bt --info
expect_out 'dwunwind (DWARF stack unwinding): yes'
expect_out 'uprobe_multi: '
expect_out 'Instruction limit: 1000000'

# --- what 0.27 refuses ---------------------------------------------------------------------------
bt -e 'begin { @c = count(); printf("%d", @c); }'
expect_status 1
expect_err "stdin:1:23-39: ERROR: unsupported format specifier for type 'count_t': d"
bt -e 'begin { print(typeinfo(5).2); }'
expect_err 'stdin:1:15-26: ERROR: typeinfo feature is not enabled by default.'
bt -e 'uprobe:/bin/true:_init { }'
expect_status 1

# --- warnings ------------------------------------------------------------------------------------
bt -e 'begin { 1 + 2; exit(); print(1); }'
expect_err 'stdin:1:9-15: WARNING: Return value discarded.'
expect_err 'stdin:1:24-33: WARNING: Unreachable statement.'
bt --no-warnings -e 'begin { 1 + 2; }'
unlike 'warnings can be left out' "$err" WARNING
bt -e 'begin { print($1); print($2); print(str($3)); }' 7
expect_err 'stdin:1:26-28: WARNING: Positional parameter $2 is empty or not provided.'
unlike 'a parameter that is given, and the text of one that is not' "$err" '\$[13] is empty'
bt -e 'begin { @s = stats(1); print(@s, 2); while (1) { break; } }'
expect_err "print()'s top and div arguments are ignored when used on stats() maps."
expect_err 'While loops are deprecated'
bt -k -e 'begin { @a[1] = 1; print(@a[2]); print(*(uint64 *)kptr(1)); }'
expect_err "stdin:1:26-31: WARNING: Can't lookup map element because it does not exist."
expect_err 'Additional Info - helper: map_lookup_elem, retcode: 0'
expect_err 'stdin:1:40-58: WARNING: Numerical result out of range'
bt -k -f json -e 'begin { @a[1] = 1; print(@a[2]); }'
expect_out '{"type": "helper_error", "msg": "Success", "helper": "map_lookup_elem", "retcode": 0, "filename": "stdin", "line": 1, "col": 26}'
bt -e 'config = { max_map_keys = 1 } begin { @a[1] = 1; @a[2] = 1; }'
expect_err "stdin:1:50-59: WARNING: Map full; can't update element."
expect_err 'Additional Info - helper: map_update_elem, retcode: -7'

# --- stacks and series ---------------------------------------------------------------------------
bt -e 'rawtracepoint:sched_switch { @[kstack(1)] = count(); @n = count(); if (@n > 300) { exit(); } }'
is 'stacks that look alike are one key' "$(grep -c '^@\[' <<< "$out")" "$(grep '^ ' <<< "$out" | sort -u | wc -l)"
bt -e 'rawtracepoint:sched_switch { print(kstack(raw, 1)); print(kstack(perf, 1)); exit(); }'
like 'raw stacks are bare addresses' "$out" $'\n[0-9a-f]{16}\n'
like 'stacks as perf has them begin with a tab' "$out" $'\n\t[0-9a-f]{16} '
bt -e 'config = { unstable_tseries = enable } begin { @ = tseries(-5, 100ms, 20); } i:ms:110 { @n++; @ = tseries(@n == 1 ? 5 : 0, 100ms, 20); if (@n == 2) { exit(); } }'
like 'a series has its limits' "$out" $'\n +-5 +5\nhh:mm:ss.ms  \\|_{51}\\|\n'
like 'the least value is on the left edge' "$out" $' \\* +\\. +\\| -5\n'
like 'the largest value is on the right edge' "$out" $'\\* 5\n'
bt -f json -e 'config = { unstable_tseries = enable } begin { @ = tseries(7, 1s, 5); }'
like 'a series as JSON' "$out" '"interval_start":"[0-9-]+ [0-9:]+\.000000000","value":7'
bt -e 'begin { @l = lhist(3, 0, 5, 1); @h = hist(4); @h = hist(4); print(@h, 0, 2); }'
expect_out '[3]                    1 |@@@'
expect_out '[4, 8)                 1 |@@@'
done_testing
