# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of tests/bench/soak: load, watchers, curves."""
import collections
import json
import os
import re
import signal
import shutil
import subprocess
import sys
import threading
import time

FATHOM, DIR, TOP = (os.environ[name] for name in ("FATHOM", "DIR", "TOP"))
SECONDS = float(os.environ["MINUTES"]) * 60
STEP = float(os.environ["STEP"])
RATE = 50  # new processes a second
TICK = os.sysconf("SC_CLK_TCK")

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
    """Memory in MB, of it that of its own (no buffers, no files), CPU seconds so far; None when it
    has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            kb = dict(line.split(":", 1) for line in file)
    except OSError:
        return None
    if "VmRSS" not in kb:
        return None
    memory = (int(kb[key].split()[0]) / 1024 for key in ("VmRSS", "RssAnon"))
    return *memory, (int(fields[11]) + int(fields[12])) / TICK


def run_load():
    """In a process of its own: it waits for all its children."""
    pid = os.fork()
    if pid == 0:
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        load(stop)
        os._exit(0)
    return pid


# What the programs in the kernel count, by the names of their maps: where the numbers have their
# names, and which of them are losses.
COUNTED = {
    "unwind_counters": ("src/bpf/unwind_abi.h", "unwind_count", ("LOST", "RESCUES_LOST")),
    "offcpu_counters": ("src/bpf/offcpu_abi.h", "offcpu_count",
                        ("MAP_FULL", "STACKS_FULL", "CHAINS_FULL", "LOST", "NO_ROOM")),
    "counters": ("src/lang/comp.h", "counter",
                 ("LOST", "MAP_FULL", "MAP_MEMORY", "STACK", "SCRATCH")),
}


def numbers(path, enum):
    """The constants of an enum: name without the common prefix -> number."""
    with open(f"{TOP}/{path}", encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    known, found = {}, {}
    for name, body in re.findall(r"enum (\w+) \{(.*?)\};", text, flags=re.S):
        at = 0
        for item in filter(None, (i.strip() for i in body.split(","))):
            key, _, value = (part.strip() for part in item.partition("="))
            at = (known[value] if value in known else int(value, 0)) if value else at
            known[key] = at
            if name == enum:
                found[re.sub(r"^[A-Z]+_(COUNT_)?", "", key)] = at
            at += 1
    return found


def tool(*args):
    """What bpftool says."""
    out = subprocess.run(["bpftool", "-j", *args], capture_output=True, text=True, check=False)
    return json.loads(out.stdout or "{}")


class Lost:
    """What one watcher has lost in the kernel, from step to step."""

    def __init__(self, pid):
        self.maps, self.steps, ids = {}, [], set()
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as file:
                ids.update(re.findall(r"^map_id:\s*(\d+)", file.read(), flags=re.M))
        for number in ids:
            name = tool("map", "show", "id", number).get("name")
            if name in COUNTED:
                self.maps[number] = name
        self.before = self.read()

    def read(self):
        """Losses so far; NAMES of two maps stand apart."""
        sums = collections.Counter()
        for number, name in self.maps.items():
            path, enum, which = COUNTED[name]
            names, slots = numbers(path, enum), collections.Counter()
            for entry in tool("map", "dump", "id", number):
                key = int.from_bytes(bytes(int(b, 16) for b in entry["key"]), "little")
                for value in (v["value"] for v in entry.get("values", [entry])):
                    raw = bytes(int(b, 16) for b in value)
                    for i in range(0, len(raw), 8):
                        slots[key + i // 8] += int.from_bytes(raw[i:i + 8], "little")
            for loss in which:
                sums[f"{name.partition('_')[0]} {loss.lower()}"] += slots[names[loss]]
        return sums

    def step(self):
        """Those since the last call."""
        now = self.read()
        new = now - self.before
        self.before = now
        self.steps.append(new)
        return sum(new.values())


def watch(pids):
    """Curves of memory, CPU time and losses until the time is up."""
    begun = last = time.monotonic()
    before = {name: usage(pid) for name, pid in pids.items()}
    lost = {name: Lost(pid) for name, pid in pids.items()} if shutil.which("bpftool") else {}
    for name, counts in lost.items():
        if not counts.maps:
            print(f"soak: no counters of {name} were found")
    print(f"{'minute':>6}", *(f"{name + ' MB':>20} {'heap':>6} {'CPU %':>6} {'lost':>6}"
                             for name in pids), flush=True)
    while time.monotonic() - begun < SECONDS:
        time.sleep(min(STEP, max(0.1, SECONDS - (time.monotonic() - begun))))
        now, cells = time.monotonic(), []
        for name, pid in pids.items():
            used = usage(pid)
            if not used or not before[name]:
                cells.append(f"{'ended':>20} {'-':>6} {'-':>6} {'-':>6}")
                continue
            cpu = 100 * (used[2] - before[name][2]) / (now - last)
            before[name] = used
            gone = lost[name].step() if lost else "-"
            cells.append(f"{used[0]:20.1f} {used[1]:6.1f} {cpu:6.2f} {gone:>6}")
        last = now
        print(f"{(now - begun) / 60:6.1f}", *cells, flush=True)
    for name, counts in lost.items():
        for number, step in enumerate(counts.steps):
            if step:
                print(f"{name}: lost in minute {(number + 1) * STEP / 60:.1f}: "
                      + ", ".join(f"{n} {kind}" for kind, n in step.items()))


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
        for name, process in running.items():
            if process.wait():
                print(f"{name}: ended with {process.returncode}")
        os.kill(loader, signal.SIGTERM)
        os.waitpid(loader, 0)
    losses()
    for name in ("record", "waits"):
        print(f"{name}.data: {os.path.getsize(f'{DIR}/{name}.data') / 1e6:.1f} MB")
    stackless()
    return 0


sys.exit(main())
