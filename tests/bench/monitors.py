#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""monitors.py IDLERS FATHOM COUNT...: CPU time of a refresh and memory of monitors of tasks, all on
the same machine in turn, each on a terminal of 50 lines, with COUNT idle processes."""
import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

IDLERS, FATHOM = sys.argv[1:3]
WARM, SPAN = 3.0, 6
# btop has no option for the interval
CONFIG = os.environ["BENCH_TMP"]
os.makedirs(f"{CONFIG}/btop", exist_ok=True)
with open(f"{CONFIG}/btop/btop.conf", "w", encoding="ascii") as config:
    config.write("update_ms = 1000\n")
# what reads all tasks each second
TOOLS = [("fathom", [FATHOM, "pidstat", "1"]), ("pidstat", ["pidstat", "1"]),
         ("top", ["top", "-d", "1"]), ("htop", ["htop", "-d", "10"]),
         ("btop", ["btop", "--utf-force"])]


def own(pid):
    """CPU time in ms of all threads, and memory in MiB."""
    ns = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as text:
            ns += int(text.read().split()[0])
    with open(f"/proc/{pid}/status", encoding="utf-8") as text:
        kib = next(int(line.split()[1]) for line in text if line.startswith("VmRSS"))
    return ns / 1e6, kib / 1024


def drain(fd):
    try:
        while os.read(fd, 1 << 16):
            pass
    except OSError:
        pass


def measure(command):
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_CONFIG_HOME=CONFIG)
        os.execvp(command[0], command)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 180, 0, 0))
    thread = threading.Thread(target=drain, args=(fd,), daemon=True)
    thread.start()
    try:
        time.sleep(WARM)
        before, _ = own(pid)
        time.sleep(SPAN)
        after, memory = own(pid)
    except (OSError, StopIteration):
        return None
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)
    return (after - before) / SPAN, memory


for count in map(int, sys.argv[3:]):
    idlers = subprocess.Popen([IDLERS, str(count)], stdout=subprocess.PIPE)
    idlers.stdout.readline()
    tasks = sum(1 for name in os.listdir("/proc") if name.isdigit())
    print(f"monitors: {tasks} processes, ms of CPU a refresh, MiB")
    ours = None
    for name, command in TOOLS:
        if not shutil.which(command[0]):
            print(f"  {name:8} not installed")
            continue
        figures = measure(command)
        if not figures:
            print(f"  {name:8} did not run")
            continue
        ours = ours or figures
        ratio = "" if figures is ours else (f"  CPU {figures[0] / ours[0]:6.1f}x"
                                            f"  memory {figures[1] / ours[1]:5.1f}x")
        print(f"  {name:8} {figures[0]:8.2f} ms {figures[1]:7.1f} MiB{ratio}", flush=True)
    idlers.kill()
    idlers.wait()
