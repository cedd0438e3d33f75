#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""script_branches.py PROGRAM: writes a recording whose samples have branches, as a CPU with a record
of branches would make it: such a CPU is rare among those that run tests."""
import os
import struct
import subprocess
import sys

program = os.path.realpath(sys.argv[1])
IDENTIFIER, IP, TID, TIME, CPU, PERIOD, BRANCHES = 1 << 16, 1, 2, 4, 1 << 7, 1 << 8, 1 << 11
ID, PID, BASE = 77, 4321, 0x555500000000


def functions():
    """Name -> offset in the file, of a program whose code lies in the file as in memory."""
    out = subprocess.run(["nm", "--defined-only", program], capture_output=True, text=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {r[2]: int(r[0], 16) for r in rows if len(r) == 3 and r[1] in "tT"}


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(s):
    data = s.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)


def sample_id(time):
    return struct.pack("<IIQIIQ", PID, PID, time, 0, 0, ID)


def sample(ip, time, branches):
    body = struct.pack("<QQIIQIIQ", ID, ip, PID, PID, time, 0, 0, 1000)
    body += struct.pack("<Q", len(branches))
    for start, end, flags in branches:
        body += struct.pack("<QQQ", start, end, flags)
    return record(9, 2, body)


attr = bytearray(128)
struct.pack_into("<IIQQ", attr, 0, 0, 128, 0, 1000)
struct.pack_into("<Q", attr, 24, IDENTIFIER | IP | TID | TIME | CPU | PERIOD | BRANCHES)
struct.pack_into("<Q", attr, 40, 1 << 18)  # sample_id_all
struct.pack_into("<Q", attr, 72, 1 << 3)  # branch_sample_type: any
at = functions()
a, b, main = (BASE + at[name] for name in ("a", "b", "main"))
data = record(3, 0, struct.pack("<II", PID, PID) + text("branchy") + sample_id(0))
size = os.path.getsize(program) + 0xFFF & ~0xFFF
data += record(10, 2, struct.pack("<IIQQQIIQQII", PID, PID, BASE, size, 0, 0, 0, 0, 0, 5, 2) +
               text(program) + sample_id(0))
MISPREDICTED, PREDICTED, IN_TX, ABORT, CALL, RETURN = 1, 2, 4, 8, 4 << 20, 6 << 20
for i in range(20):
    data += sample(a + i, 1000000 + i, [
        (a + i, b + 4, PREDICTED | 17 << 4),
        (main + 8, a, MISPREDICTED | 300 << 4 | CALL),
        (b + 2, main, IN_TX | RETURN),
        (main, b + i, ABORT),
        (0x7F0000000000, main + 4, PREDICTED),  # nothing is mapped there
        (a, b, (i & 15) << 20),  # every kind that there is
        (b, a, 15 << 20 | (i & 7) << 26),
    ])
data += record(68, 0, b"")
# header, the id, the attr with where its ids are, the records
ids = struct.pack("<Q", ID)
attrs = bytes(attr) + struct.pack("<QQ", 104, len(ids))
header = b"PERFILE2" + struct.pack("<QQ", 104, len(attrs))
header += struct.pack("<QQ", 104 + len(ids), len(attrs))
header += struct.pack("<QQ", 104 + len(ids) + len(attrs), len(data))
header += bytes(104 - len(header))
sys.stdout.buffer.write(header + ids + attrs + data)
