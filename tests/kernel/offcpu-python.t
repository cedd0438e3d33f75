#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Waits of a Python program show its functions: live, in a recording, of sleepers and of wakers.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"
need_root
need_file /usr/bin/python3
cd "$TMP" || exit 1
case $(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') in
3.11 | 3.12 | 3.13) ;;
*) plan_skip "python3 is neither 3.11, 3.12 nor 3.13" ;;
esac
cat >naps.py <<'END'
import queue, threading, time
def nap():
    time.sleep(0.03)
def sleeper():
    for i in range(50):
        nap()
q = queue.Queue()
def consumer():
    while q.get() is not None:
        pass
def producer():
    for i in range(30):
        time.sleep(0.05)
        q.put(i)
    q.put(None)
threads = [threading.Thread(target=f) for f in (sleeper, consumer, producer)]
for t in threads:
    t.start()
for t in threads:
    t.join()
END

# Each thread waits 1.5 s; the first waits of all may come before the tables of their files.
"$FATHOM" offcpu --folded -- /usr/bin/python3 naps.py >live.folded 2>live.err
got=$(sum_of live.folded ';sleeper;nap;.*nanosleep')
ok "live: sleeper calls nap calls sleep ($got us)" [ "$got" -gt 1000000 ]
got=$(sum_of live.folded ';consumer;Queue.get;Condition.wait;.*futex')
ok "live: the consumer waits for its queue ($got us)" [ "$got" -gt 1000000 ]

run "$FATHOM" record --wakers -o py.data -- /usr/bin/python3 naps.py
expect_status 0
"$FATHOM" offwake -i py.data --folded >offwake.folded
got=$(sum_of offwake.folded ';consumer;Queue.get;Condition.wait;.*;--;try_to_wake_up;.*;Condition.notify;Queue.put;producer;')
ok "recorded: the producer ends the consumer's waits, in terms of Python ($got us)" [ "$got" -gt 900000 ]
run "$FATHOM" fold -i py.data --event offcpu-time
expect_out_like ';sleeper;nap;.*nanosleep'
run "$FATHOM" flame --hotcold --idle -i py.data --json
expect_out '"label": "nap"'

# A new thread is put where one was that ended, with what remains of that one's state.
cat >turns.py <<'END'
import threading, time
def nap():
    time.sleep(0.01)
for i in range(40):
    batch = [threading.Thread(target=nap) for k in range(3)]
    for t in batch:
        t.start()
    for t in batch:
        t.join()
END
"$FATHOM" offcpu --folded -- /usr/bin/python3 turns.py >turns.folded 2>turns.err
all=$(sum_of turns.folded 'nanosleep')
got=$(sum_of turns.folded ';nap;.*nanosleep')
ok "threads that follow one another have their functions ($got of $all us)" \
	[ $((got * 10)) -ge $((all * 9)) -a "$all" -gt 1000000 ]

# A child wakes its parent from within its exec: its memory is gone when its stack is checked.
cat >starts.py <<'END'
import subprocess
def start():
    subprocess.call(["/bin/true"])
def starts():
    for i in range(200):
        start()
starts()
END
"$FATHOM" offwake --folded -- /usr/bin/python3 starts.py >starts.folded 2>starts.err
named=$(grep -c ';--;try_to_wake_up;.*;Popen._execute_child;.*;start;starts;' starts.folded)
ok "children that ran something else at once have the functions of their parent" [ "$named" -gt 0 ]
all=$(sum_of starts.folded ';--;try_to_wake_up;.*execve')
lost=$(sum_of starts.folded ';--;try_to_wake_up;.*unreadable python function.*execve')
lost=$((lost + $(sum_of starts.folded ';--;try_to_wake_up;.*execve.*unreadable python function')))
ok "nearly all of them ($lost of $all us are not)" [ $((all > 0 && lost * 10 <= all)) = 1 ]
done_testing
