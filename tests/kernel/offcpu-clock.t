#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two sources with clocks of their own in one recording: perf's samples on CPU, and the waits of the
# off-CPU engine. If the clocks did not agree, threads would run while they wait.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/mixed"
cd "$TMP" || exit 1

run "$FATHOM" record --off-cpu -F 499 -o both.data -- "$WORKLOADS/mixed" --seconds 2
expect_status 0
cp "$out_file" mixed.txt
run "$FATHOM" script -i both.data --ns -F tid,time,event,period,comm
expect_status 0
cp "$out_file" both.txt
cat >read.py <<'END'
import re, sys
truth = {k: float(v) for k, v in re.findall(r"^([a-z._]+)=(-?[0-9.]+)$", open("mixed.txt").read(), re.M)}
samples = []
for line in open("both.txt"):
    m = re.match(r"^\s*(\S.*?)\s+(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+?):", line)
    if m:
        samples.append((int(m[3]) * 10**9 + int(m[4]), m[1], int(m[2]), m[6], int(m[5])))
events = {s[3].split(":")[0] for s in samples}
assert {"offcpu-time", "runqueue-time"} <= events and len(events) >= 3, events
# away[tid]: from when to when it was off the CPU
away = {}
for time, comm, tid, event, ns in samples:
    if event.startswith("offcpu-time"):
        away.setdefault(tid, []).append((time, ns, 0))
    elif event.startswith("runqueue-time"):
        away.setdefault(tid, []).append((time, 0, ns))
# both parts of a wait have the time of its end
spans = {}
for tid, parts in away.items():
    ends = {}
    for time, blocked, runq in parts:
        ends[time] = ends.get(time, 0) + blocked + runq
    spans[tid] = sorted((end - length, end) for end, length in ends.items())
END
ok "samples are in order of time" python3 - <<'END'
exec(open("read.py").read())
times = [s[0] for s in samples]
assert times == sorted(times)
END
ok "no thread waits twice at once" python3 - <<'END'
exec(open("read.py").read())
late = 0
for tid, list_ in spans.items():
    for a, b in zip(list_, list_[1:]):
        late += b[0] < a[1] - 1000
# a wait whose end was found out late has a later time than its end
assert late <= 0.02 * sum(map(len, spans.values())), late
END
ok "no thread is sampled on a CPU while it waits" python3 - <<'END'
exec(open("read.py").read())
import bisect
inside = outside = 0
for time, comm, tid, event, ns in samples:
    if not event.startswith(("cpu-clock", "cycles", "task-clock")) or tid not in spans:
        continue
    i = bisect.bisect_right(spans[tid], (time, 1 << 62)) - 1
    # the tracepoint comes a moment before the switch
    hit = i >= 0 and spans[tid][i][0] + 50000 < time < spans[tid][i][1] - 50000
    inside, outside = inside + hit, outside + (not hit)
assert inside + outside > 100, (inside, outside)
assert inside <= 0.01 * outside + 1, (inside, outside)
END
ok "what is sampled of a thread and what it waits make its wall time" python3 - <<'END'
exec(open("read.py").read())
for who in ("burner", "rival", "copier", "sleeper"):
    mine = [s for s in samples if s[1] == who]
    on = sum(s[4] for s in mine if s[3].startswith(("cpu-clock", "task-clock")))
    off = sum(s[4] for s in mine if s[3].startswith(("offcpu-time", "runqueue-time")))
    n = sum(1 for s in mine if s[3].startswith(("cpu-clock", "task-clock")))
    wall = truth[who + ".wall"]
    # samples come by chance: three deviations
    assert abs((on + off) / 1e9 - wall) < 0.02 * wall + 3 * n ** 0.5 / 499 + 0.1, (who, on, off, wall)
END
run "$FATHOM" flame --hotcold --idle -i both.data --json
expect_status 0
ok "hot and cold: threads x time, 1 %; on CPU as the kernel counts it, 3 %" python3 - "$out_file" <<'END'
import json
exec(open("read.py").read().split("samples = []")[0])
f = json.load(open(sys.argv[1]))["facts"]
wall = sum(v for k, v in truth.items() if k.endswith(".wall"))
ran = sum(v for k, v in truth.items() if k.endswith(".ran"))
assert f["threads"] == 8, f
# the main thread lives as long as the longest; what threads do before and after they count
wall += max(v for k, v in truth.items() if k.endswith(".wall"))
assert abs(f["wall_ns"] / 1e9 - wall) < 0.01 * wall + 8 * 0.05, (f, wall)
assert abs(f["oncpu_ns"] / 1e9 - ran) < 0.03 * ran + 0.05, (f, ran)
parts = f["oncpu_ns"] + f["runqueue_ns"] + f["blocked_ns"] + f["unknown_ns"]
assert abs(parts - f["wall_ns"]) < 1000, f
END
done_testing
