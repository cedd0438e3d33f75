#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# threads -i and explain -i: the tables and the page of the running machine, from a recording.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block" "$WORKLOADS/hog" "$WORKLOADS/chain" "$WORKLOADS/mixed" "$WORKLOADS/kinds"
cd "$TMP" || exit 1

truth() { python3 "$TOP/tests/lib/threads_truth.py" "$@"; }
# recorded NAME OPTION... -- PROGRAM...: records it, and leaves what both say in NAME.txt.
recorded() {
	local name=$1
	shift
	run "$FATHOM" record -q -o "$name.data" "$@"
	expect_status 0 "$name is recorded"
	cp "$out_file" "$name.txt"
	"$FATHOM" threads -i "$name.data" --json >>"$name.txt"
}

# --- one recording, the figures of the live table ------------------------------------------------

recorded mixed --off-cpu -- "$WORKLOADS/mixed"
ok "the states of each thread sum to its wall time" truth sums mixed.txt
ok "wall time, time on CPU and for a CPU: as clocks and schedstat have them" truth clocks mixed.txt
ok "user and kernel time: as getrusage has them" truth split mixed.txt
ok "switches by choice and by force: as getrusage has them" truth switches mixed.txt
for by in process comm cgroup; do
	run "$FATHOM" threads -i mixed.data --by $by --json
	ok "by $by: the sums are whole, too" truth groups "$out_file"
done
run "$FATHOM" threads -i mixed.data --csv
like "csv: the columns of the live table" "$out" '^tid,pid,comm,cgroup,threads,wall_ns,user_percent,'
run "$FATHOM" threads -i mixed.data --comm burner
like "--comm" "$out" ' burner '
unlike "... and nobody else" "$out" ' (rival|reader|mixed) '

recorded pipe --chains -- "$WORKLOADS/block" pipe
ok "the reader waits for a pipe, the writer sleeps" truth pipe pipe.txt
run "$FATHOM" threads -i pipe.data
like "waits of one place are one: all of a second" "$out" ' reader +(1\.[0-9]+s|9[0-9][0-9]ms) +pipe +[a-z_]*pipe_read < '
recorded hog --chains -- "$WORKLOADS/hog" --seconds 2
ok "the victim is runnable, not blocked; as schedstat says" truth hog hog.txt

head -c 16777216 /dev/urandom >file
sync -f file
on_disk=yes
case $(stat -f -c %T file) in tmpfs | ramfs) on_disk= ;; esac
for kind in disk fault; do
	if [ -z "$on_disk" ]; then
		skip "$kind: '$TMP' is in memory" 2
		continue
	fi
	recorded $kind --off-cpu -- "$WORKLOADS/kinds" $kind --file file
	ok "$kind: its wait is of that kind, all of it and nothing else" truth kind $kind.txt $kind
done
# those that only sleep are not in each other's way
kinds=(network lock poll child)
pids=()
for kind in "${kinds[@]}"; do
	"$FATHOM" record -q --off-cpu -o "$kind.data" -- "$WORKLOADS/kinds" "$kind" >"$kind.txt" 2>"$kind.err" &
	pids+=($!)
done
for i in "${!kinds[@]}"; do
	kind=${kinds[i]}
	ok "$kind is recorded" wait "${pids[i]}"
	"$FATHOM" threads -i "$kind.data" --json >>"$kind.txt"
	ok "$kind: its wait is of that kind, all of it and nothing else" truth kind "$kind.txt" "$kind"
done

# --- the page -------------------------------------------------------------------------------------

recorded chain --chains -- "$WORKLOADS/chain"
pid=$(sed -n 's/^pid=//p' chain.txt)
run "$FATHOM" explain -i chain.data -p "$pid"
expect_status 0
expect_out_like "^Process $pid \(chain\): 4 threads"
page=$(flat "$out")
like "a's waits together" "$page" '[0-9.]+m?s in [0-9]+ waits, the longest [0-9.]+m?s: chain-a \([0-9]+\) was waiting for a semaphore in .*a_waits_for_b'
like "their waker" "$page" '[Ww]oken by chain-b \([0-9]+\) in [^.]*b_wakes_a'
like "and its waker, to the end" "$page" 'woken by chain-c \([0-9]+\) in [^.]*c_wakes_b[^.]*, which was sleeping on a timer in [^.]*c_sleeps[^.]*, woken by a timer[.]'
like "page faults" "$page" 'Page faults: [0-9]+ without and [0-9]+ with reading'
not_ok "no line is wider than a page" grep -Eq '^[^n ].{79}' "$out_file"
first=$(head -n 12 "$out_file")
run "$FATHOM" explain -i chain.data
is "without -p it is the program that was recorded" "$(head -n 12 "$out_file")" "$first"
run "$FATHOM" explain -i chain.data --json
ok "the same for machines" python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
a = [w for w in r["waits"] if w["comm"] == "chain-a"]
assert a and a[0]["kind"] == "semaphore" and "a_waits_for_b" in a[0]["where"], r["waits"]
assert a[0]["waker"].startswith("chain-b <- chain-c <- [timer]"), a[0]
assert "b_wakes_a" in a[0]["waker_where"] and "b_waits_for_c" in a[0]["waker_waited_in"], a[0]
assert abs(sum(s["percent"] for s in r["states"]) - 100) < 1, r["states"]
END

