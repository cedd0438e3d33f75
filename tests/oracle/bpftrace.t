#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# timeout: 300
# Called by the name of bpftrace, the program prints and returns what bpftrace 0.27 does.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
reason=$("$TOP/scripts/reference" bpftrace 2>&1 >/dev/null) || plan_skip "no reference: $reason"
case $("$TOP/scripts/reference" bpftrace --version 2>/dev/null) in
*v0.27*) ;;
*) plan_skip 'compared with bpftrace 0.27' ;;
esac
ln -s "$(realpath "$FATHOM")" "$TMP/bpftrace"

peer() { (cd "$TOP" && timeout -s KILL 60 scripts/reference bpftrace "$@"); }
# Where the first error is; the words are ours.
place() { grep -oE -m 1 '^stdin:[0-9:-]+: ERROR' "$1"; }

# same NAME [options]: standard output, exit status and place of the error of both.
same() {
	local name=$1 ours peer
	shift
	timeout -s KILL 60 "$TMP/bpftrace" "$@" >"$TMP/ours.out" 2>"$TMP/ours.err"
	ours=$?
	peer "$@" >"$TMP/peer.out" 2>"$TMP/peer.err"
	peer=$?
	is "$name: status" "$ours" "$peer"
	is "$name: output" "$(sort "$TMP/ours.out")" "$(sort "$TMP/peer.out")"
	is "$name: place" "$(place "$TMP/ours.err")" "$(place "$TMP/peer.err")"
}

same hello -e 'BEGIN { printf("hello\n"); exit(); }'
same quiet -q -e 'BEGIN { printf("hello\n"); exit(); }'
same parameters -e 'BEGIN { printf("%d %s\n", $1, str($2)); exit(); }' 5 text
same json -f json -e 'BEGIN { @x[1] = 2; printf("text\n"); @h = hist(5); exit(); }'
same maps -e 'BEGIN { @ = 5; @a[1, "x"] = 2; @c = count(); @s = stats(4); exit(); }'
same 'several probes' -e 'BEGIN { exit(); } END { printf("end\n"); }'
same 'a child' -c /bin/true -e 'BEGIN { printf("begin\n"); }'
same "a child's failure" -c /bin/false -e 'END { printf("end\n"); }'
same 'an empty program' -e ''
same 'a syntax error' -e 'BEGIN { printf("x\n") '
same 'an unknown word' -e 'BEGIN { $x = nope; }'
same 'an unknown function' -e 'BEGIN { foo(); }'
same 'an unknown tracepoint' -e 't:sched:nope { }'
same 'too few arguments' -e 'BEGIN { printf("%d"); }'
same 'unsafe' -e 'BEGIN { system("true"); }'
same 'unsafe allowed' --unsafe -e 'BEGIN { system("echo from the shell"); exit(); }'
same 'ignored options' -k -I /tmp --usdt-file-activation -e 'BEGIN { exit(); }'
same 'a list' -l 'tracepoint:sched:sched_sw*'
same 'a list with arguments' -lv 'tracepoint:sched:sched_switch'
same 'a list of nothing' -l 'tracepoint:sched:no_such_event'
printf 'BEGIN { printf("%%s\\n", str($1)); exit(); }\n' >"$TMP/file.bt"
same 'a file' "$TMP/file.bt" word

status_of() { "$@" >/dev/null 2>&1 || echo $?; }
for options in '-f xml -e BEGIN{}' '-B foo -e BEGIN{}' '-p abc -e BEGIN{}' '--nope' '-e BEGIN{exit();} -p 4194305' "$TMP/no-such-file.bt"; do
	# shellcheck disable=SC2086
	is "status of $options" "$(status_of "$TMP/bpftrace" $options)" "$(status_of peer $options)"
done

__BPFTRACE_NOTIFY_PROBES_ATTACHED=1 "$TMP/bpftrace" -e 'BEGIN { exit(); }' >"$TMP/ours.out" 2>"$TMP/ours.err"
like 'the line of readiness' "$(cat "$TMP/ours.err")" '^__BPFTRACE_NOTIFY_PROBES_ATTACHED$'
BPFTRACE_MAX_MAP_KEYS=2 "$TMP/bpftrace" -e 'BEGIN { @[1] = 1; @[2] = 2; @[3] = 3; exit(); }' >"$TMP/ours.out" 2>/dev/null
is 'the limit of keys' "$(grep -c '^@' "$TMP/ours.out")" 2
case $("$TMP/bpftrace" --version) in
'bpftrace v0.27.1'*) pass 'the version is the one that is reproduced' ;;
*) fail 'the version is not the one that is reproduced' ;;
esac
"$TMP/bpftrace" --info >"$TMP/info"
for what in 'tracepoint: yes' 'btf: yes' 'percpu hash: yes' 'probe_read_user_str: yes'; do
	is "info: $what" "$(grep -c "^  $what\$" "$TMP/info")" 1
done
done_testing
