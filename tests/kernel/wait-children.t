#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# A process that was named and those that it has started: --children includes them, and without it
# the commands about waiting say that there are any. explain sums up the page faults of all.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /usr/bin/python3
RUN_TIMEOUT=120 # where dozens want a CPU, half a minute is not enough
cd "$TMP" || exit 1

cat >family.py <<'END'
import mmap, os, time
child = os.fork()
if child == 0:
    if os.fork() == 0:
        open("/proc/self/comm", "w").write("grandchild")
        while True:
            time.sleep(0.01)
    open("/proc/self/comm", "w").write("child")
    pages = mmap.mmap(-1, 4096 * 200)
    while True:
        pages.madvise(mmap.MADV_DONTNEED)
        for i in range(200):
            pages[4096 * i] = 1
        time.sleep(0.01)
open("/proc/self/comm", "w").write("parent")
open("ready", "w").close()
os.wait()
END
spawn /usr/bin/python3 family.py
pid=$spawned
# shellcheck disable=SC2317  # called by wait_until
named() {
	local child

	child=$(pgrep -x child -P "$pid") && [ -e ready ] && pgrep -x grandchild -P "$child" >/dev/null
}
wait_until named

run "$FATHOM" threads -p "$pid" -d 500ms --json
expect_status 0
# comms FILE: the names of the rows
comms() {
	python3 - "$1" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
print(*sorted({w["comm"] for w in r.get("threads") or r["waits"]}))
END
}
is 'threads -p: the process alone' "$(comms "$out_file")" parent
expect_out "process $pid has started 2 processes, not shown here" '... and says that there are others'
run "$FATHOM" threads -p "$pid" --children -d 500ms --json
is 'threads -p --children: all three' "$(comms "$out_file")" 'child grandchild parent'
unlike '... and none are said to be missing' "$out" 'not shown here'
for command in offcpu offwake chain wakeup; do
	run "$FATHOM" "$command" -p "$pid" -d 500ms
	expect_prose "has started 2 processes, not shown here"
	run "$FATHOM" "$command" -p "$pid" --children --json -d 500ms
	expect_status 0
	like "$command -p --children: their waits" "$(comms "$out_file")" 'child grandchild'
done
run "$FATHOM" threads --children -i x.data
expect_status 2 'recordings have who was recorded'

run "$FATHOM" explain -p "$pid" -d 500ms --json
expect_status 0
ok 'explain: page faults of all processes' python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["facts"]["threads"] == 3, r["facts"]
assert r["facts"]["minor_faults"] >= 400, r["facts"]
END
run "$FATHOM" explain -p "$pid" -d 500ms --no-children --json
ok '... and of the one that was named' python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["facts"]["threads"] == 1 and r["facts"]["minor_faults"] < 50, r["facts"]
END

# Those that are started meanwhile are included as well.
cat >starts.py <<'END'
import os, time
while True:
    if os.fork() == 0:
        open("/proc/self/comm", "w").write("short")
        time.sleep(0.005)
        os._exit(0)
    os.wait()
END
spawn /usr/bin/python3 starts.py
# shellcheck disable=SC2317  # called by wait_until
has_child() { pgrep -P "$spawned" >/dev/null; }
wait_until has_child
run "$FATHOM" offcpu -p "$spawned" --children --json -d 500ms
like 'a child that is started later' "$(comms "$out_file")" 'short'
done_testing
