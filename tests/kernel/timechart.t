#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The time chart: what a program of known behaviour did, as sums and as pictures, from recordings in
# the form of 'perf timechart record' and of the running machine.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 dd
cd "$TMP" || exit 1
cat >burner.py <<'END'
import time
while time.process_time() < 0.3:
    pass
time.sleep(0.1)
END
chart() { ok "$1" python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
tasks = {t["comm"]: t for t in r["tasks"]}
assert eval(sys.argv[2]), (r["tasks"][:5], r["losses"])' "$out_file" "$2"; }
is_xml() { python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"; }

# --- tasks --------------------------------------------------------------------------------------
run "$FATHOM" perf timechart record -o tasks.data -- python3 burner.py
expect_status 0
run "$FATHOM" timechart -i tasks.data -n 2000 --json
expect_status 0
chart 'a task that burns 300 ms of a CPU has them' \
	'any(t["runs_ns"] > 1e8 for t in r["tasks"])'
chart 'no task runs longer than the recording' \
	'r["tasks"] and all(t["runs_ns"] <= r["facts"]["duration_ns"] for t in r["tasks"])'
run "$FATHOM" timechart -i tasks.data -n 1 --json
chart 'as many tasks as asked for' 'len(r["tasks"]) == 1'
run "$FATHOM" timechart -i tasks.data -n 1
like 'and what is missing is said' "$out$err" '[0-9]+ more tasks? (is|are) not shown'
run "$FATHOM" timechart -i tasks.data -p python3 --json
chart 'one program' 'r["tasks"] and all(t["comm"] == "python3" for t in r["tasks"])'
run "$FATHOM" timechart -i tasks.data -o tasks.svg
expect_status 0
ok 'the picture is XML' is_xml tasks.svg
ok '... with the CPUs' grep -q '>CPU 0<' tasks.svg
ok '... and the task by its name' grep -q '>python3:[0-9]*<' tasks.svg
run "$FATHOM" timechart -i tasks.data -T -w 800 -o only.svg
ok 'tasks only, as wide as asked for' grep -q 'width="800"' only.svg
is '... without CPUs' "$(grep -c '>CPU [0-9]*<' only.svg)" 0
run "$FATHOM" timechart -i tasks.data -P -o power.svg
is 'power only: no tasks' "$(grep -c '>[^<]*:[0-9][0-9]*</text>' power.svg)" 0
run "$FATHOM" timechart -i tasks.data -o tasks.html
expect_status 0
ok 'the time line as a page' grep -q 'timelineData' tasks.html
if command -v perf >/dev/null; then
	run perf timechart -i tasks.data -o theirs.svg
	ok "perf's timechart reads the recording" grep -q '<svg' theirs.svg
	# perf 6.1 aborts at its end while a file with an odd build id is mapped by anybody
	if perf timechart record true >/dev/null 2>err.txt </dev/null && [ -s perf.data ]; then
		run "$FATHOM" perf timechart
		expect_status 0
		ok "perf's recording, to perf's file" is_xml output.svg
	else
		skip "perf timechart record: $(tail -1 err.txt)" 2
	fi
else
	skip 'needs the command perf' 3
fi

# --- I/O ----------------------------------------------------------------------------------------
run "$FATHOM" perf timechart record -I -o io.data -- \
	dd if=/dev/zero of=file bs=4k count=100 conv=fsync status=none
expect_status 0
run "$FATHOM" timechart --io-only -i io.data -n 2000 --json
expect_status 0
chart 'the bytes that dd reads and writes, and its fsync' \
	'r["losses"].get("lost") or (tasks["dd"]["io_bytes"] >= 2 * 409600 and tasks["dd"]["sync_ns"] > 0)'
run "$FATHOM" timechart --io-only -i io.data -p dd -o io.svg
ok 'a bar of I/O' grep -q '>dd:[0-9]*<' io.svg
run "$FATHOM" timechart -i io.data -o io.html
ok 'I/O as spans of the time line' grep -q 'sync: fsync' io.html
run "$FATHOM" timechart --io-only -i tasks.data
expect_status 4
expect_err 'there is no system call of I/O in the recording'

# --- power --------------------------------------------------------------------------------------
run "$FATHOM" timechart -d 300ms -P --json
expect_status 0
if grep -q '"kind": "idle"' "$out_file"; then
	ok 'states of each CPU, no longer than the time' python3 -c 'import json, sys
rows = [p for p in json.load(open(sys.argv[1]))["power"] if p["kind"] == "idle"]
assert rows and all(p["times"] > 0 and p["time_ns"] < 10**10 for p in rows), rows' "$out_file"
else
	skip 'this machine says nothing of power states'
fi

# --- the running machine, and bad input ---------------------------------------------------------
run "$FATHOM" timechart -d 200ms -o live.svg
expect_status 0
expect_err_like "wrote 'live.svg', [0-9]+ KiB: open it in a browser"
ok 'live' is_xml live.svg
run "$FATHOM" timechart -i tasks.data -w 100
expect_status 2
expect_err 'a width of 100 pixels is too narrow'
run "$FATHOM" timechart -i tasks.data -o chart.png
expect_status 2
"$FATHOM" record -q -e cpu-clock -o cpu.data -- true
run "$FATHOM" timechart -i cpu.data
expect_status 4
head -c $(($(stat -c %s io.data) / 2)) io.data >half.data
run "$FATHOM" timechart -I -i half.data
ok 'half a file: no crash' [ "$status" -lt 5 ]
done_testing
