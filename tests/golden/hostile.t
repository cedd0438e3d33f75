#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
#
# Files that are made to cost: they are refused with a reason, or cost what their size says, and Ctrl-C
# ends the work.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd python3
cd "$TMP" || exit 1

# half a megabyte that unpacks to half a gigabyte
python3 - <<'P' || exit 1
import zlib
z = zlib.compressobj(9, zlib.DEFLATED, 31)
with open("bomb.pb.gz", "wb") as f:
    for _ in range(512):
        f.write(z.compress(bytes(1 << 20)))
    f.write(z.flush())
P
run "$FATHOM" report -i bomb.pb.gz
expect_status 1
expect_err_like 'unpacked it is larger than [0-9]+ MB'
expect_err_like '100 times the packed size'

# A stack for each depth up to 60,000: the sum of the depths is 1,800,000,000.
python3 - <<'P' || exit 1
import json
n = 60000
events = [{"type": "O", "frame": i, "at": i} for i in range(n)]
events += [{"type": "C", "frame": n - 1 - i, "at": n + i} for i in range(n)]
json.dump({"$schema": "https://www.speedscope.app/file-format-schema.json",
           "shared": {"frames": [{"name": "f%d" % i} for i in range(n)]},
           "profiles": [{"type": "evented", "name": "p", "unit": "nanoseconds", "startValue": 0,
                         "endValue": 2 * n, "events": events}]}, open("deep.json", "w"))
P
RUN_TIMEOUT=100 run "$FATHOM" report -i deep.json -g none --json
expect_status 0
is 'deep stacks: every function with at least 0.5 % is there' \
	"$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"]))' <<<"$out")" 59700

# as much work as the sum of all depths would be minutes
RUN_TIMEOUT=60 run "$FATHOM" callgraph -i deep.json --json
expect_status 0
like 'deep stacks: the call graph has the outermost functions' "$out" '"name": "f0"'
RUN_TIMEOUT=60 run "$FATHOM" stacks -i deep.json --json
expect_status 0

# fold of these would print 10 GB
"$FATHOM" fold -i deep.json > >(cat >/dev/null) 2>/dev/null &
pid=$!
is_reading() { grep -q deep.json <(readlink "/proc/$pid"/fd/* 2>/dev/null) || [ "$(awk '{print $14 + $15}' "/proc/$pid/stat")" -ge 20 ]; }
wait_until is_reading
kill -INT $pid
wait $pid
is 'an analysis ends at the first Ctrl-C' $? 130

python3 -c 'print("BEGIN { @ = " + "+".join(["1"] * 50000) + "; exit(); }")' >terms.bt
run "$FATHOM" trace --dump codegen terms.bt
expect_status 1
expect_err_like 'more than 2000 operators in one expression'
python3 -c 'print("BEGIN { @ = " + "+".join(["1"] * 1900) + "; exit(); }")' >terms.bt
run "$FATHOM" trace --dump codegen terms.bt
expect_status 0

# Output of which there is nothing: fwrite() must not get NULL, which the checked build reports.
if [ -x "$FATHOM_ASAN" ]; then
	for what in "-l tracepoint:nosuch:nosuch" "-l nosuch_file:x" "--dump ast nothing.bt"; do
		: >nothing.bt
		# shellcheck disable=SC2086 # words
		run "$FATHOM_ASAN" trace $what
		unlike "trace $what: nothing undefined" "$err" 'runtime error|Sanitizer'
	done
else
	skip 'no program built with sanitizers' 3
fi
done_testing
