#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The screens of fathom top that show tools: network by process, disks, topology, any tool.
# shellcheck disable=SC2317 # functions are called by wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/tmux.sh
. "$(dirname "$0")/../lib/tmux.sh"
need_cmd python3

# A process with a name of its own that sends by TCP and by UDP.
cat >"$TMP/talk" <<'P'
import socket, sys, time
open("/proc/self/comm", "w").write("talker%d" % (int(sys.argv[1]) % 1000))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
one = socket.create_connection(listener.getsockname())
two, _ = listener.accept()
while True:
    out.sendto(b"x" * 1000, udp.getsockname())
    udp.recv(2000)
    one.send(b"y" * 500)
    two.recv(1000)
    time.sleep(0.02)
P
spawn python3 "$TMP/talk" "$$"
talker=$spawned
name=talker$(($$ % 1000))

tm new-session -d -s top -x 120 -y 40 "exec $FATHOM top --screen network --interval 500ms --budget 100 2>$TMP/err"

if "$FATHOM" tools --csv network | grep -q '^nettop,yes'; then
	ok 'network by process' waits_for 'UDP out/s'
	ok 'TCP and UDP' waits_for "$talker $name +[0-9.]+K? +[0-9.]+K? +[0-9.]+K? +[0-9.]+K? "
	tm send-keys -t top 2
	waits_for ' 2 Processes ' >/dev/null
	tm send-keys -t top f
	tm send-keys -t top -l "pid = $talker"
	tm send-keys -t top Enter
	waits_for "filter: pid = $talker" >/dev/null
	tm send-keys -t top Enter
	waits_for "machine . $talker $name" >/dev/null
	tm send-keys -t top 7
	ok 'connections of one process' waits_for 'TCP +127.0.0.1 +[0-9]+ +127.0.0.1'
	ok 'those of UDP, too' waits_for 'UDP +(127.0.0.1|0.0.0.0) '
	tm send-keys -t top Escape
	waits_for ' 2 Processes ' >/dev/null
else
	skip 'nettop does not work here' 4
fi
tm send-keys -t top 6
if "$FATHOM" tools --csv block | grep -q '^biolatency,yes'; then
	ok 'latency below the disks' waits_for 'latency of requests in the last second'
	tm send-keys -t top m
	ok 'as a heat map' waits_for 'latency of requests over time'
else
	skip 'biolatency does not work here' 2
fi
tm send-keys -t top 0
ok 'topology has boxes' waits_for 'Machine'
ok 'with the load of each CPU' waits_for 'CPU 0 .* +[0-9]+%'
tm send-keys -t top =
ok 'the list of tools' waits_for 'biolatency +block +histogram'
tm send-keys -t top e
tm send-keys -t top C-u
tm send-keys -t top -l 'nothing'
tm send-keys -t top Enter
ok 'what is no tool is said' waits_for 'is not one of the tools'
tm send-keys -t top e
tm send-keys -t top C-u
tm send-keys -t top -l 'execsnoop'
tm send-keys -t top Enter
ok 'one of them runs' waits_for 'fathom execsnoop  \(as it comes'
run_true() { tm new-session -d -s run /bin/true; }
if "$FATHOM" tools --csv processes | grep -q '^execsnoop,yes'; then
	sees_true() { run_true; shows 'PCOMM|pcomm' && shows '/bin/true|true'; }
	ok 'its rows come' wait_until sees_true
	pid=$(tm list-panes -t top -F '#{pane_pid}')
	ok 'as a child process' test -n "$(pgrep -P "$pid")"
	tm send-keys -t top 1
	gone() { [ -z "$(pgrep -P "$pid")" ]; }
	ok 'which ends with its screen' wait_until gone
else
	skip 'execsnoop does not work here' 3
fi
pid=$(tm list-panes -t top -F '#{pane_pid}')
tm send-keys -t top 7
children() { [ "$(pgrep -P "$pid" | wc -l)" -gt 0 ]; }
if wait_until children; then
	child=$(pgrep -P "$pid" | head -1)
	kill -KILL "$pid"
	dead() { ! [ -d "/proc/$child" ] || grep -q '^State:.*Z' "/proc/$child/status"; }
	ok 'a child ends with fathom top, even when that is killed' wait_until dead
else
	skip 'no child runs' 1
fi
done_testing
