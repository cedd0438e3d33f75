#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# Test, bench and signal probes; what the kernel supports; the name of a peer.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
trace() { run "$FATHOM" trace "$@"; }

cat >"$TMP/tests.bt" <<'END'
test:sum { $s = 0; for ($i : 0..40) { $s += $i; } if ($s != 780) { return 1; } }
test:wrong { return 5; } test:asserts { assert(1 == 2, "numbers"); } test:last { }
interval:s:1 { printf("must not run\n"); }
END
trace --test "$TMP/tests.bt"
expect_status 1
is 'results of tests' "$out" 'ok 1 - sum
not ok 2 - wrong
not ok 3 - asserts
ok 4 - last
1..4'
expect_err 'assertion failed: numbers'
trace --test -f json -e 'test:fine { }'
expect_status 0
is 'tests as JSON' "$out" '{"type": "test_result", "data": {"name": "fine", "passed": true}}'
trace --test -e 'BEGIN { }'
expect_status 0
trace --test -e 'interval:s:1 { }'
expect_status 1
expect_err 'there is no test probe'
trace -e 'test:x { }'
expect_status 1
expect_err 'only test or bench probes'

trace --bench -e 'bench:count { @n = count(); } bench:print { printf("not shown\n"); }'
expect_status 0
expect_out_like '^count: [0-9]+ ns on average of [0-9]+ runs$'
expect_out_like '^print: [0-9]+ ns on average of [0-9]+ runs$'
case $out in *'not shown'*) fail 'a bench showed its events' ;; *) pass 'events of a bench are dropped' ;; esac
trace --bench -f json -e 'bench:nothing { }'
expect_out_like '^\{"type": "benchmark_result", "data": \{"name": "nothing", "average_ns": [0-9]+, "runs": [0-9]+\}\}$'

# Each signal runs its probe; the program tells when it is ready for them.
"$FATHOM" trace -e 'BEGIN { printf("ready\n"); } self:signal:SIGUSR1 { @n++; printf("one\n"); }
	self:signal:SIGUSR2 { exit(); }' >"$TMP/signals" &
pid=$!
wait_for() { for _ in $(seq 600); do grep -q "$1" "$TMP/signals" && return; sleep 0.05; done; return 1; }
wait_for ready
kill -USR1 "$pid"
ok 'the first signal was seen' wait_for one
kill -USR2 "$pid"
wait "$pid"
is 'the second one ended the program' "$?" 0
is 'once each' "$(tail -n 1 "$TMP/signals")" '@n: 1'
trace -e 'self:signal:SIGKILL { }'
expect_status 1
expect_err 'SIGUSR1 and SIGUSR2 are'

trace --info
expect_status 0
expect_out 'Probe types'
expect_out '  btf: yes'

ln -s "$(realpath "$FATHOM")" "$TMP/bpftrace"
run "$TMP/bpftrace" -e 'BEGIN { printf("hi\n"); exit(); }'
expect_status 0
is 'by the name of bpftrace' "$out" hi
is 'and reports what it attached' "$err" 'Attached 1 probe'
run "$TMP/bpftrace" --no-such-option
expect_status 1
expect_err 'ERROR: '
run "$TMP/bpftrace" -e 't:sched:sched_switch { @ = args->nope; }'
expect_status 1
expect_err 'stdin:1:'
trace -p 4194305 -e 'BEGIN { }'
expect_status 1
expect_err 'no process'
# What comes last, too: maps at the end, what a buffer held back.
for options in '' '-B full' '--json'; do
	# shellcheck disable=SC2086
	trace $options -o /dev/full -e 'BEGIN { @x = 1; exit(); }'
	expect_status 1
	expect_err "cannot write '/dev/full'"
done
done_testing
