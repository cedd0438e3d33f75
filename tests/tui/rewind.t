#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Back in time with waits: rows, shares and the flame graph of waits are those of that moment.
# shellcheck disable=SC2317 # functions are called by wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/tmux.sh
. "$(dirname "$0")/../lib/tmux.sh"
need_cmd python3

# A program whose thread waits for a lock for the first seconds, and sleeps from then on.
cat >"$TMP/turns" <<'P'
import os, sys, threading, time
open("/proc/self/comm", "w").write("turns")
lock = threading.Semaphore(0)
def give():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.05)
        lock.release()
threading.Thread(target=give, daemon=True).start()
while not os.path.exists(sys.argv[1]):
    lock.acquire()
time.sleep(300)
P
spawn python3 "$TMP/turns" "$TMP/over"
pid=$spawned
ready() { grep -q turns "/proc/$pid/comm"; }
wait_until ready || diag 'the process did not start'

tm new-session -d -s top -x 120 -y 40 "exec $FATHOM top -p $pid --screen waits --budget 100 2>$TMP/err"
if ! waits_for 'BLOCKED% +RUNQ%'; then
	skip 'waits cannot be watched here' 7
	done_testing
	exit
fi
ok 'now: it waits for a lock' waits_for "$pid turns .* (lock|semaphore|cond)"
touch "$TMP/over"
ok 'later: it sleeps' waits_for "$pid turns .* sleep"
not_locked() { ! shows "$pid turns .* (lock|semaphore|cond) "; }
ok 'and no longer waits for the lock' wait_until not_locked
tm send-keys -t top p
waits_for PAUSED >/dev/null
back() {
	tm send-keys -t top '['
	sleep 0.3
	shows "$pid turns .* (lock|semaphore|cond) "
}
ok 'back in time: the lock is there again' wait_until back
ok 'with the shares of that time' waits_for 'lock [1-9][0-9.]*%'
tm send-keys -t top 4
waits_for ' 4 Flame ' >/dev/null
tm send-keys -t top o
ok 'and the flame graph of waits' waits_for '(waits, .* in [0-9]+ s|the stacks of that time are gone)'
tm send-keys -t top 5
tm send-keys -t top p
ok 'and forward to now' wait_until not_locked
# the past as a recording, written while time goes on and while it stands still
write_to() {
	tm send-keys -t top w
	waits_for 'Write to:' >/dev/null
	tm send-keys -t top C-u
	tm send-keys -t top -l "$1"
	tm send-keys -t top Enter
}
write_to "$TMP/past.data"
ok 'w FILE.data writes the past' waits_for "written: $TMP/past.data"
run "$FATHOM" top -i "$TMP/past.data" --once --size 100x20 --keys 2
expect_status 0 'which is replayed'
expect_out 'recording' 'as a recording'
expect_out_like 'PID +TID USER' 'with threads'
run "$FATHOM" vmstat -i "$TMP/past.data"
expect_status 0 'other monitors read it'
write_to "$TMP/past.data"
ok 'what exists is not overwritten' waits_for 'exists: choose another name'
tm send-keys -t top p
waits_for PAUSED >/dev/null
write_to "$TMP/paused.data"
ok 'also while time stands still' waits_for "written: $TMP/paused.data"
tm send-keys -t top q
done_testing
