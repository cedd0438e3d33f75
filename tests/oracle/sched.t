#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# sched latency and timehist on recordings of perf, against perf's own figures for every task; and
# perf as the reader of waits that we record.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd perf python3
need_file "$WORKLOADS/block" "$WORKLOADS/hog"
cd "$TMP" || exit 1

# Programs for BPF that others load while we record are events that perf itself cannot always read,
# and looking for build ids (-B) at the end it reads all. perf 6.1's latency looks at sched_wakeup,
# which 'perf sched record' leaves out for sched_waking.
# shellcheck disable=SC2317  # called through patiently
record_latency() {
	"$WORKLOADS/hog" --seconds 2 >/dev/null &
	perf record -q -a -R -m 4M -c 1 --no-bpf-event -B -e sched:sched_switch \
		-e sched:sched_stat_runtime -e sched:sched_wakeup -e sched:sched_wakeup_new \
		-e sched:sched_process_fork -e sched:sched_migrate_task -o lat.data \
		-- "$WORKLOADS/block" pipe >/dev/null 2>&1 || return
	wait
	perf sched -i lat.data latency -p >perf.lat 2>/dev/null &&
		perf script -i lat.data --ns -F tid,time,event,trace 2>/dev/null >lat.txt
}
# shellcheck disable=SC2317
record_timehist() {
	perf sched record -m 4M --no-bpf-event -B -o hist.data -- "$WORKLOADS/block" mutex \
		>/dev/null 2>&1 && perf sched timehist -i hist.data >perf.hist 2>/dev/null
}
# perf 6.1 now and then aborts, while it records or while it reads.
patiently() {
	local try
	for try in 1 2 3 4 5; do
		"$@" && return
		diag "$1: perf failed, try $try"
	done
	plan_skip "perf cannot record sched events here"
}
patiently record_latency
patiently record_timehist

run "$FATHOM" sched latency -i lat.data --pids --json
expect_status 0
cp "$out_file" ours.lat
# perf 6.1 takes the state R+ (preempted in the kernel) for asleep, so both readings of that state
# are worked out here from the events: one must be ours, and perf's must be one of the two.
cat >latency.py <<'END'
import json, re
from collections import Counter

class Task:
    def __init__(self):
        self.state, self.wake, self.runtime = None, 0, 0
        self.n = self.total = self.most = 0
    def out(self, runnable, t):
        self.state, self.wake = ("wait" if runnable else "sleep"), t
    def come(self, t):
        if self.state is None:
            self.out(True, t)
        if self.state != "wait":
            return
        self.state = "runs"
        self.n, self.total = self.n + 1, self.total + t - self.wake
        self.most = max(self.most, t - self.wake)

def model(plus_runs):
    tasks = {}
    task = lambda tid: tasks.setdefault(int(tid), Task())
    for line in open("lat.txt"):
        m = re.match(r"\s*-?\d+\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s+(.*)", line)
        assert m, line
        t, kind, rest = int(m[1]) * 10**9 + int(m[2]), m[3], m[4]
        if kind == "sched_switch":
            m = re.search(r"prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+)", rest)
            task(m[1]).out(m[2] == "R" or (m[2] == "R+" and plus_runs), t)
            task(m[3]).come(t)
        elif kind in ("sched_wakeup", "sched_wakeup_new"):
            w = task(re.search(r"\bpid=(\d+)", rest)[1])
            if w.state is None:
                w.out(False, t)
            if w.state == "sleep":
                w.state, w.wake = "wait", t
        elif kind == "sched_stat_runtime":
            m = re.search(r"\bpid=(\d+) runtime=(\d+)", rest)
            w = task(m[1])
            if w.state is None:
                w.out(True, t)
            w.runtime += int(m[2])
    return tasks

def same(n, avg, most, t):
    """perf rounds to 1 us."""
    return (n == t.n and abs(avg - t.total / max(t.n, 1) / 1e6) < 0.0011 and
            abs(most - t.most / 1e6) < 0.0011)

perf = []
for line in open("perf.lat"):
    m = re.match(r"\s*(.+?):(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \| avg:\s*([\d.]+) ms \| max:\s*([\d.]+) ms", line)
    if m:
        perf.append((m[1], int(m[2]), float(m[3]), int(m[4]), float(m[5]), float(m[6])))
result = json.load(open("ours.lat"))
ours = result["tasks"]
bugs = re.search(r"context switch bugs \((\d+) out of", open("perf.lat").read())
assert result["losses"]["gaps"] == (int(bugs[1]) if bugs else 0), (result["losses"], bugs)
runs, sleeps = model(True), model(False)
assert len(perf) > 5, open("perf.lat").read()
# numbers that were given twice have two rows; the model has one
twice = {tid for tid, n in Counter(o["tid"] for o in ours).items() if n > 1}
for o in ours:
    t = runs[o["tid"]]
    assert o["tid"] in twice or (o["runtime_ns"] == t.runtime and same(
        o["switches"], o["average_delay_ns"] / 1e6, o["max_delay_ns"] / 1e6, t)), (o, vars(t))
