#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fields of recorded tracepoints as sort keys: the rows and shares that perf report has.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3
need_file "$FATHOM" "$WORKLOADS/block"
cd "$TMP" || exit 1

perf record -q -o perf.data -e sched:sched_switch -e sched:sched_process_exec -a \
	bash -c 'for i in 1 2 3 4 5; do /bin/true; sleep 0.02; done' >/dev/null 2>&1 ||
	skip_file 'perf cannot record tracepoints here'

# rows_of KEYS: what perf shows is in our table, with the same number of samples.
rows_of() {
	perf report -i perf.data --stdio -n -s "$1" -t '|' >perf.txt 2>/dev/null </dev/null
	run "$FATHOM" report -i perf.data -g none --all --percent-limit 0 -n -s "$1" --json
	expect_status 0
	ok "-s $1: perf's rows" python3 - "$out_file" perf.txt <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
ours, seen = {}, 0
for t in [t for t in json.loads(text).values() if isinstance(t, list)]:
    for row in t:
        if isinstance(row, dict) and "samples" in row:
            rest = [str(v).strip() for k, v in row.items() if k not in
                    ("self", "children", "samples", "period", "TIME")
                    and not k.endswith(("_ns", "_percent"))]
            key = tuple(v for v in rest if v not in ("-", "None", ""))
            ours[key] = ours.get(key, 0) + row["samples"]
for line in open(sys.argv[2]):
    if line.startswith("#") or not line.strip():
        continue
    cells = [c.strip() for c in line.rstrip("\n").split("|")]
    key = tuple(c for c in [c.lstrip('0') or '0' if c.isdigit() else c for c in cells[2:]] if c not in ("", "N/A"))
    # perf shows the first half of a state that has two (R+), and cuts long lines
    same = lambda a, b: a == b or a == b + "+" or (len(b) > 90 and a.startswith(b))
    near = [k for k in ours if len(k) == len(key) and all(same(*ab) for ab in zip(k, key))]
    assert sum(ours[k] for k in near) >= int(cells[1]) > 0, (key, cells[1], near, list(ours)[:5])
    seen += 1
assert seen > 2, seen
END
}
rows_of trace
rows_of next_comm
rows_of next_comm,next_prio
rows_of sched_switch.next_pid,prev_comm
rows_of 'sched:sched_switch.*'
rows_of cpu,trace
rows_of prev_prio/raw

run "$FATHOM" report -i perf.data -g none -s filename --csv
expect_status 0
expect_out_like '/bin/true|/usr/bin/true|sleep'
run "$FATHOM" report -i perf.data -s colour
expect_status 2
expect_err "unknown sort key 'colour'"
expect_err 'EVENT.FIELD'
"$FATHOM" record -q -o - -e sched:sched_process_exec -- /bin/true >pipe.data
run bash -c "\"$FATHOM\" report -i - -g none -s filename < pipe.data"
expect_status 0
expect_out_like '/bin/true'

done_testing
