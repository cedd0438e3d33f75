#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# threads against what the kernel itself counts (schedstat, getrusage), and each kind of wait against
# a program that waits for nothing else.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/mixed" "$WORKLOADS/kinds"
cd "$TMP" || exit 1

cat >read.py <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
truth = {k: float(v) for k, v in re.findall(r"^([a-z._]+)=(-?[0-9.]+)$", text, re.M)}
doc = json.loads(text[text.index("{\n"):])
rows = doc["threads"]
shares = [k for k in rows[0] if k.endswith("_percent")]
def seconds(row, *states):
    return sum(row[s + "_percent"] for s in states) * row["wall_ns"] / 1e11
def near(what, got, want, part, plus):
    assert abs(got - want) <= part * want + plus, (what, got, want)
END

run "$FATHOM" threads --json -- "$WORKLOADS/mixed"
expect_status 0
cp "$out_file" mixed.txt
ok "the states of each thread sum to its wall time" python3 - mixed.txt <<'END'
exec(open("read.py").read())
assert {r["comm"] for r in rows} >= {"burner", "rival", "copier", "sleeper", "reader", "writer", "yielder"}
for r in rows:
    assert abs(sum(r[k] for k in shares) - 100) <= 0.1, r
assert not any(doc["losses"].values()), doc["losses"]
END
# The threads read their counts shortly before they end: what comes after that is not in them.
ok "wall time, time on CPU and for a CPU: as clocks and schedstat have them" python3 - mixed.txt <<'END'
exec(open("read.py").read())
for r in rows:
    who, switches = r["comm"], r["switches"]
    if who + ".wall" not in truth:
        continue
    near(who + " wall", r["wall_ns"] / 1e9, truth[who + ".wall"], 0.01, 0.1)
    near(who + " ran", seconds(r, "user", "kernel"), truth[who + ".ran"], 0.02, 0.003 + 20e-6 * switches)
    near(who + " delay", seconds(r, "runnable"), truth[who + ".delay"], 0.03, 0.05 + 20e-6 * switches)
END
ok "user and kernel time: as getrusage has them" python3 - mixed.txt <<'END'
exec(open("read.py").read())
for r in rows:
    who = r["comm"]
    if who + ".user" in truth:
        near(who + " user", seconds(r, "user"), truth[who + ".user"], 0.05, 0.03)
        near(who + " kernel", seconds(r, "kernel"), truth[who + ".system"], 0.05, 0.03)
END
ok "switches by choice and by force: as getrusage has them; who yields does so by choice" python3 - mixed.txt <<'END'
exec(open("read.py").read())
for r in rows:
    who = r["comm"]
    if who + ".voluntary" not in truth:
        continue
    own, forced = r["switches"] - r["preemptions"], r["preemptions"]
    all_of = truth[who + ".voluntary"] + truth[who + ".involuntary"]
    near(who + " switches", r["switches"], all_of, 0.02, 4)
    if who == "yielder":
        # the kernel counts a yield as forced
        assert own > truth["yielder.voluntary"] + 0.5 * truth["yielder.involuntary"] - 20, (own, truth)
    else:
        near(who + " by choice", own, truth[who + ".voluntary"], 0.02, 4)
        near(who + " by force", forced, truth[who + ".involuntary"], 0.02, 4)
END
for by in process comm cgroup; do
	run "$FATHOM" threads --by $by --json -- "$WORKLOADS/mixed" --seconds 0.5
	ok "by $by: the sums are whole, too" python3 - "$out_file" <<'END'
exec(open("read.py").read())
for r in rows:
    assert abs(sum(r[k] for k in shares) - 100) <= 0.1, r
assert sum(r["threads"] for r in rows) == doc["facts"]["threads"] == 8, doc["facts"]
END
done

# --- one kind of wait after the other ------------------------------------------------------------

# Written to disk, so that it can be forgotten.
head -c 16777216 /dev/urandom >file
sync -f file
on_disk=yes
case $(stat -f -c %T file) in tmpfs | ramfs) on_disk= ;; esac
for kind in disk fault network lock pipe sleep poll epoll child vfork; do
	case $kind in
	disk | fault)
		if [ -z "$on_disk" ]; then
			skip "$kind: '$TMP' is in memory"
			continue
		fi
		;;
	esac
	run "$FATHOM" threads --json -- "$WORKLOADS/kinds" $kind --file file
	ok "$kind: its wait is told as that, all of it and nothing else" python3 - "$out_file" $kind <<'END'
exec(open("read.py").read())
kind = {"epoll": "poll", "vfork": "child"}.get(sys.argv[2], sys.argv[2])
# a process that it starts has another number
r = [r for r in rows if r["pid"] == truth["pid"]][0]
rest = [s[:-8] for s in shares if s[:-8] not in ("user", "kernel", "runnable", kind)]
# the kernel counts a wait for a CPU from when the thread is queued, shortly after it was woken
near(kind, seconds(r, kind), truth["blocked"], 0.03, 0.02 + 15e-6 * r["switches"])
assert seconds(r, *rest) < 0.03 * truth["blocked"] + 0.02, r
if seconds(r, kind) > 0.1:
    assert r["top_reason"] == kind and "main" in r["top_stack"], r
END
done
done_testing
