#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Processes that end between two looks of fathom top have a row, in state X.
# shellcheck source=tests/lib/test.sh disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd tmux
export HOME=$TMP TERM=xterm-256color LC_ALL=C.UTF-8
unset NO_COLOR TMUX

tm() { tmux -S "$TMP/tmux" -f /dev/null "$@"; }
screen() { tm capture-pane -p -t top; }
shows() { screen | grep -qE -- "$1"; }
trap 'tm kill-server 2>/dev/null; test_end' EXIT
tm new-session -d -s top -x 120 -y 40 \
	"exec $FATHOM top --interval 1s --budget 100 --filter 'state = X' --columns pid,state,command 2>$TMP/err"

# as many as needed: each lives longer than an interval, and its row stays for one
mortal=mortal$(($$ % 10000))
cp "$(command -v sleep)" "$TMP/$mortal"
dies() {
	"$TMP/$mortal" 1.5
	WAIT_SECONDS=2 wait_until shows "^ *[0-9]+ +X .*$mortal"
}
ok 'a process that ended has a row in state X' eval 'WAIT_SECONDS=4 wait_until dies'
gone() { ! shows "$mortal"; }
ok 'at a later look it is gone' wait_until gone
tm send-keys -t top q
done_testing
