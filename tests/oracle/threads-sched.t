#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# threads and explain from 'perf sched record': as far as the scheduler's events reach.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 perf
need_file "$WORKLOADS/mixed" "$WORKLOADS/hog"
cd "$TMP" || exit 1

truth() { python3 "$TOP/tests/lib/threads_truth.py" "$@"; }
# watched NAME PROGRAM...: recorded by perf; what the program and threads say goes to NAME.txt.
# Without BPF events, at which some perf dies. False: it failed or lost events, which is not ours.
watched() {
	local name=$1 pid
	shift
	# shellcheck disable=SC2016 # for the shell inside
	perf sched record -m 8M --no-bpf-event -B -o "$name.data" -- sh -c 'echo pid=$$; exec "$@"' sh "$@" \
		>"$name.txt" 2>"$name.err" || return 1
	pid=$(sed -n '1s/^pid=//p' "$name.txt")
	"$FATHOM" threads -i "$name.data" -p "$pid" --json >"$name.json" || return 1
	cat "$name.json" >>"$name.txt"
	! grep -Eq '"lost_events": [1-9]' "$name.json"
}

if watched mixed "$WORKLOADS/mixed"; then
	ok "the states of each thread sum to its wall time" truth sums mixed.txt
	ok "wall time, time on CPU and for a CPU: as clocks and schedstat have them" truth clocks mixed.txt
	ok "what there is: running as a whole, and states" python3 - mixed.json <<'END'
import json, sys
rows = {r["comm"]: r for r in json.load(open(sys.argv[1]))["threads"]}
for r in rows.values():
    assert r["user_percent"] == r["kernel_percent"] == r["lock_percent"] == 0, r
assert rows["reader"]["interruptible_percent"] > 50, rows["reader"]
assert rows["burner"]["running_percent"] + rows["burner"]["runnable_percent"] > 95, rows["burner"]
END
	run "$FATHOM" threads -i mixed.data -n 3
	expect_status 0
	expect_out_like '^ *TID +COMMAND +WALL +CPU +RUNQ'
	expect_out_like 'from scheduler events alone'
else
	skip "perf did not record, or lost events: $(tail -n 1 mixed.err)" 6
fi
if watched hog "$WORKLOADS/hog" --seconds 2; then
	ok "the victim is runnable, not blocked; as schedstat says" truth hog hog.txt
	run "$FATHOM" explain -i hog.data -p "$(sed -n '1s/^pid=//p' hog.txt)" --json
	expect_status 0
	ok "it names the hog, and nearly all of who had the CPU; timers wake the victim" python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
rows, f = r["ran_instead"], r["facts"]
assert any(r["comm"] == "hog" and r["time_ns"] > 1e6 for r in rows), rows[:10]
had = sum(r["time_ns"] for r in rows)
assert 0.8 * f["runqueue_ns"] <= had <= 1.02 * f["runqueue_ns"] + 1e6, (had, f)
slept = [w for w in r["waits"] if w["comm"] == "victim" and w["kind"] == "interruptible"]
assert slept and any(w.get("waker") == "[irq]" for w in slept), r["waits"]
assert abs(sum(s["percent"] for s in r["states"]) - 100) < 1, r["states"]
END
else
	skip "perf did not record, or lost events: $(tail -n 1 hog.err)" 3
fi
done_testing
