#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Recordings that are controlled while they run, limits of size, and names with the time.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd perf python3
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1
burn=$WORKLOADS/burn
samples() { perf script -i "$1" -F comm,event 2>/dev/null | grep -c .; }

# --- --control ------------------------------------------------------------------------------------

mkfifo ctl ack
exec {ctl}<>ctl {ack}<>ack
# tell COMMAND: says it and waits for the answer
tell() {
	echo "$1" >&"$ctl"
	answer=
	read -r -t 20 -u "$ack" answer
}

spawn "$burn" --seconds 0 a=100
busy=$spawned
"$FATHOM" record -e cpu-clock -F 999 -p "$busy" -D -1 --control fifo:ctl,ack -o c.data 2>c.err &
recorder=$!
tell ping
is "ping is answered" "$answer" ack
sleep 0.5
begin=$(python3 -c 'import time; print(time.monotonic())')
tell enable
is "enable is answered" "$answer" ack
runs_for "$busy" 20
tell disable
is "disable is answered" "$answer" ack
end=$(python3 -c 'import time; print(time.monotonic())')
sleep 0.5
tell dance
is "what is no command is answered, too" "$answer" unknown
tell snapshot
is "snapshot is answered" "$answer" ack
ok "and has written a file" test "$(samples "$(echo c.data.2*)")" -gt 20
tell enable
sleep 0.3
tell stop
is "stop is answered" "$answer" ack
wait "$recorder"
is "and ends the recording well" $? 0
like "the stranger is noted" "$(cat c.err)" "'dance' is not a control command"
ok "samples came while it was enabled, and only then" python3 - "$begin" "$end" "$(echo c.data.2*)" <<'END'
import subprocess, sys
begin, end = float(sys.argv[1]), float(sys.argv[2])
out = subprocess.run(["perf", "script", "-G", "-F", "time", "-i", sys.argv[3]],
                     capture_output=True, text=True).stdout
times = [float(t.rstrip(":")) for t in out.split()]
print("# %d samples from %.3f to %.3f, enabled from %.3f to %.3f" %
      (len(times), min(times), max(times), begin, end))
assert begin < min(times) and max(times) < end, (begin, min(times), max(times), end)
END
ok "and again after it was enabled again" test "$(samples c.data)" -gt 10

# Descriptors, a program with children, and the end of commands.
mkfifo in
{
	exec {cmd}>in
	echo enable >&"$cmd"
	sleep 1
	exec {cmd}>&-
} &
exec 7<in
run "$FATHOM" record -e cpu-clock -F 999 -D -1 --control fd:7 -o p.data -- \
	sh -c "'$burn' --seconds 0.5 a=100 & '$burn' --seconds 1 b=100; wait"
exec 7<&-
expect_status 0
ok "a program is watched from the command on" test "$(samples p.data)" -gt 50
run "$FATHOM" record -D -1 -o n.data -- true
expect_status 2
expect_err 'no start command can arrive'
run "$FATHOM" record --control nowhere -o n.data -- true
expect_status 2
expect_err 'use fd:NUMBER'
run "$FATHOM" record --control fifo:./none -o n.data -- true
expect_status 1
expect_err "cannot open the FIFO './none'"

# --- --max-size and --timestamp-filename ------------------------------------------------------------

run "$FATHOM" record -e cpu-clock -F 9999 -z0 -a --max-size 1M -d 60s -o m.data
expect_status 0
expect_err '--max-size is reached: the recording ends'
# A minute of it would be 200 MB and more; names and files are written after the end.
size=$(stat -c %s m.data)
ok "the recording ended at its size ($size bytes)" test "$size" -ge 1048576 -a "$size" -lt 64000000
ok "and is whole" test "$(samples m.data)" -gt 1000

run "$FATHOM" record -e cpu-clock -F 999 --timestamp-filename -o t.data -- "$burn" --seconds 0.3
expect_status 0
expect_err_like '-> t\.data\.20[0-9]{14}$'
expect_err_like 'fathom report -i t\.data\.20'
not_ok "only that file is there" test -e t.data
ok "perf reads it" test "$(samples "$(echo t.data.20*)")" -gt 100

# --- later files stand for themselves ----------------------------------------------------------------

# The child is made while the first file is written; Python's functions are recorded in each.
cat >loop.py <<'END'
import os, time
def spin():
    while True:
        sum(i * i for i in range(1000))
with open("pid.new", "w") as f:
    f.write(str(os.getpid()))
os.rename("pid.new", "pid")
while not os.path.exists("s.data"):
    time.sleep(0.05)
if os.fork():
    os.wait()
else:
    spin()
END
spawn python3 loop.py
for _ in $(seq 100); do
	[ -s pid ] && break
	sleep 0.2
done
run "$FATHOM" record -e cpu-clock -F 499 --switch-output=900ms -p "$(cat pid)" -d 4s -o s.data
expect_status 0
last=$(find . -name 's.data.2*' | sort | tail -n 1)
"$FATHOM" script -i "$last" -F comm,ip,sym >last.txt 2>/dev/null
n=$(grep -c '^python3' last.txt)
named=$(grep -c ' spin$' last.txt)
ok "children and functions of Python are known in later files ($named of $n)" \
	test "$n" -gt 20 -a $((named * 100)) -ge $((n * 90))
done_testing
