#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The scheduler commands on the running machine.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/hog" "$WORKLOADS/block"
cd "$TMP" || exit 1

"$WORKLOADS/hog" --seconds 300 >/dev/null &
hog=$!
trap 'kill $hog 2>/dev/null; test_end' EXIT
wait_until has_threads $hog 3

run "$FATHOM" sched latency -d 1s --json --pids
expect_status 0
ok "latency: the victim waits, the hog runs" python3 - "$out_file" <<'END'
import json, sys
rows = {}
for r in json.load(open(sys.argv[1]))["tasks"]:
    rows.setdefault(r["comm"], r)
assert rows["hog"]["runtime_ns"] > 5e7, rows["hog"]
assert rows["victim"]["switches"] > 20, rows["victim"]
assert rows["victim"]["max_delay_ns"] >= rows["victim"]["average_delay_ns"]
END
run "$FATHOM" sched latency -d 300ms --sort comm
expect_status 0
expect_out_like '^TASK +TID'
run "$FATHOM" sched latency -d 300ms --sort nothing
expect_status 2
expect_err 'hint: sort keys are'

run "$FATHOM" sched timehist -d 300ms -w
expect_status 0
expect_out_like '^ +[0-9]+\.[0-9]{6} \[[0-9]{4}\]  [^ ].*\[[0-9/]+\] +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3}'
expect_out_like ' awakened: victim\['
expect_out_like ' wait time  sch delay   run time$' "timehist: perf's lines where there is no terminal"
on_terminal() { python3 "$TOP/tests/lib/on_terminal.py" 24 '' "$FATHOM" "$@" --no-pager; }
narrow=$(on_terminal sched timehist -d 300ms)
like "timehist: narrower numbers on a terminal of 80 columns" "$narrow" ' wait   delay     run.?$'
like "timehist: the victim is there" "$narrow" "  victim\\["
is "timehist: they fit" "$(tr -d '\r' <<<"$narrow" | grep -E '^ +[0-9]+\.[0-9]{6} .*  (hog|victim)\[' | grep -E '.{81}')" ''
run "$FATHOM" sched timehist -d 300ms -p "$hog" --csv
expect_status 0
unlike "timehist -p: only that process" "$(tail -n +2 <<<"$out" | cut -d, -f4)" '^"[^hv]'
run "$FATHOM" sched timehist -d 300ms --json
ok "timehist --json: an object a line" python3 - "$out_file" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) > 10 and {"wait_ns", "delay_ns", "run_ns"} <= set(rows[0])
END
run "$FATHOM" sched latency -d 100ms -M
expect_status 2
expect_err "hint: it goes with 'sched timehist'"
run "$FATHOM" sched map -d 100ms --sort max
expect_status 2
expect_err "hint: it goes with 'sched latency'"
run "$FATHOM" sched timehist -d 300ms --summary
expect_out_like '^TASK +TID +TURNS'

# long enough that the hog has a turn, whoever else wants that CPU
run "$FATHOM" sched map -d 1s
expect_status 0
expect_out_like '=> hog:[0-9]+'
run "$FATHOM" sched map -d 300ms -o map.svg
expect_status 0
ok "map: the picture is XML" python3 -c 'import xml.dom.minidom as m; m.parse("map.svg")'
run "$FATHOM" sched map -d 100ms -o map.svg
expect_status 1
run "$FATHOM" sched map -d 100ms -o map.png
expect_status 2
run "$FATHOM" sched map -d 300ms -o map.html
expect_status 0
expect_err_like "wrote 'map.html', [0-9]+ KiB: open it in a browser"
run "$FATHOM" sched map -d 300ms --json
ok "map --json: stretches that do not overlap on a CPU" python3 - "$out_file" <<'END'
import json, sys
runs = {}
for s in json.load(open(sys.argv[1]))["stretches"]:
    if s["what"] == "runs":
        begin = round(float(s["begin_s"]) * 1e9)
        runs.setdefault(s["cpu"], []).append((begin, begin + s["duration_ns"]))
for cpu, list_ in runs.items():
    list_.sort()
    for a, b in zip(list_, list_[1:]):
        assert b[0] >= a[1] - 2000, (cpu, a, b)
END

run "$FATHOM" sched summary -d 500ms
expect_status 0
expect_out 'preemptions'
expect_out 'wake-up to run'
run "$FATHOM" sched summary -d 300ms --json
ok "summary --json: the heat map as numbers" python3 - "$out_file" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert sum(r["count"] for r in d["heat"]) > 10
END
run "$FATHOM" sched nothing
expect_status 2
run "$FATHOM" sched latency -i /dev/null
expect_status 4 "an empty file holds no events"