by_tid = {o["tid"]: o for o in ours}
as_asleep = 0
for comm, tid, run, n, avg, most in perf:
    if tid in twice:
        continue
    assert tid in by_tid and abs(by_tid[tid]["runtime_ns"] / 1e6 - run) < 0.0011, (comm, tid, run)
    like_ours = same(n, avg, most, runs[tid])
    assert like_ours or same(n, avg, most, sleeps[tid]), (comm, tid, n, avg, most, vars(runs[tid]))
    as_asleep += not like_ours
missing = {o["tid"] for o in ours} - {p[1] for p in perf}
# those whose every turn began after R+ have none in perf
assert all(sleeps[tid].n == 0 for tid in missing), missing
print(f"# {len(perf)} tasks, of {as_asleep} perf took R+ for asleep, {len(missing)} it has not")
END
ok "latency: run time, switches, delays of every task" python3 latency.py

cat >timehist.py <<'END'
import re, sys
def lines(path):
    out = []
    for line in open(path):
        line = line.rstrip()
        m = re.match(r"\s*([\d.]+ \[\d+\])  (.*?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)(?: \?)?$", line)
        w = re.match(r"\s*([\d.]+ \[\d+\])  (.*?)\s+awakened: (.*)$", line)
        if w:
            out.append((w[1], w[2], w[3]))
        elif m:
            out.append((m[1], m[2], m[3], m[4], m[5]))
    return out
def same_name(perf, ours):
    # perf: a thread that has ended is -1; no number where the process is not known; 31 bytes;
    # an idle task that wakes somebody has another name than one that leaves
    if ours == "<idle>":
        return perf in (ours, "swapper")
    return (perf == ours or "[-1" in perf or perf == ":-1" or perf == ours[:31] or
            perf == re.sub(r"\[[\d/]+\]$", "", ours) or perf == re.sub(r"/\d+\]$", "]", ours) or
            perf == ":" + re.search(r"\[(\d+)", ours)[1])
perf, ours = lines(sys.argv[1]), lines(sys.argv[2])
assert len(perf) > 20, len(perf)
assert len(perf) == len(ours), (len(perf), len(ours))
gone = 0
for a, b in zip(perf, ours):
    assert len(a) == len(b) and a[0] == b[0] and same_name(a[1], b[1]), (a, b)
    if len(a) == 3:
        assert same_name(a[2], b[2]), (a, b)
    elif "-1" in a[1]:
        gone += 1  # all threads that have ended are one to perf: what it had waited is mixed up
        assert a[4] == b[4], (a, b)
    else:
        assert a == (a[0], a[1], *b[2:]), (a, b)
idle = sum(b[1] == "<idle>" for b in ours)
print(f"# {len(ours)} lines, {idle} of idle CPUs, {gone} of threads that had ended")
END
run "$FATHOM" sched timehist -i hist.data
expect_status 0
ok "timehist: every line as perf has it" python3 timehist.py perf.hist "$out_file"
cp "$out_file" whole.hist
perf sched timehist -w -i hist.data >perf.hist 2>/dev/null
run "$FATHOM" sched timehist -w -i hist.data
ok "timehist -w: every line, every wake-up" python3 timehist.py perf.hist "$out_file"
cp "$out_file" ours.w
# perf -V has the marks of migrations a column too far, and one CPU too many: not asked for here.
perf sched timehist -w -M -n --state -i hist.data >perf.hist 2>/dev/null
run "$FATHOM" sched timehist -w -M -n --state -i hist.data
expect_status 0
cp "$out_file" ours.more
cat >more.py <<'END'
import re
from collections import Counter
def named(name):
    """Its number; nothing where perf has none: of idle tasks, and of those that have ended."""
    m = re.search(r"\[(\d+)(?:/\d+)?\]$", name)
    return m[1] if m else ""
def rows(path):
    moves, turns = [], []
    for line in open(path):
        m = re.match(r"\s*([\d.]+) \[(\d+)\]  (.*?)\s+migrated: (.*?) cpu (\d+) => (\d+)$", line.rstrip())
        t = re.match(r"\s*([\d.]+) \[(\d+)\]  (.*?)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+(\S)\s+next: (.*?)(?: \?)?$", line.rstrip())
        if m:
            moves.append((m[1], m[2], named(m[3]), named(m[4]), m[5], m[6]))
        elif t:
            turns.append((t[1], t[2], t[4], named(t[5])))
    return moves, turns
def differ(a, b, texts):
    return any(x != y and not (i in texts and "" in (x, y)) for i, (x, y) in enumerate(zip(a, b)))
perf, ours = rows("perf.hist"), rows("ours.more")
assert len(ours[1]) > 50 and [len(r) for r in perf] == [len(r) for r in ours]
for a, b in zip(perf[0], ours[0]):
    assert not differ(a, b, {2, 3}), (a, b)
states = Counter()
for a, b in zip(perf[1], ours[1]):
    # perf 6.1 has letters for bits that the kernel does not report this way any more: K, W, N
    if a[2] != b[2]:
        states[a[2] + b[2]] += 1
        assert a[2] in "KWNPIXZR", (a, b)
    assert not differ(a[:2] + a[3:], b[:2] + b[3:], {2}), (a, b)