# --- a process of the whole machine's recording ---------------------------------------------------

spawn "$WORKLOADS/hog" --seconds 300 >/dev/null
pid=$spawned
for ((i = 0; i < 100; i++)); do
	[ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 3 ] || break
	sleep 0.1
done
run "$FATHOM" record -q --chains -d 1.5s -o all.data
expect_status 0
kill "$pid"
wait "$pid" 2>/dev/null
run "$FATHOM" threads -i all.data --json -n 0
ok "all threads: the states of each sum to 100 %" truth sums "$out_file" 1
ok "... those that slept all the time are there, too" python3 - "$out_file" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
rows, length = doc["threads"], doc["facts"]["duration_ns"]
assert len(rows) > 20 and all(r["wall_ns"] <= length * 1.02 + 5e6 for r in rows)
assert sum(1 for r in rows if r["wall_ns"] > 0.98 * length) > 10
END
run "$FATHOM" threads -i all.data -p $$ --by cgroup --json
ok "control groups have the names that they had" python3 - "$out_file" "$(sed -n 's/^0:://p' /proc/self/cgroup)" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["threads"]
assert not sys.argv[2] or [r["cgroup"] for r in rows] == [sys.argv[2]], rows
END
run "$FATHOM" threads -i all.data -U --json -n 0
unlike "-U: no kernel threads" "$out" '"comm": "(kthreadd|ksoftirqd/0)"'
run "$FATHOM" explain -i all.data -p "$pid"
expect_status 0
expect_out_like "^Process $pid \(hog\): 3 threads"
expect_out_like '^Who had the CPU in that time:'
# who came and went without a wait of its own may have been there, but nobody who matters
guessed=$(flat "$out" | sed -nE 's/.* \(([0-9]+)\.[0-9] %\) is charged to the thread that ran.*/\1/p')
ok "all threads are in it: nearly nobody is guessed (${guessed:-0} %)" [ "${guessed:-0}" -lt 20 ]
run "$FATHOM" explain -i all.data -p "$pid" --json
ok "it names the hog; who had the CPU had no more of it than there was" truth hog_ran "$out_file"
run "$FATHOM" explain -i all.data
expect_status 2 "which of all processes is not said"
expect_err 'threads --by process -i all.data'
run "$FATHOM" explain -i all.data -p 4194303
expect_status 4 "a process that is not in it"

# --- what recordings lack ---------------------------------------------------------------------------

"$FATHOM" record -q --off-cpu -p $$ -d 300ms -o - 2>/dev/null | "$FATHOM" threads -i - --json >stream.json
ok "from a pipe" python3 - stream.json $$ <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["threads"]
assert any(r["pid"] == int(sys.argv[2]) for r in rows), rows
END
size=$(stat -c %s all.data)
head -c $((size * 7 / 10)) all.data >cut.data
run "$FATHOM" threads -i cut.data -n 5
expect_prose 'thread accounts are missing'
expect_prose 'user and kernel were sampled'
run "$FATHOM" threads -i cut.data -n 0 --json
ok "a file that was cut: what is known sums up, too" python3 - "$out_file" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
rows = doc["threads"]
states = [k for k in rows[0] if k.endswith("_percent")]
assert len(rows) > 5
for r in rows:
    assert abs(sum(r[k] for k in states) - 100) <= 1, r
# two threads burned: most of their time is on or for a CPU
hogs = [r for r in rows if r["comm"] == "hog" and r["user_percent"] + r["runnable_percent"] > 80]
assert hogs, [r for r in rows if r["comm"] == "hog"]
END
run "$FATHOM" record -q --off-cpu --wait-min 1ms -o min.data -- "$WORKLOADS/mixed" --seconds 0.5
run "$FATHOM" threads -i min.data
expect_prose 'waits shorter than 1 ms were not recorded'
run "$FATHOM" record -q --off-cpu --wait-period 5ms -o period.data -- "$WORKLOADS/mixed" --seconds 0.5
run "$FATHOM" threads -i period.data
expect_out_like 'waits were sampled'
run "$FATHOM" explain -i period.data
expect_prose 'wakers were not recorded'
expect_prose 'sampled waits do not say who had the CPU instead'
run "$FATHOM" record -q -o cpu.data -- "$WORKLOADS/burn" --seconds 0.2
for what in threads explain; do
	run "$FATHOM" $what -i cpu.data
	expect_status 4 "$what: a recording without waits"
	expect_err 'record --chains'
	run "$FATHOM" $what -i all.data -d 1s
	expect_status 2 "$what: a recording has its own duration"
	run "$FATHOM" $what -i all.data -- true
	expect_status 2 "$what: a recording or a program"
done
done_testing