# --- histograms ---------------------------------------------------------------------------------

run "$FATHOM" runqlat -d 500ms
expect_status 0
expect_out_like '^how long tasks waited for a CPU$'
expect_out_like '^duration: [0-9.]+m?s  waits: [0-9,]+  lost: 0  average: [0-9.]+[mun]?s  half below: '
expect_out_like '^ +usecs +: count +distribution'
run "$FATHOM" runqlat -T -d 100ms
expect_out_like '^time: [0-9]{4}-[0-9]{2}-[0-9]{2}T.*  duration: '
run "$FATHOM" runqlat -p "$hog" --by tid -d 500ms
expect_out_like '^tid = [0-9]+ victim'
run "$FATHOM" runqlat -m 0.2 2
expect_status 0
is "an interval and a count give two histograms" "$(grep -c 'msecs' "$out_file")" 2
run "$FATHOM" cpudist -d 500ms --by comm
expect_out_like '^comm = hog'
run "$FATHOM" cpudist -O -d 500ms -p "$hog" --json
ok "cpudist -O: the victim sleeps about 9 ms at a time" python3 - "$out_file" <<'END'
import json, sys
h = json.load(open(sys.argv[1]))["histogram"]
h = h[0] if isinstance(h, list) else h
assert h["count"] > 10, h
END
run "$FATHOM" runqlen -F 1000000 -d 200ms
expect_status 0
expect_err_like "'cpu-clock' is sampled at [1-5][0-9],[0-9]{3} Hz and not at 1,000,000 Hz"
run "$FATHOM" runqlen -d 500ms --by cpu
expect_status 0
expect_out_like '^cpu = [0-9]+'
expect_out_like 'samples: [0-9,]+  lost: 0  queue occupied: [0-9.]+%  average: [0-9.]+'
run "$FATHOM" runqlen -O -C -d 500ms --json
ok "runqlen -O: shares by CPU, in the order of CPUs" python3 - "$out_file" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
rows = d["occupancy"]
assert "length" not in d and rows, d
assert [r["of"] for r in rows] == sorted(r["of"] for r in rows), rows
assert sum(r["samples"] for r in rows) == d["facts"]["count"], d
assert all(0 <= r["occupied_percent"] <= 100 and r["average"] >= 0 for r in rows), rows
END

# Whoever is not there is not waited for until somebody loses patience.
for words in runqlat cpudist 'sched latency' offcpu wakeup offwake chain threads explain; do
	# shellcheck disable=SC2086  # words
	run timeout -k 5 60 "$FATHOM" $words -p 4194303
	is "$words -p of nobody: status" "$status" 1
	expect_err 'no process 4194303' "$words -p of nobody says so"
done
run "$FATHOM" sched record
expect_status 2
expect_err 'for a file: fathom perf sched record ' "sched record: how to make a file"
run "$FATHOM" sched record -- sleep 1
expect_status 2
expect_err 'for a file: fathom perf sched record ' "sched record with a program: the same"
run "$FATHOM" sched map latency
expect_status 2
expect_err "unexpected operand 'latency'"

run env COLUMNS=60 "$FATHOM" sched summary -d 300ms
expect_status 0
expect_out_like '^wake-up to run over time'
expect_out_like '^ +0 +[0-9.]+m?s$'
not_ok "summary keeps to a narrow terminal" grep -Eq '^.{61}' "$out_file"

# A recording that is cut is used up to there, and all of them say so.
cd "$TMP" || exit 1
run "$FATHOM" record -e sched:sched_switch,sched:sched_waking -d 100ms -o noted.data
is "two tracepoints, one note about their stacks" "$(grep -c "'sched:sched_switch' and 1 more are copied" "$err_file")" 1
run "$FATHOM" record -z0 -e sched:sched_switch,sched:sched_waking --call-graph none -d 300ms -o whole.data
expect_status 0
head -c $(($(stat -c %s whole.data) / 2)) whole.data >cut.data
for words in 'sched latency' 'sched timehist' 'sched map' 'sched summary' runqlat cpudist; do
	# shellcheck disable=SC2086 # words are words
	run "$FATHOM" $words -i cut.data
	is "$words of a cut recording" \
		"$status/$(cat "$out_file" "$err_file" | grep -c 'the file is damaged at offset')" 0/1
done
done_testing
