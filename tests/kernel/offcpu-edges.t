#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# offcpu where a wait has no begin, no end, or no room: totals stay right, or the shortfall is said.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block"
cd "$TMP" || exit 1

# Threads that sleep when another one ends or replaces the process: their waits end with them.
cat >gone.py <<'END'
import os, sys, threading, time
def nap():
    time.sleep(30)
for _ in range(3):
    threading.Thread(target=nap, daemon=True).start()
time.sleep(0.3)
if sys.argv[1] == "exec":
    os.execlp("sleep", "sleep", "0.2")
os._exit(0)
END
for how in exit exec; do
	run "$FATHOM" offcpu --threads --json -n 0 -- python3 gone.py $how
	expect_status 0
	ok "$how while others sleep: 3 waits of 0.3 s, none of 30 s" python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
long = [w for w in r["waits"] if "nanosleep" in w["where"] and w["time_ns"] > 0.25e9]
assert len(long) >= 3, r["waits"]
assert all(w["max_ns"] < r["facts"]["duration_ns"] for w in r["waits"])
assert not any(r["losses"].values()), r["losses"]
END
done

# A wait that began before is shown for a process that was named, as far as it was observed.
"$WORKLOADS/block" sleep --count 2 --ms 4000 >/dev/null &
pid=$!
wait_until is_running $pid block
run "$FATHOM" offcpu -p $pid -d 30s --json -n 0
expect_status 0
ok "asleep from before: shown as far as observed; the end of the process is ours" \
	python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
naps = [w for w in r["waits"] if "take_a_nap" in w["where"]]
assert sum(w["count"] for w in naps) == 2, r["waits"]
time = sum(w["time_ns"] for w in naps)
assert 4.1e9 < time <= r["facts"]["duration_ns"], (time, r["facts"])
assert r["facts"]["duration_ns"] < 15e9, r["facts"]
END
wait $pid

run "$FATHOM" offcpu --rows 1 --json -n 0 -- sh -c 'sleep 0.1; "$0" sleep --count 3; sleep 0.1' "$WORKLOADS/block"
expect_status 0
ok "no room in the map: what is missing is said, in times and in time" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
assert len(r["waits"]) <= 1, r["waits"]
assert r["losses"]["map_full"] >= 3, r["losses"]
END
# --- nothing is missing silently -----------------------------------------------------------------

run "$FATHOM" offcpu --state S --rows 1 -o few.svg -- "$WORKLOADS/block" pipe --count 5
expect_err 'waits were lost'
like "a picture says what is missing" "$(cat few.svg)" '[0-9]+ lost'
run "$FATHOM" record -q -z0 --off-cpu -o whole.data -- "$WORKLOADS/block" pipe --count 100 --ms 5
# among the samples: names come after them
head -c 30000 whole.data >cut.data
run "$FATHOM" offcpu -i cut.data
like "a damaged recording is said to be one" "$out$err" 'damaged'
run "$FATHOM" offcpu -i cut.data --folded
expect_err 'damaged'
run "$FATHOM" flame --hotcold --idle -i whole.data --json
ok "hot and cold: the wait for our word to begin is no part of a life" python3 - "$out_file" <<'END'
import json, sys
f = json.load(open(sys.argv[1]))["facts"]
assert f["unknown_ns"] < 0.002 * f["wall_ns"], f
END
# --- we come first, what we start does not --------------------------------------------------------

run "$FATHOM" offcpu -q -o nice.folded -- sh -c 'sleep 0.1; cut -d" " -f19 /proc/self/stat'
expect_status 0
is "a program that is started has the priority of whoever started us" "$out" "$(cut -d' ' -f19 /proc/self/stat)"
spawn "$FATHOM" offcpu -d 60s
for _ in $(seq 100); do
	got=$(cut -d' ' -f19 "/proc/$spawned/stat")
	[ "$got" = -20 ] && break
	sleep 0.1
done
if [ "$got" = -20 ]; then
	pass "we have the highest"
else
	ok "we may not, and go on" kill -0 "$spawned"
fi

done_testing
