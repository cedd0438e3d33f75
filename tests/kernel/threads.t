#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# threads and explain: every microsecond on an account, and the right one.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block" "$WORKLOADS/hog" "$WORKLOADS/chain" "$WORKLOADS/naps"
cd "$TMP" || exit 1

truth() { python3 "$TOP/tests/lib/threads_truth.py" "$@"; }

run "$FATHOM" threads --json -- "$WORKLOADS/block" pipe
expect_status 0
ok "states sum to 100 %" truth sums "$out_file" 1
ok "the reader waits for a pipe, the writer sleeps" truth pipe "$out_file"

run "$FATHOM" threads --json -- "$WORKLOADS/hog" --seconds 2
ok "states sum to 100 %" truth sums "$out_file" 1
ok "the victim is runnable, not blocked; as schedstat says" truth hog "$out_file"

run "$FATHOM" threads -d 1s --json -n 0
expect_status 0
ok "the whole machine: each thread's states sum to 100 %" truth sums "$out_file" 1
ok "... its wall time is ours" python3 - "$out_file" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
rows = doc["threads"]
length = doc["facts"]["duration_ns"]
assert len(rows) > 20
for r in rows:
    assert r["wall_ns"] <= length * 1.02 + 5e6, r
assert sum(1 for r in rows if r["wall_ns"] > 0.98 * length) > 10
END
run "$FATHOM" threads -d 300ms --by process -n 5
expect_status 0
expect_out_like '^ *PID +COMMAND'
run "$FATHOM" threads -d 300ms --by cgroup --json
expect_status 0

# --- explain ------------------------------------------------------------------------------------

spawn "$WORKLOADS/hog" --seconds 300 >/dev/null
pid=$spawned
wait_until has_threads $pid 3
run "$FATHOM" explain -p $pid -d 1.5s
expect_status 0
expect_out_like "^Process $pid \(hog\): 3 threads"
expect_out_like 'Waiting for a CPU took '
expect_out_like '^Who had the CPU in that time:'
expect_out_like '^ +[0-9.]+m?s +[0-9.]+%  [^ ].* \([0-9]+\), in [0-9]+ turns?$'
not_ok "no line is wider than a page" grep -Eq '^.{80}' "$out_file"
run "$FATHOM" explain -p $pid -d 1.5s --json
ok "it names the hog; who had the CPU had no more of it than there was" truth hog_ran "$out_file"
kill $pid
wait $pid 2>/dev/null
run "$FATHOM" explain -- "$WORKLOADS/chain"
expect_status 0
# what is folded to the width of a page is read as one line
page=$(flat "$out")
like "a's waits together" "$page" '[0-9.]+m?s in [0-9]+ waits, the longest [0-9.]+m?s: chain-a \([0-9]+\) was waiting for a semaphore in .*a_waits_for_b'
like "their waker" "$page" '[Ww]oken by chain-b \([0-9]+\) in [^.]*b_wakes_a'
like "what that one did meanwhile" "$page" 'Meanwhile chain-b: [0-9.]+m?s \([0-9.]+%\) was waiting for a semaphore in [^.]*b_waits_for_c'
like "and its waker, to the end" "$page" 'woken by chain-c \([0-9]+\) in [^.]*c_wakes_b[^.]*, which was sleeping on a timer in [^.]*c_sleeps[^.]*, woken by a timer[.]'
not_ok "no line is wider than a page" grep -Eq '^.{80}' "$out_file"
run "$FATHOM" explain --json -- "$WORKLOADS/chain"
ok "the same for machines" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
# a timer may go off where nothing is seen of it: most of a's waits have the whole chain
a = sorted([w for w in r["waits"] if w["comm"] == "chain-a"], key=lambda w: -w["count"])
assert a and a[0]["kind"] == "semaphore" and "a_waits_for_b" in a[0]["where"], r["waits"]
assert a[0]["waker"].startswith("chain-b <- chain-c <- [timer]"), a[0]
assert "b_wakes_a" in a[0]["waker_where"] and "b_waits_for_c" in a[0]["waker_waited_in"], a[0]
assert abs(sum(s["percent"] for s in r["states"]) - 100) < 1, r["states"]
END

# Threads that do the same are reported once, and the figures add up.
run "$FATHOM" explain -- "$WORKLOADS/naps" --threads 4 --count 20 --us 5000
expect_status 0
expect_prose '[0-9.]+m?s in [0-9]+ waits, the longest [0-9.]+m?s: napper \([0-9]+ and 3 others\) were sleeping on a timer in [^.]*nap_main[.]'
is "... once" "$(grep -c 'napper ([0-9]* and 3' <<<"$(flat "$out" | sed 's/ [1-5][.] /\n/g')")" 1
run env COLUMNS=60 "$FATHOM" explain -- "$WORKLOADS/naps" --threads 4 --count 5 --us 5000
not_ok "a narrow page" grep -Eq '^.{61}' "$out_file"
run "$FATHOM" explain --json -- "$WORKLOADS/naps" --threads 4 --count 20 --us 5000
ok "the same for machines" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
hidden = r["facts"]["inferred_ends"] + r["facts"]["unknown_start"]
naps = [w for w in r["waits"] if "nap_main" in w["where"] and not w["began_before"]]
assert len(naps) == 1, r["waits"]
n = naps[0]
assert n["threads"] == 4 and 80 - hidden <= n["count"] <= 80 + hidden, (n, hidden)
assert n["max_ns"] <= n["time_ns"] and n["waker_count"] <= n["count"], n
assert n["waker"] == "[timer]" and n["waker_time_ns"] >= 0.5 * n["time_ns"], n
seen = [(w["comm"], w["kind"], w["where"], w["began_before"], w["goes_on"]) for w in r["waits"]]
assert len(set(seen)) == len(seen), seen
END

# A function is named when there are samples enough: one of one would be 100 %.
"$FATHOM" record -q --chains -F 20 -o few.data -- "$WORKLOADS/burn" --seconds 0.3 a=100 >/dev/null
run "$FATHOM" explain -i few.data
expect_out_like '[1-9] CPU samples? (is|are) too few to say in which functions it ran'
unlike 'few samples: no list' "$out" 'Where CPU time went'
run "$FATHOM" explain -i few.data --json
ok 'few samples: no rows' python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
assert 0 < r["facts"]["cpu_samples"] < 10 and r["functions"] == [], r' "$out_file"
"$FATHOM" record -q --chains -F 499 -o many.data -- "$WORKLOADS/burn" --seconds 0.3 a=100 >/dev/null
run "$FATHOM" explain -i many.data
expect_out_like 'Where CPU time went, by [0-9]+ samples:'
unlike 'samples enough' "$out" 'too few'
run "$FATHOM" explain
expect_status 2
# Some kernels hide their first process from all who trace: that is said, with what it has.
run "$FATHOM" explain -p 1 -d 200ms
if [ "$status" = 4 ]; then
	expect_err_like "no thread of process 1 \(.*\) was seen, though it has [0-9]+$"
	expect_err 'hint: this kernel keeps it from those who trace'
else
	expect_status 0
	expect_out_like '^Process 1 \('
fi
run "$FATHOM" explain -p 999999 -d 100ms
expect_status 1 "a process that is not there"
expect_err "no process 999999"
done_testing
