#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Children of a Python that are gone before anybody looks at their stacks have their functions all
# the same: their code is their parent's, and the stacks tell whose children they were.
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
# What children call nobody has called before; every other child has one of its own that does.
cat >children.py <<'END'
import os, time
def nap():
    time.sleep(0.004)
def child(i):
    if i % 2 and os.fork() > 0:
        os.wait()
        os._exit(0)
    nap()
    os._exit(0)
def parent():
    for i in range(40):
        if os.fork() == 0:
            child(i)
        os.wait()
def say(path):
    open(path, "w").close()
def hear(path):
    while not os.path.exists(path):
        time.sleep(0.01)
say("started")
hear("begin")
parent()
say("done")
hear("end")
END

# watch OUT COMMAND...: the command runs the program, and is stopped while that has its children.
watch() {
	local out=$1 watcher
	shift
	rm -f started begin "done" end
	spawn "$@" -- /usr/bin/python3 children.py >"$out" 2>"$out.err"
	watcher=$spawned
	wait_until [ -e started ]
	# the tables of its files come by what is met first, and so does where it keeps its functions
	sleep 2
	kill -STOP "$watcher"
	touch begin
	wait_until [ -e "done" ]
	kill -CONT "$watcher"
	# what is new is read at once, from who is still there
	sleep 2
	touch end
	wait "$watcher"
}

# judge WHAT FOLDED: 40 naps of 4 ms
judge() {
	local named lost
	named=$(sum_of "$2" ';parent;child;nap;.*nanosleep')
	lost=$(sum_of "$2" 'unreadable python function.*nanosleep')
	ok "$1: all children are named ($named us)" [ "${named%.*}" -ge 160000 ]
	is "$1: us in functions that could not be read" "$lost" 0
}

watch live.folded "$FATHOM" offcpu --folded
judge live live.folded
watch record.out "$FATHOM" record --off-cpu -o children.data
"$FATHOM" fold -i children.data --event offcpu-time | awk '{ $NF = $NF / 1000; print }' >record.folded
judge recorded record.folded

# Programs of their own, which have no parent to be read from: they are read while they are there.
cat >quick.py <<'END'
import time
def nap():
    time.sleep(0.01)
def quick():
    for i in range(4):
        nap()
quick()
END
cat >quick.sh <<'END'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	/usr/bin/python3 quick.py
done
END
run "$FATHOM" record --off-cpu -o quick.data -- /bin/sh quick.sh
expect_status 0
"$FATHOM" fold -i quick.data --event offcpu-time | awk '{ $NF = int($NF / 1000); print }' >quick.folded
named=$(sum_of quick.folded ';quick;nap;.*nanosleep')
lost=$(sum_of quick.folded 'unreadable python function.*nanosleep')
# a machine that is busy may give us no CPU while one of them is there
ok "recorded: short programs are named ($named us, $lost us could not be read)" \
	[ $((named > 0 && lost * 4 <= named)) = 1 ]
done_testing
