# SPDX-License-Identifier: GPL-2.0-or-later
"""What 'fathom threads' and 'fathom explain' say in JSON against what the workloads say of themselves.

Usage: threads_truth.py CHECK FILE [WORD]

The file has the workload's own words, key=value, then the JSON. The same checks serve the running
machine and recordings of it.
"""
import json
import re
import sys

ON_CPU = ("user", "kernel", "running")


class Seen:
    def __init__(self, path):
        text = open(path).read()
        self.truth = {k: float(v) for k, v in re.findall(r"^([a-z._]+)=(-?[0-9.]+)$", text, re.M)}
        self.doc = json.loads(text[text.index("{\n"):])
        self.rows = self.doc.get("threads", [])  # 'explain' has none
        self.states = [k[:-8] for row in self.rows[:1] for k in row if k.endswith("_percent")]

    def named(self, comm):
        return [r for r in self.rows if r["comm"] == comm]


def seconds(row, *states):
    return sum(row[s + "_percent"] for s in states) * row["wall_ns"] / 1e11


def near(what, got, want, part, plus):
    assert abs(got - want) <= part * want + plus, (what, got, want)


def sums(seen, most):
    """The states of each thread sum to its wall time, and nothing was lost."""
    for r in seen.rows:
        total = sum(r[s + "_percent"] for s in seen.states)
        assert r["wall_ns"] == 0 or abs(total - 100) <= float(most or 0.1), (total, r)
    assert not any(seen.doc["losses"].values()), seen.doc["losses"]


def pipe(seen, _):
    """A reader waits for a pipe, its writer sleeps, main waits for both."""
    by = {r["comm"]: r for r in seen.rows}

    # on a busy machine they wait for a CPU, too
    def of_the_rest(who, kind):
        return 100 * by[who][kind + "_percent"] / (100 - by[who]["runnable_percent"])

    assert of_the_rest("reader", "pipe") > 95, by["reader"]
    assert of_the_rest("writer", "sleep") > 90, by["writer"]
    assert of_the_rest("block", "join") > 90, by["block"]
    # it was held back until we were ready: no wait of its own
    assert by["block"]["pipe_percent"] == 0, by["block"]
    assert "wait_for_data" in by["reader"]["top_stack"], by["reader"]
    near("reader", seconds(by["reader"], "pipe"), seen.truth["waited"], 0, 0.03)


def hog(seen, _):
    """The victim is runnable, not blocked; as schedstat says."""
    for who in ("hog", "victim"):
        # the main thread is called hog, too, and may wait for a CPU as well
        r = max(seen.named(who), key=lambda row: seconds(row, *ON_CPU))
        near(who + " ran", seconds(r, *ON_CPU), seen.truth[who + ".ran"], 0.03, 0.04)
        near(who + " delay", seconds(r, "runnable"), seen.truth[who + ".delay"], 0.06, 0.06)


def hog_ran(seen, _):
    """Who had the CPU instead: the hog among them, and no more of it than there was."""
    rows, facts = seen.doc["ran_instead"], seen.doc["facts"]
    had = sum(r["time_ns"] for r in rows)
    assert any(r["comm"] == "hog" and r["time_ns"] > 1e6 for r in rows), rows[:10]
    assert 0.5 * facts["runqueue_ns"] <= had <= 1.02 * facts["runqueue_ns"] + 1e6, (had, facts)
    # two that burn on one CPU: neither gives way by itself
    assert 0 < facts["preemptions"] < facts["switches"], facts


def clocks(seen, _):
    """Wall time, time on CPU and for a CPU, as clocks and schedstat have them.

    The threads read their counts shortly before they end: what comes after that is not in them.
    """
    assert {r["comm"] for r in seen.rows} >= {"burner", "rival", "copier", "sleeper", "reader",
                                              "writer", "yielder"}
    for r in seen.rows:
        who, switches = r["comm"], r["switches"]
        if who + ".wall" not in seen.truth:
            continue
        near(who + " wall", r["wall_ns"] / 1e9, seen.truth[who + ".wall"], 0.01, 0.1)
        near(who + " ran", seconds(r, *ON_CPU), seen.truth[who + ".ran"], 0.02,
             0.003 + 20e-6 * switches)
        near(who + " delay", seconds(r, "runnable"), seen.truth[who + ".delay"], 0.03,
             0.05 + 20e-6 * switches)


def split(seen, _):
    """User and kernel time, as getrusage has them."""
    for r in seen.rows:
        who = r["comm"]
        if who + ".user" in seen.truth:
            near(who + " user", seconds(r, "user"), seen.truth[who + ".user"], 0.05, 0.03)
            near(who + " kernel", seconds(r, "kernel"), seen.truth[who + ".system"], 0.05, 0.03)


def switches(seen, _):
    """Switches by choice and by force, as getrusage has them; who yields does so by choice."""
    for r in seen.rows:
        who = r["comm"]
        if who + ".voluntary" not in seen.truth:
            continue
        own, forced = r["switches"] - r["preemptions"], r["preemptions"]
        voluntary = seen.truth[who + ".voluntary"]
        involuntary = seen.truth[who + ".involuntary"]
        near(who + " switches", r["switches"], voluntary + involuntary, 0.02, 4)
        if who == "yielder":
            # the kernel counts a yield as forced
            assert own > voluntary + 0.5 * involuntary - 20, (own, seen.truth)
        else:
            near(who + " by choice", own, voluntary, 0.02, 4)
            near(who + " by force", forced, involuntary, 0.02, 4)


def kind(seen, word):
    """Its wait is of that kind, all of it and nothing else."""
    # a futex without a library around it may be anything
    what = {"epoll": "poll", "vfork": "child", "lock": "futex"}.get(word, word)
    # a process that it starts has another number
    r = [r for r in seen.rows if r["pid"] == seen.truth["pid"]][0]
    rest = [s for s in seen.states if s not in ("user", "kernel", "runnable", what)]
    # the kernel counts a wait for a CPU from when the thread is queued, shortly after it was woken
    near(what, seconds(r, what), seen.truth["blocked"], 0.03, 0.02 + 15e-6 * r["switches"])
    assert seconds(r, *rest) < 0.03 * seen.truth["blocked"] + 0.02, r
    # who waits for work has no longest wait
    if seconds(r, what) > 0.1 and what != "poll":
        assert r["top_reason"] == what and "main" in r["top_stack"], r


def groups(seen, _):
    """Threads that were put together are all there."""
    sums(seen, None)
    assert sum(r["threads"] for r in seen.rows) == seen.doc["facts"]["threads"] == 8, seen.doc["facts"]


globals()[sys.argv[1]](Seen(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
