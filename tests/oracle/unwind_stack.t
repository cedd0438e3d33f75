#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fathom stack on live processes and on cores that gdb writes; fathom prebuild and its cache.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$FATHOM" "$WORKLOADS/deep" "$WORKLOADS/chain"
export XDG_CACHE_HOME=$TMP/cache

# json EXPRESSION: of the last output, as d
json() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" <"$out_file"; }

# shellcheck disable=SC2016
spawn sh -c 'exec "$0" "$@" >/dev/null' "$WORKLOADS/deep" 100 --seconds 30
deep=$spawned
sleep 0.3
run "$FATHOM" stack "$deep"
expect_status 0
expect_out_like "^thread $deep 'deep': complete"
expect_out_like ' main\+0x[0-9a-f]+ +deep'
expect_out_like ' _start\+0x'
run "$FATHOM" stack --json "$deep"
expect_status 0
is 'one thread' "$(json 'len(d["threads"])')" 1
is 'it ends at its beginning' "$(json 'd["threads"][0]["end"]')" root
ok 'over 100 frames' test "$(json 'd["threads"][0]["frames"]')" -gt 100
ok 'stopped for less than 50 ms' test "$(json 'd["threads"][0]["stopped"]')" -lt 50000000
run "$FATHOM" stack --json --max-stack 5 "$deep"
is '--max-stack 5: 5 frames' "$(json 'len(d["frames"])')" 5
is '--max-stack 5: says that it is cut' "$(json 'd["threads"][0]["end"]')" depth
ok 'the process still runs' grep -q '^State:[[:space:]]*[RS]' "/proc/$deep/status"
run "$FATHOM" stack -t 1 "$deep"
expect_status 1
expect_err 'no such thread'

# shellcheck disable=SC2016
spawn sh -c 'exec "$0" "$@" >/dev/null' "$WORKLOADS/chain" --count 400
chain=$spawned
sleep 0.3
if [ -d "/proc/$chain/task" ]; then
	n=$(find "/proc/$chain/task" -mindepth 1 -maxdepth 1 | wc -l)
	run "$FATHOM" stack --json "$chain"
	is 'every thread is there' "$(json 'len(d["threads"])')" "$n"
	is 'all of them complete' "$(json 'sum(t["end"] == "root" for t in d["threads"])')" "$n"
fi

run "$FATHOM" stack 4194304
expect_status 1
expect_err 'there is no process 4194304'
run "$FATHOM" stack "$FATHOM"
expect_status 1
expect_err 'is not a core file'
head -c 5000 /dev/urandom >"$TMP/noise"
run "$FATHOM" stack "$TMP/noise"
expect_status 1
run "$FATHOM" stack
expect_status 2

if command -v gcore >/dev/null && gcore -o "$TMP/core" "$deep" >/dev/null 2>&1; then
	run "$FATHOM" stack "$TMP/core.$deep"
	expect_status 0
	expect_out_like "^thread $deep 'deep': complete"
	expect_out_like ' main\+0x[0-9a-f]+ +deep'
	head -c 3000 "$TMP/core.$deep" >"$TMP/cut"
	run "$FATHOM" stack "$TMP/cut"
	expect_status 1 'a cut core is an error'
else
	skip 'gcore does not work here' 4
fi

mkdir "$TMP/bin"
cp /bin/ls /bin/cat "$WORKLOADS/deep" "$TMP/bin/"
rm -rf "$XDG_CACHE_HOME"
run "$FATHOM" prebuild --json "$TMP/bin"
expect_status 0
is 'prebuild compiles three files' "$(json 'd["facts"]["compiled"]')" 3
run "$FATHOM" prebuild --json "$TMP/bin"
is 'prebuild finds three in the cache' "$(json 'd["facts"]["cached"]')" 3
for file in "$XDG_CACHE_HOME"/fathom/unwind/*; do
	printf 'damaged' | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null
done
run "$FATHOM" prebuild --json "$TMP/bin"
is 'damaged cache files are made anew' "$(json 'd["facts"]["compiled"]')" 3
# Ended early it keeps what it has: the next run does the rest.
mkdir "$TMP/big"
find -L /usr/lib /usr/bin /usr/local -xdev -type f -size +4M \( -perm -u+x -o -name '*.so*' \) 2>/dev/null |
	head -n 24 | while read -r file; do
	head -c 4 "$file" | grep -q ELF && ln -sf "$file" "$TMP/big/$(basename "$file")"
done
rm -rf "$XDG_CACHE_HOME"
run "$FATHOM" prebuild --json "$TMP/big"
all=$(json 'd["facts"]["compiled"]')
if [ "${all:-0}" -ge 4 ]; then
	rm -rf "$XDG_CACHE_HOME"
	"$FATHOM" prebuild --json "$TMP/big" >"$TMP/first" 2>/dev/null &
	pid=$!
	for _ in $(seq 1000); do
		[ -n "$(ls "$XDG_CACHE_HOME/fathom/unwind" 2>/dev/null)" ] && break
		sleep 0.005
	done
	kill -INT "$pid" 2>/dev/null
	wait "$pid"
	run "$FATHOM" prebuild --json "$TMP/big"
	cached=$(json 'd["facts"]["cached"]') compiled=$(json 'd["facts"]["compiled"]')
	diag "$all files; ended early with $cached, then $compiled more"
	is 'interrupted, the next run does the rest' "$((cached + compiled))" "$all"
	ok '... and only the rest' test "$cached" -ge 1
else
	skip 'not enough large files here' 2
fi
run "$FATHOM" prebuild "$TMP/noise"
expect_status 1
expect_err 'no program or library was found'
done_testing
