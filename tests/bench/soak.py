# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of tests/bench/soak: load, watchers, curves."""
import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time

FATHOM, DIR = os.environ["FATHOM"], os.environ["DIR"]
SECONDS = float(os.environ["MINUTES"]) * 60
STEP = float(os.environ["STEP"])
RATE = 50  # new processes a second
TICK = os.sysconf("SC_CLK_TCK")
PAGE_KB = os.sysconf("SC_PAGESIZE") / 1024

SCRIPT = "tracepoint:sched:sched_process_exec { @[comm, ustack(8)] = count(); }"
WATCHERS = {
    "record": ["record", "-a", "-F", "99", "-o", f"{DIR}/record.data"],
    "record --off-cpu": ["record", "-a", "--off-cpu", "-F", "99", "-o", f"{DIR}/waits.data"],
    "offcpu": ["offcpu", "-a", "--json"],
    "trace": ["trace", "-e", SCRIPT],
}


def load(stop):
    """Starts a process that sleeps for a moment, RATE times a second."""
    begun, count = time.monotonic(), 0
    while not stop.is_set():
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if count < (time.monotonic() - begun) * RATE:
            os.posix_spawn("/bin/sleep", ["sleep", "0.02"], os.environ)
            count += 1
        else:
            time.sleep(0.004)


def usage(pid):
    """Memory in MB and CPU seconds so far; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return int(fields[21]) * PAGE_KB / 1024, (int(fields[11]) + int(fields[12])) / TICK


def run_load():
    """In a process of its own: it waits for all its children."""
    pid = os.fork()
    if pid == 0:
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        load(stop)
        os._exit(0)
    return pid


def watch(pids):
    """Curves of memory and CPU time until the time is up."""
    begun = last = time.monotonic()
    before = {name: usage(pid) for name, pid in pids.items()}
    print(f"{'minute':>6}", *(f"{name + ' MB':>20} {'CPU %':>6}" for name in pids), flush=True)
    while time.monotonic() - begun < SECONDS:
        time.sleep(min(STEP, max(0.1, SECONDS - (time.monotonic() - begun))))
        now, cells = time.monotonic(), []
        for name, pid in pids.items():
            used = usage(pid)
            if not used or not before[name]:
                cells.append(f"{'-':>20} {'-':>6}")
                continue
            cpu = 100 * (used[1] - before[name][1]) / (now - last)
            before[name] = used
            cells.append(f"{used[0]:20.1f} {cpu:6.2f}")
        last = now
        print(f"{(now - begun) / 60:6.1f}", *cells, flush=True)


def stackless():
    """Of each step: how many waits the recording has, and how many without a stack."""
    out = subprocess.Popen(
        [FATHOM, "script", "-i", f"{DIR}/waits.data", "-F", "time,event,ip"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    waits, bare, first, event, frames, when = collections.Counter(), collections.Counter(), None, "", 0, 0.0

    def close():
        if "offcpu-time" in event:
            waits[int((when - first) / STEP)] += 1
            bare[int((when - first) / STEP)] += not frames

    for line in out.stdout:
        words = line.split()
        if not words:
            continue
        if not line[0].isspace() or words[0].rstrip(":").replace(".", "").isdigit() and ":" in words[0]:
            close()
            when, event, frames = float(words[0].rstrip(":")), line, 0
            first = when if first is None else first
        else:
            frames += 1
    close()
    for at in sorted(waits):
        print(f"  minute {(at + 1) * STEP / 60:5.1f}: {waits[at]:7} waits, "
              f"{100 * bare[at] / waits[at]:.3f} % without a stack")


def losses():
    """What each watcher says of itself at its end."""
    for name in WATCHERS:
        path = f"{DIR}/{name}.out"
        if name == "offcpu":
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            result = json.loads(text[text.index("{\n"):])
            print("offcpu:", {k: v for k, v in result["facts"].items() if k != "tracepoints"})
            print("offcpu: losses", result.get("losses"))
            continue
        with open(f"{DIR}/{name}.err", encoding="utf-8", errors="replace") as file:
            print(f"{name}:", *(line.strip() for line in file if line.strip()), sep="\n  ")


def main():
    """All of it."""
    loader = run_load()
    running = {}
    for name, args in WATCHERS.items():
        out, err = (open(f"{DIR}/{name}.{kind}", "wb") for kind in ("out", "err"))
        running[name] = subprocess.Popen([FATHOM, *args], stdout=out, stderr=err)
    time.sleep(3)
    try:
        watch({name: p.pid for name, p in running.items()})
    finally:
        for process in running.values():
            process.send_signal(signal.SIGINT)
        for process in running.values():
            process.wait()
        os.kill(loader, signal.SIGTERM)
        os.waitpid(loader, 0)
    losses()
    for name in ("record", "waits"):
        print(f"{name}.data: {os.path.getsize(f'{DIR}/{name}.data') / 1e6:.1f} MB")
    stackless()
    return 0


sys.exit(main())
