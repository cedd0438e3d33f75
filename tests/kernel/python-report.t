#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 120
#
# Functions of Python reach the report, with their lines, through a recording that perf opens.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /usr/bin/python3
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP

case $(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') in
3.11 | 3.12 | 3.13) ;;
*) plan_skip "python3 is neither 3.11, 3.12 nor 3.13" ;;
esac
cat > tree.py << 'END'
import time
def leaf(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
def middle():
    return leaf(20000)
def top():
    end = time.time() + 60
    while time.time() < end:
        middle()
top()
END
spawn /usr/bin/python3 tree.py
sleep 0.5
pid=$(pgrep -P "$spawned" -x python3 || echo "$spawned")
run "$FATHOM" record -q -e cpu-clock -F 499 -p "$pid" -d 2s -o py.data
expect_status 0
run "$FATHOM" report -i py.data --json --sort symbol -g none --percent-limit 0
ok "each function in nearly all samples" python3 - "$out_file" << 'END'
import json, sys
rows = {r["symbol"]: r["children"] for r in json.load(open(sys.argv[1]))["rows"]}
for name in ("<module>", "top", "middle", "leaf"):
    share = rows.get("[p] " + name, 0)
    print(f"# {name}: {share:.1f} %")
    if share < 95:
        sys.exit(1)
END
run "$FATHOM" fold -i py.data --no-inline
like "in the right order" "$out" '<?module>?;top;middle;leaf'
run "$FATHOM" report -i py.data --sort symbol,dso -g none
expect_out_like 'leaf +tree\.py$'
run "$FATHOM" report -i py.data --sort srcline -g none
expect_out_like 'tree\.py:[45]$'
if command -v perf > /dev/null; then
	run perf script -i py.data
	expect_status 0
	expect_out '//fathom-python'
else
	skip "perf is not installed" 2
fi

# -X perf: the code through which each function is called has its name too.
perf_python=
for python in /usr/bin/python3.1[23] /usr/local/bin/python3.1[23] \
	"$HOME"/.pyenv/versions/3.1[23].*/bin/python3; do
	[ -x "$python" ] && perf_python=$python
done
if [ -n "$perf_python" ]; then
	spawn "$perf_python" -X perf tree.py
	pid=$spawned
	for _ in $(seq 300); do
		grep -q py::leaf "/tmp/perf-$pid.map" 2> /dev/null && break
		sleep 0.1
	done
	run "$FATHOM" record -q -e cpu-clock -F 499 -p "$pid" -d 2s -o perf.data
	run "$FATHOM" fold -i perf.data --no-inline
	like "-X perf: each function once, in order" "$out" \
		';<module>(;[^; ]*)*;top(;[^; ]*)*;middle(;[^; ]*)*;leaf'
	is "-X perf: no function twice in a row" \
		"$(grep -c 'py::leaf[^;]*;\([^;]*;\)*leaf' <<< "$out")" 0
	rm -f "/tmp/perf-$pid.map"
else
	skip "no CPython 3.12 or 3.13" 2
fi

# A jitdump tells how its code is unwound: perf's copies of stacks lead through it.
dump_python=
for python in /usr/bin/python3.13 /usr/local/bin/python3.13 "$HOME"/.pyenv/versions/3.13.*/bin/python3; do
	[ -x "$python" ] && dump_python=$python
done
if [ -n "$dump_python" ] && command -v perf > /dev/null; then
	sed -i 's/+ 60/+ 1/' tree.py
	run perf record -q -k mono -e cpu-clock -F 199 --call-graph dwarf,16384 -o dump.data -- \
		"$dump_python" -X perf_jit tree.py
	# whether perf ends well is its own affair: some of its versions fail after writing
	run "$FATHOM" fold -i dump.data --no-inline
	all=$(awk '{ s += $NF } /py::leaf/ { n += $NF } END { print n + 0 }' "$out_file")
	right=$(awk '/_start;.*;py::<module>.*;py::top.*;py::middle.*;py::leaf/ { n += $NF } END { print n + 0 }' "$out_file")
	diag "$right of $all ns lead from the start to py::leaf"
	ok "unwind information of a jitdump is used" \
		test "$all" -gt 0 -a $((right * 100)) -ge $((all * 97))
	rm -f "/tmp/jit-$(perf script -i dump.data -F pid 2> /dev/null | head -n 1 | tr -d ' ').dump"
else
	skip "neither perf nor CPython 3.13"
fi
# Stacks that were copied do not show functions: how many is said.
run "$FATHOM" record -q -e raw_syscalls:sys_enter -o tp.data -- "${python:-/usr/bin/python3}" -c 'import os
for i in range(300): os.stat("/tmp")'
if [ "$status" -eq 0 ]; then
	run "$FATHOM" report -i tp.data
	expect_prose '[0-9]+ stacks of Python programs do not show its functions' "copied stacks are counted"
else
	skip "no tracepoints here"
fi

done_testing
