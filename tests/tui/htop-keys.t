#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Keys that users of htop know, on a process whose truth is known; words at the bottom are clicked.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/tmux.sh
. "$(dirname "$0")/../lib/tmux.sh"

echo text >"$TMP/held.txt"
env -i FATHOM_TEST_MARK=$'seen\033[2J' "$(command -v python3)" -c "
import fcntl, time
f = open('$TMP/held.txt', 'r+')
fcntl.lockf(f, fcntl.LOCK_EX, 5, 7)
while True:
    time.sleep(0.05)" &
pid=$!
spawned_too=$pid
trap 'kill $spawned_too 2>/dev/null; tm kill-server 2>/dev/null; test_end' EXIT
held() { find "/proc/$pid/fd" -lname '*held.txt*' 2>/dev/null | grep -q .; }
wait_until held || diag 'the process did not start'

# a key that follows Escape at once is Alt with that key
close_it() {
	tm send-keys -t top Escape
	waits_for '^ +PID USER' >/dev/null
	sleep 0.2
}
tm new-session -d -s top -x 110 -y 30 "TERM=xterm-256color exec $FATHOM top --interval 300ms 2>$TMP/err"
waits_for ' 2 Processes ' >/dev/null
tm send-keys -t top F4
tm send-keys -t top -l "pid = $pid"
tm send-keys -t top Enter
waits_for "filter: pid = $pid" >/dev/null
tm send-keys -t top l
ok 'l: its open files' waits_for "[0-9]+ +$TMP/held.txt"
close_it
tm send-keys -t top e
ok 'e: its environment' waits_for 'FATHOM_TEST_MARK=seen\\x1b\[2J'
close_it
tm send-keys -t top L
ok 'L: its locks' waits_for "POSIX +ADVISORY +WRITE 7 to 11 +$TMP/held.txt"
close_it
tm send-keys -t top '>'
ok '>: the column to sort by' waits_for 'Sort by'
close_it
nice_is() { [ "$(ps -o ni= -p "$pid" | tr -d ' ')" = "$1" ]; }
tm send-keys -t top F8
ok 'F8 raises nice' wait_until nice_is 1
tm send-keys -t top F7
ok 'F7 lowers it' wait_until nice_is 0
tm send-keys -t top a
waits_for 'CPUs \(' >/dev/null
tm send-keys -t top C-u
tm send-keys -t top -l 0
tm send-keys -t top Enter
bound() { grep -qE '^Cpus_allowed_list:[[:space:]]0$' "/proc/$pid/status"; }
ok 'a binds it to CPUs' wait_until bound
policy_is() { [ "$(awk '{ print $41 }' "/proc/$pid/stat")" = "$1" ]; }
tm send-keys -t top Y
waits_for 'BATCH' >/dev/null
tm send-keys -t top Down
tm send-keys -t top Enter
ok 'Y chooses the policy of the scheduler' wait_until policy_is 3
at_disks() { [ "$(ionice -p "$pid")" = "$1" ]; }
tm send-keys -t top i
waits_for 'Priority at disks' >/dev/null
tm send-keys -t top Down
tm send-keys -t top Enter
ok 'i chooses the priority at disks' wait_until at_disks 'best-effort: prio 0'
# what it does: its stacks, its system calls
tm send-keys -t top b
ok 'b: its flame graph' waits_for '(samples of|sampling begins|does not run)'
ok 'of this process alone' waits_for "^machine . $pid "
tm send-keys -t top Escape
waits_for '^ +PID USER' >/dev/null
if "$FATHOM" tools --csv | grep -q '^syscount,yes'; then
	tm send-keys -t top y
	ok 'y: its system calls' waits_for '(clock_nanosleep|select|nanosleep)'
	tm send-keys -t top Escape
	sleep 0.2
	tm send-keys -t top Escape
	waits_for '^ +PID USER' >/dev/null
else
	skip 'syscount does not work here' 1
fi
# the list of keys, searched
tm send-keys -t top F1
waits_for 'Search:' >/dev/null
tm send-keys -t top -l 'by memory'
tm send-keys -t top Enter
ok 'F1: a key is found by what it does' waits_for 'RES.? S'
# twice at once on a row is Enter
row() { screen | grep -n "$pid root" | head -1 | cut -d: -f1; }
click=$'\033[<0;20;'"$(row)"
tm send-keys -t top -l "${click}M${click}m${click}M${click}m"
ok 'a double click narrows to the row' waits_for "^machine . $pid "
tm send-keys -t top Escape
waits_for '^ +PID USER' >/dev/null
sleep 0.2
# the words at the bottom, when the message is gone: where F9Kill is
tm send-keys -t top Down
waits_for 'F9Kill' >/dev/null
at=$(screen | tail -1 | awk '{ print index($0, "F9Kill") }')
ok 'F9 is in the line at the bottom' test "$at" -gt 0
tm send-keys -t top -l $'\033[<0;'"$at"$';30M'
tm send-keys -t top -l $'\033[<0;'"$at"$';30m'
ok 'a click on it chooses a signal' waits_for '15 SIGTERM'
tm send-keys -t top Enter
gone() { [ ! -d "/proc/$pid" ] || grep -q '^State:.*Z' "/proc/$pid/status"; }
ok 'which ends the process' wait_until gone
tm send-keys -t top F10
ended() { ! tm list-panes -t top >/dev/null 2>&1; }
ok 'F10 quits' wait_until ended
done_testing
