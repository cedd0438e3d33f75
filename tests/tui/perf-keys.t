#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The keys of perf's browser on a recording: zoom by module, thread and kernel, filter, code, print.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
export HOME=$TMP
cd "$TMP" || exit 1
"$FATHOM" record -q -o x.data -- "$WORKLOADS/burn" --seconds 1 c=1 >/dev/null 2>&1
ok 'there is a recording' test -s x.data
keys() { # SIZE KEYS
	run "$FATHOM" top -i x.data --once --size "$1" --keys "$2"
	expect_status 0 "keys: $2"
}
keys 100x30 "3 / b u r n Enter"
expect_out 'filter: burn' '/ filters functions'
expect_out_like 'burn +\[\.\] c' 'those of the module stay'
unlike 'and the kernel goes' "$out" '\[k\]'
keys 100x40 "3 / b u r n Enter Enter"
expect_out 'CALLED FROM' 'Enter: callers'
expect_out_like 'SOURCE LINE' 'source lines'
arch=$(uname -m)
if [ "$arch" = x86_64 ] || [ "$arch" = aarch64 ]; then
	expect_out 'CODE' 'and instructions'
	expect_out_like '[0-9.]+% +[0-9a-f]+ ' 'with their samples'
	keys 100x14 "3 / b u r n Enter a"
	expect_out 'CODE' 'a: the code alone'
	unlike 'without callers' "$out" 'CALLED FROM'
	expect_out_like '[0-9.]+% +[0-9a-f]+ ' 'the hottest instruction is in sight'
else
	skip "no disassembler for $arch" 6
fi
keys 100x14 "3 / b u r n Enter d"
expect_out ' burn' 'd: one module'
expect_out_like '100.00 +100.00 burn +\[\.\] c' 'which has all that is left'
keys 100x30 '3 t'
expect_out_like 'Only this thread' 't: threads to choose from'
expect_out_like '% +[0-9]+ burn' 'with their shares'
keys 100x14 '3 t Enter'
expect_out_like 'thread [0-9]+ burn' 'one is chosen'
keys 100x14 '3 k'
expect_out_like 'recording .+ kernel' 'k: the kernel'
unlike 'alone' "$out" '\[\.\]'
keys 100x14 '3 P'
expect_out 'written: fathom.hist.0' 'P prints'
ok 'a file with the functions' grep -qE '%  burn +\[\.\] c$' fathom.hist.0
keys 100x14 '3 P'
ok 'the next one has another number' test -s fathom.hist.1
keys 100x40 '3 h'
expect_out 'narrow every screen' 'h: the keys'
keys 100x30 '3 / b u r n Enter e'
expect_out_like '^ *[0-9.]+ +< (work|main)' 'e: the paths to a function'
keys 100x30 '3 / b u r n Enter e e'
unlike 'e again closes them' "$out" '     < '
keys 100x30 '3 / b u r n Enter E Down Down c'
expect_out_like 'burn +\[\.\] c' 'E and c: all are open, then one is closed'
keys 100x30 '3 / b u r n Enter E'
ok 'E: the path to c has the weight of c' python3 - "$out_file" <<'P'
import re, sys
lines = open(sys.argv[1]).read().splitlines()
at = next(i for i, l in enumerate(lines) if re.search(r"burn +\[\.\] c$", l))
own, rest = float(lines[at].split()[0]), 0.0
for l in lines[at + 1:]:
    m = re.match(r" *([0-9.]+) +< ", l)
    if not m:
        break
    rest += float(m.group(1))
assert own > 50 and abs(own - rest) < 0.1, (own, rest)
P
keys 100x30 '3 / b u r n Enter E C'
unlike 'C closes all' "$out" '     < '
# a recording whose program is gone
cp "$WORKLOADS/burn" gone
"$FATHOM" record -q -o gone.data -- ./gone --seconds 1 c=1 >/dev/null 2>&1
rm gone
run "$FATHOM" top -i gone.data --once --size 160x30 --keys '3 Enter a'
expect_status 0 'a program that is gone'
ok 'has no code, and that is said, or the copy that was kept is used' \
	bash -c "grep -qE 'cannot be read|CODE|no sample hit' '$out_file'"
done_testing
