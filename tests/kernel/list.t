#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom list against what the kernel and perf say.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd python3

run "$FATHOM" list software
expect_status 0
expect_out cpu-clock
expect_out context-switches
unlike "hardware is not among software" "$out" 'cpu-cycles'

run "$FATHOM" list --all hardware
expect_out cpu-cycles
expect_out 'or cycles'

run "$FATHOM" list no-such-event-at-all
expect_status 1
expect_out 'no event matches'

# What is copied from the list is whole, whatever the width of the screen.
COLUMNS=40 run "$FATHOM" list --all L1-dcache-prefetch-misses stalled-cycles-frontend
expect_out stalled-cycles-frontend
expect_out L1-dcache-prefetch-misses
run "$FATHOM" list breakpoint
expect_out 'mem:ADDR[/LEN][:rwx]'

run "$FATHOM" list software --json
ok "JSON with a row for each event" python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
clock = [r for r in rows if r["event"] == "cpu-clock"]
assert len(clock) == 1 and clock[0]["kind"] == "software"
assert clock[0]["encoding"] == "type=1 config=0"
assert [r for r in rows if r["alias"] == "cs"][0]["event"] == "context-switches"
END

if [ "$(id -u)" -ne 0 ] || [ ! -d /sys/kernel/tracing/events ]; then
	skip "needs root and tracefs" 4
	done_testing
fi

run "$FATHOM" list 'sched:*'
is "as many tracepoints as tracefs has" "$(grep -c ' tracepoint' <<<"$out")" \
	"$(find /sys/kernel/tracing/events/sched -mindepth 2 -name id | wc -l)"

run "$FATHOM" list -v sched:sched_switch --json
ok "-v shows the fields of a tracepoint" python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
tp = [r for r in rows if r["kind"] == "tracepoint"][0]
id = open("/sys/kernel/tracing/events/sched/sched_switch/id").read().strip()
assert tp["encoding"] == "type=2 config=" + id
comm = [r for r in rows if r["event"] == "sched:sched_switch.prev_comm"][0]
assert comm["kind"] == "field" and comm["description"].startswith("char")
END

if command -v perf >/dev/null && perf list tracepoint >"$TMP/perf" 2>/dev/null; then
	awk '/Tracepoint event/ { print $1 }' "$TMP/perf" | sort >"$TMP/theirs"
	run "$FATHOM" list tracepoint --json
	python3 -c 'import json, sys
for r in json.load(sys.stdin)["rows"]: print(r["event"])' <"$out_file" | sort >"$TMP/ours"
	is "the tracepoints that perf lists" "$(diff "$TMP/theirs" "$TMP/ours")" ''
else
	skip "no perf that lists tracepoints"
fi

# Every name that is listed can be used.
run "$FATHOM" list software --json
ok "listed software events can be recorded" python3 - "$out_file" "$FATHOM" "$TMP" <<'END'
import json, subprocess, sys
rows = json.load(open(sys.argv[1]))["rows"]
names = [r["event"] for r in rows]
r = subprocess.run([sys.argv[2], "record", "-e", ",".join(names), "-o", sys.argv[3] + "/x.data",
                    "--force", "--", "true"], capture_output=True, text=True)
assert "cannot open" not in r.stderr and r.returncode == 0, r.stderr
END

done_testing
