#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Recordings with a hardware trace (Intel PT and the like), which is not decoded: it is said.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd python3
cd "$TMP" || exit 1
cat >make.py <<'END'
import struct, sys

IP, TID, TIME = 1, 2, 4
name, kind, samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
attr = struct.pack("<IIQQQQQIIQ", 1, 64, 0, 1000, IP | TID | TIME, 0, 0, 0, 0, 0)
data = struct.pack("<IHHIIQ", 70, 0, 24, kind, 0, 0)
for i in range(samples):
    data += struct.pack("<IHHQIIQ", 9, 2, 32, 0x401000, 7, 7, 1000 + i)
trace = bytes(4096)
data += struct.pack("<IHHQQQIIII", 71, 0, 48, len(trace), 0, 0, 0, 7, 0, 0) + trace
size = len(attr) + 16
head = b"PERFILE2" + struct.pack("<12Q", 104, size, 104, size, 104 + size, len(data), 0, 0, 0, 0, 0, 0)
open(name, "wb").write(head + attr + struct.pack("<QQ", 0, 0) + data)
END
python3 make.py pt.data 1 0
run "$FATHOM" report -i pt.data
expect_status 4
expect_err 'Intel PT'
expect_err 'perf inject --itrace'
python3 make.py spe.data 4 5
run "$FATHOM" report -i spe.data --json
expect_status 0
like 'report says what is not decoded' "$(echo $out $err | tr -d '#')" 'Arm SPE.*4096'
run "$FATHOM" fold -i spe.data
expect_status 0
expect_err 'Arm SPE'
python3 make.py other.data 99 5
run "$FATHOM" fold -i other.data
expect_err 'an unknown kind'
done_testing
