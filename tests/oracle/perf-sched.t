#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# 'perf sched latency' by our program prints the bytes that perf prints for the same file.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3
need_file "$FATHOM"
need_file /sys/kernel/tracing/events/sched/sched_switch
cd "$TMP" || exit 1

# Not of sched_waking: perf 6.1 does not count those. Room for all, so that nothing is lost.
events=sched:sched_switch,sched:sched_stat_runtime,sched:sched_wakeup,sched:sched_wakeup_new
events+=,sched:sched_process_fork,sched:sched_migrate_task
[ -e /sys/kernel/tracing/events/sched/sched_stat_runtime ] || events=${events/,sched:sched_stat_runtime/}
perf record -q -a -R -c 1 -m 2048 -o whole.data -e "$events" -- \
	bash -c 'for i in 1 2 3 4 5; do (sleep 0.02; : "$(ls /)") & wait; done' >/dev/null 2>record.err ||
	plan_skip "perf cannot record the scheduler here: $(tail -n 1 record.err)"

# perf 6.1 reads the state of a task that was preempted, 0x100, from beyond its table of letters:
# the copy says 0, which is 'runnable' for all versions.
python3 - whole.data plain.data <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end, changed = at + size, 0
while at < end:
    kind, _, length = struct.unpack_from("<IHH", data, at)
    for raw in (64, 68):  # what sched_switch writes, padded or not, at the end of its sample
        state = at + length - raw + 32
        if kind == 9 and length > raw + 32 and struct.unpack_from("<I", data, at + length - raw - 4)[0] == raw \
                and struct.unpack_from("<Q", data, state)[0] == 0x100:
            struct.pack_into("<Q", data, state, 0)
            changed += 1
            break
    at += max(length, 8)
open(sys.argv[2], "wb").write(data)
END

# table: without the line about lost events, in which perf also counts their records
table() { grep -v ' lost events (' "$@"; }

for options in '' '-p' '-s max' '-s switch,runtime' '-s pid,avg -p' '-C 0'; do
	# shellcheck disable=SC2086
	perf sched latency -i plain.data $options >theirs 2>/dev/null
	# shellcheck disable=SC2086
	run "$FATHOM" perf sched latency -i plain.data $options
	expect_status 0 "sched latency $options"
	is "sched latency $options: perf's bytes" "$(table <<<"$out")" "$(table theirs)"
done
ok 'perf shows a table' grep -q '^  sleep:' theirs

# without -i it is perf.data
cp plain.data perf.data
run "$FATHOM" perf sched lat
is 'perf.data by default' "$(table <<<"$out")" "$(perf sched latency -i plain.data 2>/dev/null | table)"
run "$FATHOM" perf sched latency -s colour
expect_status 2
expect_err "Unknown --sort key: \`colour'"
run "$FATHOM" perf sched latency --json
expect_out_like '"average_delay_ns": [0-9]'
done_testing
