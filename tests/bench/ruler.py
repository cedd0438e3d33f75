# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the kernel is in what a watcher has attached to the scheduler's tracepoints, whoever
it is: perf's events, BPF programs with all that leads to them. See ruler.bpf.c."""
import ctypes
import os
import struct
import subprocess
import sys

TRACEPOINTS = ["sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new",
               "sched_stat_runtime", "sched_migrate_task", "sched_process_fork",
               "sched_process_exec", "sched_process_exit"]
MARK = struct.Struct("QQQ")


def build(folder):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ruler.bpf.c")
    object_file = f"{folder}/ruler.o"
    machine = f"/usr/include/{os.uname().machine}-linux-gnu"
    subprocess.run([os.environ.get("CLANG", "clang"), "-O2", "-g", "-target", "bpf", "-mcpu=v3",
                    f"-I{machine}", "-c", source, "-o", object_file], check=True)
    return object_file


class Ruler:
    """Held at the tracepoints: begin(), then the watcher is started, then hold()."""

    def __init__(self, folder):
        self.bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        self.links = []
        for name in ("bpf_object__open_file", "bpf_object__find_program_by_name",
                     "bpf_object__find_map_by_name", "bpf_program__attach"):
            getattr(self.bpf, name).restype = ctypes.c_void_p
        self.object = ctypes.c_void_p(
            self.bpf.bpf_object__open_file(build(folder).encode(), None))
        if not self.object or self.bpf.bpf_object__load(self.object):
            sys.exit("ruler: the kernel does not take its programs")
        marks = self.bpf.bpf_object__find_map_by_name(self.object, b"marks")
        self.map = self.bpf.bpf_map__fd(ctypes.c_void_p(marks))
        self.cpus = self.bpf.libbpf_num_possible_cpus()

    def attach(self, side):
        for tracepoint in TRACEPOINTS:
            program = self.bpf.bpf_object__find_program_by_name(
                self.object, f"{side}_{tracepoint}".encode())
            link = ctypes.c_void_p(self.bpf.bpf_program__attach(ctypes.c_void_p(program)))
            if not link:
                sys.exit(f"ruler: cannot attach to '{tracepoint}'")
            self.links.append(link)

    def begin(self):
        self.attach("before")

    def hold(self):
        self.attach("after")

    def release(self):
        while self.links:
            self.bpf.bpf_link__destroy(self.links.pop())

    def read(self):
        """Seconds and passages of each tracepoint so far."""
        size = MARK.size + -MARK.size % 8
        room, found = ctypes.create_string_buffer(size * self.cpus), []
        for i in range(len(TRACEPOINTS)):
            if self.bpf.bpf_map_lookup_elem(self.map, ctypes.byref(ctypes.c_uint32(i)), room):
                sys.exit("ruler: cannot be read")
            marks = [MARK.unpack_from(room.raw, size * cpu) for cpu in range(self.cpus)]
            found.append((sum(m[1] for m in marks) / 1e9, sum(m[2] for m in marks)))
        return found
