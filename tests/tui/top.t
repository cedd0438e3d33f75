#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom top without a terminal: one frame as text, JSON, pictures; recordings; bad input.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
export HOME=$TMP

run "$FATHOM" top --once --size 100x30
expect_status 0 'one frame'
expect_out ' 2 Processes ' 'it has tabs'
expect_out_like 'PID USER .* CPU%' 'and headings'
is 'as many lines as asked for' "$(wc -l <"$out_file")" 30
not_ok 'and none longer than asked for' grep -qE '.{140}' "$out_file"
unlike 'without escape sequences' "$out" $'\033'

# A process whose name would clear the screen.
cp /bin/sleep "$TMP/$(printf 'a\033[2Jb')"
spawn "$TMP/$(printf 'a\033[2Jb')" 60
hostile=$spawned
run "$FATHOM" top --once --size 100x10 --filter "pid = $hostile"
expect_out 'a\x1b[2Jb' 'escape sequences in names are made visible'
unlike 'and never written' "$out" $'\033'
run "$FATHOM" top --once --size 100x10 --filter "pid = $hostile" -o "$TMP/x.svg"
expect_status 0 'a picture'
ok 'without the bytes of the name' grep -q 'x1b\[2Jb' "$TMP/x.svg"
if command -v xmllint >/dev/null; then
	ok 'it is XML' xmllint --noout "$TMP/x.svg"
else
	skip 'no xmllint'
fi
run "$FATHOM" top --once --size 100x10 -o "$TMP/x.svg"
expect_status 1 'a picture is not overwritten'
expect_err 'exists' 'that is said'
run "$FATHOM" top --once --ascii --size 90x20 --keys 't'
ok 'ASCII alone' bash -c "! LC_ALL=C grep -q '[^ -~]' '$out_file'"

# Rows, sums and columns for machines.
run "$FATHOM" top --once --json
expect_status 0 'JSON'
ok 'rows sum to the meter, with what else is named' python3 - "$out_file" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
f = d["facts"]
named = f["rows_ns"] + f["irq_ns"] + f["steal_ns"] + f["orphans_ns"]
rows = d["processes"]
assert len(rows) > 5 and all(k in rows[0] for k in ("pid", "cpu", "res", "command", "wait"))
cpu = sum(r["cpu"] for r in rows) / 100 * f["interval_ns"]
assert abs(cpu - f["rows_ns"]) < 0.01 * f["rows_ns"] + 1e6, (cpu, f["rows_ns"])
# what is left is the meter's ticks of 10 ms on each CPU
assert abs(f["meter_ns"] - named) < 0.01 * f["meter_ns"] + 60e6, (f["meter_ns"], named)
P

# Recordings.
run "$FATHOM" top --once --record "$TMP/r.data" --interval 200ms
expect_status 0 'a recording is written'
run "$FATHOM" top -i "$TMP/r.data" --once --size 80x20
expect_status 0 'and replayed'
expect_out recording 'the frame says so'
one=$out
run "$FATHOM" top -i "$TMP/r.data" --once --size 80x20
is 'the same frame each time' "$out" "$one"
run "$FATHOM" vmstat -i "$TMP/r.data"
expect_status 0 'other monitors read it'
printf 'no recording' >"$TMP/bad"
run "$FATHOM" top -i "$TMP/bad" --once
expect_status 1 'what is none is an error'
run "$FATHOM" record -q -o "$TMP/plain.data" -- "$WORKLOADS/burn" --seconds 1 c=1
run "$FATHOM" top -i "$TMP/plain.data" --once --size 100x20
expect_status 0 'one without counters'
expect_out 'samples of' 'shows the functions of its samples'
expect_out ' 3 Functions ' 'on their screen'
run "$FATHOM" top -i "$TMP/plain.data" --once --size 100x20 --keys '4 2 1 5 6 p ['
expect_status 0 'and nothing on the others'
run "$FATHOM" report -i "$TMP/plain.data" --tui
expect_status 0 'report --tui elsewhere than on a terminal'
expect_out SELF 'is the text'

# Bad input.
run "$FATHOM" top --once --sort nothing
expect_status 2 'an unknown column'
expect_err "'nothing' is not a column" 'is named'
run "$FATHOM" top --once --filter 'cpu > x'
expect_status 2 'a broken filter'
expect_err 'a number is expected' 'is explained'
run "$FATHOM" top --once --screen nothing
expect_status 2 'an unknown screen'
expect_err 'overview, processes' 'names those that there are'
run "$FATHOM" top --once --size 0x5
expect_status 2 'an impossible size'
run "$FATHOM" top --once --keys 'Down nokey'
expect_status 2 'an unknown key'
for size in 20x5 1x1 5x60 400x3; do
	run "$FATHOM" top --once --interval 100ms --size $size
	expect_status 0 "a frame of $size"
done
run "$FATHOM" top </dev/null
expect_status 3 'no terminal'
expect_err '--once prints one frame' 'names the way out'

# Without privileges what can be seen is shown, and the rest is said.
chmod 755 "$TMP"
cp "$FATHOM" "$TMP/fathom" && chmod 755 "$TMP/fathom"
if command -v setpriv >/dev/null; then
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/fathom" top --once --size 120x30 --screen overview
	expect_status 0 'without privileges'
	expect_out 'read from /proc' 'it says how tasks are read'
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/fathom" top --once --size 120x30 --keys 3
	expect_status 0 'functions without privileges'
else
	skip 'no setpriv' 3
fi
done_testing
