#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# runqlat, cpudist and runqlen on recordings, against figures worked out of 'perf script'.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd perf python3 taskset
need_file "$WORKLOADS/block" "$WORKLOADS/hog"
cd "$TMP" || exit 1

spinners=()
stop_spinners() {
	[ "${#spinners[@]}" -eq 0 ] || kill "${spinners[@]}" 2>/dev/null
	wait
	spinners=()
}
trap 'stop_spinners; test_end' EXIT

# Four that want one CPU: three of them wait at any time. perf 6.1 now and then aborts.
record() {
	local try
	for try in 1 2 3 4 5; do
		for _ in 1 2 3 4; do
			taskset -c 0 python3 -c 'while True: pass' &
			spinners+=($!)
		done
		perf sched record -m 4M --no-bpf-event -B -o hist.data -- "$WORKLOADS/block" pipe \
			>/dev/null 2>&1 && perf script -i hist.data --ns -F tid,cpu,time,event,trace \
			2>/dev/null >hist.txt && stop_spinners && return
		stop_spinners
		diag "perf failed, try $try"
	done
	plan_skip "perf cannot record sched events here"
}
record

# The rules of the program that counts in the kernel, over again.
cat >model.py <<'END'
import json, re, sys
from collections import defaultdict

class Task:
    def __init__(self):
        self.ready = self.came = self.out = self.ran = 0

def waits():
    """{what: {by: [ns]}} of all that perf tells."""
    tasks, found = defaultdict(Task), defaultdict(lambda: defaultdict(list))
    def add(what, tid, cpu, ns):
        if tid:
            for by in ("all", ("cpu", cpu), ("tid", tid)):
                found[what][by].append(ns)
    def come(tid, cpu, t):
        w = tasks[tid]
        if w.ready and t >= w.ready:
            add("runqlat", tid, cpu, t - w.ready)
        if w.out and t >= w.out:
            add("offcpu", tid, cpu, t - w.out)
        w.ready = w.out = w.ran = 0
        w.came = t
    for line in open("hist.txt"):
        m = re.match(r"\s*(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s+(.*)", line)
        assert m, line
        cpu, t, kind, rest = int(m[2]), int(m[3]) * 10**9 + int(m[4]), m[5], m[6]
        pid = re.search(r"\bpid=(\d+)", rest)
        if kind == "sched_switch":
            m = re.search(r"prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+)", rest)
            prev, state, nxt = int(m[1]), m[2], int(m[3])
            come(nxt, cpu, t)
            w = tasks[prev]
            if not w.came and w.out and w.ran and t - w.ran >= w.out:
                come(prev, cpu, t - w.ran)
            if w.came and t >= w.came:
                add("oncpu", prev, cpu, t - w.came)
            w.came, w.ran, w.out, w.ready = 0, 0, t, t if state in ("R", "R+") else 0
        elif kind in ("sched_waking", "sched_wakeup_new"):
            w = tasks[int(pid[1])]
            if not w.ready and not w.came:
                w.ready = t
        elif kind == "sched_stat_runtime":
            tasks[int(pid[1])].ran += int(re.search(r"runtime=(\d+)", rest)[1])
        elif kind == "sched_process_fork":
            tasks[int(re.search(r"child_pid=(\d+)", rest)[1])] = Task()
    return found

def slots(values, unit=1000):
    out = defaultdict(int)
    for v in values:
        out[(v // unit).bit_length()] += 1
    return out

def histograms(path):
    """{label: histogram} of our JSON."""
    h = json.load(open(path)).get("histogram", [])
    return {x.get("label") or "all": x for x in (h if isinstance(h, list) else [h])}

def same(values, ours):
    want = slots(values)
    got = defaultdict(int)
    for b in ours["buckets"]:
        if b["count"]:
            got[b["min"].bit_length()] += b["count"]
    # one bucket takes both 0 and 1
    for d in (want, got):
        d[1] += d.pop(0, 0)
    assert {k: v for k, v in want.items() if v} == {k: v for k, v in got.items() if v}, (want, got)
    assert ours["count"] == len(values), (ours["count"], len(values))

what, by, path = sys.argv[1:]
found, ours = waits()[what], histograms(path)
assert len(found["all"]) > 100, found
for key, values in found.items():
    if by == "all" and key == "all":
        same(values, ours["all"])
    elif by != "all" and key != "all" and key[0] == by:
        label = [x for x in ours if re.match(rf"{by} = {key[1]}\b", x)]
        assert len(label) == 1, (key, list(ours))
        same(values, ours[label[0]])
print(f"# {len(found['all'])} values, {len(ours)} histograms")
END

for what in runqlat:runqlat oncpu:cpudist "offcpu:cpudist -O"; do
	for by in all cpu tid; do
		# shellcheck disable=SC2086  # a command and its option
		run "$FATHOM" ${what#*:} -i hist.data --by $by --json
		expect_status 0
		ok "${what#*:} --by $by: every value in its bucket" python3 model.py "${what%%:*}" $by "$out_file"
	done
done

run "$FATHOM" runqlat -i hist.data --interval 200ms --json
expect_status 0
ok "intervals of recorded time: their sum is the whole" python3 - "$out_file" <<'END'
import json, subprocess, sys, os
text, at, parts = open(sys.argv[1]).read(), 0, []
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    value, n = json.JSONDecoder().raw_decode(text[at:])
    parts.append(value)
    at += n
whole = json.loads(subprocess.run([os.environ["FATHOM"], "runqlat", "-i", "hist.data", "--json"],
                                  capture_output=True, text=True).stdout)
assert len(parts) > 3, len(parts)
assert sum(p["facts"]["count"] for p in parts) == whole["facts"]["count"], (parts, whole)
END
run "$FATHOM" runqlat -i hist.data 0.2 2
expect_status 0
is "an interval and a count give two histograms" "$(grep -c 'usecs' "$out_file")" 2

run "$FATHOM" runqlen -i hist.data --by cpu --json
expect_status 0
ok "runqlen: three of the four on CPU 0 wait" python3 - "$out_file" <<'END'
import json, sys
h = [x for x in json.load(open(sys.argv[1]))["length"] if x.get("label") == "cpu = 0"][0]
n = sum(b["count"] for b in h["buckets"])
three = sum(b["count"] for b in h["buckets"] if b["min"] >= 3)
assert n > 50 and three > 0.8 * n, h
END
run "$FATHOM" runqlen -i hist.data --by comm
expect_status 2
run "$FATHOM" runqlat -i hist.data --by cgroup
expect_status 2
expect_err 'does not contain the cgroups'

# --- recordings of our own ------------------------------------------------------------------------

"$WORKLOADS/hog" --seconds 20 >/dev/null &
spinners+=($!)
run "$FATHOM" record -o own.data -e sched:sched_switch,sched:sched_waking --call-graph none -a -d 1s
expect_status 0
run "$FATHOM" runqlat -i own.data --by comm --json
expect_status 0
like "the victim of a hog waits" "$out" '"comm = victim"'
run "$FATHOM" runqlen -i own.data
expect_status 4
expect_err 'hint: record sched:sched_switch, sched:sched_waking and sched:sched_migrate_task'
run "$FATHOM" record -o off.data --off-cpu -a -d 1s
expect_status 0
run "$FATHOM" runqlat -i off.data --by comm --json
expect_status 0
like "waits that were measured while recording serve, too" "$out" '"comm = victim"'
run "$FATHOM" cpudist -i off.data
expect_status 4
expect_err 'holds no sched_switch events'
done_testing
