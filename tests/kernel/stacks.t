#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fathom stacks: the health of stacks, live and of recordings.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/burn" "$WORKLOADS/jitlike"
cd "$TMP" || exit 1
burn=$WORKLOADS/burn

spawn "$burn" --seconds 0 a=100
run "$FATHOM" stacks -p "$spawned" -F 499 -d 1s
expect_status 0
expect_out_like "^ *$spawned +burn +[0-9]+ +(100|99)\\.[0-9]+%" "a process whose stacks are complete"
expect_out_like 'Binaries' "and its binaries"
run "$FATHOM" stacks -d 500ms --json
expect_status 0
ok "JSON for programs" python3 - "$spawned" "$out_file" <<'END'
import json, sys
j = json.load(open(sys.argv[2]))
row = [r for r in j["processes"] if r["pid"] == int(sys.argv[1])][0]
assert row["comm"] == "burn" and row["complete"] <= row["user_stacks"] <= row["samples"], row
assert row["mean_depth"] > 4, row
names = [b["module"] for b in j["binaries"]]
assert "burn" in names, names
END
kill "$spawned"
run "$FATHOM" stacks -- "$burn" --seconds 0.3 a=100
expect_status 0 "a program"
expect_out_like 'burn' "is shown"

"$FATHOM" record -q -F 499 -o j.data -- "$WORKLOADS/jitlike" --seconds 1 >/dev/null
run "$FATHOM" stacks -i j.data
expect_status 0 "a recording"
expect_out_like 'jitlike +[0-9]+ .*CFI, [0-9]+% fp' "tells which frames frame pointers gave"
# What a pipe carries is the same, from a file and from standard input.
"$FATHOM" record -q -F 499 -o - -- "$WORKLOADS/jitlike" --seconds 1 >pipe.data 2>/dev/null
run "$FATHOM" stacks -i pipe.data
expect_out_like 'jitlike +[0-9]+ .*CFI, [0-9]+% fp' "a recording from a pipe tells it, too"
run bash -c "TMPDIR='$TMP' '$FATHOM' stacks -i - <pipe.data"
expect_out_like 'jitlike +[0-9]+ .*CFI, [0-9]+% fp' "also from standard input"
is "nothing of it stays" "$(find "$TMP" -name 'fathom-stacks-*')" ''
run bash -c "TMPDIR='$TMP/none' '$FATHOM' stacks -i - <pipe.data"
expect_status 1 "no place to keep standard input"
expect_err 'cannot make a file'
"$FATHOM" record -q --call-graph fp -F 499 -o f.data -- "$burn" --seconds 0.5 a=100 >/dev/null
run "$FATHOM" stacks -i f.data
expect_status 0 "a recording by frame pointers"
expect_prose 'does not say why stacks ended'
if command -v perf >/dev/null; then
	perf record -q -g -F 499 -e cpu-clock -o p.data -- "$burn" --seconds 0.5 a=100 >/dev/null 2>&1
	run "$FATHOM" stacks -i p.data
	expect_status 0 "a recording of perf's"
else
	skip "needs perf"
fi

# Of a large table only what is met is in kernel memory, unless there is room: with all that runs here
# it stays below 10 MB.
large=()
for program in clang node java gdb; do
	command -v "$program" >/dev/null && large+=("$program")
done
(for _ in 1 2 3; do for program in "${large[@]}"; do "$program" --version || "$program" -version; done; done) \
	>/dev/null 2>&1 &
"$FATHOM" record -q -a -F 499 -d 2s -o large.data >/dev/null
wait
run "$FATHOM" stacks --json -i large.data
expect_status 0 "a recording of all that runs"
mb=$(sed -n 's/.*(\([0-9,]*\) files, \([0-9.]*\) MB).*/\2/p' <<<"$out" | head -1)
ok "its tables take less than 10 MB ($mb)" test "$(awk -v mb="${mb:-99}" 'BEGIN { print mb < 10 }')" -eq 1

# The section on stacks is cut or damaged: the rest of the recording counts.
python3 - <<'END'
data = bytearray(open("j.data", "rb").read())
at = data.rfind(b"jitlike\0\0\0\0\0\0\0\0\0")
data[at - 60:at] = b"\xff" * 60
open("broken.data", "wb").write(data)
END
run "$FATHOM" stacks -i broken.data
expect_status 0 "a damaged section is no reason to fail"
run "$FATHOM" stacks -i no-such-file
expect_status 1
: >empty
run "$FATHOM" stacks -i empty
ok "an empty file is refused" test "$status" -ne 0
spawn sleep 60
for _ in {1..600}; do
	grep -q nanosleep "/proc/$spawned/wchan" && break
	sleep 0.05
done
run "$FATHOM" stacks -p "$spawned" -d 200ms
expect_status 4
expect_err 'no samples: the target did not run' "who sleeps has no samples, and no file is named"

done_testing
