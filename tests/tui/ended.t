#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Processes that end between two updates of fathom top have a row, in state X.
# shellcheck disable=SC2317 # functions are called by wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/tmux.sh
. "$(dirname "$0")/../lib/tmux.sh"

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
