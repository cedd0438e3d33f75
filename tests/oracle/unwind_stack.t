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
wait_until is_running "$deep" deep
runs_for "$deep" 5
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
wait_until has_threads "$chain" 4
if [ -d "/proc/$chain/task" ]; then
	n=$(find "/proc/$chain/task" -mindepth 1 -maxdepth 1 | wc -l)
	run "$FATHOM" stack --json "$chain"
	is 'every thread is there' "$(json 'len(d["threads"])')" "$n"
	is 'all of them complete' "$(json 'sum(t["end"] == "root" for t in d["threads"])')" "$n"
fi

run "$FATHOM" stack 4194304
expect_status 1
expect_err 'no process 4194304'
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

# The same addresses as gdb and eu-stack see, in every thread of programs that wait.
# What gdb infers from debug information, inlined and tail calls, is on no stack.
cat >"$TMP/pcs.gdb" <<'END'
set backtrace past-main on
python
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, pcs = gdb.newest_frame(), []
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pcs.append("%x" % frame.pc())
        frame = frame.older()
    print("T", thread.ptid[1], *pcs)
end
END
cat >"$TMP/same.py" <<'END'
import json, sys
ours = {}
for f in json.load(open(sys.argv[1]))["frames"]:
    ours.setdefault(str(f["tid"]), []).append("%x" % int(str(f["address"]), 0))
theirs = {}
for line in open(sys.argv[2]):
    words = line.split()
    if words and words[0] == "T":
        theirs[words[1]] = [w.lstrip("0") for w in words[2:]]
differ = [t for t in ours if ours[t] != theirs.get(t)]
for t in differ[:2]:
    print("# thread", t, "ours  ", *ours[t], file=sys.stderr)
    print("# thread", t, "theirs", *theirs.get(t, []), file=sys.stderr)
print(len(ours), len(differ))
END
# same_as WHO NAME FILE: FILE has lines "T tid pc pc..."
same_as() {
	local result
	result=$(python3 "$TMP/same.py" "$TMP/ours" "$3")
	diag "$2: $result threads: all, different from $1's"
	like "$2: as $1 sees it" "$result" '^[1-9][0-9]* 0$'
}
waiting() {
	local name=$1 pid
	shift
	if ! command -v "$1" >/dev/null; then
		skip "no $1 here" 2
		return
	fi
	spawn "$@"
	pid=$spawned
	# all threads wait where they will stay
	for _ in $(seq 100); do
		sleep 0.1
		grep -hq '^State:[[:space:]]*R' "/proc/$pid/task/"*/status || break
	done
	sleep 0.5
	"$FATHOM" stack --json "$pid" >"$TMP/ours"
	if command -v gdb >/dev/null; then
		gdb -nx -p "$pid" -batch -x "$TMP/pcs.gdb" >"$TMP/theirs" 2>/dev/null
		same_as gdb "$name" "$TMP/theirs"
	else
		skip 'no gdb here'
	fi
	if command -v eu-stack >/dev/null; then
		eu-stack -n 0 -p "$pid" 2>/dev/null | awk '/^TID/ { sub(":", "", $2); printf "%sT %s", sep, $2; sep = "\n" }
			/^#/ { sub("0x0*", "", $2); printf " %s", $2 } END { print "" }' >"$TMP/theirs"
		same_as eu-stack "$name" "$TMP/theirs"
	else
		skip 'no eu-stack here'
	fi
	kill "$pid"
}
waiting sleep sleep 60
waiting python3 python3 -c 'import threading, time
for i in range(3):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
time.sleep(60)'
waiting perl perl -e 'sub f { my $n = shift; $n ? f($n - 1) : sleep 60 } f(20)'
waiting node node -e 'setInterval(() => {}, 60000)'

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
if grep -q 'FEATURE(libdw, 1)' "$TOP/build/gen/features.inc" 2>/dev/null; then
	mkdir "$TMP/lined" && cp "$WORKLOADS/deep" "$TMP/lined/"
	run "$FATHOM" prebuild --lines --json "$TMP/lined"
	is 'prebuild --lines indexes the program that has debug information' \
		"$(json 'd["facts"]["lines_made"], d["facts"]["lines_bytes"] > 1000')" '(1, True)'
	run "$FATHOM" prebuild --lines --json "$TMP/lined"
	is '... once' "$(json 'd["facts"]["lines_made"], d["facts"]["lines_there"]')" '(0, 1)'
	for file in "$XDG_CACHE_HOME"/fathom/symbols/*.lines; do truncate -s -700 "$file"; done
	run "$FATHOM" prebuild --lines --json "$TMP/lined"
	is '... and anew when the index is cut' "$(json 'd["facts"]["lines_made"]')" 1
else
	skip 'built without libdw' 3
fi
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
