# SPDX-License-Identifier: GPL-2.0-or-later
"""BPF programs of this folder: built by clang, loaded and attached by libbpf."""
import ctypes
import os
import subprocess
import sys


def build(folder, name, *defines):
    """The object file of NAME.bpf.c."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.bpf.c")
    object_file = f"{folder}/{name}.o"
    machine = f"/usr/include/{os.uname().machine}-linux-gnu"
    subprocess.run([os.environ.get("CLANG", "clang"), "-O2", "-g", "-target", "bpf", "-mcpu=v3",
                    f"-I{machine}", *defines, "-c", source, "-o", object_file], check=True)
    return object_file


class BpfObject:
    """What is in an object file, in the kernel; attached until release()."""

    def __init__(self, object_file):
        self.bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        self.links = []
        for name in ("bpf_object__open_file", "bpf_object__find_program_by_name",
                     "bpf_object__find_map_by_name", "bpf_program__attach"):
            getattr(self.bpf, name).restype = ctypes.c_void_p
        self.object = ctypes.c_void_p(self.bpf.bpf_object__open_file(object_file.encode(), None))
        if not self.object or self.bpf.bpf_object__load(self.object):
            sys.exit(f"the kernel does not take the programs of '{object_file}'")
        self.cpus = self.bpf.libbpf_num_possible_cpus()

    def attach(self, name):
        program = self.bpf.bpf_object__find_program_by_name(self.object, name.encode())
        link = ctypes.c_void_p(self.bpf.bpf_program__attach(ctypes.c_void_p(program)))
        if not link:
            sys.exit(f"cannot attach the program '{name}'")
        self.links.append(link)

    def release(self):
        while self.links:
            self.bpf.bpf_link__destroy(self.links.pop())

    def array(self, name, entries, value):
        """Of each entry of a per-CPU array what all CPUs have there, as value (a Struct) has it."""
        found = ctypes.c_void_p(self.bpf.bpf_object__find_map_by_name(self.object, name.encode()))
        fd, size = self.bpf.bpf_map__fd(found), value.size + -value.size % 8
        room, rows = ctypes.create_string_buffer(size * self.cpus), []
        for i in range(entries):
            if self.bpf.bpf_map_lookup_elem(fd, ctypes.byref(ctypes.c_uint32(i)), room):
                sys.exit(f"the map '{name}' cannot be read")
            rows.append([value.unpack_from(room.raw, size * cpu) for cpu in range(self.cpus)])
        return rows
