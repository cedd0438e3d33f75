# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the kernel is in what a watcher has attached to the scheduler's tracepoints, in
any case: perf's events, BPF programs with all that leads to them; and how long in telling it of files
that are mapped. See ruler.bpf.c."""
import re
import struct
import sys

import bpfobject

TRACEPOINTS = ["sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new",
               "sched_stat_runtime", "sched_migrate_task", "sched_process_fork",
               "sched_process_exec", "sched_process_exit"]
MARK = struct.Struct("QQQQ")
# Who tells of a mapping: the first may be part of the second, as the compiler likes.
TELLERS = ("perf_event_mmap_event", "perf_event_mmap")


def find_teller():
    """From where to where its code lies."""
    with open("/proc/kallsyms", encoding="ascii", errors="replace") as f:
        text = f.read()
    starts = [int(a, 16) for a in re.findall(r"^(\w+) [tT] ", text, re.M)]
    for name in TELLERS:
        found = re.search(rf"^(\w+) [tT] {name}$", text, re.M)
        if found:
            begin = int(found[1], 16)
            if not begin:
                sys.exit("ruler: /proc/kallsyms shows no addresses")
            return begin, min(s for s in starts if s > begin)
    return 0, 0  # a kernel that tells nobody


class Ruler(bpfobject.BpfObject):
    """Held at the tracepoints: begin(), then the watcher is started, then hold()."""

    def __init__(self, folder):
        begin, end = find_teller()
        super().__init__(bpfobject.build(folder, "ruler", f"-DTELLER_BEGIN={begin:#x}UL",
                                         f"-DTELLER_END={end:#x}UL"))

    def begin(self):
        for tracepoint in TRACEPOINTS:
            self.attach(f"before_{tracepoint}")

    def hold(self):
        for tracepoint in TRACEPOINTS:
            self.attach(f"after_{tracepoint}")
        self.attach("tell_begin")
        self.attach("tell_end")

    def read(self):
        """Seconds and passages of each tracepoint so far, and of mapped files at last."""
        return [(sum(m[1] for m in marks) / 1e9, sum(m[2] for m in marks))
                for marks in self.array("marks", len(TRACEPOINTS) + 1, MARK)]
