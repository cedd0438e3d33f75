#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of fathom record --off-cpu: perf opens them without a word on stderr, in order of time,
# and finds the same samples with the same weights as fathom does.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3
need_file "$FATHOM" "$WORKLOADS/block" "$WORKLOADS/burn"
cd "$TMP" || exit 1

# same NAME FILE: per event, thread and function on top the number of samples and their weight.
same() {
	perf script --no-inline -F comm,tid,time,event,period,ip,sym -i "$2" >perf.txt 2>perf.err </dev/null
	is "$1: perf script has nothing to say" "$(cat perf.err)" ''
	perf report --stdio -i "$2" >report.txt 2>report.err </dev/null
	is "$1: perf report has nothing to say" "$(cat report.err)" ''
	like "$1: perf report shows waits" "$(cat report.txt)" "of event 'offcpu-time'"
	"$FATHOM" script --no-inline -F comm,tid,time,event,period,ip,sym -i "$2" >ours.txt 2>ours.err
	ok "$1: the same samples" python3 - <<'END'
import re, sys
def read(path):
    sums, times = {}, []
    for line in open(path):
        m = re.match(r"^\s*(\S.*?)\s+(\d+)\s+([\d.]+):\s+(\d+)\s+(\S+?):", line)
        if not m:
            continue
        key = (m[1], m[2], m[5])
        n, w = sums.get(key, (0, 0))
        sums[key] = (n + 1, w + int(m[4]))
        times.append(float(m[3]))
    return sums, times
perf, times = read("perf.txt")
ours, _ = read("ours.txt")
assert perf == ours, sorted(set(perf.items()) ^ set(ours.items()))[:5]
assert times == sorted(times), "out of order"
events = {k[2] for k in perf}
assert {"offcpu-time", "wakeup-time"} <= events, events
END
}

run "$FATHOM" record --wakers -F 199 -o program.data -- "$WORKLOADS/block" pipe --count 10
expect_status 0
same "a program" program.data
spawn "$WORKLOADS/block" mutex --count 100000 --ms 5
run "$FATHOM" record --chains -d 1s -o all.data
expect_status 0
same "the machine" all.data
run "$FATHOM" record --wakers -p "$spawned" -d 1s -z -o small.data
expect_status 0
same "compressed" small.data
"$FATHOM" record --wakers -p "$spawned" -d 1s -o - >pipe.data 2>pipe.err
same "a pipe" pipe.data
done_testing
