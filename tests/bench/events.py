# SPDX-License-Identifier: GPL-2.0-or-later
"""ns per run of the programs that a command attaches, and how often they run. See events.bench."""
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time

FATHOM = os.environ["FATHOM"]
STATS = "/proc/sys/kernel/bpf_stats_enabled"
MESSAGES = int(os.environ.get("BENCH_MESSAGES", "40000"))
COUNT = "tracepoint:sched:sched_switch { @[args.next_comm] = count(); }"
COMMANDS = (
    ("fathom offcpu", ["offcpu", "-d", "60s"]),
    ("fathom wakeup", ["wakeup", "-d", "60s"]),
    ("fathom chain", ["chain", "-d", "60s"]),
    ("fathom threads", ["threads", "-d", "60s"]),
    ("fathom record --off-cpu", ["record", "--off-cpu", "-d", "60s", "-o", "x.data", "--force"]),
    ("fathom runqlat", ["runqlat", "-d", "60s"]),
    ("fathom trace, counting switches by name", ["trace", "-e", COUNT]),
)


def pipe():
    before = time.monotonic()
    subprocess.run(["perf", "bench", "sched", "pipe", "-l", str(MESSAGES)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - before


@contextlib.contextmanager
def counted():
    with open(STATS, encoding="ascii") as f:
        before = f.read()
    with open(STATS, "w", encoding="ascii") as f:
        f.write("1")
    try:
        yield
    finally:
        with open(STATS, "w", encoding="ascii") as f:
            f.write(before)


def attached(pid):
    """ns and runs of all programs that the process holds."""
    ns = runs = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
            fields = dict(line.split(":", 1) for line in f if ":" in line)
            ns += int(fields.get("run_time_ns", 0))
            runs += int(fields.get("run_cnt", 0))
    return ns, runs


def wait_attached(watcher):
    """Its programs run: the machine switches all the time."""
    end = time.monotonic() + 30
    while not attached(watcher.pid)[1]:
        if watcher.poll() is not None or time.monotonic() > end:
            sys.exit(f"events: '{watcher.args[1]}' did not attach")
        time.sleep(0.05)


def measure(args):
    """ns per run, and runs per message."""
    with subprocess.Popen([FATHOM, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL) as watcher:
        try:
            wait_attached(watcher)
            ns, runs = attached(watcher.pid)
            pipe()
            more_ns, more_runs = attached(watcher.pid)
        finally:
            watcher.send_signal(signal.SIGINT)
    return (more_ns - ns) / (more_runs - runs), (more_runs - runs) / MESSAGES


def main():
    rounds = int(sys.argv[1])
    print(f"{'COMMAND':40} {'NS PER RUN':>22} {'RUNS PER MESSAGE':>17}")
    with counted():
        for name, args in COMMANDS:
            got = [measure(args) for _ in range(rounds)]
            ns, runs = ([g[i] for g in got] for i in (0, 1))
            spread = f"[{min(ns):,.0f}, {max(ns):,.0f}]"
            print(f"{name:40} {statistics.median(ns):6,.0f} {spread:>15} "
                  f"{statistics.median(runs):17.1f}", flush=True)


main()
