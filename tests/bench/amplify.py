#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""amplify.py IN OUT N: a recording with at least N samples, which are those of IN, later each time.

IN is not compressed, has no stacks, and its samples begin with identifier, address, pid and time."""

import struct, sys
source, out, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
b = open(source, "rb").read()
data, size = struct.unpack_from("<QQ", b, 40)
rest, samples, span = [], [], [1 << 63, 0]
at = data
while at < data + size:
    kind, misc, n = struct.unpack_from("<IHH", b, at)
    record = b[at:at + n]
    if kind == 9:
        samples.append(record)
        time = struct.unpack_from("<Q", record, 32)[0]
        span = [min(span[0], time), max(span[1], time)]
    elif kind != 4 and kind < 64:
        rest.append(record)
    at += n
body = bytearray(b"".join(rest))
done = k = 0
samples.sort(key=lambda r: r[32:40][::-1])
while done < wanted:
    for r in samples:
        r = bytearray(r)
        struct.pack_into("<Q", r, 32, struct.unpack_from("<Q", r, 32)[0] + k * (span[1] - span[0] + 1))
        body += r
    body += struct.pack("<IHH", 68, 0, 8)
    done += len(samples)
    k += 1
head = bytearray(b[:data])
struct.pack_into("<Q", head, 48, len(body))
head[72:104] = bytes(32)
open(out, "wb").write(head + body)
