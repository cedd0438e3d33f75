#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Recordings of memory accesses, as perf mem and perf c2c write them: made here byte by byte, since
# few machines have such counters.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd python3
cd "$TMP" || exit 1
cat >make.py <<'END'
import struct, sys

IP, TID, TIME, ADDR, CPU, WEIGHT, DATA_SRC = 1, 2, 4, 8, 1 << 7, 1 << 14, 1 << 15
TYPE = IP | TID | TIME | ADDR | CPU | WEIGHT | DATA_SRC

def source(op, lvl, snoop=0, tlb=0, lock=0, num=0, remote=0):
    return op | lvl << 5 | snoop << 19 | lock << 24 | tlb << 26 | num << 33 | remote << 37

LOAD, STORE, HIT, MISS = 2, 4, 2, 4
L1, L3, REMOTE_RAM, REMOTE_CACHE = 1 << 3, 1 << 6, 1 << 8, 1 << 10
NONE, HITM = 2, 16
samples = []
# a line that two threads take from each other, and one that only one uses
for i in range(10):
    samples.append((100 + i % 2, i % 2, 0x7f0000001000 + 8 * (i % 2), 300,
                    source(LOAD, L3 | HIT, HITM, HIT | 8)))
for i in range(4):
    samples.append((100, 0, 0x7f0000001000, 900, source(LOAD, REMOTE_CACHE | HIT, HITM, HIT | 8)))
for i in range(6):
    samples.append((101, 1, 0x7f0000001008, 0, source(STORE, L1 | HIT, 0, HIT | 8, 2)))
for i in range(80):
    samples.append((100, 0, 0x7f0000002040, 7, source(LOAD, L1 | HIT, NONE, HIT | 8)))
attr = struct.pack("<IIQQQQQIIQ", 4, 64, 0x1cd, 1000, TYPE, 0, 0, 0, 0, 0)
data = b""
for i, (tid, cpu, addr, weight, src) in enumerate(samples):
    body = struct.pack("<QIIQQIIQQ", 0x401000 + i, 100, tid, 1000 + i, addr, cpu, 0, weight, src)
    data += struct.pack("<IHH", 9, 2, 8 + len(body)) + body
size = len(attr) + 16
head = b"PERFILE2" + struct.pack("<12Q", 104, size, 104, size, 104 + size, len(data), 0, 0, 0, 0, 0, 0)
open("mem.data", "wb").write(head + attr + struct.pack("<QQ", 0, 0) + data)
END
python3 make.py
run "$FATHOM" mem -i mem.data --json
expect_status 0
ok 'levels, snoops, weights' python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
rows = [(a["samples"], a["op"], a["memory"], a["snoop"], a["mean_weight"], a["locked"]) for a in r["accesses"]]
assert rows[0] == (80, "LOAD", "L1 hit", "None", 7, "No"), rows
assert rows[1] == (10, "LOAD", "L3 hit", "HitM", 300, "No"), rows
assert rows[2] == (6, "STORE", "L1 hit", "N/A", None, "Yes"), rows
assert rows[3] == (4, "LOAD", "Remote Cache (1 hop) hit", "HitM", 900, "No"), rows
assert r["facts"]["samples"] == 100 and r["accesses"][0]["tlb"] == "L1 hit", r
END
run "$FATHOM" mem --lines -i mem.data --json
ok 'the line that is fought over, and no other' python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
(line,) = r["lines"] if isinstance(r["lines"], list) else r["lines"]["rows"]
assert (line["hitm"], line["hitm_local"], line["hitm_remote"]) == (14, 10, 4), line
assert (line["samples"], line["loads"], line["stores"]) == (20, 14, 6), line
assert line["threads"] == 2 and line["cpus"] == 2 and line["offsets"] == "0 8", line
assert int(str(line["line"]), 0) == 0x7f0000001000, line
END
run "$FATHOM" mem --lines --all --csv -i mem.data
is 'all lines' "$(grep -c ',100,' "$out_file")" 2
run "$FATHOM" perf mem report -i mem.data
expect_status 0
expect_out 'Remote Cache (1 hop) hit'
run "$FATHOM" perf c2c report -i mem.data
expect_status 0
expect_out 'HITM'
run "$FATHOM" perf mem record -- true
expect_status 3
expect_err 'IBS'
head -c 3000 mem.data >cut.data
run "$FATHOM" mem -i cut.data
expect_out 'LOAD'
like 'says where the file ends' "$out$err" 'ends early'
run "$FATHOM" mem -i /no/such/file
expect_status 1
"$FATHOM" record -q -e cpu-clock -o other.data -- true >/dev/null 2>&1
if [ -s other.data ]; then
	run "$FATHOM" mem -i other.data
	expect_status 4
	expect_err 'no samples of memory accesses'
	expect_err 'hint: '
fi
# perf reads the same out of it
if perf=$(perf mem -t load report -i mem.data --stdio --sort mem 2>/dev/null) && [ -n "$perf" ]; then
	like 'perf: the same levels' "$perf" 'Remote Cache \(1 hop\) hit'
	like 'perf: as many samples' "$perf" '80 +L1 hit|L1 hit'
fi
done_testing
