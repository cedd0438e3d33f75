#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes a false mark from the mappings in a perf.data file, in place.

While one recorder asks for build ids in records of mappings, the kernel (seen on 6.18) also sets the
mark "this has a build id" in the records that it gives to others, which have device and inode
there. perf 6.1 aborts on such a file. Files and pipes, but not compressed ones.
"""
import struct
import sys

MMAP2, HEADER_ATTR, MARK, ATTR_BUILD_ID = 10, 64, 1 << 14, 1 << 34
PIPE_HEADER, FLAGS = 16, 40  # bytes; where an attr has its flags


def layout(data):
    """Where records begin and end, and the flags of the first attr."""
    if struct.unpack_from("<Q", data, 8)[0] == PIPE_HEADER:
        kind, = struct.unpack_from("<I", data, PIPE_HEADER)
        flags = struct.unpack_from("<Q", data, PIPE_HEADER + 8 + FLAGS)[0] if kind == HEADER_ATTR else 0
        return PIPE_HEADER, len(data), flags
    attrs, at, size = (struct.unpack_from("<Q", data, at)[0] for at in (24, 40, 48))
    return at, min(len(data), at + size), struct.unpack_from("<Q", data, attrs + FLAGS)[0]


def clean(path):
    with open(path, "r+b") as f:
        data = bytearray(f.read())
        if data[:8] != b"PERFILE2" or len(data) < 104:
            return 0
        at, end, flags = layout(data)
        changed = 0
        if flags & ATTR_BUILD_ID:
            return 0
        while at + 8 <= end:
            kind, misc, size = struct.unpack_from("<IHH", data, at)
            if size < 8:
                break
            if kind == MMAP2 and misc & MARK:
                struct.pack_into("<H", data, at + 4, misc & ~MARK)
                changed += 1
            at += size
        if changed:
            f.seek(0)
            f.write(data)
        return changed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        clean(name)
