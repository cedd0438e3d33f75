#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom top with a program of thousands of threads. What 30,000 cost is measured by
# tests/bench/top.bench.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/idlers"
export HOME=$TMP
threads=4000
quiet() { exec "$@" >/dev/null 2>&1; }
spawn quiet "$WORKLOADS/idlers" --threads $threads
pid=$spawned
WAIT_SECONDS=60 wait_until has_threads "$pid" $threads || plan_skip "$threads threads cannot be made here"

RUN_TIMEOUT=120
run "$FATHOM" top --once --json --threads --columns pid,tid,pri,shr,comm
expect_status 0 'a row for each thread'
ok 'all of them, with what is read of each' python3 - "$out_file" "$pid" $threads <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
rows = [r for r in d["processes"] if r["pid"] == int(sys.argv[2])]
assert len(rows) == int(sys.argv[3]) + 1, len(rows)
assert len({r["tid"] for r in rows}) == len(rows)
assert all(r["pri"] == 20 and r["shr"] > 0 for r in rows), rows[:3]
P
diag "a look took $(grep -o '"collect_ns": [0-9]*' "$out_file") ns"
run "$FATHOM" top --once --size 100x20 --threads --filter "pid = $pid" --keys 'End Home PgDn t t'
expect_status 0 'moving in them'
expect_out_like "$pid .* idlers" 'they are drawn'
run "$FATHOM" top --once --size 100x20 --filter "pid = $pid" --columns pid,threads,command
expect_out_like "$pid +$((threads + 1)) " 'the process has their number'
done_testing