print(f"# {len(ours[0])} migrations, {len(ours[1])} switches, other letters: {dict(states)}")
END
ok "timehist -M -n --state: every migration, state and who comes, as perf has it" python3 more.py
# perf's letters mean what they mean there
run "$FATHOM" sched timehist -s -i hist.data
expect_status 0
expect_out_like '^TASK +TID +TURNS'
unlike "timehist -s: no lines" "$out" '\[0000\]'
run "$FATHOM" sched timehist -S -i hist.data
expect_status 0
expect_out_like '\[0000\]'
expect_out_like '^TASK +TID +TURNS'
run "$FATHOM" sched lat -s max -i hist.data
expect_status 0
expect_out_like '^TASK +TID +TASKS +RUNTIME'
run "$FATHOM" sched timehist -w --csv -i hist.data
expect_status 2
expect_err 'hint: --json has one'
# the middle third
from=$(perf script -i hist.data -F time 2>/dev/null | awk '{ t[NR] = $1 + 0 } END { printf "%.6f,%.6f", t[int(NR / 3)], t[int(NR * 2 / 3)] }')
perf sched timehist --time "$from" -i hist.data >perf.hist 2>/dev/null
run "$FATHOM" sched timehist --time "$from" -i hist.data
ok "timehist --time: every line, cut as perf cuts" python3 timehist.py perf.hist "$out_file"

# A file that is cut inside a sample lacks what perf writes last: what its tracepoints are.
middle=$(python3 -c 'import struct
data = open("hist.data", "rb").read()
at, size = struct.unpack_from("<QQ", data, 40)
samples, end = [], at + size
while at < end:
    kind, _, size = struct.unpack_from("<IHH", data, at)
    if kind == 9:
        samples.append(at)
    at += size
print(samples[len(samples) // 2])')
head -c $((middle + 12)) hist.data >cut.data
run "$FATHOM" sched timehist -i cut.data
expect_status 4
expect_err "'cut.data' has no tracepoint formats: its end is missing"
expect_err "hint: the file is damaged at offset $middle: record of type 9 is cut: 12 of"
# One that is damaged there: what comes before is shown. Of the last CPU before the damage a part
# is missing, so who waited how long may differ.
cp hist.data hole.data
dd if=/dev/zero of=hole.data bs=1 seek="$middle" count=8 conv=notrunc 2>/dev/null
run "$FATHOM" sched timehist -i hole.data
expect_status 0
expect_err "the file is damaged at offset $middle: record of type 0 has the impossible size 0; what is before it is used"
ok "a damaged file: only switches that are there" python3 -c 'import sys
whole, part = ({tuple(line.split()[:2]) for line in open(p)} for p in sys.argv[1:])
assert 5 < len(part) < len(whole) and part <= whole, (len(part), len(whole))' whole.hist "$out_file"

# A ring that is too small: what was lost is said beside the lines, too.
perf sched record -m 4 -B --no-bpf-event -o lost.data -- perf bench sched messaging -g 4 -l 100 \
	>/dev/null 2>&1
lost=$("$FATHOM" sched latency -i lost.data --json | sed -n 's/.*"lost_events": *\([0-9]*\).*/\1/p')
if [ "${lost:-0}" -gt 0 ]; then
	run "$FATHOM" sched timehist -i lost.data
	expect_status 0
	expect_err "$lost events were lost while recording"
else
	skip "perf lost nothing with a small ring" 2
fi

# --- waits in a recording ------------------------------------------------------------------------

session=$TOP/build/oracle/sched_session
if [ -x "$session" ]; then
	"$WORKLOADS/block" pipe --count 400 >/dev/null &
	pid=$!
	sleep 0.2
	run "$session" waits.data 1.5 $pid
	expect_status 0
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
	ok "perf report reads it without a complaint" bash -c '
		perf report --stdio -i waits.data >perf.out 2>perf.err && ! grep -q . perf.err'
	ok "perf sees all four events" bash -c '
		for e in offcpu-time runqueue-time wakeup-time chain-time; do
			grep -q "of event .$e." perf.out || exit 1
		done'
	ok "perf sees the reader's stack and time" python3 - <<'END'
import subprocess
out = subprocess.run("perf script -i waits.data -F comm,event,period,ip,sym".split(),
                     capture_output=True, text=True).stdout
total = 0
for block in out.split("\n\n"):
    head, *frames = block.strip().split("\n") if block.strip() else [""]
    if "offcpu-time" in head and any("wait_for_data" in f for f in frames):
        total += int([w for w in head.split() if w.isdigit()][0])
assert 1.2e9 < total < 1.55e9, total
END
	run "$FATHOM" chain -i waits.data --folded
	expect_status 0
	like "the chain comes back out of the recording" "$out" \
		'^reader;.*wait_for_data;.*;--;.*write_late;.*;writer;--;.*nanosleep.*;--;.*;\[timer\] [0-9]{6}'
else
	skip "build/oracle/sched_session is not built" 5
fi
done_testing
